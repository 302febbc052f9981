"""Mapped arrays: damaged and forged files are refused before their values are used."""

import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mathsetu.errors import DamagedLibrary
from mathsetu.retrieval import mapped
from mathsetu.retrieval.mapped import InMemory, Mapped, MappedBytes, check_rising, seal, unseal

#: The ways to read one row, or none.
WAYS: dict[str, Callable[[Mapped, int, int], Any]] = {
    "a slice": lambda values, first, last: values[first:last],
    "ranges": lambda values, first, last: values.with_rows(np.array([[first, last]])),
    "rows": lambda values, first, last: values.at(np.arange(first, last)),
}
# Values of 8 bytes after a header of 128: these are the first and the last of the second 64 KiB.
FIRST, LAST = 8_176, 16_367


def change(path: Path, row: int, size: int = 8) -> None:
    """Change a byte of a row of a file."""
    content = bytearray(path.read_bytes())
    content[128 + row * size] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize(
    "ends",
    [
        [],
        [1, 5],
        [0, 4],
        [0, 3, 2, 5],
        # All differences become positive, because they overflow 64 bits.
        [0, 5 * 10**18, -8 * 10**18, 5],
    ],
)
def test_ends_that_do_not_rise_are_refused(ends: list[int]) -> None:
    with pytest.raises(DamagedLibrary, match="does not match"):
        check_rising(Path("ends.npy"), np.array(ends, dtype=np.int64), 5)


def test_ends_that_rise_are_accepted() -> None:
    check_rising(Path("ends.npy"), np.array([0, 2, 2, 5]), 5)


def test_values_of_every_block_are_checked_against_their_limit(tmp_path: Path) -> None:
    """The file has several blocks; a value beyond the limit is found in any of them."""
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
def test_a_change_in_any_file_is_found(tmp_path: Path, name: str) -> None:
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


def test_blocks_that_were_read_are_not_checked_again(
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


def test_every_64_kib_of_a_file_has_a_checksum(tmp_path: Path) -> None:
    """Existing libraries have these checksums, so they must not change."""
    first, second = bytes(range(256)) * 257, b"abc"
    (tmp_path / "a.bin").write_bytes(first)
    (tmp_path / "b.bin").write_bytes(second)
    seal(tmp_path)
    expected = [zlib.crc32(part) for part in (first[:65_536], first[65_536:], second)]
    assert np.load(tmp_path / "checksums.npy").tolist() == expected


def test_unsealing_removes_only_the_checksums(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    for place in (tmp_path, tmp_path / "inner"):
        np.save(place / "values.npy", np.arange(3))
    seal(tmp_path)
    unseal(tmp_path)
    assert {file.name for file in tmp_path.rglob("*.*")} == {"values.npy"}


@pytest.mark.parametrize("read", WAYS.values(), ids=WAYS)
def test_a_block_is_checked_when_a_row_in_it_is_read(
    tmp_path: Path, read: Callable[[Mapped, int, int], Any]
) -> None:
    file = tmp_path / "values.npy"
    np.save(file, np.arange(30_000))
    seal(tmp_path)
    change(file, FIRST + 100)
    for row in (FIRST, LAST):
        values = Mapped(file, "int64")
        for other in (0, FIRST - 1, LAST + 1, 29_999):
            read(values, other, other + 1)
        read(values, row, row)
        with pytest.raises(DamagedLibrary, match="has changed"):
            read(values, row, row + 1)


@pytest.mark.parametrize("read", WAYS.values(), ids=WAYS)
def test_a_change_in_the_last_row_of_a_table_is_found(
    tmp_path: Path, read: Callable[[Mapped, int, int], Any]
) -> None:
    file = tmp_path / "values.npy"
    np.save(file, np.arange(30_000).reshape(10_000, 3))
    seal(tmp_path)
    change(file, 9_999, 3 * 8)
    values = Mapped(file, "int64", dimensions=2)
    read(values, 0, 5_000)
    with pytest.raises(DamagedLibrary, match="has changed"):
        read(values, 9_999, 10_000)


def test_the_block_whose_first_byte_ends_a_range_is_checked(tmp_path: Path) -> None:
    file = tmp_path / "values.npy"
    np.save(file, np.zeros(100_000, dtype=np.uint8))
    seal(tmp_path)
    change(file, 65_408, 1)
    values = Mapped(file, "uint8")
    values.with_rows(np.array([[0, 65_408]]))
    with pytest.raises(DamagedLibrary, match="has changed"):
        values.with_rows(np.array([[0, 65_409]]))


@pytest.mark.parametrize("place", [FIRST, LAST])
def test_limits_are_checked_only_in_the_blocks_that_are_read(tmp_path: Path, place: int) -> None:
    numbers = np.zeros(30_000, dtype=np.int64)
    numbers[place] = 8
    np.save(tmp_path / "values.npy", numbers)
    values = Mapped(tmp_path / "values.npy", "int64", below=8)
    assert values[:FIRST].tolist() == [0] * FIRST
    assert not values[LAST + 1 :].any()
    with pytest.raises(DamagedLibrary, match="out of range"):
        values[FIRST + 100 : FIRST + 101]


@pytest.mark.parametrize("kind", ["uint8", "int32"])
@pytest.mark.parametrize("place", [0, 99])
def test_limits_hold_from_the_first_value_to_the_last(
    tmp_path: Path, kind: str, place: int
) -> None:
    numbers = np.zeros(100, dtype=kind)
    numbers[place] = 8
    np.save(tmp_path / "values.npy", numbers)
    with pytest.raises(DamagedLibrary, match="out of range"):
        Mapped(tmp_path / "values.npy", kind, below=8).whole  # noqa: B018


def test_a_changed_header_is_found_when_a_file_is_opened(tmp_path: Path) -> None:
    """Here the byte order in the header is changed."""
    file = tmp_path / "values.npy"
    np.save(file, np.arange(3, dtype="<i8"))
    seal(tmp_path)
    file.write_bytes(file.read_bytes().replace(b"<i8", b">i8"))
    with pytest.raises(DamagedLibrary, match="has changed"):
        Mapped(file, "int64")


@pytest.mark.parametrize(("kind", "dimensions"), [("int32", 1), ("int64", 2)])
def test_values_of_another_type_or_shape_are_refused(
    tmp_path: Path, kind: str, dimensions: int
) -> None:
    np.save(tmp_path / "values.npy", np.arange(3, dtype=np.int64))
    with pytest.raises(DamagedLibrary, match="expected type"):
        Mapped(tmp_path / "values.npy", kind, dimensions=dimensions)


def test_a_table_in_the_order_of_columns_is_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "values.npy", np.asfortranarray(np.arange(6).reshape(2, 3)))
    with pytest.raises(DamagedLibrary, match="not a plain array"):
        Mapped(tmp_path / "values.npy", "int64", dimensions=2)


def test_an_empty_file_holds_no_array_and_no_bytes(tmp_path: Path) -> None:
    (tmp_path / "values.npy").write_bytes(b"")
    seal(tmp_path)
    with pytest.raises(DamagedLibrary, match="is damaged"):
        Mapped(tmp_path / "values.npy", "int64")
    content = MappedBytes(tmp_path / "values.npy")
    assert len(content) == 0
    assert content[:] == b""


def test_bytes_are_checked_when_they_are_read(tmp_path: Path) -> None:
    file = tmp_path / "texts.txt"
    file.write_bytes(b"a" * 200_000)
    seal(tmp_path)
    MappedBytes(file).check()
    file.write_bytes(b"a" * 70_000 + b"b" + b"a" * 129_999)
    content = MappedBytes(file)
    assert content[65_530:65_536] == content[131_072:131_078] == b"a" * 6
    assert content[70_000:70_000] == b""
    for first in (65_536, 131_071):
        with pytest.raises(DamagedLibrary, match="has changed"):
            content[first : first + 1]
    with pytest.raises(DamagedLibrary, match="has changed"):
        content.check()


def test_too_few_checksums_are_refused(tmp_path: Path) -> None:
    for name in ("a.bin", "b.bin"):
        (tmp_path / name).write_bytes(bytes(70_000))
    seal(tmp_path)
    sums = np.load(tmp_path / "checksums.npy")
    np.save(tmp_path / "checksums.npy", sums[:-1])
    with pytest.raises(DamagedLibrary, match="does not match the files next to it"):
        MappedBytes(tmp_path / "b.bin")


def test_a_link_next_to_the_files_has_no_checksum(tmp_path: Path) -> None:
    np.save(tmp_path / "values.npy", np.arange(3))
    seal(tmp_path)
    (tmp_path / "link").symlink_to(tmp_path / "values.npy")
    assert Mapped(tmp_path / "values.npy", "int64").whole.tolist() == [0, 1, 2]


@pytest.mark.parametrize("read", WAYS.values(), ids=WAYS)
def test_an_array_in_memory_is_read_like_one_on_disk(
    tmp_path: Path, read: Callable[[Mapped, int, int], Any]
) -> None:
    numbers = np.arange(5)
    np.save(tmp_path / "values.npy", numbers)
    held, mapped = InMemory(numbers), Mapped(tmp_path / "values.npy", "int64")
    assert read(held, 1, 3).tolist() == read(mapped, 1, 3).tolist()
    assert (len(held), held.shape, held.whole.tolist()) == (5, (5,), [0, 1, 2, 3, 4])
