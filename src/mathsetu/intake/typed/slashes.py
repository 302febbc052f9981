"""Turns slashes between atoms into fractions, and ``choose`` into binomial coefficients."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from mathsetu.intake.typed.atoms import DIFFERENCE, Atom, joined
from mathsetu.intake.typed.names import FUNCTIONS

# d, d^2, dx, dx^2; a product such as du is one as well. With letters before it: xdx.
_DIFFERENTIAL = re.compile(r"d[A-Za-z]?(?:\^.+)?")
_WITH_DIFFERENTIAL = re.compile(r"[A-Za-z]*d[A-Za-z](?:\^.+)?")
# Signs of products; a slash divides the whole product. × is excluded: it also joins sets.
_TIMES: Final = frozenset("*∗·⋅")


def with_fractions(given: Sequence[Atom]) -> list[Atom]:
    r"""Return atoms with each slash and its neighbours replaced by a fraction.

    >>> slash = Atom("/", is_operand=False, is_tight=True, sign="/")
    >>> [atom.latex for atom in with_fractions([Atom("a", True), slash, Atom("b", True)])]
    ['\\frac{a}{b}']
    """
    atoms: list[Atom] = []
    place = 0
    while place < len(given):
        atom = given[place]
        following = given[place + 1] if place + 1 < len(given) else None
        if (
            atom.sign in ("/", "choose")
            and atoms
            and atoms[-1].is_operand
            and following is not None
            and following.is_operand
        ):
            below = [following]
            if atom.sign == "/":
                below += _multiplied(atoms[-1], atom, following, given[place + 2 :])
            start = _numerator(atoms, atom, below) if atom.sign == "/" else len(atoms) - 1
            above = atoms[start:]
            del atoms[start:]
            name = "\\frac" if atom.sign == "/" else "\\binom"
            if atom.sign == "/" and _is_structure(above):
                atoms += [*above, atom]  # a quotient of groups: G/H
                place += 1
                continue
            upper = above[0].inner if len(above) == 1 else None
            if upper is None:
                upper = joined(above)
            place += 1 + len(below)
            while place < len(given) and _goes_below(below, given[place]):
                below.append(given[place])
                place += 1
            lower = below[0].inner if len(below) == 1 else None
            if lower is None:
                lower = joined(below)
            atoms.append(Atom(f"{name}{{{upper.strip()}}}{{{lower}}}", True, above[0].is_tight))
            continue
        atoms.append(atom)
        place += 1
    return atoms


def _is_bare_function(atom: Atom) -> bool:
    name = atom.latex.strip().partition("^")[0].partition("_")[0]
    return name.startswith("\\") and name in FUNCTIONS.values() and atom.latex[-1:] == " "


def _goes_below(below: Sequence[Atom], atom: Atom) -> bool:
    """Whether an atom continues a denominator: 1/sin x, Δv/Δt, ∂²f/∂x∂y."""
    if not atom.is_operand:
        return False
    if _is_bare_function(below[-1]) or below[-1].sign == DIFFERENCE:
        return True
    return below[0].sign == atom.sign == DIFFERENCE and atom.is_tight


def _multiplied(
    above: Atom, slash: Atom, number: Atom, following: Sequence[Atom]
) -> Sequence[Atom]:
    """Return the letters that a number divides with: ``b/2a``, ``h/2pi``, but not ``1/2at^2``.

    After a fraction of two numbers, letters are its factors, except after a space, ``1 / 2a``.
    Before brackets and a differential it is undecided what is divided, as in ``x/2a(b+c)`` and
    ``x/2dx``: only the number is.
    """
    is_spaced = not (slash.is_tight or number.is_tight)
    is_tight = number.is_tight and not _is_number(above)
    if not (_is_number(number) and (is_tight or is_spaced)):
        return ()
    end = 0
    while end < len(following) and following[end].is_operand and following[end].is_tight:
        atom = following[end]
        is_letter = atom.takes_digits or (atom.is_function and not _is_bare_function(atom))
        if not is_letter or _WITH_DIFFERENTIAL.fullmatch(atom.latex.strip()):
            return ()
        end += 1
    return following[:end]


def _is_number(atom: Atom) -> bool:
    return atom.latex.replace(".", "", 1).isdecimal()


def _numerator(atoms: Sequence[Atom], slash: Atom, below: Sequence[Atom]) -> int:
    """Return the start of a numerator: ``a b/c``, ``ab/c`` and ``a*b/c`` divide the product.

    ``sin x / x`` divides a sine, ``sin pi/6`` does not. Before a space or a sign of a product,
    these do not belong to the numerator: a fraction, a denominator, and a factor of a derivative,
    as in ``1/2 a b/c``, ``R/I S/J``, ``x dy/dx``. After a sign, a fraction of numbers is separate:
    ``x * 3/4``.
    """
    start = len(atoms) - 1
    while start:
        atom = atoms[start]
        has_sign = start > 1 and atoms[start - 1].sign in _TIMES
        step = 2 if has_sign else 1
        before = atoms[start - step]
        if _is_bare_function(before) and not has_sign:
            is_whole = atom.is_tight or _cancels(atoms[start:], below[-1])
            belongs = not slash.is_tight or is_whole or _divides_function(atoms[start:], below[0])
        elif before.is_operand and (has_sign or not atom.is_tight):
            is_divisor = start > step and atoms[start - step - 1].sign == "/"
            is_derivative = _is_differential(atom) and _is_differential(below[0])
            is_ratio = has_sign and slash.is_tight and _is_ratio(atoms[start:], below)
            is_outside = is_divisor or is_derivative or is_ratio
            belongs = not (before.latex.startswith("\\frac") or is_outside)
        else:
            belongs = before.is_operand
        if not belongs:
            break
        start -= step
    return start


def _is_ratio(above: Sequence[Atom], below: Sequence[Atom]) -> bool:
    """Whether a fraction after a sign is a separate number: ``x * 3/4``, ``x*1/2``."""
    number = above[0]
    are_numbers = len(above) == 1 and number.latex.isdecimal() and below[0].latex.isdecimal()
    return are_numbers and (not number.is_tight or number.latex == "1")


def _is_differential(atom: Atom) -> bool:
    """Whether an atom can be a part of a derivative: d, d², dx, ∂, Δ."""
    return atom.sign == DIFFERENCE or _DIFFERENTIAL.fullmatch(atom.latex.strip()) is not None


def _cancels(above: Sequence[Atom], below: Atom) -> bool:
    """Whether a letter would be divided by itself, which is rare: ``sin x/x`` divides a sine."""
    letter = below.latex.strip()
    names = (atom.latex.strip() for atom in above)
    return letter.isalpha() and any(name.isalpha() and letter in name for name in names)


def _divides_function(argument: Sequence[Atom], below: Atom) -> bool:
    """Whether a denominator is below a function of a letter: ``ln b/ln a``, ``tan x/(1+x^2)``."""
    name = argument[0].latex.strip()
    is_letter = len(argument) == 1 and len(name) == 1 and name.isalpha()
    is_sum = below.inner is not None and re.search(r"[^{^_][+-]", below.inner) is not None
    return is_letter and (is_sum or _is_bare_function(below))


def _is_structure(above: Sequence[Atom]) -> bool:
    """Whether the numerator is a group, a ring or a space."""
    latex = above[0].latex if len(above) == 1 else ""
    return latex.startswith("\\mathbb") or (len(latex) == 1 and latex.isupper())
