"""Texts as token ids in two flat arrays, from which batches are cut on the accelerator."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Texts per call of the tokenizer.
_CHUNK = 20_000
# Smaller token ids are stored in two bytes.
_SHORT = 1 << 16


@dataclass(frozen=True)
class Pack:
    """Token ids of texts; text ``i`` is ``tokens[ends[i]:ends[i + 1]]``.

    >>> pack = Pack.of([[5, 6], [7]])
    >>> len(pack), pack.lengths().tolist()
    (2, [2, 1])
    """

    tokens: NDArray[np.uint16 | np.uint32]
    ends: NDArray[np.int64]

    @classmethod
    def of(cls, rows: Iterable[Sequence[int]]) -> Pack:
        """Make a pack of rows of token ids."""
        arrays = [np.asarray(row, dtype=np.uint32) for row in rows]
        ends = np.cumsum([0, *map(len, arrays)], dtype=np.int64)
        tokens = np.concatenate([np.empty(0, np.uint32), *arrays])
        is_short = tokens.max(initial=0) < _SHORT
        return cls(tokens.astype(np.uint16) if is_short else tokens, ends)

    @classmethod
    def encode(cls, texts: Iterable[str], tokenizer: Any, limit: int) -> Pack:
        """Tokenise texts, each truncated to ``limit`` tokens."""
        return cls.of(
            encoding.ids[:limit]
            for chunk in _chunks(texts)
            for encoding in tokenizer.encode_batch_fast(chunk, add_special_tokens=False)
        )

    @classmethod
    def join(cls, packs: Iterable[Pack]) -> Pack:
        """Concatenate the texts of several packs.

        >>> Pack.join([Pack.of([[5, 6]]), Pack.of([[7]])]).ends.tolist()
        [0, 2, 3]
        """
        packs = list(packs)
        lengths = np.concatenate([pack.lengths() for pack in packs])
        tokens = np.concatenate([pack.tokens for pack in packs])
        return cls(tokens, np.concatenate([[0], np.cumsum(lengths)]))

    @classmethod
    def load(cls, path: Path) -> Pack:
        """Read a pack that `save` wrote."""
        with np.load(path, allow_pickle=False) as arrays:
            return cls(arrays["tokens"], arrays["ends"])

    def save(self, path: Path) -> None:
        """Write the two arrays into one file."""
        np.savez(path, tokens=self.tokens, ends=self.ends)

    def __len__(self) -> int:
        return len(self.ends) - 1

    def take(self, numbers: NDArray[np.int64]) -> Pack:
        """Return a pack of the texts with these numbers, in their order."""
        starts, lengths = self.ends[numbers], self.lengths()[numbers]
        ends = np.concatenate([[0], np.cumsum(lengths)])
        # The index of each kept token: its place in its own text plus the start of that text.
        places = np.arange(ends[-1]) + np.repeat(starts - ends[:-1], lengths)
        return Pack(self.tokens[places], ends)

    def lengths(self) -> NDArray[np.int64]:
        """Return the number of tokens of each text."""
        return np.diff(self.ends)


def _chunks(texts: Iterable[str]) -> Iterator[list[str]]:
    source = iter(texts)
    while chunk := list(islice(source, _CHUNK)):
        yield chunk
