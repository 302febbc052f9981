"""Figures drawn with matplotlib, with any names of runs and topics."""

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from mathsetu.errors import InputError
from mathsetu.evaluation import Judgments, Measure, Results, compare
from mathsetu.evaluation.plots import (
    _BETTER,
    _WORSE,
    Bar,
    Bars,
    Panel,
    Topics,
    _wrapped,
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


# The content of panels


def test_means_have_intervals_for_all_topics_and_by_group() -> None:
    means = panels()[0]
    assert isinstance(means, Bars)
    assert [name for name, _ in means.clusters] == ["all (5)", "en (2)", "hi (2)"]
    first = means.clusters[0][1][0]
    assert (first.series, first.value) == ("weak", pytest.approx(0.22))
    assert first.interval is not None
    assert 0.1 <= first.interval[0] < first.value < first.interval[1] <= 0.5


def test_differences_name_their_topics_and_count_topics_without_a_difference() -> None:
    [differences] = difference_panels(compare([WEAK, STRONG]), MAP)
    assert [name for name, _ in differences.values] == ["A.0", "A.1", "A.2", "A.3"]
    assert [round(value, 3) for _, value in differences.values] == [0.7, 0.7, 0.7, -0.1]
    assert differences.title.endswith("minus weak; 1 topic without a difference")


def test_one_run_is_shown_by_group_and_by_topic() -> None:
    means, topics = results_panels(STRONG, MAP, GROUPS)
    assert isinstance(means, Bars)
    assert isinstance(topics, Topics)
    assert [name for name, _ in means.clusters] == ["all (5)", "en (2)", "hi (2)"]
    values = [value for _, value in topics.values]
    assert values == sorted(values, reverse=True)


def test_precision_over_recall_equals_that_of_trec_eval() -> None:
    judged = Judgments.of([Judgment("1", one, 1) for one in "abcd"] + [Judgment("2", "a", 1)])
    run = Run("r", {"1": tuple(Hit(one, -n) for n, one in enumerate("axbyyc"))})
    # trec_eval -m iprec_at_recall of this run; topic 2 has no hits and counts as 0.
    one = [1.0, 1.0, 1.0, 0.6667, 0.6667, 0.6667, 0.6, 0.6, 0.0, 0.0, 0.0]
    found = recall_precision(run, judged)
    assert found == pytest.approx([value / 2 for value in one], abs=1e-4)
    assert recall_precision(run, judged, ["1"]) == pytest.approx(one, abs=1e-4)
    assert len(LEVELS) == 11


# Figures as a whole


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
def test_a_figure_is_written_in_each_format_with_the_same_bytes_each_time(
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


# Positions, colours and sizes


def axes_of(panel: Panel) -> Any:
    pytest.importorskip("matplotlib")
    [axes] = draw([panel]).axes
    return axes


TWO_RUNS = Bars(
    "P",
    [
        ("all", [Bar("a", 0.5, (0.4, 0.6)), Bar("b", 0.25)]),
        ("en", [Bar("a", 0.1, (0.2, 0.3)), Bar("b", 0.8, (0.7, 0.75))]),
    ],
)


def test_bars_are_drawn_in_clusters_with_their_values_to_the_right() -> None:
    axes = axes_of(TWO_RUNS)
    middles = [bar.get_y() + bar.get_height() / 2 for bar in axes.patches]
    assert middles == pytest.approx([0, 1, 2.6, 3.6])
    assert [bar.get_height() for bar in axes.patches] == pytest.approx([0.82] * 4)
    assert [bar.get_width() for bar in axes.patches] == [0.5, 0.25, 0.1, 0.8]
    assert list(axes.get_yticks()) == pytest.approx([0.5, 3.1])
    assert [label.get_text() for label in axes.get_yticklabels()] == ["all", "en"]
    # A value starts after its bar or interval, at a fiftieth of the longest one.
    assert axes.get_xlim() == pytest.approx((0, 1.18 * 0.8))
    places = {text.get_text(): text.get_position() for text in axes.texts}
    assert places["0.500"] == pytest.approx((0.6 + 0.016, 0))
    assert places["0.250"] == pytest.approx((0.25 + 0.016, 1))
    assert places["0.100"] == pytest.approx((0.3 + 0.016, 2.6))
    assert places["0.800"] == pytest.approx((0.8 + 0.016, 3.6))
    # The first cluster is at the top.
    assert axes.get_ylim()[0] > axes.get_ylim()[1]


def test_intervals_are_drawn_from_low_to_high_and_always_include_the_value() -> None:
    axes = axes_of(TWO_RUNS)
    spans = [
        [point[0] for point in line.get_paths()[0].vertices]
        for line in axes.collections
        if len(line.get_paths())
    ]
    assert spans == [
        pytest.approx([0.4, 0.6]),
        pytest.approx([0.1, 0.3]),  # its low end lies above the value
        pytest.approx([0.7, 0.8]),  # its high end lies below it
    ]


def test_each_run_has_its_colour_its_hatch_and_one_line_of_the_legend() -> None:
    axes = axes_of(TWO_RUNS)
    colours = [bar.get_facecolor() for bar in axes.patches]
    assert colours[0] == colours[2] != colours[1] == colours[3]
    assert [bar.get_hatch() or "" for bar in axes.patches] == ["", "///", "", "///"]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["a", "b"]
    assert axes.get_legend().get_title().get_text() == "P"
    alone = axes_of(Bars("P", [("all", [Bar("a", 0.5)]), ("en", [Bar("a", 0.1)])]))
    assert alone.get_legend() is None
    assert alone.get_title(loc="left") == "P"


def test_topics_are_drawn_one_per_line_and_losses_have_another_colour() -> None:
    to_rgba = pytest.importorskip("matplotlib.colors").to_rgba
    long = "a topic with a name of three lines in the column of labels"
    axes = axes_of(Topics("P", [("A.1", 0.3), (long, 0.0), ("A.2", -0.2)]))
    middles = [bar.get_y() + bar.get_height() / 2 for bar in axes.patches]
    lines = axes.get_yticklabels()[1].get_text().count("\n") + 1
    assert lines == 4
    assert middles == pytest.approx([0, 1 + (lines - 1) / 2, 1 + lines])
    assert [bar.get_height() for bar in axes.patches] == pytest.approx([0.75] * 3)
    better, equal, worse = (bar.get_facecolor() for bar in axes.patches)
    assert better == equal == to_rgba(_BETTER)
    assert worse == to_rgba(_WORSE) != better
    assert axes.get_ylim() == pytest.approx((2 + lines - 0.4, -0.6))
    [zero] = axes.lines
    assert list(zero.get_xdata()) == [0, 0]
    assert len(axes.get_xticks()) > 1
    empty = axes_of(Topics("P", []))
    assert empty.get_ylim() == pytest.approx((3 - 0.4, -0.6))
    assert len(empty.get_xticks()) == 0


def test_curves_span_all_levels_and_differ_even_without_colours() -> None:
    axes = axes_of(curves_panel({"a": [0.5] * 11, "b": [0.4] * 11}))
    assert axes.get_xlim() == pytest.approx((-0.02, 1.02))
    assert axes.get_ylim() == pytest.approx((0, 1.02))
    assert axes.xaxis.label.get_fontsize() == axes.yaxis.label.get_fontsize() == 7
    first, second = axes.lines
    assert list(first.get_xdata()) == list(LEVELS)
    assert list(second.get_ydata()) == [0.4] * 11
    assert first.get_linestyle() != second.get_linestyle()
    assert first.get_marker() != second.get_marker()
    assert first.get_color() != second.get_color()
    assert axes_of(curves_panel({})).get_legend() is None


@pytest.mark.parametrize(
    ("panel", "inches"),
    [
        # A head, a line of a title, and each bar, topic or line of a legend.
        (Bars("P", [("", [Bar("a", 0.5)])]), 0.55 + 0.13 + 3 * 0.15),
        (Bars("P", [("", [Bar("a", 0.5)] * 4)]), 0.55 + 0.13 + 4.6 * 0.15),
        (TWO_RUNS, 0.55 + 0.13 + 5.2 * 0.15 + 2 * 0.13),
        (Topics("P", []), 0.55 + 0.13 + 3 * 0.11),
        (Topics("p" * 46, []), 0.55 + 0.13 + 3 * 0.11),
        (Topics("p" * 47, []), 0.55 + 2 * 0.13 + 3 * 0.11),
        (Topics("P", [(f"A.{n}", 0.1) for n in range(9)]), 0.55 + 0.13 + 9 * 0.11),
        (curves_panel({"a": [0.5] * 11, "b": [0.4] * 11}), 2.1 + 0.13 + 2 * 0.13),
    ],
)
def test_the_height_of_a_figure_grows_with_its_content(panel: Panel, inches: float) -> None:
    pytest.importorskip("matplotlib")
    assert draw([panel]).get_size_inches() == pytest.approx((3.35, inches))
    assert draw([panel, panel]).get_size_inches()[1] == pytest.approx(2 * inches)


def test_the_resolution_of_a_figure_is_high_enough_for_print(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    write_figure(draw([TWO_RUNS]), tmp_path / "plot.png")
    width = int.from_bytes((tmp_path / "plot.png").read_bytes()[16:20])
    assert width == int(3.35 * 300)


def test_all_font_sizes_are_readable(figure: Any) -> None:
    sizes = {
        text.get_fontsize() for text in figure.findobj(lambda one: hasattr(one, "get_fontsize"))
    }
    assert min(sizes) >= 5.5
    assert max(sizes) <= 10


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("", [""]),
        ("M" * 20, ["M" * 11, "M" * 9]),
        ("m" * 11, ["m" * 11]),
        ("B" * 20, ["B" * 16, "B" * 4]),
        ("x" * 20, ["x" * 20]),
        ("x" * 21, ["x" * 20, "x"]),
        ("one two three four five", ["one two three four", "five"]),
    ],
)
def test_names_are_wrapped_by_their_printed_width(name: str, lines: list[str]) -> None:
    assert _wrapped(name, 20) == lines


def test_an_unknown_ending_is_refused(figure: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"written as \.svg, \.pdf, \.png"):
        write_figure(figure, tmp_path / "plot.gif")


def test_series_can_be_distinguished_without_colours() -> None:
    from mathsetu.evaluation.plots import _COLOURS, _DASHES, _HATCHES, _MARKERS

    def lightness(colour: str) -> float:
        red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    # Most comparisons have two series; hatches, markers and dashes distinguish more.
    assert abs(lightness(_COLOURS[0]) - lightness(_COLOURS[1])) > 50
    assert len(set(_COLOURS)) == len(set(_HATCHES)) == len(set(_MARKERS)) == 8
    assert len(set(_DASHES)) == 4


def test_comparisons_and_runs_can_be_plotted_from_python(tmp_path: Path) -> None:
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
    with pytest.raises(InputError, match=r"a comparison to plot, such as compare\(results\)"):
        mathsetu.plot_means([WEAK, STRONG])  # type: ignore[arg-type]


def test_the_curve_of_a_prime_measure_ignores_unjudged_hits() -> None:
    judged = Judgments.of([Judgment("1", "a", 1)])
    run = Run("r", {"1": (Hit("unjudged", 2.0), Hit("a", 1.0))})
    assert recall_precision(run, judged)[0] == pytest.approx(0.5)
    assert recall_precision(run, judged, judged_only=True)[0] == pytest.approx(1.0)
    assert curves_panel({}, judged_only=True).title.endswith("judged hits only")
    assert curves_panel({}).title.endswith("all hits")
