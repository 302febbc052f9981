"""Opening and writing files."""

import gzip
import io
import os
from pathlib import Path

import pytest

from mathsetu.collections import files
from mathsetu.collections.files import read_head, read_lines, writing
from mathsetu.collections.rows import BadRows
from mathsetu.errors import InputError, RowError


@pytest.mark.parametrize("ending", ["", ".gz", ".xz", ".bz2"])
def test_written_lines_are_read_back_compressed_or_not(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"text{ending}"
    with writing(path) as file:
        file.write("एक\nδύο\n")
    assert list(read_lines(path)) == [(1, "एक"), (2, "δύο")]
    assert (path.read_bytes()[:2] == "एक".encode()[:2]) == (ending == "")


def test_the_same_text_gives_the_same_compressed_bytes(tmp_path: Path) -> None:
    contents = []
    for name in ("a.gz", "b.gz"):
        with writing(tmp_path / name) as file:
            file.write("same\n")
        contents.append((tmp_path / name).read_bytes())
    assert contents[0] == contents[1]


def test_a_byte_order_mark_and_windows_line_ends_are_removed(tmp_path: Path) -> None:
    path = tmp_path / "windows.txt"
    path.write_bytes(b"\xef\xbb\xbfone\r\ntwo\r\n")
    assert list(read_lines(path)) == [(1, "one"), (2, "two")]
    assert read_head(path).startswith("one")


def test_a_byte_that_is_not_utf8_is_a_bad_row_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "latin1.txt"
    path.write_bytes(b"fine\ncaf\xe9\nfine again\n")
    with pytest.raises(RowError, match=r"latin1\.txt line 2: byte 0xe9 at position 4 is not UTF-8"):
        list(read_lines(path))
    bad = BadRows(skip=True)
    assert [text for _, text in read_lines(path, bad)] == ["fine", "fine again"]
    assert (bad.count, bad.errors[0].line) == (1, 2)


@pytest.mark.parametrize(
    ("name", "reason"), [("absent.txt", "no such file"), (".", "is a directory")]
)
def test_a_path_that_cannot_be_opened_is_reported_in_one_line(
    tmp_path: Path, name: str, reason: str
) -> None:
    with pytest.raises(InputError, match=reason) as caught:
        list(read_lines(tmp_path / name))
    assert "\n" not in str(caught.value)


CUT_OFF = gzip.compress(b"text\n" * 1000)[:-30]


@pytest.mark.parametrize("content", [b"not gzip at all", CUT_OFF], ids=["none", "cut off"])
def test_broken_compression_is_an_input_error(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "broken.gz"
    path.write_bytes(content)
    with pytest.raises(InputError, match="compressed data is corrupt"):
        list(read_lines(path))


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, ValueError])
@pytest.mark.parametrize("ending", ["", ".gz", ".xz"])
def test_an_interrupted_write_leaves_only_the_old_file(
    tmp_path: Path, interruption: type[BaseException], ending: str
) -> None:
    path = tmp_path / f"posts{ending}"
    path.write_text("old")

    def write_half() -> None:
        with writing(path) as file:
            file.write("half of the new")
            raise interruption

    with pytest.raises(interruption):
        write_half()
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == [path.name]


def test_writing_through_a_link_keeps_the_link(tmp_path: Path) -> None:
    (tmp_path / "real.txt").write_text("old")
    (tmp_path / "link.txt").symlink_to("real.txt")
    with writing(tmp_path / "link.txt") as file:
        file.write("new")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real.txt").read_text() == "new"


def test_writing_to_a_folder_or_into_a_missing_folder_is_refused(tmp_path: Path) -> None:
    for target in (tmp_path, tmp_path / "absent" / "file.txt"):
        with pytest.raises(InputError), writing(target):
            pass


def test_text_with_a_lone_surrogate_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="invalid character"), writing(tmp_path / "a.txt") as file:
        file.write("\ud800")


def test_a_dash_means_standard_input_and_output(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO("π\n".encode())))
    assert list(read_lines("-")) == [(1, "π")]
    with writing("-") as file:
        file.write("out")
    assert capsys.readouterr().out == "out"


@pytest.mark.parametrize("is_terminal", [False, True])
def test_escape_characters_are_removed_only_for_a_terminal(
    monkeypatch: pytest.MonkeyPatch, is_terminal: bool
) -> None:
    out = io.StringIO()
    monkeypatch.setattr(out, "isatty", lambda: is_terminal)
    monkeypatch.setattr("sys.stdout", out)
    with writing("-") as file:
        file.write("\x1b[2Jtext\n")
    assert ("\x1b" in out.getvalue()) != is_terminal
    assert out.getvalue().endswith("text\n")


def test_the_length_of_a_line_is_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LONGEST_LINE", 3 << 20)
    path = tmp_path / "a.txt"
    path.write_bytes(b"x" * ((3 << 20) - 2) + b"\nb\n")
    assert [len(line) for _, line in files.read_lines(path)] == [(3 << 20) - 2, 1]
    path.write_bytes(b"a\n" + b"x" * (3 << 20))
    with pytest.raises(RowError, match=r"a.txt line 2: the line is longer than 3 MiB$"):
        list(files.read_lines(path))


def test_the_first_characters_of_a_file_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("\ufeff" + "ä" * 3000)
    assert files.read_head(path, 4) == ""
    assert files.read_head(path, 6) == "ä"
    assert len(files.read_head(path)) == (4096 - 3) // 2


def test_a_file_is_synced_to_disk_before_it_gets_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[str, bool]] = []
    path = tmp_path / "a.txt"
    real = os.fsync
    monkeypatch.setattr(
        files.os, "fsync", lambda number: (seen.append(("", path.exists())), real(number))
    )
    with files.writing(path) as file:
        file.write("x")
    assert seen == [("", False)]
    assert path.read_text() == "x"
