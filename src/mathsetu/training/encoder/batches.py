"""Cuts batches of like length out of a pack that lies on the accelerator."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mathsetu.errors import InputError
from mathsetu.training.encoder.packs import Pack


class GpuPack:
    """A pack whose rows are cut and filled up where the model runs."""

    def __init__(self, pack: Pack, device: str, padding: int = 0) -> None:
        self.tokens = torch.from_numpy(pack.tokens.astype(np.int32)).to(device)
        self.ends = torch.from_numpy(pack.ends).to(device)
        self.padding = padding

    def rows(
        self, numbers: Tensor, multiple: int, begin: int | None = None, end: int | None = None
    ) -> Tensor:
        """The texts of these numbers as one matrix, as wide as a multiple.

        Args:
            numbers: Which texts.
            multiple: What the width must be divisible by.
            begin: A token before every text.
            end: A token after every text.
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
    """All numbers in batches of like length with about so many tokens each.

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
    """Endless batches without repetition in an epoch; texts of like length come together.

    Args:
        lengths: How long the texts are.
        chance: Where randomness comes from.
        batch: How many texts a batch has; all of them where there are fewer.
        pool: So many batches are sorted by length together and then shuffled.
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
