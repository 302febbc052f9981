"""Read and write Tangent's text form of formula trees.

``[V!x,a[N!2]]`` is x with 2 above-right; the edge ``n`` (next on the line) is left out, so
``[V!x[+[V!y]]]`` reads x, then +, then y. In an operator tree the edges are operand positions:
``[U!plus,0[V!x],1[V!y]]``. Inside labels ``, [ ] ?`` are written as entities. Some public files
contain trees in CSV quoting (quoted, with doubled quotes); these are read, too.
"""

from __future__ import annotations

import re

from mathsetu.errors import NotationError
from mathsetu.formulas.tree import Tree

_ENTITIES = {"&comma;": ",", "&lsqb;": "[", "&rsqb;": "]", "&quest;": "?"}
_ESCAPES = str.maketrans({char: entity for entity, char in _ENTITIES.items()})
_ENTITY = re.compile("|".join(_ENTITIES))
# A tree in CSV quoting.
_QUOTED = re.compile(r'\\?"(\[.*\])\\?"', re.DOTALL)
# A token: the start of a node with its label, an edge name before a node, or the end of a node.
_PIECE = re.compile(r"\[([^\[\],]*)|,([^\[\],]*)(?=\[)|(\])")


def read_tree(text: str) -> Tree:
    """Parse a tree in text form.

    >>> read_tree("[V!x[+[N!1]],a[N!2]]")
    Tree('V!x', n=Tree('+', n=Tree('N!1')), a=Tree('N!2'))
    """
    text = text.strip()
    if (quoted := _QUOTED.fullmatch(text)) is not None:
        text = quoted.group(1).replace('""', '"')
    root: Tree | None = None
    # The open nodes, outermost first: label, children, edges.
    open_nodes: list[tuple[str, list[Tree], list[str]]] = []
    edge = "n"
    position = 0
    while position < len(text):
        piece = _PIECE.match(text, position)
        if piece is None or (root is not None and not open_nodes):
            raise NotationError(text, position, "a node '[label…]' expected")
        label, named_edge, end = piece.groups()
        if label is not None:
            if open_nodes:
                open_nodes[-1][2].append(edge)
            open_nodes.append((_ENTITY.sub(lambda m: _ENTITIES[m.group()], label), [], []))
            edge = "n"
        elif end:
            if not open_nodes:
                raise NotationError(text, position, "']' closes nothing")
            label, children, edges = open_nodes.pop()
            node = Tree(label, tuple(children), tuple(edges))
            if open_nodes:
                open_nodes[-1][1].append(node)
            else:
                root = node
        else:
            if not open_nodes:
                raise NotationError(text, position, "the text must begin with '['")
            edge = named_edge
        position = piece.end()
    if root is None or open_nodes:
        raise NotationError(text, len(text), "']' expected")
    return root


def write_tree(tree: Tree) -> str:
    """Write a tree in the text form that `read_tree` parses.

    >>> write_tree(Tree("V!x", (Tree("N!2"),), ("a",)))
    '[V!x,a[N!2]]'
    """
    parts: list[str] = []
    pending: list[Tree | str] = [tree]
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            parts.append(item)
            continue
        parts.append("[" + item.label.translate(_ESCAPES))
        pending.append("]")
        for number in reversed(range(len(item.children))):
            pending.append(item.children[number])
            # Only a first child may omit its edge: the 50th operand also has the edge "n".
            if number or item.edges[number] != "n":
                pending.append("," + item.edges[number])
    return "".join(parts)
