"""An operator tree made ready for matching: one normal form, laid out in lists.

Ways of writing that mean the same become the same: ``a-b`` is the sum of a and -b, sums in sums
and products in products are one, ``a>b`` is ``b<a``, ``a (mod n)`` is ``a mod n``, and a name
before what it is applied to is a function. Every node gets a key that is equal for equal sub-trees,
whatever the order of commutative operands.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from mathsetu.formulas.labels import is_commutative, is_wildcard
from mathsetu.formulas.numbers import value
from mathsetu.formulas.tree import POSITIONS, Tree

_MIRRORED = {"O!gt": "O!lt", "O!geq": "O!leq"}
_SPELLINGS = {"O!continued-fraction": "O!divide"}
# Kinds of what names a function: upright letters and text.
_NAMING = frozenset("VT")
# Letters that name one thing wherever they stand: renaming them changes the meaning.
_FIXED_LETTERS = frozenset("πℝℤℕℚℂ")
# What the label of an operator begins with that stands over its sign with limits, and what follows.
_WITH_LIMITS = "+!"
# How many operators above a letter count as its surroundings.
_CONTEXT = 3

# A node of the normal form before it has a place: a written node, or, where the second is
# given, the negation of it that this binary minus stands for.
_Part = tuple[Tree, Tree | None]


class PreparedFormula:
    """The nodes of a tree in normal form, level by level; place 0 is the root.

    Prepare a query once and match it with many candidates.

    >>> minus = Tree("O!minus", (Tree("V!a"), Tree("V!b")), ("0", "1"))
    >>> PreparedFormula(minus).labels
    ['U!plus', 'V!a', 'O!minus', 'V!b']
    """

    def __init__(self, tree: Tree) -> None:
        self._parts: list[_Part] = [(tree, None)]
        self.labels: list[str] = []
        #: The written nodes that each node stands for; a flattened sum stands for several.
        self.written: list[list[Tree]] = []
        #: The places of each node's operands.
        self.operands: list[range] = []
        self.parents = [-1]
        for place, part in enumerate(self._parts):
            label, written, below = _normal_form(part)
            self.labels.append(label)
            self.written.append(written)
            self.operands.append(range(len(self._parts), len(self._parts) + len(below)))
            self._parts += below
            self.parents += [place] * len(below)
        count = len(self.labels)
        #: The place of the sign of each operator that has limits or an index, and stands over both
        #: (the ∫ of an integral from 0 to 1); of other nodes their own.
        self.signs = [self._sign(place) for place in range(count)]
        #: How many nodes there are from each node down.
        self.sizes = [1] * count
        #: Equal for equal sub-trees.
        self.keys = [0] * count
        #: The numbers that sub-trees write.
        self.values: list[Fraction | None] = [None] * count
        self._sum_up()
        #: The letters that may be renamed, by place.
        self.letters = [_letter(label) for label in self.labels]
        #: The wildcards, by place; one that stands over something is a sign like others.
        self.wildcards = [
            label if is_wildcard(label) and not below else None
            for label, below in zip(self.labels, self.operands, strict=True)
        ]
        #: For each letter, in which surroundings it stands how often.
        self.contexts = self._contexts()

    def _sign(self, place: int) -> int:
        if not self.labels[place].startswith(_WITH_LIMITS) or len(self.operands[place]) < 2:
            return place
        sign = self.operands[place].start
        while self.operands[sign]:
            sign = self.operands[sign].start
        return sign

    def _sum_up(self) -> None:
        """Fill in sizes, keys and values, from the leaves to the root."""
        for place in range(len(self.labels) - 1, -1, -1):
            below = self.operands[place]
            label = self.labels[place]
            keys = [self.keys[operand] for operand in below]
            self.keys[place] = combined_key(label, keys)
            self.values[place] = value(label, [self.values[operand] for operand in below])
            for operand in below:
                self.sizes[place] += self.sizes[operand]

    def _contexts(self) -> dict[str, dict[int, int]]:
        contexts: dict[str, dict[int, int]] = {}
        for place, letter in enumerate(self.letters):
            if letter is None:
                continue
            context = contexts.setdefault(letter, {})
            surroundings = 0
            for _ in range(_CONTEXT):
                parent = self.parents[place]
                if parent < 0:
                    break
                label = self.labels[parent]
                position = -1 if is_commutative(label) else place - self.operands[parent].start
                surroundings = hash((surroundings, label, position))
                context[surroundings] = context.get(surroundings, 0) + 1
                place = parent
        return contexts

    def below(self, place: int) -> list[int]:
        """The places of a node and of everything below it."""
        found = [place]
        for inner in found:
            found += self.operands[inner]
        return found

    def tree(self, place: int) -> Tree:
        """The sub-tree at a place as it was written."""
        node, minus = self._parts[place]
        if minus is None:
            return node
        return Tree("O!minus", (node,), POSITIONS[:1], minus.symbol)


def subtree_keys(tree: Tree) -> list[int]:
    """The keys of a tree and of all sub-trees in normal form, the root's first: enough to compare.

    >>> plus = Tree("U!plus", (Tree("V!a"), Tree("V!b")), ("0", "0"))
    >>> subtree_keys(plus) == PreparedFormula(plus).keys
    True
    """
    parts: list[_Part] = [(tree, None)]
    labels: list[str] = []
    operands: list[tuple[int, int]] = []
    for part in parts:
        label, _, below = _normal_form(part)
        labels.append(label)
        operands.append((len(parts), len(parts) + len(below)))
        parts += below
    keys = [0] * len(labels)
    for place in range(len(labels) - 1, -1, -1):
        first, end = operands[place]
        keys[place] = combined_key(labels[place], keys[first:end])
    return keys


def combined_key(label: str, keys: Iterable[int]) -> int:
    """The key of a node with these operands.

    >>> combined_key("U!plus", [1, 2]) == combined_key("U!plus", [2, 1])
    True
    >>> combined_key("O!divide", [1, 2]) == combined_key("O!divide", [2, 1])
    False
    """
    return hash((label, *(sorted(keys) if is_commutative(label) else keys)))


def _letter(label: str) -> str | None:
    name = label[2:]
    if label.startswith("V!") and name[:1].isalpha() and name not in _FIXED_LETTERS:
        return name
    return None


def _normal_form(part: _Part) -> tuple[str, list[Tree], list[_Part]]:
    """Label, written nodes and operands of a node in normal form."""
    node, minus = part
    if minus is not None:
        return "O!minus", [minus], [(node, None)]
    label = node.label
    if name := _named(node):
        return name, [node, node.children[0]], [(one, None) for one in _arguments(node.children[1])]
    if _is_congruent(node):
        whole, note = node.children
        return "O!rem", [node, note], [(whole, None), (note.children[0], None)]
    if (label in ("U!plus", "U!times") and node.children) or _is_difference(node):
        return _flattened(node)
    operands: list[_Part] = [(child, None) for child in node.children]
    if label in _MIRRORED:
        return _MIRRORED[label], [node], operands[::-1]
    return _SPELLINGS.get(label, label), [node], operands


def _named(node: Tree) -> str:
    r"""The function of a product of a name and what it is applied to; "" for other nodes.

    ``\mathrm{Gal}(L/K)`` is such a product, and ``\operatorname{Gal}(L/K)`` is the function.
    """
    if node.label != "U!times" or len(node.children) != 2 or node.children[0].children:
        return ""
    kind, _, name = node.children[0].label.partition("!")
    is_name = kind in _NAMING and len(name) > 1 and name.isalpha() and name.isascii()
    return f"F!{name}" if is_name else ""


def _arguments(node: Tree) -> Sequence[Tree]:
    """The operands of a list in brackets, which looks as an open interval does."""
    return node.children if node.label == "O!interval(O-O)" else (node,)


def _is_congruent(node: Tree) -> bool:
    r"""Whether a node is what stands before ``\pmod n``, with it: ``\bmod n`` says the same."""
    if node.label != "O!annotated" or len(node.children) != 2:
        return False
    note = node.children[1]
    return note.label == "F!pmod" and len(note.children) == 1


def _is_difference(node: Tree) -> bool:
    return node.label == "O!minus" and len(node.children) == 2


def _flattened(node: Tree) -> tuple[str, list[Tree], list[_Part]]:
    """A sum or product with the operands of the sums or products in it."""
    label = "U!times" if node.label == "U!times" else "U!plus"
    written: list[Tree] = []
    operands: list[_Part] = []
    pending: list[_Part] = [(node, None)]
    while pending:
        inner, minus = pending.pop()
        if minus is not None:
            operands.append((inner, minus))
        elif inner.label == label and inner.children:
            written.append(inner)
            pending += [(child, None) for child in reversed(inner.children)]
        elif label == "U!plus" and _is_difference(inner):
            first, second = inner.children
            pending += [(second, inner), (first, None)]
        else:
            operands.append((inner, None))
    return label, written, operands
