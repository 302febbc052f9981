"""The manifest: what a library consists of. Replacing this one file is what changes a library.

A library folder holds ``manifest.json`` and ``segments/``. A build writes new segments beside
the old ones, then replaces the manifest in one step, then removes what no manifest names any
more. Whenever the process dies, the folder opens as the old library or as the new one.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

from mathsetu.errors import InputError

#: Grows when libraries written by older versions can no longer be read, and with a new built-in
#: model, since vectors of two models do not meet.
FORMAT = 3
_NAME = "manifest.json"


@dataclass(frozen=True)
class Segment:
    """One part of a library that was built at once.

    ``files`` maps each file's path inside the segment to its size and checksum; ``removed``
    holds the numbers of posts that were taken out since.
    """

    name: str
    posts: int
    files: dict[str, tuple[int, str]]
    removed: tuple[int, ...] = ()


@dataclass(frozen=True)
class Manifest:
    """Everything that is needed to open a library."""

    recipe: dict[str, Any]
    segments: tuple[Segment, ...]
    languages: dict[str, int]
    version: str

    @property
    def posts(self) -> int:
        """How many posts can be found."""
        return sum(segment.posts - len(segment.removed) for segment in self.segments)

    def without(self, name: str, numbers: frozenset[int]) -> Manifest:
        """The manifest after posts of a segment were removed."""
        segments = tuple(
            replace(s, removed=tuple(sorted({*s.removed, *numbers}))) if s.name == name else s
            for s in self.segments
        )
        return replace(self, segments=segments)


def segment_folder(library: Path, name: str) -> Path:
    """Where a segment lives."""
    return library / "segments" / name


def describe(folder: Path) -> dict[str, tuple[int, str]]:
    """Size and checksum of every file in a folder, in a fixed order."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {
        path.relative_to(folder).as_posix(): (path.stat().st_size, checksum(path)) for path in files
    }


def checksum(path: Path) -> str:
    """A short fingerprint of a file's content."""
    digest = blake2b(digest_size=16)
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


def write_manifest(library: Path, manifest: Manifest) -> None:
    """Replace the manifest in one step: this is the moment when a change takes effect."""
    content = {"mathsetu": "library", "format": FORMAT, **asdict(manifest)}
    part = library / f".{_NAME}.{os.getpid()}.part"
    with part.open("w", encoding="utf-8") as file:
        json.dump(content, file, ensure_ascii=False, indent=1)
        file.write("\n")
        file.flush()
        os.fsync(file.fileno())
    part.replace(library / _NAME)


def has_manifest(library: Path) -> bool:
    """Whether a folder has a manifest, readable or not."""
    return (library / _NAME).is_file()


def is_foreign(library: Path) -> bool:
    """Whether a folder holds what no library holds, so that building here would be a mistake.

    A library that is damaged or of another version is no foreign thing: building it again is
    its remedy. A ``manifest.json`` alone may be anybody's.
    """
    names = {path.name for path in library.iterdir()} if library.exists() else set()
    if _NAME not in names:
        ours = {".lock", "segments"}
        return any(n not in ours and not n.startswith(f".{_NAME}.") for n in names)
    try:
        return bool(json.loads((library / _NAME).read_bytes())["mathsetu"] != "library")
    except (ValueError, KeyError, TypeError):
        return "segments" not in names


def read_manifest(library: Path) -> Manifest:
    """Read the manifest, or say why the folder cannot be opened and what to do."""
    path = library / _NAME
    if not library.is_dir():
        raise InputError(f"{library}: there is no such library (build one: mathsetu index)")
    if not path.is_file():
        raise InputError(f"{library}: is not a library, it has no {_NAME} (build one here: "
                         "mathsetu index)")  # fmt: skip
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["mathsetu"] != "library":
            raise KeyError("mathsetu")
        found = content["format"]
        if found != FORMAT:
            raise InputError(
                f"{library}: was written in format {found}, this version of MathSetu reads format "
                f"{FORMAT}; build it again with: mathsetu index"
            )
        segments = tuple(_read_segment(entry) for entry in content["segments"])
        recipe, languages = dict(content["recipe"]), dict(content["languages"])
        return Manifest(recipe, segments, languages, str(content["version"]))
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{path}: is damaged ({error}); build the library again") from error


def _read_segment(entry: dict[str, Any]) -> Segment:
    segment = Segment(
        name=str(entry["name"]),
        posts=int(entry["posts"]),
        files={name: (int(s), str(c)) for name, (s, c) in entry["files"].items()},
        removed=tuple(int(number) for number in entry["removed"]),
    )
    if not segment.name.isdecimal():
        raise ValueError(f"{segment.name!r} is no name of a segment")
    if not all(0 <= number < segment.posts for number in segment.removed):
        raise ValueError(f"segment {segment.name} lacks posts that were removed from it")
    return segment


def check(library: Path, manifest: Manifest, thorough: bool = False) -> None:
    """Find missing, cut or changed files before a search stumbles over them.

    Opening compares the sizes of all files and the content of small ones; with ``thorough``
    every byte is read.
    """
    for segment in manifest.segments:
        folder = segment_folder(library, segment.name)
        for name, (size, expected) in segment.files.items():
            path = folder / name
            found = path.stat().st_size if path.is_file() else -1
            if found < 0:
                raise InputError(f"{path}: is missing; build the library again")
            if found != size:
                raise InputError(
                    f"{path}: has {found:,} bytes instead of {size:,}; build the library again"
                )
            if (thorough or size < 1 << 16) and checksum(path) != expected:
                raise InputError(f"{path}: its content has changed; build the library again")
