"""The examples of one epoch of a cross-encoder's training, as in the MIRMU paper.

An epoch has every judged pair and as many additional ones. Additional positives are questions with
answers of their own threads; additional negatives are, for a few random questions, the most similar
posts with no tag in common. Half of the pairs of an epoch are positive.
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
    """Returns the pairs of each epoch, which depend only on the seed and the epoch's number.

    Attributes:
        judged: Judged pairs, used in every epoch.
        threads: Additional positive pairs, sampled anew in each epoch.
        asked: Answers with their questions, for which additional negatives are found.
        similar: Returns the posts most similar to a post's question, best first.
        seed: The random seed.
        questions: Random questions per epoch for which negatives are found.
        negatives: The most negatives for each of them.

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
        """Return the shuffled pairs of one epoch."""
        random = np.random.default_rng([self.seed, number])
        unlike = [
            pair
            for post in _drawn(self.asked, min(self.questions, len(self.asked)), random)
            for pair in unlike_negatives(post, self.similar(post), self.negatives)
        ]
        right = [pair for pair in self.judged if pair.label > 0.5]
        wrong = [pair for pair in self.judged if pair.label <= 0.5]
        # An epoch has twice as many pairs as were judged, half of them positive.
        half = len(self.judged)
        pairs = [
            *self.judged,
            *_drawn(self.threads or right, half - len(right), random),
            *_drawn(unlike or wrong, half - len(wrong), random),
        ]
        return _drawn(pairs, len(pairs), random)


def _drawn(pool: Sequence[Item], count: int, random: np.random.Generator) -> list[Item]:
    """Sample ``count`` items in random order; repeat the pool if it is too small."""
    if count and not pool:
        raise InputError("training needs pairs that belong together and pairs that do not")
    found: list[Item] = []
    while len(found) < count:
        places = random.permutation(len(pool))[: count - len(found)]
        found += [pool[place] for place in places]
    return found


def batches(pairs: Sequence[TrainingPair], size: int) -> list[Sequence[TrainingPair]]:
    """Return the pairs in batches, in their order.

    >>> [len(batch) for batch in batches([TrainingPair("q", "a", 1.0)] * 5, 2)]
    [2, 2, 1]
    """
    return [pairs[start : start + size] for start in range(0, len(pairs), size)]


def batches_without_repeats(
    pairs: Sequence[TrainingPair], size: int, seed: int, number: int
) -> list[Sequence[TrainingPair]]:
    """Return shuffled batches in which no question and no text occurs twice.

    Every other text of a batch is a negative, so a second correct text would be a false negative. A
    pair that would repeat a text moves to the next batch. Incomplete batches are dropped.

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
