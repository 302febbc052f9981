"""Similarity of two formulas for ranking: shared features, weighted by rarity, and structure.

Candidates come from an inverted index over `mathsetu.formulas.features`; `TermWeights.overlap`
is a sum over shared terms, so an index computes it term by term. The best candidates are then
matched (`mathsetu.formulas.matching`), and `similarity` combines both scores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log

from mathsetu.formulas.matching import Match

#: The weight of the structural match in the similarity.
MATCH_SHARE = 1 / 3
#: The weight of the query coverage in the structural match.
COVERAGE_SHARE = 0.2
#: The share of the gap to 1 gained by a formula that contains the whole query in one piece.
WHOLE_MATCH_BONUS = 0.5
#: Queries with fewer nodes are contained in many unrelated formulas, unless they have a named
#: function or a big operator.
MIN_BONUS_NODES = 5
# Functions written by signs instead of a name: |x|, ⌊x⌋, dx.
_BY_SIGNS = frozenset({"F!abs", "F!floor", "F!ceiling", "F!round", "F!d", "F!df"})
_BIG_OPERATORS = frozenset({"O!sum", "O!product", "O!int"})
#: The minimum similarity of a formula that contains a whole pattern (a query with wildcards).
FOUND_PATTERN = 2 / 3
#: The same if letters of the pattern had to be renamed.
RENAMED_PATTERN = 1 / 2
#: The weight of operator-tree terms; it is low, because the match covers their structure, too.
OPERATOR_WEIGHT = 0.5
#: The families of those terms: leaf-root and leaf-leaf paths.
OPERATOR_FAMILIES = frozenset("rRlL")


class TermWeights:
    """The weights of feature terms in a collection; rarer terms weigh more.

    >>> weights = TermWeights({"p:V!x a N!2": 1, "p:V!x $": 3}, formulas=4)
    >>> weights["p:V!x a N!2"] > weights["p:V!x $"]
    True
    """

    def __init__(self, frequencies: Mapping[str, int], formulas: int) -> None:
        """Store the number of formulas with each term, and the number of all formulas."""
        self._frequencies = frequencies
        self._formulas = formulas

    def __getitem__(self, term: str) -> float:
        frequency = self._frequencies.get(term, 0)
        weight = log(1 + (self._formulas - frequency + 0.5) / (frequency + 0.5))
        return OPERATOR_WEIGHT * weight if term[:1] in OPERATOR_FAMILIES else weight

    def mass(self, terms: Mapping[str, int]) -> float:
        """Return the total weight of the terms of a formula, given their frequencies in it."""
        return sum(self[term] * count for term, count in terms.items())

    def overlap(self, query: Mapping[str, int], candidate: Mapping[str, int]) -> float:
        """Return the weighted Dice coefficient of two formulas, from 0 to 1.

        >>> weights = TermWeights({"a": 1, "b": 1}, formulas=2)
        >>> weights.overlap({"a": 1}, {"a": 1, "b": 2}), weights.overlap({"a": 1}, {"b": 1})
        (0.5, 0.0)
        """
        shared = sum(
            self[term] * min(count, candidate[term])
            for term, count in query.items()
            if term in candidate
        )
        return dice(shared, self.mass(query), self.mass(candidate))


def dice(shared: float, mass: float, other_mass: float) -> float:
    """Return the Dice coefficient of a shared mass and two total masses; 0 if both are 0.

    >>> dice(1.0, 1.0, 3.0)
    0.5
    """
    return 2 * shared / (mass + other_mass) if mass + other_mass else 0.0


def similarity(overlap: float, found: Match) -> float:
    """Combine feature overlap and structural match into a ranking score from 0 to 1.

    A larger formula that contains the whole query, even with other letters, ranks above one that
    shares a large part of the query with the same letters.

    >>> from mathsetu.formulas.matching import match
    >>> from mathsetu.formulas.tree import Tree
    >>> same, other = match(Tree("V!x"), Tree("V!x")), match(Tree("V!x"), Tree("N!1"))
    >>> similarity(1.0, same), round(similarity(0.3, other), 2)
    (1.0, 0.2)
    """
    structure = (1 - COVERAGE_SHARE) * found.score + COVERAGE_SHARE * found.coverage
    like = (1 - MATCH_SHARE) * overlap + MATCH_SHARE * structure
    is_whole = found.coverage == 1 and found.in_one_piece
    if is_whole and is_distinctive([node.label for node in found.query_nodes]):
        like += WHOLE_MATCH_BONUS * (1 - like)
    return like


def is_distinctive(labels: Sequence[str]) -> bool:
    """Whether few formulas contain a query with these labels by chance.

    >>> [is_distinctive([label, "V!x"]) for label in ("F!tan", "F!abs", "O!sum")]
    [True, False, True]
    """
    return len(labels) >= MIN_BONUS_NODES or any(map(_is_rare, labels))


def _is_rare(label: str) -> bool:
    """Whether a label is a function written by its name, not by signs, or a big operator."""
    if label in _BIG_OPERATORS:
        return True
    return label.startswith("F!") and label[2:].isalpha() and label not in _BY_SIGNS


def pattern_similarity(overlap: float, found: Match) -> float:
    """Return the `similarity` for a query with wildcards; a complete match counts most.

    The parts bound to wildcards, or around the pattern, are not shared features. A formula with
    the letters of the query ranks above one with other letters: ζ(?s) means the function ζ.

    >>> from mathsetu.formulas.matching import match
    >>> from mathsetu.formulas.tree import Tree
    >>> pattern_similarity(0.0, match(Tree("?a"), Tree("V!x"))) > FOUND_PATTERN
    True
    """
    like = similarity(overlap, found)
    if found.coverage < 1 or not found.in_one_piece:
        return like
    is_renamed = any(ours != theirs for ours, theirs in found.substitution.items())
    least = RENAMED_PATTERN if is_renamed or found.names else FOUND_PATTERN
    return least + (1 - FOUND_PATTERN) * like
