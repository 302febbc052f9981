"""Reads NumPy's ``.npy`` arrays, in any number of threads at once.

NumPy reads the header of a file as Python code. With CPython 3.11, this sometimes fails if two
threads do it at the same time ("AST constructor recursion depth mismatch", gh-106905), so that a
server would report a healthy file as damaged. Here, a header is data: only what NumPy itself writes
for plain arrays is read.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: More bytes than any header that we write.
LONGEST_HEADER = 1 << 12
_MAGIC = b"\x93NUMPY\x01\x00"
_HEADER = re.compile(
    rb"\{'descr': '([<|][biufSU]\d{1,9})', 'fortran_order': False, "
    rb"'shape': \(((?:\d{1,18}(?:, ?|(?=\))))*)\), \} *\n"
)


class Header(NamedTuple):
    """The type and the shape of an array, and where its values begin."""

    kind: np.dtype[Any]
    shape: tuple[int, ...]
    start: int


def read_header(raw: bytes) -> Header:
    """Read the header of an array; raise ValueError if it is not one of a plain array.

    Args:
        raw: The file, or at least its first `LONGEST_HEADER` bytes.

    >>> from io import BytesIO
    >>> file = BytesIO()
    >>> np.save(file, np.zeros((2, 3), dtype=np.int8))
    >>> read_header(file.getvalue())
    Header(kind=dtype('int8'), shape=(2, 3), start=128)
    """
    if not raw.startswith(_MAGIC):
        raise ValueError("not an array of version 1.0 of NumPy's format")
    first = len(_MAGIC) + 2
    start = first + int.from_bytes(raw[len(_MAGIC) : first], "little")
    found = _HEADER.fullmatch(raw[first:start]) if start <= LONGEST_HEADER else None
    if found is None:
        raise ValueError("not a plain array")
    kind, lengths = found.groups()
    shape = tuple(int(length) for length in lengths.split(b",") if length.strip())
    return Header(np.dtype(kind.decode("ascii")), shape, start)


def read_array(raw: bytes) -> NDArray[Any]:
    """Read an array, which cannot be written to; raise ValueError if it is damaged.

    >>> from io import BytesIO
    >>> file = BytesIO()
    >>> np.save(file, np.array([[1, 2], [3, 4]]))
    >>> read_array(file.getvalue()).tolist()
    [[1, 2], [3, 4]]
    """
    kind, shape, start = read_header(raw)
    check_size(Header(kind, shape, start), len(raw))
    return np.frombuffer(raw, kind, offset=start).reshape(shape)


def check_size(header: Header, size: int) -> None:
    """Raise ValueError if a file has another size than its header says."""
    values = int(np.prod(header.shape, dtype=object)) * header.kind.itemsize
    if header.start + values != size:
        raise ValueError("its header and its size differ")
