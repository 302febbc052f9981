"""Search by words: BM25+ or TF-IDF over analysed terms, with fields and translation of terms."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mathsetu.errors import DamagedLibrary, InputError
from mathsetu.intake import MarkedText, PostFacts, Question
from mathsetu.languages.analyze import analyze, tokenize
from mathsetu.languages.glossary import Glossary
from mathsetu.languages.learned import LearnedWords
from mathsetu.plain_files import open_plain
from mathsetu.records import Evidence, Reason
from mathsetu.retrieval.base import Fields, Scored, WrittenSegment, check_fields, check_weights
from mathsetu.retrieval.postings import Postings, PostingsBuilder, merge_posts
from mathsetu.retrieval.weighting import (
    Wanted,
    WeighedQuery,
    Weighted,
    make_scheme,
    write_impacts,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# A reason names this many words at most.
_SHOWN = 8
_LATEX_TOKEN = re.compile(r"[^\W_]+")
_ANALYSES = ("languages", "porter", "snowball")


@dataclass(frozen=True)
class Lexical:
    """The choices of a lexical index.

    Attributes:
        scheme: How frequencies become scores: ``{"name": "bm25+", "k1": 1.2}`` or a TF-IDF
            scheme in SMART notation, ``{"name": "lnc"}``.
        fields: Which fields of a post are read, and how much a word in each counts.
        analysis: ``languages`` (each text by its own language's chain), or one chain for all:
            ``porter`` or ``snowball`` for English as in the papers.
        formula_tokens: How much the names and numbers in a query's formulas count beside its
            words; 0 leaves them out of the index.
        translate: Whether the glossary turns a query's words into the posts' languages.
    """

    scheme: dict[str, Any] = field(default_factory=lambda: {"name": "bm25+"})
    fields: Fields = field(default_factory=lambda: {"title": 1, "body": 1, "question": 1})
    analysis: str = "languages"
    formula_tokens: float = 1.0
    translate: bool = True

    def __post_init__(self) -> None:
        make_scheme(self.scheme)
        check_fields(self.fields, ("title", "body", "question", "tags"))
        check_weights(self.fields)
        if self.analysis not in _ANALYSES:
            raise InputError(f"analysis is {self.analysis!r} (known: {', '.join(_ANALYSES)})")
        if not 0 <= self.formula_tokens < float("inf"):
            raise InputError(f"formula_tokens is {self.formula_tokens:g}; it cannot be less than 0")


def formula_tokens(latex: str) -> list[str]:
    r"""The names and numbers in a formula; signs and layout are the formula index's work.

    A name is the same term whether it stands in a formula or in a sentence ("sin", "det").

    >>> formula_tokens(r"\frac{x}{12} + x")
    ['frac', 'x', '12', 'x']
    """
    return _LATEX_TOKEN.findall(latex.lower())


def post_terms(facts: PostFacts, choices: Lexical) -> dict[str, float]:
    """The terms of a post, each with its frequency weighted by field.

    >>> from mathsetu.intake import read_post
    >>> from mathsetu.records import Post
    >>> post = Post(id="1", title="Sums", body="A sum of $x$", language="en")
    >>> post_terms(read_post(post), Lexical())
    {'sum': 2.0, 'x': 1.0}
    """
    frequencies: Counter[str] = Counter()
    for name, weight in choices.fields.items():
        text = _tags(facts) if name == "tags" else facts.texts[name]
        terms = _word_terms(text.words, facts.language, choices)
        if choices.formula_tokens:
            for latex in text.formulas:
                terms += formula_tokens(latex)
        for term in terms:
            frequencies[term] += weight  # type: ignore[assignment]
    return {term: float(count) for term, count in frequencies.items()}


def _tags(facts: PostFacts) -> MarkedText:
    return MarkedText(" ".join(facts.post.tags).replace("-", " "))


def _word_terms(text: str, language: str, choices: Lexical) -> list[str]:
    if choices.analysis == "languages":
        return analyze(text, language)
    return analyze(text, "en", stemmer=choices.analysis)


class LexicalBuilder:
    """Builds one segment."""

    reader = None

    merges_on_disk = True

    def __init__(self, choices: Lexical) -> None:
        self._choices = choices
        self._postings = PostingsBuilder()
        self._languages: Counter[str] = Counter()

    def prepare(self, facts: PostFacts) -> tuple[str, dict[str, float]]:
        """The language of a post and its terms."""
        return facts.language, post_terms(facts, self._choices)

    def add(self, prepared: tuple[str, dict[str, float]]) -> None:
        """Take the next post."""
        language, terms = prepared
        self._languages[language] += 1
        self._postings.add(terms)

    def write(self, folder: Path) -> None:
        """Write the segment into a new folder."""
        self._postings.write(folder)
        self._finish(folder)

    def merge(self, sources: Sequence[WrittenSegment], folder: Path) -> None:
        """Write the posts of other segments as one."""
        for source in sources:
            self._languages.update(source.languages)
        merge_posts(sources, folder)
        self._finish(folder)

    def _finish(self, folder: Path) -> None:
        write_impacts(folder, make_scheme(self._choices.scheme))
        counts = dict(sorted(self._languages.items()))
        (folder / "languages.json").write_text(json.dumps(counts) + "\n", encoding="utf-8")


class LexicalRetriever:
    """Answers questions by words."""

    formula_finder = None
    heat_mapper = None

    def __init__(self, folders: Sequence[Path], choices: Lexical) -> None:
        self.choices = choices
        self.index = Weighted([Postings(folder) for folder in folders], make_scheme(choices.scheme))
        self.index.impacts  # noqa: B018 - mapped now: a rebuild may remove the files
        self.posts = self.index.collection.documents
        spoken = {code for folder in folders for code in _read_languages(folder) if code}
        #: The languages of the posts.
        self.languages = sorted(spoken)

    def ask(self, questions: Sequence[Question]) -> list[LexicalReply]:
        """Ask several questions."""
        return [LexicalReply(self, question) for question in questions]


class LexicalReply:
    """What the words of posts say to one question."""

    def __init__(self, retriever: LexicalRetriever, question: Question) -> None:
        self._index, self._choices = retriever.index, retriever.choices
        self._languages = retriever.languages
        self._question = question

    def best(self, k: int, allowed: NDArray[np.bool_] | None = None) -> Scored:
        """The best posts."""
        return self._weighed.best(k, allowed)

    def scores(self, numbers: NDArray[np.int64]) -> NDArray[np.float32]:
        """The scores of given posts."""
        return self._weighed.scores(numbers)

    def reason(self, number: int) -> Reason:
        """The words that a post shares with the question, those that count most first."""
        shares = self._weighed.parts(number)
        ranked = sorted(zip(shares, self.wanted, strict=True), key=lambda pair: -pair[0])
        spoken = self._spoken
        terms = [term for share, term in ranked if share > 0]
        shown = dict.fromkeys(_said(spoken[term]) if term in spoken else term for term in terms)
        detail = ", ".join(list(shown)[:_SHOWN])
        evidence = tuple(spoken[term] for term in terms if term in spoken)
        return Reason("words", float(sum(shares)), detail, evidence)

    @cached_property
    def _weighed(self) -> WeighedQuery:
        return self._index.weigh(self.wanted)

    @cached_property
    def _spoken(self) -> dict[str, Evidence]:
        """Terms as a person would say them: the question's word, and its translation."""
        spoken: dict[str, Evidence] = {}
        for language in self._question.languages:
            self._speak(language, spoken)
        return spoken

    def _speak(self, language: str, spoken: dict[str, Evidence]) -> None:
        """Add the terms of the question as it is read in one language."""
        words = self._question.words
        for word in tokenize(words):
            for term in _word_terms(word, language, self._choices):
                spoken.setdefault(term, Evidence("word", word, term))
        if not self._choices.translate:
            return
        for found in Glossary.load().match(words, language):
            asked = words[found.start : found.end]
            for target in self._languages:
                for form in found.concepts[0].forms.get(target, ()):
                    for term in _word_terms(form, target, self._choices):
                        spoken.setdefault(term, Evidence("word", asked, term, form))
        for target in self._languages:
            table = LearnedWords.load(language, target)
            for word in tokenize(words):
                own = _word_terms(word, language, self._choices)
                for form in (form for term in own for form, _ in table.translations(term)):
                    for term in _word_terms(form, target, self._choices):
                        spoken.setdefault(term, Evidence("word", word, term, form))

    @cached_property
    def wanted(self) -> Wanted:
        """The terms that the question asks for, in the languages of the posts."""
        choices, question = self._choices, self._question
        weights: dict[str, float] = {}
        for language in question.languages:
            for term, weight in self._wanted_in(language):
                weights[term] = max(weights.get(term, 0.0), weight)
        if choices.formula_tokens:
            for latex in question.formulas:
                for token in formula_tokens(latex):
                    weights[token] = weights.get(token, 0.0) + choices.formula_tokens
        return weights

    def _wanted_in(self, language: str) -> Iterator[tuple[str, float]]:
        """The terms of the question as it is read in one language."""
        choices, words = self._choices, self._question.words
        translating = choices.translate and choices.analysis == "languages"
        if not translating or language in self._languages or not self._languages:
            yield from Counter(_word_terms(words, language, choices)).items()
        if translating:
            for target in self._languages:
                if target != language:
                    yield from Glossary.load().expand(words, language, target)


def _read_languages(folder: Path) -> list[str]:
    """The languages of a segment's posts."""
    path = folder / "languages.json"
    try:
        with open_plain(path) as file:
            counts = json.load(file)
        return [str(code) for code in dict(counts)]
    except (OSError, ValueError, TypeError, RecursionError) as error:
        raise DamagedLibrary(path, f"is damaged ({error})") from error


def _said(evidence: Evidence) -> str:
    translation = evidence.translation
    return f"{evidence.asked} → {translation}" if translation else evidence.asked
