"""Query vectors: one vector from all encoded passages of a query.

A long query is read in two passages, of which the first weighs more. The encoder was trained with
an English teacher and is best at English. So a query in another language is read with the careful
or the wide network, and in several ways, whose errors average out: as it is and with the glossary's
terms translated to English; a long one as a whole and in pieces; and optionally its title alone.
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

# The weights of a query's passages, in order, and of pieces of half the length.
_PASSAGES = (1.0, 0.5)
_PIECES = (1.0, 0.5, 0.5)
_PIVOT = "en"
# A query without a language has only formulas.
_PIVOTAL = frozenset({"", _PIVOT})


def query_vector(
    encoder: BuiltinEncoder, question: Question, tokens: int, title: float = 0.0
) -> Vectors:
    """The vector of a query, of length one; zeros for a blank one.

    Args:
        encoder: The model.
        question: The query.
        tokens: The most tokens of a passage.
        title: The weight of the title of a query that is not in English, relative to the whole.
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
    """The mean of a query's token vectors, in all views: near to that of a text on the topic."""
    reading = _reading(question)
    row = list(chain(*encoder.tokens(_views(question), reading)))
    return np.asarray(encoder.mean_token_vectors([row], reading)[0])


def _reading(question: Question) -> int:
    """The reading of a query: that of its likeliest language other than English, if it has one."""
    foreign = (language for language in question.languages if language not in _PIVOTAL)
    return reading_of(next(foreign, _PIVOT))


def _mean(
    encoder: BuiltinEncoder, read: Iterable[tuple[list[int], float]], reading: int
) -> Vectors:
    """The weighted mean of the vectors of passages, of length one."""
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
    """Consecutive passages, with their weights."""
    for place, weight in enumerate(counting):
        yield row[place * size : (place + 1) * size], weight


def _in_two_ways(row: list[int], size: int) -> Iterator[tuple[list[int], float]]:
    """The first passage as a whole, and the beginning in pieces, with their weights."""
    yield row[:size], 1.0
    yield from _in_passages(row, size // 2, _PIECES)


def _views(question: Question) -> list[str]:
    """The query as it is, and translated to English as far as possible."""
    text = question.readable_without_glosses
    if _PIVOTAL.issuperset(question.languages):
        return [text]
    # Imported here, so that opening a library does not load the glossary.
    from mathsetu.languages.glossary import Glossary

    glossary = Glossary.load()
    others = (language for language in question.languages if language not in _PIVOTAL)
    said = (
        # Unreviewed terms are too few and too often wrong to be translated without other words.
        glossary.gloss_words(text, code, _PIVOT)
        if code in FURTHER
        else glossary.gloss(text, code, _PIVOT)
        for code in others
    )
    return list(dict.fromkeys([text, *said]))
