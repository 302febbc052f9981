"""Evaluates the two MIRaCLE recipes: quality, the loss through IVF, and a CLMIR submission.

    python -m benchmarks.miracle --model-1 FOLDER --model-2 FOLDER [--out submission.csv]

First, English queries over the Hindi posts of the sampler are written as a CLMIR submission (CSV)
and validated. Then the English ARQMath topics are run over the ARQMath posts; figures are nDCG@10
and MAP over the topics with a post in the collection judged 2 or 3 (unjudged posts count as not
relevant). Each recipe is measured unchanged, with words only, with formulas compared by their
numbers and their values, and with stems without stop words; each variant has the p-values of a
paired t-test against the unchanged recipe (nDCG@10 of 2020, of 2021). Last, the share of the exact
best posts that both kinds of IVF find. `formula_ranking` measures the comparison of formulas alone.

Without ``--model-1`` and ``--model-2`` the models named in the recipes are downloaded from the hub.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.shared import (
    DATA,
    YEARS,
    Judged,
    arqmath_posts,
    errors_without_traceback,
    judged,
    mean_measures,
    ndcg,
    topics,
)
from mathsetu.collections import clmir, sampler
from mathsetu.encoders import load_encoder
from mathsetu.evaluation.significance import paired_t_test
from mathsetu.intake.question import Question
from mathsetu.library import Library, build_library
from mathsetu.recipes import Recipe, load_recipe
from mathsetu.recipes.tables import read_table
from mathsetu.records import Query, Run
from mathsetu.retrieval.dense import DenseSettings, encoder_text
from mathsetu.retrieval.ivf import Division, Ivf, write_ivf

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]


# Additional parts: the part of the recipe that each replaces, and the changed settings.
_OTHERS: dict[str, tuple[str, dict[str, Any]]] = {
    "numbers": ("math", {"numeric": "numbers"}),
    "values": ("math", {"numeric": "values"}),
    "stems": ("text", {"stop_words": "drop", "stem": True}),
}
# The weight of the text in each recipe.
_TEXT = {"miracle-1": 0.7, "miracle-2": 0.6}


def with_others(recipe: Recipe) -> Recipe:
    """Add the additional parts to a recipe, with weight 0."""
    others = {name: {**recipe.parts[own], **changes} for name, (own, changes) in _OTHERS.items()}
    return _weighted(replace(recipe, parts={**recipe.parts, **others}), "text", "math")


def variants(recipe: Recipe) -> dict[str, Recipe]:
    """The variants of a recipe, which rank by different parts of the same library."""
    found = {
        "as it is": _weighted(recipe, "text", "math"),
        "words alone": _weighted(recipe, "text"),
    }
    for name, (own, _) in _OTHERS.items():
        chosen = (name, "math") if own == "text" else ("text", name)
        found[name] = _weighted(recipe, *chosen)
    return found


def _weighted(recipe: Recipe, text: str, math: str = "") -> Recipe:
    """A recipe that ranks by these parts, with the weights of its own two."""
    weights = dict.fromkeys(recipe.parts, 0.0)
    weights[text] = _TEXT[recipe.name] if math else 1.0
    if math:
        weights[math] = 1 - _TEXT[recipe.name]
    ranking = replace(recipe.ranking, weights=weights, candidates_from=(text,))
    return replace(recipe, ranking=ranking)


def recalls(vectors: Vectors, queries: Vectors, division: Division, place: Path) -> list[float]:
    """The share of the exact best 10, 100 and 500 posts that an IVF index finds."""
    write_ivf(place, vectors, division)
    lists = Ivf(place, vectors.shape, division)
    exact = np.argsort(-(queries @ vectors.T), axis=1, kind="stable")
    found = []
    for k in (10, 100, 500):
        rows = zip(lists.candidates(queries, vectors, k, None), exact[:, :k], strict=True)
        found.append(float(np.mean([len(np.intersect1d(one, best)) / k for one, best in rows])))
    return found


def report(
    label: str,
    library: Library,
    queries: Sequence[Query],
    years: Sequence[Judged],
    unchanged: Run | None = None,
) -> Run:
    """Print the figures of a variant, and the significance of its difference."""
    started = time.perf_counter()
    run = library.run(queries)
    spent = (time.perf_counter() - started) / len(queries) * 1e3
    shown = "   ".join(f"{n:.3f} {m:.3f}" for n, m in (mean_measures(run, y) for y in years))
    tested = " ".join(f"{significance(unchanged, run, y):.3f}" for y in years) if unchanged else ""
    print(f"  {label:12} {shown}   {'p ' + tested if tested else '':13}   {spent:.0f} ms a query",
          flush=True)  # fmt: skip
    return run


def significance(one: Run, other: Run, grades: Judged) -> float:
    """The p-value of the difference of two runs in nDCG@10, by a paired t-test over topics."""
    first, second = (
        [ndcg([hit.id for hit in run.rankings.get(topic, ())], grades[topic]) for topic in grades]
        for run in (one, other)
    )
    return paired_t_test([b - a for a, b in zip(first, second, strict=True)])


def measure_quality(recipe: Recipe, place: Path, data: Path) -> None:
    years = [judged(year, data) for year in YEARS]
    wanted = {topic for year in years for topic in year}
    queries = [query for query in topics("en", data) if query.id in wanted]
    folder = place / recipe.name
    started = time.perf_counter()
    build_library(folder, arqmath_posts(data), with_others(recipe), processes=1)
    library = Library(folder)
    library.run(queries[:1])
    print(f"{recipe.name}: {len(library)} posts built in {time.perf_counter() - started:.0f} s")
    unchanged: Run | None = None
    for name, one in variants(library.recipe).items():
        run = report(name, library.with_recipe(one), queries, years, unchanged)
        unchanged = unchanged or run
    measure_recall(folder, recipe, queries)


def measure_recall(folder: Path, recipe: Recipe, queries: Sequence[Query]) -> None:
    """Print the recall of fixed and adaptive IVF lists on the posts of a library."""
    settings = {name: value for name, value in recipe.parts["text"].items() if name != "kind"}
    choices = read_table(DenseSettings, settings, "parts.text")
    [path] = folder.glob("segments/*/text/vectors.npy")
    vectors = np.load(path)
    texts = [encoder_text(Question(query).marked, choices, query.language) for query in queries]
    asked = load_encoder(choices.model, choices.max_tokens).encode(texts)
    for name, division in (("fixed", Division(100, 10)), ("adaptive", Division(0, 0))):
        shares = recalls(vectors, asked, division, folder / f"{name}.faiss")
        shown = " ".join(f"{share:.3f}" for share in shares)
        print(f"  {name:8} lists find of the best 10, 100, 500: {shown}", flush=True)


def submission(recipes: Sequence[Recipe], place: Path, path: Path) -> None:
    """Write and validate a CLMIR submission for the sampler: English queries, Hindi posts."""
    posts = [post for post in sampler.posts() if post.language == "hi"]
    queries = [query for query in sampler.queries() if query.language == "en"]
    hindi = {post.id for post in posts}
    grades: Judged = {}
    for judgment in sampler.judgments():
        if judgment.id in hindi:
            grades.setdefault(judgment.query_id, {})[judgment.id] = judgment.grade
    asked = {query.id for query in queries}
    grades = {q: g for q, g in grades.items() if q in asked and max(g.values()) >= 2}
    runs: list[Run] = []
    print(f"sampler, {len(queries)} English queries over {len(posts)} Hindi posts")
    for recipe in recipes:
        build_library(place / f"hindi-{recipe.name}", posts, recipe)
        runs.append(Library(place / f"hindi-{recipe.name}").run(queries, name=recipe.name))
        answered = sum(1 for hits in runs[-1].rankings.values() if hits)
        ndcg, precision = mean_measures(runs[-1], grades)
        print(f"  {recipe.name}: {ndcg:.3f} {precision:.3f}, {answered} queries have results")
    clmir.write_submission(path, runs)
    problems = clmir.validate_submission(path, asked, hindi)
    rejected = sum(problem.fatal for problem in problems)
    print(f"  {path.name}: {rejected} errors, {len(problems) - rejected} warnings")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--model-1", help="instead of multi-qa-MiniLM-L6-cos-v1")
    parser.add_argument("--model-2", help="instead of all-mpnet-base-v2")
    parser.add_argument("--only", type=int, choices=(1, 2), help="this run alone")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--out", type=Path, default=None, help="where the submission goes")
    arguments = parser.parse_args()
    recipes = []
    for number, model in enumerate((arguments.model_1, arguments.model_2), start=1):
        if arguments.only not in (None, number):
            continue
        settings = [f"parts.text.model={model}"] if model else []
        recipes.append(load_recipe(f"miracle-{number}", settings))
    with errors_without_traceback(), tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        submission(recipes, place, arguments.out or place / "submission.csv")
        print("nDCG@10 and MAP of 2020, of 2021")
        for recipe in recipes:
            measure_quality(recipe, place, arguments.data)


if __name__ == "__main__":
    main()
