"""Limits of requests to a server, with clear errors."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from mathsetu.errors import InputError
from mathsetu.languages.table import LANGUAGE_CODE
from mathsetu.library.segmented_posts import LANGUAGE, Filter
from mathsetu.limits import LONGEST_NAME, has_lone_surrogate


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one request may ask for.

    Attributes:
        query: Characters of a query or a formula.
        text: Characters of a text to be rendered or translated.
        hits: Hits of one answer.
        offset: Hits that may come before those of an answer.
        tags: Tags of one filter; also languages, and collections.
        name: Characters of an id, a tag or the name of a collection; with a lower limit than that
            of libraries, some posts could not be fetched.
        seconds: Time limit of a search; None for no limit.
    """

    query: int = 2_000
    text: int = 20_000
    hits: int = 100
    offset: int = 1_000
    tags: int = 50
    name: int = LONGEST_NAME
    seconds: float | None = 5.0

    def check_query(self, text: str) -> None:
        """Refuse a query that is too long."""
        self._check_length("the query", text, self.query)

    def check_formula(self, latex: str) -> None:
        """Refuse a formula that is too long or empty."""
        self._check_length("the formula", latex, self.query)
        if not latex.strip():
            raise InputError("the formula is empty; give one in LaTeX")

    def check_text(self, text: str) -> None:
        """Refuse a text that is too long."""
        self._check_length("the text", text, self.text)

    def check_hits(self, k: int) -> None:
        """Refuse more hits than one answer holds.

        >>> Limits(hits=10).check_hits(11)
        Traceback (most recent call last):
        mathsetu.errors.InputError: k is 11; it must lie between 1 and 10
        """
        if not 1 <= k <= self.hits:
            raise InputError(f"k is {_short(str(k))}; it must lie between 1 and {self.hits}")

    def check_offset(self, offset: int) -> None:
        """Refuse an offset beyond the limit."""
        if not 0 <= offset <= self.offset:
            raise InputError(
                f"offset is {_short(str(offset))}; it must lie between 0 and {self.offset}"
            )

    def check_filter(self, where: Filter, stated: Collection[str] = ()) -> None:
        """Refuse a filter with too many values, or with values that are too long.

        ``stated`` are the languages of the posts, which are allowed even if they are unknown.
        """
        for field, values, _ in where.conditions:
            if field == LANGUAGE:
                for code in values:
                    if code not in stated:
                        self.check_language(code)
            self.check_names(field, values)
        self.check_names("tags", where.tags)

    def check_names(self, what: str, names: Sequence[str]) -> None:
        """Refuse ids, tags and names that are too many or too long."""
        if len(names) > self.tags:
            raise InputError(f"{what}: {len(names)} were given; at most {self.tags} are allowed")
        for name in names:
            self._check_length(what, name, self.name)

    def check_language(self, code: str) -> None:
        """Refuse a value that is not a language code.

        >>> Limits().check_language("../etc")
        Traceback (most recent call last):
        mathsetu.errors.InputError: '../etc' is not a language; give a code such as hi or a name \
such as Hindi
        """
        if code and not LANGUAGE_CODE.fullmatch(code):
            remedy = "give a code such as hi or a name such as Hindi"
            raise InputError(f"{_short(code)!r} is not a language; {remedy}")

    def _check_length(self, what: str, text: str, longest: int) -> None:
        if len(text) > longest:
            raise InputError(
                f"{what} has {len(text):,} characters; at most {longest:,} are allowed"
            )
        if has_lone_surrogate(text):
            raise InputError(f"{what} contains an invalid character (lone surrogate)")


def _short(text: str) -> str:
    return text if len(text) <= 20 else text[:17] + "..."
