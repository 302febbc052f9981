"""Evaluates formula ranking on ARQMath task 2: each feature set, all together, structural match.

Prints a Markdown table for each of two parts:

pool    The judged formulas of 2020 as Tangent trees, with the official judgments of 24 topics.
        Prime measures: unjudged formulas do not count. Candidates are the whole pool, or only the
        formulas of Tangent-S's published run, whose own figures are shown too.
latex   All distinct formulas of the posts, as LaTeX, with the topics of 2020 and 2021. The whole
        collection is ranked, and unjudged formulas count as not relevant.

Run with: python -m benchmarks.formula_ranking [--part pool|latex] [--data DIR]
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from html import unescape
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from benchmarks.shared import DATA, measured, needed
from mathsetu.formulas.features import features, query_features
from mathsetu.formulas.labels import normalise
from mathsetu.formulas.matching import PreparedFormula, match
from mathsetu.formulas.notation import read_tree
from mathsetu.formulas.overlap import node_overlap, token_overlap
from mathsetu.formulas.parse import parse_latex
from mathsetu.formulas.similarity import TermWeights, dice, similarity
from mathsetu.formulas.tree import Tree
from mathsetu.retrieval.overlap import labels_of

#: Feature sets by the letters of their families.
FEATURE_SETS = {
    "symbol pairs": "pP",
    "compounds and duplicates": "cdD",
    "leaf-root paths": "rR",
    "leaf-leaf paths": "lL",
    "layout tree": "pPcdD",
    "operator tree": "rRlL",
    "named": "pcdrl",
    "abstract": "PDRL",
    "all features": "pPcdDrRlL",
}
#: The lowest relevant grade for binary measures.
RELEVANT = 2
#: The number of candidates that the structural match reranks.
RERANKED = 200

Judgments = dict[str, dict[str, int]]
Scorer = Callable[[str, str], float]


class Both(NamedTuple):
    """The trees of a formula."""

    slt: Tree
    opt: Tree


def ranked(scores: Mapping[str, float]) -> list[str]:
    """Sort by score, best first; as in trec_eval, ties are sorted by descending name."""
    return sorted(scores, key=lambda name: (scores[name], name), reverse=True)


PRIME_MEASURES = ("nDCG", "MAP", "P@10")


def mean(measure: str, rankings: Mapping[str, list[str]], judgments: Judgments) -> float:
    return fmean(measured(measure, rankings[topic], judged) for topic, judged in judgments.items())


def prime(ranking: list[str], judged: Mapping[str, int]) -> list[str]:
    return [name for name in ranking if name in judged]


def row(name: str, *figures: float) -> None:
    print(f"| {name:26} | " + " | ".join(f"{figure:.3f}" for figure in figures) + " |", flush=True)


# Reading.


def read_judgments(path: Path) -> Judgments:
    judgments: Judgments = defaultdict(dict)
    for line in path.read_text(encoding="utf-8").splitlines():
        topic, _, name, grade = line.split()
        judgments[topic][name] = int(grade)
    return judgments


def read_pool_tree(text: str | None) -> Tree:
    """Read a tree of the pool; a few are empty."""
    return normalise(read_tree(text)) if text else Tree("W!")


def read_topics(path: Path) -> dict[str, str]:
    text = path.read_text(encoding="utf-8")
    found = re.findall(r'<Topic number="([^"]+)">.*?<Latex>(.*?)</Latex>', text, re.DOTALL)
    return {topic: unescape(latex) for topic, latex in found}


# Ranking.


def of_families(terms: Mapping[str, int], letters: str) -> dict[str, int]:
    return {term: count for term, count in terms.items() if term[0] in letters}


def weigh(collection: Iterable[Mapping[str, int]]) -> TermWeights:
    frequencies: Counter[str] = Counter()
    formulas = 0
    for terms in collection:
        frequencies.update(terms.keys())
        formulas += 1
    return TermWeights(frequencies, formulas)


class Index:
    """An in-memory index; the n-th occurrence of a term in a formula has its own postings."""

    def __init__(self, collection: Mapping[str, Mapping[str, int]]) -> None:
        self.weights = weigh(collection.values())
        self.names = list(collection)
        self.postings: dict[tuple[str, int], list[int]] = defaultdict(list)
        for number, terms in enumerate(collection.values()):
            for term, count in terms.items():
                for occurrence in range(count):
                    self.postings[term, occurrence].append(number)
        self.masses = {
            letters: [self.weights.mass(of_families(t, letters)) for t in collection.values()]
            for letters in FEATURE_SETS.values()
        }

    def overlaps(self, query: Mapping[str, int], letters: str) -> dict[str, float]:
        query = of_families(query, letters)
        shared: dict[int, float] = defaultdict(float)
        for term, count in query.items():
            weight = self.weights[term]
            for occurrence in range(count):
                for number in self.postings.get((term, occurrence), ()):
                    shared[number] += weight
        mass, masses = self.weights.mass(query), self.masses[letters]
        return {self.names[n]: dice(s, mass, masses[n]) for n, s in shared.items()}


def rank_pool(folder: Path) -> None:
    judgments = read_judgments(folder / "qrels.txt")
    tangent: dict[str, dict[str, float]] = defaultdict(dict)
    with gzip.open(folder / "tangent-s.run.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            topic, _, name, _, score, _ = line.split()
            tangent[topic][name] = float(score)
    trees: dict[str, tuple[Tree, Tree]] = {}
    with gzip.open(needed(folder / "formulas.jsonl.gz"), "rt", encoding="utf-8") as lines:
        for line in lines:
            formula = json.loads(line)
            slt, opt = read_pool_tree(formula["slt"]), read_pool_tree(formula["opt"])
            trees[formula["visual_id"]] = slt, opt
    queries: dict[str, tuple[Tree, Tree]] = {}
    for line in (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines():
        query = json.loads(line)
        if query["topic"] in judgments:
            queries[query["topic"]] = read_pool_tree(query["slt"]), read_pool_tree(query["opt"])

    terms = {name: Counter(features(*both)) for name, both in trees.items()}
    weights = weigh(terms.values())
    query_terms = {topic: Counter(query_features(*both)) for topic, both in queries.items()}
    matches = {
        (topic, name): match(prepared, trees[name][1])
        for topic in judgments
        for prepared in [PreparedFormula(queries[topic][1])]
        for name in judgments[topic]
    }

    def overlap_in(letters: str) -> Scorer:
        ours = {topic: of_families(found, letters) for topic, found in query_terms.items()}
        return lambda topic, name: weights.overlap(ours[topic], of_families(terms[name], letters))

    def numeric_overlap(of: str, numeric: str) -> Scorer:
        bags = {name: Counter(labels_of(Both(*both), of, numeric)) for name, both in trees.items()}
        ours = {
            topic: Counter(labels_of(Both(*both), of, numeric)) for topic, both in queries.items()
        }
        if of == "tokens":
            bags, ours = (
                {n: Counter(set(bag)) for n, bag in some.items()} for some in (bags, ours)
            )
        return lambda t, n: (ours[t] & bags[n]).total() / (ours[t] | bags[n]).total()

    overlap = overlap_in(FEATURE_SETS["all features"])
    scorers: dict[str, Scorer] = {
        "token overlap (MIRaCLE)": lambda t, n: token_overlap(queries[t][0], trees[n][0]),
        "node overlap (MIRaCLE)": lambda t, n: node_overlap(queries[t][1], trees[n][1]),
        **{
            f"{name} overlap, {what} by value": numeric_overlap(of, numeric)
            for name, of in (("token", "tokens"), ("node", "nodes"))
            for what, numeric in (("numbers", "numbers"), ("formulas", "values"))
        },
        **{name: overlap_in(letters) for name, letters in FEATURE_SETS.items()},
        "structural match": lambda t, n: matches[t, n].score,
        "all features and match": lambda t, n: similarity(overlap(t, n), matches[t, n]),
    }
    for title, candidates in (
        ("The whole pool", judgments),
        ("The candidates of Tangent-S", tangent),
    ):
        print(
            f"\n{title}, {len(judgments)} topics\n\n|  | nDCG' | MAP' | P'@10 |\n|---|---|---|---|"
        )
        if candidates is tangent:
            pool_row("Tangent-S", judgments, lambda t, n: tangent[t][n], tangent)
        for name, scorer in scorers.items():
            pool_row(name, judgments, scorer, candidates)


def pool_row(
    name: str,
    judgments: Judgments,
    scorer: Scorer,
    candidates: Mapping[str, Iterable[str]],
) -> None:
    rankings = {
        # Unjudged formulas do not count, so they need no score.
        topic: ranked({n: scorer(topic, n) for n in candidates[topic] if n in judged})
        for topic, judged in judgments.items()
    }
    row(name, *(mean(measure, rankings, judgments) for measure in PRIME_MEASURES))


def rank_latex(folder: Path) -> None:
    trees: dict[str, tuple[Tree, Tree]] = {}
    with gzip.open(needed(folder / "formulas.jsonl.gz"), "rt", encoding="utf-8") as lines:
        for line in lines:
            formula = json.loads(line)
            parsed = parse_latex(formula["latex"])
            trees[formula["visual_id"]] = parsed.slt, parsed.opt
    index = Index({name: Counter(features(*both)) for name, both in trees.items()})
    for year in (2020, 2021):
        topics = read_topics(folder / f"topics-task2-{year}.xml")
        judgments = {
            topic: judged
            for topic, judged in read_judgments(folder / f"qrels-task2-{year}.present.txt").items()
            if max(judged.values()) >= RELEVANT
        }
        runs: dict[str, dict[str, list[str]]] = defaultdict(dict)
        seconds = 0.0
        for topic in judgments:
            parsed = parse_latex(topics[topic])
            terms = Counter(query_features(parsed.slt, parsed.opt))
            for name, letters in FEATURE_SETS.items():
                runs[name][topic] = ranked(index.overlaps(terms, letters))
            overlaps = index.overlaps(terms, FEATURE_SETS["all features"])
            started = time.process_time()
            order = runs["all features"][topic]
            prepared = PreparedFormula(parsed.opt)
            found = {n: match(prepared, trees[n][1]) for n in order[:RERANKED]}
            joined = {n: similarity(overlaps[n], how) for n, how in found.items()}
            seconds += time.process_time() - started
            scores = {n: how.score for n, how in found.items()}
            runs["structural match"][topic] = ranked(scores) + order[RERANKED:]
            runs["all features and match"][topic] = ranked(joined) + order[RERANKED:]
        print(
            f"\n{year}: {len(judgments)} topics over {len(trees)} formulas; "
            f"matching {RERANKED} candidates takes {1000 * seconds / len(judgments):.0f} ms\n\n"
            "|  | nDCG@10 | MAP | P@10 | nDCG' | MAP' | P'@10 |\n|---|---|---|---|---|---|---|"
        )
        for name, run in runs.items():
            primes = {topic: prime(run[topic], judged) for topic, judged in judgments.items()}
            row(
                name,
                mean("nDCG@10", run, judgments),
                mean("MAP", run, judgments),
                mean("P@10", run, judgments),
                *(mean(measure, primes, judgments) for measure in PRIME_MEASURES),
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, default=DATA, metavar="DIR")
    parser.add_argument("--part", choices=["pool", "latex"], help="one part only")
    arguments = parser.parse_args()
    if arguments.part != "latex":
        rank_pool(needed(arguments.data / "arqmath" / "formula-pool-2020"))
    if arguments.part != "pool":
        rank_latex(arguments.data / "arqmath")


if __name__ == "__main__":
    main()
