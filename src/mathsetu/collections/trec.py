"""TREC runs (six columns) and qrels (four columns), split at any white space."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

from mathsetu.collections.files import read_lines, shown, writing
from mathsetu.collections.rows import REFUSE, BadRows, Problem, first_few, in_order, unanswered
from mathsetu.errors import InputError, RowError
from mathsetu.limits import MAX_DIGITS
from mathsetu.printable import counted
from mathsetu.records import Hit, Judgment, Run

_NUMBER = re.compile(r"[-+]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][-+]?[0-9]++)?")
_INTEGER = re.compile(rf"[-+]?[0-9]{{1,{MAX_DIGITS}}}")
_RUN_COLUMNS = "query, Q0, id, rank, score, run name"
_QREL_COLUMNS = "query, iteration, id, grade"


def read_run(path: str | Path, bad: BadRows = REFUSE) -> Run:
    r"""Read a run: for each query, its hits by decreasing score; ties keep the order of the file.

    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "bm25.run"
    >>> _ = path.write_text("A.1 Q0 7 1 2.5 bm25\nA.1 Q0 9 2 1.5 bm25\n")
    >>> [(hit.id, hit.score) for hit in read_run(path).rankings["A.1"]]
    [('7', 2.5), ('9', 1.5)]
    """
    name = ""
    rankings: dict[str, list[Hit]] = {}
    for line, text in _filled_lines(path, bad):
        try:
            query_id, _, hit_id, _, score, run_name = columns(text, 6, _RUN_COLUMNS)
            rankings.setdefault(query_id, []).append(Hit(hit_id, parse_score(score)))
            name = name or run_name
        except ValueError as error:
            bad.report(RowError(shown(path), line, str(error)))
    return Run(name, ranked(rankings, bad))


def write_run(path: str | Path, run: Run) -> None:
    """Write a run; ranks count from 1."""
    with writing(path) as file:
        for query_id, hits in run.rankings.items():
            for rank, hit in enumerate(hits, start=1):
                row = (query_id, "Q0", hit.id, str(rank), repr(hit.score), run.name or "mathsetu")
                file.write(" ".join(map(word, row)) + "\n")


def read_qrels(path: str | Path, bad: BadRows = REFUSE) -> Iterator[Judgment]:
    r"""Read judgments.

    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "qrels.txt"
    >>> _ = path.write_text("A.1\t0\t7\t3\n")
    >>> list(read_qrels(path))
    [Judgment(query_id='A.1', id='7', grade=3)]
    """
    for line, text in _filled_lines(path, bad):
        try:
            query_id, _, judged_id, grade = columns(text, 4, _QREL_COLUMNS)
            yield Judgment(query_id, judged_id, parse_integer(grade, "grade"))
        except ValueError as error:
            bad.report(RowError(shown(path), line, str(error)))


def write_qrels(path: str | Path, judgments: Iterable[Judgment]) -> None:
    """Write judgments."""
    with writing(path) as file:
        for judgment in judgments:
            row = (judgment.query_id, "0", judgment.id, str(judgment.grade))
            file.write(" ".join(map(word, row)) + "\n")


def validate_run(
    path: str | Path,
    queries: Collection[str] | None = None,
    posts: Collection[str] | None = None,
) -> list[Problem]:
    r"""Return the errors and warnings for a run: what evaluation tools would refuse or misread.

    Args:
        path: The run.
        queries: The ids of its topics, if known.
        posts: The ids of its posts, if known.

    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "bm25.run"
    >>> _ = path.write_text("A.1 Q0 7 1 2.5 bm25\nA.1 Q0 7 2 nan bm25\n")
    >>> [str(problem) for problem in validate_run(path)]
    ["line 2: score 'nan' is not a finite number"]
    """
    bad = BadRows(skip=True, keep=1000)
    problems: list[Problem] = []
    checker = RankChecker(queries, posts)
    names: set[str] = set()
    for line, text in _filled_lines(path, bad):
        try:
            query_id, _, hit_id, rank, score, name = columns(text, 6, _RUN_COLUMNS)
            problems += checker.check(line, query_id, hit_id, parse_score(score), rank)
        except ValueError as error:
            problems.append(Problem(line, str(error)))
            continue
        if names and name not in names:
            problems.append(Problem(line, f"the run has more than one name: {name!r}", fatal=False))
        names.add(name)
    if not names and not problems and not bad.count:
        problems.append(Problem(0, "the file holds no results"))
    problems += checker.unanswered()
    return in_order(problems, bad)


class RankChecker:
    """Checks the rows of rankings: duplicates, order of scores, ranks without gaps.

    Args:
        queries: The valid rankings, if known; any other is reported once.
        posts: The valid hits, if known; any other is reported once for each ranking.

    >>> checker = RankChecker()
    >>> checker.check(1, "A.1", "7", 2.5, "1"), checker.check(2, "A.1", "9", 3.5, "2")
    ([], [Problem(line=2, message='score 3.5 is above the one before it (A.1)', fatal=False)])
    """

    def __init__(
        self, queries: Collection[str] | None = None, posts: Collection[str] | None = None
    ) -> None:
        self._queries, self._posts = queries, posts
        self._seen: dict[str, dict[str, int]] = {}
        self._last: dict[str, tuple[float, int | None]] = {}
        self._next: dict[str, int] = {}

    def check(
        self, line: int, ranking: str, hit_id: str, score: float, rank: str | None = None
    ) -> list[Problem]:
        """Return the problems of one row; ``rank`` is None for a format without ranks."""
        problems: list[Problem] = []
        if self._queries is not None and ranking not in self._seen and ranking not in self._queries:
            problems.append(Problem(line, f"{ranking} is not a topic"))
        seen = self._seen.setdefault(ranking, {})
        if hit_id in seen:
            problems.append(
                Problem(line, f"{hit_id} is repeated for {ranking} (first in line {seen[hit_id]})")
            )
        elif self._posts is not None and hit_id not in self._posts:
            problems.append(Problem(line, f"{hit_id} is not a post of the collection"))
        seen.setdefault(hit_id, line)
        last_score, last_rank = self._last.get(ranking, (math.inf, None))
        if score > last_score:
            message = f"score {score} is above the one before it ({ranking})"
            problems.append(Problem(line, message, fatal=False))
        number = None if rank is None else parse_integer(rank, "rank")
        if number is not None:
            # Some tools count from 0, most from 1. After a wrong rank, its successor is accepted.
            expected = self._next.get(ranking, 0 if number == 0 else 1)
            if number != expected and (last_rank is None or number != last_rank + 1):
                message = f"rank {number} where {expected} is expected ({ranking})"
                problems.append(Problem(line, message, fatal=False))
            self._next[ranking] = expected + 1
        self._last[ranking] = (score, number)
        return problems

    def unanswered(self) -> Iterator[Problem]:
        """Yield a warning if some of the valid rankings are missing."""
        return unanswered(self._queries or (), self._seen, "topic", "topics")

    def counts(self) -> dict[str, int]:
        """Return the number of distinct hits of each ranking."""
        return {ranking: len(seen) for ranking, seen in self._seen.items()}


def ranked(rankings: Mapping[str, list[Hit]], bad: BadRows = REFUSE) -> dict[str, tuple[Hit, ...]]:
    """Sort every ranking by decreasing score; note the rankings that were not sorted.

    >>> bad, rising = BadRows(notes=[]), [Hit("a", 1.0), Hit("b", 2.0)]
    >>> _ = ranked({"A.1": rising, "A.2": rising}, bad)
    >>> bad.notes
    ['the scores of 2 rankings do not decrease: A.1, A.2']
    """
    ordered = {query_id: best_first(hits) for query_id, hits in rankings.items()}
    rising = [
        query_id
        for query_id, hits in rankings.items()
        if any(hit is not other for hit, other in zip(hits, ordered[query_id], strict=True))
    ]
    if len(rising) == 1:
        bad.note(f"{rising[0]}: the scores do not decrease")
    elif rising:
        count = f"the scores of {len(rising):,} rankings do not decrease"
        bad.note(f"{count}: {first_few(rising)}")
    return ordered


def best_first(hits: Iterable[Hit]) -> tuple[Hit, ...]:
    """Sort hits by decreasing score; ties keep their order.

    >>> [hit.id for hit in best_first([Hit("a", 1.0), Hit("b", 2.0), Hit("c", 2.0)])]
    ['b', 'c', 'a']
    """
    return tuple(sorted(hits, key=lambda hit: -hit.score))


def columns(text: str, count: int, names: str, delimiter: str | None = None) -> list[str]:
    """Split a row into columns; raise ValueError if their number is wrong.

    >>> columns("A.1 0 7 3", 4, "query, iteration, id, grade")
    ['A.1', '0', '7', '3']
    """
    row = text.split(delimiter)
    if "\ufeff" in text:
        raise ValueError("contains a byte order mark (U+FEFF)")
    if len(row) != count:
        raise ValueError(f"{counted(len(row), 'column')} where {count} are expected ({names})")
    return row


def parse_score(text: str) -> float:
    """Parse a score; raise ValueError unless it is a finite number.

    >>> parse_score("2.5e-3")
    0.0025
    """
    # Python also reads "1_000" and the digits of other scripts; evaluation tools do not.
    score = float(text) if _NUMBER.fullmatch(text) else math.nan
    if not math.isfinite(score):
        raise ValueError(f"score {text!r} is not a finite number")
    return score


def parse_integer(text: str, what: str) -> int:
    """Parse an integer; raise ValueError if the text is not one or has too many digits.

    >>> parse_integer("-1", "grade")
    -1
    """
    if not _INTEGER.fullmatch(text):
        raise ValueError(f"{what} {text!r} is not an integer of at most {MAX_DIGITS} digits")
    return int(text)


def word(text: str) -> str:
    """Check a value for a file split at white space: it must not be empty or contain any.

    >>> word("A.1")
    'A.1'
    """
    if text.split() != [text]:
        raise InputError(f"{text!r} cannot be written: white space separates the columns")
    return text


def _filled_lines(path: str | Path, bad: BadRows) -> Iterator[tuple[int, str]]:
    return ((line, text) for line, text in read_lines(path, bad) if text.strip())
