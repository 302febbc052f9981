"""Query vectors: one vector from all encoded passages of a query.

A long query is read in two passages, of which the first says more. The encoder has learned from an
English teacher, and its English is best. So a query in another language is read with more care, and
in more ways, whose errors even out: as it is and with the terms that the glossary knows said in
English; a long one at once and in pieces; and, where that is wanted, its title once more alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from mathsetu.encoders.builtin import reading_of
from mathsetu.intake.question import Question
from mathsetu.languages.table import FURTHER

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mathsetu.encoders.builtin import BuiltinEncoder

    Vectors = NDArray[np.float32]

# What passages of a query count, one after the other, and pieces of half the length.
_PASSAGES = (1.0, 0.5)
_PIECES = (1.0, 0.5, 0.5)
_PIVOT = "en"
# A query in no language is formulas alone.
_PIVOTAL = frozenset({"", _PIVOT})


def query_vector(
    encoder: BuiltinEncoder, question: Question, tokens: int, title: float = 0.0
) -> Vectors:
    """The vector of a query, of length one; zeros for a blank one.

    Args:
        encoder: The model.
        question: The query.
        tokens: How long a passage is.
        title: What the title of a query in another language than English counts beside all of it.
    """
    reading = _reading(question)
    rows = encoder.tokens(_views(question), reading)
    if _PIVOTAL.issuperset(question.languages):
        return _mean(encoder, _in_passages(rows[0], tokens, _PASSAGES), reading)
    if len(rows[0]) <= tokens // 2:
        whole = _mean(encoder, ((row, 1.0) for row in rows), reading)
    else:
        whole = _mean(encoder, chain(*(_in_two_ways(row, tokens) for row in rows)), reading)
    if not title or question.title is None:
        return whole
    rows = encoder.tokens(_views(question.title), reading)
    alone = _mean(encoder, ((row[:tokens], 1.0) for row in rows), reading)
    return _of_length_one(whole + np.float32(title) * alone)


def query_glance(encoder: BuiltinEncoder, question: Question) -> Vectors:
    """The mean vector of a query's tokens, in all views: near to that of a text on the same."""
    reading = _reading(question)
    row = list(chain(*encoder.tokens(_views(question), reading)))
    return np.asarray(encoder.glances([row], reading)[0])


def _reading(question: Question) -> int:
    """How a query is read: the likeliest language decides where there are several."""
    foreign = (language for language in question.languages if language not in _PIVOTAL)
    return reading_of(next(foreign, _PIVOT))


def _mean(
    encoder: BuiltinEncoder, read: Iterable[tuple[list[int], float]], reading: int
) -> Vectors:
    """The mean of passages, each with what it counts."""
    counted = [(passage, weight) for passage, weight in read if passage]
    weights = np.array([weight for _, weight in counted], dtype=np.float32)
    vector = weights @ encoder.encode_tokens([passage for passage, _ in counted], reading)
    return _of_length_one(vector)


def _of_length_one(vector: Vectors) -> Vectors:
    length = float(np.linalg.norm(vector))
    return vector / np.float32(length) if length else vector


def _in_passages(
    row: list[int], size: int, counting: tuple[float, ...]
) -> Iterator[tuple[list[int], float]]:
    """Passages one after the other, with what each counts."""
    for place, weight in enumerate(counting):
        yield row[place * size : (place + 1) * size], weight


def _in_two_ways(row: list[int], size: int) -> Iterator[tuple[list[int], float]]:
    """The first passage at once, and the beginning in pieces."""
    yield row[:size], 1.0
    yield from _in_passages(row, size // 2, _PIECES)


def _views(question: Question) -> list[str]:
    """The query as it is, and as much as possible of it in English."""
    text = question.readable_once
    if _PIVOTAL.issuperset(question.languages):
        return [text]
    # Imported here, since opening a library should not wait for the glossary.
    from mathsetu.languages.glossary import Glossary

    glossary = Glossary.load()
    others = (language for language in question.languages if language not in _PIVOTAL)
    said = (
        # Terms that nobody has read are too few and too often wrong to be said alone.
        glossary.gloss_words(text, code, _PIVOT)
        if code in FURTHER
        else glossary.gloss(text, code, _PIVOT)
        for code in others
    )
    return list(dict.fromkeys([text, *said]))
