"""Papers: all figures that their tables have and we can compute, as one page.

A paper is one module with a function ``section`` that gives its part of the page in Markdown, and
one line in `PAPERS`. ``mathsetu reproduce --all DATA`` makes the page of all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module, resources

from mathsetu.errors import InputError
from mathsetu.papers.context import Context

__all__ = ["PAPERS", "Context", "page"]

#: The papers in the order of the page: a name, and the module that makes its section.
PAPERS = {
    "crossmath": "mathsetu.papers.crossmath",
    "msm": "mathsetu.papers.msm",
    "miracle": "mathsetu.papers.miracle",
    "mathamr-plus": "mathsetu.papers.mathamr",
}


def page(context: Context, only: Iterable[str] = ()) -> str:
    """The page of all papers, or the sections of some.

    Args:
        context: Data, models, and where libraries are kept.
        only: The names of papers; empty for all.
    """
    names = list(only) or list(PAPERS)
    for name in names:
        if name not in PAPERS:
            raise InputError(f"unknown paper {name!r} (known: {', '.join(PAPERS)})")
    makers: list[Callable[[Context], str]] = [import_module(PAPERS[name]).section for name in names]
    sections = [make(context).strip() for make in makers]
    whole = sections if only else [_prose("head"), *sections, _prose("tail")]
    return "\n\n".join(whole) + "\n"


def _prose(name: str) -> str:
    return (resources.files(__package__) / f"{name}.md").read_text(encoding="utf-8").strip()
