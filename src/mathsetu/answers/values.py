"""The answers of all interfaces: plain values with the same JSON everywhere.

`mathsetu search --json`, the API and the tools for language models always give all of these
fields; docs/api.md describes them for those who read the JSON.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Warned:
    """A place of a formula where the parser had to guess, counted from the formula's start."""

    position: int
    message: str


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a text: words, code, or a formula in LaTeX without its delimiters."""

    kind: Literal["text", "formula", "code"]
    text: str
    display: bool = False


@dataclass(frozen=True, slots=True)
class Rendered:
    """A piece of a text ready to be shown.

    ``start`` is the character of the source at which the piece begins, delimiters included.
    ``mathml``, ``warnings`` and the drawings of both trees belong to formulas.
    """

    kind: Literal["text", "formula", "code"]
    text: str
    start: int
    display: bool = False
    mathml: str = ""
    warnings: tuple[Warned, ...] = ()
    layout_svg: str = ""
    operators_svg: str = ""


@dataclass(frozen=True, slots=True)
class ReadPiece:
    """A piece of a query as it was typed, and its LaTeX where it was read as a formula.

    ``found`` tells that it was read as a formula although nothing delimits it.
    """

    text: str
    latex: str = ""
    found: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """A query as it was understood.

    ``languages`` are all that it was read in, the likeliest first; ``pieces`` are the query as it
    was typed; ``note`` says it to a person where the language is not one that is served.
    """

    text: str
    language: str
    words: str
    formulas: tuple[str, ...]
    languages: tuple[str, ...] = ()
    pieces: tuple[ReadPiece, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class Share:
    """What one part of the recipe added to a score, and which share of the score that is."""

    part: str
    score: float
    share: float
    detail: str = ""


@dataclass(frozen=True, slots=True)
class MatchedWord:
    """A word of the query, what the glossary translated it to, and the word in the post."""

    asked: str
    translation: str
    found: str


@dataclass(frozen=True, slots=True)
class Renamed:
    """A letter of the query's formula and the letter in its place in the post's formula."""

    asked: str
    found: str


@dataclass(frozen=True, slots=True)
class MatchedFormula:
    """A formula of the query and the formula of the post that is most like it.

    ``coverage`` says how much of the query's formula was found, ``in_one_piece`` whether that is
    together in the post's formula as it is in the query's.
    ``symbols`` are the numbers of the matched symbols of the post's formula. In ``mathml`` their
    elements have the class ``matched``, and each element says its number as ``data-symbol``; so
    do ``asked_symbols`` and ``asked_mathml`` for the query's formula.
    """

    asked: str
    found: str
    score: float
    coverage: float
    in_one_piece: bool
    substitution: tuple[Renamed, ...]
    wildcards: tuple[Renamed, ...]
    asked_symbols: tuple[int, ...]
    symbols: tuple[int, ...]
    asked_mathml: str = ""
    mathml: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AboutPost:
    """What every answer says of a post."""

    id: str
    title: str
    title_pieces: tuple[Piece, ...]
    language: str
    tags: tuple[str, ...]
    url: str
    kind: str
    collection: str
    thread_id: str


@dataclass(frozen=True, slots=True)
class Version:
    """The same post in another language."""

    id: str
    language: str
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundPost(AboutPost):
    """A post that was found, and why.

    ``versions`` are those in other languages, where a search groups them into one hit.
    """

    rank: int
    score: float
    snippet: tuple[Piece, ...]
    reasons: tuple[Share, ...] = ()
    words: tuple[MatchedWord, ...] = ()
    formulas: tuple[MatchedFormula, ...] = ()
    versions: tuple[Version, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """The hits of a query; ``unfinished`` names what the time limit cut off.

    Where nothing is ``close`` to the query, the hits are merely the nearest posts. ``total`` posts
    were found, ``offset`` hits come before these; there may be more than the parts of a recipe hand
    over unless ``total_is_exact``. ``facets`` counts the posts that were found by ``language``,
    ``tag`` and ``collection`` where that was asked for.
    """

    query: Asked
    hits: tuple[FoundPost, ...]
    unfinished: tuple[str, ...] = ()
    close: bool = True
    offset: int = 0
    total: int = 0
    total_is_exact: bool = True
    facets: dict[str, dict[str, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ExplainAnswer:
    """One post as a hit of a query; its rank is 0."""

    query: Asked
    hit: FoundPost


@dataclass(frozen=True, slots=True)
class SimilarAnswer:
    """The posts that are most like a post."""

    id: str
    hits: tuple[FoundPost, ...]
    unfinished: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FoundFormula:
    """A formula of the library, how it matches, and posts that hold it (the first few)."""

    rank: int
    score: float
    match: MatchedFormula
    posts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FormulaAnswer:
    """The formulas that are most like one formula; ``unfinished`` as in a search."""

    formula: Rendered
    hits: tuple[FoundFormula, ...]
    unfinished: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PostAnswer(AboutPost):
    """A whole post; ``question`` is the text that an answer belongs to, where it is known."""

    body: tuple[Piece, ...]
    question: tuple[Piece, ...]
    parent_id: str
    score: int | None


@dataclass(frozen=True, slots=True)
class RenderAnswer:
    """A text in pieces, formulas as MathML."""

    pieces: tuple[Rendered, ...]


@dataclass(frozen=True, slots=True)
class TranslateAnswer:
    """A translated text; ``lost`` are formulas whose places were lost, put at the end."""

    text: str
    pieces: tuple[Piece, ...]
    source: str
    target: str
    backend: str
    model: str
    lost: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PostTranslation:
    """A post in another language, formulas as they were; of an answer its question, too."""

    id: str
    title: TranslateAnswer
    question: TranslateAnswer
    body: TranslateAnswer


@dataclass(frozen=True, slots=True)
class HeatMap:
    """How well each part of a query (a row) fits each part of a post (a column).

    Parts are the whole, sentences, and formulas in LaTeX between dollars; the numbers are cosines.
    """

    id: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cosines: tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True)
class LibraryAnswer:
    """What can be searched: posts by language, frequent tags, and the parts with their weights."""

    posts: int
    recipe: str
    description: str
    parts: dict[str, float]
    languages: dict[str, int]
    tags: dict[str, int]
    version: str


def to_json(answer: Any) -> dict[str, Any]:
    """An answer as the JSON that all interfaces give.

    >>> to_json(MatchedWord("समाकल", "integral", "integrals"))
    {'asked': 'समाकल', 'translation': 'integral', 'found': 'integrals'}
    """
    return asdict(answer)
