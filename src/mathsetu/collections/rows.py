"""The policy for bad rows, and the problems that validators report."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mathsetu.collections.seen_ids import SeenIds
from mathsetu.collections.tally import Tally
from mathsetu.errors import RowError, place_in
from mathsetu.limits import LONGEST_NAME

# Limit of the ids listed in a summary.
_NAMED = 5
#: Remedy for several tables whose ids all count from 1.
OTHER_IDS = "; take ids from another column (index, add, convert: --field id=COLUMN)"


def not_json(message: str, place: str) -> str:
    """Return the message for text that is not JSON: the parser's message and the place.

    >>> not_json("Unterminated string starting at", "column 8")
    'not JSON: Unterminated string starting at column 8'
    """
    # Some messages of the parser already end in "at".
    return f"not JSON: {message.removesuffix(' at')} at {place}"


@dataclass
class BadRows:
    """The policy of a reader: refuse the first bad row, or skip bad rows and count them.

    Args:
        skip: Whether to skip bad rows; otherwise the first one is raised as an error.
        keep: The maximum number of errors to keep.

    >>> bad = BadRows(skip=True)
    >>> bad.report(RowError("posts.jsonl", 17, '"body" is missing'))
    >>> bad.count, bad.messages
    (1, ['posts.jsonl line 17: "body" is missing'])

    The other attributes are optional. ``notes`` collects warnings about unusual but valid input.
    ``ids`` detects ids that occur twice in all files read together. ``tally`` counts files and
    skipped items for a report. ``fields`` is the user's mapping of fields of a post to columns of
    a table. ``form`` is the form of texts in tables and in our own formats, if the user gives it
    (see `mathsetu.markup`).
    """

    skip: bool = False
    keep: int = 10
    count: int = 0
    errors: list[RowError] = field(default_factory=list)
    notes: list[str] | None = None
    ids: SeenIds | None = None
    tally: Tally | None = None
    fields: Mapping[str, str] = field(default_factory=dict)
    form: str = ""

    @property
    def messages(self) -> list[str]:
        """The kept errors as lines of text."""
        return [str(error) for error in self.errors]

    def report(self, error: RowError) -> None:
        """Count a bad row and keep its error, or raise the error."""
        if not self.skip:
            raise error
        self.count += 1
        if len(self.errors) < self.keep:
            self.errors.append(error)

    def accepts(
        self,
        post_id: str,
        path: str | Path,
        line: int,
        tags: Sequence[str] = (),
        remedy: str = "",
    ) -> bool:
        """Whether the id and the tags of a post are valid and the id is new; else a bad row.

        Args:
            post_id: The id of the post.
            path: The file of the post.
            line: The line of the post.
            tags: The tags of the post.
            remedy: The remedy for a repeated id, for the message.

        >>> bad = BadRows(ids=SeenIds())
        >>> bad.accepts("7", "a.jsonl", 1)
        True
        >>> bad.accepts("7", "b.jsonl", 4)
        Traceback (most recent call last):
        mathsetu.errors.RowError: b.jsonl line 4: id '7' occurs twice (first in a.jsonl line 1)
        """
        for what, name in (("the id", post_id), *(("a tag", tag) for tag in tags)):
            if len(name) > LONGEST_NAME:
                problem = (
                    f"{what} has {len(name):,} characters; at most {LONGEST_NAME:,} are allowed"
                )
                self.report(RowError(path, line, problem))
                return False
        first = self.ids.first_place(post_id, str(path), line) if self.ids else None
        if first is not None:
            is_same = first == (str(path), line)
            where = "was the file given twice?" if is_same else f"first in {place_in(*first)}"
            # If the same file was given twice, other ids are no remedy.
            problem = f"id {post_id!r} occurs twice ({where}){'' if is_same else remedy}"
            self.report(RowError(path, line, problem))
        return first is None

    def note(self, message: str) -> None:
        """Add a warning about unusual but valid input, if notes are collected."""
        if self.notes is not None:
            self.notes.append(message)

    def add_read(self, path: str | Path, kind: str, word: str = "") -> None:
        """Count a file that was read, if there is a tally."""
        if self.tally is not None:
            self.tally.add_read(str(path), kind, word)

    def add_ignored(self, path: str | Path, reason: str, count: int = 1) -> None:
        """Count what was skipped, by reason, if there is a tally."""
        if self.tally is not None and count:
            self.tally.add_ignored(str(path), reason, count)

    def add_left_out(self, post_id: str, formulas: int) -> None:
        """Count a post that the recipe leaves out, if there is a tally."""
        if self.tally is not None:
            self.tally.add_left_out(post_id, formulas)

    def add_faulty_formula(self, latex: str, message: str) -> None:
        """Count a formula that is read only in part, if there is a tally."""
        if self.tally is not None:
            self.tally.faulty.add(latex, message)

    def note_form_used(self) -> None:
        """Record that a file is read to which the user's ``form`` may apply."""
        if self.tally is not None:
            self.tally.has_forms = True

    def note_columns(self, message: str, fields: Iterable[str]) -> None:
        """Record which columns of a table are read, if there is a tally.

        ``fields`` are the fields whose columns the user named.
        """
        if self.tally is not None:
            self.tally.columns.append(message)
            self.tally.fields.update(fields)


# The default policy. It can be shared, because refusing changes no state.
REFUSE = BadRows()


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem in a validated file; line 0 means the file as a whole.

    ``fatal`` problems make a file invalid; the others are warnings.

    >>> print(Problem(3, "score 'high' is not a number"))
    line 3: score 'high' is not a number
    >>> print(Problem(0, "query Q7 has no results", fatal=False))
    warning: query Q7 has no results
    """

    line: int
    message: str
    fatal: bool = True

    def __str__(self) -> str:
        place = f"line {self.line}: " if self.line else ""
        return f"{'' if self.fatal else 'warning: '}{place}{self.message}"


def unanswered(
    asked: Collection[str], answered: Collection[str], noun: str, plural: str, where: str = ""
) -> Iterator[Problem]:
    """Yield a warning if some topics have no results.

    >>> print(*unanswered(["A.1", "A.2", "A.3"], {"A.2"}, "topic", "topics"))
    warning: 2 of 3 topics have no results: A.1, A.3
    """
    missing = [one for one in asked if one not in answered]
    if len(missing) == 1:
        yield Problem(0, f"{noun} {missing[0]} has no results{where}", fatal=False)
    elif missing:
        count = f"{len(missing):,} of {len(asked):,} {plural}"
        yield Problem(0, f"{count} have no results{where}: {first_few(missing)}", fatal=False)


def first_few(names: Sequence[str]) -> str:
    """Join names for a message; of a long list, only the first ones.

    >>> first_few(["A.1", "A.2"]), first_few(["A.1"] * 9).endswith("A.1 …")
    ('A.1, A.2', True)
    """
    return ", ".join(names[:_NAMED]) + (" …" if len(names) > _NAMED else "")


def in_order(problems: Iterable[Problem], bad: BadRows = REFUSE) -> list[Problem]:
    """Sort problems and bad rows by line; problems of the file as a whole come last.

    >>> [problem.line for problem in in_order([Problem(0, "c"), Problem(9, "b"), Problem(2, "a")])]
    [2, 9, 0]
    """
    rows = (Problem(error.line, error.problem) for error in bad.errors)
    return sorted([*rows, *problems], key=lambda problem: (problem.line == 0, problem.line))
