"""Relations, lists and what else joins expressions into formulas."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from mathsetu.formulas.latex.boxes import BAR, COLON, COMMA, META, PERIOD, RELATION, WIDE_SPACE, Box
from mathsetu.formulas.operands import collection, edges, node
from mathsetu.formulas.tree import Tree


class Budget:
    """How many nodes may still be repeated where a chain of relations shares its operands.

    Without it, chains inside chains would double the tree at each level.
    """

    nodes = 5_000

    def allows(self, tree: Tree) -> bool:
        """Whether a tree may be repeated once more."""
        if not tree.children:
            self.nodes -= 1
            return self.nodes > 0
        stack = [tree]
        while stack and self.nodes > 0:
            self.nodes -= 1
            stack.extend(stack.pop().children)
        return not stack


def absent() -> Tree:
    """What is missing beside an operator."""
    return Tree("W!")


class Clause:
    """The formulas of one row: each operator between expressions is told to it, in order."""

    __slots__ = (
        "budget",
        "condition",
        "formulas",
        "has_list",
        "items",
        "metas",
        "relations",
        "tail",
    )

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        # What stands before a bar, with the bar.
        self.condition: tuple[Tree, Box] | None = None
        # Operands and the boxes of operators between them, by turns: the chain of relations, and
        # that of ⇔ and : around it.
        self.relations: list[Tree] = []
        self.metas: list[Tree] = []
        # Expressions between commas: before any relation, and after the last one.
        self.items: list[Tree] = []
        self.tail: list[Tree] = []
        self.has_list = False  # whether the chain begins with a list
        self.formulas: list[Tree] = []

    def add(self, tree: Tree | None, box: Box, role: int) -> None:
        """An expression, if there is one, and the sign after it."""
        if self.condition is not None:
            tree = self.conditional(tree)
        if role == RELATION:
            self.add_relation(tree, box)
        elif role in (COMMA, WIDE_SPACE):
            self.add_separator(tree)
        elif role in (META, COLON):
            self.add_meta(tree, box)
        elif role == BAR:
            self.condition = (tree or absent(), box)
        else:
            assert role == PERIOD
            self.add_last(tree)
            self.end_formula()

    def conditional(self, tree: Tree | None) -> Tree:
        """What a bar makes of the expressions beside it: ``d|n``, ``P(A|B)``."""
        assert self.condition is not None
        before, box = self.condition
        self.condition = None
        return node(box, (before, tree or absent()))

    def add_relation(self, tree: Tree | None, box: Box) -> None:
        """A sign between sums."""
        if not self.relations:
            self.relations = [self.before(tree), box]
        elif self.tail:
            # a = b, c = d: after the comma another formula has begun.
            self.end_formula()
            self.relations = [tree or absent(), box]
        else:
            self.relations += (tree or absent(), box)

    def before(self, tree: Tree | None) -> Tree:
        """What stands before the first sign of a formula: an expression, or a list of them."""
        items = self.items
        self.has_list = bool(items)
        if not items:
            return tree or absent()
        self.items = []
        if tree is not None:
            items.append(tree)
        return collection("M!L-", items)

    def add_meta(self, tree: Tree | None, box: Box) -> None:
        """A sign between formulas."""
        if self.relations:
            if self.tail and tree is not None:
                self.end_formula()
                self.metas = [tree, box]
                return
            if tree is not None or not self.tail:
                self.tail.append(tree or absent())
            self.metas += (self.end_relations(), box)
        elif self.metas and self.items and tree is not None:
            self.end_formula()
            self.metas = [tree, box]
        else:
            self.metas += (self.before(tree), box)

    def add_separator(self, tree: Tree | None) -> None:
        """A comma, or something like one."""
        if tree is None:
            return
        if self.relations:
            self.tail.append(tree)
            if self.has_list or len(self.relations) > 2:
                # Only a = b, c is a list after its relation.
                self.end_formula()
        else:
            self.items.append(tree)

    def add_last(self, tree: Tree | None) -> None:
        """An expression with nothing after it."""
        if tree is not None:
            (self.tail if self.relations else self.items).append(tree)

    def end_relations(self) -> Tree:
        """The chain of relations, complete."""
        chain = self.relations
        chain.append(collection("M!L-", self.tail) if self.tail else absent())
        self.relations = []
        self.tail = []
        self.has_list = False
        return self.chained(chain)

    def end_formula(self) -> None:
        """The formula being read is complete."""
        if self.relations:
            tree = self.end_relations()
        elif self.items:
            tree = collection("M!L-", self.items)
            self.items = []
        elif self.metas:
            tree = absent()
        else:
            return
        if self.metas:
            self.metas.append(tree)
            tree = self.chained(self.metas)
            self.metas = []
        self.formulas.append(tree)

    def chained(self, chain: list[Tree]) -> Tree:
        """Operands with operators between them; each inner operand belongs to both sides."""
        if len(chain) == 3:
            return node(cast(Box, chain[1]), (chain[0], chain[2]))
        pairs: list[Tree] = []
        for place in range(1, len(chain), 2):
            left = chain[place - 1]
            operands: tuple[Tree, ...] = (left, chain[place + 1])
            if pairs and not self.budget.allows(left):
                operands = operands[1:]
            pairs.append(node(cast(Box, chain[place]), operands))
        return Tree("U!and", pairs, edges(len(pairs)))

    def end(self, tree: Tree | None) -> Tree:
        """Everything has been told: the tree of the row."""
        if self.condition is not None:
            tree = self.conditional(tree)
        self.add_last(tree)
        self.end_formula()
        formulas = self.formulas
        if not formulas:
            return Tree("W!")
        whole = formulas.pop()
        while formulas:
            before = formulas.pop()
            following: Sequence[Tree] = (whole,)
            if before.label == "U!and" and whole.label == "O!form-seq":
                following = whole.children
            whole = Tree("O!form-seq", (before, *following), edges(len(following) + 1))
        return whole
