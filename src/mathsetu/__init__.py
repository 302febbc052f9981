"""MathSetu: search for mathematics across languages.

The names listed here and those of `mathsetu.client` are public; other modules may change between
versions, except that the retrievers of ``mathsetu.integrations`` stay. Modules that are slow to
import are imported when one of their names is first used.

>>> import mathsetu
>>> mathsetu.parse_latex("x+1").opt
Tree('U!plus', 0=Tree('V!x'), 1=Tree('N!1'))
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mathsetu.errors import InputError, MathSetuError
from mathsetu.records import Evidence, Formula, Hit, Judgment, Post, Query, Reason, Run

if TYPE_CHECKING:
    from os import PathLike

    from mathsetu.collections.source_text import to_text
    from mathsetu.evaluation import Judgments, compare, evaluate, parse_measures
    from mathsetu.evaluation.plots import (
        plot_differences,
        plot_means,
        plot_recall_precision,
        write_figure,
    )
    from mathsetu.formulas import parse_latex
    from mathsetu.integrations.frames import judgments_from_frame, run_from_frame, to_frame
    from mathsetu.library import (
        Answer,
        Filter,
        Library,
        add_posts,
        build_library,
        optimize_library,
        remove_posts,
    )
    from mathsetu.own_models import OwnEncoder, OwnReranker, OwnTranslator, register
    from mathsetu.recipes import Recipe, load_recipe

__version__ = "0.1.0"

__all__ = [
    "Answer",
    "Evidence",
    "Filter",
    "Formula",
    "Hit",
    "InputError",
    "Judgment",
    "Judgments",
    "Library",
    "MathSetuError",
    "OwnEncoder",
    "OwnReranker",
    "OwnTranslator",
    "Post",
    "Query",
    "Reason",
    "Recipe",
    "Run",
    "__version__",
    "add_posts",
    "build_library",
    "compare",
    "evaluate",
    "judgments_from_frame",
    "load_recipe",
    "open",
    "optimize_library",
    "parse_latex",
    "parse_measures",
    "plot_differences",
    "plot_means",
    "plot_recall_precision",
    "register",
    "remove_posts",
    "run_from_frame",
    "to_frame",
    "to_text",
    "write_figure",
]

# Modules of the names that are imported on first use.
_HOMES = {
    "mathsetu.collections.source_text": ("to_text",),
    "mathsetu.evaluation": ("Judgments", "compare", "evaluate", "parse_measures"),
    "mathsetu.evaluation.plots": (
        *("plot_differences", "plot_means", "plot_recall_precision", "write_figure"),
    ),
    "mathsetu.formulas": ("parse_latex",),
    "mathsetu.integrations.frames": ("judgments_from_frame", "run_from_frame", "to_frame"),
    "mathsetu.library": (
        *("Answer", "Filter", "Library"),
        *("add_posts", "build_library", "optimize_library", "remove_posts"),
    ),
    "mathsetu.own_models": ("OwnEncoder", "OwnReranker", "OwnTranslator", "register"),
    "mathsetu.recipes": ("Recipe", "load_recipe"),
}


def open(place: str | PathLike[str]) -> Library:  # noqa: A001 - the word that people expect
    """Open a library for searching: its folder, or its address on a cluster.

    >>> open("no-such-folder")
    Traceback (most recent call last):
    mathsetu.errors.InputError: no-such-folder: there is no such library (build one: mathsetu index)
    """
    from os import fspath

    from mathsetu.library import Library

    return Library(fspath(place))


def __getattr__(name: str) -> Any:
    from importlib import import_module

    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(home), name)
    raise AttributeError(f"module 'mathsetu' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)


def load_ipython_extension(shell: Any) -> None:
    """Let notebooks show hits, posts and formulas as HTML: ``%load_ext mathsetu``."""
    from mathsetu.service.notebook import register

    register(shell)
