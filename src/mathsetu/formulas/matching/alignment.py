"""The best alignment of two operator trees under a unification of letters and wildcards.

A table has, for each pair of nodes, the best score of aligning their sub-trees. Two nodes with the
same label can be aligned, and then their operands: in any order under a commutative operator,
position by position or in sequence under any other. Operators with the same sign can be aligned
although only one of them has limits: ∫ f dx is in every integral of f. Alternatively, one of the
two nodes is skipped and the alignment continues below it at a small discount. So a query matches a
part of the candidate, and the same part is found in different contexts. A wildcard matches any
sub-tree, or the operands of a sum or product that are not aligned otherwise. Below a minus, it
matches such terms of a sum with their signs reversed: ``a-b-c`` is ``a-?x`` where ?x is b+c.

The work is bounded: the table has one cell for each pair of nodes; if these are too many, the
lowest levels of the trees are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from mathsetu.formulas.labels import is_commutative
from mathsetu.formulas.matching.prepared import PLUS, PreparedFormula
from mathsetu.formulas.matching.unification import Unification

#: The factor on the score of an alignment for each skipped node.
DISCOUNT = 0.8
#: Maximum number of cells of a table.
CELLS = 20_000
# Small enough to break ties only: a wildcard prefers the largest part.
_TIE = 1e-6
# The sign of a derivative is not an exponent, and nothing that a wildcard may stand for.
_PRIME = "V!′"


class AlignedNodes(NamedTuple):
    """A node of the query and the nodes of the candidate aligned with it.

    ``theirs`` is one node, or several operands matched by a wildcard. ``whole`` means that the
    whole sub-trees are aligned; if not, ``operands`` has the pairs of their operands.
    """

    ours: int
    theirs: tuple[int, ...]
    whole: bool = False
    operands: tuple[AlignedNodes, ...] = ()


class Alignment:
    """The filled table, and the traceback from it to the aligned nodes."""

    def __init__(
        self,
        query: PreparedFormula,
        candidate: PreparedFormula,
        unification: Unification,
        *,
        equal_values: bool,
    ) -> None:
        self._query = query
        self._candidate = candidate
        self._unification = unification
        self._equal_values = equal_values
        self._equal_keys = unification.renames_nothing
        ours, theirs = _bounded(len(query.labels), len(candidate.labels))
        self._ours = [range(r.start, min(r.stop, ours)) for r in query.operands[:ours]]
        self._theirs = [range(r.start, min(r.stop, theirs)) for r in candidate.operands[:theirs]]
        self._table: list[list[float]] = [[]] * ours
        self._fill()

    def pairs(self) -> list[AlignedNodes]:
        """Return the aligned nodes of the best alignment, parents before their operands."""
        top = max(range(len(self._table)), key=lambda place: max(self._table[place]))
        row = self._table[top]
        return list(self._trace(top, row.index(max(row))))

    def _fill(self) -> None:
        table = self._table
        query, candidate = self._query, self._candidate
        places = range(len(self._theirs))
        same_label: dict[str, list[int]] = {}
        for place in places:
            for label in {candidate.labels[place], candidate.labels[candidate.signs[place]]}:
                same_label.setdefault(label, []).append(place)
        lettered = [place for place in places if candidate.letters[place] is not None]
        valued = [place for place in places if candidate.values[place] is not None]
        # Operands come after their operator, so a backward pass fills their cells first.
        inner = [(p, self._theirs[p]) for p in reversed(places) if self._theirs[p]]
        for ours in range(len(table) - 1, -1, -1):
            below = self._ours[ours]
            if below:
                rows = [table[operand] for operand in below]
                best = map(max, *rows) if len(rows) > 1 else rows[0]
                row = [DISCOUNT * score for score in best]
            else:
                row = [0.0] * len(places)
            others: Iterable[int] = same_label.get(query.labels[ours], ())
            if query.signs[ours] != ours:
                others = [*others, *same_label.get(query.labels[query.signs[ours]], ())]
            if query.letters[ours] is not None:
                others = lettered
            elif query.wildcards[ours] is not None:
                others = places
            elif query.values[ours] is not None and self._equal_values:
                others = [*others, *valued]
            # The 2 of n+2 must not be aligned with the 2 of n^2.
            if ours in query.terms and candidate.exponents:
                others = [theirs for theirs in others if theirs not in candidate.exponents]
            elif ours in query.exponents and candidate.terms:
                others = [theirs for theirs in others if theirs not in candidate.terms]
            for theirs in others:
                score = self._score(ours, theirs)
                if score > row[theirs]:
                    row[theirs] = score
            for theirs, operands in inner:
                score = DISCOUNT * max([row[operand] for operand in operands])
                if score > row[theirs]:
                    row[theirs] = score
            table[ours] = row

    def _score(self, ours: int, theirs: int) -> float:
        """Return the score of aligning two nodes and their sub-trees."""
        query, candidate = self._query, self._candidate
        label, other = query.labels[ours], candidate.labels[theirs]
        if query.letters[ours] is not None:
            names = query.names(ours, candidate, theirs)
            return 2 * self._unification.worth(*names) if names else 0.0
        if query.wildcards[ours] is not None:
            if other.startswith(_PRIME) or not self._unification.allows(
                label, candidate.keys[theirs]
            ):
                return 0.0
            return 2 + _TIE * candidate.sizes[theirs]
        if self._is_whole(ours, theirs):
            return query.sizes[ours] + candidate.sizes[theirs]
        if label != other and not self._have_same_sign(ours, theirs):
            return 0.0
        if not self._ours[ours] or not self._theirs[theirs]:
            return 2.0
        return 2.0 + self._assign(ours, theirs)[0]

    def _is_whole(self, ours: int, theirs: int) -> bool:
        """Whether two sub-trees are equal, or numbers of equal value."""
        query, candidate = self._query, self._candidate
        if self._equal_keys and query.keys[ours] == candidate.keys[theirs]:
            return True
        number = query.values[ours]
        return number is not None and self._equal_values and number == candidate.values[theirs]

    def _have_same_sign(self, ours: int, theirs: int) -> bool:
        """Whether two operators differ only in their limits; one of them may have none."""
        sign, other = self._query.signs[ours], self._candidate.signs[theirs]
        if (sign == ours and other == theirs) or not (self._ours[ours] and self._theirs[theirs]):
            return False
        return self._query.labels[sign] == self._candidate.labels[other]

    def _operands(self, ours: int, theirs: int) -> tuple[range, range]:
        """Return the operands of two nodes; if only one has limits, its operands without them."""
        mine, others = self._ours[ours], self._theirs[theirs]
        is_limited = self._query.signs[ours] != ours
        if is_limited != (self._candidate.signs[theirs] != theirs):
            return (mine[1:], others) if is_limited else (mine, others[1:])
        return mine, others

    def _assign(self, ours: int, theirs: int) -> tuple[float, list[AlignedNodes]]:
        """Return the score of the best pairs of operands, and the pairs."""
        if is_commutative(self._query.labels[ours]):
            return self._assign_freely(ours, theirs)
        table = self._table
        mine, others = self._operands(ours, theirs)
        if len(mine) == len(others):
            pairs = [AlignedNodes(a, (b,)) for a, b in zip(mine, others, strict=True)]
        else:
            pairs = self._in_sequence(mine, others)
        return sum(table[pair.ours][pair.theirs[0]] for pair in pairs), pairs

    def _assign_freely(self, ours: int, theirs: int) -> tuple[float, list[AlignedNodes]]:
        """Pair operands in any order, best pairs first; wildcards then take the rest."""
        wildcards: list[int] = []
        negated: list[int] = []
        cells: list[tuple[float, int, int]] = []
        others = self._theirs[theirs]
        for a in self._ours[ours]:
            if self._query.wildcards[a] is not None:
                wildcards.append(a)
                continue
            if self._query.labels[ours] == PLUS and self._is_negated_wildcard(a):
                negated.append(a)
                continue
            row = self._table[a]
            cells += [(-row[b], a, b) for b in others if row[b]]
        cells.sort(key=_by_neighbours(cells))
        total = 0.0
        used: set[int] = set()
        left = dict.fromkeys(others)
        pairs: list[AlignedNodes] = []
        for score, a, b in cells:
            if a not in used and b in left:
                used.add(a)
                del left[b]
                total -= score
                pairs.append(AlignedNodes(a, (b,)))
        # Last term first: a-b-c is ?x-?y where ?x is a-b and ?y is c.
        wildcards = [*reversed(negated), *wildcards]
        if wildcards and left:
            taken = self._take(wildcards, list(left))
            pairs += taken
            worth = dict.fromkeys(negated, 4)  # the minus counts, too
            total += sum(worth.get(pair.ours, 2) + _TIE * len(pair.theirs) for pair in taken)
        return total, pairs

    def _take(self, wildcards: list[int], left: list[int]) -> list[AlignedNodes]:
        """Assign one operand to each wildcard, and all remaining operands to the last one."""
        pairs: list[AlignedNodes] = []
        for number, wildcard in enumerate(wildcards):
            is_negated = self._query.wildcards[wildcard] is None
            able = left
            if is_negated:
                able = [b for b in reversed(left) if self._candidate.is_negative(b)]
            if number == len(wildcards) - 1 and len(left) > 1 and able:
                # A minus needs one term that has a minus; the others may have either sign.
                first = able[-1] if is_negated else left[0]
                everything = AlignedNodes(wildcard, (first, *(b for b in left if b != first)))
                if self._allows(everything):
                    pairs.append(everything)
                    break
            for b in able:
                if self._allows(AlignedNodes(wildcard, (b,))):
                    pairs.append(AlignedNodes(wildcard, (b,)))
                    left.remove(b)
                    break
        return pairs

    def _is_negated_wildcard(self, ours: int) -> bool:
        query = self._query
        return query.is_negative(ours) and query.wildcards[query.operands[ours].start] is not None

    def _allows(self, taken: AlignedNodes) -> bool:
        """Whether a wildcard, or the wildcard below a minus, may be bound to these operands."""
        wildcard, places = self._expand_binding(taken)[-1][:2]
        key = self._candidate.joined_key(places)
        return self._unification.allows(self._query.labels[wildcard], key)

    def _expand_binding(self, taken: AlignedNodes) -> list[AlignedNodes]:
        """Return the pair of a wildcard; for a minus above a wildcard, the pairs of both."""
        ours, (first, *others) = taken.ours, taken.theirs
        if self._query.wildcards[ours] is not None:
            return [taken]
        [wildcard], [operand] = self._query.operands[ours], self._candidate.operands[first]
        return [AlignedNodes(ours, (first,)), AlignedNodes(wildcard, (operand, *others))]

    def _in_sequence(self, mine: range, others: range) -> list[AlignedNodes]:
        """Return the best pairs that keep the order on both sides."""
        best = [[0.0] * (len(others) + 1) for _ in range(len(mine) + 1)]
        for i in range(len(mine) - 1, -1, -1):
            row = self._table[mine[i]]
            line, after = best[i], best[i + 1]
            for j in range(len(others) - 1, -1, -1):
                line[j] = max(after[j + 1] + row[others[j]], after[j], line[j + 1])
        pairs: list[AlignedNodes] = []
        i = j = 0
        while i < len(mine) and j < len(others):
            if best[i][j] == best[i + 1][j]:
                i += 1
            elif best[i][j] == best[i][j + 1]:
                j += 1
            else:
                pairs.append(AlignedNodes(mine[i], (others[j],)))
                i += 1
                j += 1
        return pairs

    def _trace(self, ours: int, theirs: int) -> Iterator[AlignedNodes]:
        """Trace the table back from a cell and yield the aligned nodes."""
        pending = [AlignedNodes(ours, (theirs,))]
        while pending:
            pair = pending.pop()
            ours, theirs = pair.ours, pair.theirs[0]
            if len(pair.theirs) > 1:
                yield from self._expand_binding(pair)
                continue
            score = self._table[ours][theirs]
            if not score:
                continue
            if score == self._score(ours, theirs):
                whole = self._query.letters[ours] is None and self._is_whole(ours, theirs)
                operands: list[AlignedNodes] = []
                if not whole and self._ours[ours] and self._theirs[theirs]:
                    operands = self._assign(ours, theirs)[1]
                yield AlignedNodes(ours, (theirs,), whole, tuple(operands))
                pending += reversed(operands)
                continue
            for operand in self._theirs[theirs]:
                if score == DISCOUNT * self._table[ours][operand]:
                    pending.append(AlignedNodes(ours, (operand,)))
                    break
            else:
                for operand in self._ours[ours]:
                    if score == DISCOUNT * self._table[operand][theirs]:
                        pending.append(AlignedNodes(operand, (theirs,)))
                        break


def _by_neighbours(
    cells: Iterable[tuple[float, int, int]],
) -> Callable[[tuple[float, int, int]], tuple[float, ...]]:
    """Return the sort key of cells: best first, then those whose neighbours are aligned, too.

    So the adjacent Δ and p are found for ``Δp`` in ``ΔxΔp``. Neighbours may be in reverse order.
    """
    forwards: dict[int, float] = {}
    backwards: dict[int, float] = {}
    for score, a, b in cells:
        forwards[b - a] = forwards.get(b - a, 0.0) + score
        backwards[b + a] = backwards.get(b + a, 0.0) + score

    def order(cell: tuple[float, int, int]) -> tuple[float, ...]:
        score, a, b = cell
        along = forwards[b - a]
        return score, min(along, backwards[b + a]), along, a, b

    return order


def _bounded(ours: int, theirs: int) -> tuple[int, int]:
    """Return how many nodes of each side fit into `CELLS`; the smaller side has priority."""
    if ours * theirs <= CELLS:
        return ours, theirs
    side = int(CELLS**0.5)
    if ours < side:
        return ours, CELLS // ours
    if theirs < side:
        return CELLS // theirs, theirs
    return side, side
