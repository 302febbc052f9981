"""Where a library is: in a folder, or at an address on a cluster."""

from __future__ import annotations

#: The file of a library that says what it consists of.
MANIFEST = "manifest.json"
#: The schemes of addresses, and what is spoken there.
SCHEMES = {"qdrant": "http", "qdrants": "https"}


def is_address(place: object) -> bool:
    """Whether a place names a cluster and not a folder.

    >>> is_address("qdrant://localhost/math"), is_address("my-library")
    (True, False)
    """
    scheme, separator, _ = str(place).partition("://")
    return bool(separator) and scheme in SCHEMES
