"""Dependency parses of sentences: words with their heads; each glossary term is one word.

spaCy does the parsing, with any model package that is installed for the language. Components that
graphs do not need are disabled, since they take a third of the time.
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
# The area of the glossary with phrases such as "show that".
_DISCOURSE = "discourse"
# Number of cached base forms.
_CACHE_SIZE = 1 << 17
_ATTRIBUTES = ["ORTH", "DEP", "TAG", "POS"]
# Smallest first: a graph needs little more than predicates and their arguments.
_SIZES = ("_sm", "_md", "_lg", "_trf")


@dataclass(slots=True)
class Word:
    """One word of a sentence, or one term of several words.

    ``label`` is the label of its node: its base form, its concept, or its placeholder. ``text``
    is the written form in lower case. ``head`` is the position of the word that it depends on,
    for the root its own position. ``dependency`` is the model's label of that dependency, and
    ``part`` the universal part of speech.
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
    """Return the name of the spaCy model for a language, empty if none is installed.

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
    """Parses sentences of one language with masked formulas."""

    def __init__(self, language: str, model: str = "") -> None:
        self.language = language
        self.model = model or model_of(language)
        spacy = require("spacy", "graphs from dependency parses", "dependency")
        if not self.model:
            raise InputError(
                f"no spaCy model for {language!r} is installed; install one (such as "
                f"{language}_core_news_sm), or use the maker 'terms'"
            )
        # English models derive parts of speech and base forms from the tags, by slow rules.
        self._has_penn_tags = language == "en"
        unused = ["ner", "senter", *(["attribute_ruler"] if self._has_penn_tags else [])]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # models of other versions work, but warn
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
        """Yield the words of each sentence."""
        parsed = self._model.pipe(sentences, batch_size=_BATCH)
        for sentence, tokens in zip(sentences, parsed, strict=True):
            yield _with_terms(self._words(tokens), self._term_places(sentence, tokens))

    def _words(self, tokens: Any) -> list[Word]:
        """Return the words as parsed; arrays are faster than the attributes of tokens."""
        strings = self._model.vocab.strings
        rows = tokens.to_array(_ATTRIBUTES).tolist()
        # A head is given as a distance, negative if it precedes the word.
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
        """Yield the token positions and the concept of each glossary term."""
        matches = matcher(self.language).match(sentence)
        starts = {start: place for place, start in enumerate(tokens.to_array("IDX").tolist())}
        for match in matches:
            inside = [starts[at] for at in range(match.start, match.end) if at in starts]
            if inside:
                yield range(inside[0], inside[-1] + 1), match.concepts[0]

    def _base_form(self, tokens: Any, place: int, text: str, part: str) -> str:
        """Return the base form; it is cached where the lemmatiser of the model is slow."""
        if self._lemmatizer is None:
            return normalise(tokens[place].lemma_) or text
        key = (text, part)
        if key not in self._base_forms:
            if len(self._base_forms) >= _CACHE_SIZE:
                self._base_forms.clear()
            token = tokens[place]
            token.pos_ = part
            self._base_forms[key] = normalise(self._lemmatizer.lemmatize(token)[0]) or text
        return self._base_forms[key]


@lru_cache(maxsize=1 << 16)
def _spelling(written: str) -> tuple[str, str, bool]:
    """Return the normalised word, its placeholder (empty if none), and whether it is a negation."""
    text = normalise(written)
    formula = NAME.fullmatch(written)
    return text, placeholder(formula) if formula is not None else "", text in NEGATIONS


def _with_terms(words: list[Word], terms: Iterable[tuple[range, Concept]]) -> list[Word]:
    """Merge the words of each term into one, at the word nearest to the root.

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
            words[first].part = "NOUN"  # "greatest lower bound" is a noun, whatever "bound" is
    kept = sorted(set(place_of))
    numbers = {place: number for number, place in enumerate(kept)}
    for place in kept:
        words[place].head = numbers[place_of[words[place].head]]
    return _with_one_root([words[place] for place in kept])


def _with_one_root(words: list[Word]) -> list[Word]:
    """Attach further roots to the first: the model may split what we take as one sentence."""
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
