"""Arrays that strangers wrote are refused before anything is read from them."""

import zlib
from pathlib import Path

import numpy as np
import pytest

from mathsetu.errors import DamagedLibrary
from mathsetu.retrieval import mapped
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


@pytest.mark.parametrize("name", ["a.npy", "b.npy", "c.npy"])
def test_a_change_is_found_in_whichever_file_it_is(tmp_path: Path, name: str) -> None:
    for file in ("a.npy", "b.npy", "c.npy"):
        np.save(tmp_path / file, np.arange(30_000))
    seal(tmp_path)
    seal(tmp_path)  # a folder that is sealed again has new checksums
    assert Mapped(tmp_path / name, "int64").whole[-1] == 29_999
    changed = np.arange(30_000)
    changed[-1] = 7
    np.save(tmp_path / name, changed)
    with pytest.raises(DamagedLibrary, match="has changed"):
        Mapped(tmp_path / name, "int64").whole  # noqa: B018


def test_what_was_read_is_not_checked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    np.save(tmp_path / "values.npy", np.arange(100_000))
    seal(tmp_path)
    values = Mapped(tmp_path / "values.npy", "int64")
    assert values[50_000:50_010].tolist() == list(range(50_000, 50_010))

    def unwanted(data: bytes) -> int:
        raise AssertionError("was checked before")

    monkeypatch.setattr(mapped.zlib, "crc32", unwanted)
    assert values[50_000:50_010].tolist() == list(range(50_000, 50_010))
    monkeypatch.setattr(mapped.zlib, "crc32", zlib.crc32)
