"""Passages of a text, divided by tokens, and the sentence of a passage that a reason quotes.

Each sentence that is compared with a question needs a pass through a network, which is most of the
cost of a reason. So the sentences' token vectors preselect a few, and the network decides among
these.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

import numpy as np

from mathsetu.languages.sentences import sentences
from mathsetu.markup import snippet, spans_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mathsetu.encoders.builtin import BuiltinEncoder

    Vectors = NDArray[np.float32]

# The most sentences of a passage that are considered, and those that go through the network for a
# question: these include the nearest of all in 86 of 100 passages, else one whose cosine is 0.08
# lower.
_MAX_SENTENCES, _MAX_ENCODED = 12, 2
# The most characters of a sentence that are read and shown.
_MAX_QUOTE = 120
#: The place of a token in its text: its first character, and the one after its last.
Place = tuple[int, int]


def passages(tokens: list[int], size: int, most: int) -> list[list[int]]:
    """Divide tokens into passages of almost equal length, so that the last one is not too short.

    >>> passages([1, 2, 3, 4, 5, 6], 4, 3)
    [[1, 2, 3], [4, 5, 6]]
    """
    length = _length(len(tokens), size, most)
    read = tokens[: size * most]
    return [read[start : start + length] for start in range(0, len(read), length)]


def marked_sentences(text: str) -> list[str]:
    r"""The sentences of a marked text, each with the white space behind it; formulas stay whole.

    >>> marked_sentences("Let $$x = 1. \\quad Y$$ Is it? By $a. B$ it is.")
    ['Let $$x = 1. \\quad Y$$ ', 'Is it? ', 'By $a. B$ it is.']
    """
    spans = spans_of(text)
    edges = list(accumulate(len(span.raw) for span in spans))
    ends: set[int] = set()
    for end in accumulate(map(len, sentences(text))):
        place = bisect_left(edges, end)
        if end < edges[place] and spans[place].kind == "formula":
            # A full stop inside a display ends the sentence that the display is in.
            following = spans[place + 1].raw if place + 1 < len(spans) else ""
            rest = following.lstrip()
            if rest[:1].islower():
                continue
            end = edges[place] + len(following) - len(rest)
        ends.add(end)
    return [text[start:end] for start, end in pairwise([0, *sorted(ends)])]


class Quotations:
    """The sentences of one passage, and the first sentence of its text.

    Args:
        encoder: The model.
        reading: How the text is read.
        text: The text of the passage.
        passage: The number of the passage; one after the last is the title, where the text begins.
        size: The most tokens of a passage.
        most: The most passages of the text.
    """

    def __init__(
        self, encoder: BuiltinEncoder, reading: int, text: str, passage: int, size: int, most: int
    ) -> None:
        self._encoder, self._reading = encoder, reading
        tokens, places = encoder.tokens_and_places(text, reading)
        first, last = _span_of(places, passage, size, most)
        ends = list(accumulate(map(len, marked_sentences(text))))
        # The beginning may be a title, which summarises the text in few words.
        spans = [
            (start, end)
            for start, end in pairwise([0, *ends])
            if (start == 0 or (end > first and start < last)) and text[start:end].strip()
        ][:_MAX_SENTENCES]
        self._sentences = [text[start:end] for start, end in spans]
        starts = np.array([start for start, _ in places])
        read = [
            np.searchsorted(starts, (start, min(end, start + _MAX_QUOTE))) for start, end in spans
        ]
        self._rows = [tokens[begin:end][:size] for begin, end in read]
        self._known: dict[int, Vectors] = {}
        self._shown: dict[int, str] = {}

    def nearest(self, question: Vectors, glance: Callable[[], Vectors]) -> str:
        """The sentence nearest to a question, shortened for display; "" if there is none.

        Args:
            question: The question's vector.
            glance: Returns the mean of the question's token vectors; called only if needed.
        """
        likely = list(range(len(self._rows)))
        if not likely:
            return ""
        if len(likely) > _MAX_ENCODED:
            products = np.einsum("ij,j->i", self._glances, glance())
            likely = np.argsort(-products, kind="stable")[:_MAX_ENCODED].tolist()
        nearest = likely[0]
        if len(likely) > 1:
            nearest = likely[int(np.argmax(np.einsum("ij,j->i", self._vectors(likely), question)))]
        if nearest not in self._shown:
            shown = snippet(self._sentences[nearest], _MAX_QUOTE)
            self._shown[nearest] = " ".join(shown.split())
        return self._shown[nearest]

    @cached_property
    def _glances(self) -> Vectors:
        return self._encoder.mean_token_vectors(self._rows, self._reading)

    def _vectors(self, places: Sequence[int]) -> Vectors:
        """The vectors of sentences; each sentence goes through the network only once."""
        missing = [place for place in places if place not in self._known]
        if missing:
            rows = [self._rows[place] for place in missing]
            found = self._encoder.encode_tokens(rows, self._reading)
            self._known.update(zip(missing, found, strict=True))
        return np.stack([self._known[place] for place in places])


def _span_of(places: Sequence[Place], passage: int, size: int, most: int) -> Place:
    """The place of a passage in its text; empty if the text has no such passage.

    Args:
        places: The places of the text's tokens.
        passage: The number of the passage.
        size: The most tokens of a passage.
        most: The most passages of the text.

    >>> _span_of([(0, 3), (5, 7), (9, 11)], 1, 2, 2)
    (9, 11)
    """
    length = _length(len(places), size, most)
    own = places[passage * length : (passage + 1) * length]
    return (own[0][0], own[-1][1]) if own else (0, 0)


def _length(tokens: int, size: int, most: int) -> int:
    """The length in tokens of each passage of a text."""
    read = min(tokens, size * most)
    count = max(1, -(-read // size))
    return max(1, -(-read // count))
