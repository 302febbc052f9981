"""The palette: buttons that insert symbols and templates into the search box."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources

from markupsafe import Markup

from mathsetu.formulas.mathml import write_mathml
from mathsetu.formulas.parse import parse_latex
from mathsetu.service.pages.typeset import for_page

# A placeholder, and how a button shows it.
_PLACE = "{}"
_SHOWN = r"{\square}"


@dataclass(frozen=True)
class Symbol:
    """One button: the LaTeX it inserts, and its label."""

    latex: str
    mathml: Markup


@dataclass(frozen=True)
class Drawer:
    """A group of buttons; ``name`` is the key of its title in the texts of the page."""

    name: str
    symbols: tuple[Symbol, ...]


@cache
def palette() -> tuple[Drawer, ...]:
    r"""All drawers, in order.

    >>> [drawer.name for drawer in palette()][:2], palette()[1].symbols[0].latex
    (['templates', 'greek'], '\\alpha')
    """
    file = resources.files(__package__) / "palette.toml"
    table = tomllib.loads(file.read_text(encoding="utf-8"))
    return tuple(
        Drawer(drawer["name"], tuple(map(_symbol, drawer["symbols"]))) for drawer in table["drawer"]
    )


def _symbol(latex: str) -> Symbol:
    shown = parse_latex(latex.replace(_PLACE, _SHOWN))
    return Symbol(latex, for_page(write_mathml(shown.layout)))
