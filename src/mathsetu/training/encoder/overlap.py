"""Detects texts that share a run of words with texts that must stay unseen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mathsetu.languages.analyze import tokenize

#: Words in a row that are too many to be a coincidence.
RUN = 10


class Overlap:
    """The set of all runs of ten words of some texts.

    >>> topics = Overlap(["How many ways are there to put n balls into k boxes?"])
    >>> topics.overlaps("Find how many ways are there to put n balls into k boxes in all")
    True
    >>> topics.overlaps("How many ways are there?")
    False
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._runs = {run for text in texts for run in _runs(text)}

    def overlaps(self, text: str) -> bool:
        """Whether the text has a run in common with these texts."""
        return any(run in self._runs for run in _runs(text))


def _runs(text: str) -> Iterator[int]:
    # Hashes instead of tuples: there are millions of runs, and a rare collision costs one pair.
    words = tokenize(text.casefold())
    for start in range(len(words) - RUN + 1):
        yield hash(tuple(words[start : start + RUN]))
