"""Posts that cannot be stored are reported when they are read, with file and line."""

import json
import os
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathsetu.collections import clmir, jsonl, stackexchange
from mathsetu.collections.files import read_lines
from mathsetu.collections.formats import FORMATS, detect, open_posts
from mathsetu.collections.rows import BadRows
from mathsetu.collections.seen_ids import SeenIds
from mathsetu.collections.tally import Tally
from mathsetu.collections.trec import read_qrels
from mathsetu.errors import InputError, RowError
from mathsetu.limits import LONGEST_NAME
from tests.command import Mathsetu
from tests.timing import assert_within

FIELDS = [
    ("id", "\ud800"),
    ("title", "a\udfff"),
    ("body", "x\ud83d"),
    ("question", "\udead"),
    ("tags", ["fine", "\ud800"]),
    ("url", "\ud800"),
    ("language", "\ud800"),
    ("collection", "\ud800"),
    ("kind", "\ud800"),
    ("thread_id", "\ud800"),
    ("parent_id", "\ud800"),
    ("formulas", [{"id": "q", "latex": "\ud800"}]),
]


@pytest.mark.parametrize(("field", "value"), FIELDS)
def test_a_lone_surrogate_in_any_field_makes_a_bad_row(
    tmp_path: Path, field: str, value: object
) -> None:
    path = tmp_path / "posts.jsonl"
    rows = [{"id": "1", "body": "emoji: \U0001f600"}, {"id": "2", "body": "x"} | {field: value}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="ascii")
    with pytest.raises(RowError, match=r"line 2: .*invalid character \(lone surrogate\)"):
        list(jsonl.read_posts(path))
    bad = BadRows(skip=True)
    assert [post.id for post in jsonl.read_posts(path, bad)] == ["1"]
    assert bad.count == 1


# Ids that occur twice


@given(st.lists(st.text(max_size=2), max_size=60))
def test_seen_ids_return_the_first_place_of_each_id(ids: list[str]) -> None:
    seen = SeenIds()
    first: dict[str, tuple[str, int]] = {}
    for line, one in enumerate(ids):
        assert seen.first_place(one, f"{line % 3}.jsonl", line) == first.get(one)
        first.setdefault(one, (f"{line % 3}.jsonl", line))


@pytest.mark.thorough
def test_seen_ids_stay_correct_while_their_table_grows() -> None:
    seen = SeenIds()
    assert not any(seen.first_place(str(n), "a", n) for n in range(20_000))
    assert all(seen.first_place(str(n), "b", 0) == ("a", n) for n in range(20_000))


def _posts_xml(*ids: str) -> str:
    rows = "".join(f'<row Id="{one}" PostTypeId="1" Body="" />\n' for one in ids)
    return f"<posts>\n{rows}</posts>\n"


@pytest.mark.parametrize(
    ("name", "content", "read", "line"),
    [
        ("p.jsonl", '{"id": "7", "body": ""}\n{"id": "7", "body": ""}\n', jsonl.read_posts, 2),
        ("Posts.xml", _posts_xml("7", "7"), stackexchange.read_posts, 3),
        ("p.csv", "ID,Title,Body\n7,a,b\n7,a,b\n", clmir.read_posts, 3),
    ],
)
def test_a_repeated_id_is_a_bad_row_if_ids_are_checked(
    tmp_path: Path, name: str, content: str, read: object, line: int
) -> None:
    assert callable(read)
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(RowError, match=rf"line {line}: id '7' occurs twice \(first in .* line "):
        list(read(path, BadRows(ids=SeenIds())))
    assert len(list(read(path, BadRows(skip=True, ids=SeenIds())))) == 1
    assert len(list(read(path))) == 2


@pytest.mark.thorough
def test_index_reports_or_skips_repeated_ids_across_files(mathsetu: Mathsetu) -> None:
    Path("notes").mkdir()
    Path("notes/a.md").write_text("# One\n\nText $x$.\n")
    Path("a.jsonl").write_text('{"id": "7", "body": "one"}\n{"id": "8", "body": "two \\ud800"}\n')
    Path("b.jsonl").write_text('{"id": "9", "body": "three"}\n\n{"id": "7", "body": "four"}\n')
    sources, way_out = ("a.jsonl", "b.jsonl", "notes"), "(--skip-bad leaves out what is wrong)"
    said = mathsetu.refuses("index", "lib", *sources)
    wrong = 'a.jsonl line 2: "body" contains an invalid character (lone surrogate)'
    assert said == f"mathsetu: {wrong} {way_out}"
    Path("a.jsonl").write_text('{"id": "7", "body": "one"}\n')
    said = mathsetu.refuses("index", "lib", *sources)
    wrong = "b.jsonl line 3: id '7' occurs twice (first in a.jsonl line 1)"
    assert said == f"mathsetu: {wrong} {way_out}"
    done = mathsetu("index", "lib", *sources, "notes/", "--skip-bad", "--processes", "1")
    assert done.code == 0, done.err
    assert "3 posts indexed" in done.out
    assert "2 bad rows or files skipped" in done.out
    twice = "notes/a.md line 1: id 'notes/a.md#one' occurs twice (was the file given twice?)"
    assert twice in done.err
    assert "no text" not in done.out


def test_a_document_given_twice_is_reported_without_a_line_number(
    tmp_path: Path,
) -> None:
    note = tmp_path / "a.tex"
    note.write_text(r"\section{One} Text. \section{Two} Text.")
    bad = BadRows(skip=True, ids=SeenIds(), tally=Tally())
    assert len(list(open_posts(note, bad))) == 2
    assert list(open_posts(note, bad)) == []
    assert bad.messages == [
        f"{note}: id 'a.tex#{name}' occurs twice (was the file given twice?)"
        for name in ("one", "two")
    ]
    assert bad.tally is not None
    assert not bad.tally.ignored.counts


@pytest.mark.thorough
def test_add_counts_skipped_rows(mathsetu: Mathsetu) -> None:
    assert mathsetu("index", "lib", "sampler", "--recipe", "msm-bm25", "--processes", "1").code == 0
    Path("a.jsonl").write_text('{"id": "7", "body": "one"}\n{"id": "7", "body": "two"}\n')
    done = mathsetu("add", "lib", "a.jsonl", "--skip-bad")
    assert done.code == 0
    assert "1 post added, 1 bad row or file skipped" in done.out


# Posts that are too large


def test_a_post_beyond_the_limits_is_a_bad_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mathsetu.collections.source_text.MAX_FORMULAS", 3)
    monkeypatch.setattr("mathsetu.collections.source_text.LONGEST_TEXT", 50)
    monkeypatch.setattr("mathsetu.collections.jsonl.LONGEST_TEXT", 50)
    many, long = "$x$ " * 4, "x" * 51
    lines = tmp_path / "p.jsonl"
    lines.write_text("".join(json.dumps({"id": t, "body": t}) + "\n" for t in ("a", many, long)))
    table = tmp_path / "p.csv"
    table.write_text(f"ID,Title,Body\n1,a,b\n2,,{many}\n3,,{long}\n")
    dump = tmp_path / "Posts.xml"
    rows = "".join(f'<row Id="{t}" PostTypeId="1" Body="{t}" />\n' for t in ("a", many, long))
    dump.write_text(f"<posts>\n{rows}</posts>")
    for path in (lines, table, dump):
        bad = BadRows(skip=True)
        assert len(list(detect(path).read(path, bad))) == 1
        assert "4 formulas where at most 3 are allowed" in bad.messages[0]
        assert "is longer than 50 characters" in bad.messages[1]


# Paths that are not regular files


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
@pytest.mark.parametrize("ending", ["", ".gz", ".xz", ".bz2"])
def test_a_named_pipe_is_refused_without_waiting(tmp_path: Path, ending: str) -> None:
    pipe = tmp_path / f"posts.jsonl{ending}"
    os.mkfifo(pipe)
    said: list[str] = []

    def read() -> None:
        try:
            list(read_lines(pipe))
        except InputError as error:
            said.append(str(error))

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    thread.join(10)
    assert not thread.is_alive(), "the reader waits for somebody who writes"
    assert said == [f"{pipe}: cannot be read (not a regular file; save its content in one)"]


FILES = [name for name in sorted(FORMATS) if not name.startswith("ir_datasets")]


@pytest.mark.parametrize("name", FILES)
def test_every_reader_refuses_a_folder_or_device(name: str, tmp_path: Path) -> None:
    for path in (tmp_path, Path("/dev/null"), Path("/dev/zero")):
        if name == "folder" and path == tmp_path:
            continue
        with pytest.raises(InputError, match=r"is a directory|not a regular file|not a folder"):
            list(FORMATS[name].read(path, BadRows()))


@pytest.mark.thorough
def test_a_body_with_millions_of_formulas_is_refused_quickly(tmp_path: Path) -> None:
    path = tmp_path / "posts.jsonl"
    rows = [{"id": "1", "body": "$x$" * 3_000_000}, {"id": "2", "body": "$x$"}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert_within(5, lambda: list(jsonl.read_posts(path, BadRows(skip=True))))
    bad = BadRows(skip=True)
    assert [post.id for post in jsonl.read_posts(path, bad)] == ["2"]
    assert "line 1: the body has more than 100,000 formulas" in bad.messages[0]


@pytest.mark.parametrize("name", ["id", "tags"])
def test_an_id_or_tag_that_is_too_long_is_a_bad_row(tmp_path: Path, name: str) -> None:
    long = "x" * (LONGEST_NAME + 1)
    row = {"id": long, "body": "b"} if name == "id" else {"id": "1", "body": "b", "tags": [long]}
    path = tmp_path / "posts.jsonl"
    path.write_text(json.dumps(row) + '\n{"id": "2", "body": "b"}\n', encoding="utf-8")
    with pytest.raises(RowError, match=r"posts\.jsonl line 1: .* has 1,001 characters; at most"):
        list(jsonl.read_posts(path))
    bad = BadRows(skip=True)
    assert [post.id for post in jsonl.read_posts(path, bad)] == ["2"]
    assert bad.count == 1


def test_byte_order_marks_inside_a_file_are_not_part_of_ids(tmp_path: Path) -> None:
    path = tmp_path / "posts.jsonl"
    row = '{"id": "%s", "body": "b"}\n'
    path.write_text("\ufeff" + row % "1" + "\ufeff" + row % "2", encoding="utf-8")
    assert [post.id for post in jsonl.read_posts(path)] == ["1", "2"]


def test_a_byte_order_mark_inside_a_row_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "qrels.txt"
    path.write_text("1 0 9 0\n\t\ufeff1 0 9 0\n", encoding="utf-8")
    with pytest.raises(RowError, match=r"qrels\.txt line 2: contains a byte order mark"):
        list(read_qrels(path))


def test_seen_ids_keep_the_file_and_a_line_number_of_at_most_40_bits() -> None:
    seen = SeenIds()
    for number in range(3):
        for line in (1, 1 << 33, 1 << 41):
            assert seen.first_place(f"{number}:{line}", f"file{number}", line) is None
    for number in range(3):
        for line, told in ((1, 1), (1 << 33, 1 << 33), (1 << 41, (1 << 40) - 1)):
            assert seen.first_place(f"{number}:{line}", "x", 9) == (f"file{number}", told)
