"""The answer of a library to a query, and how its hits are arranged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from mathsetu.intake.question import Question
from mathsetu.printable import counted
from mathsetu.ranking.hybrid import preference
from mathsetu.recipes.schema import Recipe
from mathsetu.records import Hit, Post

#: Names in `Answer.unfinished`: the reasons of some hits, or the translation of the query.
REASONS, TRANSLATION = "reasons", "translation"
#: Likewise: the counts by language, tag and collection.
FACETS = "facets"


@dataclass(frozen=True)
class Answer:
    """The hits of a query.

    Attributes:
        question: The query as it was understood.
        hits: The hits, best first.
        posts: The posts of the hits and of their versions, by id.
        unfinished: Names of parts (or ``reasons``) that are missing because the time limit was
            reached or a cluster did not answer.
        missing: Those of ``unfinished`` for which a cluster did not answer, with the cause.
        is_close: Whether the best hit is close to the query; if not, the hits are only the nearest
            posts. Always true for a recipe without a calibration.
        offset: The number of hits that were skipped.
        total: How many posts were found; each version of a post in another language counts. Each
            part of a recipe returns a limited number of posts (``candidates``).
        is_total_exact: Whether no part reached that limit. Otherwise ``total`` is the number of
            posts that can be listed, and there may be more.
        facets: For each ``language``, ``tag`` and ``collection`` the number of posts found, the
            most frequent first; empty unless requested.
    """

    question: Question
    hits: tuple[Hit, ...]
    posts: Mapping[str, Post]
    unfinished: tuple[str, ...] = ()
    missing: Mapping[str, str] = field(default_factory=dict)
    is_close: bool = True
    offset: int = 0
    total: int = 0
    is_total_exact: bool = True
    facets: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    def __str__(self) -> str:
        """The hits as readable text, a few lines each."""
        found = f"{'' if self.is_total_exact else 'at least '}{counted(self.total, 'post')} found"
        hits = (f"{rank}. {hit}" for rank, hit in enumerate(self.hits, start=self.offset + 1))
        return "\n".join([found, *hits])


@dataclass(frozen=True)
class Presentation:
    """How hits are arranged for the user; evaluation runs use the defaults.

    Attributes:
        own_language: How much posts in the user's language are preferred (`PREFERENCES`).
        group: Whether versions of a post in several languages are one hit.
        offset: How many hits to skip.
        min_score: Leave out posts with a lower score.
        posts: Whether hits contain their posts.
    """

    own_language: float = 0.0
    group: bool = False
    offset: int = 0
    min_score: float | None = None
    posts: bool = False

    @classmethod
    def from_request(
        cls, recipe: Recipe, own_language: str | None, group: bool | None
    ) -> Presentation:
        """The requested settings, with those of the recipe as defaults."""
        choices = recipe.ranking
        return cls(
            preference(choices.own_language if own_language is None else own_language),
            choices.group if group is None else group,
        )
