"""Tables for a paper, written as Markdown, LaTeX or CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from mathsetu.evaluation.comparison import LETTERS

_RAISED = str.maketrans(LETTERS, "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ")
_TEX = {character: f"\\{character}" for character in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "Δ": r"$\Delta$",
}
_TEX_TABLE = str.maketrans(_TEX)
# Characters that make a spreadsheet read a cell of a CSV file as a formula.
_FORMULA_SIGNS = ("=", "+", "-", "@", "\t", " ")
_MARKDOWN = str.maketrans({character: f"\\{character}" for character in "\\|*_`<>[]"})


@dataclass(frozen=True, slots=True)
class Number:
    """A figure, shown with three decimals, and the letters of the runs that it is above.

    A difference is shown with its sign, and a p-value below 0.001 as <0.001.

    >>> print(Number(0.28311, "ac"), Number(0.1, kind="difference"), Number(1e-9, kind="p"))
    0.283ᵃᶜ +0.100 <0.001
    """

    value: float
    marks: str = ""
    kind: Literal["figure", "difference", "p"] = "figure"

    def __str__(self) -> str:
        return self.plain + self.marks.translate(_RAISED)

    @property
    def plain(self) -> str:
        """The figure without its letters."""
        if self.kind == "p" and self.value < 0.001:
            return "<0.001"
        # A difference that rounds to zero has no sign.
        rounded = round(self.value, 3) + 0.0
        return f"{rounded:+.3f}" if self.kind == "difference" and rounded else f"{rounded:.3f}"


Cell = str | Number


@dataclass(frozen=True, slots=True)
class Table:
    """A table with notes below it.

    >>> table = Table(("run", "MAP"), (("bm25", Number(0.25)),), ("77 topics",))
    >>> print(table.markdown())
    | run | MAP |
    |---|---:|
    | bm25 | 0.250 |
    <BLANKLINE>
    77 topics.
    <BLANKLINE>
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    notes: Sequence[str] = ()

    def markdown(self) -> str:
        """As Markdown, with its notes below."""
        rules = ["---:" if self._is_figures(place) else "---" for place in self._places]
        header, *rows = (
            f"| {' | '.join(map(_in_markdown, row))} |" for row in (self.columns, *self.rows)
        )
        lines = [header, f"|{'|'.join(rules)}|", *rows]
        return "\n".join([*lines, "", *(f"{_in_markdown(note)}." for note in self.notes), ""])

    def latex(self) -> str:
        r"""As a LaTeX tabular for the package booktabs, with its notes as comments.

        >>> print(Table(("run", "P'@10"), (("a_b", Number(0.25, "a")),)).latex())
        % \usepackage{booktabs}
        \begin{tabular}{lr}
        \toprule
        run & P'@10 \\
        \midrule
        a\_b & 0.250$^{a}$ \\
        \bottomrule
        \end{tabular}
        <BLANKLINE>
        """
        shape = "".join("r" if self._is_figures(place) else "l" for place in self._places)
        body = [" & ".join(map(_in_latex, row)) + r" \\" for row in (self.columns, *self.rows)]
        lines = [
            *(f"% {note}" for note in (r"\usepackage{booktabs}", *self.notes)),
            rf"\begin{{tabular}}{{{shape}}}",
            r"\toprule",
            body[0],
            r"\midrule",
            *body[1:],
            r"\bottomrule",
            r"\end{tabular}",
        ]
        return "\n".join(lines) + "\n"

    def csv(self) -> str:
        r"""Return the table as CSV with all digits; the letters of a column get their own column.

        A text that a spreadsheet would read as a formula gets an apostrophe before it, because the
        name of a run or topic can be anything. Numbers do not.

        >>> Table(("run", "MAP"), (("bm25", Number(0.25, "b")),)).csv()
        'run,MAP,MAP above\nbm25,0.25,b\n'
        """
        # The number of CSV columns of each column.
        widths = [1 + any(_marks(row[place]) for row in self.rows) for place in self._places]
        header = [(_escaped(name), f"{_escaped(name)} above") for name in self.columns]
        rows = [[(_full(cell), _marks(cell)) for cell in row] for row in self.rows]
        buffer = io.StringIO()
        writer = csv.writer(buffer, lineterminator="\n")
        for row in (header, *rows):
            cells = zip(row, widths, strict=True)
            writer.writerow([part for parts, width in cells for part in parts[:width]])
        return buffer.getvalue()

    @property
    def _places(self) -> range:
        return range(len(self.columns))

    def _is_figures(self, place: int) -> bool:
        return any(isinstance(row[place], Number) for row in self.rows)


#: File extension to the function that writes a table in that format.
WRITERS: dict[str, Callable[[Table], str]] = {
    ".md": Table.markdown,
    ".tex": Table.latex,
    ".csv": Table.csv,
}


def _in_markdown(cell: Cell) -> str:
    return str(cell).translate(_MARKDOWN)


def _in_latex(cell: Cell) -> str:
    if isinstance(cell, Number):
        # A hyphen is not a minus sign.
        plain = cell.plain.replace("-", "$-$").replace("<", "$<$")
        return plain + (f"$^{{{cell.marks}}}$" if cell.marks else "")
    return cell.translate(_TEX_TABLE)


def _full(cell: Cell) -> str:
    return repr(cell.value) if isinstance(cell, Number) else _escaped(cell)


def _escaped(text: str) -> str:
    """Return a text that a spreadsheet shows as it is, after an apostrophe if it needs one."""
    text = " ".join(text.splitlines())  # a line break would begin a new row
    return f"'{text}" if text.startswith(_FORMULA_SIGNS) else text


def _marks(cell: Cell) -> str:
    return cell.marks if isinstance(cell, Number) else ""
