"""Finds hard negatives: answers of other pairs that share words, or also a tag."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from mathsetu.retrieval.base import best
from mathsetu.retrieval.postings import Postings, PostingsBuilder
from mathsetu.training.graph.text_pairs import TextPair, terms_of

# Words per query: only the rarest of a question, since common ones match every answer.
_MAX_TERMS = 12
# Additional answers to retrieve, since some do not qualify.
_EXTRA_ANSWERS = 20


def hard_negatives(
    pairs: Sequence[TextPair], count: int, same_tag: bool = False
) -> list[tuple[int, ...]]:
    """Return, for each pair, the numbers of pairs whose answers best match its question.

    Args:
        pairs: All pairs.
        count: The most negatives of each pair.
        same_tag: Whether a negative must share a tag with the pair.

    >>> texts = ["prime divisors of numbers", "prime factors of numbers", "area of a circle"]
    >>> hard_negatives([TextPair(text, text) for text in texts], 1)
    [(1,), (0,), ()]
    """
    builder = PostingsBuilder()
    for pair in pairs:
        builder.add(Counter(terms_of(pair.answer)))
    with TemporaryDirectory() as folder:
        builder.write(Path(folder) / "index")
        index = Postings(Path(folder) / "index")
        return [_negatives(index, pairs, number, count, same_tag) for number in range(len(pairs))]


def _negatives(
    index: Postings, pairs: Sequence[TextPair], number: int, count: int, same_tag: bool
) -> tuple[int, ...]:
    asked = pairs[number]
    terms = sorted(set(terms_of(asked.question)))
    counts = index.document_counts(terms)
    # Words that occur in most answers do not discriminate.
    weights = np.log((len(index) + 1) / (counts + 0.5))
    useful = np.flatnonzero((counts > 0) & (counts < len(index) * 0.7))
    rare = useful[np.argsort(-weights[useful], kind="stable")[:_MAX_TERMS]]
    scores = np.zeros(len(index), dtype=np.float32)
    chosen = [terms[place] for place in rare.tolist()]
    for (documents, _), weight in zip(index.postings(chosen), weights[rare], strict=True):
        scores[documents] += weight
    scores[number] = 0.0
    found = best(scores, count + _EXTRA_ANSWERS).numbers.tolist()
    fitting = (
        other
        for other in found
        if pairs[other].question != asked.question
        and (not same_tag or not set(asked.tags).isdisjoint(pairs[other].tags))
    )
    return tuple(other for other, _ in zip(fitting, range(count), strict=False))
