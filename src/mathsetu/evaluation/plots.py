"""Figures for a paper, drawn with matplotlib (extra ``plots``) in one style.

A figure is one column wide. Runs can be told apart without colours: by lightness, hatches, dashes
and markers. Names and numbers are never cut: long ones are wrapped, and the figure becomes taller.
A figure consists of panels, which are plain values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap
from typing import Any, BinaryIO

from mathsetu.errors import InputError
from mathsetu.evaluation.comparison import Comparison
from mathsetu.evaluation.judgments import Judgments
from mathsetu.evaluation.measures import Measure
from mathsetu.evaluation.recall_precision import LEVELS, recall_precision
from mathsetu.evaluation.results import Results
from mathsetu.evaluation.significance import bootstrap_intervals
from mathsetu.models import require
from mathsetu.printable import counted, one_line
from mathsetu.records import Run

#: File extensions of figures.
ENDINGS = (".svg", ".pdf", ".png")
# Inches: the column width of most conference templates.
_WIDTH = 3.35
_BAR, _TOPIC, _HEAD, _CURVE = 0.15, 0.11, 0.55, 2.1
# Characters that fit next to the bars, and across the column.
_LABEL, _LINE = 20, 46
# Relative widths of letters that are wider than most.
_WIDE = dict.fromkeys("ABCDEFGHKNOPQRSTUVXYZ", 1.2) | dict.fromkeys("MWmw@%", 1.75)
# Okabe and Ito's colours, the darkest first; neighbours also differ in lightness.
_COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#999999", "#332288")
_HATCHES = ("", "///", "...", "xxx", "\\\\\\", "---", "+++", "ooo")
_DASHES = ("-", "--", "-.", ":")
_MARKERS = "osv^Dx*+"
_BETTER, _WORSE = _COLOURS[0], _COLOURS[5]
_STYLE = {
    "axes.edgecolor": "#444444",
    "axes.linewidth": 0.6,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 7.5,
    "axes.labelsize": 7,
    "font.family": "sans-serif",
    "font.size": 6.5,
    "hatch.linewidth": 0.4,
    "legend.fontsize": 6.5,
    "legend.frameon": False,
    "pdf.fonttype": 42,  # embeds TrueType fonts, as printers and publishers require
    "savefig.dpi": 300,
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "mathsetu",  # the same figure, the same bytes
    "text.parse_math": False,  # a dollar in a name is a dollar
    "xtick.labelsize": 6.5,
    "ytick.labelsize": 6.5,
}


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar: its series, its value and its interval, if it has one."""

    series: str
    value: float
    interval: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Bars:
    """Clusters of bars with their values; a cluster is a group of topics, a series a run."""

    title: str
    clusters: Sequence[tuple[str, Sequence[Bar]]]


@dataclass(frozen=True, slots=True)
class Topics:
    """One bar per topic, labelled with the topic."""

    title: str
    values: Sequence[tuple[str, float]]


@dataclass(frozen=True, slots=True)
class Curves:
    """Precision over recall, a line for each run."""

    title: str
    lines: Mapping[str, Sequence[float]]


Panel = Bars | Topics | Curves


def means_panel(comparisons: Mapping[str, Comparison], measure: Measure, *, seed: int = 0) -> Bars:
    """The means of runs with bootstrap intervals, for all topics and for each group (language).

    ``comparisons`` maps a group of topics to its comparison.
    """
    clusters = []
    for name, comparison in comparisons.items():
        topics = comparison.topics
        columns = [results.of(measure, sorted(topics)) for results in comparison.results]
        bars = [
            Bar(results.run, results.mean(measure, topics), (interval.low, interval.high))
            for results, interval in zip(
                comparison.results, bootstrap_intervals(columns, seed=seed), strict=True
            )
        ]
        label = f"{name} ({len(topics)})" if len(comparisons) > 1 else ""
        clusters.append((label, bars))
    return Bars(f"{measure}, means with 95% intervals", clusters)


def difference_panels(comparison: Comparison, measure: Measure) -> list[Topics]:
    """For each run after the first: its difference from the first run, by topic."""
    baseline, *others = comparison.results
    panels = []
    for results in others:
        every = [
            (topic, results.values[measure][topic] - baseline.values[measure][topic])
            for topic in comparison.topics
        ]
        shown = sorted((pair for pair in every if pair[1]), key=lambda pair: -round(pair[1], 9))
        equal = len(every) - len(shown)
        left_out = f"; {counted(equal, 'topic')} without a difference" if equal else ""
        title = f"{measure}: {results.run} minus {baseline.run}{left_out}"
        panels.append(Topics(title, shown))
    return panels


def results_panels(
    results: Results,
    measure: Measure,
    groups: Mapping[str, Sequence[str]] | None = None,
    *,
    seed: int = 0,
) -> list[Panel]:
    """The mean of one run, overall and by group (language), and its values by topic."""
    clusters = {"all": results.topics, **(groups or {})}
    bars = []
    for name, topics in clusters.items():
        [interval] = results.intervals([measure], topics, seed=seed)
        bar = Bar("", results.mean(measure, topics), (interval.low, interval.high))
        bars.append((f"{name} ({len(topics)})", [bar]))
    best_first = sorted(results.values[measure].items(), key=lambda item: -item[1])
    return [
        Bars(f"{measure} of {results.run}, means with 95% intervals", bars),
        Topics(f"{measure} of {results.run}, topic by topic", best_first),
    ]


def curves_panel(lines: Mapping[str, Sequence[float]], *, judged_only: bool = False) -> Curves:
    """Interpolated precision at eleven levels of recall (`recall_precision`), by run."""
    hits = "judged hits only" if judged_only else "all hits"
    return Curves(f"Precision over recall, {hits}", lines)


def require_matplotlib() -> Any:
    """Return the module; raise an error that names the extra if it is not installed."""
    return require("matplotlib", "drawing figures", "plots")


def draw(panels: Sequence[Panel]) -> Any:
    """Draw panels, one below the other, as a matplotlib figure."""
    matplotlib = require_matplotlib()
    figures = require("matplotlib.figure", "drawing figures", "plots")
    with matplotlib.rc_context(_STYLE):
        heights = [_height(panel) for panel in panels]
        figure = figures.Figure((_WIDTH, sum(heights)), layout="constrained")
        axes = figure.subplots(len(panels), 1, height_ratios=heights, squeeze=False)[:, 0]
        for panel, own in zip(panels, axes, strict=True):
            own.set_title("\n".join(_wrapped(panel.title, _LINE)), loc="left")
            if isinstance(panel, Bars):
                _draw_bars(own, panel)
            elif isinstance(panel, Topics):
                _draw_topics(own, panel)
            else:
                _draw_curves(own, panel)
        figure.draw_without_rendering()
        # The layout is computed while the style is active, and then fixed, so that the figure looks
        # the same when it is shown or written later. Positions are rounded because the last digits
        # of the layout solver vary.
        figure.set_layout_engine("none")
        for own in axes:
            own.set_position([round(number, 4) for number in own.get_position().bounds])
    return figure


def write_figure(figure: Any, target: str | Path | BinaryIO, ending: str = "") -> None:
    """Write a figure.

    Args:
        figure: A figure, as returned by `plot_means` and the other functions.
        target: A file name, or a binary file open for writing.
        ending: The format: .svg, .pdf or .png (default: from the file name).
    """
    suffix = ending or Path(str(target)).suffix.lower()
    if suffix not in ENDINGS:
        raise InputError(f"{target}: a figure is written as {', '.join(ENDINGS)}")
    matplotlib = require_matplotlib()
    # No dates: the same figure gives the same bytes.
    metadata = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}, ".png": {}}[suffix]
    with matplotlib.rc_context(_STYLE):
        figure.savefig(target, format=suffix[1:], metadata=metadata)


def plot_means(
    comparisons: Comparison | Mapping[str, Comparison], measure: str = "", *, seed: int = 0
) -> Any:
    """Draw the means of runs with their intervals, for all topics or for each group of topics.

    Args:
        comparisons: A comparison, or a mapping from groups of topics to comparisons.
        measure: The measure to plot (default: the first).
        seed: Seed of the bootstrap.
    """
    every = comparisons if isinstance(comparisons, Mapping) else {"all": comparisons}
    if not every:
        raise InputError("there is no comparison to plot")
    if not all(isinstance(one, Comparison) for one in every.values()):
        raise InputError("give a comparison to plot, such as compare(results)")
    chosen = _measure(next(iter(every.values())).results[0], measure)
    return draw([means_panel(every, chosen, seed=seed)])


def plot_differences(comparison: Comparison, measure: str = "") -> Any:
    """Draw the difference of each run from the first, by topic.

    Args:
        comparison: The comparison of the runs.
        measure: The measure to plot (default: the first).
    """
    return draw(difference_panels(comparison, _measure(comparison.results[0], measure)))


def plot_recall_precision(
    runs: Sequence[Run], judgments: Judgments, *, judged_only: bool = False
) -> Any:
    """Draw the precision of runs at eleven levels of recall.

    Args:
        runs: The runs.
        judgments: The judgments.
        judged_only: Remove unjudged hits first, as prime measures do.
    """
    lines = {run.name: recall_precision(run, judgments, judged_only=judged_only) for run in runs}
    return draw([curves_panel(lines, judged_only=judged_only)])


def _measure(results: Results, name: str) -> Measure:
    for measure in results.measures:
        if name in ("", str(measure)):
            return measure
    known = ", ".join(map(str, results.measures))
    raise InputError(f"{name!r} was not measured (there are: {known})")


def _height(panel: Panel) -> float:
    title = 0.13 * len(_wrapped(panel.title, _LINE))
    if isinstance(panel, Curves):
        return _CURVE + title + 0.13 * _lines(panel.lines, _LINE - 6)
    if isinstance(panel, Topics):
        return _HEAD + title + _TOPIC * max(3, _lines(dict(panel.values), _LABEL))
    bars = sum(max(len(bars), len(_wrapped(name, _LABEL))) + 0.6 for name, bars in panel.clusters)
    return _HEAD + title + _BAR * max(3, bars) + 0.13 * _lines(_series(panel), _LINE - 6)


def _lines(names: Mapping[str, object] | Sequence[str], width: int) -> int:
    return sum(len(_wrapped(name, width)) for name in names)


def _series(panel: Bars) -> list[str]:
    """The names of the runs in a panel; empty if there is only one."""
    names = dict.fromkeys(bar.series for _, bars in panel.clusters for bar in bars)
    return list(names) if len(names) > 1 else []


def _draw_bars(axes: Any, panel: Bars) -> None:
    series = _series(panel)
    place = 0.0
    ticks: list[float] = []
    labels: list[str] = []
    most = max((_end(bar) for _, bars in panel.clusters for bar in bars), default=0.0) or 1.0
    for name, bars in panel.clusters:
        first = place
        for bar in bars:
            number = series.index(bar.series) if series else 0
            errors = None
            if bar.interval is not None:
                low, high = bar.interval
                errors = [[max(0.0, bar.value - low)], [max(0.0, high - bar.value)]]
            axes.barh(
                place,
                bar.value,
                0.82,
                xerr=errors,
                color=_COLOURS[number % len(_COLOURS)],
                edgecolor="white",
                hatch=_HATCHES[number % len(_HATCHES)],
                error_kw={"elinewidth": 0.6, "capsize": 1.4, "capthick": 0.6},
                label=_label(bar.series) if series and not labels else None,
            )
            axes.text(_end(bar) + 0.02 * most, place, f"{bar.value:.3f}", va="center", fontsize=6)
            place += 1
        ticks.append((first + place - 1) / 2)
        labels.append("\n".join(_wrapped(name, _LABEL)))
        place += 0.6
    axes.set_yticks(ticks, labels)
    axes.tick_params(axis="y", length=0)
    axes.invert_yaxis()
    axes.set_xlim(0, 1.18 * most)
    if series:
        _legend(axes)


def _draw_topics(axes: Any, panel: Topics) -> None:
    names = ["\n".join(_wrapped(name, _LABEL)) for name, _ in panel.values]
    # A topic whose name has several lines gets as many rows.
    place, places = 0.0, []
    for name in names:
        lines = name.count("\n") + 1
        places.append(place + (lines - 1) / 2)
        place += lines
    values = [value for _, value in panel.values]
    colours = [_BETTER if value >= 0 else _WORSE for value in values]
    axes.barh(places, values, 0.75, color=colours)
    axes.set_yticks(places, names, fontsize=5.5)
    axes.tick_params(axis="y", length=0)
    axes.axvline(0, color="black", linewidth=0.6)
    axes.set_ylim(max(place, 3.0) - 0.4, -0.6)
    if not values:
        axes.set_xticks([])


def _draw_curves(axes: Any, panel: Curves) -> None:
    for number, (name, precisions) in enumerate(panel.lines.items()):
        axes.plot(
            LEVELS,
            precisions,
            color=_COLOURS[number % len(_COLOURS)],
            linestyle=_DASHES[number % len(_DASHES)],
            marker=_MARKERS[number % len(_MARKERS)],
            markersize=2.6,
            linewidth=1.0,
            label=_label(name),
        )
    axes.set_xlim(-0.02, 1.02)
    axes.set_ylim(0, 1.02)
    axes.set_xlabel("recall")
    axes.set_ylabel("precision")
    if panel.lines:
        _legend(axes)


def _legend(axes: Any) -> None:
    """Put the legend above the axes, one name per line, so that no name is cut."""
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=1, borderaxespad=0.1)
    title = axes.get_title(loc="left")
    axes.set_title("", loc="left")
    axes.get_legend().set_title(title, {"size": _STYLE["axes.titlesize"]})
    axes.get_legend()._legend_box.align = "left"


def _end(bar: Bar) -> float:
    return max(bar.value, bar.interval[1] if bar.interval else 0.0)


def _label(name: str) -> str:
    # matplotlib hides legend entries that begin with an underscore.
    shown = "\n".join(_wrapped(name, _LINE - 6))
    return f"\u200b{shown}" if shown.startswith("_") else shown


def _wrapped(name: str, width: int) -> list[str]:
    """Break a name into lines that fit a width, without losing characters.

    >>> _wrapped("bm25-with-a-very-long-name-indeed", 20)
    ['bm25-with-a-very-', 'long-name-indeed']
    """
    shown = one_line(name)
    lines = [""]
    for room in range(width, 7, -1):
        lines = wrap(shown, room) or [""]
        if all(sum(_WIDE.get(letter, 1.0) for letter in line) <= width for line in lines):
            break
    return lines
