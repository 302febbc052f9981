"""Papers: one page with all figures of their tables that we can compute.

A paper is one module with a function ``section`` that returns its part of the page in Markdown,
and one line in `PAPERS`. ``mathsetu reproduce --all DATA`` writes the page of all papers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module, resources

from mathsetu.errors import InputError
from mathsetu.papers.context import Context

__all__ = ["PAPERS", "WITHOUT_DATA", "Context", "is_page", "page"]

#: The papers in the order of the page: a name, and the module that makes its section.
PAPERS = {
    "crossmath": "mathsetu.papers.crossmath",
    "msm": "mathsetu.papers.msm",
    "miracle": "mathsetu.papers.miracle",
    "mathamr-plus": "mathsetu.papers.mathamr",
}

#: Other names of papers, by systems in them.
_SYSTEMS = {"mirmu": "msm", "mathamr": "mathamr-plus"}
#: The papers whose sections need no data.
WITHOUT_DATA = frozenset({"miracle", "mathamr-plus"})

# The first lines of the page and of single sections.
_TITLES = ("# Reproduce a paper", "## CrossMath", "## MIRMU and MSM", "## MIRaCLE", "## MathAMR+")


def page(context: Context, only: Iterable[str] = ()) -> str:
    """The page of all papers, or the sections of some.

    Args:
        context: Data, models, and where libraries are kept.
        only: The names of papers; empty for all.
    """
    names = [_SYSTEMS.get(name, name) for name in only] or list(PAPERS)
    for name in names:
        if name not in PAPERS:
            raise InputError(f"unknown paper {name!r} (known: {', '.join(PAPERS)})")
    makers: list[Callable[[Context], str]] = [import_module(PAPERS[name]).section for name in names]
    sections = [make(context).strip() for make in makers]
    whole = sections if only else [_prose("head"), *sections, _prose("tail")]
    return "\n\n".join(whole) + "\n"


def is_page(text: str) -> bool:
    r"""Whether a text begins like the page or one of its sections.

    >>> is_page("## MIRaCLE\n\nBoth runs …"), is_page("# My notes\n")
    (True, False)
    """
    return text.partition("\n")[0].rstrip() in _TITLES


def _prose(name: str) -> str:
    return (resources.files(__package__) / f"{name}.md").read_text(encoding="utf-8").strip()
