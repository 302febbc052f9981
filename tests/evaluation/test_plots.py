"""Figures that matplotlib draws, whatever runs and topics are called."""

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from mathsetu.errors import InputError
from mathsetu.evaluation import Judgments, Measure, Results, compare
from mathsetu.evaluation.plots import (
    Bar,
    Bars,
    Panel,
    Topics,
    curves_panel,
    difference_panels,
    draw,
    means_panel,
    results_panels,
    write_figure,
)
from mathsetu.evaluation.recall_precision import LEVELS, recall_precision
from mathsetu.records import Hit, Judgment, Run

MAP = Measure("MAP")
HOSTILE = "_a|b_c & <script>\\x{} $\\frac{1}{2$ \"'\x01\x1b"
LONG = "a-run-with-a-name-that-is-far-longer-than-any-column-of-any-paper-has-room-for-it-indeed"


def results(name: str, *values: float) -> Results:
    return Results(name, 2, {MAP: {f"A.{n}": value for n, value in enumerate(values)}})


WEAK = results("weak", 0.1, 0.2, 0.1, 0.2, 0.5)
STRONG = results(HOSTILE, 0.8, 0.9, 0.8, 0.1, 0.5)
GROUPS = {"en": ["A.0", "A.1"], "hi": ["A.2", "A.3"]}


def panels() -> list[Panel]:
    comparisons = {"all": compare([WEAK, STRONG])} | {
        name: compare([WEAK, STRONG], topics) for name, topics in GROUPS.items()
    }
    curves = {"weak": [0.5] * 11, HOSTILE: [0.9] * 11, LONG: [0.7] * 11}
    wide = results("W" * 24, 0.8, 0.9, 0.8, 0.1, 0.5)
    return [
        means_panel(comparisons, MAP),
        *difference_panels(compare([WEAK, wide]), MAP),
        *difference_panels(comparisons["all"], MAP),
        curves_panel(curves),
    ]


def texts(path: Path) -> list[str]:
    tree = ElementTree.parse(path)
    return [element.text or "" for element in tree.iter("{http://www.w3.org/2000/svg}text")]


# What the panels hold


def test_means_have_intervals_for_all_topics_and_by_group() -> None:
    means = panels()[0]
    assert isinstance(means, Bars)
    assert [name for name, _ in means.clusters] == ["all (5)", "en (2)", "hi (2)"]
    first = means.clusters[0][1][0]
    assert (first.series, first.value) == ("weak", pytest.approx(0.22))
    assert first.interval is not None
    assert 0.1 <= first.interval[0] < first.value < first.interval[1] <= 0.5


def test_differences_name_their_topics_and_count_those_without() -> None:
    [differences] = difference_panels(compare([WEAK, STRONG]), MAP)
    assert [name for name, _ in differences.values] == ["A.0", "A.1", "A.2", "A.3"]
    assert [round(value, 3) for _, value in differences.values] == [0.7, 0.7, 0.7, -0.1]
    assert differences.title.endswith("minus weak; 1 topic without a difference")


def test_one_run_is_shown_by_group_and_topic_by_topic() -> None:
    means, topics = results_panels(STRONG, MAP, GROUPS)
    assert isinstance(means, Bars)
    assert isinstance(topics, Topics)
    assert [name for name, _ in means.clusters] == ["all (5)", "en (2)", "hi (2)"]
    values = [value for _, value in topics.values]
    assert values == sorted(values, reverse=True)


def test_precision_over_recall_is_that_of_trec_eval() -> None:
    judged = Judgments.of([Judgment("1", one, 1) for one in "abcd"] + [Judgment("2", "a", 1)])
    run = Run("r", {"1": tuple(Hit(one, -n) for n, one in enumerate("axbyyc"))})
    # trec_eval -m iprec_at_recall of this run; topic 2 has no hits and counts as 0.
    one = [1.0, 1.0, 1.0, 0.6667, 0.6667, 0.6667, 0.6, 0.6, 0.0, 0.0, 0.0]
    found = recall_precision(run, judged)
    assert found == pytest.approx([value / 2 for value in one], abs=1e-4)
    assert recall_precision(run, judged, ["1"]) == pytest.approx(one, abs=1e-4)
    assert len(LEVELS) == 11


# What is drawn


@pytest.fixture
def figure() -> Any:
    pytest.importorskip("matplotlib")
    return draw(panels())


def test_every_name_and_number_is_in_the_figure(figure: Any, tmp_path: Path) -> None:
    write_figure(figure, tmp_path / "plot.svg")
    shown = texts(tmp_path / "plot.svg")
    assert {"A.0", "A.1", "A.2", "A.3", "0.220", "recall", "precision"} <= set(shown)
    everything = "".join(shown).replace("\u200b", "")
    assert LONG in everything
    assert "<script>\\x{} $\\frac{1}{2$" in " ".join(shown)
    assert "…" not in everything


def test_a_figure_fits_a_column_and_nothing_lies_outside(figure: Any) -> None:
    assert figure.get_size_inches()[0] == pytest.approx(3.35)
    width, height = figure.get_size_inches() * figure.dpi
    for text in figure.findobj(lambda one: hasattr(one, "get_text") and len(one.get_text()) > 4):
        box = text.get_window_extent()
        assert -2 <= box.x0 < box.x1 <= width + 2, text
        assert -2 <= box.y0 < box.y1 <= height + 2, text


@pytest.mark.parametrize(
    ("ending", "start"), [(".svg", b"<?xml"), (".pdf", b"%PDF-"), (".png", b"\x89PNG")]
)
def test_a_figure_is_written_in_each_form_and_the_same_each_time(
    ending: str, start: bytes, tmp_path: Path
) -> None:
    pytest.importorskip("matplotlib")
    written = []
    for name in ("a", "b"):
        path = tmp_path / f"{name}{ending}"
        write_figure(draw(panels()), path)
        written.append(path.read_bytes())
    assert written[0].startswith(start)
    assert written[0] == written[1]


@pytest.mark.parametrize(
    "panel",
    [
        Bars("nothing", []),
        Bars("zero", [("", [Bar("a", 0.0, (0.0, 0.0)), Bar("b", 0.0)])]),
        Topics("no topic differs", []),
        Topics("one", [(LONG, -0.5)]),
        curves_panel({}),
    ],
)
def test_small_and_empty_panels_are_drawn(panel: Panel) -> None:
    pytest.importorskip("matplotlib")
    assert draw([panel]).axes


def test_an_unknown_ending_is_refused(figure: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"written as \.svg, \.pdf, \.png"):
        write_figure(figure, tmp_path / "plot.gif")


def test_colours_differ_for_the_colour_blind_and_in_print() -> None:
    from mathsetu.evaluation.plots import _COLOURS, _DASHES, _HATCHES, _MARKERS

    def lightness(colour: str) -> float:
        red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    # The two that most comparisons have, and what else tells series apart.
    assert abs(lightness(_COLOURS[0]) - lightness(_COLOURS[1])) > 50
    assert len(set(_COLOURS)) == len(set(_HATCHES)) == len(set(_MARKERS)) == 8
    assert len(set(_DASHES)) == 4


def test_programs_plot_comparisons_and_runs(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    import mathsetu

    comparison = compare([WEAK, STRONG])
    judged = Judgments.of([Judgment("1", "a", 1)])
    for number, figure in enumerate(
        (
            mathsetu.plot_means(comparison),
            mathsetu.plot_means({"all": comparison, "en": compare([WEAK, STRONG], ["A.0", "A.1"])}),
            mathsetu.plot_differences(comparison, "MAP"),
            mathsetu.plot_recall_precision([Run("r", {"1": (Hit("a", 1.0),)})], judged),
        )
    ):
        mathsetu.write_figure(figure, tmp_path / f"{number}.svg")
        assert len(texts(tmp_path / f"{number}.svg")) > 3
    with pytest.raises(InputError, match=r"'P@5' was not measured \(there are: MAP\)"):
        mathsetu.plot_differences(comparison, "P@5")
    with pytest.raises(InputError, match="no comparison to plot"):
        mathsetu.plot_means({})
