"""Both trees laid out as lists, which every feature family reads.

Features are made for millions of formulas: lists that are made once are several times faster
to read than nodes.
"""

from __future__ import annotations

from mathsetu.formulas.features.abstract import ABSTRACT
from mathsetu.formulas.tree import Tree


class Layout:
    """A layout tree, level by level, so that a symbol stands before those attached to it.

    ``parents[i]`` is the place of the symbol that symbol ``i`` is attached to (-1 for the
    first), ``edges[i]`` the edge between them, ``kinds[i]`` the abstracted label; ``forks`` are
    the nodes with several edges.

    >>> layout = Layout(Tree("V!x", [Tree("N!2"), Tree("+")], ("a", "n")))
    >>> layout.labels, layout.kinds, layout.parents, layout.edges
    (['V!x', 'N!2', '+'], ['V', 'N', '+'], [-1, 0, 0], ['', 'a', 'n'])
    """

    __slots__ = ("edges", "forks", "kinds", "labels", "parents")

    def __init__(self, tree: Tree) -> None:
        nodes = [tree]
        parents = [-1]
        edges = [""]
        forks: list[Tree] = []
        for place, node in enumerate(nodes):
            children = node.children
            if children:
                # The loop goes on over what is appended here.
                nodes += children
                edges += node.edges
                if len(children) == 1:
                    parents.append(place)
                else:
                    parents += [place] * len(children)
                    forks.append(node)
        self.parents = parents
        self.edges = edges
        self.forks = forks
        self.labels = [node.label for node in nodes]
        self.kinds = [ABSTRACT[label] for label in self.labels]


class Operators:
    """An operator tree: operators level by level, and leaves apart.

    A leaf (in ``tips``) is its label with its position where the order of operands matters, the
    same with the label abstracted, the place of the operator above, and the label alone.
    ``steps[i]`` is what a way up adds when it goes through operator ``i`` to the next:
    ``/U!plus`` or, where the order of operands matters there, ``/U!plus1``.

    >>> power = Operators(Tree("O!SUP", [Tree("V!x"), Tree("N!2")], ("0", "1")))
    >>> power.labels, power.tips
    (['O!SUP'], [('V!x0', 'V0', 0, 'V!x'), ('N!21', 'N1', 0, 'N!2')])
    """

    __slots__ = ("labels", "parents", "steps", "tips")

    def __init__(self, tree: Tree) -> None:
        nodes = [tree]
        labels: list[str] = []
        parents = [-1]
        steps = [""]
        tips: list[tuple[str, str, int, str]] = []
        for place, node in enumerate(nodes):
            label = node.label
            labels.append(label)
            if label[:2] == "U!":
                for child in node.children:
                    name = child.label
                    if child.children:
                        nodes.append(child)
                        parents.append(place)
                        steps.append("/" + name)
                    else:
                        tips.append((name, ABSTRACT[name], place, name))
            else:
                # Asking zip to be strict takes a sixth of the time of this loop.
                for child, edge in zip(node.children, node.edges):  # noqa: B905
                    name = child.label
                    if child.children:
                        nodes.append(child)
                        parents.append(place)
                        steps.append(f"/{name}{edge}")
                    else:
                        tips.append((name + edge, ABSTRACT[name] + edge, place, name))
        self.labels = labels
        self.parents = parents
        self.steps = steps
        self.tips = tips
