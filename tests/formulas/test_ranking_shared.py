"""Structural matching compared with a published run, if the public data is present."""

import gzip
import json
from collections import defaultdict
from math import log2
from pathlib import Path
from statistics import fmean

import pytest

from mathsetu.formulas.labels import normalise
from mathsetu.formulas.matching import PreparedFormula, match
from mathsetu.formulas.notation import read_tree
from mathsetu.formulas.tree import Tree

pytestmark = [pytest.mark.shared, pytest.mark.thorough]


def figures(ranking: list[str], judged: dict[str, int]) -> tuple[float, float, float]:
    """Return nDCG', AP' and P'@10, with grades 2 and 3 as relevant."""
    grades = [judged[name] for name in ranking]
    gains = [
        sum(grade / log2(rank + 1) for rank, grade in enumerate(some, 1))
        for some in (grades, sorted(judged.values(), reverse=True))
    ]
    hits = [rank for rank, grade in enumerate(grades, 1) if grade >= 2]
    precisions = [found / rank for found, rank in enumerate(hits, 1)]
    relevant = sum(grade >= 2 for grade in judged.values())
    return gains[0] / gains[1], sum(precisions) / relevant, sum(r <= 10 for r in hits) / 10


def rows(path: Path) -> list[list[str]]:
    content = path.read_bytes()
    if path.suffix == ".gz":
        content = gzip.decompress(content)
    return [line.split() for line in content.decode().splitlines()]


def test_matching_ranks_the_candidates_of_tangent_s_better_than_tangent_s(shared_data: Path):
    folder = shared_data / "arqmath" / "formula-pool-2020"
    judgments: dict[str, dict[str, int]] = defaultdict(dict)
    for topic, _, name, grade in rows(folder / "qrels.txt"):
        judgments[topic][name] = int(grade)
    candidates: dict[str, dict[str, float]] = defaultdict(dict)
    for topic, _, name, _, score, _ in rows(folder / "tangent-s.run.gz"):
        if name in judgments[topic]:
            candidates[topic][name] = float(score)
    wanted = {name for names in candidates.values() for name in names}
    trees: dict[str, PreparedFormula] = {}
    with gzip.open(folder / "formulas.jsonl.gz", "rt") as lines:
        for formula in map(json.loads, lines):
            if formula["visual_id"] in wanted:
                opt = formula["opt"]
                tree = normalise(read_tree(opt)) if opt else Tree("W!")
                trees[formula["visual_id"]] = PreparedFormula(tree)
    theirs, ours = [], []
    for query in map(json.loads, (folder / "queries.jsonl").read_text().splitlines()):
        topic = query["topic"]
        if topic not in candidates:
            continue
        prepared = PreparedFormula(normalise(read_tree(query["opt"])))
        scores = {name: match(prepared, trees[name]).score for name in candidates[topic]}
        for table, result in ((candidates[topic], theirs), (scores, ours)):
            order = sorted(table, key=lambda name: (table[name], name), reverse=True)
            result.append(figures(order, judgments[topic]))
    published = [round(fmean(column), 3) for column in zip(*theirs, strict=True)]
    assert published == [0.696, 0.444, 0.442]
    for our, their in zip(zip(*ours, strict=True), published, strict=True):
        assert fmean(our) > their + 0.04
