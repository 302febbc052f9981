"""CLMIR 2025: posts and queries as CSV, and the CSV submissions of teams.

The posts of the task are in Hindi and its queries in English, but the tables do not state this,
and other tables have the same columns. The language is read from a column ``language``, if there
is one; otherwise it stays empty and is detected when the posts are indexed.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from mathsetu.collections.files import shown, writing
from mathsetu.collections.rows import OTHER_IDS, REFUSE, BadRows, Problem, in_order, unanswered
from mathsetu.collections.source_text import form_of, read_texts, split_tags
from mathsetu.collections.tables import read_named, read_table
from mathsetu.collections.trec import RankChecker, parse_score, ranked
from mathsetu.errors import InputError, RowError
from mathsetu.languages.table import language
from mathsetu.markup import split, to_marked_text
from mathsetu.printable import counted
from mathsetu.records import Formula, Hit, Post, Query, Run

HEADER = ("QueryID", "SearchID", "Run Number", "Similarity Score")
RUN_NUMBERS = ("1", "2", "3")
_FORMULA_SIGNS = ("=", "+", "-", "@", "\t")
_NUMBER = re.compile(r"[-+]?[0-9]+(?:\.[0-9]+)?")

_POST_COLUMNS = {
    "id": ("id", "searchid", "postid", "docid", "documentid"),
    "title": ("title", "hindititle", "titlehindi"),
    "body": ("body", "hindibody", "bodyhindi", "content", "text", "question"),
    "tags": ("tags", "tag"),
    "language": ("language", "lang"),
}
_QUERY_COLUMNS = {
    "id": ("queryid", "id", "qid", "queryno", "querynumber"),
    "latex": ("latex", "latexexpression", "expression", "formula", "latexformula", "query"),
    "text": ("description", "englishdescription", "querydescription", "text", "context"),
    "language": ("language", "lang"),
}


def read_posts(path: str | Path, bad: BadRows = REFUSE) -> Iterator[Post]:
    r"""Read the training CSV: id, title, body with LaTeX, tags.

    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "Train_set.csv"
    >>> _ = path.write_text("ID,Title,Body,Tags\n7,योग,मान लें $x>0$,algebra\n", encoding="utf-8")
    >>> post = next(read_posts(path))
    >>> post.title, post.formulas[0].latex, post.language
    ('योग', 'x>0', '')
    """
    for line, row in read_named(path, _POST_COLUMNS, bad, optional=("title", "tags", "language")):
        post_id = row["id"].strip()
        if not post_id:
            bad.report(RowError(shown(path), line, "the id is empty"))
            continue
        sources = {"title": row.get("title", ""), "body": row["body"]}
        texts = {where: (source, form_of(source)) for where, source in sources.items()}
        try:
            (title, title_formulas), (body, body_formulas) = read_texts(texts, post_id).values()
        except ValueError as error:
            bad.report(RowError(shown(path), line, str(error)))
            continue
        if not bad.accepts(post_id, shown(path), line, remedy=OTHER_IDS):
            continue
        yield Post(
            id=post_id,
            title=title,
            body=body,
            tags=split_tags(row.get("tags", "")),
            language=_stated(row),
            formulas=title_formulas + body_formulas,
        )


def read_queries(path: str | Path, bad: BadRows = REFUSE) -> Iterator[Query]:
    r"""Read the query CSV: id, LaTeX expression, description.

    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "Test_Data.csv"
    >>> _ = path.write_text("query_id,query,context\nQ1,$a^2+b^2$,Pythagorean theorem\n")
    >>> query = next(read_queries(path))
    >>> query.text, query.formulas[0].latex
    ('Pythagorean theorem', 'a^2+b^2')
    """
    for line, row in read_named(path, _QUERY_COLUMNS, bad, optional=("text", "language")):
        query_id = row["id"].strip()
        text = to_marked_text(row.get("text", ""))
        formulas = _expressions(row["latex"], query_id)
        if not query_id or not (text or formulas):
            bad.report(RowError(shown(path), line, "the id is empty, or there is no query"))
            continue
        yield Query(id=query_id, text=text, language=_stated(row), formulas=formulas)


def _stated(row: dict[str, str]) -> str:
    name = row.get("language", "").strip()
    return language(name).code if name else ""


def read_submission(path: str | Path, bad: BadRows = REFUSE) -> Iterator[Run]:
    """Read the runs of a submission; the name of each is its run number."""
    runs: dict[str, dict[str, list[Hit]]] = {}
    rows = read_table(path, bad)
    line, header = next(rows, (1, []))
    if tuple(header) != HEADER:
        raise RowError(shown(path), line, _header_problem(header))
    for line, row in rows:
        try:
            query_id, search_id, number, score = _checked(row)
        except ValueError as error:
            bad.report(RowError(shown(path), line, str(error)))
            continue
        runs.setdefault(number, {}).setdefault(query_id, []).append(Hit(search_id, score))
    for number, rankings in sorted(runs.items()):
        yield Run(number, ranked(rankings, bad))


def write_submission(path: str | Path, runs: Iterable[Run]) -> None:
    """Write one to three runs as a submission; they are numbered in the order given.

    Ids are written unchanged, because the task compares them exactly. An id that a spreadsheet
    would execute as a formula is refused.
    """
    runs = list(runs)
    if not 1 <= len(runs) <= len(RUN_NUMBERS):
        raise InputError(f"a submission holds 1 to {len(RUN_NUMBERS)} runs, not {len(runs)}")
    with writing(path) as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(HEADER)
        for number, run in zip(RUN_NUMBERS, runs, strict=False):
            for query_id, hits in run.rankings.items():
                name = _escaped(query_id)
                table.writerows((name, _escaped(hit.id), number, repr(hit.score)) for hit in hits)


def add_run(path: str | Path, run: Run, number: int) -> None:
    """Write a run into a submission under a number and keep the other runs of the file.

    A run of the same number is replaced. Run numbers must have no gaps, as the task requires.

    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "team.csv"
    >>> add_run(path, Run("words", {"Q1": (Hit("7", 0.5),)}), 1)
    >>> add_run(path, Run("vectors", {"Q1": (Hit("8", 0.9),)}), 2)
    >>> [(run.name, run.rankings["Q1"][0].id) for run in read_submission(path)]
    [('1', '7'), ('2', '8')]
    """
    runs = read_other_runs(path, number) | {number: run}
    write_submission(path, [runs[one] for one in sorted(runs)])


def read_other_runs(path: str | Path, number: int) -> dict[int, Run]:
    """Return the other runs of a submission by number; refuse a number that would leave a gap."""
    if str(number) not in RUN_NUMBERS:
        raise InputError(f"run {number}: a submission holds runs {', '.join(RUN_NUMBERS)}")
    runs = {int(one.name): one for one in read_submission(path)} if Path(path).exists() else {}
    for before in range(1, number):
        if before not in runs:
            raise InputError(
                f"{shown(path)}: run {number} needs run {before} beside it; write run {before} "
                "into the same file first"
            )
    return {other: run for other, run in runs.items() if other != number}


def validate_submission(
    path: str | Path,
    queries: Collection[str] | None = None,
    posts: Collection[str] | None = None,
    depth: int = 1000,
) -> list[Problem]:
    r"""Return the errors for which organisers would reject a submission, and warnings.

    Args:
        path: The submission.
        queries: The ids of the queries, if known.
        posts: The ids of the posts, if known.
        depth: Warn about a query with more results than this.

    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "team.csv"
    >>> _ = path.write_text("QueryID,SearchID,Run Number,Similarity Score\nQ1,7,4,0.5\n")
    >>> [str(problem) for problem in validate_submission(path)]
    ['line 2: run number 4 is not 1, 2 or 3']
    """
    bad = BadRows(skip=True, keep=1000)
    rows = read_table(path, bad)
    line, header = next(rows, (0, []))
    if not header:
        return in_order([Problem(0, "the file is empty")], bad)
    if tuple(header) != HEADER:
        return in_order([Problem(line, _header_problem(header))], bad)
    problems: list[Problem] = []
    checker = RankChecker()
    found: dict[str, set[str]] = {}
    for line, row in rows:
        try:
            query_id, search_id, number, score = _checked(row)
        except ValueError as error:
            problems.append(Problem(line, str(error)))
            continue
        problems += checker.check(line, f"query {query_id}, run {number}", search_id, score)
        found.setdefault(number, set()).add(query_id)
        if queries is not None and query_id not in queries:
            problems.append(Problem(line, f"query {query_id} does not exist"))
        if posts is not None and search_id not in posts:
            problems.append(Problem(line, f"post {search_id} does not exist"))
    if not found and not problems and not bad.count:
        problems.append(Problem(0, "the file holds no results"))
    problems += _run_problems(found, queries or ())
    problems += [
        Problem(0, f"{ranking} has {count} results (more than {depth})", fatal=False)
        for ranking, count in checker.counts().items()
        if count > depth
    ]
    return in_order(problems, bad)


def _run_problems(found: dict[str, set[str]], queries: Collection[str]) -> Iterator[Problem]:
    """Yield the problems of the runs as a whole, given the queries that each run answers."""
    for number in RUN_NUMBERS[: len(found)]:
        if number not in found:
            given = ", ".join(sorted(found))
            yield Problem(0, f"run {number} is missing although there is a later one ({given})")
    for number, answered in sorted(found.items()):
        yield from unanswered(queries, answered, "query", "queries", f" in run {number}")


def _checked(row: list[str]) -> tuple[str, str, str, float]:
    if len(row) != len(HEADER):
        raise ValueError(f"{counted(len(row), 'column')} where {len(HEADER)} are expected")
    query_id, search_id, number, score = row
    if not query_id.strip() or not search_id.strip():
        raise ValueError("the QueryID or the SearchID is empty")
    if number not in RUN_NUMBERS:
        raise ValueError(f"run number {number} is not 1, 2 or 3")
    return query_id, search_id, number, parse_score(score)


def _escaped(written_id: str) -> str:
    """Refuse an id that a spreadsheet would execute; an escaped id would match no post."""
    breaks = "\r" in written_id or "\n" in written_id
    if breaks or (written_id.startswith(_FORMULA_SIGNS) and not _NUMBER.fullmatch(written_id)):
        signs = "=, +, -, @, a tab or a line break"
        raise InputError(
            f"id {written_id!r} cannot be written as CSV: what begins with {signs} is run as a "
            "formula by spreadsheets (choose another id or format)"
        )
    return written_id


def _header_problem(header: list[str]) -> str:
    return f"the header must be {','.join(HEADER)}, not {','.join(header)}"


def _expressions(source: str, query_id: str) -> tuple[Formula, ...]:
    """Return the formulas of an expression, which may be written without delimiters."""
    found = [span.content for span in split(source) if span.kind == "formula"]
    latex = found or [part for part in (source.strip(),) if part]
    return tuple(
        Formula(id=f"{query_id}:formula:{number}", latex=part) for number, part in enumerate(latex)
    )
