r"""Operator trees prepared for matching: a normal form, stored in lists.

Equivalent notations have one normal form: ``a-b-c`` is the sum of a, -b and -c, nested sums and
nested products are flattened, ``a\cdot b`` is ``ab``, ``a>b`` is ``b<a``, ``\phi`` is
``\varphi``, ``a (mod n)`` is ``a mod n``, an equation with such a side is a congruence, a name
before its argument is a function, and ``\frac{f\,dt}{g}`` is ``\frac{f}{g}\,dt``. Every node has a
key that is equal for equal sub-trees, whatever the order of commutative operands.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

from mathsetu.formulas.labels import is_commutative, is_wildcard, one_shape
from mathsetu.formulas.numbers import value
from mathsetu.formulas.tree import POSITIONS, Tree

#: The labels of a sum and of a minus; in normal form, a minus has one operand.
PLUS, MINUS = "U!plus", "O!minus"
_PRODUCT, _DOT = "U!times", "F!⋅"
_MIRRORED = {"O!gt": "O!lt", "O!geq": "O!leq"}
_FRACTION = "O!divide"
_SPELLINGS = {"O!continued-fraction": _FRACTION}
# A chain of relations, and the one that then holds between any two members.
_CHAIN, _EQUALS = "U!and", "U!eq"
# Marks of vectors: arrow, hat and gradient.
_OF_VECTORS = frozenset({"F!→", "F!^", "F!∇"})
# Operators that may enclose a vector: scripts, and the d of a differential.
_AROUND_VECTORS = frozenset({"O!SUB", "O!SUP", "F!d"})
# Kinds of labels that may name a function: upright letters and text.
_NAMING = frozenset("VT")
# Letters with a fixed meaning, which must not be renamed.
_FIXED_LETTERS = frozenset("πℝℤℕℚℂ")
# The prefix of the label of an operator that applies a sign with limits to its operands.
_WITH_LIMITS = "+!"
# Number of operators above a letter that form its context.
_CONTEXT = 3

_DIFFERENTIAL = "F!d"
# The d of a derivative: a sign, not a letter, so that it cannot be renamed.
_DERIVATIVE = "O!derivative"


class _DerivedNode(NamedTuple):
    """A node of the normal form that is not a node of the written tree: the -b of ``a-b``."""

    label: str
    operands: tuple[_Part, ...]
    #: The written nodes that it represents; the node of its sign comes first.
    written: tuple[Tree, ...] = ()

    def tree(self) -> Tree:
        below = tuple(one.tree() if isinstance(one, _DerivedNode) else one for one in self.operands)
        symbol = self.written[0].symbol if self.written else -1
        return Tree(self.label, below, POSITIONS[: len(below)], symbol)


# A node of the normal form before it is assigned a place.
_Part = Tree | _DerivedNode


class PreparedFormula:
    """The nodes of a tree in normal form, in breadth-first order; place 0 is the root.

    Prepare a query once and match it with many candidates.

    >>> minus = Tree("O!minus", (Tree("V!a"), Tree("V!b")), ("0", "1"))
    >>> PreparedFormula(minus).labels
    ['U!plus', 'V!a', 'O!minus', 'V!b']
    """

    def __init__(self, tree: Tree) -> None:
        self._parts: list[_Part] = [tree]
        self.labels: list[str] = []
        #: The written nodes that each node represents; a flattened sum represents several.
        self.written: list[Sequence[Tree]] = []
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
        for place in self._signs_of_derivatives():
            self.labels[place] = _DERIVATIVE
        #: For an operator with limits or an index, the place of its sign below it (the ∫ of an
        #: integral from 0 to 1); for other nodes, their own place.
        self.signs = [self._sign(place) for place in range(count)]
        #: The number of nodes of each sub-tree.
        self.sizes = [1] * count
        #: The keys of sub-trees, equal for equal sub-trees.
        self.keys = [0] * count
        #: The values of numeric sub-trees.
        self.values: list[Fraction | None] = [None] * count
        self._sum_up()
        #: The letters that may be renamed, by place.
        self.letters = [_letter(label) for label in self.labels]
        #: The names of letters with an index, by place; "" if the index is not a number, as in x_i.
        self.indexed = dict(self._indexed_letters())
        #: The wildcards, by place; a wildcard with operands is an ordinary label.
        self.wildcards = [
            label if is_wildcard(label) and not below else None
            for label, below in zip(self.labels, self.operands, strict=True)
        ]
        #: The leaves that are a whole exponent, and those that are terms or factors elsewhere.
        self.exponents, self.terms = self._exponents_and_terms()
        #: For each letter, how often it occurs in each context (a hash of the operators above).
        self.contexts = self._contexts()

    def _indexed_letters(self) -> Iterator[tuple[int, str]]:
        for label, below in zip(self.labels, self.operands, strict=True):
            letter = self.letters[below.start] if label == "O!SUB" and len(below) == 2 else None
            if letter is not None:
                index = self.values[below[1]]
                yield below.start, "" if index is None else f"{letter}_{index}"

    def _signs_of_derivatives(self) -> list[int]:
        r"""Return the places of every d of ``\frac{d}{dt}``, ``\frac{d^2y}{dt^2}`` and the like."""
        labels, operands = self.labels, self.operands
        found: list[int] = []
        for place, label in enumerate(labels):
            if label != _FRACTION or len(operands[place]) != 2:
                continue
            above, below = operands[place]
            while labels[above] in (_PRODUCT, "O!SUP") and operands[above]:
                above = operands[above].start
            factors = operands[below] if labels[below] == _PRODUCT else range(0)
            if labels[above] == "V!d" and [labels[one] for one in factors[:1]] == ["V!d"]:
                found += [above, *(one for one in factors if labels[one] == "V!d")]
        return found

    def _sign(self, place: int) -> int:
        if not self.labels[place].startswith(_WITH_LIMITS) or len(self.operands[place]) < 2:
            return place
        sign = self.operands[place].start
        while self.operands[sign]:
            sign = self.operands[sign].start
        return sign

    def _exponents_and_terms(self) -> tuple[frozenset[int], frozenset[int]]:
        exponents: set[int] = set()
        terms: set[int] = set()
        for place, label in enumerate(self.labels):
            if label == "O!SUP":
                exponents.update(self.operands[place][1:])
            elif label in (PLUS, _PRODUCT) and place not in exponents:
                terms.update(self.operands[place])
        leaves = {place for place, below in enumerate(self.operands) if not below}
        return frozenset(exponents & leaves), frozenset(terms & leaves)

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
        letters = [(one, place) for place, one in enumerate(self.letters) if one is not None]
        names = [(name, self.parents[place]) for place, name in self.indexed.items() if name]
        for letter, place in letters + names:
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
        """Return the places of a node and of all its descendants."""
        found = [place]
        for inner in found:
            found += self.operands[inner]
        return found

    def names(self, place: int, candidate: PreparedFormula, theirs: int) -> tuple[str, str] | None:
        """The names of two aligned letters; None if one of two nodes is not a letter.

        Letters of one formula that differ in a number, such as x_1 and x_2, are different names
        for letters without an index.

        >>> plus = Tree("U!plus", (Tree("V!a"), Tree("V!b")), ("0", "1"))
        >>> one = Tree("O!SUB", (Tree("V!x"), Tree("N!1")), ("0", "1"))
        >>> PreparedFormula(plus).names(1, PreparedFormula(one), 1)
        ('a', 'x_1')
        """
        letter, other = self.letters[place], candidate.letters[theirs]
        if letter is None or other is None:
            return None
        if letter != other:
            name, other_name = self.indexed.get(place), candidate.indexed.get(theirs)
            if name is None:
                return letter, other_name or other
            if other_name is None:
                return name or letter, other
        return letter, other

    def tree(self, place: int) -> Tree:
        """Return the sub-tree at a place as it was written."""
        part = self._parts[place]
        return part.tree() if isinstance(part, _DerivedNode) else part

    def is_negative(self, place: int) -> bool:
        """Whether a node is a minus with one operand."""
        return self.labels[place] == MINUS and len(self.operands[place]) == 1

    def plus_signs(self, place: int) -> dict[int, list[tuple[Tree, Tree]]]:
        """Return the terms of a sum with a plus before them: its written operator and operand.

        >>> one, two = Tree("N!1"), Tree("U!plus", (Tree("N!2"), Tree("N!3")), ("0", "1"))
        >>> PreparedFormula(Tree("U!plus", (one, two), ("0", "1"))).plus_signs(0).keys()
        dict_keys([2, 3])
        """
        terms = {id(self._parts[term]): term for term in self.operands[place]}
        signs: dict[int, list[tuple[Tree, Tree]]] = {}
        for operator in self.written[place]:
            # A plus before a single operand, +a, is a sign, too.
            for operand in operator.children[1:] or operator.children:
                first = operand
                while (first.label == PLUS and first.children) or _is_difference(first):
                    first = first.children[0]
                signs.setdefault(terms[id(first)], []).append((operator, operand))
        return signs

    def joined_key(self, places: Sequence[int]) -> int:
        """Return the key of a sub-tree, or the joint key of several operands of one operator.

        The first of several may be below a minus, if ``-?x`` matched the terms of a sum; then the
        other terms are negated.
        """
        if len(places) == 1:
            return self.keys[places[0]]
        keys = [
            self._negated_key(place) if is_negated else self.keys[place]
            for place, is_negated in self._signed(places)
        ]
        return combined_key(self.labels[self.parents[places[-1]]], keys)

    def joined_tree(self, places: Sequence[int]) -> Tree:
        """Return the tree whose key `joined_key` returns."""
        if len(places) == 1:
            return self.tree(places[0])
        trees = tuple(
            self._negated_tree(place) if is_negated else self.tree(place)
            for place, is_negated in self._signed(places)
        )
        label = self.labels[self.parents[places[-1]]]
        return _as_written(trees) if label == PLUS else _operation(label, trees)

    def _signed(self, places: Sequence[int]) -> list[tuple[int, bool]]:
        """Return the places, and whether each is negated: its parent is not that of the first."""
        above = self.parents[places[0]]
        return [(place, self.parents[place] != above) for place in places]

    def _negated_key(self, place: int) -> int:
        if self.is_negative(place):
            return self.keys[self.operands[place].start]
        return combined_key(MINUS, [self.keys[place]])

    def _negated_tree(self, place: int) -> Tree:
        if self.is_negative(place):
            return self.tree(self.operands[place].start)
        return Tree(MINUS, (self.tree(place),), POSITIONS[:1])


class SubtreeKeys(NamedTuple):
    """The keys of all sub-trees of a tree in normal form, root first: enough for comparisons."""

    labels: Sequence[str]
    #: The start and end place of the operands of each node.
    operands: Sequence[tuple[int, int]]
    keys: Sequence[int]

    def hold(self, other: SubtreeKeys) -> bool:
        """Whether another tree is a sub-tree, or consists of adjacent operands of one node.

        So a longer product contains a shorter one, and a longer sum a shorter one. A chain of
        equations contains the equation of any two of its members.

        >>> a, b, c = (Tree(f"V!{letter}") for letter in "abc")
        >>> longer = subtree_keys(Tree("U!times", (a, b, c), ("0", "1", "2")))
        >>> longer.hold(subtree_keys(Tree("U!times", (b, c), ("0", "1"))))
        True
        >>> longer.hold(subtree_keys(Tree("U!times", (a, c), ("0", "1"))))
        False
        """
        wanted, label = other.keys[0], other.labels[0]
        if wanted in self.keys:
            return True
        if label == _EQUALS and wanted in self._implied_equations():
            return True
        start, stop = other.operands[0]
        count = stop - start
        if not count or not is_commutative(label):
            return False
        return any(
            combined_key(label, self.keys[place : place + count]) == wanted
            for own, (first, end) in zip(self.labels, self.operands, strict=True)
            if own == label
            for place in range(first, end - count + 1)
        )

    def _implied_equations(self) -> Iterator[int]:
        """Yield the keys of the equations between distant members of each chain of equations."""
        for own, (first, end) in zip(self.labels, self.operands, strict=True):
            if own != _CHAIN:
                continue
            members: list[int] = []
            for place in range(first, end):
                start, stop = self.operands[place]
                if self.labels[place] != _EQUALS or stop - start != 2:
                    members = []
                    continue
                left, right = self.keys[start:stop]
                if not members or members[-1] != left:
                    members = [left]
                yield from (combined_key(_EQUALS, (one, right)) for one in members[:-1])
                members.append(right)


def subtree_keys(tree: Tree) -> SubtreeKeys:
    """Return the keys of all sub-trees of a tree.

    >>> plus = Tree("U!plus", (Tree("V!a"), Tree("V!b")), ("0", "0"))
    >>> subtree_keys(plus).keys == PreparedFormula(plus).keys
    True
    """
    parts: list[_Part] = [tree]
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
    return SubtreeKeys(labels, operands, keys)


def combined_key(label: str, keys: Iterable[int]) -> int:
    """Return the key of a node from its label and the keys of its operands.

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


def _normal_form(part: _Part) -> tuple[str, Sequence[Tree], Sequence[_Part]]:
    """Return the label, written nodes and operands of a node in normal form."""
    if isinstance(part, _DerivedNode):
        return part.label, part.written, part.operands
    label, operands = part.label, part.children
    if name := _named(part):
        return name, [part, operands[0]], _arguments(operands[1])
    if _is_congruent(part):
        whole, note = operands
        return "O!rem", [part, note], [whole, note.children[0]]
    if (label == PLUS and operands) or _is_product(part) or _is_difference(part):
        return _flattened(part)
    if label == _FRACTION and (factors := _factors_with_differentials(part)):
        return _PRODUCT, [], factors
    if label == _EQUALS and any(map(_has_modulus, operands)):
        return "U!equivalent", [part], operands
    if label in _MIRRORED:
        return _MIRRORED[label], [part], operands[::-1]
    return _SPELLINGS.get(label) or one_shape(label), [part], operands


def _named(node: Tree) -> str:
    r"""Return the function label of a product of a name and its argument; "" for other nodes.

    ``\mathrm{Gal}(L/K)`` is such a product; ``\operatorname{Gal}(L/K)`` is the function.
    """
    if node.label != _PRODUCT or len(node.children) != 2 or node.children[0].children:
        return ""
    kind, _, name = node.children[0].label.partition("!")
    is_name = kind in _NAMING and len(name) > 1 and name.isalpha() and name.isascii()
    return f"F!{name}" if is_name else ""


def _arguments(node: Tree) -> Sequence[Tree]:
    """Return the items of a list in brackets (labelled as an open interval), or the node itself."""
    return node.children if node.label == "O!interval(O-O)" else (node,)


def _has_modulus(node: Tree) -> bool:
    r"""Whether a side of an equation has a modulus: ``x = a \bmod n`` means x ≡ a."""
    return node.label == "O!rem" or _is_congruent(node)


def _is_congruent(node: Tree) -> bool:
    r"""Whether a node is an expression with ``\pmod n``, which means the same as ``\bmod n``."""
    if node.label != "O!annotated" or len(node.children) != 2:
        return False
    note = node.children[1]
    return note.label == "F!pmod" and len(note.children) == 1


def _is_difference(node: Tree) -> bool:
    return node.label == MINUS and len(node.children) > 1


def _is_product(node: Tree) -> bool:
    """Whether a node is a product, with or without a sign; a dot product of vectors is not."""
    if node.label == _PRODUCT:
        return bool(node.children)
    if node.label != _DOT or len(node.children) < 2:
        return False
    return sum(map(_has_vector, node.children)) < 2


def _has_vector(node: Tree) -> bool:
    """Whether a factor is a vector (by its mark or bold letter), or a product with a vector."""
    return any(map(_is_vector, node.children if node.label == _PRODUCT else (node,)))


def _is_vector(node: Tree) -> bool:
    while node.label in _AROUND_VECTORS and node.children:
        node = node.children[0]
    if node.children:
        return node.label in _OF_VECTORS
    kind, _, letter = node.label.partition("!")
    return kind == "V" and len(letter) == 1 and "BOLD" in unicodedata.name(letter, "")


def _factors_with_differentials(fraction: Tree) -> list[_Part]:
    r"""Return the factors of a fraction with differentials in its numerator; [] for any other.

    ``\frac{f\,dx}{g}`` has the factors ``\frac{f}{g}`` and dx. A derivative, which also has
    differentials in its denominator, stays a fraction.
    """
    if len(fraction.children) != 2:
        return []
    above, below = fraction.children
    is_product = above.label == _PRODUCT
    left = list(above.children) if is_product else [above]
    differentials: list[_Part] = []
    while left:
        if left[-1].label == _DIFFERENTIAL and left[-1].children:
            differentials.append(left.pop())
        elif len(left) > 1 and left[-2].label == "V!d" and _is_variable(left[-1]):
            variable, sign = left.pop(), left.pop()
            differentials.append(_DerivedNode(_DIFFERENTIAL, (variable,), (sign,)))
        else:
            break
    if not differentials or any(one.label == "V!d" for one in (below, *below.children)):
        return []
    rest: _Part = _DerivedNode(_PRODUCT, tuple(left)) if left else _DerivedNode("N!1", ())
    if len(left) == 1:
        rest = left[0]
    written = (fraction, above) if is_product else (fraction,)
    return [_DerivedNode(_FRACTION, (rest, below), written), *reversed(differentials)]


def _is_variable(node: Tree) -> bool:
    """Whether a node is a letter, perhaps with an index."""
    if node.label == "O!SUB" and node.children:
        node = node.children[0]
    return not node.children and _letter(node.label) is not None


def _as_written(terms: Sequence[Tree]) -> Tree:
    """Build a sum as the parser does, with differences: ``a-b+c`` for a, -b and c."""
    first, *others = terms
    label, operands = PLUS, [first]
    for term in others:
        is_negative = term.label == MINUS and len(term.children) == 1
        if is_negative != (label == MINUS):
            operands = [_operation(label, operands)] if len(operands) > 1 else operands
            label = MINUS if is_negative else PLUS
        operands.append(term.children[0] if is_negative else term)
    return _operation(label, operands)


def _operation(label: str, operands: Sequence[Tree]) -> Tree:
    last = len(POSITIONS) - 1
    edges = tuple(POSITIONS[min(number, last)] for number in range(len(operands)))
    return Tree(label, tuple(operands), edges)


def _flattened(node: Tree) -> tuple[str, Sequence[Tree], Sequence[_Part]]:
    """Flatten a sum or product: take the operands of the sums or products nested in it."""
    label = _PRODUCT if _is_product(node) else PLUS
    written: list[Tree] = []
    operands: list[_Part] = []
    pending: list[_Part] = [node]
    while pending:
        inner = pending.pop()
        if isinstance(inner, _DerivedNode):
            operands.append(inner)
        elif _is_product(inner) if label == _PRODUCT else inner.label == PLUS and inner.children:
            written.append(inner)
            pending += reversed(inner.children)
        elif label == PLUS and _is_difference(inner):
            first, *others = inner.children
            pending += [_DerivedNode(MINUS, (other,), (inner,)) for other in reversed(others)]
            pending.append(first)
        elif (
            label == _PRODUCT
            and inner.label == _FRACTION
            and (factors := _factors_with_differentials(inner))
        ):
            operands += factors
        else:
            operands.append(inner)
    return label, written, operands
