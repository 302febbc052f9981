"""Compare the signs of two aligned sums.

In normal form a difference is a sum: ``a-b`` is the sum of a and -b. Sums are therefore aligned
with differences, and terms with similar terms of the other sign; but a plus counts as found only
if the other formula has it, too. The order of terms does not matter: ``-a+b`` is ``b-a``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from mathsetu.formulas.matching.alignment import AlignedNodes
from mathsetu.formulas.matching.prepared import PreparedFormula
from mathsetu.formulas.tree import Tree


class SumSigns(NamedTuple):
    """The signs of one of two sums that were found, or not found, in the other."""

    #: The plus operators without any sign that was found.
    unfound: Sequence[Tree] = ()
    #: The written operands with a sign before them, and whether that sign was found.
    operands: Sequence[tuple[Tree, bool]] = ()


class ComparedSums(NamedTuple):
    """The comparison of the signs of two aligned sums."""

    #: Whether a term of the query without a minus was aligned with a term that has one.
    is_opposed: bool
    ours: SumSigns
    theirs: SumSigns


def compare_sums(
    query: PreparedFormula,
    candidate: PreparedFormula,
    sums: AlignedNodes,
    counterparts: Mapping[int, int],
) -> ComparedSums:
    """Compare the signs of two sums; ``counterparts`` maps query nodes to candidate nodes."""
    our_sum, their_sum = sums.ours, sums.theirs[0]
    agreeing = _agreeing_terms(query, candidate, sums, counterparts)
    theirs_with_ours = {one: term for term, others in agreeing.items() for one in others}
    sizes = len(query.operands[our_sum]), len(candidate.operands[their_sum])
    if sizes == (0, 0):  # a plus without terms, as in 0^+
        return ComparedSums(False, SumSigns(), SumSigns())
    all_agree = (len(agreeing), len(theirs_with_ours)) == sizes
    ours, theirs = query.plus_signs(our_sum), candidate.plus_signs(their_sum)
    # The terms that agree, and whether a plus before them is found even if the term is the first.
    our_terms = {
        term: all_agree or not theirs.keys().isdisjoint(met) for term, met in agreeing.items()
    }
    their_terms = {one: all_agree or term in ours for one, term in theirs_with_ours.items()}
    is_opposed = any(
        pair.ours not in agreeing and not query.is_negative(pair.ours) for pair in sums.operands
    )
    return ComparedSums(
        is_opposed,
        _signs(query, our_sum, ours, our_terms),
        _signs(candidate, their_sum, theirs, their_terms),
    )


def _agreeing_terms(
    query: PreparedFormula,
    candidate: PreparedFormula,
    sums: AlignedNodes,
    counterparts: Mapping[int, int],
) -> dict[int, tuple[int, ...]]:
    """Return the query terms with their aligned candidate terms, where the signs agree."""
    agreeing: dict[int, tuple[int, ...]] = {}
    our_others = dict.fromkeys(query.operands[sums.ours])
    their_others = dict.fromkeys(candidate.operands[sums.theirs[0]])
    for term, others, *_ in sums.operands:
        del our_others[term]
        for other in others:
            del their_others[other]
        # A part found unchanged includes its sign: a wildcard matched -b, or -1/2 equals 1/-2.
        is_found = counterparts.get(term) == others[0]
        if is_found or query.is_negative(term) == candidate.is_negative(others[0]):
            agreeing[term] = others
    # Terms with nothing in common may still have the same sign.
    ours = (term for term in our_others if not query.is_negative(term))
    theirs = (other for other in their_others if not candidate.is_negative(other))
    return agreeing | {term: (other,) for term, other in zip(ours, theirs, strict=False)}


def _signs(
    formula: PreparedFormula,
    place: int,
    pluses: Mapping[int, Sequence[tuple[Tree, Tree]]],
    agreeing: Mapping[int, bool],
) -> SumSigns:
    """Return the signs of a sum, given its agreeing terms."""
    first = min(agreeing, default=-1)
    found: set[int] = set()
    operands: list[tuple[Tree, bool]] = []
    for term in formula.operands[place]:
        # A plus joins a term to the terms before it, of which one must agree, too.
        has_plus = term in agreeing and (term > first or agreeing[term])
        for operator, operand in pluses.get(term, ()):
            if has_plus:
                found.add(id(operator))
            operands.append((operand, has_plus))
        if formula.is_negative(term):
            operands.append((formula.tree(formula.operands[term].start), term in agreeing))
    return SumSigns([one for one in formula.written[place] if id(one) not in found], operands)
