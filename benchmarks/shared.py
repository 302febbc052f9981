"""Code shared by benchmarks: reading the public evaluation data, and measures."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from mathsetu.collections.arqmath import read_answers
from mathsetu.collections.crossmath import read_topics
from mathsetu.collections.trec import read_qrels
from mathsetu.errors import InputError, MissingExtra
from mathsetu.evaluation.measures import Measure
from mathsetu.evaluation.scoring import JudgedRanking, score
from mathsetu.records import Post, Query, Run

DATA = Path(os.environ.get("MATHSETU_DATA", "../shared/data"))
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


def needed(path: Path) -> Path:
    """Return a path of the evaluation data; exit with an explanation if it does not exist."""
    if not path.exists():
        raise SystemExit(
            f"{path} is missing: benchmarks need evaluation data that is not in the repository "
            "(MATHSETU_DATA names its folder; its layout: docs/reproduce.md, What DATA holds)"
        )
    return path


@contextmanager
def errors_without_traceback() -> Iterator[None]:
    """Report errors that the user can fix (missing models or packages) without a traceback."""
    try:
        yield
    except (InputError, MissingExtra) as error:
        raise SystemExit(str(error)) from None


def arqmath_posts(data: Path = DATA) -> Iterator[Post]:
    """Read the answers, each with the title, tags and text of its question."""
    return read_answers(needed(data / "arqmath" / "posts.jsonl.gz"))


def topics(language: str, data: Path = DATA) -> list[Query]:
    """Read the CrossMath topics in one language; the English ones are ARQMath's own."""
    return list(read_topics(needed(data / "crossmath" / "topics" / f"{LANGUAGES[language]}.tsv")))


def copied_topics(queries: Sequence[Query]) -> set[str]:
    """Topics with the body of another topic: ten Persian ones have been copied by mistake.

    >>> copied_topics([Query("A.1", "Why?", title="x"), Query("A.2", "Why?", title="y")])
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
    """The judgments of posts or formulas in the data, for topics with a relevant one."""
    grades: Judged = defaultdict(dict)
    path = needed(data / "arqmath" / f"qrels-task{task}-{year}.present.txt")
    for judgment in read_qrels(path):
        grades[judgment.query_id][judgment.id] = judgment.grade
    return {topic: found for topic, found in grades.items() if max(found.values()) >= 2}


def measured(measure: str, ranking: Iterable[str], grades: Mapping[str, int]) -> float:
    """The value of a measure for one ranking; grades 2 and 3 are relevant.

    >>> round(measured("nDCG@10", ["a", "b"], {"b": 3}), 3), measured("MAP", ["a", "b"], {"b": 3})
    (0.631, 0.5)
    """
    judged_ranking = JudgedRanking.of(list(ranking), grades)
    return score(Measure.parse(measure), judged_ranking, relevant_from=2)


def ndcg(ranking: Iterable[str], grades: Mapping[str, int]) -> float:
    """nDCG@10; unjudged posts count as not relevant."""
    return measured("nDCG@10", ranking, grades)


def average_precision(ranking: Iterable[str], grades: Mapping[str, int]) -> float:
    """Average precision; unjudged posts count as not relevant."""
    return measured("MAP", ranking, grades)


def mean_measures(run: Run, grades: Judged) -> tuple[float, float]:
    """Mean nDCG@10 and mean average precision of a run over the judged topics."""
    rows = [
        ([hit.id for hit in run.rankings.get(topic, ())], wanted)
        for topic, wanted in grades.items()
    ]
    mean_ndcg = sum(ndcg(ranking, wanted) for ranking, wanted in rows) / len(rows)
    mean_ap = sum(average_precision(ranking, wanted) for ranking, wanted in rows) / len(rows)
    return mean_ndcg, mean_ap
