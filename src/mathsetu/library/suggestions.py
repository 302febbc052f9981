"""Suggests completions while a question is typed, and corrects misspelt words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from threading import Lock
from typing import TYPE_CHECKING, Literal

from mathsetu.intake.question import Question
from mathsetu.languages.analyze import analyze, tokenize, words
from mathsetu.languages.glossary import Glossary
from mathsetu.languages.normalise import fold
from mathsetu.languages.scripts import dominant_script
from mathsetu.languages.table import FURTHER, LANGUAGES, ROWS, language
from mathsetu.languages.vocabulary import LEARNED, STEM, weight_in
from mathsetu.library.prefix_index import PrefixIndex, folded
from mathsetu.library.spelling import Spelling, edits

if TYPE_CHECKING:
    from mathsetu.library.library import Library

# The most titles that are indexed: those of the first posts.
_MAX_TITLES = 250_000
_MAX_TAGS = 5_000
# The most terms and titles that are suggested, besides one tag.
_TERMS_OFFERED, _TITLES_OFFERED = 4, 4
# The least characters of a prefix, the most words in a prefix of a term, and the most characters
# before the cursor that are read.
_SHORTEST, _MAX_WORDS, _MAX_CHARACTERS = 2, 4, 200
# Up to this many posts, the words of titles are read when a word is corrected; of more posts, only
# after `prepare`. There, a word that occurs this often in titles is not a misspelling.
_FEW_POSTS, _MIN_TITLES = 5_000, 2
# Least letters of a word that may be a misspelling although its stem was learned.
_LONG = 8
_WORD = re.compile(r"[^\W\d_][^\s$.,;:!?()\[\]{}|/+=<>^«»“”„।،؛؟]*")
_SENTENCE_END = re.compile(r"[.;:!?।؛؟\n]")


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A completion of the typed text.

    Attributes:
        kind: The source of the suggestion.
        text: The text that replaces the characters from ``start`` to the cursor.
        start: The first character that is replaced.
    """

    kind: Literal["term", "tag", "title"]
    text: str
    start: int


class Suggestions:
    """The suggestions of a library; titles are available after `prepare`.

    >>> from tempfile import mkdtemp
    >>> from mathsetu.collections import sampler
    >>> from mathsetu.library import Library, build_library
    >>> folder = mkdtemp()
    >>> build_library(folder, list(sampler.posts())[:10], "default", processes=1)
    >>> offered = Suggestions(Library(folder))
    >>> offered.find("suma de números pri", ["es"])[0]
    Suggestion(kind='term', text='números primos', start=8)
    """

    def __init__(self, library: Library) -> None:
        self._library = library
        self._lock = Lock()
        self._titles: PrefixIndex | None = None
        self._numbers: list[int] = []

    @property
    def size(self) -> int:
        """The memory that the titles take, in bytes."""
        return self._titles.size + 8 * len(self._numbers) if self._titles else 0

    @property
    def is_prepared(self) -> bool:
        """Whether the titles have been read."""
        return self._titles is not None

    def prepare(self) -> None:
        """Read the titles, which takes about one second per fifty thousand."""
        with self._lock:
            if self._titles is None:
                titles = dict(self._library.titles(_MAX_TITLES))
                self._numbers = list(titles)
                self._titles = PrefixIndex(titles.values())

    def find(self, text: str, languages: Sequence[str]) -> list[Suggestion]:
        """Suggestions for the text before the cursor.

        Args:
            text: The text typed so far.
            languages: Languages of the glossary, the most likely first. If they have no matching
                term, the other languages of the same script are searched.
        """
        cut = max(len(text) - _MAX_CHARACTERS, 0)
        tail = text[cut:]
        if tail.count("$") % 2 or not tail or tail[-1] in "$\\":
            return []  # inside a formula
        begin = max((end.end() for end in _SENTENCE_END.finditer(tail)), default=0)
        begin = max(begin, tail.rfind("$") + 1)
        words = list(_WORD.finditer(tail, begin))
        if not words:
            return []
        beginnings = [
            (cut + word.start(), _beginning(tail[word.start() :])) for word in words[-_MAX_WORDS:]
        ]
        beginnings = [
            (start, begun)
            for start, begun in beginnings
            if len(begun) >= _SHORTEST and not _begins_idly(begun, languages)
        ]
        found = [*self._terms(beginnings, languages), *self._tags_found(beginnings)]
        whole = _beginning(tail[words[0].start() :])
        if len(whole) > _SHORTEST and len(words) <= 2 * _MAX_WORDS:
            found += self._titles_found(whole, cut + words[0].start())
        distinct = {folded(one.text): one for one in reversed(found)}
        typed = folded(tail)
        return [
            one for one in found if distinct[folded(one.text)] is one and folded(one.text) != typed
        ]

    def _terms(
        self, beginnings: Iterable[tuple[int, str]], languages: Sequence[str]
    ) -> Iterator[Suggestion]:
        left = _TERMS_OFFERED
        for start, begun in beginnings:
            tables = [_terms_of(code) for code in languages if code in ROWS]
            offered = list(
                dict.fromkeys(term for table in tables for term in table.find(begun, left))
            )
            if not offered:
                alike = dominant_script(begun)
                others = [row.code for row in LANGUAGES.values() if row.script == alike]
                tables = [_terms_of(code) for code in others if code not in languages]
                offered = list(
                    dict.fromkeys(term for table in tables for term in table.find(begun, left))
                )
            for term in offered[:left]:
                yield Suggestion("term", term, start)
                left -= 1
            if not left:
                return

    @cached_property
    def _tags(self) -> tuple[list[str], PrefixIndex]:
        tags = list(self._library.tags(_MAX_TAGS))
        return tags, PrefixIndex(tag.replace("-", " ") for tag in tags)

    def _tags_found(self, beginnings: Iterable[tuple[int, str]]) -> Iterator[Suggestion]:
        tags, table = self._tags
        for start, begun in beginnings:
            for number in table.find(begun, 1):
                yield Suggestion("tag", tags[number].replace("-", " "), start)
                return

    def _titles_found(self, words: str, start: int) -> Iterator[Suggestion]:
        if self._titles is None:
            return
        found = [self._numbers[number] for number in self._titles.find(words, _TITLES_OFFERED)]
        for title in self._library.titles_of(found):
            yield Suggestion("title", title, start)

    def corrected(self, question: Question) -> str:
        """The question with its misspelt words corrected; "" if there are none.

        A word is misspelt if neither the glossary nor any post contains it, and it is close to a
        word of the glossary (in the languages of the question or English) or of the titles. A known
        word of Hindi or another language typed in Latin letters is not misspelt.
        """
        # The detected language is uncertain, and terms are often borrowed from English.
        spoken = [code for code in question.languages if code in ROWS]
        languages = list(dict.fromkeys([*spoken, "en"]))
        written: list[str] = []
        is_changed = False
        for span in question.reading:
            if span.kind != "text":
                written.append(span.raw)
                continue
            place = 0
            for word in _WORD.finditer(span.raw):
                meant = (
                    "" if question.converts(word[0]) else self._correction_of(word[0], languages)
                )
                if meant:
                    is_changed = True
                    written += [span.raw[place : word.start()], _with_case_of(word[0], meant)]
                    place = word.end()
            written.append(span.raw[place:])
        return "".join(written) if is_changed else ""

    def _correction_of(self, word: str, languages: Sequence[str]) -> str:
        [only, *more] = tokenize(word) or [""]
        if more or not only or any(letter.isdigit() for letter in only):
            return ""
        own = max(weight_in(only, code) for code in languages)
        # In another language, an ending or a learned stem fits by chance.
        if own > LEARNED or any(weight_in(only, code) > STEM for code in LANGUAGES):
            return ""
        if self._library.has_words(
            term for code in (*languages, "") for term in analyze(only, code)
        ):
            return ""
        vocabularies = [*map(_spelling_of, languages), self._words_of_titles]
        near = min(
            filter(None, (spelling.nearest(only) for spelling in vocabularies)),
            key=lambda word: (edits(fold(only), fold(word), 2), edits(only, word.lower(), 2)),
            default="",
        )
        is_close = edits(fold(only), fold(near), 1) == 1
        if own == LEARNED:
            # The stem may have been learned from another word (contin: continent).
            return near if is_close and len(only) >= _LONG else ""
        # Of a further language, fewer other words are known.
        return near if is_close or not FURTHER.keys() & languages else ""

    @property
    def _words_of_titles(self) -> Spelling:
        """The words of the titles; of many titles the frequent words, after `prepare`."""
        if len(self._library) <= _FEW_POSTS:
            return self._every_word
        return self._frequent_words if self._titles is not None else Spelling({})

    @cached_property
    def _every_word(self) -> Spelling:
        titles = (title for _, title in self._library.titles(_FEW_POSTS))
        return Spelling(Counter(word for title in titles for word in tokenize(words(title))))

    @cached_property
    def _frequent_words(self) -> Spelling:
        counts = Counter(self._titles.words() if self._titles else ())
        return Spelling({word: count for word, count in counts.items() if count >= _MIN_TITLES})


class _Terms:
    """The glossary terms of one language, indexed by the beginnings of their words."""

    def __init__(self, code: str) -> None:
        forms = [
            (concept.id, rank, form)
            for concept in Glossary.load()
            for rank, form in enumerate(concept.forms.get(code, ()))
        ]
        self._forms = forms
        self._table = PrefixIndex(form for _, _, form in forms)

    def find(self, words: str, limit: int) -> list[str]:
        """Terms with words that start with a prefix, one form per concept."""
        found: dict[str, tuple[int, str]] = {}
        for number in self._table.find(words, 8 * limit):
            concept, rank, form = self._forms[number]
            if concept not in found or rank < found[concept][0]:
                found[concept] = (rank, form)
        return [form for _, form in found.values()][:limit]


@cache
def _terms_of(code: str) -> _Terms:
    return _Terms(code)


@cache
def _spelling_of(code: str) -> Spelling:
    """The words of the glossary terms of one language, in the forms of these terms."""
    counts: Counter[str] = Counter()
    for concept in Glossary.load():
        for form in concept.forms.get(code, ()):
            counts.update(form.lower().split())
    return Spelling(counts)


def _beginning(text: str) -> str:
    """The folded words of a text, with a final space if the last word is complete."""
    words = folded(text)
    return words + " " if words and text[-1:].isspace() else words


def _begins_idly(words: str, languages: Iterable[str]) -> bool:
    """Whether the first of several words is a stop word, with which no term begins."""
    first, more, _ = words.partition(" ")
    return bool(more) and any(first in language(code).stop_words for code in languages)


def _with_case_of(word: str, meant: str) -> str:
    return meant[:1].upper() + meant[1:] if word[:1].isupper() else meant
