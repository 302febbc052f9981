"""What a query means: one vector of everything that is read of it.

A long query is read in two passages, of which the first says more. The encoder has learned from an
English teacher, and its English is best. So a query in another language is read in more ways, whose
errors even out: as it is and with the terms that the glossary knows said in English, and both at
once and in pieces.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mathsetu.retrieval.base import Question

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mathsetu.encoders.builtin import BuiltinEncoder

# What passages of a query count, one after the other; and those of a query in another language,
# whose beginning is read once more in pieces of half the length.
_PASSAGES = (1.0, 0.5)
_FOREIGN_PASSAGES = (1.0,)
_FOREIGN_PIECES = (1.0, 0.5, 0.5)
_PIVOT = "en"


def query_vector(encoder: BuiltinEncoder, question: Question, tokens: int) -> NDArray[np.float32]:
    """The vector of a query, of length one; zeros for a blank one.

    Args:
        encoder: The model.
        question: The query.
        tokens: How long a passage is.
    """
    foreign = question.language not in ("", _PIVOT)
    ways: list[tuple[int, tuple[float, ...]]] = [
        (tokens, _FOREIGN_PASSAGES if foreign else _PASSAGES)
    ]
    if foreign:
        ways.append((tokens // 2, _FOREIGN_PIECES))
    passages: list[list[int]] = []
    weights: list[float] = []
    for row in encoder.tokens(_views(question)):
        # What fits into one piece has been read whole.
        for size, counting in ways if len(row) > tokens // 2 else ways[:1]:
            for place, weight in enumerate(counting):
                passage = row[place * size : (place + 1) * size]
                if passage:
                    passages.append(passage)
                    weights.append(weight)
    vector = np.array(weights, dtype=np.float32) @ encoder.encode_tokens(passages)
    length = float(np.linalg.norm(vector))
    return vector / np.float32(length) if length else vector


def _views(question: Question) -> list[str]:
    """The query as it is, and as much as possible of it in English."""
    text = question.readable
    if question.language in ("", _PIVOT):
        return [text]
    # Imported here, since opening a library should not wait for the glossary.
    from mathsetu.languages.glossary import Glossary

    glossed = Glossary.load().gloss(text, question.language, _PIVOT)
    return [text] if glossed == text else [text, glossed]
