"""MIRMU and MSM (CLEF 2022): tables 2 and 3 and figure 2, on the available posts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from mathsetu.library import Library
from mathsetu.library.reproduction import JudgedTask, figures_of, fuse_members
from mathsetu.papers.context import Context
from mathsetu.papers.tables import Row, figures_text, markdown
from mathsetu.ranking.fusion import RRF, fuse
from mathsetu.recipes import load_recipe
from mathsetu.recipes.published import edition_of, published_figures
from mathsetu.recipes.schema import Recipe
from mathsetu.records import Run

_EDITIONS = ("2020", "2021", "2022")
_YEARS = ("2020", "2021")
_MEASURES = "nDCG' MAP' P'@10"
# The rows of tables 2 and 3 for single systems: the name in the ensembles, the recipe, and the name
# in the paper.
_SYSTEMS = (
    ("msm-2", "msm-tfidf", "TF-IDF"),
    ("msm-3", "msm-bm25", "BM25+"),
    ("msm-4", "msm-sum", "TF-IDF + BM25+"),
    ("msm-5", "msm-compubert", "Compubert"),
    ("mirmu-1", "mirmu-base", "Base"),
    ("mirmu-2", "mirmu-text", "Trained only on text"),
    ("mirmu-3", "mirmu-mathberta", "MathBERTa ReRanker"),
    ("mirmu-4", "mirmu-tuned", "Retriever fine-tuned"),
    ("mirmu-5", "mirmu-tuned-mathberta", "MathBERTa ReRanker, Retriever fine-tuned"),
    ("fine-1", "mirmu-mathberta-fine", "MathBERTa ReRanker"),
    ("fine-2", "msm-bm25-best", "BM25+ best"),
    ("fine-3", "mirmu", "Improved Base"),
    ("fine-4", "mirmu-retriever", "Retriever only"),
)
_PRIMARY = "msm-ensemble"
_ENSEMBLES = tuple(f"msm-ens-{number}" for number in range(1, 23))
# Figure 2 is a plot; table 3 has the values for two of these k.
_SWEPT = (1, 10, 20, 60, 100, 180, 300, 500, 1000)
_PRINTED = {60: "msm-ens-7", 180: "msm-ens-8"}

_INTRODUCTION = """## MIRMU and MSM

Geletka et al., *Diverse Semantics Representation is King: MIRMU and MSM at ARQMath 2022* (CLEF
2022). The second column of the paper is labelled map'@10; here it is MAP', the lab's measure. Ours
are measured over {posts:,} answers instead of 1.4 million, {topics}: a smaller collection has fewer
distractors, so that nDCG' and MAP' are higher, and few relevant posts, so that P'@10 is at most
{ceilings}. Only the order of rows can be compared. Topics and judgments of 2022
were not available to us. The command is `mathsetu reproduce RECIPE POSTS TOPICS QRELS`, with
`--set` for other models; `--all` runs each system once and fuses the runs. Learned fusions are
cross-validated over the topics of both years.
"""


def section(context: Context) -> str:
    """The section of the page."""
    title = "## MIRMU and MSM\n\n"
    judgments = [
        one for y in _YEARS for one in context.judgments(f"arqmath/qrels-task1-{y}.official.txt")
    ]
    queries = [one for y in _YEARS for one in context.queries(f"arqmath/topics-task1-{y}.xml")]
    if not judgments or not queries:
        return f"{title}Not run: the topics or judgments (arqmath) are not in the data."
    recipe = every_system(context)
    with context.library(recipe) as library:
        task = JudgedTask.of(library, queries, judgments)
        runs = _runs(context, library, recipe, task)
        years = [edition_of(query.id) for query in task.queries]
        shown = " and ".join(f"{years.count(year)} topics of {year}" for year in _YEARS)
        introduction = _INTRODUCTION.format(
            posts=len(library), topics=shown, ceilings=_ceilings(task)
        )
    rows = [
        *_ensemble_rows(context, runs, task, [_PRIMARY]),
        *_single_rows(context, runs, task),
        *_ensemble_rows(context, runs, task, _ENSEMBLES),
    ]
    parts = [
        introduction.strip(),
        *_stand_ins(context, recipe),
        markdown(rows, _EDITIONS, _MEASURES),
        _sweep(context, runs, task),
    ]
    return "\n\n".join(parts)


def _ceilings(task: JudgedTask) -> str:
    """The P'@10 of a perfect ranking, by year."""
    found: defaultdict[str, list[float]] = defaultdict(list)
    for topic, grades in task.judged.grades.items():
        relevant = sum(grade >= task.threshold for grade in grades.values())
        found[edition_of(topic)].append(min(relevant, 10) / 10)
    means = {year: sum(values) / len(values) for year, values in sorted(found.items())}
    return " and ".join(f"{figures_text((best,))} ({year})" for year, best in means.items())


def _stand_ins(context: Context, recipe: Recipe) -> Iterator[str]:
    """List the replaced models, and the systems that are identical because of them."""
    found = context.stand_ins(_models())
    if not found:
        return
    alike: dict[str, list[str]] = {}
    for name, system in recipe.systems.items():
        alike.setdefault(repr(system), []).append(name)
    same = "; ".join(", ".join(names) for names in alike.values() if len(names) > 1)
    said = f" These systems are then identical: {same}." if same else ""
    yield f"Replaced models: {'; '.join(found)}.{said}"


def _models() -> list[str]:
    """The models that the systems name."""
    return [*dict.fromkeys(model for name in _whole().systems for model in _models_of(name))]


@cache
def _whole() -> Recipe:
    """All systems of the paper as one recipe: the submitted ones and the refined ones."""
    submitted, refined = load_recipe("msm-ens-7"), load_recipe("msm-ens-1")
    return replace(
        submitted,
        name="msm-every-system",
        description="All systems of the MIRMU and MSM paper",
        parts=submitted.parts | refined.parts,
        systems=submitted.systems | refined.systems,
    )


def every_system(context: Context) -> Recipe:
    """The systems of the paper whose models are available, as one recipe."""
    whole = _whole()
    kept = {name: system for name, system in whole.systems.items() if not missing(context, name)}
    needed = {part for system in kept.values() for part in system.weights}
    recipe = replace(
        whole,
        parts={name: part for name, part in whole.parts.items() if name in needed},
        systems=kept,
        ranking=replace(whole.ranking, weights=dict.fromkeys(kept, 1 / len(kept))),
    )
    return _each_part_once(context.with_models(recipe))


def _each_part_once(recipe: Recipe) -> Recipe:
    """Merge parts with the same settings, so that systems share them."""
    first: dict[str, str] = {}
    names = {name: first.setdefault(repr(part), name) for name, part in recipe.parts.items()}
    return replace(
        recipe,
        parts={name: recipe.parts[name] for name in first.values()},
        systems={
            name: replace(
                system, weights={names[part]: share for part, share in system.weights.items()}
            )
            for name, system in recipe.systems.items()
        },
    )


def missing(context: Context, system: str) -> list[str]:
    """The models that a system needs and that are not available."""
    return [Path(model).name for model in _models_of(system) if not context.has(model)]


def _models_of(system: str) -> list[str]:
    """The models that a system names."""
    whole = _whole()
    own = whole.systems[system]
    named = [str(whole.parts[part].get("model", "")) for part in own.weights]
    named += [own.rerank.model] if own.rerank else []
    return [model for model in named if model]


def _runs(context: Context, library: Library, recipe: Recipe, task: JudgedTask) -> dict[str, Run]:
    """The run of each system; identical systems are run only once."""
    runs: dict[str, Run] = {}
    answered: dict[str, Run] = {}
    for name, system in recipe.systems.items():
        same = repr(system)  # with replaced models, two systems of the paper may be identical
        if same not in answered:
            context.say(f"asking {name}")
            member = library.with_recipe(recipe.member(name))
            answered[same] = member.run(task.queries, 1000, name=name)
        runs[name] = replace(answered[same], name=name)
    return runs


def _single_rows(context: Context, runs: Mapping[str, Run], task: JudgedTask) -> Iterator[Row]:
    for system, name, label in _SYSTEMS:
        lacking = missing(context, system)
        why = f"not run: no {', '.join(lacking)}" if lacking else _difference(context, [system])
        yield _row(name, label, runs.get(system), task, why)


def _ensemble_rows(
    context: Context, runs: Mapping[str, Run], task: JudgedTask, names: Sequence[str]
) -> Iterator[Row]:
    for recipe in map(load_recipe, names):
        label = recipe.description.partition(": ")[2]
        lacking = [name for name in recipe.members if name not in runs]
        if lacking:
            yield _row(recipe.name, label, None, task, f"not run: no {', '.join(lacking)}")
            continue
        context.say(f"fusing {recipe.name}")
        fused = fuse_members(recipe, [runs[name] for name in recipe.members], task)
        yield _row(recipe.name, label, fused.run, task, _difference(context, recipe.members))


def _difference(context: Context, systems: Sequence[str]) -> str:
    others = any(context.stand_ins(_models_of(system)) for system in systems)
    return "fewer posts, other models" if others else "fewer posts"


def _row(name: str, label: str, run: Run | None, task: JudgedTask, why: str) -> Row:
    published = published_figures(name)
    where = published[0].source.partition(", table ")[2]
    paper = {
        edition: [one.value for one in published if one.edition == edition] for edition in _EDITIONS
    }
    ours: dict[str, list[float]] = {}
    for figure in figures_of(name, run, task) if run is not None else ():
        ours.setdefault(figure.edition.split()[-1], []).append(figure.ours)
    return Row(where, label, f"reproduce {name}", why, paper, ours)


def _sweep(context: Context, runs: Mapping[str, Run], task: JudgedTask) -> str:
    title = "### Figure 2: RRF of the nine submitted systems by k"
    members = load_recipe("msm-ens-7").members
    lacking = [name for name in members if name not in runs]
    if lacking:
        return f"{title}\n\nNot run: no {', '.join(lacking)}."
    rows = []
    for k in _SWEPT:
        context.say(f"fusing with k = {k}")
        run = fuse([runs[name] for name in members], RRF(k), 1000)
        ours = {f.edition.split()[-1]: [f.ours] for f in figures_of("msm-ens-7", run, task)
                if f.measure == "nDCG'"}  # fmt: skip
        rows.append(
            Row(
                "figure 2",
                f"k = {k}",
                f"reproduce msm-ens-7 --sweep-k {k}",
                _difference(context, members)
                + ("" if k in _PRINTED else "; the paper has its value in a plot only"),
                _printed(k),
                ours,
            )
        )
    best = {year: max(rows, key=lambda row: _first(row.ours.get(year, ()))) for year in _YEARS}
    found = ", ".join(f"{year} at {row.system}" for year, row in best.items())
    return (
        f"{title}\n\n{markdown(rows, _EDITIONS, 'nDCG' + chr(39))}\n\n"
        f"The best k: {found}; in the paper k = 180 is best in 2022."
    )


def _printed(k: int) -> dict[str, list[float]]:
    figures = published_figures(_PRINTED[k]) if k in _PRINTED else []
    return {one.edition: [one.value] for one in figures if str(one.measure) == "nDCG'"}


def _first(figures: Sequence[float | None]) -> float:
    return figures[0] or 0.0 if figures else 0.0
