"""Relations, lists and other operators that join expressions into formulas."""

from __future__ import annotations

from typing import Final

from mathsetu.formulas.latex.boxes import BAR, COLON, COMMA, META, PERIOD, RELATION, WIDE_SPACE, Box
from mathsetu.formulas.operands import BLANK, collection, edges, node
from mathsetu.formulas.tree import Tree

#: Maximum number of nodes repeated because chains of relations share their operands. Without a
#: limit, nested chains would double the tree at each level.
MAX_REPEATED: Final = 5_000
#: The number of nodes that may still be repeated: one number, shared by all rows of a formula.
Budget = list[int]


def _may_repeat(tree: Tree, budget: Budget) -> bool:
    """Take the nodes of a tree from the budget; return whether the budget was sufficient."""
    stack = [tree]
    while stack and budget[0] > 0:
        budget[0] -= 1
        stack.extend(stack.pop().children)
    return not stack


class Clause:
    """Builds the formulas of one row from its expressions and the operators between them."""

    __slots__ = (
        "budget",
        "condition",
        "formulas",
        "has_list",
        "items",
        "meta_signs",
        "metas",
        "relation_signs",
        "relations",
        "tail",
        "trees",
    )

    def __init__(self, budget: Budget, trees: list[Tree]) -> None:
        self.budget = budget
        self.trees = trees  # the trees of the inner rows
        # The expression before a bar, and the bar.
        self.condition: tuple[Tree, Box] | None = None
        # Operands and the operators after them: the chain of relations, and the enclosing chain
        # of ⇔ and colons.
        self.relations: list[Tree] = []
        self.relation_signs: list[Box] = []
        self.metas: list[Tree] = []
        self.meta_signs: list[Box] = []
        # Expressions between commas: before the first relation, and after the last one.
        self.items: list[Tree] = []
        self.tail: list[Tree] = []
        self.has_list = False  # whether the chain begins with a list
        self.formulas: list[Tree] = []

    def add(self, tree: Tree | None, box: Box, role: int) -> None:
        """Add an expression, if there is one, and the sign after it."""
        if self.condition is not None:
            tree = self.conditional(tree)
        if role == RELATION:
            self.add_relation(tree, box)
        elif role in (COMMA, WIDE_SPACE):
            self.add_separator(tree)
        elif role in (META, COLON):
            self.add_meta(tree, box)
        elif role == BAR:
            self.condition = (tree or BLANK, box)
        else:
            assert role == PERIOD
            self.add_last(tree)
            self.end_formula()

    def conditional(self, tree: Tree | None) -> Tree:
        """Return the node of a bar with the expressions on both sides: ``d|n``, ``P(A|B)``."""
        assert self.condition is not None
        before, box = self.condition
        self.condition = None
        return node(box, (before, tree or BLANK), self.trees)

    def add_relation(self, tree: Tree | None, box: Box) -> None:
        """Add a relation and the expression before it."""
        if not self.relations:
            tree = self.before(tree)
        elif self.tail:
            # a = b, c = d: a new formula began after the comma.
            self.end_formula()
        self.relations.append(tree or BLANK)
        self.relation_signs.append(box)

    def before(self, tree: Tree | None) -> Tree:
        """Return the operand before the first sign of a formula: an expression, or a list."""
        items = self.items
        self.has_list = bool(items)
        if not items:
            return tree or BLANK
        self.items = []
        if tree is not None:
            items.append(tree)
        return collection("M!L-", items)

    def add_meta(self, tree: Tree | None, box: Box) -> None:
        """Add a sign between formulas (⇔ or a colon) and the expression before it."""
        if self.relations:
            if self.tail and tree is not None:
                self.end_formula()
            else:
                if tree is not None or not self.tail:
                    self.tail.append(tree or BLANK)
                tree = self.end_relations()
        elif self.metas and self.items and tree is not None:
            self.end_formula()
        else:
            tree = self.before(tree)
        self.metas.append(tree)
        self.meta_signs.append(box)

    def add_separator(self, tree: Tree | None) -> None:
        """Add the expression before a separator (a comma, semicolon or wide space)."""
        if tree is None:
            return
        if self.relations:
            self.tail.append(tree)
            if self.has_list or len(self.relations) > 1:
                # Only a single relation can be followed by a list: a = b, c.
                self.end_formula()
        else:
            self.items.append(tree)

    def add_last(self, tree: Tree | None) -> None:
        """Add an expression with no sign after it."""
        if tree is not None:
            (self.tail if self.relations else self.items).append(tree)

    def end_relations(self) -> Tree:
        """End the chain of relations and return its tree."""
        self.relations.append(collection("M!L-", self.tail) if self.tail else BLANK)
        tree = self.chained(self.relations, self.relation_signs)
        self.relations = []
        self.relation_signs = []
        self.tail = []
        self.has_list = False
        return tree

    def end_formula(self) -> None:
        """End the current formula."""
        if self.relations:
            tree = self.end_relations()
        elif self.items:
            tree = collection("M!L-", self.items)
            self.items = []
        elif self.metas:
            tree = BLANK
        else:
            return
        if self.metas:
            self.metas.append(tree)
            tree = self.chained(self.metas, self.meta_signs)
            self.metas = []
            self.meta_signs = []
        self.formulas.append(tree)

    def chained(self, chain: list[Tree], signs: list[Box]) -> Tree:
        """Return the tree of a chain; each inner operand belongs to the operators on both sides."""
        if len(signs) == 1:
            return node(signs[0], (chain[0], chain[1]), self.trees)
        pairs: list[Tree] = []
        for place, sign in enumerate(signs):
            left = chain[place]
            operands: tuple[Tree, ...] = (left, chain[place + 1])
            if pairs and not _may_repeat(left, self.budget):
                operands = operands[1:]
            pairs.append(node(sign, operands, self.trees))
        return Tree("U!and", tuple(pairs), edges(len(pairs)))

    def end(self, tree: Tree | None) -> Tree:
        """Add the last expression and return the tree of the row."""
        if self.condition is not None:
            tree = self.conditional(tree)
        self.add_last(tree)
        self.end_formula()
        formulas = self.formulas
        if not formulas:
            return BLANK
        whole = formulas.pop()
        while formulas:
            before = formulas.pop()
            following: tuple[Tree, ...] = (whole,)
            if before.label == "U!and" and whole.label == "O!form-seq":
                following = whole.children
            whole = Tree("O!form-seq", (before, *following), edges(len(following) + 1))
        return whole
