"""The verbs evaluate and compare."""

import csv
import json
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.command import Mathsetu

QRELS = "A.1 0 x 3\nA.1 0 y 0\nA.2 0 x 2\nA.2 0 z 1\nA.3 0 z 3\n"
GOOD = "A.1 Q0 x 1 9 good\nA.1 Q0 y 2 8 good\nA.2 Q0 x 1 9 good\nA.3 Q0 z 1 9 good\n"
POOR = "A.1 Q0 y 1 9 poor\nA.1 Q0 x 2 8 poor\nA.2 Q0 z 1 9 poor\nA.3 Q0 q 1 9 poor\n"
TOPICS = (
    '{"id": "A.1", "text": "sum", "language": "en"}\n'
    '{"id": "A.2", "text": "योग", "language": "hi"}\n'
    '{"id": "A.3", "text": "suma", "language": "es"}\n'
)


@pytest.fixture
def folder(tmp_path: Path, mathsetu: Mathsetu) -> Path:
    """The current folder of the command line, with a few small files."""
    files = {"qrels.txt": QRELS, "good.run": GOOD, "poor.run": POOR, "topics.jsonl": TOPICS}
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def evaluated(mathsetu: Mathsetu, *arguments: str) -> dict[str, dict[str, object]]:
    answer = mathsetu("evaluate", "qrels.txt", *arguments, "--json")
    assert answer.code == 0, answer.err
    measures: dict[str, dict[str, object]] = json.loads(answer.out)["runs"][0]["measures"]
    return measures


def test_evaluate_shows_measures_with_intervals_and_the_share_of_judged_hits(
    mathsetu: Mathsetu, folder: Path
) -> None:
    shown = mathsetu("evaluate", "qrels.txt", "good.run", "-m", "P@1", "-m", "MAP'")
    assert shown.err == ""
    for part in ("good", "P@1", "MAP'", "Judged@1", "95% from", "grade 2 or more"):
        assert part in shown.out


@pytest.mark.thorough
def test_tables_show_the_number_of_topics_and_the_relevant_grades_if_used(
    mathsetu: Mathsetu, folder: Path
) -> None:
    for verb in (
        ("evaluate", "qrels.txt", "good.run"),
        ("evaluate", "qrels.txt", "good.run", "--per-topic"),
        ("compare", "qrels.txt", "good.run", "poor.run"),
    ):
        graded = (*verb, "-m", "nDCG@10", "--relevant-from", "3")
        assert "  3 topics.\n" in mathsetu(*graded).out
        assert "  2 topics; relevant: grade 3 or more." in mathsetu(*graded, "--answerable").out
        assert "  3 topics; relevant: grade 3 or more." in mathsetu(*graded, "-m", "MAP").out


def test_evaluate_prints_json_with_every_topic(mathsetu: Mathsetu, folder: Path) -> None:
    found = evaluated(mathsetu, "poor.run", "-m", "MRR", "-m", "P'@1")
    assert found["MRR"]["topics"] == {"A.1": 0.5, "A.2": 0.0, "A.3": 0.0}
    assert found["P'@1"]["mean"] == 0.0
    assert found["Judged@1"]["mean"] == pytest.approx(2 / 3)


def test_the_lowest_relevant_grade_can_be_given(mathsetu: Mathsetu, folder: Path) -> None:
    assert evaluated(mathsetu, "poor.run", "-m", "MRR", "--relevant-from", "1")["MRR"][
        "mean"
    ] == pytest.approx(0.5)


def test_topics_are_grouped_by_language(mathsetu: Mathsetu, folder: Path) -> None:
    by = ("--by", "language", "--topics", "topics.jsonl")
    found = evaluated(mathsetu, "poor.run", "-m", "MRR", *by)
    assert found["MRR"]["groups"] == {"en": 0.5, "es": 0.0, "hi": 0.0}
    assert "hi (1)" in mathsetu("evaluate", "qrels.txt", "good.run", *by).out


def test_topics_are_grouped_by_any_column_of_a_table(mathsetu: Mathsetu, folder: Path) -> None:
    (folder / "about.tsv").write_text("topic\tDifficulty\nA.1\teasy\nA.2\thard\n")
    found = evaluated(
        mathsetu, "poor.run", "-m", "MRR", "--by", "difficulty", "--topics", "about.tsv"
    )
    assert found["MRR"]["groups"] == {"easy": 0.5, "hard": 0.0, "(none)": 0.0}


def test_evaluate_can_show_every_topic(mathsetu: Mathsetu, folder: Path) -> None:
    shown = mathsetu("evaluate", "qrels.txt", "good.run", "-m", "MRR", "--per-topic").out
    assert [line.split()[0] for line in shown.splitlines() if line.startswith("  A.")] == [
        "A.1", "A.2", "A.3",
    ]  # fmt: skip


def test_formulas_are_judged_by_visual_id(mathsetu: Mathsetu, folder: Path) -> None:
    (folder / "formulas.jsonl").write_text(
        '{"id": "f1", "latex": "a", "visual_id": "x"}\n{"id": "f2", "latex": "a", '
        '"visual_id": "x"}\n{"id": "f3", "latex": "b", "visual_id": "z"}\n'
    )
    (folder / "task2.run").write_text(
        "A.3\tf1\t7\t1\t9\tr\nA.3\tf2\t7\t2\t8\tr\nA.3\tf3\t7\t3\t7\tr\n"
    )
    found = evaluated(mathsetu, "task2.run", "-m", "MRR", "--visual-ids", "formulas.jsonl")
    assert found["MRR"]["topics"] == {"A.1": 0.0, "A.2": 0.0, "A.3": 0.5}


def test_odd_runs_are_measured_and_reported(mathsetu: Mathsetu, folder: Path) -> None:
    (folder / "odd.run").write_text("A.1 Q0 y 1 1 odd\nA.1 Q0 x 2 5 odd\nA.1 Q0 y 3 0.5 odd\n"
                                    "A.9 Q0 x 1 1 odd\n")  # fmt: skip
    answer = mathsetu("evaluate", "qrels.txt", "odd.run", "-m", "MRR", "--json")
    assert json.loads(answer.out)["runs"][0]["measures"]["MRR"]["topics"]["A.1"] == 1.0
    for part in (
        "2 judged topics have no hits and count as 0 (trec_eval -c does so too): A.2, A.3",
        "1 topic of the run has no judgments and is left out: A.9",
        "trec_eval refuses such a run",
        "odd.run: A.1: the scores do not decrease",
        "hits were ranked by score",
    ):
        assert part in answer.err


def test_compare_shows_significance_difference_and_wins(mathsetu: Mathsetu, folder: Path) -> None:
    answer = mathsetu("compare", "qrels.txt", "poor.run", "good.run", "-m", "MRR")
    assert answer.code == 0, answer.err
    for part in (
        "a poor",
        "b good",
        "Δ MRR",
        "w/t/l",
        "+0.833",
        "3/0/0",
        "Bonferroni for 1 comparison",
    ):
        assert part in answer.out


def test_compare_prints_json_for_every_measure_and_group(mathsetu: Mathsetu, folder: Path) -> None:
    answer = mathsetu("compare", "qrels.txt", "poor.run", "good.run", "-m", "MRR", "-m", "P@1",
                      "--json", "--by", "language", "--topics", "topics.jsonl")  # fmt: skip
    found = json.loads(answer.out)["groups"]
    assert list(found) == ["all", "en", "es", "hi"]
    differences = found["all"]["differences"]
    assert [(d["run"], d["other"], d["measure"]) for d in differences] == [
        ("good", "poor", "MRR"), ("good", "poor", "P@1"), ("good", "poor", "Judged@1"),
    ]  # fmt: skip
    assert (differences[1]["wins"], differences[1]["losses"]) == (3, 0)


def test_runs_with_the_same_name_are_shown_with_their_files(
    mathsetu: Mathsetu, folder: Path
) -> None:
    (folder / "same.run").write_text(POOR.replace("poor", "good"))
    shown = mathsetu("compare", "qrels.txt", "good.run", "same.run", "-m", "MRR").out
    assert "good.run:good" in shown
    assert "same.run:good" in shown


@pytest.mark.thorough
def test_tables_are_written(mathsetu: Mathsetu, folder: Path) -> None:
    files = ("t.md", "t.tex", "t.csv")
    targets = [part for name in files for part in ("--write", name)]
    for verb in (("compare", "qrels.txt", "poor.run"), ("evaluate", "qrels.txt")):
        answer = mathsetu(*verb, "good.run", "-m", "MRR", *targets)
        assert answer.code == 0, answer.err
        assert "| MRR |" in (folder / "t.md").read_text()
        assert r"\toprule" in (folder / "t.tex").read_text()
        assert len(list(csv.reader((folder / "t.csv").read_text().splitlines()))) == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("evaluate", "qrels.txt", "good.run", "-m", "F1"), "unknown measure 'F1'"),
        (("evaluate", "good.run", "qrels.txt"), "good.run: holds runs"),
        (("evaluate", "qrels.txt", "qrels.txt"), "qrels.txt: holds judgments"),
        (("evaluate", "qrels.txt", "good.run", "--write", "t.gif"), "t.gif: unknown extension"),
        (("evaluate", "qrels.txt", "good.run", "--by", "language"), "--by needs --topics"),
        (("evaluate", "qrels.txt", "good.run", "--by", "mood", "--topics", "topics.jsonl"),
         "by language or kind, not by 'mood'"),
        (("evaluate", "qrels.txt", "none.run"), "does not exist"),
        (("compare", "qrels.txt", "good.run", "bad.run"), "bad.run line 2: score 'high'"),
        (("compare", "qrels.txt", "good.run"), "2 to 25 runs"),
        (("evaluate", "qrels.txt", "good.run", "--relevant-from", "5"),
         "qrels.txt: no topic has a judgment of 5 or more"),
        (("evaluate", "qrels.txt", "good.run", "--plot", "means"), "--plot needs the file"),
        (("evaluate", "other.txt", "good.run"),
         "good.run: none of its topics (A.1 …) is judged in other.txt (B.7 …)"),
        (("compare", "other.txt", "good.run", "poor.run"), "none of its topics"),
        (("evaluate", "twice.txt", "good.run"), "twice.txt: x is judged twice for A.1, 3 and 1"),
    ],
)  # fmt: skip
def test_mistakes_get_one_clear_line(
    mathsetu: Mathsetu, folder: Path, arguments: tuple[str, ...], message: str
) -> None:
    (folder / "other.txt").write_text("B.7 0 x 3\n")
    (folder / "twice.txt").write_text(QRELS + "A.1 0 x 1\n")
    (folder / "bad.run").write_text("A.1 Q0 x 1 9 bad\nA.1 Q0 y 2 high bad\n")
    answer = mathsetu(*arguments)
    assert answer.code == 2
    assert message in answer.err
    assert "Traceback" not in answer.err


@pytest.mark.shared
@pytest.mark.thorough
def test_evaluate_gives_the_published_figure_of_a_crossmath_run(
    mathsetu: Mathsetu, shared_data: Path
) -> None:
    qrels = shared_data / "arqmath" / "qrels-task1-2020.official.txt"
    run = shared_data / "crossmath" / "runs" / "nllbbi.eng_Latn.2020.tsv.gz"
    answer = mathsetu("evaluate", qrels, run, "-m", "P'@10")
    assert "P'@10" in answer.out
    assert "0.283" in answer.out


@pytest.mark.thorough
def test_all_pairs_are_in_the_json_and_the_table_compares_with_the_first_run(
    mathsetu: Mathsetu, folder: Path
) -> None:
    (folder / "third.run").write_text(GOOD.replace("good", "third"), encoding="utf-8")
    asked = ("compare", "qrels.txt", "poor.run", "good.run", "third.run", "-m", "MRR")
    found = mathsetu.json(*asked, "--all-pairs")
    assert isinstance(found, dict)
    pairs = {(one["other"], one["run"]) for one in found["groups"]["all"]["differences"]}
    assert pairs == {("poor", "good"), ("poor", "third"), ("good", "third")}
    shown = mathsetu(*asked, "--all-pairs").out
    assert "after Bonferroni for 3 comparisons" in shown
    assert "MRR against run a" in shown


@pytest.mark.parametrize("plot", ["all", "means", "topics", "recall"])
def test_figures_are_written(mathsetu: Mathsetu, folder: Path, plot: str) -> None:
    pytest.importorskip("matplotlib")
    files = ("--write", "f.svg", "--write", "f.pdf", "--write", "f.png", "--plot", plot)
    for verb in (("compare", "qrels.txt", "poor.run"), ("evaluate", "qrels.txt")):
        answer = mathsetu(*verb, "good.run", "-m", "MRR", *files)
        assert answer.code == 0, answer.err
        assert ElementTree.parse(folder / "f.svg").getroot().tag.endswith("svg")
        assert (folder / "f.pdf").read_bytes().startswith(b"%PDF-")
        assert (folder / "f.png").read_bytes().startswith(b"\x89PNG")


def test_without_matplotlib_the_error_names_the_extra(
    mathsetu: Mathsetu, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    line = mathsetu.refuses("evaluate", "qrels.txt", "good.run", "--write", "f.svg")
    assert "[plots]" in line
    # This is checked before any file is read, so that no work is lost.
    (folder / "broken.run").write_text("not a run")
    line = mathsetu.refuses("compare", "qrels.txt", "broken.run", "--write", "f.svg")
    assert "[plots]" in line


@pytest.mark.thorough
@pytest.mark.parametrize("width", ["1", "20", "40", "60", "80", "100", "120", "200"])
def test_compare_does_not_cut_names_or_numbers_at_any_width(
    mathsetu: Mathsetu, folder: Path, monkeypatch: pytest.MonkeyPatch, width: str
) -> None:
    monkeypatch.setenv("COLUMNS", width)
    name = "a-run-with-a-name-that-is-longer-than-most-terminals-are-wide-and-then-some"
    (folder / "long.run").write_text(GOOD.replace("good", name))
    given = ("qrels.txt", "poor.run", "long.run", "-m", "MRR", "-m", "MAP", "-m", "P@10")
    shown = mathsetu("compare", *given).out
    said = mathsetu.json("compare", *given)
    assert isinstance(said, dict)
    assert "…" not in shown
    [difference] = [one for one in said["groups"]["all"]["differences"] if one["measure"] == "MRR"]
    means = [value for one in said["groups"]["all"]["runs"] for value in one["means"].values()]
    for number in means:
        assert f"{number:.3f}" in shown
    for number in (difference["mean"], *difference["interval"]):
        assert f"{number:+.3f}" in shown
    assert f"{difference['wins']}/{difference['ties']}/{difference['losses']}" in shown
    # A name can be wrapped in the first column.
    lines = [line[2:].split("  ")[0].strip() for line in shown.splitlines()]
    assert name in "".join(lines) or name in shown


def test_a_table_in_a_pipe_is_not_wrapped(
    mathsetu: Mathsetu, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS")
    (folder / "long.run").write_text(GOOD.replace("good", "n" * 90))
    shown = mathsetu("compare", "qrels.txt", "poor.run", "long.run", "-m", "MRR", "-m", "MAP").out
    [row] = [line for line in shown.splitlines() if "n" * 90 in line]
    assert len(row.split()) >= 8


@pytest.mark.parametrize(
    "command",
    [
        ("evaluate", "qrels.txt", "-"),
        ("evaluate", "-", "good.run"),
        ("evaluate", "qrels.txt", "good.run", "--by", "language", "--topics", "-"),
        ("compare", "qrels.txt", "good.run", "-"),
        ("fuse", "rrf", "good.run", "-", "fused.run"),
        ("fuse", "linear", "good.run", "poor.run", "fused.run", "--qrels", "-"),
    ],
)
def test_verbs_that_do_not_read_standard_input_recommend_a_file(
    mathsetu: Mathsetu, folder: Path, command: tuple[str, ...]
) -> None:
    assert mathsetu.refuses(*command) == (
        "mathsetu: standard input is not read here; save it in a file and name that"
    )
    if Path("/dev/null").exists():
        device = ("/dev/null" if word == "-" else word for word in command)
        assert "not a regular file; save its content in one" in mathsetu.refuses(*device)
