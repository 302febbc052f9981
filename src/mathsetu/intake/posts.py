"""A post as every part of the engine reads it."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

from mathsetu.formulas.exact import plainly
from mathsetu.intake.marked_text import MarkedText
from mathsetu.languages.phrases import evened
from mathsetu.languages.table import language as language_of
from mathsetu.markup import extract
from mathsetu.records import Formula, Post

#: The fields of a post that hold marked text.
FIELDS = ("title", "question", "body")


@dataclass(frozen=True)
class PostFacts:
    """What is known of a post.

    Attributes:
        post: The post; its language is named wherever it could be found.
        texts: Its marked texts by field (`FIELDS`).
    """

    post: Post
    texts: dict[str, MarkedText]

    @property
    def language(self) -> str:
        """The language of the post, empty where nobody can tell."""
        return self.post.language

    def formulas(self, fields: Iterable[str]) -> list[str]:
        """The formulas in some fields, in order."""
        return [latex for field in fields for latex in self.texts[field].formulas]

    def joined(self, fields: Iterable[str]) -> MarkedText:
        """Some fields as one text."""
        return MarkedText.joined(self.texts[field] for field in fields)

    def beside(self, question: PostFacts) -> PostFacts:
        """An answer as it is searched: with what its question says."""
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
        """The formulas with their ids: those that the collection names, else those in the texts."""
        return self.post.formulas or self._written_formulas

    def named_formulas(self, fields: Iterable[str]) -> list[Formula]:
        r"""The formulas in some fields, as they are written and in order, with their ids.

        A formula that the collection does not name is numbered by its place. Those that it names
        and the texts do not show come last.

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
        """The post without formulas that its texts show anyway, and the rest of what is known."""
        is_listed = bool(self.post.formulas) and self.post.formulas == self._written_formulas
        post = replace(self.post, formulas=()) if is_listed else self.post
        return post, [is_listed, *(self.texts[field].places() for field in FIELDS)]

    @classmethod
    def restored(cls, post: Post, known: list[Any]) -> PostFacts:
        """What `stored` gave; ValueError where it does not fit."""
        facts = cls(post, placed_texts(written_texts(post), known))
        if not known[0]:
            return facts
        return cls(replace(post, formulas=facts._written_formulas), facts.texts)


def placed_texts(written: Mapping[str, str], known: list[Any]) -> dict[str, MarkedText]:
    """Texts by field of which `PostFacts.stored` gave the rest; ValueError if they differ."""
    _, *places = known
    return {
        field: MarkedText.placed(written[field], own)
        for field, own in zip(FIELDS, places, strict=True)
    }


class Glance:
    r"""A post as it was written, looked into only as far as somebody asks; that is kept.

    Its formulas need not be listed, and an answer does not say what its question says.

    Attributes:
        raw: Has every word and every command of the post, among other things: what is not in here
            is not in the post.

    >>> Glance.of(Post("7", r"Is $\dfrac{1}{2} + x$ even?")).formulas
    ('\\dfrac{1}{2} + x',)
    """

    def __init__(
        self,
        raw: str,
        post: Callable[[], Post],
        written: Callable[[], Mapping[str, str]],
        texts: Callable[[Mapping[str, str]], Mapping[str, MarkedText]],
    ) -> None:
        """Take what is known, and ways to the rest.

        Args:
            raw: See above.
            post: Gives the post.
            written: Gives its texts by field (`FIELDS`); most posts are not asked for more.
            texts: Gives these texts split.
        """
        self.raw, self._post, self._written, self._texts = raw, post, written, texts

    @classmethod
    def of(cls, post: Post, texts: Mapping[str, MarkedText] | None = None) -> Self:
        """A glance at a post that is at hand, and at its split texts where these are."""
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
        """Its texts by field, as they are written."""
        return self._written()

    @cached_property
    def texts(self) -> tuple[MarkedText, ...]:
        """Its texts, split."""
        split = self._texts(self.written)
        return split["title"], split["body"], split["question"]

    @cached_property
    def lower(self) -> str:
        """What it is read from, in small letters."""
        return self.raw.lower()

    @cached_property
    def evened(self) -> str:
        """All its texts as phrases are looked for in them."""
        return "\n".join(map(evened, self.written.values()))

    @cached_property
    def plain(self) -> str:
        """All its texts as formulas are looked for in them (`plainly`)."""
        return plainly(" ".join(self.written.values()))

    @cached_property
    def formulas(self) -> tuple[str, ...]:
        """The formulas in its texts."""
        return tuple(latex for text in self.texts for latex in text.formulas)

    @cached_property
    def plain_formulas(self) -> frozenset[str]:
        """The formulas in its texts, however they are spelled (`plainly`)."""
        return frozenset(map(plainly, self.formulas))


def spelling(latex: str) -> str:
    """LaTeX without its white space, by which formulas of a text and of a table are matched.

    >>> spelling("x + y")
    'x+y'
    """
    return "".join(latex.split())


def read_post(post: Post) -> PostFacts:
    r"""Find out what is known of a post.

    However its language is stated (``Hindi``, ``en-US``), the facts have the code that filters ask
    for; a language that nobody knows is kept as it is.

    >>> facts = read_post(Post(id="7", title="Sums", body=r"What is the sum of $\frac{1}{n}$?"))
    >>> facts.language, facts.formulas(["body"])
    ('en', ['\\frac{1}{n}'])

    An answer of a few words may be in any language; its question tells which:

    >>> read_post(Post("8", "$n^2$", question="What is the sum of the odd numbers?")).language
    'en'
    """
    texts = split_texts(written_texts(post))
    language = language_of(post.language).code or _detected(texts)
    return PostFacts(replace(post, language=language), texts)


def written_texts(post: Post) -> dict[str, str]:
    """The texts of a post by field, as they are written."""
    return {field: getattr(post, field) for field in FIELDS}


def split_texts(written: Mapping[str, str]) -> dict[str, MarkedText]:
    """Texts by field, split."""
    return {field: MarkedText(text) for field, text in written.items()}


def _detected(texts: dict[str, MarkedText]) -> str:
    # Loaded when it is first needed: a search that only shows posts does without.
    from mathsetu.languages.detect import detect_in_words, says_little

    words = f"{texts['title'].words}\n{texts['body'].words}"
    if texts["question"].text and says_little(words):
        words = f"{texts['question'].words}\n{words}"
    return detect_in_words(words).language
