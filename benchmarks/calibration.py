"""Fits the calibration of a recipe on judged topics and nonsense, and prints the recipe's lines.

    python -m benchmarks.calibration [default] [--library FOLDER] [--languages en hi es]

The queries are: the ARQMath topics in the languages of CrossMath, in full and as titles only; the
queries of the sampler; and nonsense, which is random letters in seven scripts, and harder cases
(short words, letters mixed with digits). ``--library`` names an existing library of the ARQMath
posts with the same parts, which is then not built.

Prints the lines for the recipe, the effect on topics that were not used for fitting (five folds
over topics), and the share of relevant hits by score. Run it again when the encoder or the weights
change.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.shared import DATA, LANGUAGES, YEARS, arqmath_posts, judged, topics
from mathsetu.collections import sampler
from mathsetu.deadline import Clock
from mathsetu.intake.question import Question, topic_question, typed_question
from mathsetu.library import Library, build_library
from mathsetu.library.ranker import Ranker, Scope
from mathsetu.ranking.hybrid import BIAS, SCORE, Calibration
from mathsetu.recipes import load_recipe
from mathsetu.recipes.schema import Recipe

Numbers = NDArray[np.float64]

#: The score of a part at which a candidate is half as good as possible.
HALF = {"words": 10.0, "formulas": 0.5, "meaning": 0.4}
# Candidates of a query that are used for fitting, and folds over topics.
_DEPTH, _FOLDS = 50, 5
# The share of judged queries that must have a score above the threshold.
_KEPT = 0.99
_RIDGE = 0.1
_SCRIPTS = {
    "Latin": "abcdefghijklmnopqrstuvwxyz",
    "Devanagari": "कखगघचछजझटठडढतथदधनपफबभमयरलवशषसहािीुूेैोौ",
    "Arabic": "ابپتثجچحخدذرزژسشصضطظعغفقکگلمنوهی",
    "Cyrillic": "абвгдежзийклмнопрстуфхцчшщъыьэюя",
    "Greek": "αβγδεζηθικλμνξοπρστυφχψω",
    "Hangul": "가나다라마바사아자차카타파하거너더러머버서어저처커터퍼허고노도로모보소오조",
    "Han": "的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会可主发年动",
}


def nonsense(count: int, seed: int = 1, *, hard: bool = False) -> list[str]:
    """Make nonsense queries, in all scripts in turn.

    >>> nonsense(1, seed=7) == nonsense(1, seed=7)
    True
    """
    chance = random.Random(seed)
    scripts = list(_SCRIPTS.values())
    made = []
    for number in range(count):
        letters = scripts[number % len(scripts)]
        sizes, words = (4, 11), (1, 5)
        if hard and number // len(scripts) % 2:
            sizes, words = (2, 5), (2, 6)
        elif hard:
            letters, sizes = letters + "0123456789", (3, 8)
        made.append(
            " ".join(
                "".join(chance.choice(letters) for _ in range(chance.randint(*sizes)))
                for _ in range(chance.randint(*words))
            )
        )
    return made


@dataclass(frozen=True)
class QueryResult:
    """The result of one query.

    Attributes:
        topic: The topic of the query; all queries of a topic are in the same fold.
        levels: The score of the best candidate in each part.
        silent: The parts that cannot score the query.
        totals: The hybrid scores of the candidates, best first.
        grades: Their grades.
        has_answer: Whether the collection has a relevant post.
    """

    topic: str
    levels: dict[str, float]
    silent: frozenset[str]
    totals: Numbers
    grades: list[int]
    has_answer: bool

    def scores(self, learned: Calibration) -> Numbers:
        """Calibrated scores."""
        return learned.scores(self.totals, self.levels, self.silent)


def observe(
    library: Library, recipe: Recipe, question: Question, topic: str, grades: Mapping[str, int]
) -> QueryResult:
    """Run a query, and keep the values that a calibration is fitted on."""
    view = library._backend.now()
    parts, allowed = view.parts(None)
    ranker = Ranker(recipe, parts, view.stored_posts)
    [reply] = ranker.rank([question], Scope(_DEPTH, allowed, Clock()), recipe.ranking.weights)
    numbers = reply.numbers[:_DEPTH].tolist()
    ids = view.stored_posts.ids(numbers)
    return QueryResult(
        topic,
        {name: float(part.max(initial=0)) for name, part in reply.said.items()},
        reply.silent,
        reply.totals[:_DEPTH],
        [grades.get(ids[number], 0) for number in numbers],
        any(grade >= 2 for grade in grades.values()),
    )


def observed_topics(
    library: Library, recipe: Recipe, language: str, data: Path, *, titles: bool
) -> Iterator[QueryResult]:
    """Run the judged topics in a language, in full or as titles only."""
    wanted = {topic: grades for year in YEARS for topic, grades in judged(year, data).items()}
    for query in topics(language, data):
        if query.id in wanted:
            asked = replace(query, title="", text=query.title) if titles else query
            question = topic_question(asked, library.languages)
            yield observe(library, recipe, question, query.id, wanted[query.id])


def observed_sampler(library: Library, recipe: Recipe) -> Iterator[QueryResult]:
    """Run the queries of the sampler."""
    grades: dict[str, dict[str, int]] = {}
    for judgment in sampler.judgments():
        grades.setdefault(judgment.query_id, {})[judgment.id] = judgment.grade
    for query in sampler.queries():
        question = topic_question(query, library.languages)
        yield observe(library, recipe, question, query.id, grades.get(query.id, {}))


def observed_nonsense(
    library: Library, recipe: Recipe, queries: Sequence[str]
) -> Iterator[QueryResult]:
    """Run queries that have no relevant post."""
    for query in queries:
        question = typed_question(query, library=library.languages)
        yield observe(library, recipe, question, query, {})


def logistic(rows: Numbers, wanted: Numbers, counting: Numbers) -> Numbers:
    """Fit a logistic regression by Newton's method, and return its weights."""
    weights = np.zeros(rows.shape[1])
    for _ in range(50):
        chance = 1 / (1 + np.exp(-rows @ weights))
        slope = rows.T @ (counting * (wanted - chance)) - _RIDGE * weights
        curve = (rows * (counting * chance * (1 - chance))[:, None]).T @ rows
        step = np.linalg.solve(curve + _RIDGE * np.eye(len(weights)), slope)
        weights += step
        if np.abs(step).max() < 1e-9:
            break
    return weights


def levels(one: QueryResult) -> list[float]:
    """The features of a query for a calibration: levels of parts, and which parts are silent."""
    reached = [
        0.0 if part in one.silent else one.levels.get(part, 0.0) / (one.levels[part] + half)
        for part, half in HALF.items()
    ]
    return [1.0, *reached, *(float(part in one.silent) for part in HALF)]


def fit(answered: Sequence[QueryResult], senseless: Sequence[QueryResult]) -> Calibration:
    """Fit the calibration to the observed queries."""
    rows = np.array([levels(one) for one in [*answered, *senseless]])
    wanted = np.array([1.0] * len(answered) + [0.0] * len(senseless))
    # Judged queries and nonsense have the same total weight, whatever their numbers.
    counting = np.where(wanted > 0, 1.0, len(answered) / len(senseless))
    close = logistic(rows, wanted, counting).round(2).tolist()
    found = [one for one in answered if len(one.totals)]
    hits = np.concatenate([_hits(one) for one in found])
    relevant = np.array([float(grade >= 2) for one in found for grade in one.grades])
    bias, meaning, score = logistic(hits, relevant, np.ones(len(relevant))).round(2).tolist()
    learned = Calibration(
        half=HALF,
        close=dict(zip((BIAS, *HALF), close, strict=False)),
        silent=dict(zip(HALF, close[1 + len(HALF) :], strict=True)),
        relevant={BIAS: bias, "meaning": meaning, SCORE: max(score, 0.0)},
    )
    return replace(learned, threshold=threshold(learned, answered))


def _hits(one: QueryResult) -> Numbers:
    reached = levels(one)[1 + list(HALF).index("meaning")]
    below = one.totals / max(float(one.totals[0]), 1e-9) - 1
    return np.column_stack([np.ones(len(below)), np.full(len(below), reached), below])


def threshold(learned: Calibration, answered: Sequence[QueryResult]) -> float:
    """The highest score that nearly all judged queries reach, so that recall is preserved."""
    reached = np.sort(best(learned, answered))
    return float(np.floor(1e4 * reached[int(len(reached) * (1 - _KEPT))]) / 1e4)


def best(learned: Calibration, rows: Sequence[QueryResult]) -> Numbers:
    """The best score of each query."""
    return np.array([one.scores(learned).max(initial=0.0) for one in rows])


def best_relevant(learned: Calibration, rows: Sequence[QueryResult]) -> Numbers:
    """The best score of a relevant candidate for each query; 0 if there is none."""
    return np.array(
        [
            max(
                (s for s, g in zip(one.scores(learned), one.grades, strict=True) if g >= 2),
                default=0.0,
            )
            for one in rows
        ]
    )


def to_toml(learned: Calibration) -> str:
    """Format a calibration as the lines of a recipe."""
    lines = ["[ranking.calibration]", f"threshold = {learned.threshold:g}"]
    for name in ("half", "close", "silent", "relevant"):
        cells = ", ".join(f"{part} = {value:g}" for part, value in getattr(learned, name).items())
        lines.append(f"{name} = {{ {cells} }}")
    return "\n".join(lines)


def report(
    groups: Mapping[str, Sequence[QueryResult]], senseless: Mapping[str, Sequence[QueryResult]]
) -> None:
    """Print the effect of calibrations on topics that they were not fitted on."""
    everyone = [one for rows in groups.values() for one in rows]
    names = sorted({one.topic for one in everyone})
    fold_of = {name: number % _FOLDS for number, name in enumerate(names)}
    learned = [
        fit(
            [one for one in everyone if fold_of[one.topic] != fold],
            [one for rows in senseless.values() for one in rows[fold % 2 :: 2]],
        )
        for fold in range(_FOLDS)
    ]
    for name, rows in groups.items():
        seen = [(one, learned[fold_of[one.topic]]) for one in rows if one.has_answer]
        kept = [best(own, [one])[0] >= own.threshold for one, own in seen]
        relevant = [best_relevant(own, [one])[0] for one, own in seen]
        print(f"  {name}: {np.mean(kept):.2%} of {len(kept)} queries have something close")
        reached = [score >= own.threshold for score, (_, own) in zip(relevant, seen, strict=True)]
        found = [score > 0 for score in relevant]
        share = sum(reached) / sum(found)
        print(f"    {share:.2%} of {sum(found)} have a relevant post above it by itself")
    for name, rows in senseless.items():
        # Each calibration was fitted on every second query, and is tested on the others.
        above = [
            best(own, rows[1 - fold % 2 :: 2]) >= own.threshold for fold, own in enumerate(learned)
        ]
        print(f"  {name}: {np.concatenate(above).mean():.2%} with a hit above the threshold")
    scores = np.concatenate([one.scores(learned[fold_of[one.topic]]) for one in everyone])
    grades = np.concatenate([np.array(one.grades) >= 2 for one in everyone])
    print("  score, hits with it, share of them that is relevant")
    edges = [0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 1]
    for low, high in pairwise(edges):
        own = (scores >= low) & (scores < high)
        if own.any():
            print(f"  {low:.2f} to {high:.2f}  {own.sum():6}  {grades[own].mean():.3f}")


@contextmanager
def built(folder: Path | None, recipe: Recipe, data: Path) -> Iterator[Library]:
    """Open the ARQMath library, and build it first if no folder is given."""
    with tempfile.TemporaryDirectory() as scratch:
        place = folder or Path(scratch) / "library"
        if folder is None:
            build_library(place, arqmath_posts(data), recipe, collection="arqmath")
        with Library(place) as library:
            yield library


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("recipe", nargs="?", default="default")
    parser.add_argument("--library", type=Path, help="a library of the ARQMath posts")
    parser.add_argument("--languages", nargs="+", default=list(LANGUAGES), choices=LANGUAGES)
    parser.add_argument("--data", type=Path, default=DATA)
    options = parser.parse_args()
    own = load_recipe(options.recipe)
    recipe = replace(own, ranking=replace(own.ranking, calibration=None))
    groups: dict[str, list[QueryResult]] = {}
    senseless: dict[str, list[QueryResult]] = {}
    plain, hard = nonsense(200), nonsense(400, hard=True)
    with built(options.library, recipe, options.data) as library:
        for language in options.languages:
            for titles, kind in ((False, "topics"), (True, "titles")):
                rows = observed_topics(library, recipe, language, options.data, titles=titles)
                groups[f"{kind} {language}"] = list(rows)
        senseless["nonsense, ARQMath"] = list(observed_nonsense(library, recipe, plain))
        senseless["harder nonsense, ARQMath"] = list(observed_nonsense(library, recipe, hard))
    with tempfile.TemporaryDirectory() as folder:
        build_library(Path(folder) / "library", sampler.posts(), recipe)
        with Library(Path(folder) / "library") as library:
            groups["sampler"] = list(observed_sampler(library, recipe))
            senseless["nonsense, sampler"] = list(observed_nonsense(library, recipe, plain))
            senseless["harder nonsense, sampler"] = list(observed_nonsense(library, recipe, hard))
    everyone = [one for rows in groups.values() for one in rows]
    nothing = [one for rows in senseless.values() for one in rows]
    print(to_toml(fit(everyone, nothing)))
    print(f"\non topics and nonsense that it was not fitted on ({_FOLDS} folds):")
    report(groups, senseless)


if __name__ == "__main__":
    main()
