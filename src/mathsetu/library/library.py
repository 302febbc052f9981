"""A library opened for searching."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import partial
from itertools import chain, islice
from numbers import Integral, Real
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Self, TypeVar

import numpy as np

from mathsetu.deadline import Clock
from mathsetu.errors import InputError, Replaced, Unavailable
from mathsetu.intake.question import Question, topic_question, typed_question
from mathsetu.languages.table import existing_language, language_code
from mathsetu.languages.table import language as language_of
from mathsetu.library.backend import FolderBackend, View, open_backend
from mathsetu.library.candidates import RecipeReply, chosen_weights
from mathsetu.library.formula_instances import (
    FormulaInstance,
    distinct_instances,
    found_instances,
)
from mathsetu.library.manifest import Manifest
from mathsetu.library.query_translation import check_readable, prepare
from mathsetu.library.ranker import LANGUAGE, Ranker, Scope
from mathsetu.library.segmented_posts import COLLECTION, Filter
from mathsetu.markup import snippet
from mathsetu.printable import counted
from mathsetu.ranking.hybrid import preference
from mathsetu.recipes.schema import Recipe
from mathsetu.records import (
    Hit,
    Post,
    Query,
    Reason,
    Run,
    archives_of,
    shown,
    source_file,
    source_file_of,
)
from mathsetu.retrieval.base import FormulaFinder

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mathsetu.collections.tally import Tally
    from mathsetu.library.formula_instances import Context
    from mathsetu.retrieval.base import FormulaMatch, Retriever

Result = TypeVar("Result")

#: What an answer calls unfinished when the reasons of some hits are, or a query's translation.
REASONS, TRANSLATION = "reasons", "translation"
#: The same of counts by language, tag and collection.
FACETS = "facets"
# A post asks for its like with the beginnings of its question and its body: the rest would take
# long and add little.
_LIKENESS = 600
# Of so many formulas that are found for each that is wanted, some look the same.
_ALIKE = 10
# Queries of a run that are asked together; more would take much memory.
_TOGETHER = 16
# So many times as many posts as hits are wanted are looked at for versions in other languages.
_LANGUAGES = 7
# Ids that are looked through for a mistyped one, those of them that are compared letter by letter,
# and how long these may be: comparing takes time.
_LOOKED_THROUGH, _COMPARED, _LONGEST_COMPARED = 20_000, 4_000, 200


@dataclass(frozen=True)
class Answer:
    """The hits of a query.

    Attributes:
        question: The query as it was understood.
        hits: What was found, best first.
        posts: The posts of the hits, by their ids.
        unfinished: Names of parts (or ``reasons``) that are missing because the time limit was
            reached or a cluster did not answer.
        missing: Those of ``unfinished`` for which a cluster did not answer, with the cause.
        is_close: Whether the best hit is close to what was asked. Where it is not, the hits are
            merely the nearest there are. A recipe without a calibration cannot tell.
        offset: How many hits come before these.
        total: How many posts were found; each version of a post in another language counts. Each
            part of a recipe returns a limited number of posts (``candidates``).
        is_total_exact: Whether no part reached that limit. Otherwise ``total`` is how many posts
            can be listed, and there may be more.
        facets: How many of the posts that were found have each ``language``, ``tag`` and
            ``collection``, the most frequent first; empty unless asked for.
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
        """The hits for a person, a few lines each."""
        found = f"{'' if self.is_total_exact else 'at least '}{counted(self.total, 'post')} found"
        hits = (f"{rank}. {hit}" for rank, hit in enumerate(self.hits, start=self.offset + 1))
        return "\n".join([found, *hits])


@dataclass(frozen=True)
class Presentation:
    """How hits are arranged for whoever asks; runs for evaluation leave them as they are.

    Attributes:
        own_language: How much posts in the asker's language are preferred (`PREFERENCES`).
        group: Whether versions of a post in several languages are one hit.
        offset: How many hits to skip.
        min_score: Leave out posts with a lower score.
        posts: Whether hits carry their posts.
    """

    own_language: float = 0.0
    group: bool = False
    offset: int = 0
    min_score: float | None = None
    posts: bool = False

    @classmethod
    def wanted(cls, recipe: Recipe, own_language: str | None, group: bool | None) -> Presentation:
        """What is asked for, else what a recipe says."""
        choices = recipe.ranking
        return cls(
            preference(choices.own_language if own_language is None else own_language),
            choices.group if group is None else group,
        )


class Library:
    r"""Opens a library and answers queries.

    Example:
        >>> from mathsetu.collections import sampler
        >>> from mathsetu.library import build_library
        >>> from tempfile import mkdtemp
        >>> folder = Path(mkdtemp()) / "library"
        >>> integrals = [post for post in sampler.posts() if "integral" in post.id]
        >>> build_library(folder, integrals, "default", processes=1)
        >>> library = Library(folder)
        >>> library.search(r"समाकल $\int_0^\infty \frac{\sin x}{x}dx$ का मान", k=1)[0].id
        'dirichlet-integral.hi'
    """

    def __init__(self, place: str | Path, settings: Iterable[str] = ()) -> None:
        """Open a library.

        Args:
            place: The folder that it was built in, or its address on a cluster
                (``qdrant://HOST:PORT/NAME``).
            settings: Settings of its recipe to search with instead (``rerank.model=FOLDER``).
        """
        if not isinstance(place, str | Path):
            raise InputError(f"the library is {place!r:.60}; give a folder or an address")
        self.place = place
        self._backend = open_backend(place, settings)
        self._backend.now()
        self._other_recipe: Recipe | None = None

    @property
    def recipe(self) -> Recipe:
        """The recipe by which it is searched."""
        return self._recipe(self._backend.now())

    def _recipe(self, view: View) -> Recipe:
        return self._other_recipe or view.recipe

    def close(self) -> None:
        """Close the files; a library that is used in a ``with`` block closes itself."""
        self._backend.close()

    def refresh(self) -> bool:
        """Reload the library if its folder was changed; returns whether it was.

        Searches that are running in other threads finish with the posts they began with. A library
        on a cluster looks for changes by itself, about every second; this looks at once.
        """
        fresh = self._backend.refreshed()
        if fresh is None:
            return False
        # The old files are closed when the last search that reads them is done.
        self._backend = fresh
        return True

    def __repr__(self) -> str:
        view = self._backend.now()
        languages = ", ".join(sorted(filter(None, view.languages))) or "none known"
        recipe = self._recipe(view).name
        return (
            f"<Library {str(self.place)!r}: {counted(view.count, 'post')}, languages {languages}, "
            f"recipe {recipe}>"
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        """How many posts can be found."""
        return self._backend.now().count

    @property
    def languages(self) -> Mapping[str, int]:
        """How many posts there are of each language."""
        return self._backend.now().languages

    @property
    def folder(self) -> Path:
        """The folder of a library that has one."""
        self._check_folder()
        return Path(self.place)

    @property
    def manifest(self) -> Manifest:
        """What a library in a folder consists of."""
        return self._check_folder().manifest

    def _check_folder(self) -> FolderBackend:
        if not isinstance(self._backend, FolderBackend):
            raise InputError(f"{self.place}: is on a cluster; this needs a library in a folder")
        return self._backend

    @property
    def version(self) -> str:
        """Names what a library on a cluster holds now: it changes while it is open."""
        return self._backend.now().version

    def search(
        self,
        query: str | Query,
        k: int | None = None,
        *,
        language: str = "",
        where: Filter | None = None,
        explain: bool = True,
        own_language: str | None = None,
    ) -> tuple[Hit, ...]:
        """The best posts for one query, with the reasons for each.

        Args:
            query: Words and formulas as people type them, or a query record, whose formulas
                stand between delimiters.
            k: How many hits; what the recipe says unless given.
            language: The language of the query, its code or its name; detected unless given.
            where: Which posts may be found.
            explain: Whether to include the reasons.
            own_language: How much posts in the asker's language are preferred: ``off``, ``weak``,
                ``normal`` or ``strong``; what the recipe says unless given.
        """
        asked = [self._asked(query, language)]

        def work(view: View, clock: Clock) -> tuple[Hit, ...]:
            [hits] = self._batch(asked, k, where, explain, own_language, view, clock, posts=True)
            return hits

        return self._steadily(work)

    def _steadily(
        self, work: Callable[[View, Clock], Result], seconds: float | None = None
    ) -> Result:
        """What some work gives in one version of the library.

        A version on a cluster may be dropped when another one has taken its place for a while.
        Work that still reads it then begins again with the other one.

        Args:
            work: What is done.
            seconds: The time for it.
        """
        end = None if seconds is None else monotonic() + seconds
        may_begin_anew = True
        while True:
            left = None if end is None else end - monotonic()
            view = self._backend.now()
            try:
                return work(view, Clock(left, may_begin_anew=may_begin_anew))
            except Replaced:
                if not may_begin_anew:
                    raise
                may_begin_anew = self._backend.renew(view)

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
            language: The language of a text, its code or its name; detected unless given, with
                those of the posts in mind.
            as_words: Read only delimited text as formulas.
            page: The language of the page that it was typed into.
        """
        if isinstance(query, Question):
            return query
        if isinstance(query, Query):
            return topic_question(query, self.languages)
        check_type("the query", query, str, "a text or a Query")
        code, languages = _stated(language, language_code), self.languages
        if not query.strip():
            raise InputError("the query is empty")
        asked = typed_question(query, code, as_words=as_words, page=page, library=languages)
        check_readable(asked)
        return asked

    def _asked(self, query: str | Query | Question, language: str) -> Question:
        """As `question`, in a language that exists; servers take any code that posts may state."""
        return self.question(query, _stated(language, existing_language))

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
        own_language: str | None = None,
        group: bool | None = None,
        offset: int = 0,
        min_score: float | None = None,
        facets: bool = False,
    ) -> Answer:
        """Like `search`, with a time limit, weights of the parts, and more facts in the answer.

        Args:
            query: As in `search`, like all that follow up to ``explain``.
            k: How many hits.
            language: The language of the query.
            where: Which posts may be found.
            explain: Whether to include the reasons.
            weights: The weight of each part, instead of those of the recipe; parts that are not
                named have weight 0. Only the proportions matter.
            seconds: The time limit. Parts that have not finished by then are left out and named
                in the answer.
            own_language: As in `search`.
            group: Whether versions of a post in several languages are one hit, which names the
                others; what the recipe says unless given.
            offset: How many hits to skip. Answers with the same ``k`` are cut
                out of one list, which is as long as ``total`` says.
            min_score: Leave out posts with a lower score.
            facets: Whether posts that were found are counted by language, tag and collection.
        """
        question = self._asked(query, language)

        def work(view: View, clock: Clock) -> Answer:
            recipe = self._recipe(view)
            weighed = chosen_weights(recipe, weights)
            shown = replace(
                Presentation.wanted(recipe, own_language, group),
                offset=offset,
                min_score=min_score,
                posts=True,
            )
            [(hits, reply, is_exact)] = self._rankings(
                view, [question], k, where, explain, weighed, clock, shown
            )
            if not hits:
                # Nothing found, with a part away, is not an answer.
                _check_whole(clock)
            posts = {hit.id: hit.post for hit in hits if hit.post}
            posts |= view.stored_posts.named(other for hit in hits for other in hit.versions)
            counted: Mapping[str, Mapping[str, int]] | None = None
            if facets:
                count = partial(view.stored_posts.facets, reply.numbers.tolist())
                counted = clock.attempt(FACETS, count)
            return Answer(
                question,
                hits,
                posts,
                clock.unfinished,
                clock.unavailable,
                reply.is_close,
                offset=offset,
                total=len(reply.numbers),
                is_total_exact=is_exact and not clock.unfinished,
                facets=counted or {},
            )

        check_type("offset", offset, Integral, "an integer")
        if min_score is not None:
            check_type("min_score", min_score, Real, "a number")
        if weights is not None:
            check_type("weights", weights, Mapping, "a table such as {'words': 1}")

        return self._steadily(work, seconds)

    def explain(
        self,
        query: str | Query | Question,
        post_id: str,
        *,
        language: str = "",
        weights: Mapping[str, float] | None = None,
    ) -> Hit:
        """Explain how one post matches a query, even if a search would not return it.

        The score is the one that it has among the posts that the query finds; if nothing matches,
        it is 0 and there are no reasons.
        """
        question = self._asked(query, language)

        def work(view: View, clock: Clock) -> Hit:
            recipe = self._recipe(view)
            number = view.stored_posts.number_of(post_id)
            weighed = chosen_weights(recipe, weights)
            asked = prepare([question], recipe.query)
            parts, allowed = view.parts(None)
            scope = Scope(1, allowed, clock, number)
            [reply] = Ranker(recipe, parts, view.stored_posts).rank(asked, scope, weighed)
            _check_whole(clock)
            [places] = np.nonzero(reply.numbers == number)
            post = view.stored_posts.posts([number])[number]
            if not len(places):
                return Hit(post_id, 0.0, post_id, post=post)
            place = int(places[0])
            score = float(reply.scores[place])
            return Hit(post_id, score, post_id, reply.reasons(place, post), post=post)

        return self._steadily(work)

    def similar(self, post_id: str, k: int = 10, *, seconds: float | None = None) -> Answer:
        """The posts most similar to a post; the post itself is not among them.

        An answer is compared together with its question, as it is indexed.
        """
        check_type("k", k, Integral, "an integer")
        post = self.post(post_id)
        beginnings = (snippet(text, _LIKENESS) for text in (post.question, post.body))
        text = "\n\n".join(filter(None, beginnings))
        query = Query(post_id, text, post.title, post.tags, post.language)
        found = self.answer(
            Question(query), k + 1, explain=False, seconds=seconds, own_language="off", group=False
        )
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
        pools: Mapping[str, Collection[str]] | None = None,
    ) -> Run:
        """Answer many queries at once, for evaluation: no language is preferred.

        Args:
            queries: What is asked.
            k: How many hits for each; what the recipe says unless given, all of a pool.
            where: Which posts may be found.
            explain: Whether to include the reasons.
            name: The name of the run; the recipe's unless given.
            pools: For each query, by its id, the ids of the only posts that are ranked; queries
                without any get no hits.
        """
        questions = [topic_question(query, self.languages) for query in queries]
        if pools is not None:
            return Run(
                name or self.recipe.name,
                {
                    question.query.id: self._ranked_pool(
                        question, pools.get(question.query.id, ()), k, where, explain
                    )
                    for question in questions
                },
            )
        rankings: dict[str, tuple[Hit, ...]] = {}
        for start in range(0, len(questions), _TOGETHER):
            batch = questions[start : start + _TOGETHER]
            ids = (question.query.id for question in batch)
            found = self._steadily(partial(self._batch, batch, k, where, explain, "off"))
            rankings.update(zip(ids, found, strict=True))
        return Run(name or self.recipe.name, rankings)

    def _batch(
        self,
        questions: Sequence[Question],
        k: int | None,
        where: Filter | None,
        explain: bool,
        own_language: str | None,
        view: View,
        clock: Clock,
        *,
        posts: bool = False,
    ) -> list[tuple[Hit, ...]]:
        """The answers to questions that are asked together, none of which may miss a part."""
        recipe = self._recipe(view)
        weights = chosen_weights(recipe)
        shown = replace(Presentation.wanted(recipe, own_language, group=False), posts=posts)
        found = self._rankings(view, questions, k, where, explain, weights, clock, shown)
        hits = [own for own, _, _ in found]
        _check_whole(clock)
        return hits

    def _ranked_pool(
        self,
        question: Question,
        pool: Collection[str],
        k: int | None,
        where: Filter | None,
        explain: bool,
    ) -> tuple[Hit, ...]:
        """Some posts, ranked for one question; a reranker without slices reads all of them."""
        view = self._backend.now()
        if not isinstance(view, FolderBackend):
            raise InputError(
                f"{self.place}: is on a cluster; only a library in a folder can rank pools"
            )
        numbers = [
            view.stored_posts.number_of(post_id) for post_id in pool if post_id in view.stored_posts
        ]
        if not numbers:
            return ()
        within = np.zeros(view.stored_posts.count, dtype=np.bool_)
        within[numbers] = True
        recipe = self._recipe(view)
        if recipe.rerank is not None and not recipe.rerank.tiers:
            deep = replace(recipe.rerank, depth=max(recipe.rerank.depth, len(numbers)))
            recipe = replace(recipe, rerank=deep)
        weights, plain = chosen_weights(recipe), Presentation()
        [(hits, _, _)] = self.with_recipe(recipe)._rankings(
            view, [question], k or len(numbers), where, explain, weights, Clock(), plain, within
        )
        return hits

    def with_recipe(self, recipe: Recipe) -> Self:
        """This library as another recipe of the same parts searches it, such as a member's.

        It reads the files that are open here, and is of no use once this library is closed.
        """
        other = copy(self)
        other._other_recipe = recipe
        return other

    def _rankings(
        self,
        view: View,
        questions: Sequence[Question],
        k: int | None,
        where: Filter | None,
        explain: bool,
        weights: dict[str, float],
        clock: Clock,
        shown: Presentation,
        within: NDArray[np.bool_] | None = None,
    ) -> Iterator[tuple[tuple[Hit, ...], RecipeReply, bool]]:
        """The hits of each question, all that it finds, and whether there is no more than that."""
        for question in questions:
            check_readable(question)
        recipe = self._recipe(view)
        if where is not None:
            check_type("where", where, Filter, "a Filter")
        if k is None:
            k = recipe.ranking.k
        check_type("k", k, Integral, "an integer")
        if k < 1:
            raise InputError(f"k is {k}; it must be at least 1")
        if shown.offset < 0:
            raise InputError(f"offset is {shown.offset}; it must be at least 0")
        work = partial(prepare, questions, recipe.query)
        asked = clock.attempt(TRANSLATION, work) or questions
        parts, allowed = view.parts(where)
        if within is not None:
            allowed = within if allowed is None else allowed & within
        scope = Scope(k, allowed, clock)
        ranker = Ranker(recipe, parts, view.stored_posts)
        for question, reply in zip(questions, ranker.rank(asked, scope, weights), strict=True):
            is_exact = len(reply.numbers) < ranker.depth(k)
            own = language_of(question.asker).code if shown.own_language else ""
            if own in view.languages and len(view.languages) > 1 and len(reply.numbers):
                work_out = partial(
                    ranker.preferring,
                    reply,
                    own,
                    shown.own_language,
                    k,
                    is_filtered=within is not None or bool(where and where.conditions),
                )
                reply = clock.attempt(LANGUAGE, work_out) or reply
            if shown.min_score is not None:  # of the scores that are shown
                reply = reply.ordered(np.flatnonzero(reply.scores >= shown.min_score).tolist())
            end = shown.offset + k
            groups = _grouped(ranker, reply, end) if shown.group else _alone(reply, end)
            places = dict(groups[shown.offset : end])
            hits = self._hits(view, reply, places, explain, clock, shown.posts)
            yield hits, reply, is_exact

    @staticmethod
    def _hits(
        view: View,
        reply: RecipeReply,
        places: Mapping[int, Sequence[int]],
        explain: bool,
        clock: Clock,
        with_posts: bool,
    ) -> tuple[Hit, ...]:
        """Some posts as hits, by their places, each with those of all versions of it."""
        firsts = reply.numbers[list(places)].tolist()
        posts = view.stored_posts.posts(firsts) if with_posts or explain else {}
        numbers = reply.numbers[[one for group in places.values() for one in group]].tolist()
        ids = view.stored_posts.ids(numbers)
        hits = []
        for number, (place, group) in zip(firsts, places.items(), strict=True):
            reasons: tuple[Reason, ...] = reply.shares(place) if explain else ()
            if explain:
                work = partial(reply.reasons, place, posts[number])
                reasons = clock.attempt(REASONS, work) or reasons
            others = tuple(ids[int(reply.numbers[other])] for other in group[1:])
            score = float(reply.scores[place])
            post_id = ids[number]
            post = posts[number] if with_posts else None
            hits.append(Hit(post_id, score, post_id, reasons, others, post))
        return tuple(hits)

    def formulas(self, latex: str, k: int = 10) -> list[FormulaMatch]:
        """The formulas of the library that are most similar to a formula.

        Args:
            latex: The formula without delimiters, in LaTeX or as typed in a query (``sqrt(2)``).
            k: How many.
        """
        check_type("the formula", latex, str, "a text in LaTeX")
        if not latex.strip():
            raise InputError("the formula is empty")
        from mathsetu.intake.typed import formula_as_latex  # its tables, not at the start

        asked = formula_as_latex(latex)

        def work(view: View, clock: Clock) -> list[FormulaMatch]:
            finder, wanted = self._formulas_of(view), k
            _, allowed = view.parts(None)
            while True:
                found = finder.formulas(asked, wanted)
                if allowed is None:
                    return found
                # An index keeps the formulas of removed posts until segments are merged.
                there = [one for one in found if allowed[finder.posts_with(one.number)].any()]
                if len(there) >= k or len(found) < wanted:
                    return there[:k]
                wanted *= 2

        return self._steadily(work)

    def posts_with(self, formula: FormulaMatch, limit: int) -> tuple[str, ...]:
        """The ids of the first posts that hold a formula which `formulas` found.

        Answers hold the formulas of their questions, with which they are shown.
        """
        # Numbers are those of one version, so there is no beginning again.
        view = self._backend.now()
        stored_posts = view.stored_posts
        numbers = stored_posts.not_removed(self._formulas_of(view).posts_with(formula.number))
        first = numbers[:limit].tolist()
        ids = stored_posts.ids(first)
        return tuple(ids[number] for number in first)

    def formula_instances(
        self, query: Query, k: int = 1000, *, where: Filter | None = None, every: bool = False
    ) -> list[FormulaInstance]:
        """The formulas most like the one that a query names, by the ids of the collection.

        This is ARQMath's task 2. Of formulas that look the same the best one is given. The words
        around a formula count where a recipe says so (``ranking.formula_context``) and the topic
        has words; an index of meaning graphs reads them, too.

        Args:
            query: A topic; its formula is the one that it names, or the only one in its text.
            k: How many.
            where: In which posts formulas may be found.
            every: Give all occurrences, those that look the same as well.
        """
        question = topic_question(query, self.languages)
        check_readable(question)

        def work(view: View, clock: Clock) -> list[FormulaInstance]:
            parts, allowed = view.parts(where)
            finder = self._formulas_of(view)
            around = self._recipe(view).ranking.formula_context
            found = found_instances(
                finder,
                view.stored_posts,
                question,
                _ALIKE * k,
                allowed,
                every=every,
                context=_context(parts, around, question) if around else None,
            )
            return list(islice(found, k)) if every else distinct_instances(found, k)

        return self._steadily(work)

    def _formulas_of(self, view: View) -> FormulaFinder:
        for retriever in view.parts(None)[0].values():
            if retriever.formula_finder is not None:
                return retriever.formula_finder
        raise InputError(f"{self.place}: the recipe {self.recipe.name} has no formula index")

    def heat_map(
        self, query: str | Query | Question, post_id: str, *, language: str = ""
    ) -> tuple[list[str], list[str], NDArray[np.float32]]:
        """The parts of a query, those of a post, and their cosines, from a graph index."""
        view = self._backend.now()
        number = view.stored_posts.number_of(post_id)
        for retriever in view.parts(None)[0].values():
            if retriever.heat_mapper is not None:
                return retriever.heat_mapper.table(self._asked(query, language), number)
        raise InputError(f"the recipe {self.recipe.name} has no graph index")

    def tags(self, limit: int) -> dict[str, int]:
        """The most frequent tags and how many posts have each."""
        return self._steadily(lambda view, clock: view.stored_posts.tags(limit))

    def titles(self, limit: int) -> Iterator[tuple[int, str]]:
        """The numbers and titles of the first posts that have one; a cluster tells none."""
        return self._backend.now().stored_posts.titles(limit)

    def titles_of(self, numbers: Sequence[int]) -> list[str]:
        """The titles of posts by their numbers."""
        glances = self._backend.now().stored_posts.glances(numbers)
        return [glances[number].post.title for number in numbers]

    def has_words(self, terms: Iterable[str]) -> bool:
        """Whether a post has one of some analysed terms; true where nobody can tell."""
        from mathsetu.retrieval.lexical import LexicalRetriever  # a library opens without it

        wanted = list(terms)
        parts = self._backend.now().parts(None)[0].values()
        words = [part for part in parts if isinstance(part, LexicalRetriever)]
        return not words or any(part.has(wanted) for part in words)

    def present(self, ids: Iterable[str]) -> set[str]:
        """Those of some ids that posts of the library have."""
        asked = list(ids)
        return self._steadily(
            lambda view, clock: {one for one in asked if one in view.stored_posts}
        )

    def posts_named(self, names: Iterable[str]) -> dict[str, set[str]]:
        """The ids of the posts that names stand for; names that stand for none are left out.

        The id of a post stands for it, the name of a document for its sections, that of a table for
        its rows, that of an archive for the files in it.
        """
        asked = list(names)

        def work(view: View, clock: Clock) -> dict[str, set[str]]:
            stored = view.stored_posts
            found = {name: {name} for name in asked if name in stored}
            for name, numbers in stored.threads(asked).items():
                ids = set(stored.ids(list(numbers)).values())
                # What stands before the first heading of a file has the file's name for an id, as
                # a question may have the name of its thread: its answers are not meant, nor are
                # they when the question is no longer there.
                if name in found or not source_file(f"{name}#"):
                    ids = {one for one in ids if one.startswith(f"{name}#")}
                if ids:
                    found.setdefault(name, set()).update(ids)
            return found

        return self._steadily(work)

    def sizes_of_documents(self, names: Iterable[str]) -> dict[str, int]:
        """How many posts some documents, tables, archives or threads have, by its name."""
        asked = list(names)

        def work(view: View, clock: Clock) -> dict[str, int]:
            threads = view.stored_posts.threads(asked)
            return {name: len(posts) for name, posts in threads.items()}

        return self._steadily(work)

    def older_posts(self, tally: Tally) -> dict[str, int]:
        """How many posts of files that were added again are older, and were not replaced.

        Args:
            tally: What was added, counted by `Tally.came_from`.
        """
        sizes = self.sizes_of_documents(tally.source_files)
        older = {name: size - tally.posts_of_files[name] for name, size in sorted(sizes.items())}
        return {name: count for name, count in older.items() if count > 0}

    def files_below(self, prefix: str) -> list[str]:
        """The files, tables and archives that posts come from, if their names have a prefix.

        Those of removed posts may be among them. On a cluster there are none: to find them would
        take long.
        """
        names = self._steadily(lambda view, clock: view.stored_posts.threads_below(prefix))
        return [name for name in names if source_file(f"{name}#")]

    def has_collection(self, name: str) -> bool:
        """Whether there is a post in a collection."""
        return self._steadily(lambda view, clock: view.stored_posts.has_collection(name))

    def kept_collections(self, posts: Sequence[Post]) -> dict[str, str]:
        """The collections in which posts that are added and state none belong, by their ids.

        A post that is in the library stays in its collection. One that is new in a file belongs
        where most posts of that file are, or of its archive. Those of which the library knows
        nothing are left out.
        """
        files = {post.id: source_file_of(post) for post in posts if not post.collection}

        def work(view: View, clock: Clock) -> dict[str, str]:
            stored = view.stored_posts
            known = stored.collections(files)
            around = {
                one: [file, *archives_of(file)]
                for one, file in files.items()
                if file and one not in known
            }
            beside = {
                name: next(iter(stored.facets(list(numbers))[COLLECTION]), "")
                for name, numbers in stored.threads(chain(*around.values())).items()
            }
            for one, names in around.items():
                known[one] = next((beside[name] for name in names if name in beside), "")
            return {one: collection for one, collection in known.items() if collection}

        return self._steadily(work)

    def ids_like(
        self, name: str, limit: int = 3, *, but: Collection[str] = frozenset()
    ) -> list[str]:
        """Ids of posts that hold a mistyped one, or are nearly it; of a large library's first.

        Args:
            name: What was typed.
            limit: How many.
            but: Ids that cannot be meant.
        """

        def work(view: View, clock: Clock) -> list[str]:
            numbers = [number for number, _ in view.stored_posts.titles(_LOOKED_THROUGH)]
            every = [one for one in view.stored_posts.ids(numbers).values() if one not in but]
            holding = [one for one in every if name in one]
            if holding or len(name) > _LONGEST_COMPARED:
                return holding[:limit]
            short = (one for one in every if len(one) <= _LONGEST_COMPARED)
            return get_close_matches(name, list(islice(short, _COMPARED)), n=limit)

        return self._steadily(work)

    def post(self, post_id: str) -> Post:
        """One post by its id.

        An answer that has no title, question or tags of its own is given with those of the question
        that it belongs to (``parent_id``), if that is in the library; hits are, too.
        """
        check_type("the id", post_id, str, "a text")
        return self._steadily(lambda view, clock: view.stored_posts.post(post_id))


def _stated(language: str, code_of: Callable[[str], str]) -> str:
    """The code of the language that a caller states, if any."""
    check_type("language", language, str, "a code such as 'hi'")
    try:
        return code_of(language) if language else ""
    except InputError as error:
        raise InputError(f"language {language!r:.60}: {error}") from None


def _context(
    parts: Mapping[str, Retriever], weights: Mapping[str, float], question: Question
) -> Context | None:
    """What the text of posts has to do with a question, if that has words."""
    if not question.words.strip():
        return None
    replies = [(parts[name].ask([question])[0], weight) for name, weight in weights.items()]

    def said(numbers: NDArray[np.int64]) -> NDArray[np.float64]:
        scores = (weight * reply.scores(numbers).astype(np.float64) for reply, weight in replies)
        return sum(scores, start=np.zeros(len(numbers)))

    return said


def check_type(what: str, value: object, kind: type, wanted: str) -> None:
    """Refuse an argument of a wrong type.

    >>> check_type("k", "5", int, "an integer")
    Traceback (most recent call last):
    mathsetu.errors.InputError: k is '5' (str); give an integer
    """
    if not isinstance(value, kind) or isinstance(value, bool):
        raise InputError(f"{what} is {shown(value)}; give {wanted}")


def _alone(reply: RecipeReply, end: int) -> list[tuple[int, list[int]]]:
    """The first places, each by itself."""
    return [(place, [place]) for place in range(min(end, len(reply.numbers)))]


def _grouped(ranker: Ranker, reply: RecipeReply, end: int) -> list[tuple[int, list[int]]]:
    """The first places at which no version of an earlier post is, each with those of its versions.

    As many posts are looked at as it takes to have ``end`` of them. Whether a post is a version of
    another depends on earlier places alone, so that whoever looks further sees the same ones first.
    """
    depth = end * _LANGUAGES
    while True:
        groups: dict[int, list[int]] = {}
        for place, first in enumerate(ranker.versions(reply, depth)):
            groups.setdefault(first, []).append(place)
        if len(groups) >= end or depth >= len(reply.numbers):
            return list(groups.items())
        depth *= 2


def _check_whole(clock: Clock) -> None:
    """Refuse an answer that a part of a cluster is missing from."""
    for part, problem in clock.unavailable.items():
        raise Unavailable(f"{part} is missing from the answer: {problem}")
