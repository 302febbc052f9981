"""Reads matrices as typed for programs: ``[[1, 2], [3, 4]]`` and ``[1 2; 3 4]``."""

from __future__ import annotations

from collections.abc import Sequence

from mathsetu.intake.typed.atoms import Atom, joined
from mathsetu.intake.typed.slashes import with_fractions


def matrix_of(atoms: Sequence[Atom]) -> str:
    r"""Return the LaTeX of a matrix whose rows are between square brackets; empty if it is none.

    Brackets of capital letters alone are commutators: ``[[X, Y], [Z, W]]``.

    >>> one, two, semicolon = Atom("1", True), Atom("2", True), Atom(";", False, sign=";")
    >>> matrix_of([one, two, semicolon, two, one])
    '\\begin{bmatrix}1&2\\\\2&1\\end{bmatrix}'
    """
    rows = _nested_rows(atoms) or _separated_rows(atoms)
    width = len(rows[0]) if rows else 0
    if len(rows) < 2 or not width or any(len(row) != width for row in rows):
        return ""
    body = "\\\\".join("&".join(row) for row in rows)
    return f"\\begin{{bmatrix}}{body}\\end{{bmatrix}}"


def cells_of(atoms: Sequence[Atom]) -> tuple[str, ...]:
    """Return the entries of a row, separated by commas; none if one is empty."""
    return _finished(_split(atoms, ","))


def _nested_rows(atoms: Sequence[Atom]) -> list[tuple[str, ...]]:
    rows, commas = atoms[::2], atoms[1::2]
    is_list = all(row.cells for row in rows) and all(comma.sign == "," for comma in commas)
    cells = [cell for row in rows for cell in row.cells]
    if not is_list or len(rows) != len(commas) + 1 or all(cell.isupper() for cell in cells):
        return []
    return [row.cells for row in rows]


def _separated_rows(atoms: Sequence[Atom]) -> list[tuple[str, ...]]:
    """Return the rows between semicolons; spaces or commas separate their entries.

    A semicolon between single entries may be that of an interval or of a list: ``[a; b]``.
    """
    if not any(atom.sign == ";" for atom in atoms):
        return []
    rows = [
        _finished(_split(row, ",") if any(atom.sign == "," for atom in row) else _apart(row))
        for row in _split(atoms, ";")
    ]
    return rows if min(map(len, rows)) > 1 else []


def _split(atoms: Sequence[Atom], sign: str) -> list[list[Atom]]:
    parts: list[list[Atom]] = [[]]
    for atom in atoms:
        if atom.sign == sign:
            parts.append([])
        else:
            parts[-1].append(atom)
    return parts


def _apart(row: Sequence[Atom]) -> list[list[Atom]]:
    """Return the entries of a row that spaces separate: ``1 -2``, but not ``1 - 2``."""
    entries: list[list[Atom]] = []
    for place, atom in enumerate(row):
        following = row[place + 1] if place + 1 < len(row) else None
        is_sign = following is not None and following.is_tight and atom.sign in ("-", "+")
        joins = place > 0 and not row[place - 1].is_operand
        if not entries or (not atom.is_tight and not joins and (atom.is_operand or is_sign)):
            entries.append([])
        entries[-1].append(atom)
    return entries


def _finished(entries: Sequence[Sequence[Atom]]) -> tuple[str, ...]:
    cells = tuple(joined(with_fractions(entry)) for entry in entries)
    return cells if all(cells) else ()
