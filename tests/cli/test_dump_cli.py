"""The ARQMath tasks from the files of the lab, as a researcher runs them."""

import json
import shutil
from pathlib import Path

import pytest

from tests.command import Mathsetu
from tests.dump import THREADS, Dump, make_dump


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Dump:
    """The files, and the libraries that tests build from them."""
    return make_dump(tmp_path_factory.mktemp("lab") / "dump")


def indexed(mathsetu: Mathsetu, dump: Dump, recipe: str, *options: str) -> str:
    library = dump / f"{recipe}{len(options)}.library"
    if Path(library).exists():
        return library
    done = mathsetu("index", library, dump / "Posts.xml", "--recipe", recipe,
                    "--processes", "1", *options)  # fmt: skip
    assert done.code == 0, done.err
    return library


def measured(mathsetu: Mathsetu, *arguments: str) -> dict[str, float]:
    [run] = json.loads(mathsetu("evaluate", *arguments, "-m", "arqmath", "--json").out)["runs"]
    return {name: figures["mean"] for name, figures in run["measures"].items()}


@pytest.mark.thorough
def test_task_1_ranks_answers_together_with_their_questions(mathsetu: Mathsetu, dump: Dump) -> None:
    library = indexed(mathsetu, dump, "msm-bm25", "--set", "posts.kinds=['answer']")
    run = dump / "run.tsv"
    told = mathsetu.json("run", library, dump / "topics-task1.xml", run, "--to",
                         "arqmath-answer-run")  # fmt: skip
    assert isinstance(told, dict)
    assert told["topics"] == len(THREADS)
    found = [line.split("\t") for line in Path(run).read_text(encoding="utf-8").splitlines()]
    answers = {post for name, post in dump.posts.items() if "question" not in name}
    assert {row[1] for row in found} <= answers
    # The words of the topics occur only in the questions.
    asked = {name.split()[0]: post for name, post in dump.posts.items() if "accepted" in name}
    first = {row[0]: row[1][:-1] for row in found if row[2] == "1"}
    assert first == {
        f"A.{number}": asked[topic][:-1] for number, (topic, *_) in enumerate(THREADS, start=1)
    }
    assert measured(mathsetu, dump / "qrels-task1.txt", run)["P'@10"] == pytest.approx(0.1)


@pytest.mark.thorough
@pytest.mark.parametrize("recipe", ["formula", "mathamr-plus"])
def test_task_2_finds_formulas_with_the_ids_of_the_collection(
    mathsetu: Mathsetu, dump: Dump, recipe: str
) -> None:
    library = indexed(mathsetu, dump, recipe)
    tables, run = dump / "latex_representation_v3", dump / "run.tsv"
    done = mathsetu("run", library, dump / "topics-task2.xml", run, "--to", "arqmath-formula-run",
                    "--visual-ids", tables)  # fmt: skip
    assert done.code == 0, done.err
    rows = [line.split("\t") for line in Path(run).read_text(encoding="utf-8").splitlines()]
    owners = {dump.formulas[name]: dump.posts[name] for name in dump.formulas}
    assert {(row[1], row[2]) for row in rows} <= owners.items()
    visual = _visual_ids(Path(tables))
    for topic in {row[0] for row in rows}:
        looks = [visual[row[1]] for row in rows if row[0] == topic]
        assert len(looks) == len(set(looks)), "of formulas that look the same one is kept"
    if recipe == "formula":
        assert {row[0]: visual[row[1]] for row in rows if row[3] == "1"} == {
            f"B.{number}": str(498 + 2 * number) for number in range(1, len(THREADS) + 1)
        }
    valid = mathsetu("validate", run, "--formulas", tables, "--topics", dump / "topics-task2.xml")
    assert valid.code == 0, valid.out
    figures = measured(mathsetu, dump / "qrels-task2.txt", run, "--visual-ids", tables)
    assert figures["MAP'"] == 1.0 if recipe == "formula" else figures["MAP'"] > 0.5


def _visual_ids(folder: Path) -> dict[str, str]:
    rows = [
        line.split("\t")
        for table in folder.iterdir()
        for line in table.read_text(encoding="utf-8").splitlines()[1:]
    ]
    return {row[0]: row[6] for row in rows}


@pytest.mark.thorough
def test_without_a_table_formulas_with_the_same_layout_count_as_identical(
    mathsetu: Mathsetu, dump: Dump
) -> None:
    library, run = indexed(mathsetu, dump, "formula"), dump / "run.tsv"
    job = ("run", library, dump / "topics-task2.xml", run, "--to", "arqmath-formula-run")
    assert mathsetu(*job).code == 0
    one = Path(run).read_text(encoding="utf-8").splitlines()
    assert mathsetu(*job, "--every").code == 0
    every = Path(run).read_text(encoding="utf-8").splitlines()
    alike = {dump.formulas["triangles question"], dump.formulas["triangles accepted"]}
    asked = f"B.{len(THREADS)}\t"
    assert len({row.split("\t")[1] for row in one if row.startswith(asked)} & alike) == 1
    assert {row.split("\t")[1] for row in every if row.startswith(asked)} >= alike
    assert mathsetu(*job[:-1], "trec-run", "--find", "formulas").code == 0
    assert Path(run).read_text(encoding="utf-8").split()[2] in dump.formulas.values()


@pytest.mark.parametrize("given", ["--formulas", "--posts"])
def test_validate_reports_ids_that_are_not_formulas_of_the_collection(
    mathsetu: Mathsetu, dump: Dump, given: str
) -> None:
    source = dump / ("latex_representation_v3" if given == "--formulas" else "Posts.xml")
    right, post = dump.formulas["primes question"], dump.posts["primes question"]
    lines = [f"B.1\t{right}\t{post}\t1\t2.5\tours", f"B.1\t{post}\t{post}\t2\t2.4\tours",
             f"B.1\t{dump.formulas['series other']}\t{post}\t3\t2.3\tours"]  # fmt: skip
    run = Path(dump / "run.tsv")
    run.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert mathsetu("validate", run).code == 0
    shown = mathsetu("validate", run, given, source)
    assert shown.code == 1
    assert f"line 2: {post} is not a formula of the collection" in shown.out
    assert f"stands in post {dump.posts['series other']}, not in {post}" in shown.out
    assert "line 1" not in shown.out
    lines[0] = lines[0].replace("B.1", "B.99")
    run.write_text("\n".join(lines) + "\n", encoding="utf-8")
    shown = mathsetu("validate", run, "--topics", dump / "topics-task2.xml")
    assert "B.99 is not a topic" in shown.out


def test_validate_detects_a_run_of_posts_in_the_format_of_formula_runs(
    mathsetu: Mathsetu, dump: Dump
) -> None:
    run = Path(dump / "run.tsv")
    run.write_text("B.1\t10\t10\t1\t2.5\tours\nB.1\t12\t12\t2\t2.4\tours\n", encoding="utf-8")
    shown = mathsetu("validate", run)
    assert shown.code == 1
    assert "this is a run of posts" in shown.out


@pytest.mark.thorough
def test_impossible_runs_get_a_clear_error(mathsetu: Mathsetu, dump: Dump) -> None:
    formulas = indexed(mathsetu, dump, "formula")
    words = indexed(mathsetu, dump, "msm-bm25")
    task, run = dump / "topics-task2.xml", dump / "run.tsv"
    to = ("--to", "arqmath-formula-run")
    two = Path(dump / "two.jsonl")
    two.write_text('{"id": "7", "text": "Is $x$ or $y$ even?"}\n', encoding="utf-8")
    bare = Path(dump / "bare.jsonl")
    bare.write_text('{"visual_id": "1", "latex": "x", "n": 2}\n', encoding="utf-8")
    for arguments, message in (
        ((words, task, run, *to), "the recipe msm-bm25 has no formula index"),
        ((formulas, two, run, *to), "query 7 has 2 formulas; to search for formulas"),
        ((formulas, task, run, *to, "--find", "posts"), "for formulas, not for posts"),
        ((formulas, task, run, "--every"), "are for runs of formulas"),
        ((formulas, task, run, *to, "--visual-ids", task), "neither formulas nor posts"),
        ((formulas, task, run, *to, "--visual-ids", dump / "Posts.xml"), "has a visual id"),
        ((formulas, task, run, *to, "--visual-ids", bare), "neither a table of formulas"),
    ):
        assert message in mathsetu.refuses("run", *arguments)


def test_a_file_of_comments_next_to_the_posts_is_skipped_and_reported(
    mathsetu: Mathsetu, dump: Dump, tmp_path: Path
) -> None:
    folder = tmp_path / "posts"
    folder.mkdir()
    for name in ("Posts.xml", "Comments.xml"):
        shutil.copy(dump / name, folder)
    told = mathsetu.json("index", tmp_path / "library", folder, "--recipe", "msm-bm25",
                         "--processes", "1")  # fmt: skip
    assert isinstance(told, dict)
    assert told["posts"] == 3 * len(THREADS)
    assert any("Comments.xml" in str(passed["first"]) for passed in told["ignored"])
