"""Features of formulas: streams of short terms for an inverted index.

Each family has its own letter before the colon, so that all families can share one index. A
capital letter marks terms with variables and numbers abstracted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import product, zip_longest

from mathsetu.formulas.features.layout_terms import layout_terms
from mathsetu.formulas.features.operator_terms import operator_terms
from mathsetu.formulas.labels import is_wildcard, relabelled
from mathsetu.formulas.tree import Tree

__all__ = ["features", "layout_terms", "operator_terms", "query_features"]

_WILDCARD = re.compile(r"[: ~]\?\w")
# For this many wildcards of a query, all combinations of variables and numbers are tried.
_MIXED = 3
# The other most frequent neighbours of operators, brackets and matrices; they are not abstracted.
_ENCLOSED = ("M!()1x1", "M!()2x2", "M!()3x3", "M![]1x1", "M![]2x2", "M!{}1x1", "M!{}1x2", "M!||1x1")


def features(slt: Tree, opt: Tree) -> list[str]:
    """Return all features of a formula, with repetitions.

    >>> from mathsetu.formulas.notation import read_tree
    >>> x_squared = features(read_tree("[V!x,a[N!2]]"), read_tree("[O!SUP,0[V!x],1[N!2]]"))
    >>> "p:V!x a N!2" in x_squared, "r:V!x0/O!SUP" in x_squared
    (True, True)
    """
    terms = layout_terms(slt)
    terms += operator_terms(opt)
    return terms


def query_features(slt: Tree, opt: Tree) -> list[str]:
    """Return the features of a query without those that contain a wildcard.

    If no feature of the operator tree remains, as in ?a+?b=?c, the layout alone would find hardly
    anything but the same formula. Wildcards are then also replaced by what is most frequent in
    their place: variables, numbers and brackets. End marks are left out in this case, because the
    query is searched in larger formulas: |?x| has no other feature.

    >>> from mathsetu.formulas.notation import read_tree
    >>> query_features(Tree("∫", (Tree("?f"),), ("n",)), Tree("O!int", (Tree("?f"),), ("0",)))[:3]
    ['P:∫ n V', 'P:∫ n N', 'p:∫ n M!()1x1']
    """
    told = [term for term in features(slt, opt) if _WILDCARD.search(term) is None]
    if any(term[0] in "rl" for term in told):
        return told
    sure = [term for term in told if not _is_end(term)]
    return sure + list(dict.fromkeys(_shapes(slt, opt)))


def _is_end(term: str) -> bool:
    return term.endswith(" $")


def _shapes(slt: Tree, opt: Tree) -> Iterator[str]:
    """Yield features of a query with variables, numbers or brackets in place of wildcards."""
    wildcards = dict.fromkeys(node.label for node in opt.walk() if is_wildcard(node.label))
    for kinds in product("VN", repeat=min(len(wildcards), _MIXED)):
        named = {
            name: f"{kind}!{name}" for name, kind in zip_longest(wildcards, kinds, fillvalue="V")
        }
        own = features(_replaced(slt, named), _replaced(opt, named))
        yield from (term for term in own if term[0].isupper())
    # Of several wildcards, at least one is expected not to be a bracket.
    if len(wildcards) == 1:
        for brackets in _ENCLOSED:
            own = layout_terms(_replaced(slt, dict.fromkeys(wildcards, brackets)))
            yield from (term for term in own if not _is_end(term))


def _replaced(tree: Tree, labels: Mapping[str, str]) -> Tree:
    return relabelled(tree, lambda label: labels.get(label, label))
