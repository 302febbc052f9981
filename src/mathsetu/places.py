"""Where a library is: in a folder, or at an address on a cluster."""

from __future__ import annotations

import re
from pathlib import Path

from mathsetu.plain_files import open_plain

#: The file that lists what a library consists of.
MANIFEST = "manifest.json"
#: The folder of its segments.
SEGMENTS = "segments"
#: The first file written in every segment; it marks a folder that MathSetu may delete.
MARK = "segment.json"
#: The schemes of addresses, with the protocol of each.
SCHEMES = {"qdrant": "http", "qdrants": "https"}
# The beginning of manifests and of segment marks, in all versions.
_LIBRARY = re.compile(rb'\s*\{\s*"mathsetu"\s*:\s*"library"')
_SEGMENT = re.compile(rb'\s*\{\s*"mathsetu"\s*:\s*"segment"')


def is_address(place: object) -> bool:
    """Whether a place names a cluster and not a folder.

    >>> is_address("qdrant://localhost/math"), is_address("my-library")
    (True, False)
    """
    scheme, separator, _ = str(place).partition("://")
    return bool(separator) and scheme in SCHEMES


def is_library(folder: Path) -> bool:
    """Whether a folder contains the manifest of a library, of any version, or a segment.

    A library that is being built for the first time has no manifest yet, and that of a damaged
    library may be unreadable.

    >>> is_library(Path("no-such-folder"))
    False
    """
    if _begins_with(folder / MANIFEST, _LIBRARY):
        return True
    try:
        segments = list((folder / SEGMENTS).iterdir())
    except OSError:
        return False
    return any(_begins_with(segment / MARK, _SEGMENT) for segment in segments)


def _begins_with(path: Path, beginning: re.Pattern[bytes]) -> bool:
    """Whether a file exists and begins with a pattern; only its first bytes are read."""
    try:
        with open_plain(path) as file:
            return bool(beginning.match(file.read(100)))
    except OSError:
        return False
