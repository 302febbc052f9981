"""What the labels of formula trees say, and one spelling for trees from other hands.

A Tangent label is a kind, ``!`` and a name: ``V!x``, ``N!2``, ``U!plus``. LaTeXML writes the
letters of operator trees in mathematical italics (``V!𝑥``) and marks some letters by name
(``V!italic-ϵ``); our own trees write plain letters. `normalise` brings both together.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from functools import lru_cache

from mathsetu.formulas.tree import Tree


def _plain_letters() -> dict[int, str]:
    """Italic mathematical letters and the plain letters they stand for; bold and the like stay."""
    italic = [*range(0x1D434, 0x1D468), *range(0x1D6E2, 0x1D71C)]
    found = {}
    for code in italic:
        decomposition = unicodedata.decomposition(chr(code)).split()
        if decomposition:
            found[code] = chr(int(decomposition[1], 16))
    found[0x210E] = "h"  # the italic h was in Unicode before the others
    return found


_PLAIN = _plain_letters()
_NAMED = ("italic-", "normal-")


@lru_cache(maxsize=65536)
def normalise_label(label: str) -> str:
    """One label with plain letters.

    >>> normalise_label("V!𝑥"), normalise_label("V!italic-ϵ"), normalise_label("-!y")
    ('V!x', 'V!ϵ', 'V!y')
    """
    kind, mark, name = label.partition("!")
    if not mark or kind not in ("V", "-"):
        return label
    for prefix in _NAMED:
        name = name.removeprefix(prefix)
    return "V!" + name.translate(_PLAIN)


def normalise(tree: Tree) -> Tree:
    """A copy of a tree whose labels are spelled as our parser spells them.

    >>> normalise(Tree("U!plus", (Tree("V!𝑎"), Tree("N!1")), ("0", "1")))
    Tree('U!plus', 0=Tree('V!a'), 1=Tree('N!1'))
    """
    return relabelled(tree, normalise_label)


def relabelled(tree: Tree, label_of: Callable[[str], str]) -> Tree:
    """A copy of a tree with other labels.

    >>> relabelled(Tree("?a", (Tree("N!1"),), ("a",)), lambda label: label.replace("?", "V!"))
    Tree('V!a', a=Tree('N!1'))
    """
    # Each node after all nodes below it, without recursion.
    finished: list[Tree] = []
    for node in reversed(list(tree.walk())):
        # The children were finished last, the first of them last of all.
        start = len(finished) - len(node.children)
        children = tuple(reversed(finished[start:]))
        del finished[start:]
        finished.append(Tree(label_of(node.label), children, tuple(node.edges), node.symbol))
    return finished[0]


def is_commutative(label: str) -> bool:
    """Whether operands may change places.

    >>> is_commutative("U!plus"), is_commutative("O!divide")
    (True, False)
    """
    return label.startswith("U!")


def is_wildcard(label: str) -> bool:
    """Whether a query's node stands for any sub-expression.

    >>> is_wildcard("?x"), is_wildcard("?"), is_wildcard("V!x")
    (True, False, False)
    """
    return len(label) > 1 and label[0] == "?"
