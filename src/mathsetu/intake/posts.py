"""The analysed post that all parts of the engine use."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

from mathsetu.formulas.exact import normalise_formula
from mathsetu.intake.marked_text import MarkedText
from mathsetu.languages.phrases import normalise_phrase
from mathsetu.languages.table import language as language_of
from mathsetu.markup import extract
from mathsetu.records import Formula, Post

#: The fields of a post that hold marked text.
FIELDS = ("title", "question", "body")


@dataclass(frozen=True)
class PostFacts:
    """An analysed post.

    Attributes:
        post: The post, with its language if that is stated or could be detected.
        texts: Its marked texts by field (`FIELDS`).
    """

    post: Post
    texts: dict[str, MarkedText]

    @property
    def language(self) -> str:
        """The language of the post, empty if unknown."""
        return self.post.language

    def formulas(self, fields: Iterable[str]) -> list[str]:
        """Return the formulas of some fields, in order."""
        return [latex for field in fields for latex in self.texts[field].formulas]

    def joined(self, fields: Iterable[str]) -> MarkedText:
        """Join some fields into one text."""
        return MarkedText.joined(self.texts[field] for field in fields)

    def with_question(self, question: PostFacts) -> PostFacts:
        """Return an answer with title, question, tags and language filled in from its question."""
        post, asked = self.post, question.post
        texts = {
            "title": self.texts["title"] if post.title else question.texts["title"],
            "question": self.texts["question"] if post.question else question.texts["body"],
            "body": self.texts["body"],
        }
        whole = replace(
            post,
            title=texts["title"].text,
            tags=post.tags or asked.tags,
            question=texts["question"].text,
            language=post.language or asked.language,
        )
        return PostFacts(whole, texts)

    @cached_property
    def all_formulas(self) -> tuple[Formula, ...]:
        """The formulas with their ids: those the collection lists, else those in the texts."""
        return self.post.formulas or self._written_formulas

    def named_formulas(self, fields: Iterable[str]) -> list[Formula]:
        r"""Return the formulas of some fields in text order, with their ids.

        A formula that the collection does not list gets an id from its position. Listed formulas
        that do not occur in the texts come last.

        >>> named = (Formula("q_1", "x", "v1", "7", "body"),)
        >>> facts = read_post(Post("7", "Is $x$ here?", title="Find $x$", formulas=named))
        >>> [formula.id for formula in facts.named_formulas(("title", "body"))]
        ['7:title:0', 'q_1']
        """
        chosen = tuple(fields)
        waiting: defaultdict[tuple[str, str], deque[Formula]] = defaultdict(deque)
        for formula in self.post.formulas:
            where = formula.where if formula.where in FIELDS else ""
            waiting[where, spelling(formula.latex)].append(formula)
        found: list[Formula] = []
        for field in chosen:
            for written in extract(self.texts[field].spans, self.post.id, field):
                key = spelling(written.latex)
                named = waiting[field, key] or waiting["", key]
                found.append(
                    replace(named.popleft(), latex=written.latex, where=field, start=written.start)
                    if named
                    else written
                )
        left = (formula for some in waiting.values() for formula in some)
        return found + [formula for formula in left if formula.where in chosen]

    @property
    def _written_formulas(self) -> tuple[Formula, ...]:
        return tuple(
            formula
            for field, text in self.texts.items()
            for formula in extract(text.spans, self.post.id, field)
        )

    def stored(self) -> tuple[Post, list[Any]]:
        """Return the post, without formulas that the texts already show, and its stored facts."""
        is_listed = bool(self.post.formulas) and self.post.formulas == self._written_formulas
        post = replace(self.post, formulas=()) if is_listed else self.post
        return post, [is_listed, *(self.texts[field].places() for field in FIELDS)]

    @classmethod
    def restored(cls, post: Post, known: list[Any]) -> PostFacts:
        """Restore the result of `stored`; raise `ValueError` if it does not match the post."""
        facts = cls(post, placed_texts(written_texts(post), known))
        if not known[0]:
            return facts
        return cls(replace(post, formulas=facts._written_formulas), facts.texts)


def placed_texts(written: Mapping[str, str], known: list[Any]) -> dict[str, MarkedText]:
    """Restore the texts by field from stored facts; raise `ValueError` if they do not match."""
    _, *places = known
    return {
        field: MarkedText.placed(written[field], own)
        for field, own in zip(FIELDS, places, strict=True)
    }


class LazyPost:
    r"""A lazily read post; every property is computed on first access and cached.

    The post may have no list of formulas, and an answer has no fields of its question.

    Attributes:
        raw: A text that contains at least all words and commands of the post, so that a word that
            is not in it is not in the post.

    >>> LazyPost.of(Post("7", r"Is $\dfrac{1}{2} + x$ even?")).formulas
    ('\\dfrac{1}{2} + x',)
    """

    def __init__(
        self,
        raw: str,
        post: Callable[[], Post],
        written: Callable[[], Mapping[str, str]],
        texts: Callable[[Mapping[str, str]], Mapping[str, MarkedText]],
    ) -> None:
        """Store the raw text and the functions that load the rest.

        Args:
            raw: See above.
            post: Returns the post.
            written: Returns its texts by field (`FIELDS`); for most posts, these are sufficient.
            texts: Splits these texts.
        """
        self.raw, self._post, self._written, self._texts = raw, post, written, texts

    @classmethod
    def of(cls, post: Post, texts: Mapping[str, MarkedText] | None = None) -> Self:
        """Wrap a loaded post and, if given, its split texts."""
        written = written_texts(post)
        return cls(
            "\n".join(written.values()),
            lambda: post,
            lambda: written,
            split_texts if texts is None else lambda _: texts,
        )

    @cached_property
    def post(self) -> Post:
        """The post."""
        return self._post()

    @cached_property
    def written(self) -> Mapping[str, str]:
        """Its texts by field, as written."""
        return self._written()

    @cached_property
    def texts(self) -> tuple[MarkedText, ...]:
        """Its texts, split."""
        split = self._texts(self.written)
        return split["title"], split["body"], split["question"]

    @cached_property
    def lower(self) -> str:
        """The raw text in lower case."""
        return self.raw.lower()

    @cached_property
    def normalised(self) -> str:
        """All its texts, normalised for the search of phrases."""
        return "\n".join(map(normalise_phrase, self.written.values()))

    @cached_property
    def plain(self) -> str:
        """All its texts, normalised for the search of formulas (`normalise_formula`)."""
        return normalise_formula(" ".join(self.written.values()))

    @cached_property
    def formulas(self) -> tuple[str, ...]:
        """The formulas in its texts."""
        return tuple(latex for text in self.texts for latex in text.formulas)

    @cached_property
    def plain_formulas(self) -> frozenset[str]:
        """The formulas in its texts, with normalised spelling (`normalise_formula`)."""
        return frozenset(map(normalise_formula, self.formulas))


def spelling(latex: str) -> str:
    """Return LaTeX without white space, the key that matches formulas of a text and of a list.

    >>> spelling("x + y")
    'x+y'
    """
    return "".join(latex.split())


def read_post(post: Post) -> PostFacts:
    r"""Analyse a post: split its texts, and find its language.

    A stated language (``Hindi``, ``en-US``) becomes the code that filters use; an unknown language
    is kept unchanged.

    >>> facts = read_post(Post(id="7", title="Sums", body=r"What is the sum of $\frac{1}{n}$?"))
    >>> facts.language, facts.formulas(["body"])
    ('en', ['\\frac{1}{n}'])

    For an answer of a few words, the question determines the language:

    >>> read_post(Post("8", "$n^2$", question="What is the sum of the odd numbers?")).language
    'en'
    """
    texts = split_texts(written_texts(post))
    language = language_of(post.language).code or _detected(texts)
    return PostFacts(replace(post, language=language), texts)


def written_texts(post: Post) -> dict[str, str]:
    """Return the texts of a post by field, as written."""
    return {field: getattr(post, field) for field in FIELDS}


def split_texts(written: Mapping[str, str]) -> dict[str, MarkedText]:
    """Split texts, by field."""
    return {field: MarkedText(text) for field, text in written.items()}


def _detected(texts: dict[str, MarkedText]) -> str:
    # Imported lazily: showing posts does not need it.
    from mathsetu.languages.detect import detect_in_words, is_too_short

    words = f"{texts['title'].words}\n{texts['body'].words}"
    if texts["question"].text and is_too_short(words):
        words = f"{texts['question'].words}\n{words}"
    return detect_in_words(words).language
