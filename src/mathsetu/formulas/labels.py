"""Properties of tree labels, and normalisation of labels from other tools.

A Tangent label is a kind, ``!`` and a name: ``V!x``, ``N!2``, ``U!plus``. LaTeXML writes the
letters of operator trees in mathematical italics (``V!𝑥``) and marks some letters by name
(``V!italic-ϵ``); our own trees use plain letters. `normalise` converts the former to the latter.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from functools import lru_cache

from mathsetu.formulas.tree import Tree


def _plain_letters() -> dict[int, str]:
    """Map italic mathematical letters to plain letters; bold and other styles are not mapped."""
    italic = [*range(0x1D434, 0x1D468), *range(0x1D6E2, 0x1D71C)]
    found = {}
    for code in italic:
        decomposition = unicodedata.decomposition(chr(code)).split()
        if decomposition:
            found[code] = chr(int(decomposition[1], 16))
    found[0x210E] = "h"  # the italic h has an older code point
    return found


_PLAIN = _plain_letters()
_NAMED = ("italic-", "normal-")
# Greek letters with two shapes (\phi and \varphi, \epsilon and \varepsilon); hardly any formula has
# both. \varpi means something else than \pi.
_SHAPES = str.maketrans("ϕϵϑϱϰ", "φεθρκ")


@lru_cache(maxsize=65536)
def normalise_label(label: str) -> str:
    """Return a label with plain letters.

    >>> normalise_label("V!𝑥"), normalise_label("V!italic-ϵ"), normalise_label("-!y")
    ('V!x', 'V!ϵ', 'V!y')
    """
    kind, mark, name = label.partition("!")
    if not mark or kind not in ("V", "-"):
        return label
    for prefix in _NAMED:
        name = name.removeprefix(prefix)
    return "V!" + name.translate(_PLAIN)


def one_shape(label: str) -> str:
    r"""Return a label for comparisons, the same for both shapes of a Greek letter.

    >>> one_shape("V!ϕ"), one_shape("V!φ"), one_shape("U!plus")
    ('V!φ', 'V!φ', 'U!plus')
    """
    return label if label.isascii() else label.translate(_SHAPES)


def normalise(tree: Tree) -> Tree:
    """Return a copy of a tree with labels in the spelling of our parser.

    >>> normalise(Tree("U!plus", (Tree("V!𝑎"), Tree("N!1")), ("0", "1")))
    Tree('U!plus', 0=Tree('V!a'), 1=Tree('N!1'))
    """
    return relabelled(tree, normalise_label)


def relabelled(tree: Tree, label_of: Callable[[str], str]) -> Tree:
    """Return a copy of a tree with each label replaced by ``label_of(label)``.

    >>> relabelled(Tree("?a", (Tree("N!1"),), ("a",)), lambda label: label.replace("?", "V!"))
    Tree('V!a', a=Tree('N!1'))
    """
    # Children before parents, without recursion.
    finished: list[Tree] = []
    for node in reversed(list(tree.walk())):
        # Its children are the trees finished last, in reverse order.
        start = len(finished) - len(node.children)
        children = tuple(reversed(finished[start:]))
        del finished[start:]
        finished.append(Tree(label_of(node.label), children, tuple(node.edges), node.symbol))
    return finished[0]


def is_commutative(label: str) -> bool:
    """Whether the operands of an operator may change places.

    >>> is_commutative("U!plus"), is_commutative("O!divide")
    (True, False)
    """
    return label.startswith("U!")


def is_wildcard(label: str) -> bool:
    """Whether a node of a query matches any sub-expression.

    >>> is_wildcard("?x"), is_wildcard("?"), is_wildcard("V!x")
    (True, False, False)
    """
    return len(label) > 1 and label[0] == "?"
