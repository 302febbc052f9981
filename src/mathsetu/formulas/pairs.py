"""Parses and matches two formulas in LaTeX, with a cache."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from mathsetu.formulas.matching import Match, match
from mathsetu.formulas.parse import Parsed, parse_once
from mathsetu.formulas.part_latex import name_text
from mathsetu.formulas.signs import matched_symbols


@dataclass(frozen=True, slots=True)
class MatchedPair:
    """A formula of a query, a formula of a post, and their match."""

    query: Parsed
    candidate: Parsed
    match: Match

    @property
    def substitution(self) -> dict[str, str]:
        r"""Letters of the query to letters of the candidate; with an index or accent as LaTeX.

        >>> match_latex("(a-b)^2", r"\sum(x_i-c)^2").substitution
        {'b': 'c', 'a': 'x_i'}
        """
        names = {
            name_text(ours, self.query.latex): name_text(theirs, self.candidate.latex)
            for ours, theirs in self.match.names
        }
        return {**self.match.substitution, **names}

    @property
    def query_symbols(self) -> frozenset[int]:
        """The numbers of the matched written symbols of the query."""
        found = self.match
        return matched_symbols(self.query, found.query_nodes, found.query_signs)

    @property
    def candidate_symbols(self) -> frozenset[int]:
        """The numbers of the matched written symbols of the candidate."""
        found = self.match
        return matched_symbols(self.candidate, found.candidate_nodes, found.candidate_signs)


@lru_cache(maxsize=2_048)
def match_latex(query: str, candidate: str) -> MatchedPair:
    """Parse two formulas and match them.

    The result is cached, because explaining a hit and showing it need the same pairs.

    >>> dict(match_latex("x^2", "t^2").match.substitution)
    {'x': 't'}
    """
    ours, theirs = parse_once(query), parse_once(candidate)
    return MatchedPair(ours, theirs, match(ours.opt, theirs.opt))
