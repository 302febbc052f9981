"""The terms of texts in a lexical index, and the settings that decide them."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final

from mathsetu.errors import InputError
from mathsetu.intake import MarkedText, PostFacts
from mathsetu.languages.analyze import analyze
from mathsetu.retrieval.base import Fields, check_fields, check_weights
from mathsetu.retrieval.weighting import Scheme, WithoutExtremes, make_scheme

#: Tags are often English in posts of other languages, so they are read in English, too.
TAGS_LANGUAGE: Final = "en"
_LATEX_TOKEN = re.compile(r"[^\W_]+")
_ANALYSES = ("languages", "porter", "snowball")


@dataclass(frozen=True)
class LexicalSettings:
    """The settings of a lexical index.

    Attributes:
        scheme: How frequencies become scores: ``{"name": "bm25+", "k1": 1.2}`` or a TF-IDF
            scheme in SMART notation, ``{"name": "lnc"}``.
        fields: The fields of a post that are read, each with the weight of a word in it.
        analysis: ``languages`` (each text by its own language's chain), or one chain for all:
            ``porter`` or ``snowball`` for English as in the papers.
        formula_tokens: The weight of names and numbers in a query's formulas, relative to its
            words; 0 leaves them out of the index.
        query_title: The additional weight of the words in a query's title, if the query also has a
            text.
        translate: Whether the glossary translates a query's words into the posts' languages.
        stop_words: Whether stop words are left out.
        min_posts: Terms in fewer posts are ignored.
        max_share: Terms in a larger share of the posts are ignored.
    """

    scheme: dict[str, Any] = field(default_factory=lambda: {"name": "bm25+"})
    fields: Fields = field(default_factory=lambda: {"title": 1, "body": 1, "question": 1})
    analysis: str = "languages"
    formula_tokens: float = 1.0
    query_title: float = 0.0
    translate: bool = True
    stop_words: bool = True
    min_posts: int = 0
    max_share: float = 1.0

    def __post_init__(self) -> None:
        make_scheme(self.scheme)
        if self.min_posts < 0:
            raise InputError(f"min_posts is {self.min_posts}; it cannot be less than 0")
        if not 0 < self.max_share <= 1:
            raise InputError(f"max_share is {self.max_share:g}; it must be above 0 and at most 1")
        check_fields(self.fields, ("title", "body", "question", "tags"))
        check_weights(self.fields)
        if self.analysis not in _ANALYSES:
            raise InputError(f"analysis is {self.analysis!r} (known: {', '.join(_ANALYSES)})")
        for name in ("formula_tokens", "query_title"):
            value = getattr(self, name)
            if not 0 <= value < float("inf"):
                raise InputError(f"{name} is {value:g}; it cannot be less than 0")

    @property
    def without_extremes(self) -> bool:
        """Whether rare or frequent terms are ignored."""
        return self.min_posts > 1 or self.max_share < 1

    def weighting(self) -> Scheme:
        """The weighting scheme of the terms."""
        scheme = make_scheme(self.scheme)
        if not self.without_extremes:
            return scheme
        return WithoutExtremes(scheme, self.min_posts, self.max_share)


def formula_tokens(latex: str) -> list[str]:
    r"""The names and numbers in a formula; the formula index covers signs and layout.

    A name is the same term in a formula and in a sentence ("sin", "det").

    >>> formula_tokens(r"\frac{x}{12} + x")
    ['frac', 'x', '12', 'x']
    """
    return _LATEX_TOKEN.findall(latex.lower())


def text_terms(text: str, language: str, settings: LexicalSettings) -> list[str]:
    """The terms of a text, analysed as the settings say."""
    if settings.analysis == "languages":
        return analyze(text, language, stop_words=settings.stop_words)
    return analyze(text, "en", stemmer=settings.analysis, stop_words=settings.stop_words)


def post_terms(facts: PostFacts, settings: LexicalSettings) -> dict[str, float]:
    """The terms of a post, each with its frequency weighted by field.

    >>> from mathsetu.intake import read_post
    >>> from mathsetu.records import Post
    >>> post = Post(id="1", title="Sums", body="A sum of $x$", language="en")
    >>> post_terms(read_post(post), LexicalSettings())
    {'sum': 2.0, 'x': 1.0}
    """
    frequencies: Counter[str] = Counter()
    for name, weight in settings.fields.items():
        text = _tags(facts) if name == "tags" else facts.texts[name]
        terms = text_terms(text.words, facts.language, settings)
        if name == "tags" and facts.language != TAGS_LANGUAGE:
            as_tags = text_terms(text.words, TAGS_LANGUAGE, settings)
            terms += (Counter(as_tags) - Counter(terms)).elements()
        if settings.formula_tokens:
            for latex in text.formulas:
                terms += formula_tokens(latex)
        for term in terms:
            frequencies[term] += weight  # type: ignore[assignment]
    return {term: float(count) for term, count in frequencies.items()}


def _tags(facts: PostFacts) -> MarkedText:
    return MarkedText(" ".join(facts.post.tags).replace("-", " "))
