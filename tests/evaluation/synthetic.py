"""Fifty synthetic runs, and their values from ir-measures (trec_eval).

``python tests/evaluation/synthetic.py`` writes `trec_eval_values.json` anew; it needs ir-measures
and nothing of MathSetu. The values are kept because trec_eval has no build for some machines.
"""

import json
import random
from pathlib import Path

VALUES = Path(__file__).with_name("trec_eval_values.json")

# Our name to that of ir-measures.
MEASURES = {
    "P@1": "P(rel=1)@1",
    "P@10": "P(rel=1)@10",
    "P(rel=2)@5": "P(rel=2)@5",
    "P'@5": "P(judged_only=True,rel=1)@5",
    "P'(rel=2)@10": "P(judged_only=True,rel=2)@10",
    "MAP": "AP(rel=1)",
    "MAP@5": "AP(rel=1)@5",
    "MAP(rel=2)": "AP(rel=2)",
    "MAP'": "AP(judged_only=True,rel=1)",
    "MAP'(rel=2)": "AP(judged_only=True,rel=2)",
    "nDCG": "nDCG",
    "nDCG@5": "nDCG@5",
    "nDCG@10": "nDCG@10",
    "nDCG'": "nDCG(judged_only=True)",
    "nDCG'@10": "nDCG(judged_only=True)@10",
    "MRR": "RR(rel=1)",
    "MRR'(rel=2)": "RR(judged_only=True,rel=2)",
    "R": "SetR(rel=1)",
    "R@5": "R(rel=1)@5",
    "R(rel=2)@10": "R(rel=2)@10",
    "R'@5": "R(judged_only=True,rel=1)@5",
    "bpref": "Bpref(rel=1)",
    "bpref(rel=2)": "Bpref(rel=2)",
    "Judged@5": "Judged@5",
    "Judged@10": "Judged@10",
}

Topics = dict[str, dict[str, int]]
Rankings = dict[str, dict[str, float]]


def case(seed: int) -> tuple[Topics, Rankings]:
    """Judgments and a run, with unjudged hits, empty topics, and in some cases equal scores.

    Only ``random()`` is used, since it gives the same numbers in every version of Python.
    """
    chance = random.Random(seed).random
    pool = [f"d{number}" for number in range(30)]
    judgments: Topics = {}
    rankings: Rankings = {}
    for number in range(4):
        topic = f"T.{number}"
        share, best = chance(), int(chance() * 4)
        judgments[topic] = {"d0": int(chance() * 4)} | {
            name: int(chance() * (best + 1)) for name in pool if chance() < share
        }
        size = chance()
        scores = {name: _score(chance(), seed) for name in pool if chance() < size}
        if scores and chance() < 0.95:
            rankings[topic] = scores
    return judgments, rankings


def ties(seed: int) -> bool:
    """Whether a case has scores that are equal, or that trec_eval cannot tell apart."""
    return seed % 3 != 2


def _score(number: float, seed: int) -> float:
    if seed % 3 == 0:
        return float(int(number * 8) - 4)
    # trec_eval reads scores into 32 bits, which lose such small differences.
    return 1 + number * 1e-6 if seed % 3 == 1 else number


def by_ir_measures(seed: int) -> dict[str, list[float]]:
    """What ir-measures gives for a case: for each measure the value of each topic, and the mean."""
    import ir_measures

    judgments, rankings = case(seed)
    theirs = {ir_measures.parse_measure(text): ours for ours, text in MEASURES.items()}
    found = {
        (theirs[metric.measure], metric.query_id): metric.value
        for metric in ir_measures.iter_calc(list(theirs), judgments, rankings)
    }
    means = ir_measures.calc_aggregate(list(theirs), judgments, rankings)
    return {
        ours: [round(value, 7) for value in (*(found[ours, t] for t in judgments), means[measure])]
        for measure, ours in theirs.items()
    }


if __name__ == "__main__":
    lines = (json.dumps(by_ir_measures(seed), separators=(",", ":")) for seed in range(50))
    VALUES.write_text("[" + ",\n".join(lines) + "]\n")
