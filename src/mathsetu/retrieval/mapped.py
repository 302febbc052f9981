"""Memory-mapped arrays and bytes of an index, checked when they are first read.

Reading a whole library to open it would be slow, so opening compares only sizes. Each folder has a
file ``checksums.npy`` with the checksum of each block of its files. When a block is first read, its
checksum is compared and its values are checked against their limits. So a damaged or malicious file
causes one clear error, never a wrong answer.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mathsetu.errors import DamagedLibrary, InputError, reason
from mathsetu.npy import LONGEST_HEADER, check_size, read_header
from mathsetu.plain_files import create_plain, files_below, is_plain_file, open_plain

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: The file with the checksums of its folder.
CHECKSUMS = "checksums.npy"
_BLOCK = 1 << 16


def seal(folder: Path) -> None:
    """Write the checksums of all files below a folder, one file of checksums in each folder."""
    sums: dict[Path, list[NDArray[np.uint32]]] = {}
    for file in files_below(folder):
        if file.name != CHECKSUMS:
            sums.setdefault(file.parent, []).append(_sums_of(_mapped(file)))
    for place, found in sums.items():
        (place / CHECKSUMS).unlink(missing_ok=True)
        with create_plain(place / CHECKSUMS) as written:
            np.save(written, np.concatenate(found), allow_pickle=False)


def unseal(folder: Path) -> None:
    """Remove the checksums that `seal` wrote, from a folder whose files will change."""
    for file in files_below(folder):
        if file.name == CHECKSUMS:
            file.unlink()


class Mapped:
    """An array on disk that is checked as it is read.

    >>> from tempfile import mkdtemp
    >>> folder = Path(mkdtemp())
    >>> np.save(folder / "ends.npy", np.array([0, 3, 5]))
    >>> seal(folder)
    >>> Mapped(folder / "ends.npy", "int64")[1:].tolist()
    [3, 5]

    Args:
        path: The file.
        kinds: The types that its values may have, by name.
        dimensions: The number of dimensions that it must have.
        below: If given, integers must be at least 0 and below this.
    """

    def __init__(
        self, path: Path, *kinds: str, dimensions: int = 1, below: int | None = None
    ) -> None:
        raw = _mapped(path)
        self._path, self._below = path, below
        self._blocks = _Blocks(path, raw, self._check_values)
        self._blocks.compare(0)  # block 0 has the header
        self._array, self._offset = _as_array(path, raw)
        if self._array.dtype.name not in kinds or self._array.ndim != dimensions:
            raise DamagedLibrary(path, "does not have the expected type of values")
        self._row = self._array.itemsize * int(np.prod(self._array.shape[1:]))

    def __len__(self) -> int:
        return len(self._array)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array."""
        return self._array.shape

    @property
    def whole(self) -> NDArray[Any]:
        """The whole array."""
        return self[:]

    def __getitem__(self, rows: slice) -> NDArray[Any]:
        """Consecutive rows."""
        start, stop, _ = rows.indices(len(self))
        if start < stop:
            self._blocks.check(self._offset + start * self._row, self._offset + stop * self._row)
        return self._array[start:stop]

    def with_rows(self, ranges: NDArray[np.int64]) -> NDArray[Any]:
        """The whole array, of which only the rows in these ranges may be read."""
        self._blocks.check_ranges(self._offset + ranges * self._row)
        return self._array

    def at(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        """The whole array, of which only these rows may be read."""
        begins = self._offset + rows * self._row
        self._blocks.check_ranges(np.stack([begins, begins + self._row], axis=1))
        return self._array

    def _check_values(self, begin: int, end: int) -> None:
        """Check the values in some bytes of the file against their limits."""
        size = self._array.itemsize
        first, last = max(begin - self._offset, 0) // size, -(-(end - self._offset) // size)
        values = self._array.reshape(-1)[first : max(last, 0)]
        if values.dtype.kind == "f":
            if not np.isfinite(values).all():
                raise DamagedLibrary(self._path, "holds a value that is not a number")
        elif self._below is not None and ((values < 0) | (values >= self._below)).any():
            raise DamagedLibrary(self._path, "holds a number that is out of range")


class InMemory(Mapped):
    """An array in memory with the interface of `Mapped`, for data from other sources."""

    def __init__(self, array: NDArray[Any]) -> None:
        self._array = array

    def __getitem__(self, rows: slice) -> NDArray[Any]:
        return self._array[rows]

    def with_rows(self, ranges: NDArray[np.int64]) -> NDArray[Any]:
        """The whole array."""
        return self._array

    def at(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        """The whole array."""
        return self._array


class MappedBytes:
    """The bytes of a file."""

    def __init__(self, path: Path) -> None:
        self._raw = _mapped(path)
        self._blocks = _Blocks(path, self._raw)

    def __len__(self) -> int:
        return len(self._raw)

    def __getitem__(self, part: slice) -> bytes:
        start, stop, _ = part.indices(len(self))
        if start < stop:
            self._blocks.check(start, stop)
        return self._raw[start:stop].tobytes()

    def check(self) -> None:
        """Compare the whole file with its checksums, before it is read by other means."""
        self._blocks.check(0, len(self))


def check_rising(path: Path, ends: NDArray[np.int64], last: int) -> None:
    """Raise `DamagedLibrary` unless the ends of ranges ascend from 0 to ``last``."""
    # Compared, not subtracted: the difference of two huge numbers may overflow to a small one.
    if not len(ends) or ends[0] != 0 or ends[-1] != last or (ends[1:] < ends[:-1]).any():
        raise DamagedLibrary(path, "does not match the files next to it")


class _Blocks:
    """The blocks of a file, each checked once: its checksum, then its values by ``test``."""

    def __init__(
        self, path: Path, raw: NDArray[np.uint8], test: Callable[[int, int], None] | None = None
    ) -> None:
        self._path, self._raw, self._test = path, raw, test
        self._sums = _stored_sums(path)
        self._checked = np.zeros(_blocks_in(len(raw)), dtype=np.bool_)
        self._unchecked_before: NDArray[np.int64] | None = None
        self._all_checked = False

    def check(self, begin: int, end: int) -> None:
        """Check the blocks of some bytes of the file."""
        if self._all_checked:
            return
        first, last = begin // _BLOCK, _blocks_in(end)
        for block in (first + np.flatnonzero(~self._checked[first:last])).tolist():
            self.compare(block)
            if self._test is not None:
                self._test(block * _BLOCK, min((block + 1) * _BLOCK, len(self._raw)))
            self._checked[block] = True
            self._unchecked_before = None
        self._all_checked = bool(self._checked.all())

    def check_ranges(self, ranges: NDArray[np.int64]) -> None:
        """Check the blocks of many ranges of bytes of the file."""
        if self._all_checked:
            return
        filled = ranges[ranges[:, 0] < ranges[:, 1]]
        firsts, lasts = filled[:, 0] // _BLOCK, (filled[:, 1] - 1) // _BLOCK + 1
        # Cached until a block is checked, because most queries read what others have read.
        before = self._unchecked_before
        if before is None:
            before = np.concatenate(([0], np.cumsum(~self._checked)))
            self._unchecked_before = before
        is_open = before[lasts] > before[firsts]
        for begin, end in zip(firsts[is_open].tolist(), lasts[is_open].tolist(), strict=True):
            self.check(begin * _BLOCK, min(end * _BLOCK, len(self._raw)))

    def compare(self, block: int) -> None:
        """Compare a block with its checksum."""
        if self._sums is not None and block < len(self._sums):
            content = self._raw[block * _BLOCK : (block + 1) * _BLOCK]
            if zlib.crc32(content.data) != self._sums[block]:
                raise DamagedLibrary(self._path, "its content has changed")


def _blocks_in(size: int) -> int:
    return -(-size // _BLOCK)


def _sums_of(raw: NDArray[np.uint8]) -> NDArray[np.uint32]:
    starts = range(0, len(raw), _BLOCK)
    return np.array(
        [zlib.crc32(raw[start : start + _BLOCK].data) for start in starts], dtype=np.uint32
    )


def _stored_sums(path: Path) -> NDArray[np.uint32] | None:
    """The checksums of a file's blocks; None in a folder that was not sealed."""
    sealed = path.parent / CHECKSUMS
    if not is_plain_file(sealed):
        return None
    found, _ = _as_array(sealed, _mapped(sealed))
    start = 0
    with os.scandir(path.parent) as entries:
        files = [one for one in entries if one.is_file(follow_symlinks=False)]
    for other in sorted(files, key=lambda file: file.name):
        if other.name == CHECKSUMS:
            continue
        count = _blocks_in(other.stat(follow_symlinks=False).st_size)
        if other.name == path.name and found.dtype == np.uint32 and start + count <= len(found):
            return found[start : start + count]
        start += count
    raise DamagedLibrary(sealed, "does not match the files next to it")


def _mapped(path: Path) -> NDArray[np.uint8]:
    """Map a file into memory as bytes."""
    try:
        with open_plain(path) as file:
            if not os.fstat(file.fileno()).st_size:
                return np.empty(0, dtype=np.uint8)
            # As a plain array, because slicing a memmap object is slow.
            return np.memmap(file, np.uint8, "r").view(np.ndarray)
    except PermissionError as error:
        raise InputError(f"{path}: cannot be read ({reason(error)})") from error
    except OSError as error:
        raise DamagedLibrary(path, f"cannot be read ({reason(error)})") from error


def _as_array(path: Path, raw: NDArray[np.uint8]) -> tuple[NDArray[Any], int]:
    """The array in the bytes of an ``.npy`` file, and where its values begin."""
    try:
        header = read_header(raw[:LONGEST_HEADER].tobytes())
        check_size(header, len(raw))
        return raw[header.start :].view(header.kind).reshape(header.shape), header.start
    except (ValueError, TypeError, OverflowError) as error:
        raise DamagedLibrary(path, f"is damaged ({error})") from error
