"""Reports after reading sources, and progress during it."""

import gzip
import json
from dataclasses import replace
from pathlib import Path

import pytest

from mathsetu.cli.intake import policy, read_sources
from mathsetu.cli.output import READING, ProgressBar
from mathsetu.collections import folder, jsonl
from mathsetu.collections.files import read_lines
from mathsetu.collections.meter import metered
from mathsetu.errors import InputError
from tests.command import Mathsetu
from tests.light import LIGHT_TOML


def fill(folder: Path) -> None:
    folder.mkdir()
    (folder / "sums.md").write_text("# Sums\n\nWhat is the sum of $1+1$?\n")
    (folder / "paper.tex").write_text("\\section{One} Let $x$ be a number. \\input{absent}")
    (folder / "bad.md").write_bytes(b"caf\xe9")
    (folder / "qa.csv").write_text("Subject;Content\nSums;¿Cuánto es la suma de los números?\n")
    (folder / "plot.png").write_bytes(b"\x89PNG")
    (folder / ".hidden").write_text("x")


@pytest.mark.thorough
def test_the_report_names_files_that_were_read_and_skipped(mathsetu: Mathsetu) -> None:
    fill(Path("notes"))
    refused = mathsetu.refuses("index", "lib", "notes", "--recipe", "formula")
    assert "notes/bad.md line 1: byte 0xe9 is not UTF-8" in refused
    arguments = ("index", "lib", "notes", "--recipe", "formula", "--skip-bad")
    report = mathsetu.json(*arguments)
    assert isinstance(report, dict)
    assert report["posts"] == 3
    assert report["kinds"] == {"latex": 1, "markdown": 1, "table": 1}
    assert report["formulas"] == 2
    assert report["languages"] == {"en": 2, "es": 1}
    assert report["skipped"] == 1
    assert report["errors"] == [
        "notes/bad.md line 1: byte 0xe9 is not UTF-8 (convert the file first)"
    ]
    assert report["notes"] == ["notes/paper.tex: included files are missing: absent"]
    assert {one["reason"]: one["first"] for one in report["ignored"]} == {
        "hidden": ["notes/.hidden"],
        "unsupported file type": ["notes/plot.png"],
    }
    said = mathsetu(*arguments)
    assert "lib: 3 posts indexed" in said.out
    assert "  files: 3 (latex 1, markdown 1, table 1)" in said.out
    assert "  languages: en 2, es 1" in said.out
    assert "  skipped: 1 × unsupported file type (notes/plot.png)" in said.out
    assert "notes/qa.csv: body = Content, title = Subject (guessed" in said.out
    assert "skipped: notes/bad.md line 1" in said.err


@pytest.mark.thorough
def test_html_in_json_lines_is_reported_and_read_with_form_html(mathsetu: Mathsetu) -> None:
    page = {"id": "1", "body": "<p>Is $a&lt;b$?</p>", "collection": "site"}
    Path("posts.jsonl").write_text(json.dumps(page) + "\n")
    note = "posts.jsonl: HTML tags in 1 of 1 bodies are kept as text (--form html"
    recipe = ("--recipe", "formula")
    assert note in mathsetu("index", "lib", "posts.jsonl", *recipe).err
    assert note in mathsetu("add", "lib", "posts.jsonl").err
    for verb in ("index", "add"):
        own = recipe if verb == "index" else ()
        done = mathsetu(verb, "lib", "posts.jsonl", "--form", "html", *own)
        assert (done.code, "HTML" in done.err) == (0, False)
        mathsetu("convert", "lib", "out.jsonl")
        (post,) = jsonl.read_posts("out.jsonl")
        assert (post.body, post.collection) == ("Is $a<b$?", "site")
    mathsetu("convert", "posts.jsonl", "direct.jsonl", "--form", "html")
    assert next(jsonl.read_posts("direct.jsonl")).body == "Is $a<b$?"
    Path("notes.md").write_text("# Sums\n\nIs $a<b$?\n")
    unused = mathsetu("index", "lib", "notes.md", "--form", "html", *recipe).err
    assert "--form html: no JSON Lines, Parquet file or table of posts was read" in unused


def test_collections_are_named_after_the_given_folder_or_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    fill(Path("notes"))

    def collections(source: str) -> set[str]:
        bad = policy(skip_bad=True, fields={})
        return {post.collection for post in read_sources((source,), None, "", bad)}

    assert collections("notes") == {"notes"}
    assert collections("notes/sums.md") == {"notes"}
    assert collections("notes/qa.csv") == {"qa.csv"}


@pytest.mark.thorough
def test_a_resumed_build_reports_no_counts_of_files_it_did_not_read(
    mathsetu: Mathsetu, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(*_: object) -> None:
        raise InputError("a package is missing")

    Path("sums.md").write_text("# Sums\n\nWhat is the sum of $1+1$?\n")
    arguments = ("index", "lib", "sums.md", "--recipe", "formula", "--processes", "1")
    reports = []
    for as_json in ((), ("--json",)):
        with monkeypatch.context() as broken:
            broken.setattr("mathsetu.library.build.make_builder", missing)
            assert "a package is missing" in mathsetu.refuses(*arguments)
        reports.append(mathsetu(*arguments, *as_json).out)
    assert "  resumed: an earlier build read the posts; " in reports[0]
    assert "  files: " not in reports[0]
    assert (json.loads(reports[1])["resumed"], json.loads(reports[1])["formulas"]) == (True, None)
    whole = mathsetu(*arguments)
    assert "resumed" not in whole.out
    assert "  files: 1 (markdown 1)\n  formulas: 1\n" in whole.out
    assert mathsetu.json(*arguments)["resumed"] is False  # type: ignore[index, call-overload]


@pytest.mark.thorough
def test_a_stopped_build_says_whether_the_same_command_resumes_it(
    mathsetu: Mathsetu, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    Path("sums.md").write_text("# Sums\n\nWhat is the sum of $1+1$?\n")
    arguments = ("index", "lib", "sums.md", "--recipe", "formula", "--processes", "1")
    # Before all posts are read there is nothing to resume.
    for place, told in (("_write_stores", "stopped"), ("make_builder", "the build")):
        with monkeypatch.context() as stopping:
            stopping.setattr(f"mathsetu.library.build.{place}", stop)
            stopped = mathsetu(*arguments)
        assert stopped.code == 130
        assert stopped.err.strip().endswith(told)
    assert stopped.err.strip() == "mathsetu: stopped; the same command resumes the build"
    assert "  resumed: " in mathsetu(*arguments).out
    # An addition always starts again, so its message promises nothing.
    with monkeypatch.context() as stopping:
        stopping.setattr("mathsetu.library.build.make_builder", stop)
        assert mathsetu("add", "lib", "sums.md").err.strip() == "mathsetu: stopped"


def test_if_all_sources_are_bad_the_error_lists_their_problems(mathsetu: Mathsetu) -> None:
    for name in "abcd":
        Path(f"{name}.md").write_bytes(b"caf\xe9\n")
    refused = mathsetu.refuses("index", "lib", "a.md", "--skip-bad")
    assert refused == (
        "mathsetu: there are no posts in the sources "
        "(a.md line 1: byte 0xe9 is not UTF-8 (convert the file first))"
    )
    refused = mathsetu.refuses("index", "lib", "a.md", "b.md", "c.md", "d.md", "--skip-bad")
    assert "; c.md line 1: byte 0xe9" in refused
    assert refused.endswith("; 1 more like these)")


def test_an_incomplete_library_is_recognised(
    mathsetu: Mathsetu, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    Path("notes").mkdir()
    Path("notes/sums.md").write_text("# Sums\n\nWhat is the sum of $1+1$?\n")
    options = ("--recipe", "formula", "--processes", "1")
    arguments = ("index", "notes/my.library", "notes", *options)
    with monkeypatch.context() as stopping:
        stopping.setattr("mathsetu.library.build.make_builder", stop)
        assert mathsetu(*arguments).err.strip().endswith("the same command resumes the build")
    for verb in (
        ["search", "notes/my.library", "sum"],
        ["info", "notes/my.library"],
        ["add", "notes/my.library", "notes"],
        ["upgrade", "notes/my.library"],
        ["convert", "notes/my.library", "posts.jsonl"],
    ):
        assert "notes/my.library: its first build is not complete" in mathsetu.refuses(*verb)
    assert "my.library: is a library" in mathsetu.refuses("index", "b", "notes/my.library")
    beside = mathsetu("index", "b", "notes", *options).out
    assert "skipped: 1 × a library (notes/my.library)\n" in beside
    assert "segment" not in beside
    assert "  resumed: " in mathsetu(*arguments).out


@pytest.mark.thorough
def test_a_library_inside_its_source_folder_is_skipped(mathsetu: Mathsetu) -> None:
    Path("notes").mkdir()
    Path("notes/sums.md").write_text("# Sums\n\nWhat is the sum of $1+1$?\n")
    built = mathsetu("index", "notes/my.library", "notes", "--recipe", "formula")
    assert [line for line in built.out.splitlines() if "skipped" in line] == [
        "  skipped: 1 × a library (notes/my.library)"
    ]


@pytest.mark.thorough
def test_a_library_is_refused_as_a_source_but_its_posts_can_be_exported(mathsetu: Mathsetu) -> None:
    Path("light.toml").write_text(LIGHT_TOML, encoding="utf-8")
    Path("notes").mkdir()
    Path("notes/sums.md").write_text("# Sums\n\nThe sum of $1+1$\n\n# More\n\nThe sum of $2+2$\n")
    inside = "notes/my.library"
    built = ("index", inside, "notes", "--recipe", "light.toml", "--processes", "1")
    assert mathsetu(*built).code == 0
    assert "skipped: 1 × a library (notes/my.library)" in mathsetu(*built).out
    for arguments in (
        ("index", "other.library", inside),
        ("index", "other.library", inside, "--from", "folder"),
        ("add", inside, inside),
        ("convert", inside, "posts.jsonl", "--from", "folder"),
    ):
        refused = mathsetu.refuses(*arguments)
        assert f"{inside}: is a library" in refused
        assert f"mathsetu convert {inside} posts.jsonl" in refused
    assert mathsetu("remove", inside, "notes/sums.md#more").code == 0
    exported = mathsetu.json("convert", inside, "posts.jsonl")
    assert isinstance(exported, dict)
    assert (exported["from"], exported["posts"], exported["formulas"]) == ("library", 1, 1)
    [post] = jsonl.read_posts("posts.jsonl")
    [given, _] = folder.read_posts("notes")
    assert post == replace(given, language="en", collection="notes")


@pytest.mark.thorough
def test_posts_that_a_recipe_leaves_out_are_reported_and_their_formulas_not_counted(
    mathsetu: Mathsetu,
) -> None:
    rows = (
        '{"id": "1", "body": "$a$ $b$", "kind": "question"}',
        '{"id": "2", "body": "is $c$", "kind": "answer"}',
        '{"id": "3", "body": "$d$", "kind": "answer"}',
    )
    Path("posts.jsonl").write_text("\n".join(rows))
    settings = ("--set", 'posts.kinds=["answer"]', "--set", "posts.need_words=true")
    report = mathsetu.json("index", "lib", "posts.jsonl", "--recipe", "formula", *settings)
    assert isinstance(report, dict)
    assert (report["posts"], report["formulas"]) == (1, 1)
    told = {"reason": "a post that the recipe leaves out", "count": 2, "first": ["1", "3"]}
    assert report["ignored"] == [told]
    Path("more.jsonl").write_text("\n".join((rows[0], rows[1].replace("2", "4"))))
    added = mathsetu.json("add", "lib", "more.jsonl")
    assert isinstance(added, dict)
    assert (added["added"], added["replaced"], added["formulas"]) == (1, 0, 1)
    assert added["ignored"] == [told | {"count": 1, "first": ["1"]}]


@pytest.mark.thorough
def test_a_meter_shows_how_much_of_compressed_files_was_read(tmp_path: Path) -> None:
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(b"".join(b"%d\n" % n for n in range(200_000))))
    (tmp_path / "b.txt").write_text("one\n")
    with metered([tmp_path]) as meter:
        assert meter.total == path.stat().st_size + 4
        lines = read_lines(path)
        for _ in range(100_000):
            next(lines)
        assert 0 < meter.done < meter.total
        assert sum(1 for _ in lines) == 100_000
        list(read_lines(tmp_path / "b.txt"))
        assert meter.done == meter.total


def test_progress_shows_a_total_if_it_is_known(tmp_path: Path) -> None:
    progress = pytest.importorskip("rich.progress")
    (tmp_path / "a.txt").write_text("one\n" * 10)
    with progress.Progress(disable=True) as shown, metered([tmp_path]) as meter:
        bar = ProgressBar(shown, meter)
        bar(READING, 1)
        bar.expect("indexing", 7)
        bar("indexing", 3)
        reading, indexing = shown.tasks
        assert (reading.total, reading.fields["number"]) == (40, 1)
        assert (indexing.total, indexing.completed) == (7, 3)
