"""Validation of the weights of runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mathsetu.errors import InputError
from mathsetu.printable import counted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]


def checked(weights: tuple[float, ...], runs: int) -> Numbers:
    """Return weights as an array; refuse them unless there is a valid one for each run.

    >>> checked((2.0, 1.0), 2).tolist()
    [2.0, 1.0]
    """
    numbers = np.array(weights, dtype=np.float64)
    if len(numbers) != runs:
        raise InputError(
            f"{counted(len(numbers), 'weight')} for {counted(runs, 'run')}: "
            "give one weight for each run"
        )
    if not np.all(np.isfinite(numbers)) or numbers.min() < 0 or not numbers.sum():
        shown = ",".join(f"{weight:g}" for weight in weights)
        raise InputError(f"weights {shown}: none may be negative, and at least one must be above 0")
    return numbers
