"""Plots as SVG, drawn by ourselves: differences topic by topic, and means by group."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from xml.sax.saxutils import escape

from mathsetu.evaluation.comparison import Comparison
from mathsetu.evaluation.measures import Measure
from mathsetu.evaluation.results import Results

_WIDTH, _HEIGHT = 760, 190
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 16, 44, 36
# Distinct for colour-blind readers, and told apart by lightness in print.
_COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#999999", "#332288")
_BETTER, _WORSE, _LEVEL = _COLOURS[0], _COLOURS[5], _COLOURS[6]


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar: what it is about, its value and its colour."""

    label: str
    value: float
    colour: str = _BETTER


@dataclass(frozen=True, slots=True)
class Panel:
    """Clusters of bars over one axis; a cluster's name is written below it unless empty."""

    title: str
    clusters: Sequence[tuple[str, Sequence[Bar]]]
    legend: Mapping[str, str] = field(default_factory=dict)


def draw(panels: Sequence[Panel]) -> str:
    """Draw panels, one below the other.

    >>> picture = draw([Panel("MAP", [("en", [Bar("bm25", 0.25)])])])
    >>> picture.startswith("<svg"), "bm25: 0.250" in picture
    (True, True)
    """
    height = _HEIGHT * len(panels)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" '
        f'width="{_WIDTH}" height="{height}" font-family="sans-serif" font-size="12">',
        f'<rect width="{_WIDTH}" height="{height}" fill="white"/>',
    ]
    for number, panel in enumerate(panels):
        lines.append(f'<g transform="translate(0,{number * _HEIGHT})">')
        lines += _panel(panel)
        lines.append("</g>")
    return "\n".join([*lines, "</svg>", ""])


def results_panels(
    results: Results, measure: Measure, groups: Mapping[str, Sequence[str]] | None = None
) -> list[Panel]:
    """The values of all topics, best first, and the means of groups."""
    panels = []
    if groups:
        clusters = [
            (name, [Bar(name, results.mean(measure, topics))]) for name, topics in groups.items()
        ]
        panels.append(Panel(f"{measure} of {results.run}, by group", clusters))
    best_first = sorted(results.values[measure].items(), key=lambda item: -item[1])
    bars = [Bar(topic, value) for topic, value in best_first]
    title = f"{measure} of {results.run}, topic by topic"
    return [*panels, Panel(title, [("", [bar]) for bar in bars])]


def comparison_panels(comparisons: Mapping[str, Comparison], measure: Measure) -> list[Panel]:
    """Means by group, then each run's differences from the first, topic by topic.

    ``comparisons`` maps a group of topics to its comparison; the first is that of all topics.
    """
    runs = next(iter(comparisons.values())).results
    colours = [_COLOURS[place % len(_COLOURS)] for place in range(len(runs))]
    clusters = [
        (
            name,
            [
                Bar(f"{name}, {results.run}", results.mean(measure, comparison.topics), colour)
                for results, colour in zip(comparison.results, colours, strict=True)
            ],
        )
        for name, comparison in comparisons.items()
    ]
    legend = dict(zip((results.run for results in runs), colours, strict=True))
    panels = [Panel(str(measure), clusters, legend)]
    baseline = runs[0]
    for results in runs[1:]:
        differences = {
            topic: value - baseline.values[measure][topic]
            for topic, value in results.values[measure].items()
        }
        bars = [
            Bar(topic, value, _BETTER if value > 0 else _WORSE if value < 0 else _LEVEL)
            for topic, value in sorted(differences.items(), key=lambda item: -item[1])
        ]
        title = f"{measure}: {results.run} minus {baseline.run}, topic by topic"
        panels.append(Panel(title, [("", [bar]) for bar in bars]))
    return panels


def _panel(panel: Panel) -> Iterator[str]:
    values = [bar.value for _, bars in panel.clusters for bar in bars]
    low, high = min(0.0, *values, 0.0), max(0.0, *values, 0.0)
    if low == high:
        high = 1.0
    scale = (_HEIGHT - _TOP - _BOTTOM) / (high - low)

    def across(value: float) -> float:
        return _TOP + (high - value) * scale

    yield f'<text x="{_LEFT}" y="18" font-weight="bold">{_text(panel.title)}</text>'
    yield from _legend(panel.legend)
    for value in sorted({low, 0.0, high}):
        y = f"{across(value):.1f}"
        shade = "black" if value == 0 else "#cccccc"
        yield f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y}" y2="{y}" stroke="{shade}"/>'
        # A label too near to that of zero would run into it.
        if value == 0 or abs(value) * scale > 12:
            yield f'<text x="{_LEFT - 6}" y="{y}" dy="4" text-anchor="end">{value:.2f}</text>'
    room = (_WIDTH - _LEFT - _RIGHT) / max(1, len(panel.clusters))
    for place, (name, bars) in enumerate(panel.clusters):
        left = _LEFT + (place + 0.1) * room
        width = 0.8 * room / max(1, len(bars))
        for number, bar in enumerate(bars):
            top, bottom = sorted((across(bar.value), across(0.0)))
            yield (
                f'<rect x="{left + number * width:.2f}" y="{top:.1f}" width="{width:.2f}" '
                f'height="{bottom - top:.1f}" fill="{bar.colour}">'
                f"<title>{_text(bar.label)}: {bar.value:.3f}</title></rect>"
            )
        if name:
            middle = _LEFT + (place + 0.5) * room
            yield (
                f'<text x="{middle:.1f}" y="{_HEIGHT - _BOTTOM + 18}" '
                f'text-anchor="middle">{_text(name)}</text>'
            )


def _legend(entries: Mapping[str, str]) -> Iterator[str]:
    room = (_WIDTH - _LEFT - _RIGHT) / max(1, len(entries))
    for place, (name, colour) in enumerate(entries.items()):
        x = _LEFT + place * room
        # As much of the name as has room beside its neighbours; all of it as a tooltip.
        shown = name if len(name) * 7 < room - 16 else name[: max(1, int(room / 7) - 3)] + "…"
        yield f'<rect x="{x:.1f}" y="26" width="9" height="9" fill="{colour}"/>'
        yield (
            f'<text x="{x + 13:.1f}" y="35" font-size="11">{_text(shown)}'
            f"<title>{_text(name)}</title></text>"
        )


def _text(text: str) -> str:
    """Text for XML, which has no place for control characters."""
    return escape("".join(character if character >= " " else "\ufffd" for character in text))
