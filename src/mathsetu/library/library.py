"""A library opened for searching."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
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
from mathsetu.library.answer import FACETS, REASONS, TRANSLATION, Answer, Presentation
from mathsetu.library.backend import FolderBackend, View, open_backend
from mathsetu.library.candidates import RecipeReply, chosen_weights
from mathsetu.library.formula_instances import (
    FormulaInstance,
    distinct_instances,
    found_instances,
    grouped_matches,
)
from mathsetu.library.manifest import Manifest
from mathsetu.library.query_translation import check_readable, prepare
from mathsetu.library.ranker import Ranker, Scope
from mathsetu.library.segmented_posts import COLLECTION, Filter
from mathsetu.library.versions import LANGUAGE, Versions
from mathsetu.markup import snippet
from mathsetu.printable import counted
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
    from mathsetu.retrieval.base import FormulaMatch, HeatMapper, Retriever

Result = TypeVar("Result")

# Characters of the question and of the body of a post that form the query for similar posts:
# longer queries are slower and hardly better.
_SIMILAR_QUERY_LENGTH = 600
# Formulas retrieved per formula wanted, because many look the same.
_FORMULAS_PER_RESULT = 10
# Queries of a run per batch; larger batches take much memory.
_BATCH_SIZE = 16
# To correct a mistyped id: the number of ids searched, the number compared letter by letter, and
# the greatest length of these, since the comparison is slow.
_IDS_SEARCHED, _IDS_COMPARED, _LONGEST_COMPARED = 20_000, 4_000, 200


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
            place: The folder of the library, or its address on a cluster
                (``qdrant://HOST:PORT/NAME``).
            settings: Recipe settings that override those of the library
                (``rerank.model=FOLDER``).
        """
        if not isinstance(place, str | Path):
            raise InputError(f"the library is {place!r:.60}; give a folder or an address")
        self.place = place
        self._backend = open_backend(place, settings)
        self._backend.now()
        self._other_recipe: Recipe | None = None

    @property
    def recipe(self) -> Recipe:
        """The recipe to search with."""
        return self._recipe(self._backend.now())

    def _recipe(self, view: View) -> Recipe:
        return self._other_recipe or view.recipe

    def close(self) -> None:
        """Close the files; a library that is used in a ``with`` block closes itself."""
        self._backend.close()

    def refresh(self) -> bool:
        """Reload the library if its folder was changed; returns whether it was.

        Searches that run in other threads finish with the posts they began with. A library on a
        cluster checks for changes automatically, about once per second; this checks at once.
        """
        fresh = self._backend.refreshed()
        if fresh is None:
            return False
        # The old files are closed when the last search that reads them has finished.
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
        """The number of posts in each language."""
        return self._backend.now().languages

    @property
    def folder(self) -> Path:
        """The folder of the library; `InputError` for a library on a cluster."""
        self._check_folder()
        return Path(self.place)

    @property
    def manifest(self) -> Manifest:
        """The manifest of a library in a folder."""
        return self._check_folder().manifest

    def _check_folder(self) -> FolderBackend:
        if not isinstance(self._backend, FolderBackend):
            raise InputError(f"{self.place}: is on a cluster; this needs a library in a folder")
        return self._backend

    @property
    def version(self) -> str:
        """The version of a library on a cluster, which may change while it is open; else ""."""
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
                are between delimiters.
            k: The number of hits; by default that of the recipe.
            language: The language of the query, as a code or a name; detected unless given.
            where: A filter of the posts.
            explain: Whether to include the reasons.
            own_language: How much posts in the user's language are preferred: ``off``, ``weak``,
                ``normal`` or ``strong``; by default that of the recipe.
        """
        asked = [self._checked_question(query, language)]

        def work(view: View, clock: Clock) -> tuple[Hit, ...]:
            [hits] = self._batch(asked, k, where, explain, own_language, view, clock, posts=True)
            return hits

        return self._with_retry(work)

    def _with_retry(
        self, work: Callable[[View, Clock], Result], seconds: float | None = None
    ) -> Result:
        """Call a function with one version of the library; retry it if that version is dropped.

        A cluster drops a version some time after it was replaced. A function that still reads it
        is called again with the new version.

        Args:
            work: The function; it gets the view and a clock.
            seconds: The time limit; None for none.
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
        """Analyse a query without searching.

        Args:
            query: A typed text or a query record; a `Question` is returned unchanged.
            language: The language of a text, as a code or a name. By default it is detected; the
                languages of the posts count as more likely.
            as_words: Read only delimited text as formulas.
            page: The language of the page where the query was typed.
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

    def _checked_question(self, query: str | Query | Question, language: str) -> Question:
        """Like `question`, but refuse unknown languages (servers accept any code)."""
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
            query: As in `search`, like the arguments up to ``explain``.
            k: The number of hits.
            language: The language of the query.
            where: A filter of the posts.
            explain: Whether to include the reasons.
            weights: The weight of each part, instead of the recipe's weights; parts that are not
                named have weight 0. Only the proportions matter.
            seconds: The time limit. Parts that have not finished by then are left out and named
                in the answer.
            own_language: As in `search`.
            group: Whether versions of a post in several languages are one hit, which names the
                others; by default as in the recipe.
            offset: The number of hits to skip. Answers with the same ``k`` are pages of one list
                of ``total`` posts.
            min_score: Leave out posts with a lower score.
            facets: Whether to count the posts found by language, tag and collection.
        """
        question = self._checked_question(query, language)

        def work(view: View, clock: Clock) -> Answer:
            recipe = self._recipe(view)
            weighed = chosen_weights(recipe, weights)
            shown = replace(
                Presentation.from_request(recipe, own_language, group),
                offset=offset,
                min_score=min_score,
                posts=True,
            )
            [(hits, reply, is_exact)] = self._rankings(
                view, [question], k, where, explain, weighed, clock, shown
            )
            if not hits:
                # If a part was unavailable, an empty result is an error.
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
                reply.is_close and (len(reply.numbers) > 0 or min_score is not None),
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

        return self._with_retry(work, seconds)

    def explain(
        self,
        query: str | Query | Question,
        post_id: str,
        *,
        language: str = "",
        weights: Mapping[str, float] | None = None,
    ) -> Hit:
        """Explain how one post matches a query, even if a search would not return it.

        The score is computed as if the query had found the post. If nothing matches, the score is
        0 and there are no reasons.
        """
        question = self._checked_question(query, language)

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

        return self._with_retry(work)

    def similar(self, post_id: str, k: int = 10, *, seconds: float | None = None) -> Answer:
        """The posts most similar to a post, without the post itself; their hits have no reasons.

        An answer is compared together with its question, as it is indexed.
        """
        check_type("k", k, Integral, "an integer")
        post = self.post(post_id)
        beginnings = (snippet(text, _SIMILAR_QUERY_LENGTH) for text in (post.question, post.body))
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
        """Answer many queries for an evaluation; no language is preferred.

        Args:
            queries: The queries.
            k: The number of hits per query; by default that of the recipe, or the whole pool.
            where: A filter of the posts.
            explain: Whether to include the reasons.
            name: The name of the run; by default that of the recipe.
            pools: For each query id the ids of the posts to rank; only these are ranked, and
                queries without a pool get no hits.
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
        for start in range(0, len(questions), _BATCH_SIZE):
            batch = questions[start : start + _BATCH_SIZE]
            ids = (question.query.id for question in batch)
            found = self._with_retry(partial(self._batch, batch, k, where, explain, "off"))
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
        """The hits of a batch of questions; raises if a part is unavailable."""
        recipe = self._recipe(view)
        weights = chosen_weights(recipe)
        shown = replace(Presentation.from_request(recipe, own_language, group=False), posts=posts)
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
        """Rank the posts of a pool; a reranker without tiers reads all of them."""
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
        """This library, searched with another recipe of the same parts, such as a member's.

        It shares the open files and cannot be used after this library is closed.
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
        """For each question its hits, the full reply, and whether that reply is complete."""
        for question in questions:
            check_readable(question)
        recipe = self._recipe(view)
        if where is not None:
            check_type("where", where, Filter, "a Filter")
        if k is None:
            k = recipe.ranking.hits
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
        ranker, versions = Ranker(recipe, parts, view.stored_posts), Versions(view.stored_posts)
        for question, reply in zip(questions, ranker.rank(asked, scope, weights), strict=True):
            is_exact = len(reply.numbers) < ranker.depth(k)
            own = language_of(question.asker).code if shown.own_language else ""
            if own in view.languages and len(view.languages) > 1 and len(reply.numbers):
                compute = partial(
                    versions.prefer_language,
                    reply,
                    own,
                    shown.own_language,
                    k,
                    is_filtered=within is not None or bool(where and where.conditions),
                )
                reply = clock.attempt(LANGUAGE, compute) or reply
            if shown.min_score is not None:  # compared with the scores shown
                reply = reply.ordered(np.flatnonzero(reply.scores >= shown.min_score).tolist())
            end = shown.offset + k
            groups = versions.groups(reply, end) if shown.group else _alone(reply, end)
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
        """The posts at some places as hits; each place has the places of its versions."""
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

        Formulas that look the same, up to punctuation at their end, are one match.

        Args:
            latex: The formula without delimiters, in LaTeX or as typed in a query (``sqrt(2)``).
            k: The number of formulas.
        """
        check_type("the formula", latex, str, "a text in LaTeX")
        if not latex.strip():
            raise InputError("the formula is empty")
        from mathsetu.intake.typed import formula_as_latex  # loads large tables

        asked = formula_as_latex(latex)

        def work(view: View, clock: Clock) -> list[FormulaMatch]:
            finder, wanted = self._formulas_of(view), 2 * k
            _, allowed = view.parts(None)
            while True:
                found = there = finder.formulas(asked, wanted)
                if allowed is not None:
                    # An index keeps the formulas of removed posts until segments are merged.
                    there = [one for one in found if allowed[finder.posts_with(one.number)].any()]
                groups = grouped_matches(there)
                if len(groups) >= k or len(found) < wanted:
                    return groups[:k]
                wanted *= 2

        return self._with_retry(work)

    def posts_with(self, formula: FormulaMatch, limit: int) -> tuple[str, ...]:
        """The ids of the first posts that contain a formula found by `formulas`.

        Answers contain the formulas of their questions, with which they are shown.
        """
        # Formula numbers belong to one version, so this cannot be retried with another.
        view = self._backend.now()
        stored_posts = view.stored_posts
        finder = self._formulas_of(view)
        every = [finder.posts_with(one) for one in (formula.number, *formula.alike)]
        numbers = stored_posts.not_removed(np.unique(np.concatenate(every)))
        first = numbers[:limit].tolist()
        ids = stored_posts.ids(first)
        return tuple(ids[number] for number in first)

    def formula_instances(
        self, query: Query, k: int = 1000, *, where: Filter | None = None, every: bool = False
    ) -> list[FormulaInstance]:
        """The formulas most similar to that of a query, with the ids of the collection.

        This is ARQMath's task 2. Of formulas that look the same, only the best is returned. The
        text around a formula counts if the recipe says so (``ranking.formula_context``) and the
        topic has words; an index of meaning graphs reads it, too.

        Args:
            query: A topic; its formula is the one that it names, or the only one in its text.
            k: The number of formulas.
            where: A filter of the posts in which formulas are found.
            every: Return all occurrences, also those that look the same.
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
                _FORMULAS_PER_RESULT * k,
                allowed,
                every=every,
                context=_context(parts, around, question) if around else None,
            )
            return list(islice(found, k)) if every else distinct_instances(found, k)

        return self._with_retry(work)

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
        mapper = _heat_mapper(view)
        if mapper is None:
            raise InputError(f"the recipe {self.recipe.name} has no graph index")
        return mapper.table(self._checked_question(query, language), number)

    @property
    def has_heat_maps(self) -> bool:
        """Whether the library has a graph index, which `heat_map` needs."""
        return _heat_mapper(self._backend.now()) is not None

    def tags(self, limit: int) -> dict[str, int]:
        """The most frequent tags and how many posts have each."""
        return self._with_retry(lambda view, clock: view.stored_posts.tags(limit))

    def titles(self, limit: int) -> Iterator[tuple[int, str]]:
        """The numbers and titles of the first posts with a title; empty on a cluster."""
        return self._backend.now().stored_posts.titles(limit)

    def titles_of(self, numbers: Sequence[int]) -> list[str]:
        """The titles of posts by their numbers."""
        lazy_posts = self._backend.now().stored_posts.lazy_posts(numbers)
        return [lazy_posts[number].post.title for number in numbers]

    def has_words(self, terms: Iterable[str]) -> bool:
        """Whether any post contains one of the analysed terms; True without a lexical part."""
        from mathsetu.retrieval.lexical import LexicalRetriever  # not needed to open a library

        wanted = list(terms)
        parts = self._backend.now().parts(None)[0].values()
        words = [part for part in parts if isinstance(part, LexicalRetriever)]
        return not words or any(part.has(wanted) for part in words)

    def present(self, ids: Iterable[str]) -> set[str]:
        """The given ids that exist in the library."""
        asked = list(ids)
        return self._with_retry(
            lambda view, clock: {one for one in asked if one in view.stored_posts}
        )

    def posts_named(self, names: Iterable[str]) -> dict[str, set[str]]:
        """The ids of the posts that each name refers to; names without posts are left out.

        A name is the id of a post, or the name of a document (all its sections), of a table (all
        its rows) or of an archive (all its files).
        """
        asked = list(names)

        def work(view: View, clock: Clock) -> dict[str, set[str]]:
            stored = view.stored_posts
            found = {name: {name} for name in asked if name in stored}
            for name, numbers in stored.threads(asked).items():
                ids = set(stored.ids(list(numbers)).values())
                # The text before the first heading of a file has the name of the file as its id.
                # A question may likewise have the name of its thread as its id; the name does not
                # refer to its answers, not even after the question was removed.
                if name in found or not source_file(f"{name}#"):
                    ids = {one for one in ids if one.startswith(f"{name}#")}
                if ids:
                    found.setdefault(name, set()).update(ids)
            return found

        return self._with_retry(work)

    def sizes_of_documents(self, names: Iterable[str]) -> dict[str, int]:
        """The number of posts of each document, table, archive or thread, by name."""
        asked = list(names)

        def work(view: View, clock: Clock) -> dict[str, int]:
            threads = view.stored_posts.threads(asked)
            return {name: len(posts) for name, posts in threads.items()}

        return self._with_retry(work)

    def older_posts(self, tally: Tally) -> dict[str, int]:
        """For files that were added again, the number of older posts that were not replaced.

        Args:
            tally: The added posts, counted by `Tally.add_source`.
        """
        sizes = self.sizes_of_documents(tally.source_files)
        older = {name: size - tally.posts_of_files[name] for name, size in sorted(sizes.items())}
        return {name: count for name, count in older.items() if count > 0}

    def files_below(self, prefix: str) -> list[str]:
        """The names of source files, tables and archives that start with a prefix.

        Names from removed posts may be included. Empty on a cluster, where the search would be
        slow.
        """
        names = self._with_retry(lambda view, clock: view.stored_posts.threads_below(prefix))
        return [name for name in names if source_file(f"{name}#")]

    def has_collection(self, name: str) -> bool:
        """Whether a collection has any post."""
        return self._with_retry(lambda view, clock: view.stored_posts.has_collection(name))

    def ids_in_collection(self, name: str) -> list[str]:
        """The ids of all posts of a collection; the library is in a folder."""
        if not name:  # a filter without a name would select all posts
            return []
        posts = self._check_folder().stored_posts
        allowed = posts.allowed(Filter(collection=name))
        numbers = [] if allowed is None else np.flatnonzero(allowed).tolist()
        return list(posts.ids(numbers).values())

    def kept_collections(self, posts: Sequence[Post]) -> dict[str, str]:
        """The collections of added posts that do not name one, by post id.

        A post that is already in the library keeps its collection. A new post gets the most
        frequent collection of its file, or else of its archive. Posts for which the library has
        neither are left out.
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

        return self._with_retry(work)

    def ids_like(
        self, name: str, limit: int = 3, *, but: Collection[str] = frozenset()
    ) -> list[str]:
        """Ids that contain a mistyped id or resemble it, among the first posts of the library.

        Args:
            name: The mistyped id.
            limit: The number of ids.
            but: Ids to leave out.
        """

        def work(view: View, clock: Clock) -> list[str]:
            numbers = [number for number, _ in view.stored_posts.titles(_IDS_SEARCHED)]
            every = [one for one in view.stored_posts.ids(numbers).values() if one not in but]
            holding = [one for one in every if name in one]
            if holding or len(name) > _LONGEST_COMPARED:
                return holding[:limit]
            short = (one for one in every if len(one) <= _LONGEST_COMPARED)
            return get_close_matches(name, list(islice(short, _IDS_COMPARED)), n=limit)

        return self._with_retry(work)

    def post(self, post_id: str) -> Post:
        """One post by its id.

        An answer without title, question or tags gets those of its question (``parent_id``), if
        that is in the library. This also holds for hits.
        """
        check_type("the id", post_id, str, "a text")
        return self._with_retry(lambda view, clock: view.stored_posts.post(post_id))


def _heat_mapper(view: View) -> HeatMapper | None:
    """The first graph index among the parts, if any."""
    mappers = (part.heat_mapper for part in view.parts(None)[0].values())
    return next((mapper for mapper in mappers if mapper is not None), None)


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
    """A function that scores posts for the words of a question; None if it has no words."""
    if not question.words.strip():
        return None
    replies = [(parts[name].ask([question])[0], weight) for name, weight in weights.items()]

    def combined_scores(numbers: NDArray[np.int64]) -> NDArray[np.float64]:
        scores = (weight * reply.scores(numbers).astype(np.float64) for reply, weight in replies)
        return sum(scores, start=np.zeros(len(numbers)))

    return combined_scores


def check_type(what: str, value: object, kind: type, wanted: str) -> None:
    """Refuse an argument of the wrong type.

    >>> check_type("k", "5", int, "an integer")
    Traceback (most recent call last):
    mathsetu.errors.InputError: k is '5' (str); give an integer
    """
    if not isinstance(value, kind) or isinstance(value, bool):
        raise InputError(f"{what} is {shown(value)}; give {wanted}")


def _alone(reply: RecipeReply, end: int) -> list[tuple[int, list[int]]]:
    """The first places, each as a group of one."""
    return [(place, [place]) for place in range(min(end, len(reply.numbers)))]


def _check_whole(clock: Clock) -> None:
    """Raise `Unavailable` if a part of a cluster is missing from the answer."""
    for part, problem in clock.unavailable.items():
        raise Unavailable(f"{part} is missing from the answer: {problem}")
