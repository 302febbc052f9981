"""Pairs of texts for training a graph model: questions or statements with answers or proofs.

Pairs that share ten words in a row with a text that must stay unseen (a test topic) are dropped.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from mathsetu.collections.threads import is_accepted
from mathsetu.errors import InputError
from mathsetu.languages.analyze import tokenize, words
from mathsetu.markup import split
from mathsetu.records import Post
from mathsetu.training.encoder.overlap import Overlap
from mathsetu.training.encoder.sources import answered

#: A pair of any kind.
Pair = TypeVar("Pair")

# Fewest characters: shorter texts ("60", "Yes.") have nothing to search by.
_SHORTEST_QUESTION, _SHORTEST_ANSWER = 15, 40
# Formulas with at least this many characters in all identify an exercise.
_IDENTIFYING_LENGTH = 16


@dataclass(frozen=True, slots=True)
class TextPair:
    """A question and its answer, each with its language."""

    question: str
    answer: str
    language: str = "en"
    answer_language: str = ""
    tags: tuple[str, ...] = ()

    @property
    def languages(self) -> tuple[str, str]:
        """The languages of question and answer."""
        return self.language, self.answer_language or self.language


def read_text_pairs(folder: Path, unseen: Iterable[str] = ()) -> list[TextPair]:
    """Read the pairs of ``qa.jsonl.xz``, each question and each answer once.

    Args:
        folder: The folder of the file.
        unseen: Texts that training must not touch.
    """
    forbidden = Overlap(unseen)
    found: list[TextPair] = []
    seen: set[str] = set()
    for row in answered(folder):
        if len(row.question) < _SHORTEST_QUESTION or len(row.answer) < _SHORTEST_ANSWER:
            continue
        if row.question in seen or row.answer in seen:
            continue
        if forbidden.overlaps(row.question) or forbidden.overlaps(row.answer):
            continue
        seen |= {row.question, row.answer}
        found.append(TextPair(row.question, row.answer, row.language))
    if not found:
        raise InputError(f"{folder}: has no pairs to learn from")
    return found


def thread_text_pairs(
    posts: Iterable[Post], unseen: Iterable[str] = (), *, accepted: bool = False
) -> list[TextPair]:
    """Return answers with the questions of their threads.

    Args:
        posts: Answers with their questions (`mathsetu.collections.threads`); other posts are
            skipped.
        unseen: Texts that training must not touch.
        accepted: Take only accepted answers.

    >>> post = Post("7", "By squeezing it between 1 and cos x, as always.", title="A limit",
    ...     question="Why is it 1?", tags=("limits",))
    >>> [pair.tags for pair in thread_text_pairs([post])]
    [('limits',)]
    """
    forbidden = Overlap(unseen)
    found = []
    for post in posts:
        if not post.question or (accepted and not is_accepted(post)):
            continue
        question = f"{post.title}\n\n{post.question}".strip()
        usable = len(question) >= _SHORTEST_QUESTION and len(post.body) >= _SHORTEST_ANSWER
        if usable and not forbidden.overlaps(question) and not forbidden.overlaps(post.body):
            language = post.language or "en"
            found.append(TextPair(question, post.body, language, tags=post.tags))
    return found


def across_languages(pairs: Sequence[TextPair]) -> list[TextPair]:
    r"""Return questions in one language with answers in another, both of the same exercise.

    Translated exercises keep their formulas: questions with the same formulas are translations of
    each other if the formulas are long enough and each language has only one such pair.

    >>> one = TextPair(r"Find $\int_0^1 x^2 e^{x} dx$ by parts.", "By parts it is e - 2.", "en")
    >>> two = TextPair(r"Halle $\int_0^1 x^2 e^{x} dx$ por partes.", "Por partes es e - 2.", "es")
    >>> [(pair.languages, pair.answer) for pair in across_languages([one, two])]
    [(('en', 'es'), 'Por partes es e - 2.'), (('es', 'en'), 'By parts it is e - 2.')]
    """
    groups: dict[tuple[str, ...], list[TextPair]] = {}
    for pair in pairs:
        formulas = tuple(
            "".join(span.content.split()) for span in split(pair.question) if span.kind == "formula"
        )
        if sum(map(len, formulas)) >= _IDENTIFYING_LENGTH:
            groups.setdefault(formulas, []).append(pair)
    found = []
    for group in groups.values():
        if len(group) == len({pair.language for pair in group}):
            found += [
                TextPair(asked.question, told.answer, asked.language, told.language)
                for asked in group
                for told in group
                if asked is not told
            ]
    return found


def split_pairs(pairs: Sequence[Pair], aside: int, seed: int) -> tuple[list[Pair], list[Pair]]:
    """Split pairs at random into training and ``aside`` pairs for validation.

    >>> learn, check = split_pairs([TextPair(str(n), "") for n in range(9)], 3, seed=1)
    >>> len(learn), len(check)
    (6, 3)
    """
    if not 0 < aside < len(pairs):
        raise InputError(f"{aside} of {len(pairs)} pairs cannot be held out for validation")
    order = np.random.default_rng(seed).permutation(len(pairs)).tolist()
    return [pairs[place] for place in order[aside:]], [pairs[place] for place in order[:aside]]


def terms_of(text: str) -> list[str]:
    """Return the words of a text, for finding similar texts.

    >>> terms_of("Is $x^2$ Even?")
    ['is', 'even']
    """
    return tokenize(words(text).casefold())
