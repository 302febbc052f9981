"""Public evaluation data beside the repository, and the measures that benchmarks share."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from mathsetu.collections.crossmath import read_topics
from mathsetu.collections.trec import read_qrels
from mathsetu.papers.context import read_answers
from mathsetu.records import Post, Query, Run

DATA = Path("../shared/data")
YEARS = (2020, 2021)
LANGUAGES = {
    "en": "eng_Latn",
    "es": "spa_Latn",
    "cs": "ces_Latn",
    "hr": "hrv_Latn",
    "fa": "pes_Arab",
    "hi": "hin_Deva",
    "ne": "npi_Deva",
}
Judged = dict[str, dict[str, int]]


def arqmath_posts(data: Path = DATA) -> Iterator[Post]:
    """The answers, each with the title, tags and text of its question."""
    return read_answers(data / "arqmath" / "posts.jsonl.gz")


def topics(language: str, data: Path = DATA) -> list[Query]:
    """The CrossMath topics of one language; English ones are ARQMath's own."""
    return list(read_topics(data / "crossmath" / "topics" / f"{LANGUAGES[language]}.tsv"))


def misplaced(queries: Sequence[Query]) -> set[str]:
    """Topics whose body is another topic's: ten of the Persian ones were copied so.

    >>> misplaced([Query("A.1", "Why?", title="x"), Query("A.2", "Why?", title="y")])
    {'A.2'}
    """
    seen: set[str] = set()
    copies = set()
    for query in queries:
        if query.text in seen:
            copies.add(query.id)
        seen.add(query.text)
    return copies


def judged(year: int, data: Path = DATA, task: int = 1) -> Judged:
    """The judgments of posts or formulas that are present, for topics that have an answer."""
    grades: Judged = defaultdict(dict)
    for judgment in read_qrels(data / "arqmath" / f"qrels-task{task}-{year}.present.txt"):
        grades[judgment.query_id][judgment.id] = judgment.grade
    return {topic: found for topic, found in grades.items() if max(found.values()) >= 2}


def ndcg(ranking: Sequence[str], grades: Mapping[str, int], depth: int = 10) -> float:
    """NDCG at a depth; the gain is the grade, unjudged posts count as not relevant.

    >>> round(ndcg(["a", "b"], {"b": 3}), 3)
    0.631
    """
    ideal = _discounted(sorted(grades.values(), reverse=True)[:depth])
    return _discounted(grades.get(post, 0) for post in ranking[:depth]) / ideal


def average_precision(ranking: Iterable[str], grades: Mapping[str, int]) -> float:
    """Average precision; grades 2 and 3 are relevant.

    >>> average_precision(["a", "b"], {"b": 3})
    0.5
    """
    relevant = {post for post, grade in grades.items() if grade >= 2}
    found, total = 0, 0.0
    for rank, post in enumerate(ranking, start=1):
        if post in relevant:
            found += 1
            total += found / rank
    return total / len(relevant)


def _discounted(gains: Iterable[int]) -> float:
    return sum(max(gain, 0) / math.log2(rank + 2) for rank, gain in enumerate(gains))


def mean_measures(run: Run, grades: Judged) -> tuple[float, float]:
    """Mean nDCG@10 and mean average precision of a run over the judged topics."""
    rows = [
        ([hit.id for hit in run.rankings.get(topic, ())], wanted)
        for topic, wanted in grades.items()
    ]
    mean_ndcg = sum(ndcg(ranking, wanted) for ranking, wanted in rows) / len(rows)
    mean_ap = sum(average_precision(ranking, wanted) for ranking, wanted in rows) / len(rows)
    return mean_ndcg, mean_ap
