"""ARQMath: topics of tasks 1 and 2, formula tables, and the two run formats.

The posts are a Stack Exchange dump (`stackexchange`), the judgments are TREC qrels (`trec`).
Samples of answers are JSON Lines; each answer includes the text of its question.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from mathsetu.collections.crossmath import language_of
from mathsetu.collections.files import read_lines, shown, writing
from mathsetu.collections.jsonl import check_texts, from_json
from mathsetu.collections.rows import REFUSE, BadRows, Problem, in_order
from mathsetu.collections.source_text import form_of, split_tags, with_formulas
from mathsetu.collections.tables import read_named
from mathsetu.collections.trec import RankChecker, columns, parse_integer, parse_score, ranked, word
from mathsetu.collections.xmlstream import read_records
from mathsetu.errors import RowError
from mathsetu.markup.convert import text_and_formulas
from mathsetu.records import Formula, Hit, Post, Query, Run

_TASK_1 = "Topic_Id, Post_Id, Rank, Score, Run_Number"
_TASK_2 = "Topic_Id, Formula_Id, Post_Id, Rank, Score, Run_Number"
_FORMULA_COLUMNS = {
    name: (name.replace("_", ""),) for name in ("id", "post_id", "type", "visual_id", "formula")
}
_ANSWER_FIELDS = ("answer_id", "question_id", "title", "tags", "question", "answer")
# The location of a formula in a sample, mapped to the field of a post. Comments are not read.
_PLACES = {"title": "title", "question": "question", "answer": "body"}


def read_answers(path: str | Path, bad: BadRows = REFUSE) -> Iterator[Post]:
    r"""Read answers with the title, tags and text of their questions, one JSON object per line.

    Formulas that the collection lists keep their ids. The formulas of a question have the id of
    the question as their post, not that of the answer.

    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "posts.jsonl"
    >>> row = {"answer_id": "8", "question_id": "7", "title": "Why?", "question": "Is $x$ even?",
    ...        "answer": "It is $2y$.", "tags": [],
    ...        "formulas": [{"id": "5", "visual_id": "3", "latex": "2y", "where": "answer"}]}
    >>> _ = path.write_text(json.dumps(row) + "\n")
    >>> [(post.id, post.parent_id, post.formulas[0].visual_id) for post in read_answers(path)]
    [('8', '7', '3')]
    """
    for number, line in read_lines(path, bad):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            missing = [name for name in _ANSWER_FIELDS if name not in row]
            if missing:
                raise ValueError(f'"{missing[0]}" is missing')
            check_texts(row, "answer")
            # Also needed if the row lists its formulas: this refuses a text with too many.
            post = with_formulas(_answer(row))
            listed = tuple(_listed(post, row.get("formulas", ())))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            bad.report(RowError(shown(path), number, f"is not an answer ({error})"))
            continue
        yield replace(post, formulas=listed) if listed else post


def _answer(row: Mapping[str, Any]) -> Post:
    return from_json(
        {
            "id": str(row["answer_id"]),
            "parent_id": str(row["question_id"]),
            "title": row["title"],
            "question": row["question"],
            "body": row["answer"],
            "tags": row["tags"],
            "language": "en",
            "kind": "answer",
        },
        Post,
    )


def _listed(post: Post, rows: Iterable[Mapping[str, object]]) -> Iterator[Formula]:
    """Yield the listed formulas of the fields that are read; a few have no id and get one."""
    for number, row in enumerate(rows):
        place = _PLACES.get(str(row["where"]))
        if place:
            owner = post.id if place == "body" else post.parent_id
            name, latex, visual_id = row["id"], str(row["latex"]), row["visual_id"] or ""
            own = f"{post.id}:{place}:{number}"
            yield Formula(str(name or own), latex, str(visual_id), owner, place)


def read_topics(path: str | Path, bad: BadRows = REFUSE, *, language: str = "") -> Iterator[Query]:
    r"""Read topics; a topic of task 2 has its query formula in ``formulas``.

    The position of that formula (``where``, ``start``) is set if its id occurs in the text. The
    files do not state their language. Without ``language``, it is taken from a file name such as
    ``hin_Deva.xml``, and otherwise left empty, to be detected later.

    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "topics.xml"
    >>> _ = path.write_text(
    ...     '<Topics><Topic number="B.1"><Formula_Id>q_1</Formula_Id><Latex>x^2</Latex>'
    ...     '<Title>Squares</Title><Question>&lt;p&gt;Why?&lt;/p&gt;</Question>'
    ...     '<Tags>algebra</Tags></Topic></Topics>')
    >>> topic = next(read_topics(path))
    >>> topic.id, topic.text, topic.formulas[0].latex
    ('B.1', 'Why?', 'x^2')
    """
    language = language or language_of(path)
    for line, attributes, parts in read_records(path, "Topic"):
        number = attributes.get("number", "").strip()
        if not number or "Title" not in parts or "Question" not in parts:
            problem = "a Topic needs a number, a Title and a Question"
            bad.report(RowError(shown(path), line, problem))
            continue
        title, in_title = _text(parts["Title"], number, "title")
        text, in_text = _text(parts["Question"], number, "question")
        formulas: tuple[Formula, ...] = ()
        if "Latex" in parts:
            formula_id = parts.get("Formula_Id", "").strip() or f"{number}:formula:0"
            stands = {formula.id: formula for formula in (*in_title, *in_text)}
            here = stands.get(formula_id, Formula(formula_id, ""))
            formulas = (
                Formula(formula_id, parts["Latex"].strip(), where=here.where, start=here.start),
            )
        yield Query(
            id=number,
            text=text,
            title=title,
            tags=split_tags(parts.get("Tags", "")),
            language=language,
            kind="formula" if formulas else "question",
            formulas=formulas,
        )


def _text(source: str, number: str, where: str) -> tuple[str, tuple[Formula, ...]]:
    return text_and_formulas(source, form_of(source), number, where)


def write_topics(path: str | Path, queries: Iterable[Query]) -> None:
    """Write topics; a query with formulas becomes a topic of task 2 with the first of them."""
    with writing(path) as file:
        file.write('<?xml version="1.0" encoding="UTF-8"?>\n<Topics>\n')
        for query in queries:
            parts = {"Title": query.title, "Question": query.text, "Tags": ",".join(query.tags)}
            if query.formulas:
                formula = query.formulas[0]
                parts = {"Formula_Id": formula.id, "Latex": formula.latex} | parts
            file.write(f"<Topic number={quoteattr(query.id)}>\n")
            for name, text in parts.items():
                file.write(f"<{name}>{escape(text)}</{name}>\n")
            file.write("</Topic>\n")
        file.write("</Topics>\n")


def read_formulas(path: str | Path, bad: BadRows = REFUSE, *, form: str = "") -> Iterator[Formula]:
    r"""Read a formula table; columns are found by name, because versions of the table differ.

    Args:
        path: The table.
        bad: What to do with bad rows.
        form: ``latex``, ``slt`` or ``opt``. By default it is read from the path
            (``slt_representation_v3/1.tsv``), else it is LaTeX. A formula in MathML is kept as
            MathML, whether it encodes an SLT or an OPT.

    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "1.tsv"
    >>> _ = path.write_text("id\tpost_id\tthread_id\ttype\tvisual_id\tformula\n"
    ...                     "5\t70\t69\tanswer\t3\tx^2\n")
    >>> next(read_formulas(path)).visual_id
    '3'
    """
    form = form or _form_by_path(path)
    rows = read_named(path, _FORMULA_COLUMNS, bad, delimiter="\t", optional=("type", "visual_id"))
    for line, row in rows:
        text = row["formula"].strip()
        if not row["id"] or not text:
            bad.report(RowError(shown(path), line, "the row has no id or no formula"))
            continue
        held = "mathml" if text.startswith("<") else form
        yield Formula(
            id=row["id"],
            latex=text if held == "latex" else "",
            visual_id=row.get("visual_id", ""),
            post_id=row["post_id"],
            where=row.get("type", ""),
            slt=text if held == "slt" else "",
            opt=text if held == "opt" else "",
            mathml=text if held == "mathml" else "",
        )


def read_answer_run(path: str | Path, bad: BadRows = REFUSE) -> Run:
    """Read a run of task 1 (answers)."""
    return _read_run(path, bad, _answer_row)


def read_formula_run(path: str | Path, bad: BadRows = REFUSE) -> Run:
    """Read a run of task 2 (formulas, each with the id of its post)."""
    return _read_run(path, bad, _formula_row)


def write_answer_run(path: str | Path, run: Run) -> None:
    """Write a run for task 1."""
    _write_run(path, run, lambda hit: (hit.id,))


def write_formula_run(path: str | Path, run: Run) -> None:
    """Write a run for task 2; each hit needs its ``post_id``."""
    _write_run(path, run, lambda hit: (hit.id, hit.post_id))


def validate_answer_run(
    path: str | Path,
    queries: Collection[str] | None = None,
    posts: Collection[str] | None = None,
) -> list[Problem]:
    """Return the errors and warnings for a run of task 1.

    Args:
        path: The run.
        queries: The ids of all topics, if known.
        posts: The ids of all posts, if known.
    """
    checker = RankChecker(queries, posts)
    return _validate_run(path, lambda text, line: _answer_row(text), checker)


def validate_formula_run(
    path: str | Path,
    queries: Collection[str] | None = None,
    formulas: Iterable[Formula] | None = None,
) -> list[Problem]:
    r"""Return the errors and warnings for a run of task 2.

    Args:
        path: The run.
        queries: The ids of all topics, if known.
        formulas: All formulas of the collection, if known; they are read once.

    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "run.tsv"
    >>> _ = path.write_text("B.1\t55\t7\t1\t2.5\tours\nB.1\t8\t8\t2\t2.4\tours\n")
    >>> [problem.message for problem in validate_formula_run(path, None, [Formula("55", "x")])]
    ['8 is not a formula of the collection']
    """
    rows: dict[str, list[tuple[int, str]]] = {}

    def noted(text: str, line: int) -> _RunRow:
        row = _formula_row(text)
        rows.setdefault(row[1].id, []).append((line, row[1].post_id))
        return row

    problems = _validate_run(path, noted, RankChecker(queries))
    if formulas is not None:
        problems += _unknown_formulas(rows, formulas)
    elif rows and all(name == post for name, some in rows.items() for _, post in some):
        message = "every formula has the id of its post: this is a run of posts, not of formulas"
        problems.append(Problem(0, message))
    return sorted(problems, key=lambda problem: problem.line)


def _unknown_formulas(
    rows: Mapping[str, list[tuple[int, str]]], formulas: Iterable[Formula]
) -> list[Problem]:
    """Compare a run's ids with the collection; only the ids in the run are kept in memory."""
    # A collection may list one formula id in several posts, such as a question and its answer.
    owners: dict[str, dict[str, None]] = {}
    for formula in formulas:
        if formula.id in rows:
            owners.setdefault(formula.id, {})[formula.post_id] = None
    problems = []
    for name, some in rows.items():
        for line, post in some:
            if name not in owners:
                problems.append(Problem(line, f"{name} is not a formula of the collection"))
            elif post not in owners[name] and "" not in owners[name]:
                message = f"{name} stands in post {' or '.join(owners[name])}, not in {post}"
                problems.append(Problem(line, message))
    return problems


# Query, hit, rank, run name.
_RunRow = tuple[str, Hit, str, str]


def _answer_row(text: str) -> _RunRow:
    topic, post, rank, score, name = columns(text, 5, _TASK_1, "\t")
    return topic, Hit(post, parse_score(score)), rank, name


def _formula_row(text: str) -> _RunRow:
    topic, formula, post, rank, score, name = columns(text, 6, _TASK_2, "\t")
    return topic, Hit(formula, parse_score(score), post), rank, name


def _read_run(path: str | Path, bad: BadRows, parse: Callable[[str], _RunRow]) -> Run:
    run_name = ""
    rankings: dict[str, list[Hit]] = {}
    for line, text in read_lines(path, bad):
        if not text.strip():
            continue
        try:
            query_id, hit, rank, name = parse(text)
            parse_integer(rank, "rank")
        except ValueError as error:
            bad.report(RowError(shown(path), line, str(error)))
            continue
        rankings.setdefault(query_id, []).append(hit)
        run_name = run_name or name
    return Run(run_name, ranked(rankings, bad))


def _write_run(path: str | Path, run: Run, ids: Callable[[Hit], tuple[str, ...]]) -> None:
    with writing(path) as file:
        for query_id, hits in run.rankings.items():
            for rank, hit in enumerate(hits, start=1):
                row = (query_id, *ids(hit), str(rank), repr(hit.score), run.name or "mathsetu")
                file.write("\t".join(map(word, row)) + "\n")


def _validate_run(
    path: str | Path, parse: Callable[[str, int], _RunRow], checker: RankChecker
) -> list[Problem]:
    bad = BadRows(skip=True, keep=1000)
    problems: list[Problem] = []
    for line, text in read_lines(path, bad):
        if not text.strip():
            continue
        try:
            query_id, hit, rank, _ = parse(text, line)
            problems += checker.check(line, query_id, hit.id, hit.score, rank)
        except ValueError as error:
            problems.append(Problem(line, str(error)))
    counts = checker.counts()
    if not counts and not problems and not bad.count:
        problems.append(Problem(0, "the file holds no results"))
    problems += checker.unanswered()
    problems += [
        Problem(0, f"{query_id} has {count} results; at most 1000 are evaluated", fatal=False)
        for query_id, count in counts.items()
        if count > 1000
    ]
    return in_order(problems, bad)


def _form_by_path(path: str | Path) -> str:
    for part in reversed(Path(path).parts):
        for form in ("latex", "slt", "opt"):
            if part.lower().startswith(form):
                return form
    return "latex"
