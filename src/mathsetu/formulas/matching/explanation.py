"""The result of matching two formulas: the score, the matched nodes, and the substitution."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from mathsetu.formulas.latex.symbols import ACCENTS
from mathsetu.formulas.matching.alignment import AlignedNodes
from mathsetu.formulas.matching.prepared import PLUS, PreparedFormula
from mathsetu.formulas.matching.sums import SumSigns, compare_sums
from mathsetu.formulas.matching.unification import RENAMED, Unification
from mathsetu.formulas.tree import Tree

# What makes a name of several letters: an index, and accents.
_JOINED_TO_LETTERS = {"O!SUB", *(f"F!{mark}" for mark, _ in ACCENTS.values())}
# Accents that say no more than what kind of thing a letter is: a vector, an operator, an estimate.
# A dot is a derivative, and a bar may be a conjugate, a mean or a closure.
_MARKS = {f"F!{ACCENTS[name][0]}" for name in (r"\hat", r"\tilde", r"\vec")}


@dataclass(frozen=True)
class Match:
    """How alike two formulas are, and why.

    Attributes:
        score: From 0 to 1, the same both ways (wildcards aside); 1 for formulas written alike.
        coverage: The share of the query that was found, whatever else the candidate holds.
        in_one_piece: Whether what was found of the query hangs together in the candidate as it does
            in the query, with nothing but the hat, tilde or arrow of a letter between an operator
            and its operands.
        query_nodes: The matched nodes of the query; a plus or minus is one only where the candidate
            has it as well.
        candidate_nodes: The matched nodes of the candidate.
        query_signs: Operands of the query's sums that have a plus or minus before them, and whether
            that was found, whatever was found of the operands.
        candidate_signs: The same of the candidate.
        substitution: The letters of the query and what they became: ``{"x": "t"}``.
        names: The same where one of two is a letter with an index or accent, place by place: a met
            no more than the x or the i of ``x_i``, but it is the whole name that it stands for.
        bindings: The wildcards of the query and the parts that they stand for, where what is around
            a wildcard was found as well: to say that the c of ``?c^2`` is D in ``D=x`` would be
            untrue.
    """

    score: float
    coverage: float
    in_one_piece: bool
    query_nodes: tuple[Tree, ...]
    candidate_nodes: tuple[Tree, ...]
    query_signs: tuple[tuple[Tree, bool], ...]
    candidate_signs: tuple[tuple[Tree, bool], ...]
    substitution: Mapping[str, str]
    names: tuple[tuple[Tree, Tree], ...]
    bindings: Mapping[str, Tree]


def explain(
    query: PreparedFormula,
    candidate: PreparedFormula,
    unification: Unification,
    pairs: Sequence[AlignedNodes],
) -> Match:
    """Sum up the aligned nodes that agree with the unification."""
    weight = 0.0
    absorbed = 0
    our_places: list[int] = []
    their_places: list[int] = []
    substitution: dict[str, str] = {}
    names: list[tuple[Tree, Tree]] = []
    parts_of_names: list[tuple[int, int, int, int]] = []
    renamed: dict[int, int] = {}
    taken: dict[int, Tree] = {}
    counterparts: dict[int, int] = {}
    for ours, theirs, whole, _ in sorted(pairs):
        letter, other = query.letters[ours], candidate.letters[theirs[0]]
        wildcard = query.wildcards[ours]
        mine, others = [ours], [theirs[0]]
        worth = 1.0
        if wildcard is not None:
            if unification.bindings.get(wildcard) != candidate.joined_key(theirs):
                continue
            taken[ours] = candidate.joined_tree(theirs)
            others = [inner for place in theirs for inner in candidate.below(place)]
            # A wildcard counts as one node, however much it stands for.
            absorbed += len(others) - 1
            weight -= len(others) - 1
        elif whole:
            mine, others = query.below(ours), candidate.below(theirs[0])
            inside = (query.letters[place] for place in mine)
            substitution.update((name, name) for name in inside if name is not None)
        elif letter is not None and other is not None:
            if unification.letters.get(letter) != other:
                continue
            our_name = _name_with(query, ours, our_places)
            their_name = _name_with(candidate, theirs[0], their_places)
            if letter != other and (our_name, their_name) != (ours, theirs[0]):
                parts_of_names.append((ours, theirs[0], our_name, their_name))
                continue
            _join(renamed, query.keys[our_name], candidate.keys[their_name])
            substitution[letter] = other
            worth = 1.0 if letter == other else RENAMED
        if (query.signs[ours] == ours) != (candidate.signs[theirs[0]] == theirs[0]):
            # With and without limits, it is the signs that are the same.
            mine += {query.signs[ours]} - {ours}
            others += {candidate.signs[theirs[0]]} - {theirs[0]}
        weight += worth * (len(mine) + len(others))
        counterparts[ours] = theirs[0]
        our_places += mine
        their_places += others
    our_shown, their_shown = list(our_places), list(their_places)
    for ours, place, our_name, their_name in parts_of_names:
        if _join(renamed, query.keys[our_name], candidate.keys[their_name]):
            weight += 2 * RENAMED
            counterparts[ours] = place
            our_places.append(ours)
            their_places.append(place)
            # The whole name is shown, of which a part was found.
            our_shown += query.below(our_name)
            their_shown += candidate.below(their_name)
            names.append((query.tree(our_name), candidate.tree(their_name)))
    sums = [
        compare_sums(query, candidate, pair, counterparts)
        for pair in pairs
        if query.labels[pair.ours] == candidate.labels[pair.theirs[0]] == PLUS and not pair.whole
    ]
    # A sum counts for the score as what is like a difference, but not as found in one.
    unfound = sum(one.is_opposed or bool(one.ours.unfound) for one in sums)
    found = {-1, *our_places}
    bindings = {
        str(query.wildcards[place]): tree
        for place, tree in taken.items()
        if query.parents[place] in found
    }
    return Match(
        score=weight / (query.sizes[0] + candidate.sizes[0] - absorbed),
        coverage=(len(our_places) - unfound) / query.sizes[0],
        in_one_piece=all(
            place == theirs or place in _above(candidate, theirs)
            for ours, theirs in counterparts.items()
            for place in [counterparts.get(query.parents[ours], theirs)]
        ),
        query_nodes=_written(query, our_shown, [one.ours for one in sums]),
        candidate_nodes=_written(candidate, their_shown, [one.theirs for one in sums]),
        query_signs=tuple(operand for one in sums for operand in one.ours.operands),
        candidate_signs=tuple(operand for one in sums for operand in one.theirs.operands),
        substitution=substitution,
        names=tuple(names),
        bindings=bindings,
    )


def _above(formula: PreparedFormula, place: int) -> list[int]:
    """The operator above a node; where that is the mark of a letter, the one above it as well."""
    place = formula.parents[place]
    operators = [place]
    while place >= 0 and formula.labels[place] in _MARKS and _is_name(formula, place):
        place = formula.parents[place]
        operators.append(place)
    return operators


def _join(renamed: dict[int, int], ours: int, theirs: int) -> bool:
    """Let a name stand for another, given by their keys; whether it does, one to one."""
    if ours not in renamed and theirs not in renamed.values():
        renamed[ours] = theirs
    return renamed.get(ours) == theirs


def _name_with(formula: PreparedFormula, place: int, found: Collection[int]) -> int:
    """The letter with an index or accent, not found itself, that a letter is a part of; or it."""
    name, place = place, formula.parents[place]
    while place >= 0 and place not in found:
        if _is_name(formula, place):
            name = place
        place = formula.parents[place]
    return name


def _is_name(formula: PreparedFormula, place: int) -> bool:
    """Whether a node is a letter with an index or accent."""
    if formula.labels[place] not in _JOINED_TO_LETTERS:
        return False
    while formula.labels[place] in _JOINED_TO_LETTERS and formula.operands[place]:
        place = formula.operands[place].start
    return not formula.operands[place]


def _written(
    tree: PreparedFormula, places: Iterable[int], sums: Iterable[SumSigns]
) -> tuple[Tree, ...]:
    left_out = {id(operator) for signs in sums for operator in signs.unfound}
    nodes = (node for place in sorted(set(places)) for node in tree.written[place])
    return tuple(node for node in nodes if id(node) not in left_out)
