"""The tables of LaTeX commands, as used for documents."""

import itertools
import re

import pytest

from mathsetu.collections.documents.tex_expansion import expand
from mathsetu.formulas.latex import boxes, commands, fonts, macros, symbols


def text(source: str) -> str:
    return expand(source, "a.tex", lambda name, origin: None).text


#: The commands that a document does not keep in formulas: layout, links and definitions.
NOT_KEPT = frozenset(
    r"""\DeclareMathOperator \cite \color \colorbox \def \edef \eqref \fbox \footnote \gdef \hfill
    \href \hspace \label \let \newcommand \noindent \pagecolor \providecommand \raisebox \ref
    \renewcommand \rule \tag \textcolor \usepackage \vspace \xdef""".split()
)


def test_all_formula_commands_are_kept_except_layout_links_and_definitions() -> None:
    tables = [vars(module).values() for module in (boxes, commands, fonts, macros, symbols)]
    names = {
        name
        for table in itertools.chain(*tables)
        if isinstance(table, dict | frozenset | set)
        for name in table
        if isinstance(name, str) and re.fullmatch(r"\\[A-Za-z]+", name)
    }
    assert len(names) > 800
    assert {name for name in names if name not in text(rf"$a {name} {{b}} c$")} == NOT_KEPT


@pytest.mark.parametrize(
    ("name", "level"),
    [("part", 0), ("chapter", 1), ("section", 2), ("subsection", 3), ("frametitle", 3)],
)
def test_each_heading_command_has_its_level(name: str, level: int) -> None:
    assert text(rf"\{name}{{T}}") == f"\ue011{level}\ue012a.tex\ue013T\ue014"


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("tabular", 1), ("tabular*", 2), ("tabularx", 2), ("tabulary", 2), ("longtable", 1),
     ("minipage", 1), ("multicols", 1), ("wrapfigure", 2), ("wraptable", 2), ("adjustbox", 1),
     ("subfigure", 1), ("subtable", 1), ("list", 2), ("column", 1), ("spacing", 1),
     ("adjustwidth", 2), ("center", 0)],
)  # fmt: skip
def test_layout_arguments_of_environments_are_removed(name: str, arguments: int) -> None:
    assert text(rf"\begin{{{name}}}{'{x}' * arguments}{{kept}}") == "\n{kept}"
