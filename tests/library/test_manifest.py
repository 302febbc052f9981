"""The manifest of a library, and the checks of the files in its folder."""

from dataclasses import asdict
from pathlib import Path

import pytest

from mathsetu.errors import DamagedLibrary, InputError
from mathsetu.library import manifest as manifests
from mathsetu.library.manifest import (
    FORMAT,
    Manifest,
    Segment,
    check,
    check_models,
    check_place,
    describe,
    former_segments,
    is_ours,
    is_segment_name,
    read_former_manifest,
    read_manifest,
    segment_folder,
    write_manifest,
)
from mathsetu.library.write import _plain
from mathsetu.places import MARK
from mathsetu.retrieval.mapped import CHECKSUMS
from tests.light import LIGHT

RECIPE = _plain(asdict(LIGHT))


def made(folder: Path, *segments: Segment, **more: object) -> Manifest:
    every = segments or (Segment("000001", 3, {"a/b.npy": (1, "c")}, (0, 2)),)
    manifest = Manifest(RECIPE, every, {"en": 1}, "1.0", **more)  # type: ignore[arg-type]
    folder.mkdir(exist_ok=True)
    write_manifest(folder, manifest)
    return manifest


def test_a_manifest_is_read_as_it_was_written(tmp_path: Path) -> None:
    manifest = made(tmp_path, models={"meaning": "m"})
    assert read_manifest(tmp_path) == manifest
    assert manifest.posts == 1
    assert manifest.without("000001", frozenset({1})).segments[0].removed == (0, 1, 2)
    assert manifest.without("000002", frozenset({1})) == manifest
    former = read_former_manifest(tmp_path)
    assert (former.format, former.segments) == (FORMAT, (("000001", frozenset({0, 2})),))
    assert former.recipe["name"] == "light"
    assert former_segments(tmp_path) == {"000001"}


@pytest.mark.parametrize(
    ("segment", "problem"),
    [
        (Segment("1", 1, {}), "'1' is not a name of a segment"),
        (Segment("000001", 1, {}, (1,)), "lacks posts that were removed from it"),
        (Segment("000001", 1, {}, (-1,)), "lacks posts that were removed from it"),
        (Segment("000001", 1, {"../a": (1, "c")}), "'../a' is not a path inside a segment"),
        (Segment("000001", 1, {"./a": (1, "c")}), "is not a path inside a segment"),
        (Segment("000001", 1, {"a//b": (1, "c")}), "is not a path inside a segment"),
        (Segment("000001", 1, {"a:b": (1, "c")}), "is not a path inside a segment"),
        (Segment("000001", 1, {"a\\b": (1, "c")}), "is not a path inside a segment"),
    ],
)
def test_a_manifest_with_invalid_segments_is_damaged(
    tmp_path: Path, segment: Segment, problem: str
) -> None:
    made(tmp_path, segment)
    with pytest.raises(DamagedLibrary, match=problem):
        read_manifest(tmp_path)


def test_a_manifest_with_two_segments_of_the_same_name_is_damaged(tmp_path: Path) -> None:
    made(tmp_path, Segment("000001", 1, {}), Segment("000001", 1, {}))
    with pytest.raises(DamagedLibrary, match="two segments have the same name"):
        read_manifest(tmp_path)


def test_the_error_for_another_format_names_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for written, remedy in ((FORMAT + 1, "install a newer version"), (FORMAT - 1, "convert it in")):
        monkeypatch.setattr(manifests, "FORMAT", written)
        made(tmp_path)
        monkeypatch.undo()
        with pytest.raises(
            InputError, match=f"in format {written}, .*reads format {FORMAT}; {remedy}"
        ):
            read_manifest(tmp_path)
        assert read_former_manifest(tmp_path).format == written


def test_the_size_of_a_manifest_is_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made(tmp_path)
    size = (tmp_path / "manifest.json").stat().st_size
    monkeypatch.setattr(manifests, "_LARGEST", size)
    assert read_manifest(tmp_path).posts == 1
    monkeypatch.setattr(manifests, "_LARGEST", size - 1)
    with pytest.raises(DamagedLibrary, match="too large"):
        read_manifest(tmp_path)
    assert former_segments(tmp_path) == set()


def test_segments_have_names_of_six_to_nine_digits() -> None:
    names = ["00001", "000001", "999999999", "0000000001", "00000a", "٠٠٠٠٠١"]
    assert [is_segment_name(name) for name in names] == [False, True, True, False, False, False]


def test_vectors_of_another_model_are_refused(tmp_path: Path) -> None:
    manifest = made(tmp_path, models={"meaning": "old"})
    check_models(tmp_path, manifest, {"meaning": "old"})
    check_models(tmp_path, manifest, {"other": "new"})
    with pytest.raises(InputError, match=r"'meaning' were made by another model \(old, now new\)"):
        check_models(tmp_path, manifest, {"meaning": "new"})


def test_only_folders_that_were_made_for_segments_may_be_removed(tmp_path: Path) -> None:
    for name in ("000001", "000002.building", "notes", "000003"):
        (tmp_path / name).mkdir()
    (tmp_path / "000003" / "mine.txt").write_text("x")
    (tmp_path / "marked").mkdir()
    (tmp_path / "marked" / MARK).write_text("{}")
    (tmp_path / "000004").write_text("x")
    ours = [path.name for path in sorted(tmp_path.iterdir()) if is_ours(path)]
    assert ours == ["000001", "000002.building", "marked"]


def test_a_build_over_other_files_is_refused(tmp_path: Path) -> None:
    check_place(tmp_path / "new")
    (tmp_path / "empty").mkdir()
    check_place(tmp_path / "empty")
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="is a file; choose a folder"):
        check_place(tmp_path / "file")
    with pytest.raises(InputError, match="is not a library and not empty"):
        check_place(tmp_path)
    made(tmp_path / "ours")
    (tmp_path / "ours" / "notes.txt").write_text("x")
    check_place(tmp_path / "ours")
    begun = tmp_path / "begun" / "segments" / "000001.building"
    begun.mkdir(parents=True)
    check_place(tmp_path / "begun")
    (begun / "mine.txt").write_text("x")
    with pytest.raises(InputError, match="is not a library and not empty"):
        check_place(tmp_path / "begun")
    other = tmp_path / "other"
    other.mkdir()
    (other / "manifest.json").write_text('{"name": "a web app"}')
    with pytest.raises(InputError, match="is not a library and not empty"):
        check_place(other)
    (other / "manifest.json").unlink()
    (other / "manifest.json").symlink_to(tmp_path / "file")
    with pytest.raises(InputError, match="is a link, which a library must not contain; remove it"):
        check_place(other)


def segment(library: Path) -> Manifest:
    folder = segment_folder(library, "000001")
    folder.mkdir(parents=True)
    for name, content in (("a.npy", "abc"), (CHECKSUMS, "sums")):
        (folder / name).write_text(content)
    return Manifest(RECIPE, (Segment("000001", 1, describe(folder)),), {}, "1.0")


def test_files_of_a_segment_are_compared_with_the_manifest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifest = segment(tmp_path)
    folder = segment_folder(tmp_path, "000001")
    check(tmp_path, manifest)
    (folder / "a.npy").write_text("abd")
    with pytest.raises(DamagedLibrary, match=r"a.npy.* its content has changed"):
        check(tmp_path, manifest)
    monkeypatch.setattr(manifests, "_SMALL", 3)
    with pytest.raises(DamagedLibrary, match="its content has changed"):
        check(tmp_path, manifest)
    # A larger file is checked when it is read.
    monkeypatch.setattr(manifests, "_SMALL", 2)
    check(tmp_path, manifest)
    with pytest.raises(DamagedLibrary, match="its content has changed"):
        check(tmp_path, manifest, thorough=True)
    (folder / CHECKSUMS).write_text("sumz")
    with pytest.raises(DamagedLibrary, match="its content has changed"):
        check(tmp_path, manifest)
    (folder / "a.npy").write_text("abcd")
    with pytest.raises(DamagedLibrary, match=r"a.npy.* has 4 bytes instead of 3"):
        check(tmp_path, manifest)
    (folder / "a.npy").unlink()
    with pytest.raises(DamagedLibrary, match=r"a.npy.* is missing"):
        check(tmp_path, manifest)
    with pytest.raises(DamagedLibrary, match="its manifest names no posts"):
        check(tmp_path, Manifest(RECIPE, (), {}, "1.0"))


def test_other_files_in_a_segment_are_refused(tmp_path: Path) -> None:
    manifest = segment(tmp_path)
    folder = segment_folder(tmp_path, "000001")
    (folder / "mine.txt").write_text("x")
    with pytest.raises(InputError, match=r"mine.txt: does not belong to the library; remove it"):
        check(tmp_path, manifest)
    (folder / "mine.txt").unlink()
    (folder / "link").symlink_to(tmp_path)
    with pytest.raises(InputError, match="is a link, which a library must not contain; remove it"):
        check(tmp_path, manifest)
    (folder / "link").unlink()
    (folder / "deep").mkdir()
    (folder / "deep" / "b.npy").write_text("x")
    bare = Manifest(RECIPE, (Segment("000001", 1, describe(folder)),), {}, "1.0")
    with pytest.raises(DamagedLibrary, match="lies in a folder without checksums"):
        check(tmp_path, bare)


def test_each_kind_of_place_that_is_not_a_library_has_its_own_error(tmp_path: Path) -> None:
    for place, problem in (
        (tmp_path / "gone", "there is no such library"),
        (tmp_path, "is not a library, it has no manifest.json"),
    ):
        with pytest.raises(InputError, match=problem):
            read_manifest(place)
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="is a file, not a library"):
        read_manifest(tmp_path / "file")
    with pytest.raises(InputError, match=r"it has no manifest.json"):
        read_former_manifest(tmp_path)
    begun = tmp_path / "begun" / "segments" / "000001.building"
    begun.mkdir(parents=True)
    (begun / MARK).write_text('{"mathsetu": "segment"}')
    with pytest.raises(InputError, match="its first build is not complete"):
        read_manifest(tmp_path / "begun")


def test_other_links_in_the_folder_of_a_library_are_allowed(tmp_path: Path) -> None:
    made(tmp_path / "ours")
    (tmp_path / "ours" / "notes").symlink_to(tmp_path)
    check_place(tmp_path / "ours")


def test_a_manifest_is_synced_to_disk_before_it_replaces_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(tmp_path)
    before = (tmp_path / "manifest.json").read_bytes()
    seen: list[bool] = []
    real = manifests.os.fsync

    def watched(number: int) -> None:
        seen.append((tmp_path / "manifest.json").read_bytes() == before)
        real(number)

    monkeypatch.setattr(manifests.os, "fsync", watched)
    made(tmp_path, Segment("000002", 7, {}))
    # The file is synced first, then its folder.
    assert seen == [True, False]
    assert read_manifest(tmp_path).posts == 7
