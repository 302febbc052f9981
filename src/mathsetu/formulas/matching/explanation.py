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

# Operators that form one name with a letter: an index, and accents.
_JOINED_TO_LETTERS = {"O!SUB", *(f"F!{mark}" for mark, _ in ACCENTS.values())}
# Accents that only tell the kind of a letter: a vector, an operator, an estimate. A dot is a
# derivative, and a bar may be a conjugate, a mean or a closure.
_MARKS = {f"F!{ACCENTS[name][0]}" for name in (r"\hat", r"\tilde", r"\vec")}


@dataclass(frozen=True)
class Match:
    """The similarity of two formulas, and its explanation.

    Attributes:
        score: From 0 to 1, symmetric except for wildcards; 1 for formulas written alike.
        coverage: The share of the query that was found, whatever else the candidate contains.
        in_one_piece: Whether the found nodes of the query are connected in the candidate as in the
            query, with nothing but the hat, tilde or arrow of a letter between an operator and its
            operands.
        query_nodes: The matched nodes of the query; a plus or minus only if the candidate has it,
            too.
        candidate_nodes: The matched nodes of the candidate.
        query_signs: Operands of the query's sums with a plus or minus before them, and whether
            that sign was found, independently of the operand.
        candidate_signs: The same for the candidate.
        substitution: Letters of the query to letters of the candidate: ``{"x": "t"}``.
        names: The same for pairs where one is a letter with an index or accent, one pair per
            occurrence: a was aligned only with the x or the i of ``x_i``, but replaces the whole
            name.
        bindings: Wildcards of the query to the parts bound to them, only where the parent of the
            wildcard was found, too: ``D=x`` does not bind the ?c of ``?c^2`` to D.
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
    """Build the match from the aligned nodes that agree with the unification."""
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
        named = query.names(ours, candidate, theirs[0])
        wildcard = query.wildcards[ours]
        mine, others = [ours], [theirs[0]]
        worth = 1.0
        if wildcard is not None:
            if unification.bindings.get(wildcard) != candidate.joined_key(theirs):
                continue
            taken[ours] = candidate.joined_tree(theirs)
            others = [inner for place in theirs for inner in candidate.below(place)]
            # A wildcard counts as one node, whatever the size of its binding.
            absorbed += len(others) - 1
            weight -= len(others) - 1
        elif whole:
            mine, others = query.below(ours), candidate.below(theirs[0])
            inside = (query.letters[place] for place in mine)
            substitution.update((name, name) for name in inside if name is not None)
        elif named is not None:
            letter, other = named
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
        has_limits = query.signs[ours] != ours
        if wildcard is None and has_limits != (candidate.signs[theirs[0]] != theirs[0]):
            # Only one of the two operators has limits: it is their signs that match.
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
            counterparts[our_name] = their_name
            our_places.append(ours)
            their_places.append(place)
            # Only a part of the name was aligned, but the whole name is shown as matched.
            our_shown += query.below(our_name)
            their_shown += candidate.below(their_name)
            names.append((query.tree(our_name), candidate.tree(their_name)))
    sums = [
        compare_sums(query, candidate, pair, counterparts)
        for pair in pairs
        if query.labels[pair.ours] == candidate.labels[pair.theirs[0]] == PLUS and not pair.whole
    ]
    # A sum is similar to a difference for the score, but not found in it for the coverage.
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
    """Return the operator above a node and, while it is the mark of a letter, the next one above.

    A mark is a hat, tilde or arrow.
    """
    place = formula.parents[place]
    operators = [place]
    while place >= 0 and formula.labels[place] in _MARKS and _is_name(formula, place):
        place = formula.parents[place]
        operators.append(place)
    return operators


def _join(renamed: dict[int, int], ours: int, theirs: int) -> bool:
    """Map a name to another, both as keys, if that is one-to-one; return whether it is mapped."""
    if ours not in renamed and theirs not in renamed.values():
        renamed[ours] = theirs
    return renamed.get(ours) == theirs


def _name_with(formula: PreparedFormula, place: int, found: Collection[int]) -> int:
    """Return the largest name that contains a letter and was not itself found.

    A name is a letter with an index or accent. Without such a name, return the letter itself.
    """
    name, place = place, formula.parents[place]
    while place >= 0 and place not in found:
        if _is_name(formula, place):
            name = place
        place = formula.parents[place]
    return name


def _is_name(formula: PreparedFormula, place: int) -> bool:
    """Whether a node is a letter with an index or accent, not a sum with limits or an arrow."""
    is_joined = False
    while formula.labels[place] in _JOINED_TO_LETTERS and formula.operands[place]:
        if formula.labels[place] != "O!SUB" and len(formula.operands[place]) != 1:
            return False  # E → F
        is_joined = True
        place = formula.operands[place].start
    return is_joined and formula.labels[place].startswith("V!")


def _written(
    tree: PreparedFormula, places: Iterable[int], sums: Iterable[SumSigns]
) -> tuple[Tree, ...]:
    left_out = {id(operator) for signs in sums for operator in signs.unfound}
    nodes = (node for place in sorted(set(places)) for node in tree.written[place])
    return tuple(node for node in nodes if id(node) not in left_out)
