"""Arrays as text, for the payloads of points."""

from __future__ import annotations

from base64 import b64decode, b64encode
from typing import TYPE_CHECKING, Any

import numpy as np

from mathsetu.errors import DamagedLibrary

if TYPE_CHECKING:
    from numpy.typing import NDArray


def pack(array: NDArray[Any]) -> str:
    """Encode an array as text, little-endian on every machine.

    >>> pack(np.array([1, 2], dtype=np.uint32))
    'AQAAAAIAAAA='
    """
    return b64encode(array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()).decode()


def unpack(text: Any, kind: str) -> NDArray[Any]:
    """Decode an array from text.

    >>> unpack("AQAAAAIAAAA=", "uint32").tolist()
    [1, 2]
    >>> unpack("???", "uint32")
    Traceback (most recent call last):
    mathsetu.errors.DamagedLibrary: the cluster: holds a damaged point; build the library again
    """
    try:
        content = b64decode(text, validate=True)
        return np.frombuffer(content, dtype=np.dtype(kind).newbyteorder("<")).astype(kind)
    except (ValueError, TypeError) as error:
        raise damaged() from error


def damaged() -> DamagedLibrary:
    """The error for points with invalid content."""
    return DamagedLibrary("the cluster", "holds a damaged point")


def pack_frequencies(values: NDArray[Any]) -> str:
    """Encode frequencies: in one byte each if all are small integers, as nearly all are."""
    small = values.astype(np.uint8)
    return pack(small if np.array_equal(small, values) else values.astype(np.float32))


def unpack_frequencies(text: Any, count: int) -> NDArray[np.float32]:
    """Decode the frequencies of ``count`` terms."""
    small = unpack(text, "uint8")
    if len(small) == count:
        return small.astype(np.float32)
    values = unpack(text, "float32")
    if len(values) != count:
        raise damaged()
    return values
