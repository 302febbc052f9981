"""Cuts a text into passages of tokens, and finds the sentences that a passage is made of."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

#: Where a token stands in its text: the first character, and the one after the last.
Place = tuple[int, int]


def passages(tokens: list[int], size: int, most: int) -> list[list[int]]:
    """Pieces of equal length, so that the last one is not a mere rest.

    >>> passages([1, 2, 3, 4, 5, 6], 4, 3)
    [[1, 2, 3], [4, 5, 6]]
    """
    length = _length(len(tokens), size, most)
    read = tokens[: size * most]
    return [read[start : start + length] for start in range(0, len(read), length)]


def sentences_of(
    sentences: Sequence[str], places: Sequence[Place], passage: int, size: int, most: int
) -> list[str]:
    """The sentences that a passage touches.

    Args:
        sentences: All sentences of a text; joined, they are the text.
        places: Where the tokens of the text stand.
        passage: Which passage.
        size: How long passages are at most.
        most: How many there are at most.

    >>> sentences_of(["Yes. ", "No. ", "So."], [(0, 3), (5, 7), (9, 11)], 1, 2, 2)
    ['So.']
    """
    length = _length(len(places), size, most)
    own = places[passage * length : (passage + 1) * length]
    if not own:
        return []
    first, last = own[0][0], own[-1][1]
    ends = accumulate(map(len, sentences))
    return [
        sentence
        for sentence, end in zip(sentences, ends, strict=True)
        if end > first and end - len(sentence) < last
    ]


def _length(tokens: int, size: int, most: int) -> int:
    """How long each passage of a text is."""
    read = min(tokens, size * most)
    count = max(1, -(-read // size))
    return max(1, -(-read // count))
