"""Draws a table of cosines as an SVG heat map: the darker a cell, the higher its cosine."""

from __future__ import annotations

from collections.abc import Sequence
from xml.sax.saxutils import escape

_CELL = 22
_LABELS = 190
_LONGEST = 28
# From white to the blue of the other plots.
_FULL = (0, 114, 178)
_FONT = 'font-family="sans-serif" font-size="12"'


def heat_map(rows: Sequence[str], columns: Sequence[str], values: Sequence[Sequence[float]]) -> str:
    """Draw values between 0 and 1; a frame marks the highest of each row, which MaxSim uses.

    >>> picture = heat_map(["$x^2$"], ["$y^2$", "the whole"], [[0.9, 0.2]])
    >>> picture.startswith("<svg"), "$x^2$ ~ $y^2$: 0.90" in picture
    (True, True)
    """
    width = _LABELS + _CELL * len(columns) + 8
    height = _LABELS + _CELL * len(rows) + 8
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" {_FONT}>',
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]
    for number, label in enumerate(columns):
        across = _LABELS + _CELL * number + _CELL // 2 + 4
        place = f"translate({across},{_LABELS - 6}) rotate(-90)"
        lines.append(f'<text transform="{place}">{_short(label)}</text>')
    for number, (label, row) in enumerate(zip(rows, values, strict=True)):
        down = _LABELS + _CELL * number
        lines.append(
            f'<text x="{_LABELS - 6}" y="{down + 15}" text-anchor="end">{_short(label)}</text>'
        )
        best = max(range(len(row)), key=row.__getitem__, default=-1)
        for column, value in enumerate(row):
            frame = ' stroke="black"' if column == best else ""
            title = escape(f"{label} ~ {columns[column]}: {value:.2f}")
            lines.append(
                f'<rect x="{_LABELS + _CELL * column + 1}" y="{down + 1}" width="{_CELL - 2}" '
                f'height="{_CELL - 2}" fill="{_colour(value)}"{frame}><title>{title}</title></rect>'
            )
    return "\n".join([*lines, "</svg>", ""])


def is_heat_map(text: str) -> bool:
    """Whether a text begins like a heat map drawn by this module."""
    first = text.partition("\n")[0]
    return first.startswith("<svg ") and first.endswith(f" {_FONT}>")


def _colour(value: float) -> str:
    share = min(1.0, max(0.0, value))
    return "#" + "".join(f"{round(255 + (part - 255) * share):02x}" for part in _FULL)


def _short(label: str) -> str:
    return escape(label if len(label) <= _LONGEST else label[: _LONGEST - 1] + "…")
