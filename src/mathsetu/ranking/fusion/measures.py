"""The measures that learning maximises, fast enough to be asked thousands of times.

They follow the conventions of ARQMath: grades 2 and 3 are relevant to MAP, nDCG takes the grade
as its gain, and a prime says that hits which nobody judged are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mathsetu.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

#: What learning can maximise.
MEASURES = ("nDCG'", "nDCG'@10", "nDCG", "nDCG@10", "MAP'", "MAP")
# The grade from which on a post is relevant to measures that know only yes and no.
_RELEVANT = 2


@dataclass(frozen=True, slots=True)
class Measure:
    """How good a ranking is, by the name of a measure.

    >>> measure = Measure("MAP'")
    >>> round(measure.value(np.array([3.0, np.nan, 0.0, 2.0]), np.array([3.0, 2.0, 0.0])), 3)
    0.833
    """

    name: str = "nDCG'"

    def __post_init__(self) -> None:
        if self.name not in MEASURES:
            raise InputError(f"unknown measure {self.name!r} (known: {', '.join(MEASURES)})")

    def value(self, ranking: Numbers, grades: Numbers) -> float:
        """The value for one topic.

        Args:
            ranking: The grades of the hits, best hit first; nan where nobody judged.
            grades: All grades of the topic, highest first, found or not.
        """
        if "'" in self.name:
            ranking = ranking[~np.isnan(ranking)]
        found = np.nan_to_num(ranking)
        if self.name.startswith("MAP"):
            return _average_precision(found >= _RELEVANT, int((grades >= _RELEVANT).sum()))
        depth = 10 if self.name.endswith("@10") else None
        ideal = _discounted(grades[:depth])
        return _discounted(found[:depth]) / ideal if ideal else float(0)


def _average_precision(relevant: NDArray[np.bool_], total: int) -> float:
    places = np.flatnonzero(relevant) + 1
    return float((np.arange(1, len(places) + 1) / places).sum() / max(total, 1))


def _discounted(gains: Numbers) -> float:
    return float((np.maximum(gains, 0) / np.log2(np.arange(2, len(gains) + 2))).sum())
