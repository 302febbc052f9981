"""Many short texts by number, mapped into memory instead of loaded."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

import numpy as np

from mathsetu.errors import DamagedLibrary
from mathsetu.retrieval.mapped import Mapped, MappedBytes


def write_texts(path: Path, texts: Iterable[str]) -> None:
    """Write texts as two files, ``PATH.txt`` with all of them and ``PATH.npy`` with their ends."""
    ends = [0]
    with path.with_suffix(".txt").open("wb") as file:
        for text in texts:
            ends.append(ends[-1] + file.write(text.encode()))
    np.save(path.with_suffix(".npy"), np.array(ends, dtype=np.int64), allow_pickle=False)


class Texts(Protocol):
    """Texts by number, from any source."""

    def __len__(self) -> int: ...

    def __getitem__(self, number: int) -> str: ...


class TextTable:
    """Texts that were written with `write_texts`.

    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "latex"
    >>> write_texts(path, ["x^2", "2x"])
    >>> TextTable(path)[1]
    '2x'
    """

    def __init__(self, path: Path) -> None:
        self._path = path.with_suffix(".txt")
        self._bytes = MappedBytes(self._path)
        ends = path.with_suffix(".npy")
        self._ends = Mapped(ends, "int64", below=len(self._bytes) + 1)
        if not len(self._ends):
            raise DamagedLibrary(ends, "is empty")

    def __len__(self) -> int:
        return len(self._ends) - 1

    def __getitem__(self, number: int) -> str:
        start, end = self._ends[number : number + 2].tolist()
        try:
            return self._bytes[start:end].decode()
        except UnicodeDecodeError:
            raise DamagedLibrary(self._path, "holds bytes that are not text") from None
