"""The engine's answers as templates show them: every piece of text is HTML already or plain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from markupsafe import Markup, escape

from mathsetu.answers.values import (
    FoundPost,
    LibraryAnswer,
    MatchedFormula,
    MatchedWord,
    Piece,
    PostAnswer,
    PostTranslation,
    Renamed,
    Share,
)
from mathsetu.languages.table import LANGUAGES, ROWS, Language, language
from mathsetu.markup import plain, split
from mathsetu.service.pages import typeset
from mathsetu.service.pages.interface_language import Interface
from mathsetu.service.pages.typeset import Coloured

# A hit tells its strongest words and formulas; the rest stands in the reasons.
_WORDS = 8
_FORMULAS = 2
_NOTHING = Markup("")


@dataclass(frozen=True)
class Letter:
    """A letter or wildcard of the question's formula, and what stands in its place."""

    asked: Markup
    found: Markup


@dataclass(frozen=True)
class Bridge:
    """A formula asked for and the formula found, what they share in colour."""

    asked: Markup
    found: Markup
    asked_latex: str
    found_latex: str
    letters: tuple[Letter, ...]


@dataclass(frozen=True)
class Word:
    """Words found, and the word they translate; "" where it was found as it was asked for."""

    asked: str
    found: tuple[str, ...]


@dataclass(frozen=True)
class Signal:
    """One signal's share of the score."""

    label: str
    percent: int
    detail: Markup


@dataclass(frozen=True)
class VersionView:
    """The same post in another language."""

    id: str
    language: Language
    title: str


@dataclass(frozen=True)
class HitView:
    """A post that was found."""

    id: str
    title: Markup
    snippet: Markup
    language: Language
    direction: str
    tags: tuple[str, ...]
    url: str
    score: float
    reasons: tuple[Signal, ...]
    words: tuple[Word, ...]
    formulas: tuple[Bridge, ...]
    translate_to: Language | None
    versions: tuple[VersionView, ...]


@dataclass(frozen=True)
class PostView:
    """A whole post."""

    id: str
    title: Markup
    plain_title: str
    question: Markup
    body: Markup
    formulas: tuple[str, ...]
    language: Language
    direction: str
    tags: tuple[str, ...]
    url: str


@dataclass(frozen=True)
class TranslationView:
    """A post in another language, or the line that says why it could not be had."""

    language: Language
    title: Markup = _NOTHING
    body: Markup = _NOTHING
    backend: str = ""
    problem: str = ""


@dataclass(frozen=True)
class Holdings:
    """What can be searched, and the parts of the recipe that can be searched by alone."""

    posts: int
    languages: tuple[Language, ...]
    parts: tuple[str, ...]


def holdings(answer: LibraryAnswer) -> Holdings:
    """What the library holds, our languages first, in the order of the table."""
    ours = [row for code, row in LANGUAGES.items() if code in answer.languages]
    others = [language(code) for code in answer.languages if code and code not in LANGUAGES]
    parts = tuple(part for part, weight in answer.parts.items() if weight > 0)
    return Holdings(answer.posts, (*ours, *others), parts if len(parts) > 1 else ())


def hit(found: FoundPost, interface: Interface, asked_in: str = "") -> HitView:
    """A hit with what matched in colour.

    Args:
        found: The engine's answer.
        interface: The page's language, which the hit can be translated into.
        asked_in: The language of the question, offered where the post is in the page's.
    """
    row = language(found.language)
    coloured = _coloured(found)
    return HitView(
        id=found.id,
        title=_title(found.title_pieces, found.snippet, found.id, coloured),
        snippet=typeset.line(found.snippet, coloured),
        language=row,
        direction=_direction(row),
        tags=found.tags,
        url=web_address(found.url),
        score=found.score,
        reasons=tuple(_signal(share, interface) for share in found.reasons),
        words=_words(found.words),
        formulas=tuple(map(_bridge, found.formulas[:_FORMULAS])),
        translate_to=_translate_to(row.code, (interface.language.code, asked_in)),
        versions=tuple(
            VersionView(one.id, language(one.language), plain(one.title) or one.id)
            for one in found.versions
        ),
    )


def post(answer: PostAnswer, found: FoundPost | None = None) -> PostView:
    """A whole post; what matched the question it was found by is coloured."""
    row = language(answer.language)
    coloured = _coloured(found) if found else Coloured()
    pieces = (*answer.title_pieces, *answer.question, *answer.body)
    return PostView(
        id=answer.id,
        title=_title(answer.title_pieces, answer.body, answer.id, coloured),
        plain_title=plain(answer.title) or answer.id,
        question=typeset.paragraphs(answer.question, coloured),
        body=typeset.paragraphs(answer.body, coloured),
        formulas=tuple(dict.fromkeys(piece.text for piece in pieces if piece.kind == "formula")),
        language=row,
        direction=_direction(row),
        tags=answer.tags,
        url=web_address(answer.url),
    )


def translation(answer: PostTranslation) -> TranslationView:
    """A translated post."""
    return TranslationView(
        language=language(answer.body.target),
        title=typeset.line(answer.title.pieces),
        body=typeset.paragraphs(answer.body.pieces),
        backend=answer.body.backend,
    )


def web_address(url: str) -> str:
    """The address of a post on the web; "" for everything else, scripts above all.

    >>> web_address("https://example.org/q/1"), web_address(" javascript:alert(1)")
    ('https://example.org/q/1', '')
    """
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        return ""
    return url.strip() if parts.scheme in ("http", "https") and parts.netloc else ""


def _coloured(found: FoundPost) -> Coloured:
    symbols = {matched.found: matched.symbols for matched in found.formulas}
    return Coloured([word.found for word in found.words], symbols)


def _title(
    title: Sequence[Piece], text: Sequence[Piece], post_id: str, coloured: Coloured
) -> Markup:
    """The title of a post, else how it begins, else its id: there is always something to press."""
    shown = typeset.line(title, coloured)
    if not shown.striptags():
        shown = typeset.line(text[:2])
    return shown if shown.striptags() else escape(post_id)


def _direction(row: Language) -> str:
    """Which way a text runs; that of a language nobody knows is told by its first letter."""
    return row.direction if row.code in ROWS else "auto"


def _signal(share: Share, interface: Interface) -> Signal:
    detail = [Piece(span.kind, span.content) for span in split(share.detail)]
    percent = round(100 * min(max(share.share, 0.0), 1.0))
    return Signal(interface.part(share.part), percent, typeset.line(detail))


def _words(matched: Sequence[MatchedWord]) -> tuple[Word, ...]:
    """The strongest words: first what a translation found, then what is the same in the post."""
    translated: dict[str, list[str]] = {}
    same: list[Word] = []
    for word in matched[:_WORDS]:
        if word.translation:
            translated.setdefault(word.asked, []).append(word.found)
        else:
            same.append(Word("", (word.found,)))
    return (*(Word(asked, tuple(found)) for asked, found in translated.items()), *same)


def _bridge(matched: MatchedFormula) -> Bridge:
    return Bridge(
        asked=typeset.framed(matched.asked_mathml, matched.asked),
        found=typeset.framed(matched.mathml, matched.found),
        asked_latex=matched.asked,
        found_latex=matched.found,
        letters=tuple(map(_letter, (*matched.substitution, *matched.wildcards))),
    )


def _letter(renamed: Renamed) -> Letter:
    return Letter(_symbol(renamed.asked), _symbol(renamed.found))


def _symbol(text: str) -> Markup:
    """A letter as formulas show it; the words for a longer expression as they are."""
    return Markup("<math><mi>{}</mi></math>").format(text) if len(text) == 1 else escape(text)


def _translate_to(code: str, wanted: tuple[str, ...]) -> Language | None:
    if code not in LANGUAGES:
        return None
    return next((LANGUAGES[to] for to in wanted if to in LANGUAGES and to != code), None)
