"""Learns weights of feature families for formula search, by cross-validation over topics.

    python -m benchmarks.formula_weights [--data DIR]

Candidates are the formulas in Tangent-S's published run on ARQMath task 2 of 2020 (24 topics), and
the whole pool of judged formulas. A candidate is described by its overlap with the query in each
feature family (the letters of `mathsetu.formulas.features`), the shared fractions of the query and
of the candidate, the structural match and its coverage. Linear weights are fitted to the grades of
all topics but one, and rank that one. Ridge regression keeps them close to the weights set by hand
(``similarity``), less so with a smaller strength; ``free`` weights are not kept close. Prints
nDCG', MAP' and P'@10, as in `benchmarks.formula_ranking`, and the p-value of the difference in MAP'
from the weights set by hand (randomisation test over topics).
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.formula_ranking import (
    PRIME_MEASURES,
    of_families,
    ranked,
    read_judgments,
    read_pool_tree,
    weigh,
)
from benchmarks.shared import DATA, measured
from mathsetu.formulas.features import features, query_features
from mathsetu.formulas.matching import PreparedFormula, match
from mathsetu.formulas.similarity import TermWeights, dice, similarity

Numbers = NDArray[np.float64]

FAMILIES = "pPcdDrRlL"
_STRENGTHS = (0.3, 1.0, 3.0, 10.0)
_FREE = 0.5
_DRAWS = 10_000


@dataclass(frozen=True)
class Judged:
    """The judged formulas of one topic.

    Attributes:
        names: The names of the formulas.
        grades: Their grades.
        by_hand: Their similarity to the query, with weights set by hand.
        rows: Their features.
        in_run: Whether they are in Tangent-S's run.
    """

    names: list[str]
    grades: Numbers
    by_hand: Numbers
    rows: Numbers
    in_run: NDArray[np.bool_]


def common(query: Mapping[str, int], other: Mapping[str, int], weights: TermWeights) -> list[float]:
    """The overlap in each family, then the shared fractions of the query and of the candidate."""
    overlaps, shared, masses = [], 0.0, [0.0, 0.0]
    for family in FAMILIES:
        ours, theirs = of_families(query, family), of_families(other, family)
        both = weights.mass({term: min(n, theirs.get(term, 0)) for term, n in ours.items()})
        own = weights.mass(ours), weights.mass(theirs)
        overlaps.append(dice(both, *own))
        shared += both
        masses = [masses[0] + own[0], masses[1] + own[1]]
    return [*overlaps, *(shared / mass if mass else 0.0 for mass in masses)]


def read_pool(folder: Path) -> dict[str, Judged]:
    """Read the judged formulas of all topics."""
    judgments = read_judgments(folder / "qrels.txt")
    run: dict[str, set[str]] = defaultdict(set)
    with gzip.open(folder / "tangent-s.run.gz", "rt", encoding="utf-8") as lines:
        for topic, _, name, *_ in map(str.split, lines):
            run[topic].add(name)
    with gzip.open(folder / "formulas.jsonl.gz", "rt", encoding="utf-8") as lines:
        trees = {
            one["visual_id"]: (read_pool_tree(one["slt"]), read_pool_tree(one["opt"]))
            for one in map(json.loads, lines)
        }
    terms = {name: Counter(features(*both)) for name, both in trees.items()}
    weights = weigh(terms.values())
    found = {}
    for query in map(json.loads, (folder / "queries.jsonl").read_text("utf-8").splitlines()):
        grades = judgments.get(query["topic"])
        if not grades:
            continue
        slt, opt = read_pool_tree(query["slt"]), read_pool_tree(query["opt"])
        asked, prepared = Counter(query_features(slt, opt)), PreparedFormula(opt)
        matches = [match(prepared, trees[name][1]) for name in grades]
        pairs = list(zip(grades, matches, strict=True))
        found[query["topic"]] = Judged(
            list(grades),
            np.array(list(grades.values()), dtype=np.float64),
            np.array([similarity(weights.overlap(asked, terms[n]), one) for n, one in pairs]),
            np.array(
                [[*common(asked, terms[n], weights), one.score, one.coverage] for n, one in pairs]
            ),
            np.array([name in run[query["topic"]] for name in grades]),
        )
    return found


def fit(topics: list[Judged], strength: float, held: bool) -> Numbers:
    """Fit weights that are added to the similarity (``held``), or that replace it."""
    rows, wanted, near = [], [], []
    for one in topics:
        # Only differences within a topic count, and all topics have the same weight.
        scale = len(one.names) ** 0.5
        rows.append((one.rows - one.rows.mean(axis=0)) / scale)
        wanted.append((one.grades - one.grades.mean()) / scale)
        near.append((one.by_hand - one.by_hand.mean()) / scale)
    table, grades, by_hand = map(np.concatenate, (rows, wanted, near))
    if held:
        grades = grades / ((by_hand @ grades) / (by_hand @ by_hand)) - by_hand
    ridge = strength * np.eye(table.shape[1])
    return np.asarray(np.linalg.solve(table.T @ table + ridge, table.T @ grades))


def figures(topics: Mapping[str, Judged], scores: Mapping[str, Numbers], *, run: bool) -> Numbers:
    """The measures of each topic."""
    rows = []
    for topic, one in topics.items():
        pairs = zip(one.names, scores[topic].tolist(), one.in_run.tolist(), strict=True)
        ranking = ranked({name: score for name, score, is_in in pairs if is_in or not run})
        grades = {n: int(grade) for n, grade in zip(one.names, one.grades.tolist(), strict=True)}
        rows.append([measured(measure, ranking, grades) for measure in PRIME_MEASURES])
    return np.array(rows)


def p_value(differences: Numbers) -> float:
    """The two-sided p-value of a mean difference, by randomly flipping signs."""
    signs = np.random.default_rng(1).choice([-1.0, 1.0], size=(_DRAWS, len(differences)))
    drawn = np.abs((signs * differences).mean(axis=1))
    return float((1 + (drawn >= abs(differences.mean()) - 1e-12).sum()) / (1 + _DRAWS))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, default=DATA)
    arguments = parser.parse_args()
    topics = read_pool(arguments.data / "arqmath" / "formula-pool-2020")
    by_hand = {topic: one.by_hand for topic, one in topics.items()}
    systems = {"weights set by hand": by_hand}
    for name, strength, held in (
        ("free", _FREE, False),
        *((f"held by {one:g}", one, True) for one in _STRENGTHS),
    ):
        scores = {}
        for topic, one in topics.items():
            others = [other for named, other in topics.items() if named != topic]
            learned = one.rows @ fit(others, strength, held)
            scores[topic] = one.by_hand + learned if held else learned
        systems[f"learned, {name}"] = scores
    for title, run in (("The candidates of Tangent-S", True), ("The whole pool", False)):
        print(f"\n{title}, {len(topics)} topics\n")
        print("|  | nDCG' | MAP' | P'@10 | p |\n|---|---|---|---|---|")
        before = figures(topics, by_hand, run=run)
        for name, scores in systems.items():
            now = figures(topics, scores, run=run)
            cells = " | ".join(f"{figure:.3f}" for figure in now.mean(axis=0))
            print(f"| {name} | {cells} | {p_value((now - before)[:, 1]):.2f} |", flush=True)


if __name__ == "__main__":
    main()
