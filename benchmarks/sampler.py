"""The sampler across languages: mean reciprocal ranks of its queries.

    python -m benchmarks.sampler [RECIPE]

For all queries; for those whose answers (grade 2 or 3) stand in other languages only; and for all
again with posts in the query's own language left out. The first relevant post counts: any that is
judged relevant, as MRR has it elsewhere, and then answers alone.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import defaultdict
from pathlib import Path

from mathsetu.collections import sampler
from mathsetu.library import Library, build_library
from mathsetu.recipes import load_recipe

_DEPTH = 50
_LEVELS = {1: "any relevant post", 2: "answers"}


def reciprocal_rank(ranking: list[str], wanted: set[str]) -> float:
    """One by the rank of the first post that is wanted; 0 where there is none.

    >>> reciprocal_rank(["a", "b"], {"b"})
    0.5
    """
    return next((1 / rank for rank, post in enumerate(ranking, 1) if post in wanted), 0.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("recipe", nargs="?", default="default")
    arguments = parser.parse_args()
    spoken = {post.id: post.language for post in sampler.posts()}
    grades: dict[str, dict[str, int]] = defaultdict(dict)
    for judgment in sampler.judgments():
        grades[judgment.query_id][judgment.id] = judgment.grade
    ranks: dict[tuple[str, int], list[float]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "library"
        build_library(target, sampler.posts(), load_recipe(arguments.recipe, []))
        library = Library(target)
        for query in sampler.queries():
            found = [hit.id for hit in library.search(query, k=_DEPTH, explain=False)]
            foreign = [post for post in found if spoken[post] != query.language]
            answers = {post for post, grade in grades[query.id].items() if grade >= 2}
            for level in _LEVELS:
                wanted = {post for post, grade in grades[query.id].items() if grade >= level}
                rank = reciprocal_rank(found, wanted)
                ranks["all queries", level].append(rank)
                if all(spoken[post] != query.language for post in answers):
                    ranks["answers in other languages only", level].append(rank)
                if any(spoken[post] != query.language for post in wanted):
                    ranks["own language left out", level].append(reciprocal_rank(foreign, wanted))
    for (name, level), values in sorted(ranks.items(), key=lambda row: row[0][1]):
        mean = sum(values) / len(values)
        print(f"{name}, {_LEVELS[level]}: MRR {mean:.3f} ({len(values)} queries)")


if __name__ == "__main__":
    main()
