"""MathSetu: search for mathematics across languages.

Public names are those listed here; everything else may change between versions.
"""

from typing import Any

from mathsetu.errors import InputError, MathSetuError
from mathsetu.records import Evidence, Formula, Hit, Judgment, Post, Query, Reason, Run

__version__ = "0.1.0"

__all__ = [
    "Evidence",
    "Formula",
    "Hit",
    "InputError",
    "Judgment",
    "MathSetuError",
    "Post",
    "Query",
    "Reason",
    "Run",
    "__version__",
]


def load_ipython_extension(shell: Any) -> None:
    """Let notebooks show hits, posts and formulas as HTML: ``%load_ext mathsetu``."""
    from mathsetu.service.notebook import register

    register(shell)
