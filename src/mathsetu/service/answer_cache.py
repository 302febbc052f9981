"""A cache of answers to searches, valid as long as a library does not change."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from threading import Lock

from mathsetu.answers.values import SearchAnswer

# The number of cached answers, and the most hits of each: about 60 MB for ten hits with all
# reasons.
_CACHE_SIZE, _MAX_HITS = 256, 20


class AnswerCache:
    """A thread-safe cache of the most recently used answers.

    Args:
        size: The number of cached answers.
    """

    def __init__(self, size: int = _CACHE_SIZE) -> None:
        self._size = size
        self._answers: OrderedDict[Hashable, SearchAnswer] = OrderedDict()
        self._lock = Lock()

    def get(self, asked: Hashable) -> SearchAnswer | None:
        """The cached answer to a request, or None."""
        with self._lock:
            answer = self._answers.get(asked)
            if answer is not None:
                self._answers.move_to_end(asked)
            return answer

    def keep(self, asked: Hashable, answer: SearchAnswer) -> None:
        """Cache an answer; if the cache is full, drop the least recently used one."""
        if len(answer.hits) > _MAX_HITS:
            return
        with self._lock:
            self._answers[asked] = answer
            while len(self._answers) > self._size:
                self._answers.popitem(last=False)
