"""The answers of all interfaces: plain values with the same JSON everywhere.

`mathsetu search --json`, the API and the tools for language models always give all of these
fields; docs/api.md describes the JSON.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Warned:
    """A warning of the parser; ``position`` is counted from the start of the formula."""

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
    """A piece of a text, ready for display.

    ``start`` is the character of the source at which the piece begins, including its delimiters.
    Only formulas have ``mathml``, ``warnings`` and drawings of both trees.
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
    """A piece of a query as typed, and its LaTeX if it was read as a formula.

    ``found`` is true for a formula without delimiters.
    """

    text: str
    latex: str = ""
    found: bool = False


@dataclass(frozen=True, slots=True)
class QueryReading:
    """How a query was interpreted.

    ``languages`` are all languages that it was read in, most likely first; ``pieces`` are the query
    as typed; ``note`` is a message if a language is not fully supported or has no posts.
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
    """The amount that one part of the recipe added to a score, and its share of the score."""

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
    """A formula of the query and the most similar formula of the post.

    ``coverage`` is the share of the query's formula that was found, ``in_one_piece`` whether it
    is connected in the post's formula as it is in the query's. ``symbols`` are the numbers of the
    matched symbols of the post's formula. In ``mathml`` their elements have the class ``matched``,
    and each element has its number in ``data-symbol``. ``asked_symbols`` and ``asked_mathml`` are
    the same for the query's formula.
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
    """The fields that every answer has for a post."""

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
    """A post that was found, with the reasons, unless it was found by its similarity to a post.

    ``versions`` are the versions in other languages, if the search groups them into one hit.
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
    """The hits of a query; ``unfinished`` names the steps that the time limit cut off.

    If ``close`` is false, no post is close to the query, and the hits are only the nearest posts.
    ``offset`` hits come before these. ``total`` is the number of posts found; unless
    ``total_is_exact``, there may be more than the parts of the recipe returned. ``facets`` counts
    the posts found by ``language``, ``tag`` and ``collection``, if requested.
    """

    query: QueryReading
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

    query: QueryReading
    hit: FoundPost


@dataclass(frozen=True, slots=True)
class SimilarAnswer:
    """The posts most similar to a post, without reasons."""

    id: str
    hits: tuple[FoundPost, ...]
    unfinished: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FoundFormula:
    """A formula of the library, how it matches, and the first few posts that contain it."""

    rank: int
    score: float
    match: MatchedFormula
    posts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FormulaAnswer:
    """The formulas most similar to one formula; ``unfinished`` as in a search."""

    formula: Rendered
    hits: tuple[FoundFormula, ...]
    unfinished: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PostAnswer(AboutPost):
    """A whole post; ``question`` is the text of an answer's question, if known."""

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
    """A translated text; ``lost`` are formulas whose places were lost, appended at the end."""

    text: str
    pieces: tuple[Piece, ...]
    source: str
    target: str
    backend: str
    model: str
    lost: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PostTranslation:
    """A translated post with unchanged formulas; an answer comes with its question."""

    id: str
    title: TranslateAnswer
    question: TranslateAnswer
    body: TranslateAnswer


@dataclass(frozen=True, slots=True)
class HeatMap:
    """The similarity of each part of a query (a row) to each part of a post (a column).

    Parts are the whole text, sentences, and formulas in LaTeX between dollars; the numbers are
    cosines.
    """

    id: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cosines: tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True)
class LibraryAnswer:
    """The library: number of posts by language, frequent tags, and parts with their weights."""

    posts: int
    recipe: str
    description: str
    parts: dict[str, float]
    languages: dict[str, int]
    tags: dict[str, int]
    version: str


def to_json(answer: Any) -> dict[str, Any]:
    """Convert an answer to the JSON that all interfaces give.

    >>> to_json(MatchedWord("समाकल", "integral", "integrals"))
    {'asked': 'समाकल', 'translation': 'integral', 'found': 'integrals'}
    """
    return asdict(answer)
