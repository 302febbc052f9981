"""Many short texts by number, mapped into memory instead of loaded."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from mathsetu.errors import InputError
from mathsetu.retrieval.postings import open_array


def write_texts(path: Path, texts: Iterable[str]) -> None:
    """Write texts as two files, ``PATH.txt`` with all of them and ``PATH.npy`` with their ends."""
    ends = [0]
    with path.with_suffix(".txt").open("wb") as file:
        for text in texts:
            ends.append(ends[-1] + file.write(text.encode()))
    np.save(path.with_suffix(".npy"), np.array(ends, dtype=np.int64), allow_pickle=False)


class TextTable:
    """Texts that were written with `write_texts`.

    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "latex"
    >>> write_texts(path, ["x^2", "2x"])
    >>> TextTable(path)[1]
    '2x'
    """

    def __init__(self, path: Path) -> None:
        self._ends = open_array(path.with_suffix(".npy"))
        file = path.with_suffix(".txt")
        try:
            size = file.stat().st_size
            self._bytes = np.memmap(file, np.uint8, "r") if size else np.empty(0, np.uint8)
        except (OSError, ValueError) as error:
            raise InputError(f"{file}: is damaged ({error}); build the library again") from error

    def __len__(self) -> int:
        return len(self._ends) - 1

    def __getitem__(self, number: int) -> str:
        return bytes(self._bytes[self._ends[number] : self._ends[number + 1]]).decode()
