"""Answers to searches that many people ask, kept as long as a library stays as it is."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from threading import Lock

from mathsetu.answers.values import SearchAnswer

# Answers that are kept, those of the latest searches, and the hits that they have at most: about
# 60 MB for ten hits with all reasons.
_KEPT, _MOST_HITS = 256, 20


class AnswerCache:
    """The latest answers by what was asked; many threads may ask at once.

    Args:
        size: How many answers are kept.
    """

    def __init__(self, size: int = _KEPT) -> None:
        self._size = size
        self._answers: OrderedDict[Hashable, SearchAnswer] = OrderedDict()
        self._lock = Lock()

    def get(self, asked: Hashable) -> SearchAnswer | None:
        """The answer to what was asked, where it is kept."""
        with self._lock:
            answer = self._answers.get(asked)
            if answer is not None:
                self._answers.move_to_end(asked)
            return answer

    def keep(self, asked: Hashable, answer: SearchAnswer) -> None:
        """Keep an answer in the place of the one that was asked for the longest time ago."""
        if len(answer.hits) > _MOST_HITS:
            return
        with self._lock:
            self._answers[asked] = answer
            while len(self._answers) > self._size:
                self._answers.popitem(last=False)
