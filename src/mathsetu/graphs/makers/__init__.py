"""The table of makers of sentence graphs, by name.

``amr`` needs an AMR parser, ``dependency`` a spaCy model, ``terms`` no model. ``best`` is the
first of these that is installed for a language. A graph model must search with the maker that it
was trained with, so it stores the name of the maker.
"""

from __future__ import annotations

from functools import cache

from mathsetu.errors import InputError
from mathsetu.graphs.makers.amr import AmrMaker, amrlib_model, amrlib_parser
from mathsetu.graphs.makers.dependency import DependencyMaker
from mathsetu.graphs.makers.parses import model_of
from mathsetu.graphs.makers.sentence_maker import SentenceGraph, SentenceMaker
from mathsetu.graphs.makers.terms import TermsMaker
from mathsetu.languages.table import language as row_of

#: The names of makers.
MAKERS = ("best", "amr", "dependency", "terms")

#: The language of the parsers of amrlib.
AMR_LANGUAGE = "en"

__all__ = ["MAKERS", "SentenceGraph", "SentenceMaker", "best_maker", "maker_for"]


def best_maker(language: str) -> str:
    """Return the name of the best maker that is installed for a language.

    >>> best_maker("hi")
    'terms'
    """
    code = row_of(language).code
    if code == AMR_LANGUAGE and amrlib_model() is not None:
        return "amr"
    return "dependency" if model_of(code) else "terms"


@cache
def maker_for(language: str, name: str = "best") -> SentenceMaker:
    """Return the maker of this name for a language.

    >>> maker_for("hi", "terms").name
    'terms'
    >>> maker_for("hi", "magic")
    Traceback (most recent call last):
    mathsetu.errors.InputError: unknown maker of sentence graphs 'magic' (known: best, amr, \
dependency, terms)
    """
    if name not in MAKERS:
        known = ", ".join(MAKERS)
        raise InputError(f"unknown maker of sentence graphs {name!r} (known: {known})")
    code = row_of(language).code
    if name == "best":
        name = best_maker(code)
    if name == "amr":
        if code != AMR_LANGUAGE:
            raise InputError(
                f"AMR parsers read English, not {code!r}; choose another maker of sentence graphs"
            )
        return AmrMaker(amrlib_parser())
    return DependencyMaker(code) if name == "dependency" else TermsMaker(code)
