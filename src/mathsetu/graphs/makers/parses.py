"""Dependency parses of sentences: words with their heads, terms of the glossary made one word.

spaCy does the parsing. Any model that is installed as a package for a language serves it; the
parts of a model that graphs do not need are left out, since they take a third of the time.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import entry_points
from importlib.util import find_spec
from typing import Any

import numpy as np

from mathsetu.errors import InputError
from mathsetu.graphs.makers.roles import EMPTY_PARTS, PENN
from mathsetu.graphs.makers.terms import NAMES, NEGATIONS, matcher
from mathsetu.graphs.text import NAME, placeholder
from mathsetu.languages.glossary import Concept
from mathsetu.languages.normalise import normalise
from mathsetu.models import require

_BATCH = 256
# The area of the glossary for words such as "show that".
_DISCOURSE = "discourse"
# Words whose base forms are remembered.
_REMEMBERED = 1 << 17
_ATTRIBUTES = ["ORTH", "DEP", "TAG", "POS"]
# The smallest first: a graph asks for little more than who does what to what.
_SIZES = ("_sm", "_md", "_lg", "_trf")


@dataclass(slots=True)
class Word:
    """One word of a sentence, or one term of several words.

    ``label`` is what its node is called: its base form, its concept, or its placeholder.
    ``text`` is as written, in small letters. ``head`` is the place of the word that it depends
    on, its own place for the root; ``dependency`` is the model's label for that, and ``part`` the
    universal part of speech.
    """

    label: str
    text: str
    head: int
    dependency: str
    part: str
    is_formula: bool = False
    is_term: bool = False
    is_name: bool = False
    is_negated: bool = False
    is_imperative: bool = False


def model_of(language: str) -> str:
    """The name of the spaCy model that serves a language; empty when none is installed.

    >>> model_of("tlh")
    ''
    """
    if find_spec("spacy") is None:
        return ""
    names = [point.name for point in entry_points(group="spacy_models")]
    fitting = [name for name in names if name.startswith(f"{language}_")]
    return min(fitting, key=_size, default="")


def _size(name: str) -> tuple[int, str]:
    sizes = [number for number, size in enumerate(_SIZES) if size in name]
    return (sizes[0] if sizes else len(_SIZES), name)


class Parser:
    """Parses sentences of one language with hidden formulas."""

    def __init__(self, language: str, model: str = "") -> None:
        self.language = language
        self.model = model or model_of(language)
        spacy = require("spacy", "graphs from dependency parses", "dependency")
        if not self.model:
            raise InputError(
                f"no spaCy model for {language!r} is installed; install one (such as "
                f"{language}_core_news_sm), or use the maker 'terms'"
            )
        # English models find parts of speech and base forms by slow rules, after their tags.
        self._has_penn_tags = language == "en"
        unused = ["ner", "senter", *(["attribute_ruler"] if self._has_penn_tags else [])]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # models of other versions work, and say so loudly
            try:
                self._model = spacy.load(self.model, exclude=unused)
            except (OSError, ValueError) as error:
                raise InputError(f"spaCy model {self.model!r} cannot be loaded ({error})") from None
        self._base_forms: dict[tuple[str, str], str] = {}
        self._lemmatizer: Any = None
        if self._has_penn_tags and "lemmatizer" in self._model.pipe_names:
            self._lemmatizer = self._model.get_pipe("lemmatizer")
            self._model.disable_pipe("lemmatizer")

    def parse(self, sentences: Sequence[str]) -> Iterator[list[Word]]:
        """The words of each sentence."""
        parsed = self._model.pipe(sentences, batch_size=_BATCH)
        for sentence, tokens in zip(sentences, parsed, strict=True):
            yield _with_terms(self._words(tokens), self._term_places(sentence, tokens))

    def _words(self, tokens: Any) -> list[Word]:
        """The words as the model has them; reading numbers is quicker than asking tokens."""
        strings = self._model.vocab.strings
        rows = tokens.to_array(_ATTRIBUTES).tolist()
        # Heads are given by their distance; it is negative for those in front.
        distances = tokens.to_array("HEAD").astype(np.int64).tolist()
        words: list[Word] = []
        for place, (spelling, dependency, tag, part) in enumerate(rows):
            word = self._word(
                tokens, place, strings[spelling], strings[tag], strings[part] if part else ""
            )
            word.head = place + distances[place]
            word.dependency = strings[dependency]
            words.append(word)
        return words

    def _word(self, tokens: Any, place: int, written: str, tag: str, part: str) -> Word:
        text, formula, is_negated = _spelling(written)
        if self._has_penn_tags:
            part = PENN.get(tag, "X")
        word = Word(text, text, place, "", part, is_negated=is_negated, is_imperative=tag == "VB")
        if formula:
            word.label, word.is_formula = formula, True
        elif part not in EMPTY_PARTS:
            word.label = self._base_form(tokens, place, text, part)
            word.is_name = part == "PROPN"
        if not self._has_penn_tags:
            morphology = str(tokens[place].morph)
            word.is_negated |= "Polarity=Neg" in morphology
            word.is_imperative |= "Mood=Imp" in morphology
        return word

    def _term_places(self, sentence: str, tokens: Any) -> Iterator[tuple[range, Concept]]:
        """The tokens of each term of the glossary."""
        matches = matcher(self.language).match(sentence)
        starts = {start: place for place, start in enumerate(tokens.to_array("IDX").tolist())}
        for match in matches:
            inside = [starts[at] for at in range(match.start, match.end) if at in starts]
            if inside:
                yield range(inside[0], inside[-1] + 1), match.concepts[0]

    def _base_form(self, tokens: Any, place: int, text: str, part: str) -> str:
        """The base form; each word is looked up once where the model's own way is slow."""
        if self._lemmatizer is None:
            return normalise(tokens[place].lemma_) or text
        key = (text, part)
        if key not in self._base_forms:
            if len(self._base_forms) >= _REMEMBERED:
                self._base_forms.clear()
            token = tokens[place]
            token.pos_ = part
            self._base_forms[key] = normalise(self._lemmatizer.lemmatize(token)[0]) or text
        return self._base_forms[key]


@lru_cache(maxsize=1 << 16)
def _spelling(written: str) -> tuple[str, str, bool]:
    """A word in small letters, the placeholder it may be, and whether it negates."""
    text = normalise(written)
    formula = NAME.fullmatch(written)
    return text, placeholder(formula) if formula is not None else "", text in NEGATIONS


def _with_terms(words: list[Word], terms: Iterable[tuple[range, Concept]]) -> list[Word]:
    """The words with each term made one, standing for the one nearest to the root.

    >>> words = [
    ...     Word("prime", "prime", 1, "amod", "ADJ"), Word("number", "numbers", 1, "ROOT", "NOUN")
    ... ]
    >>> concept = Concept("prime-number", "number-theory", {})
    >>> [(word.label, word.head) for word in _with_terms(words, [(range(2), concept)])]
    [('prime-number', 0)]
    """
    place_of = list(range(len(words)))
    for places, concept in terms:
        first = places[0]
        if len(places) > 1:
            first = min(places, key=lambda place: _depth(words, place))
        for place in places:
            place_of[place] = first
        words[first].label = concept.id
        words[first].is_term = True
        words[first].is_name = concept.area == NAMES
        if len(places) > 1 and concept.area != _DISCOURSE:
            words[first].part = "NOUN"  # "greatest lower bound" is a thing, whatever "bound" is
    kept = sorted(set(place_of))
    numbers = {place: number for number, place in enumerate(kept)}
    for place in kept:
        words[place].head = numbers[place_of[words[place].head]]
    return _with_one_root([words[place] for place in kept])


def _with_one_root(words: list[Word]) -> list[Word]:
    """Words of which one is the root; a model may have found two sentences where we see one."""
    roots = [place for place, word in enumerate(words) if word.head == place]
    for place in roots[1:]:
        words[place].head = roots[0]
        words[place].dependency = "parataxis"
    return words


def _depth(words: Sequence[Word], place: int) -> int:
    depth = 0
    while words[place].head != place:
        place = words[place].head
        depth += 1
    return depth
