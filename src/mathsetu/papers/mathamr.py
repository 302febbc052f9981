"""MathAMR+: where its figures are."""

from __future__ import annotations

from mathsetu.papers.context import Context

_SECTION = """## MathAMR+

The figures of the recipe `mathamr-plus`, what is the same as in the thesis and what differs stand
in [mathamr](mathamr.md).
"""


def section(context: Context) -> str:
    """The section of the page."""
    return _SECTION
