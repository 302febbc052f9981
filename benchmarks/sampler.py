"""Evaluates cross-language search on the sampler: mean reciprocal ranks of its queries.

    python -m benchmarks.sampler [RECIPE]

MRR is printed for all queries; for queries whose answers (grade 2 or 3) are in other languages
only; and for all queries without posts in the query's own language. Relevant are, first, all posts
judged relevant, as usual for MRR, and then answers only. No language is preferred in these runs.

Then, for each preference for the language of the query: for how many queries a relevant post in
their own language is at rank 1 (of those with such a post), and nDCG@10 of all queries over all
languages. Last, the MRR of queries in languages without posts.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from benchmarks.shared import ndcg
from mathsetu.collections import sampler
from mathsetu.library import Library, build_library
from mathsetu.ranking.hybrid import PREFERENCES
from mathsetu.recipes import load_recipe
from mathsetu.records import Query

_DEPTH = 50
_LEVELS = {1: "any relevant post", 2: "answers"}


def reciprocal_rank(ranking: list[str], wanted: set[str]) -> float:
    """The reciprocal rank of the first wanted post; 0 if there is none.

    >>> reciprocal_rank(["a", "b"], {"b"})
    0.5
    """
    return next((1 / rank for rank, post in enumerate(ranking, 1) if post in wanted), 0.0)


def ranking(library: Library, query: Query, preference: str) -> list[str]:
    """The ids of the hits of a query."""
    hits = library.search(query, k=_DEPTH, explain=False, own_language=preference)
    return [hit.id for hit in hits]


def own_language(
    library: Library, grades: Mapping[str, Mapping[str, int]], spoken: Mapping[str, str]
) -> None:
    """Print how often a post in the language of the query is first."""
    for preference in PREFERENCES:
        first: list[bool] = []
        gains: list[float] = []
        for query in sampler.queries():
            found = ranking(library, query, preference)
            gains.append(ndcg(found, grades[query.id]))
            relevant = {post for post, grade in grades[query.id].items() if grade >= 1}
            own = {post for post in relevant if spoken[post] == query.language}
            if own:
                first.append(bool(found) and found[0] in own)
        print(
            f"own language {preference}: at rank 1 for {sum(first)} of {len(first)} queries, "
            f"nDCG@10 {sum(gains) / len(gains):.3f}"
        )


def further_languages(library: Library) -> None:
    """Print the MRR of the queries in each language that has no posts."""
    relevant: dict[str, set[str]] = defaultdict(set)
    for judgment in sampler.further_judgments():
        if judgment.grade >= 1:
            relevant[judgment.query_id].add(judgment.id)
    ranks: dict[str, list[float]] = defaultdict(list)
    for query in sampler.further_queries():
        found = ranking(library, query, "off")
        ranks[query.language].append(reciprocal_rank(found, relevant[query.id]))
    every = [rank for one in ranks.values() for rank in one]
    shown = ", ".join(f"{code} {sum(one) / len(one):.2f}" for code, one in ranks.items())
    print(f"further languages: MRR {sum(every) / len(every):.3f} ({len(every)} queries; {shown})")


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
            found = ranking(library, query, "off")
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
        own_language(library, grades, spoken)
        further_languages(library)
    for (name, level), values in sorted(ranks.items(), key=lambda row: row[0][1]):
        mean = sum(values) / len(values)
        print(f"{name}, {_LEVELS[level]}: MRR {mean:.3f} ({len(values)} queries)")


if __name__ == "__main__":
    main()
