"""Converts runs, judgments and evaluations to data frames of pandas or polars, and back.

Columns are named as in ir-measures: ``query_id``, ``doc_id``, ``score``, ``relevance``. Frames to
be read may also have the names of PyTerrier (``qid``, ``docno``, ``label``) or ranx.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from mathsetu.collections import result_rows
from mathsetu.errors import InputError, MissingExtra
from mathsetu.evaluation import Comparison, Judgments, Results
from mathsetu.library import Answer
from mathsetu.records import Hit, Judgment, Query, Run

#: The supported packages; the first one installed is the default.
KINDS = ("pandas", "polars")
_SHAPES = (
    "a Run, Judgments, Results, a Comparison, an Answer, or a list of runs, judgments, results, "
    "queries or hits"
)


def to_frame(value: object, kind: str = "") -> Any:
    """Convert a run, judgments or results of an evaluation to a data frame.

    Args:
        value: A run, judgments, results, a comparison, an answer, or a list of runs, judgments,
            results, queries or hits.
        kind: ``pandas`` or ``polars``; by default the installed one, pandas if both are.
    """
    return _frame(columns_of(value), kind)


def run_from_frame(frame: Any, name: str = "") -> Run:
    """The run in a data frame, ranked by its scores.

    Args:
        frame: A frame of pandas or polars with the columns of a run.
        name: The name of the run, if there is no column ``run``.
    """
    runs = list(result_rows.read_runs(_rows(frame), "the frame", name=name))
    if len(runs) > 1:
        names = ", ".join(run.name or "(no name)" for run in runs[:5])
        raise InputError(f"the frame: holds {len(runs)} runs ({names}); choose one by its column")
    return runs[0] if runs else Run(name)


def judgments_from_frame(frame: Any) -> Judgments:
    """The judgments in a data frame of pandas or polars."""
    return Judgments.of(result_rows.read_judgments(_rows(frame), "the frame"))


def columns_of(value: object) -> dict[str, list[object]]:
    """The columns of a frame, by name.

    >>> columns_of(Run("bm25", {"A.1": (Hit("7", 2.0),)}))
    {'run': ['bm25'], 'query_id': ['A.1'], 'doc_id': ['7'], 'rank': [1], 'score': [2.0]}
    >>> columns_of(Judgments.of([Judgment("A.1", "7", 3)]))
    {'query_id': ['A.1'], 'doc_id': ['7'], 'relevance': [3]}
    """
    if isinstance(value, Judgments):
        value = [
            Judgment(topic, post, grade)
            for topic, grades in value.grades.items()
            for post, grade in grades.items()
        ]
        return result_rows.judgment_columns(value)
    if isinstance(value, Answer):
        return _hit_columns(value.hits)
    if isinstance(value, Comparison):
        return _difference_columns(value)
    if isinstance(value, Run | Results):
        value = [value]
    if isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping):
        every: list[Any] = list(value)
        for kind, columns in _LISTS:
            if every and all(isinstance(one, kind) for one in every):
                made: dict[str, list[object]] = columns(every)
                return made
    raise InputError(f"a {type(value).__name__} is not a table; give {_SHAPES}")


def _hit_columns(hits: Iterable[Hit]) -> dict[str, list[object]]:
    rows = [
        (rank, hit.id, hit.score, hit.title, hit.snippet, hit.language, hit.place)
        for rank, hit in enumerate(hits, start=1)
    ]
    names = ("rank", "doc_id", "score", "title", "snippet", "language", "place")
    return {name: [row[at] for row in rows] for at, name in enumerate(names)}


def _query_columns(queries: Iterable[Query]) -> dict[str, list[object]]:
    rows = [(query.id, query.title, query.text, query.language) for query in queries]
    names = ("query_id", "title", "text", "language")
    return {name: [row[at] for row in rows] for at, name in enumerate(names)}


def _result_columns(results: Iterable[Results]) -> dict[str, list[object]]:
    """A row for each topic of a run, a column for each measure."""
    every = list(results)
    measures = list(dict.fromkeys(measure for one in every for measure in one.measures))
    pairs = [(one, topic) for one in every for topic in one.topics]
    columns: dict[str, list[object]] = {
        "run": [one.run for one, _ in pairs],
        "query_id": [topic for _, topic in pairs],
    }
    for measure in measures:
        columns[str(measure)] = [one.values.get(measure, {}).get(topic) for one, topic in pairs]
    return columns


def _difference_columns(comparison: Comparison) -> dict[str, list[object]]:
    """A row for each pair of runs and each measure."""
    names = [results.run for results in comparison.results]
    rows = [
        {
            "run": names[one.run],
            "other": names[one.other],
            "measure": str(one.measure),
            "difference": one.mean,
            "low": one.interval[0],
            "high": one.interval[1],
            "p": one.uncorrected,
            "corrected_p": one.p,
            "wins": one.record.wins,
            "ties": one.record.ties,
            "losses": one.record.losses,
        }
        for one in comparison.differences
    ]
    return {name: [row[name] for row in rows] for name in rows[0]} if rows else {}


_LISTS: tuple[tuple[type, Any], ...] = (
    (Run, result_rows.run_columns),
    (Judgment, result_rows.judgment_columns),
    (Results, _result_columns),
    (Query, _query_columns),
    (Hit, _hit_columns),
)


def _frame(columns: dict[str, list[object]], kind: str) -> Any:
    if kind and kind not in KINDS:
        raise InputError(f"{kind!r} is not a kind of data frame ({' or '.join(KINDS)})")
    chosen = kind or next((name for name in KINDS if find_spec(name)), "")
    if not chosen or not find_spec(chosen):
        raise MissingExtra("a data frame", "dataframes")
    package = import_module(chosen)
    if chosen == "polars":
        return package.DataFrame(columns)
    # Strings get the type object, which some programs that read frames require.
    series = {
        name: package.Series(column, dtype=object if _has_text(column) else None)
        for name, column in columns.items()
    }
    return package.DataFrame(series)


def _has_text(column: list[object]) -> bool:
    return any(isinstance(value, str) for value in column)


def _rows(frame: Any) -> Iterator[tuple[int, dict[str, object]]]:
    """The rows of a frame of either kind, counted from 1."""
    names = [str(name) for name in getattr(frame, "columns", ())]
    if not names:
        raise InputError(f"a {type(frame).__name__} is not a data frame of pandas or polars")
    columns = [list(frame[name]) for name in names]
    for number, values in enumerate(zip(*columns, strict=True), start=1):
        yield number, dict(zip(names, values, strict=True))
