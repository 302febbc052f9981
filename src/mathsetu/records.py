"""The records that all packages share: posts, formulas, queries, hits, judgments and runs.

Text inside a record (titles, bodies, queries) is *marked text*: plain Unicode text with its
formulas in LaTeX between delimiters (see `mathsetu.markup`). Readers turn HTML, Markdown and
LaTeX files into it, so that no other code has to read markup.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields
from functools import wraps
from types import MappingProxyType
from typing import Any, Literal, TypeVar

from mathsetu.errors import InputError
from mathsetu.printable import one_line

Record = TypeVar("Record", bound=Any)
_TEXTS = ("id", "body", "title", "language", "kind", "thread_id", "parent_id", "question", "url",
          "collection", "accepted_id")  # fmt: skip
#: Separates the titles of a document and of its sections in the title of a post.
BETWEEN_TITLES = " › "
# Characters of a question shown before its answer.
_ASKED_WIDTH = 120
# File extensions of archives.
_ARCHIVES = (".zip", ".tar", ".tgz", ".tbz", ".tbz2", ".txz", ".7z", ".gz", ".bz2", ".xz",
             ".zst")  # fmt: skip
# Names of tables, also compressed.
_TABLE = re.compile(
    r"\.(?:csv|tsv|json|jsonl|ndjson|parquet)(?:\.(?:gz|bz2|xz|zst))?$", re.IGNORECASE
)


def _made_quickly(record: type[Record]) -> type[Record]:
    """Give a frozen dataclass with slots an ``__init__`` that takes half the time.

    The usual one looks up each attribute by name, and dumps have millions of records. This one
    calls the setters of the slots directly. Its source is generated, as in `dataclasses`.
    """
    parts = fields(record)
    scope: dict[str, Any] = {f"set_{part.name}": vars(record)[part.name].__set__ for part in parts}
    scope |= {f"default_{part.name}": part.default for part in parts}
    arguments = ", ".join(
        part.name if part.default is MISSING else f"{part.name}=default_{part.name}"
        for part in parts
    )
    lines = "; ".join(f"set_{part.name}(self, {part.name})" for part in parts)
    exec(f"def __init__(self, {arguments}): {lines}", scope)  # noqa: S102
    written: Any = record
    written.__init__ = wraps(written.__init__)(scope["__init__"])
    return record


@_made_quickly
@dataclass(frozen=True, slots=True)
class Formula:
    """One formula, and its place in a post.

    ``where`` names the field of the post (``title``, ``body``, ``question``, ``comment``);
    ``start`` is the character of that field at which the formula's markup begins, or -1 if the
    collection does not give it. Formulas that look the same share a ``visual_id``.

    >>> Formula(id="q_4", latex="x^2", where="title").latex
    'x^2'
    """

    id: str
    latex: str
    visual_id: str = ""
    post_id: str = ""
    where: str = ""
    start: int = -1
    slt: str = ""
    opt: str = ""
    mathml: str = ""


@_made_quickly
@dataclass(frozen=True, slots=True)
class Post:
    r"""A searchable document: an answer, a question, a page or a section of notes.

    ``thread_id`` is common to a question and its answers. ``parent_id`` is the question that an
    answer belongs to, and ``question`` is the text of that question, if the collection includes
    it. ``accepted_id`` is the accepted answer; it is set on the question and, where the two were
    joined, on its answers. ``language`` is an ISO 639-1 code, or a name that a library converts to
    its code; it is empty if unknown. ``collection`` names the source of the post, for searches in
    several collections.

    >>> Post(id="7", title="Sum of angles", body=r"$\alpha+\beta+\gamma=\pi$").language
    ''
    """

    id: str
    body: str
    title: str = ""
    tags: tuple[str, ...] = ()
    language: str = ""
    kind: str = ""
    thread_id: str = ""
    parent_id: str = ""
    question: str = ""
    url: str = ""
    score: int | None = None
    formulas: tuple[Formula, ...] = ()
    collection: str = ""
    accepted_id: str = ""


def has_question_text(post: Post) -> bool:
    """Whether an answer already has the title, the tags and the text of its question.

    >>> has_question_text(Post("7", "Yes.", parent_id="3", question="Is it $1$?"))
    False
    """
    return bool(post.title and post.tags and post.question)


def source_file(address: str) -> str:
    """The file in an address of the form FILE#PLACE; "" for other addresses.

    >>> source_file("notes/sheet.csv#7"), source_file("https://example.org/a.html#7")
    ('notes/sheet.csv', '')
    >>> source_file("question#7")
    ''
    """
    file, mark, _ = address.partition("#")
    is_here = bool(mark) and ":" not in file.partition("/")[0]
    return file if is_here and "." in file.rpartition("/")[2] else ""


def archives_of(file: str) -> list[str]:
    """The archives that contain a file, innermost first.

    >>> archives_of("notes/old.zip/2020.tar.gz/sums.md"), archives_of("notes/sums.md")
    (['notes/old.zip/2020.tar.gz', 'notes/old.zip'], [])
    """
    folders = file.split("/")[:-1]
    ends = (n for n in range(len(folders), 0, -1) if folders[n - 1].lower().endswith(_ARCHIVES))
    return ["/".join(folders[:n]) for n in ends]


def source_file_of(post: Post) -> str:
    """The file that a post comes from; "" if there is none.

    >>> source_file_of(Post("7", "A sum.", url="notes/sheet.csv#2"))
    'notes/sheet.csv'
    """
    # The id of the text before the first heading of a file is the file name alone.
    return source_file(post.url) or source_file(post.id) or source_file(f"{post.id}#")


def is_section_or_row(post_id: str, file: str) -> bool:
    """Whether a post with this id can be a part of a file, and does not only link to it.

    The sections of a document have its name in their ids; the rows of a table may have other ids.

    >>> is_section_or_row("notes/a.md#sums", "notes/a.md"), is_section_or_row("7", "notes/a.csv")
    (True, True)
    >>> is_section_or_row("7", "notes/a.md")
    False
    """
    return post_id == file or bool(source_file(post_id)) or _TABLE.search(file) is not None


@dataclass(frozen=True, slots=True)
class Query:
    """A query: words and formulas in a language.

    ``formulas`` are the formulas that a topic lists explicitly (an ARQMath task 2 topic asks for
    one formula, and ``text`` is the question that contains it).

    >>> Query(id="A.1", text="irrational numbers", language="en").title
    ''
    """

    id: str
    text: str
    title: str = ""
    tags: tuple[str, ...] = ()
    language: str = ""
    kind: str = ""
    formulas: tuple[Formula, ...] = ()


@dataclass(frozen=True, slots=True)
class Evidence:
    """A match: a part of the query, and what matches it in the post.

    ``found`` are words as written in the post. ``translation`` is the translation of the query's
    words that the post contains, inflected or perhaps only in part; it is empty if the post
    contains the words themselves. Formulas are in LaTeX.

    >>> Evidence("word", "समाकल", "integrals", translation="integral").asked
    'समाकल'
    """

    kind: Literal["word", "formula"]
    asked: str
    found: str
    translation: str = ""


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a hit was found: a part of the recipe, its share of the score, and what matched.

    ``detail`` is for people, ``evidence`` for programs.

    >>> Reason(part="formula", score=0.8, detail="x → t").part
    'formula'
    """

    part: str
    score: float
    detail: str = ""
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True)
class Hit:
    """A post, or a formula in a post, with its score and the reasons for it.

    ``versions`` are the ids of the post in other languages, if versions are grouped into one hit.
    ``post`` is the post itself if the hit comes from a search, and None in a run; it is ignored
    when hits are compared.

    >>> Hit(id="7", score=1.5).reasons
    ()
    >>> post = Post(id="7", body="Let $x>0$.", title="Signs", language="en")
    >>> print(Hit(id="7", score=1.5, post=post))
    Signs  [en] 1.500  7
      Let $x>0$.
    """

    id: str
    score: float
    post_id: str = ""
    reasons: tuple[Reason, ...] = ()
    versions: tuple[str, ...] = ()
    post: Post | None = field(default=None, compare=False, repr=False)

    @property
    def title(self) -> str:
        """The title of the post."""
        return self.post.title if self.post else ""

    @property
    def language(self) -> str:
        """The language of the post."""
        return self.post.language if self.post else ""

    @property
    def url(self) -> str:
        """The address of the post, if it has one."""
        return self.post.url if self.post else ""

    @property
    def place(self) -> str:
        """Where the post comes from: its address, else its collection and id."""
        collection = self.post.collection if self.post else ""
        return self.url or (f"{collection}: {self.id}" if collection else self.id)

    @property
    def snippet(self) -> str:
        """A snippet of the post around the matches, as marked text.

        The snippet of an answer follows one of its question if the question matched or there is
        no title.
        """
        return self.snippet_of(self.post) if self.post else ""

    def snippet_of(self, post: Post) -> str:
        """As `snippet`, with the post given for a hit that does not contain it."""
        from mathsetu.markup import matched_snippet  # most hits are never shown

        evidence = [one for reason in self.reasons for one in reason.evidence]
        formulas = [one.found for one in evidence if one.kind == "formula"]
        words: defaultdict[str, set[str]] = defaultdict(set)
        for one in evidence:
            if one.kind == "word":
                words[one.asked].add(one.found)
        best = matched_snippet((post.body, post.question), formulas, words)
        if not post.question or not post.body:
            return best
        answered = matched_snippet((post.body,), formulas, words)
        if post.title and best == answered:
            return answered
        # Neither text is enough alone.
        asked = matched_snippet((post.question,), formulas, words, _ASKED_WIDTH)
        return f"{asked}\n{answered}"

    def __str__(self) -> str:
        if self.post is None:
            return one_line(f"{self.id}  {self.score:.3f}")
        from mathsetu.markup import plain

        code = f"[{self.language}] " if self.language else ""
        text = one_line(plain(self.snippet))
        first = one_line(f"{plain(self.title) or text}  {code}{self.score:.3f}  {self.place}")
        return f"{first}\n  {text}" if self.title else first


@dataclass(frozen=True, slots=True)
class Judgment:
    """How well a post or formula answers a query, from 0 (not at all) to 3 (fully).

    >>> Judgment(query_id="A.1", id="7", grade=3).grade
    3
    """

    query_id: str
    id: str
    grade: int


@dataclass(frozen=True, slots=True)
class Run:
    """Ranked hits for many queries, best first, made by one system.

    >>> run = Run("bm25", {"A.1": (Hit("7", 2.0), Hit("9", 1.0))})
    >>> [hit.id for hit in run.rankings["A.1"]]
    ['7', '9']
    """

    name: str
    rankings: Mapping[str, tuple[Hit, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rankings", MappingProxyType(dict(self.rankings)))


def checked_posts(posts: Iterable[Post]) -> Iterator[Post]:
    """The given posts, checked: each must be a `Post` whose texts are strings.

    >>> list(checked_posts([Post(id=7, body="")]))
    Traceback (most recent call last):
    mathsetu.errors.InputError: post 1: id is 7 (int); give a text
    """
    if isinstance(posts, Post | str | bytes | Mapping):
        raise InputError(f"posts is {shown(posts)}; give a list of posts")
    for number, post in enumerate(posts, start=1):
        if not isinstance(post, Post):
            raise InputError(f"post {number} is {shown(post)}; give a Post")
        for name in _TEXTS:
            value = getattr(post, name)
            if not isinstance(value, str):
                raise InputError(f"post {number}: {name} is {shown(value)}; give a text")
        tags = post.tags
        if not isinstance(tags, tuple | list) or not all(isinstance(tag, str) for tag in tags):
            raise InputError(f"post {number}: tags is {shown(tags)}; give a tuple of texts")
        yield post


def check_ids(ids: Iterable[str]) -> None:
    """Refuse a string instead of a list of ids: it would be read letter by letter.

    >>> check_ids("12")
    Traceback (most recent call last):
    mathsetu.errors.InputError: ids is '12' (str); give a list of ids
    """
    if isinstance(ids, str | bytes):
        raise InputError(f"ids is {shown(ids)}; give a list of ids")


def shown(value: object) -> str:
    """A value as error messages show it."""
    return f"{value!r:.60} ({type(value).__name__})"
