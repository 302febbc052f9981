"""The manifest lists the content of a library. Replacing this one file changes the library.

A library folder contains ``manifest.json`` and ``segments/``. A build writes new segments beside
the old ones, then replaces the manifest in one step, then removes the segments that the manifest no
longer names. If the process dies or the power fails at any time, the folder opens as the old or as
the new library.

A library may come from an untrusted source. So the manifest names every file with its size and
checksum; opening refuses other files, links and devices.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

from mathsetu.errors import DamagedLibrary, InputError, reason
from mathsetu.library.lock import LOCK
from mathsetu.places import MANIFEST as _NAME
from mathsetu.places import MARK, SEGMENTS, is_library
from mathsetu.plain_files import (
    create_plain,
    entries_below,
    files_below,
    is_plain_file,
    is_plain_folder,
    open_plain,
    sync_folder,
)
from mathsetu.recipes.schema import parse_table
from mathsetu.retrieval.mapped import CHECKSUMS

#: Increases when libraries written by older versions can no longer be read, and with a new built-in
#: model, because vectors of different models cannot be compared.
FORMAT = 9
_PART = f".{_NAME}.part"
_CHECKSUM = "checksum"
#: Suffix of the folder of a segment until the segment is complete.
BUILDING = ".building"
# The largest manifest that is read, in bytes; one with a million segments is smaller.
_LARGEST = 1 << 28
# Files up to this size are compared with their checksums at opening.
_SMALL = 1 << 16


@dataclass(frozen=True)
class Segment:
    """A unit of the index, written by one build.

    ``files`` maps each file's path inside the segment to its size and checksum; ``removed`` has the
    numbers of the posts that were removed since.
    """

    name: str
    posts: int
    files: dict[str, tuple[int, str]]
    removed: tuple[int, ...] = ()


@dataclass(frozen=True)
class Manifest:
    """Everything that is needed to open a library.

    ``models`` has, for each part with vectors, the fingerprint of the model that made them.
    """

    recipe: dict[str, Any]
    segments: tuple[Segment, ...]
    languages: dict[str, int]
    version: str
    models: dict[str, str] = field(default_factory=dict)

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
    """The folder of a segment."""
    return library / SEGMENTS / name


def describe(folder: Path) -> dict[str, tuple[int, str]]:
    """Size and checksum of every file in a folder, in a fixed order."""
    return {
        path.relative_to(folder).as_posix(): (path.stat().st_size, checksum(path))
        for path in sorted(files_below(folder))
    }


def checksum(path: Path) -> str:
    """A short fingerprint of a file's content."""
    digest = blake2b(digest_size=16)
    with open_plain(path) as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


def write_manifest(library: Path, manifest: Manifest) -> None:
    """Replace the manifest in one step, which makes a change take effect."""
    content = signed({"mathsetu": "library", "format": FORMAT, **asdict(manifest)})
    part = library / _PART
    part.unlink(missing_ok=True)
    with create_plain(part) as file:
        file.write((json.dumps(content, ensure_ascii=False, indent=1) + "\n").encode())
        file.flush()
        os.fsync(file.fileno())
    part.replace(library / _NAME)
    sync_folder(library)


def signed(content: dict[str, Any]) -> dict[str, Any]:
    """The content of a manifest with its own checksum, which reveals damage to it."""
    rest = {name: value for name, value in content.items() if name != _CHECKSUM}
    written = json.dumps(rest, sort_keys=True).encode()
    return {**rest, _CHECKSUM: blake2b(written, digest_size=16).hexdigest()}


def has_manifest(library: Path) -> bool:
    """Whether a folder has a manifest, readable or not."""
    return is_plain_file(library / _NAME)


def check_place(library: Path) -> None:
    """Refuse to build in a folder with other content, or with links that lead out of it.

    A library that is damaged or of another version may be rebuilt, which repairs it. An
    unreadable ``manifest.json`` without segments may belong to another program.
    """
    if library.exists() and not library.is_dir():
        raise InputError(f"{library}: is a file; choose a folder")
    names = {path.name for path in library.iterdir()} if library.exists() else set()
    for name in names & {_NAME, _PART, SEGMENTS, LOCK}:
        if (library / name).is_symlink():
            raise InputError(
                f"{library / name}: is a link, which a library must not contain; remove it"
            )
    if _NAME in names:
        is_foreign = not _claims_to_be_ours(library)
    else:
        is_foreign = not names <= {LOCK, _PART, SEGMENTS} or any(
            not is_ours(path) for path in segment_folders(library)
        )
    if is_foreign:
        raise InputError(f"{library}: is not a library and not empty; choose another folder")


def _claims_to_be_ours(library: Path) -> bool:
    try:
        return bool(_read_json(library / _NAME)["mathsetu"] == "library")
    except OSError as error:
        raise InputError(f"{library / _NAME}: cannot be read ({reason(error)})") from error
    except (ValueError, KeyError, TypeError, RecursionError):
        return (library / SEGMENTS).exists()


def segment_folders(library: Path) -> list[Path]:
    """All entries of the folder of segments, sorted."""
    folder = library / SEGMENTS
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise InputError(f"{folder}: is a link or a file where a folder is expected; remove it")
    return sorted(folder.iterdir()) if folder.exists() else []


def is_ours(folder: Path) -> bool:
    """Whether a folder was made for a segment, so that it may be removed if it is not in use.

    Such a folder has a mark, or is empty because the power failed before the mark was written.
    """
    if not is_plain_folder(folder):
        return False
    is_new = is_segment_name(folder.name.removesuffix(BUILDING)) and not any(folder.iterdir())
    return is_new or is_plain_file(folder / MARK)


def former_segments(library: Path) -> set[str]:
    """The segments named in a manifest of any version; empty if it cannot be read."""
    try:
        names = {str(entry["name"]) for entry in _read_json(library / _NAME)["segments"]}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return set()
    return {name for name in names if is_segment_name(name)}


def is_segment_name(name: str) -> bool:
    """Whether a name is valid for a segment: six to nine digits."""
    return name.isascii() and name.isdecimal() and 6 <= len(name) <= 9


def _read_json(path: Path) -> Any:
    with open_plain(path) as file:
        content = file.read(_LARGEST + 1)
    if len(content) > _LARGEST:
        raise ValueError("too large")
    return json.loads(content.decode())


def _remedy(library: Path, found: object) -> str:
    """How to make a library of another format readable."""
    if isinstance(found, int) and found > FORMAT:
        return "install a newer version of MathSetu"
    return f"convert it in place with: mathsetu upgrade {library}"


@dataclass(frozen=True)
class FormerManifest:
    """The fields that manifests of every format have: the recipe and the segments.

    Attributes:
        format: The number of the format.
        recipe: The recipe as it was stored, perhaps with settings that no longer exist.
        segments: For each segment its name and the numbers of the removed posts.
        checksum: The checksum of the manifest file.
    """

    format: int
    recipe: dict[str, Any]
    segments: tuple[tuple[str, frozenset[int]], ...]
    checksum: str


def read_former_manifest(library: Path) -> FormerManifest:
    """Read a manifest of any format; the error says why one cannot be read."""
    path = library / _NAME
    if not is_plain_file(path):
        raise _without_manifest(library)
    try:
        content = _read_json(path)
        if content["mathsetu"] != "library":
            raise KeyError("mathsetu")
        segments = tuple(
            (str(entry["name"]), frozenset(int(number) for number in entry["removed"]))
            for entry in content["segments"]
        )
        if not all(is_segment_name(name) for name, _ in segments):
            raise ValueError("a segment has an invalid name")
        return FormerManifest(
            int(content["format"]), dict(content["recipe"]), segments, checksum(path)
        )
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({reason(error)})") from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise DamagedLibrary(path, f"is damaged ({error})") from error


def _without_manifest(library: Path) -> InputError:
    if is_library(library):
        return InputError(
            f"{library}: its first build is not complete; wait for it or, if it was stopped, run "
            "the same mathsetu index command again to complete it"
        )
    return InputError(
        f"{library}: is not a library, it has no {_NAME} (build one from its files: mathsetu "
        f"index my.library {library})"
    )


def read_manifest(library: Path) -> Manifest:
    """Read the manifest; the error says why the folder cannot be opened and how to fix it."""
    path = library / _NAME
    if library.is_file():
        raise InputError(f"{library}: is a file, not a library (build one from it: "
                         f"mathsetu index my.library {library})")  # fmt: skip
    if not library.is_dir():
        raise InputError(f"{library}: there is no such library (build one: mathsetu index)")
    if path.is_symlink():
        raise InputError(f"{path}: is a link; replace it with the file that it points to")
    if not path.is_file():
        raise _without_manifest(library)
    try:
        content = _read_json(path)
        if content["mathsetu"] != "library":
            raise KeyError("mathsetu")
        found = content["format"]
        if found != FORMAT:
            raise InputError(
                f"{library}: was written in format {found}, this version of MathSetu reads format "
                f"{FORMAT}; {_remedy(library, found)}"
            )
        if signed(content) != content:
            raise DamagedLibrary(path, "its content has changed")
        segments = tuple(_read_segment(entry) for entry in content["segments"])
        if len({segment.name for segment in segments}) != len(segments):
            raise ValueError("two segments have the same name")
        recipe, languages = dict(content["recipe"]), dict(content["languages"])
        parse_table(recipe, str(path))
        counts = {str(code): int(count) for code, count in languages.items()}
        models = {str(part): str(name) for part, name in dict(content.get("models", {})).items()}
        return Manifest(recipe, segments, counts, str(content["version"]), models)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({reason(error)})") from error
    except RecursionError as error:
        raise DamagedLibrary(path, "is damaged (nested too deeply)") from error
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
        raise DamagedLibrary(path, f"is damaged ({error})") from error


def check_models(library: Path, manifest: Manifest, present: Mapping[str, str]) -> None:
    """Refuse to search or extend vectors of another model: they cannot be compared.

    Args:
        library: The folder, for the error message.
        manifest: The manifest, with the models that made the vectors.
        present: For each part the model that would encode queries or new posts.
    """
    for part, recorded in manifest.models.items():
        if present.get(part, recorded) != recorded:
            raise InputError(
                f"{library}: the vectors of its part {part!r} were made by another model "
                f"({recorded}, now {present[part]}); encode its posts again with: mathsetu "
                f"upgrade {library}"
            )


def _read_segment(entry: dict[str, Any]) -> Segment:
    segment = Segment(
        name=str(entry["name"]),
        posts=int(entry["posts"]),
        files={_inside(name): (int(s), str(c)) for name, (s, c) in entry["files"].items()},
        removed=tuple(int(number) for number in entry["removed"]),
    )
    if not is_segment_name(segment.name):
        raise ValueError(f"{segment.name!r} is not a name of a segment")
    if not all(0 <= number < segment.posts for number in segment.removed):
        raise ValueError(f"segment {segment.name} lacks posts that were removed from it")
    return segment


def _inside(name: str) -> str:
    """The path of a file inside its segment; ValueError for one that may lead out of it."""
    steps = name.split("/")
    if not all(steps) or {".", ".."} & {*steps} or set(name) & {"\\", ":", "\0"}:
        raise ValueError(f"{name!r} is not a path inside a segment")
    return name


def check(library: Path, manifest: Manifest, thorough: bool = False) -> None:
    """Refuse missing, truncated or changed files before a search reads them.

    Opening checks the sizes of all files, and the content of small files and of the files of
    checksums. Other files are checked against these when they are read. With ``thorough``, every
    byte is read.
    """
    if not manifest.segments:
        raise DamagedLibrary(library, "its manifest names no posts")
    segment_folders(library)
    for segment in manifest.segments:
        folder = segment_folder(library, segment.name)
        found = _files_in(folder)
        for name, (size, expected) in segment.files.items():
            path = folder / name
            if name not in found:
                raise DamagedLibrary(path, "is missing")
            if found[name] != size:
                raise DamagedLibrary(path, f"has {found[name]:,} bytes instead of {size:,}")
            is_read = thorough or size <= _SMALL or path.name == CHECKSUMS
            if is_read and checksum(path) != expected:
                raise DamagedLibrary(path, "its content has changed")
        for name in found:
            if name not in segment.files:
                raise InputError(f"{folder / name}: does not belong to the library; remove it")
            if (folder / name).with_name(CHECKSUMS).relative_to(folder).as_posix() not in found:
                raise DamagedLibrary(folder / name, "lies in a folder without checksums")


def _files_in(folder: Path) -> dict[str, int]:
    """The sizes of all files below a folder by their paths; links and devices are refused."""
    if not is_plain_folder(folder):
        raise DamagedLibrary(folder, "is a link" if folder.is_symlink() else "is missing")
    found: dict[str, int] = {}
    for entry in entries_below(folder):
        path = Path(entry.path)
        if entry.is_file(follow_symlinks=False):
            size = entry.stat(follow_symlinks=False).st_size
            found[path.relative_to(folder).as_posix()] = size
        elif not entry.is_dir(follow_symlinks=False):
            kind = "a link" if entry.is_symlink() else "a device or a pipe"
            raise InputError(f"{path}: is {kind}, which a library must not contain; remove it")
    return found
