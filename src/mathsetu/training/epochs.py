"""The examples of one epoch of a cross-encoder's training, as in the MIRMU paper.

Every judged pair, and as many additional ones: answers of the same thread, and for a few random
questions the most similar posts with no tag in common. Half of an epoch's pairs belong together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from mathsetu.errors import InputError
from mathsetu.records import Post
from mathsetu.training.pairs import TrainingPair, unlike_negatives

Item = TypeVar("Item")


@dataclass(frozen=True)
class Epochs:
    """Gives the pairs of each epoch; the same ones for the same seed and number.

    Attributes:
        judged: Pairs from judgments, used in every epoch.
        threads: Further pairs that belong together, drawn from again in each epoch.
        asked: Answers whose questions further pairs that do not belong are found for.
        similar: Gives the posts most similar to a post's question, best first.
        seed: Where randomness starts.
        questions: For how many random questions negatives are found in each epoch.
        negatives: How many for each.

    >>> judged = [TrainingPair("q", text, label) for text, label in zip("abc", (1.0, 0.0, 0.0))]
    >>> epoch = Epochs(judged, threads=[TrainingPair("r", "d", 1.0)])(0)
    >>> len(epoch), sum(pair.label for pair in epoch)
    (6, 3.0)
    """

    judged: Sequence[TrainingPair]
    threads: Sequence[TrainingPair] = ()
    asked: Sequence[Post] = ()
    similar: Callable[[Post], Iterable[Post]] = lambda post: ()
    seed: int = 1
    questions: int = 10
    negatives: int = 10

    def __call__(self, number: int) -> list[TrainingPair]:
        """The pairs of one epoch, shuffled."""
        random = np.random.default_rng([self.seed, number])
        unlike = [
            pair
            for post in _drawn(self.asked, min(self.questions, len(self.asked)), random)
            for pair in unlike_negatives(post, self.similar(post), self.negatives)
        ]
        right = [pair for pair in self.judged if pair.label > 0.5]
        wrong = [pair for pair in self.judged if pair.label <= 0.5]
        # Half of twice the judged pairs: this fills up both sides, and adds as many as were judged.
        half = len(self.judged)
        pairs = [
            *self.judged,
            *_drawn(self.threads or right, half - len(right), random),
            *_drawn(unlike or wrong, half - len(wrong), random),
        ]
        return _drawn(pairs, len(pairs), random)


def _drawn(pool: Sequence[Item], count: int, random: np.random.Generator) -> list[Item]:
    """So many items of a pool in random order; a pool that is too small is gone through again."""
    if count and not pool:
        raise InputError("training needs pairs that belong together and pairs that do not")
    found: list[Item] = []
    while len(found) < count:
        places = random.permutation(len(pool))[: count - len(found)]
        found += [pool[place] for place in places]
    return found


def batches(pairs: Sequence[TrainingPair], size: int) -> list[Sequence[TrainingPair]]:
    """The pairs in batches, in their order.

    >>> [len(batch) for batch in batches([TrainingPair("q", "a", 1.0)] * 5, 2)]
    [2, 2, 1]
    """
    return [pairs[start : start + size] for start in range(0, len(pairs), size)]


def batches_without_repeats(
    pairs: Sequence[TrainingPair], size: int, seed: int, number: int
) -> list[Sequence[TrainingPair]]:
    """Shuffled batches in which no question and no text stands twice.

    In a batch every other text counts as a wrong answer, so a second right one would mislead. A
    pair that would repeat something waits for the next batch; what fills no batch is left out.

    >>> pairs = [TrainingPair(question, text, 1.0) for question, text in ("qa", "qb", "rc")]
    >>> [batch] = batches_without_repeats(pairs, 2, seed=1, number=0)
    >>> sorted(pair.question for pair in batch)
    ['q', 'r']
    """
    waiting = _drawn(pairs, len(pairs), np.random.default_rng([seed, number]))
    found: list[Sequence[TrainingPair]] = []
    while waiting:
        batch: list[TrainingPair] = []
        later: list[TrainingPair] = []
        seen: set[str] = set()
        for place, pair in enumerate(waiting):
            if len(batch) == size:
                later += waiting[place:]
                break
            if pair.question in seen or pair.text in seen:
                later.append(pair)
            else:
                batch.append(pair)
                seen |= {pair.question, pair.text}
        if len(batch) < min(size, 2) or (found and len(batch) < size):
            break
        found.append(batch)
        waiting = later
    return found
