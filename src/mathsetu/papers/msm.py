"""MIRMU and MSM (CLEF 2022): tables 2 and 3 and figure 2, on the posts at hand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from mathsetu.library import Library
from mathsetu.library.reproduction import JudgedTask, figures_of, fuse_members
from mathsetu.papers.context import Context
from mathsetu.papers.tables import Row, markdown
from mathsetu.ranking.fusion import RRF, fuse
from mathsetu.recipes import load_recipe
from mathsetu.recipes.published import edition_of, published_figures
from mathsetu.recipes.schema import Recipe
from mathsetu.records import Run

_EDITIONS = ("2020", "2021", "2022")
_YEARS = ("2020", "2021")
_MEASURES = "nDCG' MAP' P'@10"
# The rows of tables 2 and 3 that are one system: its name in the ensembles, and its recipe.
_SYSTEMS = {
    "msm-2": "msm-tfidf",
    "msm-3": "msm-bm25",
    "msm-4": "msm-sum",
    "msm-5": "msm-compubert",
    "mirmu-1": "mirmu-base",
    "mirmu-2": "mirmu-text",
    "mirmu-3": "mirmu-mathberta",
    "mirmu-4": "mirmu-tuned",
    "mirmu-5": "mirmu-tuned-mathberta",
    "fine-1": "mirmu-mathberta-fine",
    "fine-2": "msm-bm25-best",
    "fine-3": "mirmu",
    "fine-4": "mirmu-retriever",
}
_ENSEMBLES = ("msm-ensemble", *(f"msm-ens-{number}" for number in range(1, 23)))
# Figure 2 has its values in a drawing; these two are in table 3 as well.
_SWEPT = (1, 10, 20, 60, 100, 180, 300, 500, 1000)
_PRINTED = {60: "msm-ens-7", 180: "msm-ens-8"}

_INTRODUCTION = """## MIRMU and MSM

Geletka et al., *Diverse Semantics Representation is King: MIRMU and MSM at ARQMath 2022* (CLEF
2022). The paper heads its second column map'@10; here it is MAP', the lab's measure. Ours are
measured over {posts:,} answers instead of 1.4 million, {topics}: there is less to be found and less
to be mistaken for it, so that every figure is higher, and only the order of rows can be compared.
There are no topics or judgments of 2022 here. The command is `mathsetu reproduce RECIPE POSTS
TOPICS QRELS`, with `--set` for other models; `--all` lets each system answer once and fuses the
runs. Fusions that learn are cross-validated over the topics of both years.
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
        introduction = _INTRODUCTION.format(posts=len(library), topics=shown)
    stand_ins = context.stand_ins(_models())
    rows = [*_single_rows(context, runs, task), *_ensemble_rows(context, runs, task)]
    parts = [
        introduction.strip(),
        *([f"Models that stand in: {'; '.join(stand_ins)}."] if stand_ins else []),
        markdown(rows, _EDITIONS, _MEASURES),
        _sweep(context, runs, task),
    ]
    return "\n\n".join(parts)


def _ensemble_recipes() -> Iterator[Recipe]:
    return (load_recipe(name) for name in _ENSEMBLES)


def _models() -> list[str]:
    """The models that the systems name."""
    whole = _whole()
    named = [part.get("model") for part in whole.parts.values()]
    named += [system.rerank.model for system in whole.systems.values() if system.rerank]
    return [*dict.fromkeys(str(name) for name in named if name)]


@cache
def _whole() -> Recipe:
    """All systems of the paper as one recipe: those that were handed in, and the refined ones."""
    submitted, refined = load_recipe("msm-ens-7"), load_recipe("msm-ens-1")
    return replace(
        submitted,
        name="msm-every-system",
        description="All systems of the MIRMU and MSM paper",
        parts=submitted.parts | refined.parts,
        systems=submitted.systems | refined.systems,
    )


def every_system(context: Context) -> Recipe:
    """The systems of the paper whose models are there, as one recipe."""
    whole = _whole()
    kept = {name: system for name, system in whole.systems.items() if not missing(context, name)}
    needed = {part for system in kept.values() for part in system.weights}
    recipe = replace(
        whole,
        parts={name: part for name, part in whole.parts.items() if name in needed},
        systems=kept,
        ranking=replace(whole.ranking, weights=dict.fromkeys(kept, 1 / len(kept))),
    )
    return context.with_models(recipe)


def missing(context: Context, system: str) -> list[str]:
    """The models that a system needs and that are not there."""
    whole = _whole()
    own = whole.systems[system]
    named = [str(whole.parts[part].get("model", "")) for part in own.weights]
    named += [own.rerank.model] if own.rerank else []
    return [Path(model).name for model in named if model and not context.has(model)]


def _runs(context: Context, library: Library, recipe: Recipe, task: JudgedTask) -> dict[str, Run]:
    """The run of each system; systems that are the same here answer once."""
    runs: dict[str, Run] = {}
    answered: dict[str, Run] = {}
    for name, system in recipe.systems.items():
        # With models that stand in, two systems of the paper may be the same.
        parts = {part: recipe.parts[part] for part in system.weights}
        same = repr((sorted(map(repr, parts.values())), system))
        if same not in answered:
            context.say(f"asking {name}")
            member = library.with_recipe(recipe.member(name))
            answered[same] = member.run(task.queries, 1000, name=name)
        runs[name] = replace(answered[same], name=name)
    return runs


def _single_rows(context: Context, runs: Mapping[str, Run], task: JudgedTask) -> Iterator[Row]:
    for system, name in _SYSTEMS.items():
        lacking = missing(context, system)
        yield _row(name, runs.get(system), task, f"not run: no {', '.join(lacking)}")


def _ensemble_rows(context: Context, runs: Mapping[str, Run], task: JudgedTask) -> Iterator[Row]:
    for recipe in _ensemble_recipes():
        lacking = [name for name in recipe.members if name not in runs]
        if lacking:
            yield _row(recipe.name, None, task, f"not run: no {', '.join(lacking)}")
            continue
        context.say(f"fusing {recipe.name}")
        fused = fuse_members(recipe, [runs[name] for name in recipe.members], task)
        yield _row(recipe.name, fused.run, task, "")


def _row(name: str, run: Run | None, task: JudgedTask, lacking: str) -> Row:
    published = published_figures(name)
    where = published[0].source.partition(", table ")[2]
    recipe = load_recipe(name)
    paper = {
        edition: [one.value for one in published if one.edition == edition] for edition in _EDITIONS
    }
    ours: dict[str, list[float]] = {}
    for figure in figures_of(name, run, task) if run is not None else ():
        ours.setdefault(figure.edition.split()[-1], []).append(figure.ours)
    system = recipe.description.partition(": ")[2] or recipe.description
    difference = "fewer posts" if run is not None else lacking
    return Row(where, system, f"reproduce {name}", difference, paper, ours)


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
                "fewer posts" if k in _PRINTED else "drawn, not printed, in the paper",
                _printed(k),
                ours,
            )
        )
    best = {year: max(rows, key=lambda row: _first(row.ours.get(year, ()))) for year in _YEARS}
    found = ", ".join(f"{year} at {row.system}" for year, row in best.items())
    return (
        f"{title}\n\n{markdown(rows, _EDITIONS, 'nDCG' + chr(39))}\n\n"
        f"The best of these is in {found}; in the paper k = 180 is best in 2022."
    )


def _printed(k: int) -> dict[str, list[float]]:
    figures = published_figures(_PRINTED[k]) if k in _PRINTED else []
    return {one.edition: [one.value] for one in figures if str(one.measure) == "nDCG'"}


def _first(figures: Sequence[float | None]) -> float:
    return figures[0] or 0.0 if figures else 0.0
