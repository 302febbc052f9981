"""What retrievers share: the best results of several segments, and a cache of posts."""

from collections.abc import Callable

import numpy as np
import pytest

from mathsetu.retrieval.base import Best, BoundedCache, Builder, Scored
from mathsetu.retrieval.dense import DenseBuilder, DenseSettings
from mathsetu.retrieval.formula_index import FormulaBuilder, FormulaSettings
from mathsetu.retrieval.graph_search import GraphIndexBuilder, GraphSettings
from mathsetu.retrieval.lexical import LexicalBuilder
from mathsetu.retrieval.lexical_terms import LexicalSettings
from mathsetu.retrieval.meaning import MeaningBuilder, MeaningSettings
from mathsetu.retrieval.overlap import OverlapBuilder, OverlapSettings


def scored(numbers: list[int], scores: list[float]) -> Scored:
    return Scored(np.array(numbers, dtype=np.int64), np.array(scores, dtype=np.float32))


def test_the_floor_is_zero_until_as_many_results_as_requested_are_found() -> None:
    nearly = Best(1)
    assert (nearly.floor, nearly.result.numbers.tolist()) == (0.0, [])
    assert nearly.result.scores.tolist() == []
    nearly.add(5, scored([2, 0], [3.0, 2.0]))
    assert (nearly.floor, nearly.result.numbers.tolist()) == (3.0, [7])
    nearly.add(9, scored([], []))
    nearly.add(9, scored([1], [3.0]))
    assert nearly.result.numbers.tolist() == [7]


class Reader:
    """Reads posts, and records which it read."""

    def __init__(self) -> None:
        self.read: list[list[int]] = []

    def __call__(self, numbers: list[int]) -> dict[int, str]:
        self.read.append(numbers)
        return {number: f"post {number}" for number in numbers}


def test_recently_read_posts_are_not_read_again() -> None:
    reader = Reader()
    recent = BoundedCache(reader, 2)
    assert recent.read([1, 2]) == recent.read([2, 1]) == {1: "post 1", 2: "post 2"}
    recent.read([3])
    assert recent.read([2, 3, 1]) == {1: "post 1", 2: "post 2", 3: "post 3"}
    assert reader.read == [[1, 2], [3], [1]]


def test_posts_are_read_again_after_the_cache_is_cleared() -> None:
    reader = Reader()
    recent = BoundedCache(reader, 2)
    recent.read([1])
    recent.clear()
    recent.read([1])
    assert reader.read == [[1], [1]]


@pytest.mark.parametrize(
    ("builder", "choices", "expected"),
    [
        (DenseBuilder, DenseSettings("m"), True),
        (FormulaBuilder, FormulaSettings(), True),
        (LexicalBuilder, LexicalSettings(), True),
        (MeaningBuilder, MeaningSettings(), True),
        (OverlapBuilder, OverlapSettings(), True),
        # It loads all vectors of the merged segments.
        (GraphIndexBuilder, GraphSettings(), False),
    ],
)
def test_parts_merge_on_disk_if_that_takes_little_memory(
    builder: Callable[[object], Builder], choices: object, expected: bool
) -> None:
    assert builder(choices).merges_on_disk == expected
