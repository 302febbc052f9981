"""Where a library is: in a folder, or at an address on a cluster."""

from __future__ import annotations

import re
from pathlib import Path

from mathsetu.plain_files import open_plain

#: The file of a library that says what it consists of.
MANIFEST = "manifest.json"
#: The folder of its segments.
SEGMENTS = "segments"
#: Lies in every segment, from its first moment on: such a folder is ours to remove.
MARK = "segment.json"
#: The schemes of addresses, and what is spoken there.
SCHEMES = {"qdrant": "http", "qdrants": "https"}
# How the manifests and the marks of all versions begin.
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
    """Whether a folder is a library by its manifest, of whatever version, or by its segments.

    A library that is being built for the first time has no manifest yet; one that is damaged may
    have another.

    >>> is_library(Path("no-such-folder"))
    False
    """
    if _says(folder / MANIFEST, _LIBRARY):
        return True
    try:
        segments = list((folder / SEGMENTS).iterdir())
    except OSError:
        return False
    return any(_says(segment / MARK, _SEGMENT) for segment in segments)


def _says(path: Path, beginning: re.Pattern[bytes]) -> bool:
    """Whether there is a file that begins so; no more of it is read."""
    try:
        with open_plain(path) as file:
            return bool(beginning.match(file.read(100)))
    except OSError:
        return False
