"""Hard negatives: answers of other pairs that look right by their words, or share a tag."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from mathsetu.retrieval.base import best
from mathsetu.retrieval.postings import Postings, PostingsBuilder
from mathsetu.training.graph.text_pairs import TextPair, terms_of

# The rarest words of a question; common ones find everything.
_TERMS = 12
# As many answers as this beyond those asked for are looked at, since some do not qualify.
_SPARE = 20


def hard_negatives(
    pairs: Sequence[TextPair], count: int, same_tag: bool = False
) -> list[tuple[int, ...]]:
    """For each pair the numbers of other pairs whose answers look most like its own.

    Args:
        pairs: All pairs.
        count: How many for each, at most.
        same_tag: Whether only pairs that share a tag count.

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
    # A word that stands in most answers says nothing about one of them.
    weights = np.log((len(index) + 1) / (counts + 0.5))
    useful = np.flatnonzero((counts > 0) & (counts < len(index) * 0.7))
    rare = useful[np.argsort(-weights[useful], kind="stable")[:_TERMS]]
    scores = np.zeros(len(index), dtype=np.float32)
    chosen = [terms[place] for place in rare.tolist()]
    for (documents, _), weight in zip(index.postings(chosen), weights[rare], strict=True):
        scores[documents] += weight
    scores[number] = 0.0
    found = best(scores, count + _SPARE).numbers.tolist()
    fitting = (
        other
        for other in found
        if pairs[other].question != asked.question
        and (not same_tag or not set(asked.tags).isdisjoint(pairs[other].tags))
    )
    return tuple(other for other, _ in zip(fitting, range(count), strict=False))
