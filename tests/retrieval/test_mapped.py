"""Ends of ranges that strangers wrote are refused before anything is divided by them."""

from pathlib import Path

import numpy as np
import pytest

from mathsetu.errors import DamagedLibrary
from mathsetu.retrieval.mapped import Mapped, check_rising, seal


@pytest.mark.parametrize(
    "ends",
    [
        [],
        [1, 5],
        [0, 4],
        [0, 3, 2, 5],
        # Each difference of these comes out positive, because it does not fit into 64 bits.
        [0, 5 * 10**18, -8 * 10**18, 5],
    ],
)
def test_ends_that_do_not_rise_are_refused(ends: list[int]) -> None:
    with pytest.raises(DamagedLibrary, match="does not match"):
        check_rising(Path("ends.npy"), np.array(ends, dtype=np.int64), 5)


def test_ends_that_rise_pass() -> None:
    check_rising(Path("ends.npy"), np.array([0, 2, 2, 5]), 5)


def test_values_of_every_block_are_held_against_their_limit(tmp_path: Path) -> None:
    """A file of several blocks: a value beyond the limit is found in whichever block it is."""
    for place in (0, 20_000, 99_999):
        folder = tmp_path / str(place)
        folder.mkdir()
        values = np.zeros(100_000, dtype=np.int32)
        values[place] = 8
        np.save(folder / "values.npy", values)
        seal(folder)
        assert Mapped(folder / "values.npy", "int32", below=9).whole[place] == 8
        with pytest.raises(DamagedLibrary):
            Mapped(folder / "values.npy", "int32", below=8).whole  # noqa: B018
