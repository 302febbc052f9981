"""The plain values that everything speaks in.

Text inside a record (titles, bodies, queries) is *marked text*: plain Unicode text with its
formulas in LaTeX between delimiters (see `mathsetu.markup`). Readers turn HTML, Markdown and
LaTeX files into it, so that nothing above floor 0 meets a tag.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, make_dataclass
from functools import cache
from types import MappingProxyType
from typing import Any, Final, Literal, TypeVar

#: Characters of an id, a tag or the name of a collection. Libraries refuse longer ones, and every
#: door takes all that libraries take: what is stored can be asked for.
LONGEST_NAME: Final = 1_000

AnyRecord = TypeVar("AnyRecord", "Formula", "Post")


@dataclass(frozen=True, slots=True)
class Formula:
    """One formula where it stands.

    ``where`` names the field of the post (``title``, ``body``, ``question``, ``comment``);
    ``start`` is the character of that field at which the formula's markup begins, -1 when a
    collection does not say. Formulas that look the same share a ``visual_id``.

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


@dataclass(frozen=True, slots=True)
class Post:
    r"""What is found: an answer, a question, a page, a section of notes.

    ``thread_id`` joins a question and its answers, ``parent_id`` is the question an answer
    belongs to, and ``question`` is that question's text where the collection carries it along.
    ``language`` is an ISO 639-1 code, empty when nobody has said; ``collection`` names where the
    post came from, for those who search several collections at once.

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


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked: words and formulas in a language.

    ``formulas`` holds those that a topic names itself (an ARQMath task 2 topic asks for one
    formula and gives the question around it as ``text``).

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
    """Two things that met: what was asked for, and what stands in the post.

    Words are found as terms of the index (stems); ``translation`` is the term of the post's
    language that the glossary gave for the word, where it had to. Formulas are in LaTeX.

    >>> Evidence("word", "समाकल", "integr", translation="integral").asked
    'समाकल'
    """

    kind: Literal["word", "formula"]
    asked: str
    found: str
    translation: str = ""


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a hit was found: one part of the engine, its share of the score, and its words.

    ``detail`` says it to a person; ``evidence`` says it to a program.

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

    >>> Hit(id="7", score=1.5).reasons
    ()
    """

    id: str
    score: float
    post_id: str = ""
    reasons: tuple[Reason, ...] = ()


@dataclass(frozen=True, slots=True)
class Judgment:
    """How well a post or formula answers a query: 0 (not) to 3 (fully).

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


def quick(record: type[AnyRecord]) -> type[AnyRecord]:
    """A way to make millions of records: it is called as their class is, and gives the same.

    A frozen class checks each attribute that is set, even while a record is being made. Here a
    record begins in an open class with the same slots and joins its own class once it is filled,
    which takes a quarter of the time.

    >>> quick(Formula)("q_4", "x^2") == Formula("q_4", "x^2")
    True
    """
    kind: Any = record  # mypy takes the hash of a record for that of its class
    opened: type[AnyRecord] = _opened(kind)
    return opened


@cache
def _opened(record: Any) -> type[Any]:
    def close(made: Any) -> None:
        made.__class__ = record

    return make_dataclass(
        record.__name__,
        [(part.name, part.type, field(default=part.default)) for part in fields(record)],
        namespace={"__post_init__": close},
        slots=True,
    )
