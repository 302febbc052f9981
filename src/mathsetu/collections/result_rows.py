"""Runs and judgments as rows of a table: a Parquet file or a data frame.

We write the column names of ir-measures (``query_id``, ``doc_id``, ``score``, ``relevance``), and
also read those of PyTerrier, ranx and our own formats.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from numbers import Integral, Real

from mathsetu.collections.rows import REFUSE, BadRows
from mathsetu.collections.trec import ranked
from mathsetu.errors import InputError, RowError
from mathsetu.limits import MAX_DIGITS
from mathsetu.records import Hit, Judgment, Run

Row = tuple[int, Mapping[str, object]]

#: Our column names; `_NAMES` has those of other programs.
QUERY, DOCUMENT, SCORE, GRADE = "query_id", "doc_id", "score", "relevance"
RANK, RUN, POST = "rank", "run", "post_id"
_NAMES = {
    QUERY: ("qid", "q_id", "topic", "topic_id"),
    DOCUMENT: ("docno", "docid", "post", "id"),
    SCORE: ("sim", "similarity"),
    GRADE: ("label", "grade", "rel", "qrel"),
}
_RUN_COLUMNS = (QUERY, DOCUMENT, SCORE)
_JUDGMENT_COLUMNS = (QUERY, DOCUMENT, GRADE)


def run_columns(runs: Iterable[Run]) -> dict[str, list[object]]:
    """Return the hits of runs as columns; ranks count from 1.

    >>> run_columns([Run("bm25", {"A.1": (Hit("7", 2.0),)})])
    {'run': ['bm25'], 'query_id': ['A.1'], 'doc_id': ['7'], 'rank': [1], 'score': [2.0]}
    """
    rows = [
        (run.name, query_id, hit.id, rank, hit.score, hit.post_id)
        for run in runs
        for query_id, hits in run.rankings.items()
        for rank, hit in enumerate(hits, start=1)
    ]
    names = (RUN, QUERY, DOCUMENT, RANK, SCORE, POST)
    columns: dict[str, list[object]] = {
        name: [row[place] for row in rows] for place, name in enumerate(names)
    }
    if not any(columns[POST]):  # only hits that are formulas have a post id
        del columns[POST]
    return columns


def judgment_columns(judgments: Iterable[Judgment]) -> dict[str, list[object]]:
    """Return judgments as columns.

    >>> judgment_columns([Judgment("A.1", "7", 3)])
    {'query_id': ['A.1'], 'doc_id': ['7'], 'relevance': [3]}
    """
    rows = [(judgment.query_id, judgment.id, judgment.grade) for judgment in judgments]
    return {name: [row[at] for row in rows] for at, name in enumerate(_JUDGMENT_COLUMNS)}


def kind_of(names: Sequence[str]) -> str:
    """Return what a table with these columns holds: ``runs``, ``judgments`` or neither ("").

    >>> kind_of(["qid", "docno", "score"]), kind_of(["q_id", "doc_id", "label"]), kind_of(["body"])
    ('runs', 'judgments', '')
    """
    for kind, wanted in (("judgments", _JUDGMENT_COLUMNS), ("runs", _RUN_COLUMNS)):
        if all(_find(names, column) for column in wanted):
            return kind
    return ""


def read_runs(
    rows: Iterable[Row], place: str, bad: BadRows = REFUSE, name: str = ""
) -> Iterator[Run]:
    """Read runs from rows and rank each by score; rows without a run name form one run.

    Args:
        rows: The number of each row and its values by column.
        place: The source of the rows, for messages.
        bad: What to do with bad rows.
        name: The name of a run without a name.

    >>> row = {"qid": 7, "docno": "d1", "score": 2.5}
    >>> [run] = read_runs([(1, row)], "frame", name="bm25")
    >>> run.name, run.rankings["7"][0].score
    ('bm25', 2.5)
    """
    rankings: dict[str, dict[str, list[Hit]]] = {}
    columns: dict[str, str] = {}
    for number, row in rows:
        columns = columns or _columns(list(row), _RUN_COLUMNS, place)
        try:
            query_id = _id(row[columns[QUERY]], columns[QUERY])
            hit = Hit(
                _id(row[columns[DOCUMENT]], columns[DOCUMENT]),
                _score(row[columns[SCORE]], columns[SCORE]),
                _id(row[POST], POST) if row.get(POST) else "",
            )
            run = _id(row[RUN], RUN) if row.get(RUN) else name
        except ValueError as error:
            bad.report(RowError(place, number, str(error)))
            continue
        rankings.setdefault(run, {}).setdefault(query_id, []).append(hit)
    for run, found in rankings.items():
        yield Run(run, ranked(found, bad))


def read_judgments(rows: Iterable[Row], place: str, bad: BadRows = REFUSE) -> Iterator[Judgment]:
    """Read judgments from rows.

    >>> list(read_judgments([(1, {"qid": "A.1", "docno": "7", "label": 3})], "frame"))
    [Judgment(query_id='A.1', id='7', grade=3)]
    """
    columns: dict[str, str] = {}
    for number, row in rows:
        columns = columns or _columns(list(row), _JUDGMENT_COLUMNS, place)
        try:
            judgment = Judgment(
                _id(row[columns[QUERY]], columns[QUERY]),
                _id(row[columns[DOCUMENT]], columns[DOCUMENT]),
                _grade(row[columns[GRADE]], columns[GRADE]),
            )
        except ValueError as error:
            bad.report(RowError(place, number, str(error)))
            continue
        yield judgment


def _columns(names: Sequence[str], wanted: Sequence[str], place: str) -> dict[str, str]:
    """Map our column names to those present; raise InputError if one is missing."""
    found = {column: _find(names, column) for column in wanted}
    missing = [column for column, name in found.items() if not name]
    if missing:
        accepted = "; ".join(f"{column} (or {', '.join(_NAMES[column])})" for column in missing)
        there = ", ".join(map(str, names)) or "none"
        raise InputError(f"{place}: needs the columns {accepted}; there are: {there}")
    return found


def _find(names: Sequence[str], column: str) -> str:
    return next((name for name in (column, *_NAMES[column]) if name in names), "")


def _id(value: object, column: str) -> str:
    if isinstance(value, Integral) and not isinstance(value, bool):
        value = str(int(value))
    if not isinstance(value, str):
        raise ValueError(f"{column} is {_shown(value)}; a text or an integer is expected")
    if not value.strip():
        raise ValueError(f"{column} is empty")
    return value


def _score(value: object, column: str) -> float:
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
        raise ValueError(f"{column} is {_shown(value)}; a finite number is expected")
    return float(value)


def _grade(value: object, column: str) -> int:
    if isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value):
        whole = int(float(value)) if not isinstance(value, Integral) else int(value)
        if whole == value and abs(whole) < 10**MAX_DIGITS:
            return whole
    raise ValueError(f"{column} is {_shown(value)}; an integer is expected")


def _shown(value: object) -> str:
    return repr(value)[:60]
