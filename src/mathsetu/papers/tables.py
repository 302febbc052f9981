"""The tables of the page: a row has the paper's figures, ours, the command and the difference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

#: A figure for each measure of a table; None if it is missing.
Figures = Sequence[float | None]
_NONE = "–"


@dataclass(frozen=True)
class Row:
    """One row of a paper.

    Attributes:
        place: The table or figure of the paper, and the name of the row in it.
        system: The system that was measured.
        command: The command that computes our figures.
        difference: In short, why our figures differ or are missing.
        paper: The paper's figures by edition.
        ours: Our figures by edition.
    """

    place: str
    system: str
    command: str
    difference: str
    paper: Mapping[str, Figures] = field(default_factory=dict)
    ours: Mapping[str, Figures] = field(default_factory=dict)


def figures_text(figures: Figures) -> str:
    """Format figures as papers print them.

    >>> figures_text((0.259, 0.2831)), figures_text((None, 1.0)), figures_text(())
    ('.259 .283', '– 1.000', '')
    """
    return " ".join(_NONE if one is None else _three(one) for one in figures)


def _three(figure: float) -> str:
    return f"{figure:.3f}".removeprefix("0")


def markdown(
    rows: Sequence[Row], editions: Sequence[str], measures: str, theirs: str = "paper"
) -> str:
    """Format rows as a Markdown table: for each edition the paper's figures and ours.

    Args:
        rows: The rows.
        editions: The editions, two columns for each; only one if no row has our figures for it.
        measures: The measures of the figures in a cell.
        theirs: The source of the figures that ours are compared with.

    >>> row = Row("1, a", "BM25", "reproduce a", "equal", {"2020": [0.5]}, {"2020": [0.25]})
    >>> print(markdown([row], ["2020"], "MAP"))
    | table, row | system | 2020 paper (MAP) | ours | command | difference |
    |---|---|---|---|---|---|
    | 1, a | BM25 | .500 | .250 | `reproduce a` | equal |
    """
    measured = {edition: any(edition in row.ours for row in rows) for edition in editions}
    columns = ["table, row", "system"]
    for edition in editions:
        columns += [f"{edition} {theirs} ({measures})", *(["ours"] if measured[edition] else [])]
    columns += ["command", "difference"]
    lines = [columns, ["---"] * len(columns)]
    for row in rows:
        cells = [row.place, row.system]
        for edition in editions:
            cells.append(figures_text(row.paper.get(edition, ())))
            if measured[edition]:
                cells.append(figures_text(row.ours.get(edition, ())))
        lines.append([*cells, f"`{row.command}`" if row.command else "", row.difference])
    header, rule, *body = lines
    shown = [_line(header), f"|{'|'.join(rule)}|", *map(_line, body)]
    return "\n".join(shown)


def _line(cells: Sequence[str]) -> str:
    return "|" + "".join(f" {cell} |" if cell else " |" for cell in cells)


def equal(paper: Figures, ours: Figures) -> int:
    """How many figures are equal to three digits.

    >>> equal((0.259, 0.283, None), (0.2592, 0.2841, 0.1))
    1
    """
    pairs = zip(paper, ours, strict=False)
    return sum(
        one is not None and other is not None and f"{one:.3f}" == f"{other:.3f}"
        for one, other in pairs
    )
