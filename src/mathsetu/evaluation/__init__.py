"""Evaluation: measures, significance, and tables and plots for a paper.

>>> from mathsetu.records import Hit, Judgment, Run
>>> judgments = Judgments.of([Judgment("A.1", "7", 3), Judgment("A.1", "9", 0)])
>>> run = Run("bm25", {"A.1": (Hit("8", 3.0), Hit("7", 2.0), Hit("9", 1.0))})
>>> measures = parse_measures(["P'@1", "MRR"])
>>> results = evaluate(run, judgments, measures)
>>> [(str(measure), results.mean(measure)) for measure in measures]
[("P'@1", 1.0), ('MRR', 0.5), ('Judged@1', 0.0)]
"""

from mathsetu.evaluation.comparison import Comparison, Difference, compare
from mathsetu.evaluation.judgments import Judgments
from mathsetu.evaluation.measures import Measure, parse_measures
from mathsetu.evaluation.results import Results, evaluate, grouped

__all__ = [
    "Comparison",
    "Difference",
    "Judgments",
    "Measure",
    "Results",
    "compare",
    "evaluate",
    "grouped",
    "parse_measures",
]
