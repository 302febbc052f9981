"""Judgments by topic, and the lowest grade that counts as relevant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from mathsetu.errors import InputError
from mathsetu.records import Judgment


@dataclass(frozen=True, slots=True)
class Judgments:
    """Relevance judgments, by topic.

    >>> judged = Judgments.of([Judgment("A.1", "7", 3), Judgment("A.1", "9", 0)])
    >>> judged.grades["A.1"]["7"], judged.relevant_from
    (3, 2)

    ``left_out`` are judged topics that are not evaluated.
    """

    grades: Mapping[str, Mapping[str, int]]
    left_out: frozenset[str] = frozenset()

    @classmethod
    def of(cls, judgments: Iterable[Judgment]) -> Judgments:
        """Collect judgments; contradictory ones are refused, as trec_eval does."""
        grades: dict[str, dict[str, int]] = {}
        for judgment in judgments:
            topic = grades.setdefault(judgment.query_id, {})
            if topic.setdefault(judgment.id, judgment.grade) != judgment.grade:
                both = f"{topic[judgment.id]} and {judgment.grade}"
                raise InputError(
                    f"{judgment.id} is judged twice for {judgment.query_id}, {both}: keep one"
                )
        if not grades:
            raise InputError("there are no judgments")
        return cls(grades)

    @property
    def relevant_from(self) -> int:
        """The lowest relevant grade: 2 if grades go up to 3, as in ARQMath, else 1.

        >>> Judgments.of([Judgment("Q1", "7", 1)]).relevant_from
        1
        """
        highest = max(max(topic.values()) for topic in self.grades.values())
        return 2 if highest >= 3 else 1

    def answerable(self, relevant_from: int) -> Judgments:
        """Return only the topics with at least one relevant judgment.

        >>> judged = Judgments.of([Judgment("A.1", "7", 3), Judgment("A.2", "7", 1)])
        >>> list(judged.answerable(2).grades)
        ['A.1']
        """
        kept = {
            topic: grades
            for topic, grades in self.grades.items()
            if any(grade >= relevant_from for grade in grades.values())
        }
        if not kept:
            raise InputError(f"no topic has a judgment of {relevant_from} or more")
        return Judgments(kept, frozenset(self.grades.keys() - kept.keys()))
