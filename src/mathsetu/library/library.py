"""A library opened for searching."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from copy import copy
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np

from mathsetu.deadline import Clock
from mathsetu.errors import DamagedLibrary, InputError
from mathsetu.intake.question import Question, topic_question, typed_question
from mathsetu.library.candidates import RecipeReply, chosen_weights
from mathsetu.library.manifest import check, read_manifest, segment_folder
from mathsetu.library.preparing import check_readable, prepare
from mathsetu.library.ranker import Ranker, Scope
from mathsetu.library.shelves import Filter, Shelves
from mathsetu.markup import snippet
from mathsetu.recipes import overridden
from mathsetu.recipes.parts import make_retriever
from mathsetu.recipes.schema import Recipe
from mathsetu.records import Hit, Post, Query, Reason, Run
from mathsetu.retrieval.base import FormulaFinder, Retriever

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mathsetu.retrieval.base import FormulaMatch

#: What an answer calls unfinished when the reasons of some hits are, or a query's translation.
REASONS, TRANSLATION = "reasons", "translation"
# A post asks for its like with its beginning: the rest would take long and add little.
_LIKENESS = 600
# Queries of a run that are asked together; more would take much memory.
_TOGETHER = 16
# Posts that are kept in memory as they were read.
_REMEMBERED = 1_000
# How often opening is tried again when a rebuild replaces the library at that moment.
_TRIES = 5


@dataclass(frozen=True)
class Answer:
    """The hits of a query.

    Attributes:
        question: The query as it was understood.
        hits: What was found, best first.
        posts: The posts of the hits, by their ids.
        unfinished: What a time limit cut off: names of parts, or ``reasons``.
    """

    question: Question
    hits: tuple[Hit, ...]
    posts: Mapping[str, Post]
    unfinished: tuple[str, ...] = ()


class Library:
    r"""Opens a library folder and answers queries.

    Example:
        >>> from mathsetu.collections import sampler
        >>> from mathsetu.library import build_library
        >>> from tempfile import mkdtemp
        >>> folder = Path(mkdtemp()) / "library"
        >>> integrals = [post for post in sampler.posts() if "integral" in post.id]
        >>> build_library(folder, integrals, "default", processes=1)
        >>> library = Library(folder)
        >>> library.search(r"समाकल $\int_0^\infty \frac{\sin x}{x}dx$ का मान", k=1)[0].id
        'dirichlet-integral.hr'
    """

    def __init__(self, folder: str | Path, settings: Iterable[str] = ()) -> None:
        """Open a library.

        Args:
            folder: Where it was built.
            settings: Settings of its recipe to search with instead (``rerank.model=FOLDER``).
        """
        self.folder = Path(folder)
        self._settings = tuple(settings)
        for attempt in range(_TRIES):
            self.manifest = read_manifest(self.folder)
            try:
                self._open()
                return
            except (InputError, OSError) as error:
                # A rebuild may have removed the old segments between two lines above.
                if attempt + 1 == _TRIES or read_manifest(self.folder) == self.manifest:
                    if isinstance(error, InputError):
                        raise
                    raise InputError(str(error)) from error

    def _open(self) -> None:
        check(self.folder, self.manifest)
        source = str(self.folder)
        self.recipe: Recipe = overridden(self.manifest.recipe, self._settings, source)
        folders = [segment_folder(self.folder, s.name) for s in self.manifest.segments]
        with ExitStack() as opened:
            self._shelves = Shelves(folders, self.manifest.segments)
            opened.callback(self._shelves.close)
            # Reading a post takes longer than finding it, and good posts are found again and again.
            self._post = lru_cache(_REMEMBERED)(self._shelves.post)
            self._parts: dict[str, Retriever] = {
                name: make_retriever(settings, [one / name for one in folders], f"parts.{name}")
                for name, settings in self.recipe.parts.items()
            }
            for name, part in self._parts.items():
                if part.posts != self._shelves.count:
                    raise DamagedLibrary(self.folder, f"its part {name!r} was built of other posts")
            opened.pop_all()

    def close(self) -> None:
        """Close the files; a library that is used in a ``with`` block closes itself."""
        self._post.cache_clear()
        self._shelves.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        """How many posts can be found."""
        return self.manifest.posts

    def search(
        self,
        query: str | Query,
        k: int | None = None,
        *,
        language: str = "",
        where: Filter | None = None,
        explain: bool = True,
    ) -> tuple[Hit, ...]:
        """The best posts for one query, with the reasons for each.

        Args:
            query: Words and formulas as people type them, or a query record, whose formulas
                stand between delimiters.
            k: How many hits; what the recipe says unless given.
            language: The language of the query; detected unless given.
            where: Which posts may be found.
            explain: Whether reasons are worked out.
        """
        [hits] = self._rankings(
            [self.question(query, language)],
            k,
            where,
            explain,
            chosen_weights(self.recipe),
            Clock(),
        )
        return hits

    def question(
        self,
        query: str | Query | Question,
        language: str = "",
        *,
        as_words: bool = False,
        page: str = "",
    ) -> Question:
        """A query as it is understood here, before anything is searched.

        Args:
            query: Text as it was typed, or a record; what is a question already stays as it is.
            language: The language of a text; detected unless given, with those of the posts in
                mind.
            as_words: Read as formulas only what stands between delimiters.
            page: The language of the page that it was typed into.
        """
        if isinstance(query, Question):
            return query
        if isinstance(query, Query):
            return topic_question(query, self.manifest.languages)
        languages = self.manifest.languages
        asked = typed_question(query, language, as_words=as_words, page=page, library=languages)
        check_readable(asked)
        return asked

    def answer(
        self,
        query: str | Query | Question,
        k: int | None = None,
        *,
        language: str = "",
        where: Filter | None = None,
        explain: bool = True,
        weights: Mapping[str, float] | None = None,
        seconds: float | None = None,
    ) -> Answer:
        """As `search`, for those who must not wait or want to weigh the parts themselves.

        Args:
            query: As in `search`, like all that follow up to ``explain``.
            k: How many hits.
            language: The language of the query.
            where: Which posts may be found.
            explain: Whether reasons are worked out.
            weights: What each part counts instead of what the recipe says; parts that are not
                named count nothing. Only proportions matter.
            seconds: The time it may take. Parts that are not done by then are left out and
                named in the answer.
        """
        question = self.question(query, language)
        clock = Clock(seconds)
        weighed = chosen_weights(self.recipe, weights)
        [hits] = self._rankings([question], k, where, explain, weighed, clock)
        posts = {hit.id: self.post(hit.id) for hit in hits}
        return Answer(question, hits, posts, clock.unfinished)

    def explain(
        self,
        query: str | Query | Question,
        post_id: str,
        *,
        language: str = "",
        weights: Mapping[str, float] | None = None,
    ) -> Hit:
        """One post as a hit of a query, whether a search would show it or not.

        The score is what it gets beside the posts that the query finds; 0 without any reason
        when nothing in it matches.
        """
        number = self._shelves.number_of(post_id)
        weighed = chosen_weights(self.recipe, weights)
        asked = prepare([self.question(query, language)], self.recipe.query)
        scope = Scope(1, self._shelves.present, Clock(), number)
        [reply] = self._ranker.rank(asked, scope, weighed)
        [places] = np.nonzero(reply.numbers == number)
        if not len(places):
            return Hit(post_id, 0.0, post_id)
        place = int(places[0])
        return Hit(post_id, float(reply.scores[place]), post_id, reply.reasons(place))

    def similar(self, post_id: str, k: int = 10, *, seconds: float | None = None) -> Answer:
        """The posts that are most like one post, which is itself not among them."""
        post = self.post(post_id)
        query = Query(post_id, snippet(post.body, _LIKENESS), post.title, post.tags, post.language)
        found = self.answer(Question(query), k + 1, explain=False, seconds=seconds)
        others = tuple(hit for hit in found.hits if hit.id != post_id)
        return replace(found, hits=others[:k])

    def run(
        self,
        queries: Iterable[Query],
        k: int | None = None,
        *,
        where: Filter | None = None,
        explain: bool = False,
        name: str = "",
    ) -> Run:
        """Answer many queries at once."""
        questions = [topic_question(query, self.manifest.languages) for query in queries]
        weights = chosen_weights(self.recipe)
        rankings: dict[str, tuple[Hit, ...]] = {}
        for start in range(0, len(questions), _TOGETHER):
            batch = questions[start : start + _TOGETHER]
            found = self._rankings(batch, k, where, explain, weights, Clock())
            ids = (question.query.id for question in batch)
            rankings.update(zip(ids, found, strict=True))
        return Run(name or self.recipe.name, rankings)

    def with_recipe(self, recipe: Recipe) -> Self:
        """This library as another recipe of the same parts searches it, such as a member's.

        It reads the files that are open here, and is of no use once this library is closed.
        """
        other = copy(self)
        other.recipe = recipe
        return other

    def _rankings(
        self,
        questions: Sequence[Question],
        k: int | None,
        where: Filter | None,
        explain: bool,
        weights: dict[str, float],
        clock: Clock,
    ) -> Iterator[tuple[Hit, ...]]:
        for question in questions:
            check_readable(question)
        if k is None:
            k = self.recipe.ranking.k
        if k < 1:
            raise InputError(f"k is {k}; it must be at least 1")
        work = partial(prepare, questions, self.recipe.query)
        asked = clock.attempt(TRANSLATION, work) or questions
        scope = Scope(k, self._shelves.allowed(where), clock)
        for reply in self._ranker.rank(asked, scope, weights):
            yield self._hits(reply, k, explain, clock)

    @property
    def _ranker(self) -> Ranker:
        return Ranker(self.recipe, self._parts, self._shelves.posts)

    def _hits(self, reply: RecipeReply, k: int, explain: bool, clock: Clock) -> tuple[Hit, ...]:
        numbers = reply.numbers[:k].tolist()
        ids = self._shelves.ids(numbers)
        hits = []
        for place, number in enumerate(numbers):
            reasons: tuple[Reason, ...] = ()
            if explain:
                work = partial(reply.reasons, place)
                reasons = clock.attempt(REASONS, work) or reply.shares(place)
            hits.append(Hit(ids[number], float(reply.scores[place]), ids[number], reasons))
        return tuple(hits)

    def formulas(self, latex: str, k: int = 10) -> list[FormulaMatch]:
        """The formulas of the library that are most like one formula."""
        return self._formula_index.formulas(latex, k)

    def posts_with(self, formula: FormulaMatch, limit: int) -> tuple[str, ...]:
        """The ids of the first posts that hold a formula which `formulas` found."""
        numbers = self._shelves.not_removed(self._formula_index.posts_with(formula.number))
        return tuple(self._shelves.ids(numbers[:limit].tolist()).values())

    @property
    def _formula_index(self) -> FormulaFinder:
        for retriever in self._parts.values():
            if retriever.formula_finder is not None:
                return retriever.formula_finder
        raise InputError(f"{self.folder}: the recipe {self.recipe.name} has no formula index")

    def heat_map(
        self, query: str | Query | Question, post_id: str, *, language: str = ""
    ) -> tuple[list[str], list[str], NDArray[np.float32]]:
        """The parts of a query, those of a post, and their cosines, from a graph index."""
        number = self._shelves.number_of(post_id)
        for retriever in self._parts.values():
            if retriever.heat_mapper is not None:
                return retriever.heat_mapper.table(self.question(query, language), number)
        raise InputError(f"the recipe {self.recipe.name} has no graph index")

    def tags(self, limit: int) -> dict[str, int]:
        """The most frequent tags and how many posts have each."""
        return self._shelves.tags(limit)

    def present(self, ids: Iterable[str]) -> set[str]:
        """Those of some ids that posts of the library have."""
        return {post_id for post_id in ids if post_id in self._shelves}

    def post(self, post_id: str) -> Post:
        """One post by its id."""
        return self._post(post_id)
