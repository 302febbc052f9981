"""What a build leaves out, and what it reads only in part."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Final, Protocol

from mathsetu.retrieval.base import FORMULAS, DistinctReader, one_by_one

if TYPE_CHECKING:
    from mathsetu.formulas.parse import Parsed


class BuildReport(Protocol):
    """Receives what a build leaves out, and what it reads only in part.

    A build that continues an interrupted one does not repeat what that one reported.
    """

    def add_left_out(self, post_id: str, formulas: int) -> None:
        """Add a post that the recipe leaves out, and its number of formulas."""
        ...

    def add_faulty_formula(self, latex: str, message: str) -> None:
        """Add a distinct formula that is read only in part, with the parser's first warning."""
        ...


class _NoReport:
    def add_left_out(self, post_id: str, formulas: int) -> None:
        pass

    def add_faulty_formula(self, latex: str, message: str) -> None:
        pass


#: A report that ignores everything.
NO_REPORT: Final[BuildReport] = _NoReport()


class LeftOutCount:
    """Counts the posts that the recipe leaves out, and passes everything on."""

    def __init__(self, report: BuildReport) -> None:
        self.posts = 0
        self._report = report

    def add_left_out(self, post_id: str, formulas: int) -> None:
        """Count a post and pass it on."""
        self.posts += 1
        self._report.add_left_out(post_id, formulas)

    def add_faulty_formula(self, latex: str, message: str) -> None:
        """Pass a formula on."""
        self._report.add_faulty_formula(latex, message)


class FaultyFormulas:
    """Reads the warnings of the parser about the formulas that other readers want."""

    kind = FORMULAS

    def __init__(self, others: Sequence[DistinctReader], report: BuildReport) -> None:
        self.read = one_by_one(_first_warning)
        first, *more = (reader.wanted for reader in others)
        #: The same object as that of the only other reader, because there may be millions.
        self.wanted: Collection[str] = {*chain(first, *more)} if more else first
        self._report = report

    def take(self, thing: str, read: str) -> None:
        """Report a formula if it has a warning."""
        if read:
            self._report.add_faulty_formula(thing, read)


def _first_warning(parsed: Parsed) -> str:
    return parsed.warnings[0].message if parsed.warnings else ""
