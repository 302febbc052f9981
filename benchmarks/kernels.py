"""Times the inner loops of search, compiled and in numpy, on synthetic data of any size.

    python -m benchmarks.kernels --posts 250000 1000000 2500000

Postings and vectors are random, not made from text. The lengths of the lists follow the
distributions of the 198 English ARQMath topics in 3,395 answers (37 known terms per topic, each in
19% of the posts; 39 features per formula, each in 3.4% of the formulas); the documents and
frequencies in a list are random. Per post there are 4 distinct formulas and 3.5 passages.
``--check`` also compares the results of both implementations.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mathsetu.retrieval import kernels
from mathsetu.retrieval.kernels import plain

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Quantiles, in steps of a twentieth, of the share of posts that contain a term of a topic, and of
# the share of formulas that contain a feature of a topic's formula.
_TERMS = [
    0.0003, 0.0038, 0.0103, 0.0180, 0.0280, 0.0374, 0.0493, 0.0642, 0.0813, 0.0946, 0.1161,
    0.1458, 0.1620, 0.1979, 0.2401, 0.2766, 0.3093, 0.3661, 0.4778, 0.6083, 0.8085,
]  # fmt: skip
_FEATURES = [
    0.0001, 0.0002, 0.0003, 0.0005, 0.0008, 0.0012, 0.0018, 0.0025, 0.0037, 0.0053, 0.0073,
    0.0099, 0.0139, 0.0189, 0.0254, 0.0360, 0.0484, 0.0723, 0.1154, 0.1713, 0.2981,
]  # fmt: skip
_POOL = 60
_WORDS, _SHORT, _FORMULA = 37, 7, 39
_BEST, _RESCORED, _FORMULAS_KEPT, _PASSAGES = 600, 600, 500, 20_000
_FORMULAS_PER_POST, _PASSAGES_PER_POST = 4, 3.5
_DIMENSIONS = 384
# Maximum number of stored vectors; more would take more memory, but not more time.
_MAX_ROWS = 1_000_000

Query = Callable[[], Any]


class Lists:
    """Postings lists that are as long as those of real terms."""

    def __init__(
        self, shares: Sequence[float], count: int, rng: np.random.Generator, size: int = _POOL
    ) -> None:
        places = (np.arange(size) + 0.5) / size
        parts = []
        for share in np.interp(places, np.linspace(0, 1, len(shares)), shares):
            gaps = rng.geometric(share, int(count * share * 1.1) + 100)
            documents = np.cumsum(gaps) - 1
            parts.append(documents[documents < count].astype(np.int32))
        self.documents = np.concatenate(parts)
        self.starts = np.cumsum([0, *map(len, parts)])
        self.values = np.minimum(rng.geometric(0.5, len(self.documents)), 255).astype(np.uint8)
        self._rng = rng

    def ranges(self, terms: int) -> NDArray[np.int64]:
        """The ranges of the lists of one query's terms."""
        rows = self._rng.choice(len(self.starts) - 1, terms, replace=False)
        return kernels.ranges_of(self.starts, rows)


def word_queries(posts: int, rng: np.random.Generator, queries: int) -> dict[str, list[Query]]:
    lists = Lists(_TERMS, posts, rng)
    wanted = np.unique(rng.integers(0, posts, _RESCORED))

    def search(terms: int) -> Query:
        ranges, weights = lists.ranges(terms), rng.random(terms, dtype=np.float32)
        return lambda: kernels.best_by_impact(
            lists.documents, lists.values, ranges, weights, posts, _BEST
        )

    def rescore() -> Query:
        ranges = lists.ranges(_WORDS)
        return lambda: kernels.gather(lists.documents, lists.values, ranges, wanted)

    return {
        f"words, {_SHORT} terms": [search(_SHORT) for _ in range(queries)],
        f"words, {_WORDS} terms": [search(_WORDS) for _ in range(queries)],
        f"words, frequencies of {_RESCORED}": [rescore() for _ in range(queries)],
    }


def formula_queries(posts: int, rng: np.random.Generator, queries: int) -> dict[str, list[Query]]:
    count = posts * _FORMULAS_PER_POST
    lists = Lists(_FEATURES, count, rng)
    masses = rng.gamma(3, 60, count).astype(np.float32)
    wanted = np.unique(rng.integers(0, count, _RESCORED * 20))

    def asked(last: object) -> Any:
        rarities = rng.uniform(1, 9, _FORMULA).astype(np.float32)
        counts = np.minimum(rng.geometric(0.4, _FORMULA), 12).astype(np.float32)
        ranges = lists.ranges(_FORMULA)
        mass = float(counts @ rarities)
        return lists.documents, lists.values, ranges, counts, rarities, masses, mass, last

    def search() -> Query:
        given = asked(_FORMULAS_KEPT)
        return lambda: kernels.best_by_overlap(*given)

    def rescore() -> Query:
        given = asked(wanted)
        return lambda: kernels.overlaps_of(*given)

    # Most formulas occur in one post, and a few in very many.
    occurrences = np.minimum(rng.zipf(1.6, 20_000), posts // 5)
    parts = [np.unique(rng.integers(0, posts, size)).astype(np.int32) for size in occurrences]
    starts = np.cumsum([0, *map(len, parts)])
    found_in = np.concatenate(parts)

    def posts_of(groups: int = 4) -> Query:
        rows = rng.choice(len(occurrences), groups * _FORMULAS_KEPT, replace=False)
        ranges, scores = kernels.ranges_of(starts, rows), rng.random(len(rows), dtype=np.float32)
        weights, ends = np.full(groups, 1 / groups, np.float32), np.arange(groups + 1)
        ends *= _FORMULAS_KEPT
        return lambda: kernels.best_posts(found_in, ranges, scores, ends, weights, posts, _BEST)

    return {
        f"one formula, {_FORMULA} features": [search() for _ in range(queries)],
        f"one formula, scores of {len(wanted)}": [rescore() for _ in range(queries)],
        f"posts of 4 x {_FORMULAS_KEPT} formulas": [posts_of() for _ in range(queries)],
    }


def vector_queries(posts: int, rng: np.random.Generator, queries: int) -> dict[str, list[Query]]:
    count = int(posts * _PASSAGES_PER_POST)
    signs = rng.integers(0, 2**64, (count, _DIMENSIONS // 64), dtype=np.uint64)
    stored = min(count, _MAX_ROWS)
    rows = rng.integers(-127, 128, (stored, _DIMENSIONS), dtype=np.int8)
    scales = rng.random(stored, dtype=np.float32)
    wanted = np.sort(rng.choice(stored, _PASSAGES, replace=False))

    def nearest() -> Query:
        query = rng.integers(0, 2**64, _DIMENSIONS // 64, dtype=np.uint64)
        return lambda: kernels.nearest_signs(signs, query, _PASSAGES)

    def rescore() -> Query:
        query = rng.normal(size=_DIMENSIONS).astype(np.float32)
        return lambda: kernels.int8_dots(rows, scales, wanted, query)

    return {
        f"sign bits of {count:,} passages": [nearest() for _ in range(queries)],
        f"int8 products of {_PASSAGES}": [rescore() for _ in range(queries)],
    }


def milliseconds(queries: Sequence[Query], loops: object) -> float:
    """The median processor time of queries; each is run twice, and the faster run counts."""
    kernels._loops = loops
    times = []
    for query in queries:
        tries = []
        for _ in range(2):
            begun = time.process_time()
            query()
            tries.append(time.process_time() - begun)
        times.append(min(tries))
    return 1000 * float(np.median(times))


def check(name: str, queries: Sequence[Query], loops: Sequence[object]) -> None:
    for query in queries:
        results = []
        for way in loops:
            kernels._loops = way
            results.append(query())
        for one, other in zip(*map(np.atleast_1d, results), strict=True):
            assert np.array_equal(one, other), f"{name}: both ways differ"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--posts", type=int, nargs="+", default=[250_000, 1_000_000, 2_500_000])
    parser.add_argument("--queries", type=int, default=5, help="queries of each kind (default: 5)")
    parser.add_argument("--check", action="store_true", help="compare the results of both ways")
    options = parser.parse_args()
    chosen = kernels._loops
    ways = [chosen, plain] if kernels.is_compiled() else [plain]
    print("| posts | loop | " + ("compiled ms | " if len(ways) > 1 else "") + "numpy ms |")
    print("|---|---|" + "---|" * len(ways))
    for posts in options.posts:
        for make in (word_queries, formula_queries, vector_queries):
            kinds = make(posts, np.random.default_rng(7), options.queries)
            for name, queries in kinds.items():
                if options.check:
                    check(name, queries, ways)
                figures = " | ".join(f"{milliseconds(queries, way):.1f}" for way in ways)
                print(f"| {posts:,} | {name} | {figures} |", flush=True)
    kernels._loops = chosen


if __name__ == "__main__":
    main()
