"""The one table of file formats: what each holds, how it is read, written and recognised.

A new format is one new file and one line in `FORMATS`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from mathsetu.collections import (
    arqmath,
    clmir,
    crossmath,
    folder,
    jsonl,
    stackexchange,
    trec,
)
from mathsetu.collections.files import plain_name, read_head
from mathsetu.collections.rows import REFUSE, BadRows, Problem
from mathsetu.errors import InputError, UnknownFormat
from mathsetu.records import Post, Run

Holds = Literal["posts", "queries", "formulas", "judgments", "runs"]
Reader = Callable[[str | Path, BadRows], Iterator[Any]]
Writer = Callable[[str | Path, Iterable[Any]], None]
Validator = Callable[[str | Path], list[Problem]]


@dataclass(frozen=True, slots=True)
class Format:
    """One file format.

    ``head`` matches the beginning of such a file; together with ``endings`` it tells formats
    apart. Readers give records of the kind that ``holds`` says.
    """

    name: str
    holds: Holds
    description: str
    read: Reader
    write: Writer | None = None
    validate: Validator | None = None
    endings: tuple[str, ...] = ("",)
    head: str = ""


def find(name: str) -> Format:
    """The format of a name.

    >>> find("trec-run").holds
    'runs'
    """
    if name not in FORMATS:
        raise UnknownFormat(name, FORMATS)
    return FORMATS[name]


def detect(path: str | Path) -> Format:
    r"""The format of a file, by its ending and its first lines.

    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "results.txt"
    >>> _ = path.write_text("A.1 Q0 7 1 2.5 bm25\n")
    >>> detect(path).name
    'trec-run'
    """
    if str(path) == "-":
        raise InputError("the format of standard input must be named")
    if Path(path).is_dir():
        return FORMATS["folder"]
    name, head = plain_name(path), read_head(path)
    for form in FORMATS.values():
        if form.head and name.endswith(form.endings) and re.match(form.head, head):
            return form
    names = ", ".join(FORMATS)
    raise InputError(f"{path}: its format is not recognised; name one of {names}")


def open_posts(path: str | Path, bad: BadRows = REFUSE) -> Iterator[Post]:
    """The posts of a file or folder of any format that holds posts."""
    form = detect(path)
    if form.holds != "posts":
        raise InputError(f"{path}: holds {form.holds} ({form.description}), not posts")
    posts: Iterator[Post] = form.read(path, bad)
    return posts


def _one_run(read: Callable[[str | Path, BadRows], Run]) -> Reader:
    def runs(path: str | Path, bad: BadRows) -> Iterator[Run]:
        yield read(path, bad)

    return runs


def _only_run(write: Callable[[str | Path, Run], None]) -> Writer:
    def write_one(path: str | Path, runs: Iterable[Run]) -> None:
        every = list(runs)
        if len(every) != 1:
            raise InputError(f"{path}: this format holds one run, not {len(every)}")
        write(path, every[0])

    return write_one


def _header(*names: str) -> str:
    """A pattern for the header of a table that has these columns, in any order and spelling."""
    anywhere = "".join(rf"(?=[^\n]*\b(?:{name})\b)" for name in names)
    return f"(?i){anywhere}"


_JSON = (".jsonl", ".ndjson", ".json")
_TABLE = (".tsv", ".txt", ".run", ".res", ".qrels", ".qrel", ".csv")
_NUMBER = r"[-+]?\d[\d.]*(?:[eE][-+]?\d+)?"
_XML = r"\s*+(?:<\?xml[^>]*+>)?\s*+(?s:<!--(?:(?!-->).)*+-->\s*+)*+"

FORMATS: dict[str, Format] = {
    form.name: form
    for form in (
        Format("jsonl-posts", "posts", "our own JSON Lines: posts",
               jsonl.read_posts, jsonl.write_posts, None, _JSON,
               r'\{"mathsetu": *"posts"|(?!\{"mathsetu")\{(?=[^\n]*"body" *:)'),
        Format("jsonl-queries", "queries", "our own JSON Lines: queries",
               jsonl.read_queries, jsonl.write_queries, None, _JSON,
               r'\{"mathsetu": *"queries"|(?!\{"mathsetu")\{(?=[^\n]*"text" *:)'),
        Format("jsonl-judgments", "judgments", "our own JSON Lines: judgments",
               jsonl.read_judgments, jsonl.write_judgments, None, _JSON,
               r'\{"mathsetu": *"judgments"|(?!\{"mathsetu")\{(?=[^\n]*"grade" *:)'),
        Format("jsonl-formulas", "formulas", "our own JSON Lines: formulas",
               jsonl.read_formulas, jsonl.write_formulas, None, _JSON,
               r'\{"mathsetu": *"formulas"|(?!\{"mathsetu")\{(?=[^\n]*"latex" *:)'),
        Format("stackexchange", "posts", "Posts.xml of a Stack Exchange dump or of ARQMath",
               stackexchange.read_posts, None, None, (".xml",), _XML + r"<(?:posts|row)\b"),
        Format("folder", "posts", "a folder of Markdown, HTML and LaTeX files",
               folder.read_posts),
        Format("clmir-posts", "posts", "CLMIR 2025: the training CSV",
               clmir.read_posts, None, None, (".csv",), _header("id|search_?id", "body", "title")),
        Format("clmir-submission", "runs", "CLMIR 2025: the CSV that teams hand in",
               clmir.read_submission, clmir.write_submission, clmir.validate_submission,
               (".csv",), _header("search_?id", "run number|similarity score")),
        Format("clmir-queries", "queries", "CLMIR 2025: the query CSV",
               clmir.read_queries, None, None, (".csv",),
               _header("(?:query[_ ]?)?id", "latex|expression|formula|query")),
        Format("arqmath-topics", "queries", "ARQMath and CrossMath: topics as XML",
               arqmath.read_topics, arqmath.write_topics, None, (".xml",), _XML + "<Topics?\\b"),
        Format("arqmath-formulas", "formulas", "ARQMath: a formula table in LaTeX, SLT or OPT",
               arqmath.read_formulas, None, None, (".tsv", ".csv"),
               _header("id", "post_id", "formula")),
        Format("crossmath-topics", "queries", "CrossMath: topics in one language as TSV",
               crossmath.read_topics, crossmath.write_topics, None, (".tsv",),
               r"[A-Z]\.\d+\t[^\t\n]*[^\W\d][^\t\n]*\t[^\t\n]*\t[^\t\n]*(?:\n|\Z)"),
        Format("arqmath-formula-run", "runs", "ARQMath task 2: a run of formulas",
               _one_run(arqmath.read_formula_run), _only_run(arqmath.write_formula_run),
               arqmath.validate_formula_run, _TABLE,
               rf"\S+\t(?!Q0\b|[01]\t)\S+\t\d+\t\d+\t{_NUMBER}\t\S+\s*(?:\n|\Z)"),
        Format("arqmath-answer-run", "runs", "ARQMath task 1: a run of answers",
               _one_run(arqmath.read_answer_run), _only_run(arqmath.write_answer_run),
               arqmath.validate_answer_run, _TABLE,
               rf"\S+\t\S+\t\d+\t{_NUMBER}\t\S+\s*(?:\n|\Z)"),
        Format("trec-run", "runs", "TREC run, six columns",
               _one_run(trec.read_run), _only_run(trec.write_run), trec.validate_run, ("",),
               rf"\S+[ \t]+(?i:q?\d)[ \t]+\S+[ \t]+\d+[ \t]+{_NUMBER}[ \t]+\S+\s*(?:\n|\Z)"),
        Format("trec-qrels", "judgments", "TREC qrels, four columns",
               trec.read_qrels, trec.write_qrels, None, ("",),
               r"\S+[ \t]+(?i:q?\d)[ \t]+\S+[ \t]+-?\d+\s*(?:\n|\Z)"),
    )
}  # fmt: skip
