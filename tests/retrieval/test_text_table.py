"""Texts by number: they are read back unchanged, and invalid files are refused."""

from pathlib import Path

import numpy as np
import pytest

from mathsetu.errors import DamagedLibrary
from mathsetu.retrieval.text_table import TextTable, write_texts


def test_texts_are_read_back_unchanged(tmp_path: Path) -> None:
    texts = ["x^2", "", "√2 ∈ ℝ", "2x"]
    write_texts(tmp_path / "latex", texts)
    table = TextTable(tmp_path / "latex")
    assert [table[number] for number in range(len(table))] == texts


@pytest.mark.parametrize(
    ("ends", "message"),
    [
        ([0, 8], "out of range"),
        ([-1, 6], "out of range"),
        ([], "is empty"),
        # This end divides a character.
        ([0, 1], "not text"),
    ],
)
def test_invalid_ends_are_refused(tmp_path: Path, ends: list[int], message: str) -> None:
    write_texts(tmp_path / "latex", ["√ ∈"])
    np.save(tmp_path / "latex.npy", np.array(ends, dtype=np.int64))
    with pytest.raises(DamagedLibrary, match=message):
        TextTable(tmp_path / "latex")[0]
