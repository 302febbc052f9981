"""Fusion: several runs to one.

Every method is a frozen dataclass with one function, ``rate``; `fuse` does the rest. A new
method is one new file and one line in `METHODS`.

>>> from mathsetu.records import Hit, Run
>>> words = Run("words", {"A.1": (Hit("7", 2.0), Hit("8", 1.0))})
>>> formulas = Run("formulas", {"A.1": (Hit("8", 0.5),)})
>>> [hit.id for hit in fuse([words, formulas], make_fusion("rrf", k=10)).rankings["A.1"]]
['8', '7']
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields
from typing import Any

from mathsetu.errors import InputError
from mathsetu.evaluation import Measure
from mathsetu.ranking.fusion.combmnz import CombMNZ
from mathsetu.ranking.fusion.combsum import CombSUM
from mathsetu.ranking.fusion.ibc import IBC
from mathsetu.ranking.fusion.learning import GOAL, Learned, Learner, fuse_learned
from mathsetu.ranking.fusion.linear import Linear
from mathsetu.ranking.fusion.method import DEPTH, Fusion, fuse
from mathsetu.ranking.fusion.rbc import RBC, fit_rbc
from mathsetu.ranking.fusion.rrf import RRF
from mathsetu.ranking.fusion.scaling import SCALINGS
from mathsetu.ranking.fusion.visual_ids import VisualRuns
from mathsetu.ranking.fusion.weight_search import WeightSearch
from mathsetu.ranking.fusion.wibc import WIBC

__all__ = [
    "DEPTH",
    "GOAL",
    "IBC",
    "METHODS",
    "RBC",
    "RRF",
    "SCALINGS",
    "WIBC",
    "CombMNZ",
    "CombSUM",
    "Fusion",
    "Learned",
    "Learner",
    "Linear",
    "Method",
    "VisualRuns",
    "WeightSearch",
    "fit_rbc",
    "fuse",
    "fuse_learned",
    "make_fusion",
    "make_learner",
    "settings_of",
]


@dataclass(frozen=True, slots=True)
class Method:
    """An entry of `METHODS`: the class of a method, its description, and its learner, if any."""

    kind: type
    description: str
    learner: Callable[[Any, Measure], Learner] | None = None


def _search(start: Linear | WIBC, measure: Measure) -> Learner:
    return WeightSearch(start, measure)


def _regression(start: RBC, measure: Measure) -> Learner:
    # The regression fits gains; the measure only evaluates the result.
    return lambda judged: fit_rbc(judged, start.depth)


#: Name to method.
METHODS: dict[str, Method] = {
    "rrf": Method(RRF, "sum of 1 / (k + rank)"),
    "ibc": Method(IBC, "median inverse rank"),
    "wibc": Method(WIBC, "weighted median inverse rank", _search),
    "rbc": Method(RBC, "gain predicted from ranks by regression", _regression),
    "combsum": Method(CombSUM, "sum of normalised scores"),
    "combmnz": Method(CombMNZ, "sum of normalised scores, times the runs that agree"),
    "linear": Method(Linear, "weighted sum of normalised scores", _search),
}


def make_fusion(name: str, **settings: Any) -> Fusion:
    """Make a method from its name and settings.

    >>> make_fusion("linear", weights=(0.7, 0.3))
    Linear(weights=(0.7, 0.3), normalisation='spread')
    """
    method = _method(name, settings)
    for setting in fields(method.kind):
        if setting.default is MISSING and setting.name not in settings:
            problem = f"{name} needs {setting.name}, or judgments to learn them from"
            raise InputError(f"{problem} (on the command line: --qrels FILE)")
    made: Fusion = method.kind(**settings)
    return made


def make_learner(name: str, measure: Measure, **settings: Any) -> Learner:
    """Make the learner of a method, given the settings that are not learned from judgments.

    >>> make_learner("linear", Measure("MAP"), normalisation="rank").method.normalisation
    'rank'
    """
    method = _method(name, settings)
    if method.learner is None:
        can = ", ".join(name for name, method in METHODS.items() if method.learner)
        raise InputError(f"{name} learns nothing from judgments (methods that do: {can})")
    learned = {field.name: () for field in fields(method.kind) if field.default is MISSING}
    if given := [name for name in learned if name in settings]:
        raise InputError(f"{name}: {given[0]} are either given or learned from judgments")
    return method.learner(method.kind(**learned, **settings), measure)


def settings_of(name: str) -> list[str]:
    """The names of a method's settings.

    >>> settings_of("rrf")
    ['k']
    """
    if name not in METHODS:
        raise InputError(f"unknown fusion {name!r} (known: {', '.join(METHODS)})")
    return [field.name for field in fields(METHODS[name].kind)]


def _method(name: str, settings: dict[str, Any]) -> Method:
    known = settings_of(name)
    for setting in settings:
        if setting not in known:
            raise InputError(f"{name} has no setting {setting!r} (it has: {', '.join(known)})")
    return METHODS[name]
