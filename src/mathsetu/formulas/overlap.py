"""The two simple similarity measures of formulas in the MIRaCLE paper (FIRE 2025).

They compare the symbols of two formulas and ignore the structure. They serve as baselines for
`mathsetu.formulas.matching` and `mathsetu.formulas.similarity`.
"""

from __future__ import annotations

from collections import Counter

from mathsetu.formulas.tree import Tree


def token_overlap(query: Tree, candidate: Tree) -> float:
    """Return the Jaccard similarity of the sets of labels in two layout trees.

    >>> from mathsetu.formulas.notation import read_tree
    >>> token_overlap(read_tree("[V!x[+[V!y]]]"), read_tree("[V!x[+[N!1]]]"))
    0.5
    """
    ours = {node.label for node in query.walk()}
    theirs = {node.label for node in candidate.walk()}
    return len(ours & theirs) / len(ours | theirs)


def node_overlap(query: Tree, candidate: Tree) -> float:
    """Return the Jaccard similarity of the multisets of labels in two operator trees.

    >>> from mathsetu.formulas.notation import read_tree
    >>> node_overlap(read_tree("[U!plus,0[V!x],1[V!x]]"), read_tree("[U!plus,0[V!x],1[V!y]]"))
    0.5
    """
    ours = Counter(node.label for node in query.walk())
    theirs = Counter(node.label for node in candidate.walk())
    return (ours & theirs).total() / (ours | theirs).total()
