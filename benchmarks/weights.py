"""Learns the weights of a recipe's parts on the topics of one year, and tests them on another.

    python -m benchmarks.weights [default] [--min-cosine 0.2 0.3 0.4] [--step 0.1]

Tries all weights of the parts that add up to one, in steps, on the topics of 2020 in all languages.
Prints the best ones and the weights of the recipe, with their nDCG@10 on 2020 and on 2021; unjudged
posts count as not relevant.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np

from benchmarks.shared import DATA, LANGUAGES, YEARS, arqmath_posts, judged, ndcg, topics
from mathsetu.deadline import Clock
from mathsetu.intake.question import Question
from mathsetu.library import Library, build_library
from mathsetu.library.candidates import RecipeReply, weighted_sum
from mathsetu.ranking.hybrid import adapted, order, shares
from mathsetu.recipes import load_recipe

_DEPTH = 1000
_BEST = 5

Topics = dict[str, list[tuple[RecipeReply, dict[int, int]]]]


def candidates(library: Library, data: Path) -> dict[int, Topics]:
    """The candidates of each topic, and their grades by number, for each year and language."""
    view, recipe = library._backend.now(), library.recipe
    parts, _ = view.parts(None)
    weights = {name: 1 / len(parts) for name in parts}
    found: dict[int, Topics] = {}
    for year in YEARS:
        wanted = judged(year, data)
        numbers = {
            post: view.stored_posts.number_of(post) for grades in wanted.values() for post in grades
        }
        for language in LANGUAGES:
            queries = [query for query in topics(language, data) if query.id in wanted]
            rows = weighted_sum(
                recipe,
                parts,
                [Question(query) for query in queries],
                _DEPTH,
                allowed=None,
                weights=weights,
                clock=Clock(),
            )
            found.setdefault(year, {})[language] = [
                (row, {numbers[post]: grade for post, grade in wanted[query.id].items()})
                for query, row in zip(queries, rows, strict=True)
            ]
    return found


@dataclass(frozen=True)
class Trial:
    """Weights, with which the candidates of both years are ranked."""

    settings: str
    weights: Mapping[str, float]
    found: Mapping[int, Topics]
    full_scores: Mapping[str, float]

    def gains(self, year: int) -> dict[str, float]:
        """The mean nDCG@10 in each language."""
        return {
            language: float(np.mean([self._gain(row, grades) for row, grades in rows]))
            for language, rows in self.found[year].items()
        }

    def _gain(self, row: RecipeReply, grades: Mapping[int, int]) -> float:
        silent = frozenset(name for name, scores in row.said.items() if not scores.any())
        added = shares(row.said, adapted(self.weights, silent), "minmax", self.full_scores)
        best = row.numbers[order(added, row.numbers)[:10]].tolist()
        named = {str(number): grade for number, grade in grades.items()}
        return ndcg([str(number) for number in best], named)


def shared_out(names: Sequence[str], step: float) -> Iterator[dict[str, float]]:
    """Yield all weights that add up to one, in steps."""
    whole = round(1 / step)
    for first in product(range(whole + 1), repeat=len(names) - 1):
        if sum(first) <= whole:
            amounts = (*first, whole - sum(first))
            yield {name: n / whole for name, n in zip(names, amounts, strict=True)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("recipe", nargs="?", default="default")
    parser.add_argument(
        "--min-cosine", nargs="+", type=float, help="values of parts.meaning.min_cosine"
    )
    parser.add_argument("--step", type=float, default=0.1)
    parser.add_argument("--data", type=Path, default=DATA)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "library"
        build_library(target, arqmath_posts(options.data), load_recipe(options.recipe, []))
        own = load_recipe(options.recipe, [])
        ways = [own.ranking.weights, *shared_out(tuple(own.parts), options.step)]
        tried: list[Trial] = []
        for least in options.min_cosine or [None]:
            settings = [] if least is None else [f"parts.meaning.min_cosine={least:g}"]
            with Library(target, settings) as library:
                found = candidates(library, options.data)
            tried += [
                Trial(" ".join(settings), weights, found, own.ranking.full_scores)
                for weights in ways
            ]
    learned, checked = YEARS
    tried.sort(key=lambda trial: -float(np.mean(list(trial.gains(learned).values()))))
    recipes = [trial for trial in tried[_BEST:] if trial.weights is own.ranking.weights]
    for trial in tried[:_BEST] + recipes:
        mark = "(the recipe's)" if trial.weights is own.ranking.weights else ""
        print(trial.settings, *(f"{n} {w:g}" for n, w in trial.weights.items()), mark)
        for year in (learned, checked):
            gains = trial.gains(year)
            languages = "  ".join(f"{language} {gain:.3f}" for language, gain in gains.items())
            print(f"  {year}  mean {np.mean(list(gains.values())):.4f}  {languages}")


if __name__ == "__main__":
    main()
