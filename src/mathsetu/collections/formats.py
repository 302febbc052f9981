"""The table of file formats: the content of each, its reader and writer, how to recognise it.

To add a format, add a module and one entry in `FORMATS`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

from mathsetu.collections import (
    arqmath,
    clmir,
    columns,
    crossmath,
    folder,
    ir_datasets,
    jsonl,
    parquet,
    stackexchange,
    trec,
    wikipedia,
)
from mathsetu.collections.compression import Member
from mathsetu.collections.documents import kind_by_name
from mathsetu.collections.files import COMPRESSED, plain_name, read_head
from mathsetu.collections.rows import REFUSE, BadRows, Problem
from mathsetu.errors import InputError, UnknownFormat
from mathsetu.records import Formula, Judgment, Post, Query, Run

Holds = Literal["posts", "queries", "formulas", "judgments", "runs"]
Reader = Callable[[str | Path, BadRows], Iterator[Any]]
Writer = Callable[[str | Path, Iterable[Any]], None]
Validator = Callable[..., list[Problem]]


@dataclass(frozen=True, slots=True)
class Format:
    """One file format.

    ``head`` is a pattern for the beginning of such a file; together with ``endings`` it
    distinguishes the formats. Readers yield records of the kind named by ``holds``.
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
    """Return the format of a name.

    >>> find("trec-run").holds
    'runs'
    """
    if name not in FORMATS:
        raise UnknownFormat(name, FORMATS)
    return FORMATS[name]


def detect(path: str | Path, *, fields: Mapping[str, str] | None = None) -> Format:
    r"""Detect the format of a file, by its ending and its first lines.

    Args:
        path: The file or folder.
        fields: The user's mapping of fields to columns. With a mapping, every table is read as
            such, except a file of posts in our own formats that has none of the columns.

    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "results.txt"
    >>> _ = path.write_text("A.1 Q0 7 1 2.5 bm25\n")
    >>> detect(path).name
    'trec-run'
    """
    form = _recognised(path, fields)
    if form is None:
        raise _unsupported(path)
    return form


def detect_as(path: str | Path, holds: Holds) -> Format:
    r"""Detect the format of a file of runs or judgments.

    If the content matches no such format but the file name allows it, the likeliest format is
    returned: its reader then reports what is wrong with the first line.

    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "qrels.txt"
    >>> _ = path.write_text("A.1 0 7 two\n")
    >>> detect_as(path, "judgments").name
    'trec-qrels'
    """
    form = _recognised(path, None)
    if form is not None and form.holds == holds:
        return form
    if is_rows(path) and (form is None or form.name in ("document", "table")):
        if holds == "judgments":
            return FORMATS["trec-qrels"]
        if holds == "runs":
            return FORMATS[_meant_run(path)]
    if form is None:
        raise _unsupported(path)
    raise InputError(f"{path}: holds {form.holds} ({form.description}), not {holds}")


def _meant_run(path: str | Path) -> str:
    """Return the name of the run format that fits the first line of a file best."""
    first = read_head(path).lstrip().split("\n", 1)[0]
    if len(first.split("\t")) == _ANSWER_RUN_COLUMNS:
        return "arqmath-answer-run"
    return "clmir-submission" if "," in first and plain_name(path).endswith(".csv") else "trec-run"


def _unsupported(path: str | Path) -> InputError:
    return InputError(
        f"{path}: is not a supported type of file (posts are read from LaTeX, Markdown, HTML, "
        "text, notebooks, Word, PDF, tables, JSON Lines, dumps and archives, see docs/files.md; a "
        "file under another name needs --from FORMAT, plain text --from document)"
    )


def is_rows(path: str | Path) -> bool:
    """Whether a file name has an ending of runs or judgments, or no ending.

    >>> is_rows("bm25.run.gz"), is_rows("qrels"), is_rows("posts.jsonl")
    (True, True, False)
    """
    name = plain_name(path)
    return name.endswith(_TABLE) or "." not in name


def _recognised(path: str | Path, fields: Mapping[str, str] | None) -> Format | None:
    """Return the format of a file; None if it is not supported."""
    if str(path) == "-":
        raise InputError(
            "the format of standard input must be named: --from FORMAT (an argument whose format "
            "--from does not name must be a file)"
        )
    is_member = isinstance(path, Member)
    if not is_member and Path(path).is_dir():
        return FORMATS["folder"]
    name = plain_name(path)
    if name.endswith(_UNPACKED):
        return FORMATS["archive"]
    kind = kind_by_name(Path(path).name)
    if kind is not None and kind.name != "text" and not is_member:
        return FORMATS["document"]
    # Parquet is binary: use its metadata and columns instead of its first bytes.
    head = parquet.detect_records(path) if name.endswith(_PARQUET) else read_head(path)
    if name.endswith(_JSON) and "\n" not in head:
        head = read_head(path, _LONG_LINE)  # the keys are spread over the whole line
    form = _by_head(name, head)
    is_table = columns.is_table(name, head)
    is_ours = form is not None and form.name in ("jsonl-posts", "parquet-posts")
    if fields and is_table and not (is_ours and not columns.applicable_fields(path, fields)):
        return FORMATS["table"]
    if form is not None:
        return form
    # The name shows the intended format; the reader reports what is wrong with the content.
    if head.strip() and name.endswith(_RUN):
        return FORMATS[_meant_run(path)]
    if head.strip() and name.endswith(_QRELS):
        return FORMATS["trec-qrels"]
    if is_table:
        return FORMATS["table"]
    if not is_member and str(path).lower().endswith(COMPRESSED):
        return FORMATS["archive"]
    if not head.strip():
        raise InputError(f"{path}: is empty")
    if name.endswith(_JSON) and head.lstrip()[0] not in "{[":
        raise InputError(f"{path}: is not JSON (it begins with {head.split()[0][:_SHOWN]!r})")
    if not is_member and folder.document_kind(path):
        return FORMATS["document"]
    return None


def _by_head(name: str, head: str) -> Format | None:
    """Return the format that the ending and the first lines of a file match, if any."""
    for form in FORMATS.values():
        if form.head and name.endswith(form.endings) and re.match(form.head, head):
            own = _OWN.get(form.name)
            if own is None or jsonl.is_own(head, own):
                return form
    return None


def _others(path: str | Path, name: str, bad: BadRows) -> Callable[[BadRows], Iterator[Post]] | str:
    """Return the reader of a file in a folder or an archive, or why it is not read."""
    if Path(path).suffix.lower() in _LATEX_HELPERS:
        return "a helper file of LaTeX (its macros are read where a document names it)"
    if Path(path).name in _DUMP_TABLES:
        return "another table of a Stack Exchange dump"
    if plain_name(path).endswith(_UNPACKED):
        return "an archive"
    if isinstance(path, Member) and plain_name(path).endswith(_PARQUET):
        return "a Parquet file in an archive (unpack it first)"
    # In a folder, some tables have the columns that the user names, and others do not.
    fields = columns.applicable_fields(path, bad.fields)
    try:
        form = detect(path, fields=fields)
    except InputError:
        return folder.UNKNOWN
    if form.name == "archive":
        return "an archive"
    if form.holds != "posts":
        return f"holds {form.holds}, not posts"
    if form.name == "table":
        lacking = columns.why_not_posts(path, fields)
        if lacking:
            return f"a table with {lacking}"
        return partial(columns.read_posts, path, name=name, fields=fields)
    if form.name in ("document", "folder"):
        return folder.DOCUMENT
    return partial(form.read, path)


def open_posts(path: str | Path, bad: BadRows = REFUSE) -> Iterator[Post]:
    """Read the posts of a file or folder in any format that holds posts."""
    form = detect(path, fields=bad.fields)
    if form.holds != "posts":
        raise InputError(f"{path}: holds {form.holds} ({form.description}), not posts")
    posts: Iterator[Post] = form.read(path, bad)
    return posts


def _gathered(
    read: Callable[..., Iterator[Post]],
) -> Reader:
    """Return a reader of many files, each in any format that holds posts."""

    def gather(path: str | Path, bad: BadRows) -> Iterator[Post]:
        return read(path, bad, others=lambda file, name: _others(file, name, bad))

    return gather


def _counting(read: Callable[[str | Path, BadRows], Iterator[Post]], name: str) -> Reader:
    """Return a reader that also counts its file."""

    def counted(path: str | Path, bad: BadRows) -> Iterator[Post]:
        yield from read(path, bad)
        bad.add_read(path, name)

    return counted


def _with_site(path: str | Path, bad: BadRows) -> Iterator[Post]:
    """Read the posts of a dump, with URLs if its path contains the host name of the site."""
    place = path.tree.label if isinstance(path, Member) else str(path)
    found = _SITE.search(place)
    return stackexchange.read_posts(path, bad, site=found[1] if found else "")


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
    """Return a pattern for a table header with these columns, in any order and case."""
    anywhere = "".join(rf"(?=[^\n]*\b(?:{name})\b)" for name in names)
    return f"(?i){anywhere}"


_JSON = (".jsonl", ".ndjson", ".json")
# Bytes of a first line that are read to distinguish our JSON Lines from other JSON Lines.
_LONG_LINE = 1 << 20
# Characters of a bad file in an error message.
_SHOWN = 40
_PARQUET = (".parquet",)
# topic, id, rank, score, name of the run
_ANSWER_RUN_COLUMNS = 5
_RUN, _QRELS = (".run", ".res"), (".qrels", ".qrel")
_TABLE = (".tsv", ".txt", ".csv", *_RUN, *_QRELS)
_NUMBER = r"[-+]?\d[\d.]*(?:[eE][-+]?\d+)?"
_OWN = {"jsonl-posts": Post, "jsonl-queries": Query, "jsonl-judgments": Judgment,
        "jsonl-formulas": Formula}  # fmt: skip
_SITE = re.compile(
    r"(?:\A|[/\\])((?:[a-z0-9-]+\.)*"
    r"(?:stackexchange\.com|stackoverflow\.com|mathoverflow\.net))(?=[./\\-]|\Z)"
)
# Archives that may hold many files.
_UNPACKED = (".zip", ".tar", ".tgz", ".tbz", ".tbz2", ".txz", ".7z")
_LATEX_HELPERS = frozenset(".sty .cls .bst .bib .bbl .aux .log .toc .out .fls .clo".split())
_DUMP_TABLES = frozenset(
    f"{name}.xml" for name in "Badges Comments PostHistory PostLinks Tags Users Votes".split()
)
_XML = r"\s*+(?:<\?xml[^>]*+>)?\s*+(?s:<!--(?:(?!-->).)*+-->\s*+)*+"

FORMATS: dict[str, Format] = {
    form.name: form
    for form in (
        Format("arqmath-answers", "posts", "ARQMath: answers with their questions as JSON Lines",
               _counting(arqmath.read_answers, "jsonl"), None, None, _JSON,
               r'\{(?=[^\n]*"answer_id" *:)(?=[^\n]*"question_id" *:)(?=[^\n]*"answer" *:)'),
        Format("jsonl-posts", "posts", "our own JSON Lines: posts",
               _counting(jsonl.read_posts, "jsonl"), jsonl.write_posts, None, _JSON,
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
        Format("parquet-posts", "posts", "Parquet: posts, exact both ways",
               _counting(parquet.read_posts, "parquet"), parquet.write_posts, None, _PARQUET,
               r"posts\Z"),
        Format("parquet-queries", "queries", "Parquet: queries, exact both ways",
               parquet.read_queries, parquet.write_queries, None, _PARQUET, r"queries\Z"),
        Format("parquet-judgments", "judgments", "Parquet: query_id, doc_id, relevance",
               parquet.read_judgments, parquet.write_judgments, None, _PARQUET, r"judgments\Z"),
        Format("parquet-runs", "runs", "Parquet: query_id, doc_id, score, and of which run",
               parquet.read_runs, parquet.write_runs, None, _PARQUET, r"runs\Z"),
        Format("ir_datasets", "posts", "a dataset of ir_datasets by its name: documents",
               ir_datasets.read_posts),
        Format("ir_datasets-queries", "queries", "a dataset of ir_datasets: topics",
               ir_datasets.read_queries),
        Format("ir_datasets-qrels", "judgments", "a dataset of ir_datasets: judgments",
               ir_datasets.read_judgments),
        Format("stackexchange", "posts", "Posts.xml of a Stack Exchange dump or of ARQMath",
               _counting(_with_site, "stackexchange"), None, None, (".xml",),
               _XML + r"<(?:posts|row)\b"),
        Format("wikipedia", "posts", "a dump of Wikipedia or another wiki: pages-articles.xml",
               wikipedia.read_posts, None, None, (".xml",), _XML + r"<mediawiki\b"),
        Format("folder", "posts", "a folder of any files that are read here",
               _gathered(folder.read_posts)),
        Format("archive", "posts", "zip, tar, 7z: read as a folder (arXiv sources, dumps)",
               _gathered(folder.read_archive)),
        Format("document", "posts", "LaTeX, Markdown, HTML, text, a notebook, Word or PDF",
               folder.read_file),
        Format("table", "posts", "CSV, TSV, JSON or Parquet with any columns (--field)",
               columns.read_posts),
        Format("clmir-posts", "posts", "CLMIR 2025: the training CSV",
               _counting(clmir.read_posts, "table"), None, None, (".csv",),
               _header("id|search_?id", "body", "title")),
        Format("clmir-submission", "runs", "CLMIR 2025: the CSV that teams hand in",
               clmir.read_submission, clmir.write_submission, clmir.validate_submission,
               _TABLE, _header("search_?id", "run number|similarity score")),
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
