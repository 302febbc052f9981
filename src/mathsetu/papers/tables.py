"""The tables of the page: a row of a paper with its figures, ours, command and difference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

#: A figure for each measure of a table; None where there is none.
Figures = Sequence[float | None]
_NONE = "–"


@dataclass(frozen=True)
class Row:
    """One row of a paper.

    Attributes:
        place: Where it stands: a table or figure, and its name there.
        system: What it is of.
        command: What computes it here.
        difference: Why ours differ, in a word, or why there are none.
        paper: The paper's figures by edition.
        ours: Ours by edition.
    """

    place: str
    system: str
    command: str
    difference: str
    paper: Mapping[str, Figures] = field(default_factory=dict)
    ours: Mapping[str, Figures] = field(default_factory=dict)


def figures_text(figures: Figures) -> str:
    """Figures as papers print them; empty without any.

    >>> figures_text((0.259, 0.2831)), figures_text((None, 1.0)), figures_text(())
    ('.259 .283', '– 1.000', '')
    """
    return " ".join(_NONE if one is None else _three(one) for one in figures)


def _three(figure: float) -> str:
    return f"{figure:.3f}".removeprefix("0")


def markdown(
    rows: Sequence[Row], editions: Sequence[str], measures: str, theirs: str = "paper"
) -> str:
    """Rows as a table: for each edition the paper's figures and ours.

    Args:
        rows: The rows.
        editions: The columns, a pair for each; one that no row has figures of ours for gets one.
        measures: What the figures of a cell are.
        theirs: Whose figures stand beside ours.

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
    """How many figures are the same as printed, in three digits.

    >>> equal((0.259, 0.283, None), (0.2592, 0.2841, 0.1))
    1
    """
    pairs = zip(paper, ours, strict=False)
    return sum(
        one is not None and other is not None and f"{one:.3f}" == f"{other:.3f}"
        for one, other in pairs
    )
