"""No command overwrites its input, its other outputs, or files of another kind."""

import os
from pathlib import Path

import pytest

from mathsetu.cli.targets import check_target
from mathsetu.errors import InputError
from mathsetu.papers import PAPERS, Context, is_page, page
from tests.command import Mathsetu

QRELS = "A.1 0 x 3\nA.1 0 y 0\nA.2 0 x 2\nA.2 0 z 1\nA.3 0 z 3\n"
GOOD = "A.1 Q0 x 1 9 good\nA.1 Q0 y 2 8 good\nA.2 Q0 x 1 9 good\nA.3 Q0 z 1 9 good\n"
POOR = "A.1 Q0 y 1 9 poor\nA.1 Q0 x 2 8 poor\nA.2 Q0 z 1 9 poor\nA.3 Q0 q 1 9 poor\n"
LEARN = ("fuse", "rbc", "good.run", "poor.run")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, mathsetu: Mathsetu) -> Path:
    files = {"qrels.txt": QRELS, "good.run": GOOD, "poor.run": POOR, "notes.md": "# My notes\n"}
    for name in ("qrels.csv", "good.csv", "notes.csv", "notes.svg", "s.sh", "notes.toml"):
        files[name] = {"qrels": QRELS, "good": GOOD}.get(name[:-4], "my work\n")
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("command", "target"),
    [
        ((*LEARN, "z.run", "--qrels", "qrels.txt", "--save"), "qrels.txt"),
        ((*LEARN, "z.run", "--qrels", "qrels.txt", "--overwrite", "--save"), "good.run"),
        (("evaluate", "qrels.csv", "good.run", "--write"), "qrels.csv"),
        (("evaluate", "qrels.txt", "good.csv", "--write"), "good.csv"),
        (("compare", "qrels.csv", "good.run", "poor.run", "--write"), "qrels.csv"),
        (("convert", "good.run", "--to", "trec-run", "--overwrite"), "good.run"),
        (("reproduce", "msm-ens-13", "p.jsonl", "t.jsonl", "qrels.txt", "--save"), "qrels.txt"),
        (("graph", "build", "notes.md"), "notes.md"),
        (("graph", "import", "notes.md"), "notes.md"),
    ],
)
def test_a_command_does_not_overwrite_its_input(
    mathsetu: Mathsetu, folder: Path, command: tuple[str, ...], target: str
) -> None:
    before = (folder / target).read_bytes()
    os.link(folder / target, folder / f"other-{target}")  # the same file under another name
    for name in (target, f"other-{target}"):
        assert f"{name}: is read by this command" in mathsetu.refuses(*command, name)
    assert (folder / target).read_bytes() == before


@pytest.mark.parametrize(
    ("command", "target", "what"),
    [
        ((*LEARN, "z.run", "--qrels", "qrels.txt", "--save"), "notes.toml", "learned settings"),
        (("evaluate", "qrels.txt", "good.run", "--write"), "notes.csv", "table"),
        (("evaluate", "qrels.txt", "good.run", "--write"), "notes.md", "table"),
        (("evaluate", "qrels.txt", "good.run", "--write"), "notes.svg", "figure"),
        (("compare", "qrels.txt", "good.run", "poor.run", "--write"), "good.csv", "table"),
        (("convert", "good.run", "--to", "trec-run"), "qrels.txt", "does not hold runs"),
        (("reproduce", "--all", ".", "--only", "miracle", "--write"), "s.sh", "folder"),
        (("reproduce", "--all", "data", "--only", "miracle", "--write"), "s.sh", "page"),
        (("formula", "x^2", "--write"), "notes.svg", "picture"),
        (("graph", "build", "good.run"), "notes.md", "graphs"),
    ],
)
def test_a_file_of_another_kind_is_not_overwritten(
    mathsetu: Mathsetu, folder: Path, command: tuple[str, ...], target: str, what: str
) -> None:
    (folder / "data").mkdir()
    before = (folder / target).read_bytes()
    said = mathsetu.refuses(*command, target)
    assert said.removeprefix("mathsetu: ").startswith(f"{target}: ")
    assert what in said
    assert (folder / target).read_bytes() == before


@pytest.mark.thorough
@pytest.mark.parametrize(
    "command",
    [
        (*LEARN, "-", "--qrels", "qrels.txt", "--folds", "3", "--save", "learned.toml"),
        ("evaluate", "qrels.txt", "good.run", "--write", "t.md", "--write", "t.csv"),
        ("evaluate", "qrels.txt", "good.run", "--per-topic", "--write", "t.md", "--write", "t.csv"),
        ("evaluate", "qrels.txt", "good.run", "--write", "t.tex"),
        ("compare", "qrels.txt", "good.run", "poor.run", "--write", "t.csv", "--write", "t.md"),
        ("convert", "good.run", "other.run"),
        ("reproduce", "--all", ".", "--only", "miracle", "--write", "page.md"),
        ("formula", "x^2", "--write", "tree.svg"),
        ("formula", "x^2", "--layout", "--write", "tree.svg"),
        ("sampler", "export", "."),
    ],
)
def test_a_command_can_overwrite_its_own_earlier_output(
    mathsetu: Mathsetu, command: tuple[str, ...]
) -> None:
    for _ in range(2):
        done = mathsetu(*command)
        assert done.code == 0, done.err


def test_figures_can_be_overwritten(mathsetu: Mathsetu) -> None:
    pytest.importorskip("matplotlib")
    for ending in ("svg", "pdf", "png"):
        for _ in range(2):
            done = mathsetu("evaluate", "qrels.txt", "good.run", "--write", f"figure.{ending}")
            assert done.code == 0, done.err


def test_two_outputs_of_a_command_cannot_be_the_same_file(mathsetu: Mathsetu, folder: Path) -> None:
    said = mathsetu.refuses(*LEARN, "z.run", "--qrels", "qrels.txt", "--save", "./z.run")
    assert "z.run: would be written twice by this command" in said
    assert not (folder / "z.run").exists()
    twice = ("--write", "t.md", "--write", str(folder / "t.md"))
    assert "written twice" in mathsetu.refuses("evaluate", "qrels.txt", "good.run", *twice)


def test_exporting_the_sampler_does_not_overwrite_the_posts_of_the_user(
    mathsetu: Mathsetu, folder: Path
) -> None:
    own = '{"mathsetu": "posts", "version": 1}\n{"id": "1", "body": "mine"}\n'
    (folder / "posts.jsonl").write_text(own)
    assert "posts.jsonl: exists, and is not of the sampler" in mathsetu.refuses(
        "sampler", "export", "."
    )
    assert (folder / "posts.jsonl").read_text() == own


def test_convert_replaces_a_file_of_another_kind_only_with_overwrite(
    mathsetu: Mathsetu, folder: Path
) -> None:
    asked = ("convert", "good.run", "qrels.txt", "--to", "trec-run")
    assert "use --overwrite to replace it" in mathsetu.refuses(*asked)
    assert mathsetu(*asked, "--overwrite").code == 0
    assert "good" in (folder / "qrels.txt").read_text()


@pytest.mark.parametrize(
    ("command", "remedy"),
    [
        (("convert", "qrels.csv", "--to", "trec-qrels"), "use --overwrite to replace it"),
        (("convert", "good.run", "--to", "trec-run"), "use --overwrite to replace it"),
        (("fuse", "rrf", "good.run", "poor.run"), "use --overwrite to replace it"),
        (("graph", "build", "notes.md"), "remove it first, or name another file"),
    ],
)
def test_judgments_are_replaced_only_with_overwrite(
    mathsetu: Mathsetu, folder: Path, command: tuple[str, ...], remedy: str
) -> None:
    before = (folder / "qrels.txt").read_bytes()
    said = mathsetu.refuses(*command, "qrels.txt")
    assert "qrels.txt: exists, contains judgments" in said
    assert remedy in said
    assert (folder / "qrels.txt").read_bytes() == before
    if "--overwrite" in remedy:
        assert mathsetu(*command, "qrels.txt", "--overwrite").code == 0


def test_an_empty_or_new_file_can_be_written(folder: Path) -> None:
    (folder / "empty").touch()
    for name in ("empty", "new", "-"):
        check_target(Path(name), [Path("other")], own=lambda path: False, about="")
    with pytest.raises(InputError, match="empty: is read by this command"):
        check_target(Path("empty"), [Path("empty")], own=lambda path: True, about="")


@pytest.mark.parametrize("name", PAPERS)
def test_a_page_with_the_section_of_any_paper_is_recognised(name: str, tmp_path: Path) -> None:
    assert is_page(page(Context(tmp_path, tmp_path, {}, lambda stage, done: None), [name]))
