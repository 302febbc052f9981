"""The page's own files: style sheets, scripts, the icon, fonts, and the formula editor.

They are read once and served from a table, so that no path of a request reaches the file system.
The folder in their addresses is a hash of all their contents: browsers may cache them forever, and
the files that they refer to have the same version.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib import resources

_FOLDERS = ("static", "vendor/stix-two-math", "vendor/katex-fonts", "vendor/mathlive")
_KINDS = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "mjs": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "woff2": "font/woff2",
}


@dataclass(frozen=True)
class File:
    """One file: its content and its media type."""

    content: bytes
    media_type: str


@cache
def files() -> dict[str, File]:
    """All files by name.

    >>> files()["page.css"].media_type
    'text/css; charset=utf-8'
    """
    found: dict[str, File] = {}
    for folder in _FOLDERS:
        for entry in resources.files(__package__).joinpath(folder).iterdir():
            kind = _KINDS.get(entry.name.rpartition(".")[2])
            if kind:
                found[entry.name] = File(entry.read_bytes(), kind)
    return found


@cache
def stamp() -> str:
    """A hash of all files, which is their common version."""
    contents = sha256()
    for name, file in sorted(files().items()):
        contents.update(name.encode())
        contents.update(sha256(file.content).digest())
    return contents.hexdigest()[:12]


def address(name: str) -> str:
    """The address of a file.

    >>> address("icon.svg") == f"/static/{stamp()}/icon.svg"
    True
    """
    assert name in files(), f"the page has no file {name}"
    return f"/static/{stamp()}/{name}"
