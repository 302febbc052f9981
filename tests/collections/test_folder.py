"""A folder of notes: a post for each section."""

import errno
import gzip
import io
import os
import zipfile
from functools import partial
from pathlib import Path
from typing import BinaryIO

import pytest

from mathsetu.collections import folder
from mathsetu.collections.folder import has_file, read_file, read_posts
from mathsetu.collections.formats import FORMATS, open_posts
from mathsetu.collections.rows import BadRows
from mathsetu.collections.seen_ids import SeenIds
from mathsetu.collections.tally import Tally
from mathsetu.errors import InputError, RowError
from mathsetu.plain_files import open_plain
from tests.timing import assert_grows_at_most


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_markdown_is_split_at_headings_up_to_the_third_level(tmp_path: Path) -> None:
    write(
        tmp_path / "notes" / "analysis.md",
        "---\ntitle: Lectures\n---\nPreface with $p$.\n\n# Taylor series\n\nLet $f$ be *smooth*.\n"
        "\n#### Too deep\n\nstill here\n\nUnderlined\n----------\n\ntext\n\n"
        "```python\n# no heading\n```\n\n### About $x^2$ ###\n\nlast\n",
    )
    posts = list(read_posts(tmp_path, language="en"))
    assert [(post.id, post.title) for post in posts] == [
        ("notes/analysis.md", "Lectures"),
        ("notes/analysis.md#taylor-series", "Lectures › Taylor series"),
        ("notes/analysis.md#underlined", "Lectures › Taylor series › Underlined"),
        ("notes/analysis.md#about-x2", "Lectures › Taylor series › Underlined › About $x^2$"),
    ]
    assert posts[1].body == "Let $f$ be smooth.\nToo deep\nstill here"
    assert "# no heading" in posts[2].body
    assert posts[3].formulas[0].where == "title"
    assert posts[1].url == posts[1].id
    assert {post.thread_id for post in posts} == {"notes/analysis.md"}
    assert {post.language for post in posts} == {"en"}


def test_html_sections_keep_the_ids_of_their_headings(tmp_path: Path) -> None:
    write(
        tmp_path / "page.html",
        "<html><head><title>My page</title></head><body><p>Intro</p>"
        '<h1 class="x" id="top">All <em>about</em> $x$</h1><p>One $y$.</p><h2>Next</h2><p>Two</p>'
        "</body></html>",
    )
    posts = list(read_posts(tmp_path))
    assert [(post.id, post.title, post.body) for post in posts] == [
        ("page.html", "My page", "Intro"),
        ("page.html#top", "My page › All about $x$", "One $y$."),
        ("page.html#next", "My page › All about $x$ › Next", "Two"),
    ]


def test_latex_is_split_at_sections_and_keeps_labels(tmp_path: Path) -> None:
    write(
        tmp_path / "paper.tex",
        "\\documentclass{article}\\title{A paper}\\newcommand{\\R}{x}\n\\begin{document}\n"
        "Hello.\n% \\section{Commented out}\n\\section{Sums of $a_{n}$}\\label{sec:sums}\n"
        "Here $x$.\n\\subsection*{More}\nText\n\\end{document}\nignored",
    )
    posts = list(read_posts(tmp_path))
    assert [(post.id, post.title) for post in posts] == [
        ("paper.tex", "A paper"),
        ("paper.tex#sec:sums", "A paper › Sums of $a_{n}$"),
        ("paper.tex#more", "A paper › Sums of $a_{n}$ › More"),
    ]
    assert posts[1].body == "Here $x$."
    assert posts[2].body == "Text"


def test_equal_headings_get_different_stable_anchors(tmp_path: Path) -> None:
    write(tmp_path / "a.md", "# Proof\na\n# Proof\nb\n# Proof\nc\n# ?\nd\n")
    anchors = [post.id for post in read_posts(tmp_path)]
    assert anchors == ["a.md#proof", "a.md#proof-1", "a.md#proof-2", "a.md#section"]


def test_headings_in_any_script_make_readable_anchors(tmp_path: Path) -> None:
    write(tmp_path / "a.md", "# श्रेणी का योग\n\nपाठ\n")
    assert next(read_posts(tmp_path)).id == "a.md#श्रेणी-का-योग"


def test_files_are_read_in_sorted_order_without_hidden_or_unsupported_ones(tmp_path: Path) -> None:
    for name in ("b.md", "a/z.md", "a/c.tex", ".hidden.md", ".git/x.md", "data.csv", "C.HTML"):
        write(tmp_path / name, "text")
    assert [post.id for post in read_posts(tmp_path)] == ["C.HTML", "b.md", "a/c.tex", "a/z.md"]


def test_links_are_noted_and_not_followed(tmp_path: Path) -> None:
    notes, secret = tmp_path / "notes", tmp_path / "secret" / "key.md"
    write(notes / "a" / "note.md", "text")
    write(secret, "secret")
    (notes / "a" / "loop").symlink_to(notes, target_is_directory=True)
    (notes / "outside").symlink_to(secret.parent, target_is_directory=True)
    (notes / "key.md").symlink_to(secret)
    (notes / "gone.md").symlink_to(tmp_path / "absent")
    bad = BadRows(notes=[])
    assert [post.id for post in read_posts(notes, bad)] == ["a/note.md"]
    assert bad.notes is not None
    assert sorted(note.split(":")[0].removeprefix(f"{notes}/") for note in bad.notes) == [
        "a/loop", "gone.md", "key.md", "outside",
    ]  # fmt: skip


def test_the_folder_itself_may_be_a_link(tmp_path: Path) -> None:
    write(tmp_path / "notes" / "note.md", "text")
    (tmp_path / "link").symlink_to(tmp_path / "notes", target_is_directory=True)
    assert [post.id for post in read_posts(tmp_path / "link")] == ["note.md"]


def test_a_file_replaced_by_a_link_during_reading_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "secret.txt", "secret")
    write(tmp_path / "notes" / "note.md", "text")
    (tmp_path / "notes" / "other.md").symlink_to(tmp_path / "secret.txt")
    # The check ran before the file was replaced by a link.
    monkeypatch.setattr(Path, "is_symlink", lambda self: False)
    bad = BadRows(skip=True)
    assert [post.id for post in read_posts(tmp_path / "notes", bad)] == ["note.md"]
    assert bad.count == 1


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_pipe_in_a_folder_is_skipped(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    write(tmp_path / "note.md", "text")
    assert [post.id for post in read_posts(tmp_path)] == ["note.md"]


def test_a_file_name_that_is_not_utf8_is_a_bad_row(tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9.md")
    try:
        write(tmp_path / name, "text")
    except OSError:
        pytest.skip("this file system takes only names in UTF-8")
    write(tmp_path / "note.md", "text")
    bad = BadRows(skip=True)
    assert [post.id for post in read_posts(tmp_path, bad)] == ["note.md"]
    assert "the name of the file is not UTF-8" in bad.messages[0]


def test_a_bad_section_is_reported_with_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mathsetu.collections.source_text.MAX_FORMULAS", 2)
    write(tmp_path / "a.md", "---\ntags: x\n---\n# One\n\n$a$\n\n# Two\n$a$ $b$ $c$\n")
    with pytest.raises(RowError, match=r"a\.md line 8: the body has 3 formulas"):
        list(read_posts(tmp_path))


def test_a_file_that_is_not_utf8_is_reported_or_skipped(tmp_path: Path) -> None:
    (tmp_path / "bad.md").write_bytes(b"# Title\ncaf\xe9\n")
    write(tmp_path / "good.md", "text")
    with pytest.raises(RowError, match=r"bad\.md line 2: byte 0xe9"):
        list(read_posts(tmp_path))
    bad = BadRows(skip=True)
    assert [post.id for post in read_posts(tmp_path, bad)] == ["good.md"]
    assert bad.count == 1


def test_a_file_that_cannot_be_read_is_reported_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "notes" / "closed.md", "text")
    write(tmp_path / "tex" / "paper.tex", "Text. \\input{part}")
    write(tmp_path / "tex" / "part.tex", "Part.")
    monkeypatch.chdir(tmp_path)

    def refusing(path: Path) -> BinaryIO:
        if path.name in ("closed.md", "part.tex"):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return open_plain(path)

    monkeypatch.setattr("mathsetu.collections.trees.open_plain", refusing)
    bad = BadRows(skip=True)
    assert list(read_posts("notes", bad)) == []
    assert list(read_file("notes/closed.md", bad)) == []
    assert list(read_file("tex/paper.tex", bad)) == []
    assert bad.messages == [
        "notes/closed.md: cannot be read (permission denied)",
        "notes/closed.md: cannot be read (permission denied)",
        "tex/part.tex: cannot be read (permission denied)",
    ]


def test_a_file_of_an_unknown_kind_is_read_as_plain_text_if_given_as_a_document(
    tmp_path: Path,
) -> None:
    write(tmp_path / "README.note", "# One\n\nSum $1+1$.")
    (post,) = read_file(tmp_path / "README.note")
    assert post.body == "# One\nSum $1+1$."


def test_the_name_of_a_link_determines_its_format(tmp_path: Path) -> None:
    write(tmp_path / "plain", "# One\n\nText.\n\n# Two\n\nText.")
    (tmp_path / "link.md").symlink_to("plain")
    assert [post.title for post in read_file(tmp_path / "link.md")] == ["One", "Two"]
    (tmp_path / "link.txt").symlink_to("plain")
    assert len(list(open_posts(tmp_path / "link.txt"))) == 1


def test_standard_input_is_refused_as_a_document_or_an_archive() -> None:
    for name, what in (("document", "a document"), ("archive", "an archive")):
        with pytest.raises(InputError, match=f"^{what} cannot be read from standard input; give"):
            list(FORMATS[name].read("-", BadRows()))


def test_an_empty_file_gives_no_post(tmp_path: Path) -> None:
    write(tmp_path / "empty.md", "\n\n")
    assert list(read_posts(tmp_path)) == []


def test_a_file_without_text_is_reported_once_and_not_counted_as_read(tmp_path: Path) -> None:
    for ending in ("jsonl", "csv", "md", "tex", "txt", "ipynb", "docx", "png"):
        write(tmp_path / f"empty.{ending}", "")
    write(tmp_path / "blank.jsonl", "\n")
    write(tmp_path / "blank.md", "\n\n")
    write(tmp_path / "note.md", "text")
    tally = Tally()
    assert [post.id for post in open_posts(tmp_path, BadRows(tally=tally))] == ["note.md"]
    assert dict(tally.files) == {"markdown": 1}
    assert dict(tally.ignored.counts) == {"an empty file": 9, "no text in it": 1}


def test_a_path_that_is_not_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a folder"):
        list(read_posts(tmp_path / "absent"))


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "piece"),
    [
        ("a.md", "# a   "),
        ("a.md", "# "),
        ("a.md", "=\n"),
        ("a.md", "---\n"),
        ("a.html", "<h1>"),
        ("a.html", "<h1 "),
        ("a.tex", "\\section{"),
        ("a.tex", "\\section[{"),
        ("a.tex", "\\begin{document}"),
    ],
)
def test_reading_time_grows_about_linearly_with_the_file(
    tmp_path: Path, name: str, piece: str
) -> None:
    for count in (300, 3_000):
        write(tmp_path / str(count) / name, piece * count)

    def read(count: int) -> list[object]:
        return list(read_posts(tmp_path / str(count)))

    assert_grows_at_most(20, partial(read, 300), partial(read, 3_000))


def test_long_headings_give_short_and_different_ids(tmp_path: Path) -> None:
    heading = "word " * 400
    (tmp_path / "a.md").write_text(f"# {heading}\n\none\n\n# {heading}\n\ntwo\n", encoding="utf-8")
    first, second = read_posts(tmp_path)
    assert len(first.id) < 200
    assert first.id != second.id
    assert first.title == heading.strip()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.md", "Preface.\n\n# \n\none\n\n## <!-- -->\n\ntwo\n"),
        ("a.html", "Preface.<h1></h1>one<h2> </h2>two"),
        ("a.tex", "Preface.\\section{}one\\section{ }two"),
    ],
)
def test_sections_under_empty_headings_have_different_ids(
    tmp_path: Path, name: str, text: str
) -> None:
    write(tmp_path / name, text)
    ids = [post.id for post in read_posts(tmp_path)]
    assert ids == [name, f"{name}#section", f"{name}#section-1"]


def test_a_chapter_read_alone_gives_the_same_posts_as_in_its_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    chapters = Path("notes/chapters")
    chapters.mkdir(parents=True)
    Path("notes/other.tex").write_text(
        "\\documentclass{article}\n\\begin{document}\n% \\input{chapters/one}\n\\end{document}"
    )
    Path("notes/whole.tex").write_text(
        "\\documentclass{article}\n\\usepackage[czech]{babel}\n\\input{macros}\n"
        "\\title{Whole}\n\\begin{document}\nAbove.\n\\section{Start} Text.\n"
        "\\input{chapters/parts}\n\\input{near}\n\\end{document}"
    )
    Path("notes/macros.tex").write_text("\\newcommand{\\R}{\\mathbb{R}}")
    Path("notes/near.tex").write_text("\\section{Near} Let $y\\in\\R$.")
    (chapters / "parts.tex").write_text("\\input{chapters/one}\\input{chapters/bare}")
    (chapters / "one.tex").write_text("\\section{One} Let $x\\in\\R$.")
    (chapters / "bare.tex").write_text("No heading.")
    everything = {post.id: post for post in read_posts("notes")}

    for name in ("notes/chapters/one.tex", "notes/near.tex"):
        bad = BadRows(notes=[], ids=SeenIds())
        alone = list(read_file(name, bad))
        assert alone == [post for one, post in everything.items() if one.startswith(f"{name}#")]
        assert len(alone) == 1
        assert "mathbb{R}" in alone[0].body
        assert bad.notes == [f"{name}: its sections are read as notes/whole.tex includes them"]
    # Two chapters of one document do not count as a file given twice.
    bad = BadRows(notes=[], ids=SeenIds(), tally=Tally())
    for name in ("notes/chapters/one.tex", "notes/near.tex"):
        assert list(read_file(name, bad))
    # Its text is part of a post of the document.
    assert not list(read_file("notes/chapters/bare.tex", bad))
    assert bad.tally is not None
    assert bad.tally.to_json()["ignored"] == [
        {
            "reason": "no sections in it; its text is part of notes/whole.tex",
            "count": 1,
            "first": ["notes/chapters/bare.tex"],
        }
    ]
    # If the document would give other ids, the chapter keeps its own, and a note names it.
    bad = BadRows(notes=[])
    assert [post.id for post in read_file(chapters.absolute() / "one.tex", bad)] == ["one.tex#one"]
    assert bad.notes is not None
    assert bad.notes[0].endswith(
        f"is a part of {tmp_path}/notes/whole.tex; add that file or its folder"
    )


def test_an_empty_file_read_alone_is_reported(tmp_path: Path) -> None:
    write(tmp_path / "empty.md", "")
    tally = Tally()
    assert list(read_file(tmp_path / "empty.md", BadRows(tally=tally))) == []
    assert dict(tally.ignored.counts) == {"an empty file": 1}


def test_has_file_finds_plain_and_compressed_files_and_archives(tmp_path: Path) -> None:
    write(tmp_path / "note.md", "text")
    write(tmp_path / "long.md.gz", "packed")
    write(tmp_path / "papers.zip", "packed")
    for file in ("note.md", "long.md", "papers.zip/main.tex"):
        assert has_file(tmp_path, file)
    for file in ("other.md", "others.zip/main.tex"):
        assert not has_file(tmp_path, file)


def zipped(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def test_archives_in_a_folder_are_read_two_levels_deep(tmp_path: Path) -> None:
    data = b""
    for depth in range(3, 0, -1):
        data = zipped({"inner.zip": data, "note.md": b"Note %d." % depth})
    (tmp_path / "outer.zip").write_bytes(data)
    bad = BadRows(tally=Tally())
    found = list(folder.read_posts(tmp_path, bad))
    assert [(post.id, post.body) for post in found] == [
        ("outer.zip/inner.zip/note.md", "Note 2."),
        ("outer.zip/note.md", "Note 1."),
    ]
    assert bad.tally is not None
    assert bad.tally.ignored.first == {
        "an archive inside archives": [f"{tmp_path}/outer.zip/inner.zip/inner.zip"]
    }


def test_a_compressed_file_in_an_archive_is_read_as_the_file_inside_it(tmp_path: Path) -> None:
    packed = {
        "deep/a.md.gz": gzip.compress(b"# One\n\nText."),
        "b.gz": gzip.compress(b"nothing that is known"),
        "c.tex.gz": gzip.compress(b"\\begin{document}See \\input{other}.\\end{document}"),
    }
    (tmp_path / "a.zip").write_bytes(zipped(packed))
    bad = BadRows(tally=Tally(), notes=[])
    found = list(folder.read_posts(tmp_path, bad))
    assert [(post.id, post.body) for post in found] == [
        ("a.zip/c.tex", "See ."),
        ("a.zip/deep/a.md#one", "Text."),
    ]
    assert bad.tally is not None
    assert bad.tally.ignored.first == {"unsupported file type": [f"{tmp_path}/a.zip/b.gz"]}
    assert bad.notes == [f"{tmp_path}/a.zip/c.tex.gz: included files are missing: other"]


def test_a_single_compressed_file_is_read_as_the_file_inside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.md.gz"
    path.write_bytes(gzip.compress(b"Text."))
    assert [post.id for post in folder.read_archive(path)] == ["a.md"]
    monkeypatch.setattr(folder, "LONGEST_DOCUMENT", 5)
    assert [post.body for post in folder.read_archive(path)] == ["Text."]
    monkeypatch.setattr(folder, "LONGEST_DOCUMENT", 4)
    with pytest.raises(InputError, match=r"a.md.gz: unpacks to more than 0 MiB$"):
        list(folder.read_archive(path))
    other = tmp_path / "a.unknown.gz"
    other.write_bytes(gzip.compress(b"?"))
    with pytest.raises(InputError, match="the compressed file is of an unsupported type"):
        list(folder.read_archive(other))
    plain = tmp_path / "b.gz"
    plain.write_bytes(b"text that is not compressed")
    with pytest.raises(InputError, match=r"b.gz: is not a known archive format"):
        list(folder.read_archive(plain))


def test_a_given_language_applies_to_all_posts(tmp_path: Path) -> None:
    write(tmp_path / "a.md", "Text.")
    (tmp_path / "b.zip").write_bytes(zipped({"c.md": b"Text.", "d.tex": b"Text."}))
    found = list(folder.read_posts(tmp_path, language="hi"))
    assert [post.language for post in found] == ["hi", "hi", "hi"]
    assert [post.language for post in folder.read_file(tmp_path / "a.md", language="cs")] == ["cs"]
    archive = folder.read_archive(tmp_path / "b.zip", language="cs")
    assert [post.language for post in archive] == ["cs", "cs"]


def test_files_that_include_each_other_are_read_once_from_the_first(tmp_path: Path) -> None:
    write(tmp_path / "a.tex", r"A \input{b}")
    write(tmp_path / "b.tex", r"B \input{a}")
    assert [post.body for post in folder.read_posts(tmp_path)] == ["A B"]


def test_a_file_read_alone_must_have_a_name_in_utf8(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"\xff.md")
    write(path, "Text.")
    with pytest.raises(RowError, match="the name of the file is not UTF-8"):
        list(folder.read_file(path))
