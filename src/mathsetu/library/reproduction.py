"""Runs a recipe on a collection and compares its figures with those of its paper."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mathsetu.errors import InputError
from mathsetu.evaluation import Judgments, Measure, evaluate, parse_measures
from mathsetu.evaluation.measures import gain_notes
from mathsetu.intake.question import Question
from mathsetu.library.library import Library
from mathsetu.library.query_translation import check_translation
from mathsetu.models import folder_of, is_path
from mathsetu.printable import counted
from mathsetu.ranking.rerank import check_reranker
from mathsetu.recipes.learned import LearnedFusion
from mathsetu.recipes.published import EDITIONS, Published, edition_of, published_figures
from mathsetu.recipes.schema import Recipe
from mathsetu.records import Judgment, Query, Run
from mathsetu.retrieval.graph_search import SHIPPED

if TYPE_CHECKING:
    from mathsetu.ranking.fusion import Learned

#: How many posts are ranked where a recipe states no ``ranking.k``: the limit of ARQMath's runs.
DEPTH = 1000
_FOLDS = 5
# How the sources of CrossMath's figures begin: it ranks the judged posts, of all judged topics.
_CROSSMATH = "CrossMath"
# The ids of topics of ARQMath's task 2.
_FORMULA_TOPIC = re.compile(r"B\.[0-9]{1,4}")


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured figure, with the paper's figure if there is one.

    Attributes:
        edition: The lab and year; empty for topics of no known lab.
        language: The language of the topics.
        topics: The number of topics that were averaged.
        measure: The measure.
        ours: Our mean.
        paper: The paper's mean, if the paper reports it.
        source: Where the paper reports it.
    """

    edition: str
    language: str
    topics: int
    measure: str
    ours: float
    paper: float | None = None
    source: str = ""


@dataclass(frozen=True, slots=True)
class Reproduction:
    """Our figures beside those of the paper, if any, and all differences in data or models.

    Attributes:
        recipe: The name of the recipe.
        figures: The figures.
        differences: The differences, one line each.
        depth: The number of posts ranked for each topic; None if a pool was ranked.
        relevant_from: The lowest relevant grade.
        judgments: The judgments that were used.
        learned: A description of the learned fusion; empty if none was learned.
        fusion: The learned fusion method, fitted on all topics.
    """

    recipe: str
    figures: tuple[Figure, ...]
    differences: tuple[str, ...]
    depth: int | None
    relevant_from: int
    judgments: tuple[Judgment, ...]
    learned: str = ""
    fusion: Any = None


def reproduce(
    library: Library,
    shipped: Recipe,
    queries: Iterable[Query],
    judgments: Sequence[Judgment],
    *,
    depth: int = DEPTH,
    pool: bool = False,
    stored: LearnedFusion | None = None,
    left_out: Collection[str] | None = (),
) -> Reproduction:
    """Evaluate a library on judged topics.

    Judgments of posts that are not in the library are left out. Topics whose relevant posts are
    all missing are left out too, whether or not the judgments include the missing posts. A learned
    fusion is cross-validated: no topic is ranked by weights learned from its own judgments.

    Args:
        library: Built with the recipe, or with a recipe that differs in some settings.
        shipped: The recipe as shipped, for which the paper reports figures.
        queries: The topics.
        judgments: The judgments of posts for the topics.
        depth: The number of posts to rank for each topic.
        pool: Whether to rank only the judged posts of each topic, as CrossMath does: all of them
            that the recipe finds, at any depth.
        stored: A fusion that was learned before, instead of learning one here.
        left_out: The ids of posts that the recipe left out when the library was built; None if
            unknown.
    """
    task = JudgedTask.of(library, queries, judgments, pool, left_out)
    if task.pools is not None:
        depth = max(map(len, task.pools.values()))
    if stored is not None:
        library = library.with_recipe(stored.applied(library.recipe))
    run, learned, fusion = _answered(library, task, depth, settled=stored is not None)
    figures = figures_of(shipped.name, run, task)
    return Reproduction(
        shipped.name,
        tuple(figures),
        (
            *changed_settings(shipped, library.recipe),
            *(_own_models(library.recipe) if has_paper(shipped.name) else ()),
            *_protocol(shipped.name, pool, stored),
            *_unranked(run, task),
            *dict.fromkeys(_other_data(figures, len(library)) if has_paper(shipped.name) else ()),
            *_fewer_posts(library.recipe, left_out),
            *task.notes(),
        ),
        None if pool else depth,
        task.threshold,
        tuple(task.judgments),
        learned,
        fusion,
    )


def sweep(
    library: Library,
    shipped: Recipe,
    queries: Iterable[Query],
    judgments: Sequence[Judgment],
    constants: Sequence[float],
    depth: int = DEPTH,
) -> list[tuple[float, tuple[Figure, ...]]]:
    """Evaluate a reciprocal rank fusion for several constants k; the systems are run once.

    Args:
        library: As in `reproduce`, like the arguments up to ``judgments``.
        shipped: The recipe as shipped.
        queries: The topics.
        judgments: The judgments of posts for the topics.
        constants: The values of k.
        depth: The number of posts to rank for each topic.
    """
    from mathsetu.ranking.fusion import RRF, fuse

    if library.recipe.ranking.fuse.get("method") != "rrf":
        raise InputError(f"{library.recipe.name}: --sweep-k needs a recipe that fuses with rrf")
    task = JudgedTask.of(library, queries, judgments)
    runs = member_runs(library, task, depth)
    return [
        (k, tuple(figures_of(shipped.name, fuse(runs, RRF(k), depth), task))) for k in constants
    ]


@dataclass(frozen=True)
class JudgedTask:
    """Topics with judgments of posts in the library.

    Attributes:
        queries: The topics.
        judged: The judgments that are used.
        threshold: The lowest relevant grade.
        pools: The only posts to rank for each topic; None for all posts.
        unused: The number of judgments that are left out, by reason.
    """

    queries: list[Query]
    judged: Judgments
    threshold: int
    pools: Mapping[str, Collection[str]] | None
    unused: Mapping[str, int]

    @classmethod
    def of(
        cls,
        library: Library,
        queries: Iterable[Query],
        judgments: Sequence[Judgment],
        pool: bool = False,
        left_out: Collection[str] | None = (),
    ) -> JudgedTask:
        """Select the topics and judgments that the posts of a library can be evaluated on.

        Args:
            library: The library.
            queries: The topics.
            judgments: The judgments of posts for the topics.
            pool: Whether only judged posts are ranked.
            left_out: The ids of posts that the recipe left out; None if unknown.
        """
        every = Judgments.of(judgments)
        known = library.present({judgment.id for judgment in judgments})
        here = {
            topic: found
            for topic, grades in every.grades.items()
            if (found := {post: grade for post, grade in grades.items() if post in known})
        }
        queries = list(queries)
        if not here:
            check_posts_wanted(queries)
            raise InputError(
                "none of the judged posts is in the collection: posts and judgments must be of the "
                "same collection"
            )
        threshold = every.relevant_from
        had = every.answerable(threshold).grades
        # Topics that never had a relevant post are kept, because papers count them, too.
        asked = [
            query
            for query in queries
            if query.id in here
            and (max(here[query.id].values()) >= threshold or _lacks_relevant(query.id, had))
        ]
        if not asked:
            raise InputError(
                "none of the topics has a judgment of a post in the collection, or a relevant post "
                "in it: topics and judgments must be of the same edition"
            )
        judged = Judgments({query.id: here[query.id] for query in asked})
        others = here.keys() - judged.grades.keys()
        named = others & {query.id for query in queries}
        absent = _number(every.grades) - _number(here)
        short = sum(len(grades.keys() & set(left_out or ())) for grades in every.grades.values())
        unused = {
            "posts that the recipe leaves out": short,
            "posts that are not in the library": absent - short,
            "topics without a relevant post there": sum(len(here[topic]) for topic in named),
            "topics that were not asked": sum(len(here[topic]) for topic in others - named),
        }
        return cls(asked, judged, threshold, judged.grades if pool else None, unused)

    def notes(self) -> Iterator[str]:
        """Notes on judgments that are left out, and on topics without a relevant post."""
        unused = [f"{count:,} of {what}" for what, count in self.unused.items() if count]
        if unused:
            every = self.used + sum(self.unused.values())
            yield f"{self.used:,} of {every:,} judgments are used; left out: {', '.join(unused)}"
        grades = self.judged.grades.values()
        without_relevant = sum(max(topic.values()) < self.threshold for topic in grades)
        if without_relevant:
            topics = counted(without_relevant, "topic")
            yield f"counted without a relevant post in the judgments: {topics}"

    @property
    def used(self) -> int:
        """The number of judgments that are used."""
        return _number(self.judged.grades)

    @property
    def judgments(self) -> list[Judgment]:
        """The judgments that are used."""
        return [
            Judgment(topic, post_id, grade)
            for topic, grades in self.judged.grades.items()
            for post_id, grade in grades.items()
        ]


def _number(grades: Mapping[str, Collection[str]]) -> int:
    return sum(map(len, grades.values()))


def _lacks_relevant(topic: str, answerable: Collection[str]) -> bool:
    """Whether a topic never had a relevant post, as far as is known.

    The given judgments alone may not tell, because those of the relevant posts may be missing.

    Args:
        topic: The id of the topic.
        answerable: The topics that have a relevant post in the given judgments.

    >>> _lacks_relevant("A.3", ["A.1"]), _lacks_relevant("A.208", ["A.1"])
    (False, True)
    >>> _lacks_relevant("q_9", ["q_1"])
    True
    """
    edition = EDITIONS.get(edition_of(topic))
    if edition is None or edition.without_relevant is None:
        return topic not in answerable
    return topic in edition.without_relevant


def _answered(
    library: Library, task: JudgedTask, depth: int, settled: bool
) -> tuple[Run, str, Any]:
    """The run, a description of what was learned, and the method fitted on all topics."""
    recipe = library.recipe
    if settled or not learns(recipe):
        return library.run(task.queries, depth, pools=task.pools), "", None
    learned = fuse_members(recipe, member_runs(library, task, depth), task, depth)
    return learned.run, f"{', '.join(recipe.members)}: {learned.method}", learned.method


def learns(recipe: Recipe) -> bool:
    """Whether the fusion of a recipe is learned from judged topics."""
    from mathsetu.ranking.fusion import METHODS

    method = recipe.ranking.fuse.get("method", "")
    return bool(method and METHODS[method].learner and "coefficients" not in recipe.ranking.fuse)


def member_runs(library: Library, task: JudgedTask, depth: int = DEPTH) -> list[Run]:
    """The runs of the systems that a recipe fuses, with their names, to the depth it fuses."""
    recipe = library.recipe
    fused = max(depth, recipe.ranking.candidates)
    return [
        library.with_recipe(recipe.member(name)).run(
            task.queries, fused, name=name, pools=task.pools
        )
        for name in recipe.members
    ]


def fuse_members(
    recipe: Recipe, runs: Sequence[Run], task: JudgedTask, depth: int = DEPTH
) -> Learned:
    """Fuse the runs of a recipe's systems; a learned fusion is cross-validated."""
    from mathsetu.ranking.fusion import GOAL, Learned, fuse, fuse_learned, make_learner

    if not learns(recipe):
        method = recipe.fusion(recipe.ranking.weights)
        return Learned(fuse(runs, method, depth), method, 0.0, 0.0, 0)
    settings = dict(recipe.ranking.fuse)
    name = settings.pop("method")
    topics = len(task.queries)
    if topics < 2:
        raise InputError(f"{name} is learned from judged topics; give at least two")
    learner = make_learner(name, GOAL, **settings)
    return fuse_learned(
        runs, task.judgments, learner, measure=GOAL, folds=min(_FOLDS, topics), depth=depth
    )


def _protocol(name: str, pool: bool, stored: LearnedFusion | None) -> Iterator[str]:
    """The differences in the evaluation protocol."""
    every = published_figures(name)
    pooled = any(one.source.startswith(_CROSSMATH) for one in every)
    if pooled and not pool:
        yield "the whole collection was ranked; the paper ranks the judged posts alone (--pool)"
    if pool and not pooled:
        paper = "; the paper ranks the collection" if every else ""
        yield f"only the judged posts of each topic were ranked{paper}"
    if stored is not None:
        yield (
            f"what was learned comes from {stored.source}: topics that it was learned from are not "
            "held out"
        )
    yield from gain_notes(one.measure for one in every)


def _unranked(run: Run, task: JudgedTask) -> Iterator[str]:
    """A note on the posts of the pools that the recipe did not find, if any."""
    pooled = _number(task.pools or {})
    found = sum(len(run.rankings.get(topic, ())) for topic in task.pools or ())
    if found < pooled:
        yield (
            f"{pooled - found:,} of {pooled:,} judged posts were not found by the recipe (no score "
            "above 0), and are not ranked"
        )


def has_paper(name: str) -> bool:
    """Whether there are published figures of a recipe.

    >>> has_paper("msm-bm25"), has_paper("default")
    (True, False)
    """
    return bool(published_figures(name))


def figures_of(name: str, run: Run, task: JudgedTask) -> list[Figure]:
    """The figures of a run by edition and language, with those of the recipe's paper."""
    every = published_figures(name)
    groups: dict[tuple[str, str], list[str]] = {}
    for query in task.queries:
        groups.setdefault((edition_of(query.id), query.language or "en"), []).append(query.id)
    figures = []
    for (edition, language), topics in sorted(groups.items()):
        wanted = [one for one in every if (one.edition, one.language) == (edition, language)]
        measures = _measures(every, edition)
        found = evaluate(
            Run(name, {topic: run.rankings[topic] for topic in topics}),
            Judgments({topic: task.judged.grades[topic] for topic in topics}),
            measures,
            relevant_from=task.threshold,
        )
        papers = {one.measure: one for one in wanted}
        label = EDITIONS[edition].name if edition else ""
        for measure in measures:
            paper = papers.get(measure)
            figures.append(
                Figure(
                    label,
                    language,
                    len(topics),
                    str(measure),
                    found.mean(measure),
                    paper.value if paper else None,
                    paper.source if paper else "",
                )
            )
    return figures


def _measures(every: Sequence[Published], edition: str) -> tuple[Measure, ...]:
    """The measures of the paper, in its order; those of ARQMath if there is no paper."""
    own = dict.fromkeys(one.measure for one in every if one.edition == edition)
    return tuple(own or dict.fromkeys(one.measure for one in every)) or parse_measures(["arqmath"])


def changed_settings(shipped: Recipe, used: Recipe) -> list[str]:
    """The settings in which the used recipe differs from the shipped one.

    >>> from mathsetu.recipes import load_recipe
    >>> changed_settings(load_recipe("mirmu"), load_recipe("mirmu", ["parts.text.model=./other"]))
    ['parts.text.model is ./other, not sentence-transformers/all-MiniLM-L12-v2']
    >>> changed_settings(load_recipe("mirmu"), load_recipe("mirmu", ["parts.text.max_tokens=64"]))
    ['parts.text.max_tokens is 64; the recipe does not set it']
    """
    before, after = dict(_flat(asdict(shipped))), dict(_flat(asdict(used)))
    names = dict.fromkeys([*before, *after])
    return [
        f"{name} is {_shown(after.get(name))}, not {_shown(before[name])}"
        if name in before
        else f"{name} is {_shown(after[name])}; the recipe does not set it"
        for name in names
        if before.get(name) != after.get(name) and name != "description"
    ]


def _own_models(recipe: Recipe) -> Iterator[str]:
    """The models that come with the package where the paper has its own."""
    for name, part in recipe.parts.items():
        if part["kind"] == "graph" and part.get("model", SHIPPED) == SHIPPED:
            yield (
                f"parts.{name}.model is {SHIPPED}: our network, of another size and trained on "
                "other pairs, on graphs of terms instead of AMR (docs/mathamr.md)"
            )


def _flat(table: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{path}{name}.")
        else:
            yield f"{path}{name}", list(value) if isinstance(value, tuple) else value


def _shown(value: Any) -> str:
    return "nothing" if value in (None, "") else str(value)


def _other_data(figures: Sequence[Figure], posts: int) -> Iterator[str]:
    """The differences from the data of the paper."""
    by_name = {edition.name: edition for edition in EDITIONS.values()}
    for name, language in dict.fromkeys((one.edition, one.language) for one in figures):
        if not name:
            yield "topics of no lab: the paper has no figures for them"
            continue
        group = [one for one in figures if (one.edition, one.language) == (name, language)]
        if all(one.paper is None for one in group):
            # The paper did not use this edition, so there is no collection to compare with.
            yield f"topics of {name}, {language}: the paper has no figures for them"
            continue
        edition = by_name[name]
        if posts != edition.posts:
            yield f"{name}: {posts:,} posts were searched, not {edition.posts:,}"
        is_crossmath = any(one.source.startswith(_CROSSMATH) for one in group)
        topics = (is_crossmath and edition.with_additional) or edition.topics
        if group[0].topics != topics:
            yield f"{name}, {language}: {group[0].topics} topics were asked, not {topics}"


def _fewer_posts(recipe: Recipe, left_out: Collection[str] | None) -> Iterator[str]:
    """A note on the posts that the recipe leaves out of the collection."""
    selection = {name: value for name, value in asdict(recipe.posts).items() if value}
    settings = ", ".join(f"posts.{name} {_shown(value)}" for name, value in selection.items())
    if left_out is None and selection:
        yield f"the recipe leaves out some posts ({settings}), counted when the library is built"
    elif left_out:
        yield f"left out by the recipe: {counted(len(left_out), 'post')} ({settings})"


def check_posts_wanted(queries: Iterable[Query]) -> None:
    """Refuse topics of ARQMath task 2, whose judgments are of formulas instead of posts.

    >>> check_posts_wanted([Query("A.1", "Is $x$ even?")])
    """
    for query in queries:
        if query.formulas and _FORMULA_TOPIC.fullmatch(query.id):
            raise InputError(
                f"topics of ARQMath task 2 ({query.id} …) ask for formulas, and their judgments "
                "name visual ids; reproduce ranks posts (task 1). Measure formulas with 'mathsetu "
                "run LIBRARY TOPICS RUN --to arqmath-formula-run' and 'mathsetu evaluate QRELS RUN "
                "--visual-ids FILE' (docs/evaluate.md)"
            )


def check_models(recipe: Recipe, queries: Iterable[Query]) -> None:
    """Check that the reranker and the translator are available, before hours of indexing.

    Packages and programs are looked up and named models are fetched, but nothing is loaded.

    Args:
        recipe: The recipe, which names the translator and the reranker.
        queries: The queries: only those that must be translated need a translator.
    """
    rerankers = {"rerank": recipe.rerank}
    rerankers |= {f"systems.{name}.rerank": one.rerank for name, one in recipe.systems.items()}
    for place, one in rerankers.items():
        if one is not None:
            check_reranker(one, f"{place}.model")
    if recipe.query.model and is_path(recipe.query.model):
        folder_of(recipe.query.model, "query.model")
    check_translation([Question(query) for query in queries], recipe.query)


def same_recipe(folder: Path, recipe: Recipe) -> bool:
    """Whether a folder has a library that was built with a recipe."""
    try:
        with Library(folder) as library:
            return library.recipe == recipe
    except InputError:
        return False
