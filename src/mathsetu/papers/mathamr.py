"""MathAMR+: a link to its figures."""

from __future__ import annotations

from mathsetu.papers.context import Context

_SECTION = """## MathAMR+

[mathamr](mathamr.md) has the figures of the recipe `mathamr-plus`, and its differences from the
thesis.
"""


def section(context: Context) -> str:
    """The section of the page."""
    return _SECTION
