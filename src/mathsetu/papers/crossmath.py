"""CrossMath (ICTIR 2024): the authors' runs evaluated again, and our pipeline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from mathsetu.collections.trec import read_run
from mathsetu.evaluation import Judgments, evaluate
from mathsetu.library import Library
from mathsetu.library.reproduction import JudgedTask
from mathsetu.papers.context import Context
from mathsetu.papers.tables import Row, equal, markdown
from mathsetu.recipes import load_recipe
from mathsetu.recipes.published import edition_of, published_figures
from mathsetu.recipes.schema import Preparation, Recipe
from mathsetu.records import Run

# The tables of the paper: number, language, and the code of its files.
_TABLES = ((1, "en", "eng_Latn"), (2, "hr", "hrv_Latn"), (3, "cs", "ces_Latn"),
           (4, "fa", "pes_Arab"), (5, "es", "spa_Latn"))  # fmt: skip
_LANGUAGES = {"en": "English", "hr": "Croatian", "cs": "Czech", "fa": "Persian", "es": "Spanish"}
# The rows of a table: recipe, the authors' name of the run, and a label.
_SYSTEMS = (
    ("crossmath-mbart-bi", "mbartbi", "mBART, bi-encoder"),
    ("crossmath-mbart-cross", "mbartcross", "mBART, cross-encoder"),
    ("crossmath-nllb-bi", "nllbbi", "NLLB, bi-encoder"),
    ("crossmath-nllb-cross", "nllbcross", "NLLB, cross-encoder"),
)
# For 2021, CrossMath also uses the additional topics.
_JUDGMENTS = {"2020": "qrels-task1-2020.official.txt", "2021": "qrels-task1-2021.all.txt"}
_EDITIONS = ("2020", "2021", "2022")
_ENCODER = "sentence-transformers/all-mpnet-base-v2"
_MEASURES = "nDCGmed'@10 P'@10"

_INTRODUCTION = """## CrossMath

*CrossMath: Towards Cross-lingual Math Information Retrieval* (ICTIR 2024). Its nDCG'@10 has the
gain max(grade - 1, 0) and is called nDCGmed'@10 here; topics of 2021 are all 89 that have
judgments. *Ours* are the runs that the authors published, measured by us (`mathsetu evaluate`).
Topics, judgments and runs of 2022 were not available to us.
"""
_FIGURE = (
    "Figure 3 (P'@10 by the difficulty of topics) is not reproduced: "
    "the labels are not in the data."
)


def section(context: Context) -> str:
    """The section of the page."""
    rows = list(_printed(context))
    parts = [_INTRODUCTION.strip(), markdown(rows, _EDITIONS, _MEASURES), _summary(rows), _FIGURE]
    return "\n\n".join([*parts, _pipeline(context)])


def _printed(context: Context) -> Iterator[Row]:
    for number, language, code in _TABLES:
        for recipe, name, label in _SYSTEMS:
            if language == "en":
                if not name.startswith("nllb"):
                    continue  # English queries are not translated: one row for both
                label = label.partition(", ")[2]
            paper = {
                edition: [
                    one.value
                    for one in published_figures(recipe)
                    if (one.edition, one.language) == (edition, language)
                ]
                for edition in _EDITIONS
            }
            ours = {}
            for year in _JUDGMENTS:
                found = _measured(context, f"{name}.{code}.{year}", year)
                if found:
                    ours[year] = found
            yield Row(
                f"{number}, {_LANGUAGES[language]}",
                label,
                f"evaluate QRELS {name}.{code}.YEAR.tsv.gz -m crossmath",
                _word(paper, ours),
                paper,
                ours,
            )


def _word(paper: dict[str, list[float]], ours: dict[str, list[float]]) -> str:
    if not ours:
        return "the run is not in the data"
    total = sum(map(len, ours.values()))
    same = sum(equal(paper[year], found) for year, found in ours.items())
    return "equal" if same == total else f"{same} of {total} equal: not the run that was printed"


def _measured(context: Context, name: str, year: str) -> list[float]:
    """The figures of a run that the authors published."""
    path = context.file(f"crossmath/runs/{name}.tsv.gz", f"crossmath/runs/{name}.tsv")
    judgments = context.judgments(f"arqmath/{_JUDGMENTS[year]}")
    if path is None or not judgments:
        return []
    context.say(f"measuring {name}")
    return _figures(read_run(path), Judgments.of(judgments))


def _figures(run: Run, judged: Judgments, threshold: int | None = None) -> list[float]:
    measures = [one.measure for one in published_figures("crossmath-nllb-bi")[:2]]
    found = evaluate(run, judged, measures, relevant_from=threshold)
    return [found.mean(measure) for measure in measures]


def _summary(rows: Sequence[Row]) -> str:
    def count(wanted: Sequence[Row]) -> str:
        pairs = [(row.paper[year], row.ours[year]) for row in wanted for year in row.ours]
        same = sum(equal(paper, ours) for paper, ours in pairs)
        near = sum(_count_equal(paper, ours) for paper, ours in pairs)
        total = sum(len(ours) for _, ours in pairs)
        return f"{same} of {total}" + (f" ({near} within .001)" if near > same else "")

    czech = [row for row in rows if row.place.startswith("3")]
    others = [row for row in rows if row not in czech]
    if not any(row.ours for row in rows):
        return "The authors' runs are not in the data."
    return (
        f"Equal in all three digits: {count(others)} figures of tables 1, 2, 4 and 5, "
        f"{count(czech)} of table 3. The published Czech runs are close to the printed "
        "figures, but are not those of the paper."
    )


def _count_equal(paper: Sequence[float | None], ours: Sequence[float | None]) -> int:
    """How many figures differ from the printed ones by less than 0.001."""
    return sum(
        abs((one or 0) - (other or 0)) < 0.001 for one, other in zip(paper, ours, strict=True)
    )


# Our pipeline


_OURS = """### The pipeline on the available posts

`crossmath-nllb-bi` with {encoder} over the {posts:,} available answers, answers alone, the judged
posts of each topic ranked (`--pool`). *nllbbi* and *mbartbi* are the authors' runs restricted to
the same posts. There are few judged posts ({depth:.0f} per topic on average), so every figure is
higher than in the paper; {topics}. NLLB, mBART and the cross-encoder qnli-distilroberta-base were
not available: their rows were not run, and the recipes are tested with small models of the same
architectures.
"""
_COMMAND = (
    "reproduce crossmath-nllb-bi POSTS {code}.tsv QRELS --pool --set query.backend={backend} "
    "--set query.model="
)


def _pipeline(context: Context) -> str:
    title = "### The pipeline on the available posts\n\n"
    if not context.has(_ENCODER):
        command = _COMMAND.format(code="spa_Latn", backend="glossary")
        return (
            f"{title}Not run: {_ENCODER} is not available; name its folder in the file of "
            f"`--models`. The command is `mathsetu {command}`. Figures of an earlier run over all "
            "posts, in other measures, are in [translation](translation.md)."
        )
    if not context.file("crossmath/topics/eng_Latn.tsv"):
        return f"{title}Not run: the topics (crossmath/topics) are not in the data."
    judgments = [
        one for name in _JUDGMENTS.values() for one in context.judgments(f"arqmath/{name}")
    ]
    recipe = context.with_models(load_recipe("crossmath-nllb-bi", ["query={}"]))
    with context.library(recipe) as library:
        rows: list[Row] = []
        task = None
        for number, language, code in _TABLES:
            queries = context.queries(f"crossmath/topics/{code}.tsv")
            task = JudgedTask.of(library, queries, judgments, pool=True)
            table = number, language, code
            ways = ("none",) if language == "en" else ("glossary", "none")
            rows += [_asked(context, library, recipe, task, table, way) for way in ways]
        assert task is not None
        years = [edition_of(query.id) for query in task.queries]
        shown = " and ".join(f"{years.count(year)} topics of {year}" for year in _JUDGMENTS)
        introduction = _OURS.format(
            encoder=Path(str(recipe.parts["text"]["model"])).name,
            posts=len(library),
            depth=task.used / len(task.queries),
            topics=f"{shown} have a relevant post here or none at all",
        )
    return f"{introduction}\n{markdown(rows, tuple(_JUDGMENTS), _MEASURES, 'nllbbi; mbartbi')}"


def _asked(
    context: Context,
    library: Library,
    recipe: Recipe,
    task: JudgedTask,
    table: tuple[int, str, str],
    backend: str,
) -> Row:
    number, language, code = table
    context.say(f"asking in {_LANGUAGES[language]}, {backend}")
    translated = Preparation() if backend == "none" else Preparation("en", backend)
    asked = library.with_recipe(replace(recipe, query=translated))
    run = asked.run(task.queries, len(library), pools=task.pools)
    plain = language == "en"
    how = "not translated" if backend == "none" else f"translated by the {backend}"
    command = _COMMAND.format(code=code, backend=backend)
    if backend == "none":
        command = f"reproduce crossmath-nllb-bi POSTS {code}.tsv QRELS --pool --set query={{}}"
    return Row(
        f"{number}, {_LANGUAGES[language]}",
        f"queries {how}",
        command,
        "fewer posts"
        if plain
        else f"{'no translation' if backend == 'none' else backend}, not NLLB",
        {
            year: [
                figure
                for name in ("nllbbi", "mbartbi")
                for figure in _cut(context, f"{name}.{code}.{year}", task, year)
            ]
            for year in _JUDGMENTS
        },
        {year: _figures(run, _of_year(task, year), task.threshold) for year in _JUDGMENTS},
    )


def _of_year(task: JudgedTask, year: str) -> Judgments:
    return Judgments(
        {topic: grades for topic, grades in task.judged.grades.items() if edition_of(topic) == year}
    )


def _cut(context: Context, name: str, task: JudgedTask, year: str) -> list[float]:
    """The figures of a run of the authors, on the available posts only."""
    path = context.file(f"crossmath/runs/{name}.tsv.gz", f"crossmath/runs/{name}.tsv")
    if path is None:
        return []
    return _figures(read_run(path), _of_year(task, year), task.threshold)
