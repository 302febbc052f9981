"""What every retriever is: build from posts, retrieve many queries, explain a hit.

Inside the engine posts are numbered from 0 in the order in which they were added; the library
knows which number is which post. A retriever's index may consist of several segments (the first
build and later additions), which it sees as one collection.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from mathsetu.errors import InputError
from mathsetu.markup import split
from mathsetu.records import Post, Query, Reason

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mathsetu.languages.transliterate import Lexicon

#: Fields of a post that retrievers read, with the weight of each.
Fields = dict[str, float]


@dataclass(frozen=True)
class Question:
    r"""A query made ready once for all retrievers.

    >>> question = Question(Query(id="1", text=r"निश्चित समाकल $\int_0^1 f$ का मान"))
    >>> question.words, question.formulas, question.language
    ('निश्चित समाकल   का मान', ('\\int_0^1 f',), 'hi')
    """

    query: Query

    @property
    def text(self) -> str:
        """Title and text as one marked text."""
        return f"{self.query.title}\n{self.query.text}" if self.query.title else self.query.text

    @cached_property
    def words(self) -> str:
        """The words alone; Hindi typed in Latin letters is written in its own."""
        parts = (span.content if span.kind == "text" else " " for span in split(self.text))
        words = "".join(parts)
        return typed_hindi().to_devanagari(words) if self._typed(words) else words

    @cached_property
    def readable(self) -> str:
        """The text as someone who reads the language expects it, formulas included."""
        if not self._typed(self.text):
            return self.text
        lexicon = typed_hindi()
        return "".join(
            lexicon.to_devanagari(span.content) if span.kind == "text" else span.raw
            for span in split(self.text)
        )

    def _typed(self, text: str) -> bool:
        """Whether it is Hindi in Latin letters."""
        return self.language == "hi" and text.isascii()

    @cached_property
    def formulas(self) -> tuple[str, ...]:
        """The formulas asked for: those the query names itself, else those in its text."""
        named = tuple(formula.latex for formula in self.query.formulas)
        written = (span.content for span in split(self.text) if span.kind == "formula")
        return named or tuple(dict.fromkeys(written))

    @cached_property
    def language(self) -> str:
        """The language it is asked in, detected where the query does not say."""
        return self.query.language or language_of(self.text)


def language_of(text: str) -> str:
    """The language of a text; detection is loaded when it is first needed, not at the start."""
    from mathsetu.languages.detect import detect

    return detect(text).language


@cache
def typed_hindi() -> Lexicon:
    """The words of the glossary, to be found by how they are typed in Latin letters."""
    from mathsetu.languages.glossary import Glossary
    from mathsetu.languages.transliterate import Lexicon

    forms = (form for concept in Glossary.load() for form in concept.forms.get("hi", ()))
    return Lexicon(word for form in forms for word in form.split())


@dataclass(frozen=True, slots=True)
class Scored:
    """Numbers of posts with their scores, best first; ties go to the earlier post."""

    numbers: NDArray[np.int64]
    scores: NDArray[np.float32]


def check_fields(fields: Iterable[str], known: Sequence[str]) -> None:
    """Refuse fields that a part cannot read."""
    for name in fields:
        if name not in known:
            raise InputError(f"fields has {name!r} (known: {', '.join(known)})")


def check_weights(fields: Fields) -> None:
    """Refuse weights of fields that are no positive numbers."""
    for name, weight in fields.items():
        if not 0 < weight < float("inf"):
            raise InputError(f"fields.{name} must be a positive number, not {weight:g}")


class Builder(Protocol):
    """Builds one segment of an index.

    `prepare` does the work that needs a processor, in whichever process; `add` takes its
    results in the order of the posts; `write` ends the work.
    """

    def prepare(self, post: Post) -> Any:
        """What the index needs of a post, ready to be sent between processes."""
        ...

    def add(self, prepared: Any) -> None:
        """Take the next post."""
        ...

    def write(self, folder: Path) -> None:
        """Write the segment into a new folder."""
        ...


class Retriever(Protocol):
    """Answers queries from the segments of an index.

    Attributes:
        posts: How many posts the index was built of.
    """

    posts: int

    def retrieve(
        self, questions: Sequence[Question], k: int, allowed: NDArray[np.bool_] | None = None
    ) -> list[Scored]:
        """The best ``k`` posts of each question, among those allowed."""
        ...

    def score(self, question: Question, numbers: NDArray[np.int64]) -> NDArray[np.float32]:
        """The scores of given posts, found or not."""
        ...

    def explain(self, question: Question, number: int) -> Reason:
        """Why a post matches."""
        ...


def best(scores: NDArray[np.float32], k: int, allowed: NDArray[np.bool_] | None = None) -> Scored:
    """The ``k`` highest scores above zero; the same scores always give the same order.

    >>> best(np.array([0.0, 2.0, 3.0, 2.0], dtype=np.float32), 2).numbers.tolist()
    [2, 1]
    """
    wanted = scores > 0
    if allowed is not None:
        wanted &= allowed
    numbers = np.flatnonzero(wanted)
    found = scores[numbers]
    if len(numbers) > k:
        # Everything that ties with the k-th stays, so that the order does not depend on chance.
        threshold = np.partition(found, len(found) - k)[len(found) - k]
        keep = found >= threshold
        numbers, found = numbers[keep], found[keep]
    order = np.argsort(-found, kind="stable")[:k]
    return Scored(numbers[order], found[order])
