"""Damage and other formats are reported at opening, in one line with the remedy."""

import errno
import json
import os
from collections.abc import Callable
from hashlib import sha256
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from mathsetu.errors import DamagedLibrary, InputError
from mathsetu.library import Library, build_library, manifest
from mathsetu.library.manifest import FORMAT, check, read_manifest, signed
from mathsetu.plain_files import open_plain
from mathsetu.records import Post
from tests.light import LIGHT

FILES = ["posts.sqlite", "words/documents.npy", "words/languages.json", "formulas/latex.txt"]


def edited(library: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    path = library / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    change(manifest)
    path.write_text(json.dumps(signed(manifest)), encoding="utf-8")
    return library


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def turn(path: Path) -> None:
    """Change one bit in the middle."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (cut, "bytes instead of"),
        (Path.unlink, "is missing; build the library again"),
        (turn, "its content has changed; build the library again"),
    ],
)
def test_a_damaged_file_is_named(
    library: Path, name: str, damage: Callable[[Path], None], message: str
) -> None:
    path = library / "segments" / "000001" / name
    damage(path)
    with pytest.raises(InputError, match=message) as refused:
        Library(library)
    assert str(path) in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_post_that_is_missing_from_a_damaged_file_is_not_reported_as_unknown(
    library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(manifest, "_SMALL", 0)  # as for a large file, which is read in parts
    path = library / "segments" / "000001" / "posts.sqlite"
    content = bytearray(path.read_bytes())
    content[content.rindex(b"prime")] ^= 1
    path.write_bytes(content)
    with Library(library) as opened, pytest.raises(DamagedLibrary):
        opened.post("no such post")


@pytest.mark.parametrize(
    "opening", ["library.manifest.open_plain", "library.manifest.entries_below"]
)
def test_an_unreadable_file_is_named_with_only_the_reason(
    library: Path, opening: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = library / "segments"

    def refusing(opened: Path) -> object:
        if path not in opened.parents:
            return open_plain(opened)
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    monkeypatch.setattr(f"mathsetu.{opening}", refusing)
    with pytest.raises(InputError) as refused:
        Library(library)
    assert str(refused.value) == f"{path}: cannot be read (permission denied)"


@pytest.mark.thorough
def test_a_thorough_check_reads_large_files_too(tmp_path: Path) -> None:
    posts = [Post(id=str(n), body=f"word{n} " * 40, language="en") for n in range(300)]
    build_library(tmp_path / "l", posts, LIGHT, processes=1)
    turn(tmp_path / "l" / "segments" / "000001" / "posts.sqlite")
    with pytest.raises(InputError, match=r"posts\.sqlite: its content has changed"):
        check(tmp_path / "l", read_manifest(tmp_path / "l"), thorough=True)


def test_another_format_version_is_refused_with_the_remedy(library: Path) -> None:
    edited(library, lambda manifest: manifest.update(format=99))
    with pytest.raises(InputError, match=r"was written in format 99, .* install a newer version"):
        Library(library)


@pytest.mark.thorough
def test_new_models_need_a_new_format() -> None:
    # A library contains vectors of these models; vectors of another model are not comparable.
    # A library also records its models: one that only has more types of nodes needs no new format.
    models = resources.files("mathsetu") / "encoders"
    names = ("posts.onnx", "tokens.npy", "queries.onnx", "wide.onnx", "wide-tokens.npy")
    made_by = [
        *(models / "model" / name for name in names),
        models / "graph" / "model" / "weights.npz",
    ]
    digests = [sha256(file.read_bytes()).hexdigest()[:8] for file in made_by]
    expected = (9, "6fdda9e9", "0cb561de", "2bf26306", "fc910e49", "8cd24041", "911116b4")
    assert (FORMAT, *digests) == expected, "raise FORMAT, then mend this line"


@pytest.mark.parametrize(
    "change",
    [
        lambda manifest: manifest.pop("segments"),
        lambda manifest: manifest.pop("mathsetu"),
        lambda manifest: manifest.update(recipe=None),
        lambda manifest: manifest["segments"][0].update(name="../../elsewhere"),
        lambda manifest: manifest["segments"][0].update(removed=["first"]),
        lambda manifest: manifest["segments"][0].update(removed=[4]),
        lambda manifest: manifest["segments"][0].update(posts="many"),
    ],
)
def test_an_invalid_manifest_is_refused(library: Path, change: Callable[[Any], object]) -> None:
    edited(library, change)
    with pytest.raises(InputError, match=r"manifest\.json: is damaged"):
        Library(library)


@pytest.mark.parametrize("text", ["", "[]", "{", '{"mathsetu": "library"}', "\ud800"])
def test_a_file_that_is_not_a_manifest_is_refused(library: Path, text: str) -> None:
    (library / "manifest.json").write_text(text, encoding="utf-8", errors="surrogatepass")
    with pytest.raises(InputError, match=r"manifest\.json: is damaged"):
        Library(library)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "spoil",
    [
        lambda library: edited(library, lambda manifest: manifest.update(format=99)),
        lambda library: (library / "manifest.json").write_text("{", encoding="utf-8"),
        lambda library: cut(library / "segments" / "000001" / "posts.sqlite"),
    ],
)
def test_a_rebuild_repairs_a_library_that_cannot_be_opened(
    library: Path, posts: list[Post], spoil: Callable[[Path], object]
) -> None:
    spoil(library)
    with pytest.raises(InputError):
        Library(library)
    build_library(library, posts, processes=1)
    assert Library(library).search("prime")[0].id == "primes"
    assert [path.name for path in (library / "segments").iterdir()] == ["000002"]


def test_a_failed_rebuild_keeps_a_library_of_another_format(library: Path) -> None:
    edited(library, lambda manifest: manifest.update(format=99))
    with pytest.raises(InputError, match="there are no posts"):
        build_library(library, [], processes=1)
    edited(library, lambda manifest: manifest.update(format=FORMAT))
    assert Library(library).search("prime")


def test_a_missing_folder_and_a_folder_without_a_manifest_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such library"):
        Library(tmp_path / "nowhere")
    with pytest.raises(InputError, match=r"is not a library, it has no manifest\.json"):
        Library(tmp_path)


def test_damage_in_the_manifest_is_found(library: Path) -> None:
    path = library / "manifest.json"
    written = path.read_text(encoding="utf-8")
    for before, after in (('"words": 0.2', '"words": 0.9'), ('"posts": 4', '"posts": 3')):
        assert before in written
        path.write_text(written.replace(before, after), encoding="utf-8")
        with pytest.raises(InputError, match=r"manifest\.json: its content has changed"):
            Library(library)


@pytest.mark.parametrize(
    ("setting", "named"),
    [
        ("parts.words.fields={body=1}", "parts.words.fields"),
        ("parts.words.stop_words=false", "parts.words.stop_words"),
        ("parts.words.scheme.k1=1.8", "parts.words.scheme"),
        ("posts.kinds=['question']", "posts"),
    ],
)
def test_settings_of_the_index_cannot_be_changed_for_a_search(
    library: Path, setting: str, named: str
) -> None:
    with pytest.raises(InputError, match=f"^{named}: decided what was indexed"):
        Library(library, [setting])
    Library(library, ["parts.words.query_title=0.3"]).close()


def test_the_checksum_of_a_manifest_does_not_depend_on_the_order_of_its_fields() -> None:
    one, other = signed({"posts": 4, "format": 1}), signed({"format": 1, "posts": 4})
    assert one["checksum"] == other["checksum"] == "499d9b3950f7919e2b4651d0fa4dad71"
    assert signed({**one, "posts": 4}) == one
