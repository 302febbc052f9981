"""The tables of LaTeX's commands, as documents use them."""

import pytest

from mathsetu.collections.documents.tex_expansion import expand


def text(source: str) -> str:
    return expand(source, "a.tex", lambda name, origin: None).text


@pytest.mark.parametrize(
    ("name", "level"),
    [("part", 0), ("chapter", 1), ("section", 2), ("subsection", 3), ("frametitle", 3)],
)
def test_headings_have_levels(name: str, level: int) -> None:
    assert text(rf"\{name}{{T}}") == f"\ue011{level}\ue012a.tex\ue013T\ue014"


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("tabular", 1), ("tabular*", 2), ("tabularx", 2), ("tabulary", 2), ("longtable", 1),
     ("minipage", 1), ("multicols", 1), ("wrapfigure", 2), ("wraptable", 2), ("adjustbox", 1),
     ("subfigure", 1), ("subtable", 1), ("list", 2), ("column", 1), ("spacing", 1),
     ("adjustwidth", 2), ("center", 0)],
)  # fmt: skip
def test_environments_have_arguments_that_are_layout(name: str, arguments: int) -> None:
    assert text(rf"\begin{{{name}}}{'{x}' * arguments}{{kept}}") == "\n{kept}"
