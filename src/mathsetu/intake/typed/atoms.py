"""Defines the pieces of LaTeX that a typed formula is composed of."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

#: The sign of atoms that denote a change: ∂, Δ.
DIFFERENCE: Final = "difference"


@dataclass
class Atom:
    """A piece of LaTeX; ``inner`` is its content if it is one pair of brackets."""

    latex: str
    is_operand: bool
    is_tight: bool = False
    inner: str | None = None
    #: Whether brackets after it are its argument.
    is_function: bool = False
    #: Whether digits directly after it are its index, or a power without ``^``.
    takes_digits: bool = False
    sign: str = ""
    #: The mark of its final script, and the position where that begins.
    script: str = ""
    script_at: int = 0
    #: The entries between square brackets, which may be a row of a matrix.
    cells: tuple[str, ...] = ()


def joined(atoms: Sequence[Atom]) -> str:
    """Return the LaTeX of consecutive atoms."""
    parts: list[str] = []
    for atom in atoms:
        latex = atom.latex
        if parts and parts[-1][-1:] == " " and latex[:1] in "([{^_":
            parts[-1] = parts[-1].rstrip()
        # The name of a wildcard has one letter: ?f dx.
        is_apart = bool(parts) and parts[-1][:1] == "?" and latex[:1].isalpha()
        parts.append(f" {latex}" if is_apart else latex)
    return re.sub(r"  +", " ", "".join(parts)).strip()
