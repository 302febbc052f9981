"""The substitution of letters and the bindings of wildcards.

The substitution is one-to-one between letters of the query and letters of the candidate. It is
chosen by vote: an alignment under the choices so far counts how often two letters are aligned, the
most frequent pairs are fixed, and the alignment is computed again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from mathsetu.formulas.matching.prepared import PreparedFormula

#: The weight of a renamed letter; the same letter counts 1.
RENAMED = 0.8
# Small enough to break ties only.
_TIE = 0.01


class Unification:
    """The choices made so far for letters and wildcards."""

    def __init__(self, query: PreparedFormula, candidate: PreparedFormula) -> None:
        #: Letters of the query to letters of the candidate.
        self.letters: dict[str, str] = {}
        #: Wildcards to the key of the part bound to them.
        self.bindings: dict[str, int] = {}
        self._taken: set[str] = set()
        self._our_contexts = query.contexts
        self._their_contexts = candidate.contexts
        self._affinities: dict[tuple[str, str], float] = {}

    @property
    def renames_nothing(self) -> bool:
        """Whether no letter is renamed so far, so that equal sub-trees are still equal."""
        return all(ours == theirs for ours, theirs in self.letters.items())

    def worth(self, ours: str, theirs: str) -> float:
        """Return the weight of aligning two letters; 0 if the choices so far forbid it.

        Letters in similar contexts count a little more, so that they are aligned first.
        """
        if ours in self.letters:
            if self.letters[ours] != theirs:
                return 0.0
        elif theirs in self._taken:
            return 0.0
        return (1.0 if ours == theirs else RENAMED) + _TIE * self._affinity(ours, theirs)

    def _affinity(self, ours: str, theirs: str) -> float:
        """Return the similarity of the contexts of two letters, from 0 to 1."""
        known = self._affinities.get((ours, theirs))
        if known is None:
            known = _likeness(self._our_contexts[ours], self._their_contexts[theirs])
            self._affinities[ours, theirs] = known
        return known

    def allows(self, wildcard: str, key: int) -> bool:
        """Whether a wildcard may be bound to the part with this key."""
        return self.bindings.get(wildcard, key) == key

    def choose_letters(self, meetings: Iterable[tuple[str, str]]) -> bool:
        """Fix the pairs of letters aligned most often; return whether any pair was new."""
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
        """Bind wildcards to their most frequent (or largest) part; return whether any is new."""
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
