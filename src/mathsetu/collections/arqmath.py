"""ARQMath: topics of tasks 1 and 2, formula tables, and the two run formats.

Its posts are a Stack Exchange dump (`stackexchange`), its judgments are TREC qrels (`trec`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from mathsetu.collections.files import read_lines, shown, writing
from mathsetu.collections.rows import REFUSE, BadRows, Problem, in_order
from mathsetu.collections.tables import read_named
from mathsetu.collections.texts import form_of, split_tags
from mathsetu.collections.trec import RankChecker, columns, finite, ranked, whole, word
from mathsetu.collections.xmlstream import read_records
from mathsetu.errors import RowError
from mathsetu.markup import to_text
from mathsetu.records import Formula, Hit, Query, Run

_TASK_1 = "Topic_Id, Post_Id, Rank, Score, Run_Number"
_TASK_2 = "Topic_Id, Formula_Id, Post_Id, Rank, Score, Run_Number"
_FORMULA_COLUMNS = {
    name: (name.replace("_", ""),) for name in ("id", "post_id", "type", "visual_id", "formula")
}


def read_topics(path: str | Path, bad: BadRows = REFUSE, *, language: str = "") -> Iterator[Query]:
    r"""Read topics; those of task 2 have the formula they ask for in ``formulas``.

    The files do not say in which language they are: it is detected unless given.

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
    for line, attributes, parts in read_records(path, "Topic"):
        number = attributes.get("number", "").strip()
        if not number or "Title" not in parts or "Question" not in parts:
            problem = "a Topic needs a number, a Title and a Question"
            bad.report(RowError(shown(path), line, problem))
            continue
        formulas: tuple[Formula, ...] = ()
        if "Latex" in parts:
            formula_id = parts.get("Formula_Id", "").strip() or f"{number}:formula:0"
            formulas = (Formula(id=formula_id, latex=parts["Latex"].strip()),)
        yield Query(
            id=number,
            text=to_text(parts["Question"], form_of(parts["Question"])),
            title=to_text(parts["Title"], form_of(parts["Title"])),
            tags=split_tags(parts.get("Tags", "")),
            language=language,
            kind="formula" if formulas else "question",
            formulas=formulas,
        )


def write_topics(path: str | Path, queries: Iterable[Query]) -> None:
    """Write topics; a query that names a formula becomes a topic of task 2."""
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
    r"""Read a formula table; columns are found by their names, which differ between versions.

    Args:
        path: The table.
        bad: What to do with bad rows.
        form: ``latex``, ``slt`` or ``opt``; by default what the path says
            (``slt_representation_v3/1.tsv``), else LaTeX. A formula in MathML is kept as
            MathML, whichever of the two trees it draws.

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
    """Read a run of task 2 (formulas, each with the post it stands in)."""
    return _read_run(path, bad, _formula_row)


def write_answer_run(path: str | Path, run: Run) -> None:
    """Write a run for task 1."""
    _write_run(path, run, lambda hit: (hit.id,))


def write_formula_run(path: str | Path, run: Run) -> None:
    """Write a run for task 2; each hit needs its ``post_id``."""
    _write_run(path, run, lambda hit: (hit.id, hit.post_id))


def validate_answer_run(path: str | Path) -> list[Problem]:
    """What would be rejected in a run of task 1, and what would be misread."""
    return _validate_run(path, _answer_row)


def validate_formula_run(path: str | Path) -> list[Problem]:
    """What would be rejected in a run of task 2, and what would be misread."""
    return _validate_run(path, _formula_row)


# Query, hit, rank, run name.
_RunRow = tuple[str, Hit, str, str]


def _answer_row(text: str) -> _RunRow:
    topic, post, rank, score, name = columns(text, 5, _TASK_1, "\t")
    return topic, Hit(post, finite(score)), rank, name


def _formula_row(text: str) -> _RunRow:
    topic, formula, post, rank, score, name = columns(text, 6, _TASK_2, "\t")
    return topic, Hit(formula, finite(score), post), rank, name


def _read_run(path: str | Path, bad: BadRows, parse: Callable[[str], _RunRow]) -> Run:
    run_name = ""
    rankings: dict[str, list[Hit]] = {}
    for line, text in read_lines(path, bad):
        if not text.strip():
            continue
        try:
            query_id, hit, rank, name = parse(text)
            whole(rank, "rank")
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


def _validate_run(path: str | Path, parse: Callable[[str], _RunRow]) -> list[Problem]:
    bad = BadRows(skip=True, keep=1000)
    problems: list[Problem] = []
    checker = RankChecker()
    for line, text in read_lines(path, bad):
        if not text.strip():
            continue
        try:
            query_id, hit, rank, _ = parse(text)
            problems += checker.check(line, query_id, hit.id, hit.score, rank)
        except ValueError as error:
            problems.append(Problem(line, str(error)))
    counts = checker.counts()
    if not counts and not problems and not bad.count:
        problems.append(Problem(0, "the file holds no results"))
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
