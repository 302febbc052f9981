"""Converts the engine's answers for templates: every text is either HTML already or plain."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup, escape

from mathsetu.answers.describe import marked, pieces, readable
from mathsetu.answers.values import (
    FoundPost,
    LibraryAnswer,
    MatchedWord,
    Piece,
    PostAnswer,
    PostTranslation,
    SearchAnswer,
    Share,
)
from mathsetu.languages.table import LANGUAGES, ROWS, Language, language
from mathsetu.library.exact_matches import TOGETHER
from mathsetu.library.versions import LANGUAGE
from mathsetu.markup import plain, snippet, split
from mathsetu.service.pages import typeset
from mathsetu.service.pages.formula_pairs import FormulaPair, pair_formulas
from mathsetu.service.pages.interface_language import Interface
from mathsetu.service.pages.places import Place, place
from mathsetu.service.pages.preview import Preview
from mathsetu.service.pages.typeset import Coloured
from mathsetu.service.pages.visit import Visit

# Words and formulas shown in a hit, at most; the reasons contain the others.
_WORDS = 8
_FORMULAS = 2
# Tags of found posts that are offered as filters, at most.
_TAGS = 12
# The language that can be typed in Latin letters.
_TYPED = "hi"
_NOTHING = Markup("")
# What may follow the formula that ends a first line.
_CLOSING = re.compile(r"\W{1,3}")
# Parts whose reasons are the formulas that a hit already shows, and measures for programs in the
# reasons of other parts.
_SHOWN_AS_FORMULAS = ("formulas", "math")
_MEASURE = re.compile(r"^(?:(?:cosine|MaxSim) [-\d.]+|as written): ")


@dataclass(frozen=True)
class Word:
    """Found words, and the word of the query that they translate; "" if they are the same."""

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
    rank: int
    title: Markup
    snippet: Markup
    language: Language
    direction: str
    tags: tuple[str, ...]
    place: Place
    score: float
    reasons: tuple[Signal, ...]
    words: tuple[Word, ...]
    formulas: tuple[FormulaPair, ...]
    translate_to: Language | None
    versions: tuple[VersionView, ...]


@dataclass(frozen=True)
class Facet:
    """A value that hits can be filtered by; ``count`` is None if it is unknown."""

    value: str
    label: str
    count: int | None
    is_on: bool
    language: Language | None = None


@dataclass(frozen=True)
class Facets:
    """What hits can be filtered by."""

    languages: tuple[Facet, ...]
    tags: tuple[Facet, ...]
    collections: tuple[Facet, ...]


@dataclass(frozen=True)
class Results:
    """How many posts were found, and which of them a page shows.

    ``total`` counts each version of a post; ``next_offset`` is 0 if there are no more.
    """

    total: int
    is_exact: bool
    first: int
    last: int
    next_offset: int


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
    place: Place


@dataclass(frozen=True)
class TranslationView:
    """A post in another language, or a message why it was not translated."""

    language: Language
    title: Markup = _NOTHING
    question: Markup = _NOTHING
    body: Markup = _NOTHING
    backend: str = ""
    problem: str = ""


@dataclass(frozen=True)
class LibrarySummary:
    """A summary of the library, and the parts of the recipe that can be used alone."""

    posts: int
    languages: tuple[Language, ...]
    parts: tuple[str, ...]


def library_summary(answer: LibraryAnswer) -> LibrarySummary:
    """Summarise the library; fully supported languages come first, in the order of the table."""
    ours = [row for code, row in LANGUAGES.items() if code in answer.languages]
    others = [language(code) for code in answer.languages if code and code not in LANGUAGES]
    parts = tuple(part for part, weight in answer.parts.items() if weight > 0)
    return LibrarySummary(answer.posts, (*ours, *others), parts if len(parts) > 1 else ())


def facets(
    counts: Mapping[str, Mapping[str, int]], visit: Visit, summary: LibrarySummary
) -> Facets:
    """What the hits can be filtered by, with counts of the posts that were found.

    With a filter for languages, the counts of the other languages are unknown.
    """
    languages = counts.get("language", {})
    tags = counts.get("tag", {})
    collections = dict.fromkeys([*counts.get("collection", {}), *visit.collections])
    offered = [tag for tag in tags if tag not in visit.tags][:_TAGS]
    return Facets(
        tuple(
            Facet(
                row.code,
                row.own_name,
                languages.get(row.code, None if visit.languages or not counts else 0),
                row.code in visit.languages,
                row,
            )
            for row in summary.languages
        ),
        tuple(Facet(tag, tag, tags[tag], is_on=False) for tag in offered),
        tuple(
            Facet(name, name, counts["collection"].get(name), name in visit.collections)
            for name in filter(None, collections)
            if counts
        ),
    )


def results(answer: SearchAnswer, visit: Visit, most: int) -> Results:
    """Which hits a page shows.

    Args:
        answer: The engine's answer.
        visit: The visit.
        most: How many hits can come before those of a page.
    """
    # The total counts versions of a post separately, but the page groups them.
    shown = sum(1 + len(found.versions) for found in answer.hits)
    after = visit.offset + visit.k
    is_last = len(answer.hits) < visit.k or visit.offset + shown >= answer.total or after > most
    return Results(
        answer.total,
        answer.total_is_exact,
        visit.offset + 1,
        visit.offset + len(answer.hits),
        0 if is_last else after,
    )


def has_typing(visit: Visit, interface: Interface, read: Preview | None = None) -> bool:
    """Whether to show the switch for Hindi in Latin letters: if the visitor may be typing it."""
    if visit.devanagari or (read is not None and read.devanagari):
        return True
    return _TYPED in (interface.language.code, visit.asked_in) and visit.text.isascii()


def hit(found: FoundPost, interface: Interface, asked_in: str = "", files_at: str = "") -> HitView:
    """A hit with its matches in colour.

    Args:
        found: The engine's answer.
        interface: The page's language, which the hit can be translated into.
        asked_in: The language of the question, offered if the post is in the page's language.
        files_at: The address of the files of posts on the web.
    """
    row = language(found.language)
    coloured = _coloured(found)
    return HitView(
        id=found.id,
        rank=found.rank,
        title=_title(found.title_pieces, found.snippet, found.id, coloured),
        snippet=typeset.line(_after_title(found.title_pieces, found.snippet), coloured),
        language=row,
        direction=_direction(row),
        tags=found.tags,
        place=place(found.url, found.collection, files_at),
        score=found.score,
        reasons=tuple(_signal(share, interface) for share in found.reasons),
        words=_words(found.words),
        formulas=tuple(map(pair_formulas, found.formulas[:_FORMULAS])),
        translate_to=_translate_to(row.code, (interface.language.code, asked_in)),
        versions=tuple(
            VersionView(one.id, language(one.language), plain(one.title) or one.id)
            for one in found.versions
        ),
    )


def post(answer: PostAnswer, found: FoundPost | None = None, files_at: str = "") -> PostView:
    """A whole post; matches of the question that found it are coloured."""
    row = language(answer.language)
    coloured = _coloured(found) if found else Coloured()
    shown = (*answer.title_pieces, *answer.question, *answer.body)
    # The title of an answer without one comes from its question, as among the hits.
    text = pieces(snippet(marked(answer.question or answer.body)))
    is_title = not answer.title_pieces and _beginning(text) == answer.question
    return PostView(
        id=answer.id,
        title=_title(answer.title_pieces, text, answer.id, coloured),
        plain_title=plain(answer.title) or readable(_beginning(text)) or answer.id,
        question=typeset.paragraphs(() if is_title else answer.question, coloured),
        body=typeset.paragraphs(answer.body, coloured),
        formulas=tuple(dict.fromkeys(piece.text for piece in shown if piece.kind == "formula")),
        language=row,
        direction=_direction(row),
        tags=answer.tags,
        place=place(answer.url, answer.collection, files_at),
    )


def translation(answer: PostTranslation) -> TranslationView:
    """A translated post."""
    return TranslationView(
        language=language(answer.body.target),
        title=typeset.line(answer.title.pieces),
        question=typeset.paragraphs(answer.question.pieces),
        body=typeset.paragraphs(answer.body.pieces),
        backend=answer.body.backend,
    )


def _coloured(found: FoundPost) -> Coloured:
    symbols: dict[str, set[int]] = {}
    for matched in found.formulas:  # several formulas of the question may match the same one
        symbols.setdefault(matched.found, set()).update(matched.symbols)
    return Coloured([word.found for word in found.words], symbols)


def _title(
    title: Sequence[Piece], text: Sequence[Piece], post_id: str, coloured: Coloured
) -> Markup:
    """The title of a post, else its beginning, else its id: the link is never empty."""
    shown = typeset.line(title, coloured)
    if not shown.striptags():
        shown = typeset.line(_beginning(text), coloured)
    return shown if shown.striptags() else escape(post_id)


def _after_title(title: Sequence[Piece], text: Sequence[Piece]) -> Sequence[Piece]:
    """The text to show below the title: without a first line that replaces it."""
    line, rest = _first_line(text)
    return rest if not title and rest and line == _beginning(text) else text


def _beginning(text: Sequence[Piece]) -> tuple[Piece, ...]:
    """A replacement for a title: the first line, or what it has up to its first formula."""
    line, _ = _first_line(text)
    has_end = len(line) == 3 and _CLOSING.fullmatch(line[2].text)
    return line if has_end else line[:2]


def _first_line(text: Sequence[Piece]) -> tuple[tuple[Piece, ...], tuple[Piece, ...]]:
    """The first line of a text, and the rest."""
    for number, piece in enumerate(text):
        line, line_break, rest = piece.text.partition("\n")
        if piece.kind == "text" and line_break:
            before = (*text[:number], replace(piece, text=line)) if line else text[:number]
            return tuple(before), (replace(piece, text=rest.lstrip()), *text[number + 1 :])
    return tuple(text), ()


def _direction(row: Language) -> str:
    """The direction of a text; in an unknown language, its first letter determines it."""
    return row.direction if row.code in ROWS else "auto"


def _signal(share: Share, interface: Interface) -> Signal:
    """A share of the score for display, without measures that are for programs."""
    percent = round(100 * min(max(share.share, 0.0), 1.0))
    label = interface.part(share.part)
    if share.part == LANGUAGE:
        return Signal(label, percent, escape(interface.say("why.moved")))
    if share.part in _SHOWN_AS_FORMULAS:
        return Signal(label, percent, _NOTHING)
    told = _MEASURE.sub("", share.detail)
    if told.startswith(TOGETHER):
        told = interface.say("why.together", words=told.removeprefix(TOGETHER))
    detail = [Piece(span.kind, span.content) for span in split(told)]
    return Signal(label, percent, typeset.line(detail))


def _words(matched: Sequence[MatchedWord]) -> tuple[Word, ...]:
    """The strongest words: first those found by translation, then those that are the same."""
    translated: dict[str, list[str]] = {}
    same: dict[str, Word] = {}
    for word in matched[:_WORDS]:
        if word.translation:
            translated.setdefault(word.asked, []).append(word.found)
        else:
            same.setdefault(word.asked, Word("", (word.found,)))
    return (*(Word(asked, tuple(found)) for asked, found in translated.items()), *same.values())


def _translate_to(code: str, wanted: tuple[str, ...]) -> Language | None:
    if code not in LANGUAGES:
        return None
    return next((LANGUAGES[to] for to in wanted if to in LANGUAGES and to != code), None)
