"""A hostile or damaged library causes no harm and gives no wrong answers."""

import json
import os
import random
import shutil
import sqlite3
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mathsetu.errors import DamagedLibrary, InputError
from mathsetu.library import Filter, Library, add_posts, build_library, remove_posts
from mathsetu.library.manifest import check, describe, read_manifest, signed
from mathsetu.records import Post
from mathsetu.retrieval.mapped import seal
from tests.light import LIGHT

SEGMENT = Path("segments/000001")
QUERIES = ("prime numbers", "$a^2+b^2=c^2$", r"समाकल $\int_0^\infty \frac{\sin x}{x}dx$")


def writers(library: Path, posts: list[Post]) -> Iterator[Callable[[], object]]:
    yield lambda: build_library(library, posts[:2], LIGHT, processes=1)
    yield lambda: add_posts(library, [Post("new", "a new post")], processes=1)
    yield lambda: remove_posts(library, ["circle"])


def treasure(place: Path) -> Path:
    """A folder of the user that must not change."""
    (place / "folder").mkdir(parents=True)
    (place / "000001").mkdir()
    (place / "precious.txt").write_text("precious")
    (place / "folder" / "more.txt").write_text("more")
    (place / "000001" / "last.txt").write_text("last")
    return place


def is_untouched(place: Path) -> bool:
    names = {path.relative_to(place).as_posix() for path in place.rglob("*")}
    return (
        names == {"folder", "000001", "precious.txt", "folder/more.txt", "000001/last.txt"}
        and (place / "precious.txt").read_text() == "precious"
    )


def test_a_link_instead_of_the_segments_folder_is_refused_and_its_target_kept(
    tmp_path: Path, library: Path, posts: list[Post]
) -> None:
    own = treasure(tmp_path / "own")
    shutil.rmtree(library / "segments")
    (library / "segments").symlink_to(own)
    for work in writers(library, posts):
        with pytest.raises(InputError, match="segments: is"):
            work()
        assert is_untouched(own)
    with pytest.raises(InputError, match="segments: is"):
        Library(library)


@pytest.mark.parametrize("name", [".lock", "manifest.json", ".manifest.json.part"])
def test_a_link_instead_of_a_file_of_the_library_is_never_written_through(
    tmp_path: Path, library: Path, posts: list[Post], name: str
) -> None:
    own = treasure(tmp_path / "own")
    (library / name).unlink(missing_ok=True)
    (library / name).symlink_to(own / "precious.txt")
    for work in writers(library, posts):
        with pytest.raises(InputError, match="is a link"):
            work()
        assert is_untouched(own)


def test_a_pipe_instead_of_the_lock_file_is_refused_without_waiting(
    library: Path, posts: list[Post]
) -> None:
    (library / ".lock").unlink()
    os.mkfifo(library / ".lock")
    for work in writers(library, posts):
        with pytest.raises(InputError, match="is not a plain file; remove it"):
            work()


@pytest.mark.thorough
def test_only_folders_that_were_made_for_segments_are_removed(
    library: Path, posts: list[Post]
) -> None:
    others = [library / "segments" / name for name in ("000002", "notes", "000003.building")]
    for other in others:
        other.mkdir()
        (other / "precious.txt").write_text("precious")
    (library / "segments" / "paper.txt").write_text("precious")
    add_posts(library, [Post("new", "a new post")], processes=1)
    remove_posts(library, ["circle"])
    build_library(library, posts[:2], LIGHT, processes=1)
    assert len(Library(library)) == 2
    assert all((other / "precious.txt").read_text() == "precious" for other in others)
    assert (library / "segments" / "paper.txt").exists()
    assert not (library / SEGMENT).exists()  # this one was ours


def test_a_build_into_a_folder_with_foreign_segments_is_refused(
    tmp_path: Path, posts: list[Post]
) -> None:
    own = tmp_path / "own" / "segments" / "000001"
    own.mkdir(parents=True)
    (own / "precious.txt").write_text("precious")
    with pytest.raises(InputError, match="is not a library and not empty"):
        build_library(tmp_path / "own", posts, LIGHT, processes=1)
    assert (own / "precious.txt").exists()


def test_segments_of_a_library_in_an_older_format_are_removed_by_a_rebuild(
    library: Path, posts: list[Post]
) -> None:
    path = library / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**manifest, "format": 3}), encoding="utf-8")
    (library / SEGMENT / "segment.json").unlink()  # the older format had none
    build_library(library, posts, LIGHT, processes=1)
    assert [path.name for path in (library / "segments").iterdir()] == ["000002"]


def test_links_and_pipes_are_refused_when_a_library_is_opened(
    tmp_path: Path, library: Path
) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")

    def link_file(folder: Path) -> None:
        (folder / "formulas" / "latex.txt").unlink()
        (folder / "formulas" / "latex.txt").symlink_to(secret)

    def link_folder(folder: Path) -> None:
        shutil.move(folder / "formulas", tmp_path / "formulas")
        (folder / "formulas").symlink_to(tmp_path / "formulas")

    def pipe(folder: Path) -> None:
        (folder / "formulas" / "latex.txt").unlink()
        os.mkfifo(folder / "formulas" / "latex.txt")

    def link_store(folder: Path) -> None:
        shutil.move(folder / "posts.sqlite", tmp_path / "posts.sqlite")
        (folder / "posts.sqlite").symlink_to(tmp_path / "posts.sqlite")

    for number, change in enumerate((link_file, link_folder, pipe, link_store)):
        copy = tmp_path / f"copy-{number}"
        shutil.copytree(library, copy)
        change(copy / SEGMENT)
        with pytest.raises(InputError, match=r"is a link|is a device or a pipe"):
            Library(copy)
        with pytest.raises(InputError, match=r"is a link|is a device or a pipe"):
            check(copy, read_manifest(copy), thorough=True)
    whole = tmp_path / "whole"
    shutil.copytree(library, whole)
    shutil.move(whole / SEGMENT, tmp_path / "segment")
    (whole / SEGMENT).symlink_to(tmp_path / "segment")
    with pytest.raises(InputError, match="is a link"):
        Library(whole)


def test_files_that_the_manifest_does_not_name_are_refused(library: Path) -> None:
    forge(library, lambda manifest: manifest["segments"][0].update(files={}), listing=False)
    with pytest.raises(InputError, match="does not belong to the library; remove it"):
        Library(library)
    with pytest.raises(InputError, match="does not belong to the library; remove it"):
        check(library, read_manifest(library), thorough=True)


@pytest.mark.parametrize(
    "name", ["../../../secret.txt", "/etc/passwd", "words/../../x", "a\\b", "C:x", "", "a//b"]
)
def test_a_manifest_cannot_name_files_outside_of_its_segment(library: Path, name: str) -> None:
    def change(manifest: dict[str, Any]) -> None:
        manifest["segments"][0]["files"][name] = [1, "00"]

    forge(library, change, listing=False)
    with pytest.raises(InputError, match="is not a path inside a segment"):
        Library(library)


@pytest.mark.parametrize(
    "change",
    [
        {"format": 4, "segments": [{"name": "../../other"}]},
        {"segments": "x" * 10},
        {"segments": [[]]},
        {"recipe": []},
        {"recipe": {"kind": ""}},
        {"recipe": {"name": "x", "parts": {"words": {"kind": "lexical", "fields": []}}}},
        {"languages": {"en": "many"}},
        {"languages": 7},
        {"version": {"a": 1}, "recipe": None},
        {"segments": [{"name": "000001", "posts": 10**400, "files": {}, "removed": []}]},
        {"segments": [{"name": "000001", "posts": 4, "files": {"a": [1]}, "removed": []}]},
        {"segments": [{"name": "000001", "posts": 4, "files": {}, "removed": [-1]}]},
    ],
)
def test_a_forged_manifest_is_refused_in_one_line(library: Path, change: dict[str, Any]) -> None:
    forge(library, lambda manifest: manifest.update(change), listing=False)
    with pytest.raises(InputError) as refused:
        Library(library)
    assert "\n" not in str(refused.value)


def test_a_deeply_nested_manifest_is_refused(library: Path) -> None:
    (library / "manifest.json").write_text('{"a":' * 100_000 + "1" + "}" * 100_000)
    with pytest.raises(InputError, match="nested too deeply"):
        Library(library)


def forge(library: Path, change: Callable[[dict[str, Any]], object], listing: bool = True) -> None:
    """Change a manifest; with ``listing``, compute all checksums again, as an attacker would."""
    path = library / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    if listing:
        seal(library / SEGMENT)
        manifest["segments"][0]["files"] = describe(library / SEGMENT)
    change(manifest)
    path.write_text(json.dumps(signed(manifest)), encoding="utf-8")


def everything(folder: Path) -> list[object]:
    """The answers of a library to all kinds of requests."""
    with Library(folder) as library:
        said: list[object] = [len(library), library.tags(20)]
        for query in QUERIES:
            said.append(library.search(query, 5))
            said.append(library.search(query, 5, where=Filter("en"), explain=False))
        said.append([(one.latex, one.score) for one in library.formulas("a^2+b^2", 5)])
        said += [library.posts_with(one, 3) for one in library.formulas("x", 1)]
        for hit in library.search(QUERIES[0], 3, explain=False):
            said += [library.post(hit.id), library.similar(hit.id, 3)]
        said.append(library.search("circle", 3, where=Filter(tags=("geometry",)), explain=False))
        return said


POISONS: dict[str, Callable[[np.ndarray[Any, Any]], np.ndarray[Any, Any]]] = {
    "large": lambda old: np.full_like(old, _largest(old)),
    "negative": lambda old: np.full_like(old, -1 if old.dtype.kind in "if" else 0),
    "zeros": np.zeros_like,
    "reversed": lambda old: old[::-1].copy(),
    "short": lambda old: old[: len(old) // 2].copy(),
    "empty": lambda old: old[:0].copy(),
    "nan": lambda old: np.full(old.shape, np.nan, dtype=np.float32),
    "text": lambda old: np.array(["poison"] * len(old)),
    "flat": lambda old: old.reshape(-1, 1),
    "number": lambda old: np.array(7),
}


def _largest(old: np.ndarray[Any, Any]) -> Any:
    return np.iinfo(old.dtype).max if old.dtype.kind in "iu" else np.finfo(old.dtype).max


@pytest.mark.exhaustive
@pytest.mark.thorough
@pytest.mark.parametrize("poison", POISONS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # sums of the largest numbers overflow
def test_arrays_made_to_mislead_give_an_answer_or_a_clear_error(
    tmp_path: Path, large_library: Path, poison: str
) -> None:
    names = [path.relative_to(large_library) for path in sorted(large_library.rglob("*.npy"))]
    for name in names:
        if name.name == "checksums.npy":
            continue
        library = tmp_path / name.parent.name / name.stem
        shutil.copytree(large_library, library)
        old = np.load(library / name)
        np.save(library / name, POISONS[poison](old))
        forge(library, lambda manifest: None)
        with suppress(InputError):
            everything(library)
        shutil.rmtree(library)


def test_an_array_of_objects_is_never_unpickled(tmp_path: Path, large_library: Path) -> None:
    library = Path(shutil.copytree(large_library, tmp_path / "library"))
    path = library / SEGMENT / "words" / "lengths.npy"
    np.save(path, np.array([Post("a", "b")], dtype=object), allow_pickle=True)
    forge(library, lambda manifest: None)
    with pytest.raises(DamagedLibrary, match=r"lengths\.npy: is damaged \(not a plain array"):
        Library(library)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "script",
    [
        "DROP TABLE tags; CREATE VIEW tags AS SELECT id AS tag, number FROM posts",
        "CREATE TRIGGER t AFTER INSERT ON posts BEGIN SELECT 1; END",
        "UPDATE posts SET record = '{}'",
        "UPDATE posts SET record = '[' || record",
        "UPDATE posts SET id = CAST(id AS BLOB)",
        "UPDATE posts SET number = number + 1000",
        "DELETE FROM posts WHERE number % 2",
        "UPDATE tags SET number = number + 10000",
        "UPDATE tags SET number = 'x' || number WHERE tag = 'geometry'",
    ],
)
def test_a_forged_store_is_refused_in_one_line(
    tmp_path: Path, large_library: Path, script: str
) -> None:
    library = Path(shutil.copytree(large_library, tmp_path / "library"))
    connection = sqlite3.connect(library / SEGMENT / "posts.sqlite")
    connection.executescript(script)
    connection.close()
    forge(library, lambda manifest: None)
    with pytest.raises(InputError) as refused:
        everything(library)
    assert "\n" not in str(refused.value)


@pytest.fixture(scope="module")
def large_library(sampler_folder: Path) -> Path:
    """A library with files of more than one block."""
    sizes = [path.stat().st_size for path in sampler_folder.rglob("*") if path.is_file()]
    assert sum(size > 2 << 16 for size in sizes) >= 4
    return sampler_folder


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.exhaustive)])
@pytest.mark.thorough
def test_damage_is_detected_before_it_can_change_an_answer(
    tmp_path: Path, large_library: Path, seed: int
) -> None:
    """Flip bits in large files, which opening does not read; none may change an answer."""
    chance = random.Random(seed)
    library = Path(shutil.copytree(large_library, tmp_path / "library"))
    expected = everything(library)
    large = [path for path in sorted(library.rglob("*")) if path.is_file()]
    large = [path for path in large if path.stat().st_size > 1 << 16]
    found = 0
    cases = 40 if seed == 1 else 400
    for _ in range(cases):
        path = chance.choice(large)
        content = path.read_bytes()
        broken = bytearray(content)
        for _ in range(chance.choice((1, 1, 8))):
            broken[chance.randrange(len(broken))] ^= 1 << chance.randrange(8)
        if chance.random() < 0.2:  # a block that was never written
            start = chance.randrange(len(broken)) & ~4095
            broken[start : start + 4096] = bytes(len(broken[start : start + 4096]))
        path.write_bytes(broken)
        try:
            assert everything(library) == expected, path
        except DamagedLibrary:
            found += 1
        path.write_bytes(content)
    assert found > cases / 2


@pytest.mark.parametrize(
    "spans",
    ["null", "{}", "[true]", "[0,[9],[],[]]", "[0,[{}],[],[]]", "[0,7,7,7]", '["",["x"]]', "["],
)
def test_spans_that_do_not_match_their_post_are_reported(
    tmp_path: Path, large_library: Path, spans: str
) -> None:
    library = Path(shutil.copytree(large_library, tmp_path / "library"))
    with sqlite3.connect(library / SEGMENT / "posts.sqlite") as connection:
        row = connection.execute("SELECT * FROM posts WHERE number = 0").fetchone()
        values = (*row[1:-2], spans)
        connection.execute(
            "UPDATE posts SET spans = ?, checksum = ? WHERE number = 0",
            (spans, zlib.crc32("\0".join(values).encode())),
        )
    forge(library, lambda manifest: None)
    with Library(library) as opened, pytest.raises(DamagedLibrary, match="has a damaged post"):
        opened.post(row[1])
