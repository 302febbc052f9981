"""The words of a post in order, with their terms: finds where phrases are, and quotes them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, islice
from typing import Final

from mathsetu.intake import MarkedText
from mathsetu.languages.sentences import clauses
from mathsetu.markup import plain_words
from mathsetu.records import Post
from mathsetu.retrieval.lexical_terms import TAGS_LANGUAGE, LexicalSettings, text_terms

PUNCTUATION: Final = ".,;:!?()[]\"'«»“”„।،؛؟"
# Posts whose words are cached, and the most words of a post that are read.
_CACHE_SIZE, _MAX_WORDS = 2_000, 20_000
# The most characters of formulas between quoted words; longer formulas are left out.
_MAX_GAP = 80
# A call or an index in code, whose names are separate words.
_CODE = re.compile(r"\w[(\[{]\w{2}")
_JOINT = re.compile(r"(?<=\w)[^\w'’-]+(?=\w)")
# The place of the first tag among the texts of a post, after title, body and question.
_FIRST_TAG = 3
_BRACKETS = {"(": ")", "[": "]"}
# The separator of terms, which no term contains.
_SEPARATOR = "\0"


@dataclass(frozen=True)
class PostWords:
    """The words of a post; no phrase crosses a formula or the end of a clause or a field.

    Attributes:
        words: All words in order.
        places: For each term, in order, the place of its word.
        terms: The terms, each between separators.
        first: Each term with the place of the first word that has it.
        fields: The places at which the fields begin.
        gaps: For the place of a word, the text between it and the word before, if not a space.
    """

    words: list[str]
    places: list[int]
    terms: str
    first: dict[str, int]
    fields: list[int]
    gaps: dict[int, str]

    def spans(self, terms: Sequence[str]) -> Iterator[tuple[int, int]]:
        """Yield the places of the first and the last word of terms that follow each other."""
        wanted, place, passed, number = _joined(terms), -1, 0, 0
        while terms and (place := self.terms.find(wanted, place + 1)) >= 0:
            number += self.terms.count(_SEPARATOR, passed, place)
            passed = place
            yield self.places[number], self.places[number + len(terms) - 1]

    def span(self, terms: Sequence[str]) -> str:
        """The first words in the post whose terms follow each other so; "" if there are none."""
        return next((self.between(*span) for span in self.spans(terms)), "")

    def between(self, first: int, last: int) -> str:
        """The words from one place of a field to another, with the formulas between them."""
        further = range(first + 1, last + 1)
        rest = (self.gaps.get(place, " ") + self.words[place] for place in further)
        return _without_punctuation(self.words[first] + "".join(rest))

    def field_of(self, place: int) -> int:
        """The number of the field that the word at a place is in, counted from 1."""
        return bisect_right(self.fields, place)


def read_words(post: Post, settings: LexicalSettings) -> PostWords:
    """Read the words of a post; its tags also in English."""
    own = ((text, post.language) for text in (post.title, post.body, post.question))
    tags = [tag.replace("-", " ") for tag in post.tags]
    # Only an analysis by languages reads them differently.
    is_by_language = settings.analysis == "languages"
    languages = dict.fromkeys((post.language, TAGS_LANGUAGE) if is_by_language else ("",))
    read = ((tag, language) for language in languages for tag in tags)
    return _read_texts((*own, *read), settings.analysis)


@lru_cache(maxsize=_CACHE_SIZE)  # good posts are found repeatedly
def _read_texts(texts: tuple[tuple[str, str], ...], analysis: str) -> PostWords:
    """The words of texts, each given with the language that it is read in."""
    words: list[str] = []
    places: list[int] = []
    terms: list[str] = []
    first: dict[str, int] = {}
    fields: list[int] = []
    gaps: dict[int, str] = {}
    for number, (text, language) in enumerate(texts):
        is_further_tag = number > _FIRST_TAG  # the tags are one field
        gap = ", " if is_further_tag else ""
        if not is_further_tag:
            fields.append(len(words))
        for span in MarkedText(text).spans:
            if span.kind != "text":
                shown = " ".join(span.content.split())
                gap += f"${shown}$" if span.kind == "formula" and len(gap) < _MAX_GAP else "…"
                continue
            for clause in clauses(plain_words(span.content)):
                own = list(islice(clause.split(), _MAX_WORDS - len(words)))
                if own:
                    gap += " " if clause[0].isspace() else ""
                    gaps[len(words)] = gap if len(gap) <= _MAX_GAP else " … "
                    gap = ""
                for joint, word in chain.from_iterable(map(_split_code, own)):
                    if joint:
                        gaps[len(words)] = joint
                    for term in _terms_of_word(word, language, analysis):
                        first.setdefault(term, len(words))
                        places.append(len(words))
                        terms.append(term)
                    words.append(word)
                gap += " " if clause[-1].isspace() else ""
                # An empty term, which matches nothing, ends phrases at a clause or a formula.
                places.append(len(words))
                terms.append("")
    return PostWords(words, places, _joined(terms), first, fields, gaps)


@lru_cache(maxsize=1 << 16)
def _terms_of_word(word: str, language: str, analysis: str) -> tuple[str, ...]:
    return tuple(text_terms(word, language, LexicalSettings(analysis=analysis)))


def _split_code(chunk: str) -> Iterator[tuple[str, str]]:
    """Split text without spaces into words, each with the characters that join it to the last one.

    Only code has several words: brackets at the end of a word, as in "root(s)", are part of it.

    >>> list(_split_code("np.quantile(medians,")), list(_split_code("root(s)"))
    ([('', 'np'), ('.', 'quantile'), ('(', 'medians,')], [('', 'root(s)')])
    """
    if not _CODE.search(chunk):
        yield "", chunk
        return
    start, joint = 0, ""
    for found in _JOINT.finditer(chunk):
        yield joint, chunk[start : found.start()]
        start, joint = found.end(), found[0]
    yield joint, chunk[start:]


def _without_punctuation(text: str) -> str:
    """Strip the punctuation around words, but close the brackets that they open.

    >>> [_without_punctuation(one) for one in ("(see", "theorem (Euler):", "print(det(A)))")]
    ['see', 'theorem (Euler)', 'print(det(A))']
    """
    cut = text.strip(PUNCTUATION)
    rest = text[text.index(cut) + len(cut) :]
    for opening, closing in _BRACKETS.items():
        missing = cut.count(opening) - cut.count(closing)
        if missing > 0 and rest.startswith(closing * missing):
            return cut + closing * missing
    return cut


def _joined(terms: Sequence[str]) -> str:
    return _SEPARATOR + _SEPARATOR.join(terms) + _SEPARATOR
