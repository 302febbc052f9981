"""Features of formulas: streams of short terms for an inverted index.

Each family has its own letter before the colon, so that all families can share one index and
still be told apart; a capital letter marks terms with variables and numbers abstracted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product, zip_longest

from mathsetu.formulas.features.layout_terms import layout_terms
from mathsetu.formulas.features.operator_terms import operator_terms
from mathsetu.formulas.labels import is_wildcard, relabelled
from mathsetu.formulas.tree import Tree

__all__ = ["features", "layout_terms", "operator_terms", "query_features"]

_WILDCARD = re.compile(r"[: ~]\?\w")
# As many wildcards of a query are tried as variables and as numbers in every combination.
_MIXED = 3


def features(slt: Tree, opt: Tree) -> list[str]:
    """All features of one formula, repeated terms repeated.

    >>> from mathsetu.formulas.notation import read_tree
    >>> x_squared = features(read_tree("[V!x,a[N!2]]"), read_tree("[O!SUP,0[V!x],1[N!2]]"))
    >>> "p:V!x a N!2" in x_squared, "r:V!x0/O!SUP" in x_squared
    (True, True)
    """
    terms = layout_terms(slt)
    terms += operator_terms(opt)
    return terms


def query_features(slt: Tree, opt: Tree) -> list[str]:
    """The features of a query: those that hold a wildcard say nothing and are left out.

    Where all of them do, as in ?a+?b, wildcards are taken for variables and numbers, which stand in
    their place most often.

    >>> from mathsetu.formulas.notation import read_tree
    >>> query_features(Tree("∫", (Tree("?f"),), ("n",)), Tree("O!int", (Tree("?f"),), ("0",)))
    ['P:∫ n V', 'P:∫ n N']
    """
    told = [term for term in features(slt, opt) if _WILDCARD.search(term) is None]
    return told or list(dict.fromkeys(_shapes(slt, opt)))


def _shapes(slt: Tree, opt: Tree) -> Iterator[str]:
    """Abstracted features of formulas with variables or numbers in the place of wildcards."""
    wildcards = dict.fromkeys(node.label for node in opt.walk() if is_wildcard(node.label))
    for kinds in product("VN", repeat=min(len(wildcards), _MIXED)):
        named = dict(zip_longest(wildcards, kinds, fillvalue="V"))

        def label_of(label: str, named: dict[str, str] = named) -> str:
            return f"{named[label]}!{label}" if label in named else label

        own = features(relabelled(slt, label_of), relabelled(opt, label_of))
        yield from (term for term in own if term[0].isupper())
