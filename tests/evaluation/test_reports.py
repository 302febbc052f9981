"""Tables that can be pasted into a paper, with any names of runs and topics."""

import csv
import io

import pytest

from mathsetu.evaluation import Measure, Results, compare
from mathsetu.evaluation.reports import comparison_table, results_table, topics_table
from mathsetu.evaluation.tables import WRITERS, Number, Table

MAP, JUDGED = Measure("MAP"), Measure("Judged", 10)
HOSTILE = "a|b_c & <script>\\x{}\"'"


def results(name: str, *values: float) -> Results:
    topics = {f"A.{n}": value for n, value in enumerate(values)}
    return Results(name, 2, {MAP: topics, JUDGED: dict.fromkeys(topics, 1.0)})


WEAK = results("weak", 0.1, 0.2, 0.1, 0.2)
STRONG = results(HOSTILE, 0.8, 0.9, 0.8, 0.9)
GROUPS = {"en": ["A.0", "A.1"], "hi": ["A.2", "A.3"]}


@pytest.fixture
def table() -> Table:
    return comparison_table({"all": compare([WEAK, STRONG])})


def test_a_comparison_shows_means_marks_difference_and_wins(table: Table) -> None:
    assert [*map(str, table.rows[1])] == [
        f"b {HOSTILE}", "0.850ᵃ", "1.000", "+0.700", "+0.700", "+0.700", "<0.001", "4/0/0",
    ]  # fmt: skip
    assert "after Bonferroni for 1 comparison" in " ".join(table.notes)
    assert "grade 2 or more" in " ".join(table.notes)


def test_the_share_of_judged_hits_gets_no_marks() -> None:
    full = Results("full", 1, {MAP: {"1": 0.5, "2": 0.5}, JUDGED: {"1": 1.0, "2": 1.0}})
    none = Results("none", 1, {MAP: {"1": 0.5, "2": 0.5}, JUDGED: {"1": 0.0, "2": 0.0}})
    rows = comparison_table({"all": compare([none, full])}).rows
    assert [str(row[2]) for row in rows] == ["0.000", "1.000"]


def test_a_comparison_has_rows_for_every_group() -> None:
    comparisons = {"all": compare([WEAK, STRONG])} | {
        name: compare([WEAK, STRONG], topics) for name, topics in GROUPS.items()
    }
    rows = comparison_table(comparisons).rows
    assert [row[0] for row in rows] == ["all (4)"] * 2 + ["en (2)"] * 2 + ["hi (2)"] * 2


def test_csv_has_all_digits_and_separate_columns_for_marks(table: Table) -> None:
    rows = list(csv.DictReader(io.StringIO(table.csv())))
    assert rows[1]["run"] == f"b {HOSTILE}"
    assert float(rows[1]["MAP"]) == pytest.approx(0.85)
    assert (rows[0]["MAP above"], rows[1]["MAP above"]) == ("", "a")


def test_markdown_keeps_its_columns_with_any_name_of_a_run(table: Table) -> None:
    header, rule, *rows = table.markdown().split("\n\n")[0].splitlines()
    columns = len(table.columns)
    assert rule.count("|") == columns + 1
    assert all(row.replace(r"\|", "").count("|") == columns + 1 for row in (header, *rows))
    assert "<script>" not in table.markdown().replace(r"\<", "").replace(r"\>", "")


def test_latex_escapes_names_and_raises_marks(table: Table) -> None:
    text = table.latex()
    assert "0.850$^{a}$" in text
    assert r"a|b\_c \& \textless{}script\textgreater{}\textbackslash{}x\{\}" in text
    assert r"$\Delta$ MAP" in text
    assert "$<$0.001" in text
    rows = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert all(row.replace(r"\&", "").count("&") == len(table.columns) - 1 for row in rows)


def test_a_minus_sign_in_latex_is_not_a_hyphen() -> None:
    assert "$-$0.125" in Table(("x",), ((Number(-0.125),),)).latex()


def test_a_number_that_rounds_to_zero_has_no_sign() -> None:
    assert str(Number(-0.0001, kind="difference")) == str(Number(-0.0001)) == "0.000"


def test_results_show_mean_interval_and_groups() -> None:
    table = results_table(WEAK, GROUPS)
    assert table.columns == ("weak", "all (4)", "95% from", "to", "en (2)", "hi (2)")
    assert [*map(str, table.rows[0])] == ["MAP", "0.150", "0.100", "0.200", "0.150", "0.150"]


def test_per_topic_tables_end_with_the_mean() -> None:
    table = topics_table(WEAK, GROUPS)
    assert table.columns == ("topic", "group", "MAP", "Judged@10")
    assert [*map(str, table.rows[0])] == ["A.0", "en", "0.100", "1.000"]
    assert [*map(str, table.rows[-1])] == ["mean", "", "0.150", "1.000"]


@pytest.mark.parametrize("write", WRITERS.values())
def test_a_table_without_figures_can_be_written(write: object) -> None:
    assert callable(write)
    assert "run" in write(Table(("run",), ()))


@pytest.mark.parametrize("evil", ["=1+1", "+1+1", "-cmd", "@SUM(A1)", "\t=1"])
def test_csv_contains_no_text_that_a_spreadsheet_would_run(evil: str) -> None:
    table = Table((evil, "MAP"), ((evil, Number(-0.25, "b")), ("a=b", Number(-1.0))))
    rows = list(csv.reader(io.StringIO(table.csv(), newline="")))
    assert [row[0] for row in rows] == [f"'{evil}", f"'{evil}", "a=b"]
    assert [row[1] for row in rows] == ["MAP", "-0.25", "-1.0"]


def test_a_line_break_in_a_name_starts_no_new_row_of_csv() -> None:
    table = Table(("run", "MAP"), (("a\r=1+1\n=2", Number(0.5)), ("\r=1", Number(0.5))))
    rows = list(csv.reader(io.StringIO(table.csv(), newline="")))
    assert [row[0] for row in rows] == ["run", "a =1+1 =2", "' =1"]


def test_small_p_values_are_shown_as_an_upper_limit() -> None:
    shown = [str(Number(value, kind="p")) for value in (0.0009, 0.001, 0.05)]
    assert shown == ["<0.001", "0.001", "0.050"]


def test_a_column_with_figures_is_aligned_right_even_if_some_cells_are_text() -> None:
    table = Table(("run", "MAP"), (("a", Number(0.5)), ("b", "")))
    assert "|---|---:|" in table.markdown()
