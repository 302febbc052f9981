"""Matrix products that run only in the calling thread."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float32]

# Above this many multiplications, the linear algebra library splits a product over threads that
# wait for each other; on a busy machine that takes ten times the CPU time.
_LARGEST = 1 << 18


def product(rows: Numbers, matrix: Numbers) -> Numbers:
    """Return ``rows @ matrix``, computed in parts that are small enough for one thread.

    >>> rows, matrix = np.ones((20_000, 3), dtype=np.float32), np.eye(3, dtype=np.float32)
    >>> np.array_equal(product(rows, matrix), rows)
    True
    """
    count, inner = rows.shape
    outer = matrix.shape[1]
    size = max(1, _LARGEST // max(1, matrix.size))
    whole = count - count % size
    made = np.empty((count, outer), dtype=np.float32)
    np.matmul(
        rows[:whole].reshape(-1, size, inner), matrix, out=made[:whole].reshape(-1, size, outer)
    )
    np.matmul(rows[whole:], matrix, out=made[whole:])
    return made
