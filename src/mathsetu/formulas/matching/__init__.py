"""Similarity of two formulas with an explanation: what matched, under which substitution."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from mathsetu.deadline import check_time
from mathsetu.formulas.matching.alignment import AlignedNodes, Alignment
from mathsetu.formulas.matching.explanation import Match, explain
from mathsetu.formulas.matching.prepared import PreparedFormula
from mathsetu.formulas.matching.unification import Unification
from mathsetu.formulas.tree import Tree

__all__ = ["Match", "PreparedFormula", "match"]

# Each round fixes letters by the alignment of the previous round; more rounds change nothing.
_ROUNDS = 3
# How many repeated parts of a candidate are tried for a repeated wildcard.
_REPEATED = 4


def match(
    query: Tree | PreparedFormula, candidate: Tree | PreparedFormula, *, equal_values: bool = True
) -> Match:
    """Match two operator trees.

    Operands of commutative operators may change places, letters may be renamed one to one, the
    query may match a part of the candidate, and a wildcard (``?x``) of the query matches any
    sub-expression, the same one wherever it occurs. With ``equal_values``, different spellings of
    a number match: 0.5 and 1/2.

    >>> from mathsetu.formulas.notation import read_tree
    >>> query = read_tree("[U!plus,0[O!SUP,0[V!x],1[N!2]],1[V!x]]")
    >>> found = match(query, read_tree("[U!plus,0[V!t],1[O!SUP,0[V!t],1[N!2]]]"))
    >>> dict(found.substitution), round(found.score, 2), found.coverage
    ({'x': 't'}, 0.92, 1.0)
    """
    if isinstance(query, Tree):
        query = PreparedFormula(query)
    if isinstance(candidate, Tree):
        candidate = PreparedFormula(candidate)
    best = _match(query, candidate, Unification(query, candidate), equal_values)
    if best.coverage < 1:
        # The alignment may have bound a repeated wildcard to a part that occurs only once.
        for wildcard, key in _repeated_parts(query, candidate):
            unification = Unification(query, candidate)
            unification.bindings[wildcard] = key
            found = _match(query, candidate, unification, equal_values)
            if found.in_one_piece and wildcard in found.bindings:
                best = max(best, found, key=_quality)
    return best


def _match(
    query: PreparedFormula,
    candidate: PreparedFormula,
    unification: Unification,
    equal_values: bool,
) -> Match:
    """Align two formulas in rounds, starting from the choices of a unification."""
    for _ in range(_ROUNDS):
        check_time()
        pairs = Alignment(query, candidate, unification, equal_values=equal_values).pairs()
        chosen = unification.choose_letters(_aligned_letters(query, candidate, pairs))
        bound = unification.choose_bindings(_aligned_wildcards(query, candidate, pairs))
        if not (chosen or bound):
            break
    else:
        pairs = Alignment(query, candidate, unification, equal_values=equal_values).pairs()
    return explain(query, candidate, unification, pairs)


def _quality(found: Match) -> tuple[float, float]:
    return found.coverage, found.score


def _repeated_parts(query: PreparedFormula, candidate: PreparedFormula) -> list[tuple[str, int]]:
    """Return a repeated wildcard with parts that occur as often in the candidate, frequent first.

    Of several repeated wildcards the first is enough: the alignment then binds the others.
    """
    counts = Counter(wildcard for wildcard in query.wildcards if wildcard is not None)
    wildcard, times = next(iter(counts.most_common(1)), ("", 0))
    if times < 2:
        return []
    parts = Counter(candidate.keys)
    frequent = [key for key, count in parts.most_common(_REPEATED) if count >= times]
    return [(wildcard, key) for key in frequent]


def _aligned_letters(
    query: PreparedFormula, candidate: PreparedFormula, pairs: Iterable[AlignedNodes]
) -> list[tuple[str, str]]:
    """Return the pairs of letters that were aligned."""
    found: list[tuple[str, str]] = []
    for ours, theirs, whole, _ in pairs:
        if whole:
            inside = (query.letters[place] for place in query.below(ours))
            found += [(letter, letter) for letter in inside if letter is not None]
            continue
        if names := query.names(ours, candidate, theirs[0]):
            found.append(names)
    return found


def _aligned_wildcards(
    query: PreparedFormula, candidate: PreparedFormula, pairs: Sequence[AlignedNodes]
) -> list[tuple[str, int, int]]:
    """Return the wildcards with the keys and sizes of the parts aligned with them.

    A wildcard matches anything anywhere, so its alignment counts only if its parent was aligned,
    too.
    """
    found = {-1, *(pair.ours for pair in pairs)}
    return [
        (wildcard, candidate.joined_key(theirs), sum(candidate.sizes[place] for place in theirs))
        for ours, theirs, *_ in pairs
        if (wildcard := query.wildcards[ours]) is not None and query.parents[ours] in found
    ]
