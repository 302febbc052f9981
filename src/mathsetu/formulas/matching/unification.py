"""Which letter became which, and what each wildcard stands for.

One-to-one: a letter of the query stands for one letter of the candidate and the other way
round. The choice is made by vote: an alignment under the choices made so far says how often
each two letters meet, the most frequent meetings are fixed, and the alignment is made again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from mathsetu.formulas.matching.prepared import PreparedFormula

#: What a letter counts that had to be renamed; the same letter counts 1.
RENAMED = 0.8
# Small enough to decide between equals only.
_TIE = 0.01


class Unification:
    """The choices made so far for letters and wildcards."""

    def __init__(self, query: PreparedFormula, candidate: PreparedFormula) -> None:
        #: Letters of the query to letters of the candidate.
        self.letters: dict[str, str] = {}
        #: Wildcards to the key of the part that they stand for.
        self.bindings: dict[str, int] = {}
        self._taken: set[str] = set()
        self._our_contexts = query.contexts
        self._their_contexts = candidate.contexts
        self._affinities: dict[tuple[str, str], float] = {}

    @property
    def renames_nothing(self) -> bool:
        """Whether equal sub-trees are still equal under the choices made so far."""
        return all(ours == theirs for ours, theirs in self.letters.items())

    def worth(self, ours: str, theirs: str) -> float:
        """What two letters count when they meet: 0 when the choices made so far forbid it.

        Letters in like surroundings count a little more, so that they meet first.
        """
        if ours in self.letters:
            if self.letters[ours] != theirs:
                return 0.0
        elif theirs in self._taken:
            return 0.0
        return (1.0 if ours == theirs else RENAMED) + _TIE * self._affinity(ours, theirs)

    def _affinity(self, ours: str, theirs: str) -> float:
        """How alike the surroundings of two letters are, from 0 to 1."""
        known = self._affinities.get((ours, theirs))
        if known is None:
            known = _likeness(self._our_contexts[ours], self._their_contexts[theirs])
            self._affinities[ours, theirs] = known
        return known

    def allows(self, wildcard: str, key: int) -> bool:
        """Whether a wildcard may stand for the part with this key."""
        return self.bindings.get(wildcard, key) == key

    def choose_letters(self, meetings: Iterable[tuple[str, str]]) -> bool:
        """Fix the letters that meet most often; whether there was anything to fix."""
        votes: dict[tuple[str, str], float] = {}
        for ours, theirs in meetings:
            if ours not in self.letters and theirs not in self._taken:
                votes[ours, theirs] = votes.get((ours, theirs), 0.0) + self.worth(ours, theirs)
        before = len(self.letters)
        for ours, theirs in sorted(votes, key=votes.__getitem__, reverse=True):
            if ours not in self.letters and theirs not in self._taken:
                self.letters[ours] = theirs
                self._taken.add(theirs)
        return len(self.letters) > before

    def choose_bindings(self, meetings: Iterable[tuple[str, int, int]]) -> bool:
        """Fix what wildcards stand for: the part met most often, the largest among equals."""
        votes: dict[tuple[str, int], tuple[int, int]] = {}
        for wildcard, key, size in meetings:
            if wildcard not in self.bindings:
                votes[wildcard, key] = (votes.get((wildcard, key), (0, 0))[0] + 1, size)
        before = len(self.bindings)
        for wildcard, key in sorted(votes, key=votes.__getitem__, reverse=True):
            self.bindings.setdefault(wildcard, key)
        return len(self.bindings) > before


def _likeness(context: Mapping[int, int], other: Mapping[int, int]) -> float:
    shared = sum(min(count, other.get(key, 0)) for key, count in context.items())
    total = sum(context.values()) + sum(other.values())
    return 2 * shared / total if total else 1.0
