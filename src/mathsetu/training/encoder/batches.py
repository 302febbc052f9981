"""Forms batches of texts of similar length from a pack on the accelerator."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mathsetu.errors import InputError
from mathsetu.training.encoder.packs import Pack


class GpuPack:
    """A pack on the device of the model, where its rows are cut and padded."""

    def __init__(self, pack: Pack, device: str, padding: int = 0) -> None:
        self.tokens = torch.from_numpy(pack.tokens.astype(np.int32)).to(device)
        self.ends = torch.from_numpy(pack.ends).to(device)
        self.padding = padding

    def rows(
        self, numbers: Tensor, multiple: int, begin: int | None = None, end: int | None = None
    ) -> Tensor:
        """Return the texts of these numbers as one padded matrix.

        Args:
            numbers: Which texts.
            multiple: What the width must be divisible by.
            begin: A token to put before every text.
            end: A token to put after every text.
        """
        starts = self.ends[numbers]
        lengths = self.ends[numbers + 1] - starts
        framed = begin is not None
        width = int(lengths.max()) + 2 * framed
        width = max(multiple, -(-width // multiple) * multiple)
        places = torch.arange(width, device=numbers.device)[None, :] - int(framed)
        inside = (places >= 0) & (places < lengths[:, None])
        found = (starts[:, None] + places).clamp(0, len(self.tokens) - 1)
        rows = torch.where(inside, self.tokens[found], self.padding)
        if begin is not None and end is not None:
            rows[:, 0] = begin
            rows.scatter_(1, lengths[:, None] + 1, end)
        return rows


def by_length(lengths: NDArray[np.int64], tokens: int) -> Iterator[NDArray[np.int64]]:
    """Yield text numbers in batches of similar length, at most ``tokens`` with padding.

    A longer text is a batch of its own.

    >>> [batch.tolist() for batch in by_length(np.array([3, 1, 2, 9]), 6)]
    [[1, 2], [0], [3]]
    """
    order = np.argsort(lengths, kind="stable")
    start = 0
    while start < len(order):
        stop = start + 1
        while stop < len(order) and lengths[order[stop]] * (stop + 1 - start) <= tokens:
            stop += 1
        yield order[start:stop]
        start = stop


def sampled(
    lengths: NDArray[np.int64], chance: np.random.Generator, batch: int, pool: int = 32
) -> Iterator[NDArray[np.int64]]:
    """Yield batches of texts of similar length endlessly, without repetition in an epoch.

    Args:
        lengths: The lengths of the texts.
        chance: The random generator.
        batch: Texts per batch; all of them if there are fewer.
        pool: Batches that are sorted by length together and then shuffled.
    """
    if not len(lengths):
        raise InputError("there are no examples to learn from")
    batch = min(batch, len(lengths))
    while True:
        order = chance.permutation(len(lengths))
        for start in range(0, len(order) - batch + 1, batch * pool):
            part = order[start : start + batch * pool]
            part = part[np.argsort(lengths[part], kind="stable")]
            batches = [part[i : i + batch] for i in range(0, len(part) - batch + 1, batch)]
            for place in chance.permutation(len(batches)):
                yield batches[place]
