"""Folders and archives as trees of files."""

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
from pathlib import Path

import pytest

from mathsetu.collections import trees
from mathsetu.collections.rows import BadRows
from mathsetu.collections.tally import Tally
from mathsetu.collections.trees import (
    FolderTree,
    TarTree,
    ZipTree,
    clean_name,
    compression,
    open_archive,
)
from mathsetu.errors import InputError


def zipped(members: dict[str, bytes]) -> io.BytesIO:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer


def tarred(members: dict[str, bytes]) -> io.BytesIO:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    buffer.seek(0)
    return buffer


def counting() -> tuple[BadRows, Tally]:
    tally = Tally()
    return BadRows(tally=tally, notes=[]), tally


def test_an_archive_lists_finds_and_reads_its_files_by_name() -> None:
    members = {"b/two.md": b"22", "a.md": b"1", ".hidden": b"x", "b/.hidden": b"x", "../c": b"x"}
    for tree in (ZipTree(zipped(members), "a.zip"), TarTree(tarred(members), "a.zip")):
        bad, tally = counting()
        assert list(tree.entries(bad)) == [("a.md", 1), ("b/two.md", 2)]
        assert tally.ignored.first == {"a path that leads outside its archive": ["a.zip: ../c"]}
        assert tree.has("b/two.md")
        assert not tree.has("two.md")
        assert tree.read("b/two.md", 2) == b"22"
        with pytest.raises(InputError, match=r"^a.zip/b/two.md: the file is longer than 0 MiB$"):
            tree.read("b/two.md", 1)


def test_an_encrypted_member_is_reported_as_ignored() -> None:
    tree = ZipTree(zipped({"a.md": b"1", "b.md": b"2"}), "a.zip")
    tree._members["a.md"].flag_bits |= 1
    bad, tally = counting()
    assert list(tree.entries(bad)) == [("b.md", 1)]
    assert tally.ignored.first == {"encrypted": ["a.zip/a.md"]}


def test_the_number_of_members_of_an_archive_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trees, "MAX_MEMBERS", 2)
    members = {"a": b"1", "b": b"2"}
    for make, pack in ((ZipTree, zipped), (TarTree, tarred)):
        assert len(list(make(pack(members), "x").entries(BadRows()))) == 2
        with pytest.raises(InputError, match=r"^x: has more than 2 members$"):
            list(make(pack({**members, "c": b"3"}), "x").entries(BadRows()))


def test_a_large_archive_may_unpack_to_at_most_a_hundred_times_its_size(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(trees, "LONGEST_ARCHIVE", 10)
    trees._check_growth(10, 0, "x")
    trees._check_growth(200, 2, "x")
    with pytest.raises(InputError, match=r"^x: claims to unpack to 0 MiB, more than 100 times"):
        trees._check_growth(201, 2, "x")


def test_the_unpacked_size_of_a_compressed_archive_is_limited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = tarred({"a": b"1"}).getvalue()
    path = tmp_path / "a.tar.gz"
    path.write_bytes(gzip.compress(whole))
    monkeypatch.setattr(trees, "LONGEST_ARCHIVE", len(whole))
    with open_archive(path, "x") as tree:
        assert tree is not None
        assert tree.has("a")
    monkeypatch.setattr(trees, "LONGEST_ARCHIVE", len(whole) - 1)
    with (
        pytest.raises(InputError, match=r"^x: unpacks to more than 0 MiB"),
        open_archive(path, "x"),
    ):
        pass


def test_compression_is_recognised_by_the_first_bytes() -> None:
    for pack in (gzip.compress, lzma.compress, bz2.compress):
        data = pack(b"text")
        unpack = compression(data[:16])
        assert unpack is not None
        assert unpack(io.BytesIO(data)).read() == b"text"
    assert compression(b"\x28\xb5\x2f\xfd....") is trees.open_zstd
    assert compression(b"text") is None


def test_a_7z_archive_inside_another_archive_is_refused() -> None:
    data = b"7z\xbc\xaf\x27\x1c"
    with (
        pytest.raises(InputError, match=r"^x: a 7z archive inside another"),
        open_archive("a.7z", "x", data),
    ):
        pass
    with open_archive("a", "x", b"text") as tree:
        assert tree is None


def test_names_that_lead_outside_the_archive_become_empty() -> None:
    names = ["a\\b", "a/../b", "..", ".", "../a", "a/../../b", "/a", "a\0b", "..a"]
    assert list(map(clean_name, names)) == ["a/b", "b", "", "", "", "", "", "", "..a"]


def test_hidden_files_links_and_libraries_in_a_folder_are_skipped(tmp_path: Path) -> None:
    for name in ("b/z.md", "b/a.md", "a.md", ".git/x", ".x", "lib/manifest.json"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text('{"mathsetu": "library"}')
    (tmp_path / "link").symlink_to(tmp_path / "b")
    (tmp_path / "link.md").symlink_to(tmp_path / "a.md")
    tree = FolderTree(tmp_path)
    bad, tally = counting()
    names = [entry.name for entry in tree.entries(bad)]
    assert names == ["a.md", "b/a.md", "b/z.md"]
    assert tally.ignored.counts["hidden"] == 2
    assert tally.ignored.first["a library"] == [str(tmp_path / "lib")]
    assert tally.ignored.first["a link, not followed"] == [
        str(tmp_path / "link"),
        str(tmp_path / "link.md"),
    ]
    assert tree.has("b/a.md")
    assert not any(map(tree.has, ("link.md", "link/a.md", "b", "b/../a.md", "b//a.md", "c")))


def test_a_folder_that_cannot_be_read_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def closed(place: Path) -> object:
        raise PermissionError(13, "Permission denied", str(place))

    monkeypatch.setattr(trees.os, "scandir", closed)
    bad, tally = counting()
    assert list(FolderTree(tmp_path).entries(bad)) == []
    ((why, places),) = tally.ignored.first.items()
    assert why.startswith("a folder that cannot be read: ")
    assert places == [str(tmp_path)]
