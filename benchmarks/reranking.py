"""Trains a cross-encoder on the judgments of 2020, and reranks the answers for topics of 2021.

    python -m benchmarks.reranking prepare FOLDER
    python -m benchmarks.reranking measure FOLDER --model MODEL [--learning-rate 2e-5 …]

The first command writes the data for training (posts, topics, judgments, candidates of a recipe,
the posts most similar to random questions) to one file. The second command needs only this file,
and can run on another machine with a GPU. The depth of reranking and the weight of the model are
chosen on 2020 by five-fold cross-validation; 2021 is only measured. Prints nDCG@10 and MAP over the
topics with a post in the collection judged 2 or 3; unjudged posts count as not relevant.
"""

from __future__ import annotations

import argparse
import gzip
import json
import tempfile
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from benchmarks.shared import (
    DATA,
    YEARS,
    Judged,
    arqmath_posts,
    judged,
    mean_measures,
    topics,
)
from mathsetu.collections.trec import read_qrels
from mathsetu.models import model_folder
from mathsetu.ranking.rerank import TIERS
from mathsetu.ranking.rerank.cross_encoder import SentenceCrossEncoder
from mathsetu.ranking.rerank.model_input import candidate_text, question_text
from mathsetu.ranking.rerank.tiers import in_tiers
from mathsetu.records import Hit, Judgment, Post, Query, Run
from mathsetu.training.card import add_figures
from mathsetu.training.cross_encoder import train_cross_encoder
from mathsetu.training.epochs import Epochs
from mathsetu.training.loop import Fit
from mathsetu.training.pairs import judged_pairs, split_topics, thread_pairs

# Candidates stored per topic, candidates reranked, questions drawn, and similar posts of each.
_DEPTH, _READ, _ASKED, _SIMILAR = 200, 100, 400, 100
# The compared settings: slices of candidates or the paper's tiers, and the weight of the model.
_SLICES = {"20": (20,), "50": (50,), "100": (100,), "tiers": TIERS}
_WEIGHTS = (0.1, 0.2, 0.3, 0.5, 0.7, 1.0)
_FOLDS = 5
_DATA = (
    "ARQMath task 1 judgments of 2020, answers of the same thread, and the most similar answers "
    "without a shared tag."
)


Read = Mapping[str, Sequence[float]]


@dataclass(frozen=True)
class Prepared:
    """The data for training and measuring."""

    posts: dict[str, Post]
    queries: dict[str, Query]
    candidates: dict[str, list[tuple[str, float]]]
    learned: list[Judgment]
    judged: dict[int, Judged]
    similar: dict[str, list[str]]


def prepare(folder: Path, recipe: str, data: Path) -> None:
    # Imported here, because only this stage needs the search engine.
    from mathsetu.library import Library, build_library

    posts = {post.id: post for post in arqmath_posts(data)}
    learned = list(read_qrels(data / "arqmath" / f"qrels-task1-{YEARS[0]}.present.txt"))
    grades = {year: judged(year, data) for year in YEARS}
    wanted = {judgment.query_id for judgment in learned}.union(*grades.values())
    queries = {query.id: query for query in topics("en", data) if query.id in wanted}
    chosen = np.random.default_rng(1).permutation(sorted(posts))[:_ASKED].tolist()
    with tempfile.TemporaryDirectory() as place:
        build_library(Path(place) / "library", posts.values(), recipe)
        library = Library(Path(place) / "library")
        found = library.run(queries.values(), k=_DEPTH).rankings
        asked = [Query(id=name, text=question_of(posts[name])) for name in chosen]
        similar = library.run(asked, k=_SIMILAR).rankings
    content = {
        "posts": [asdict(post) | {"formulas": ()} for post in posts.values()],
        "queries": [asdict(query) for query in queries.values()],
        "candidates": {
            topic: [(hit.id, hit.score) for hit in hits] for topic, hits in found.items()
        },
        "learned": [asdict(judgment) for judgment in learned],
        "judged": grades,
        "similar": {name: [hit.id for hit in hits] for name, hits in similar.items()},
    }
    folder.mkdir(parents=True, exist_ok=True)
    with gzip.open(folder / "prepared.json.gz", "wt", encoding="utf-8") as file:
        json.dump(content, file)


def read_prepared(folder: Path) -> Prepared:
    with gzip.open(folder / "prepared.json.gz", "rt", encoding="utf-8") as file:
        content = json.load(file)
    return Prepared(
        {row["id"]: Post(**row | {"tags": tuple(row["tags"])}) for row in content["posts"]},
        {row["id"]: Query(**row | {"tags": tuple(row["tags"])}) for row in content["queries"]},
        {topic: [(name, score) for name, score in rows]
         for topic, rows in content["candidates"].items()},
        [Judgment(**row) for row in content["learned"]],
        {int(year): grades for year, grades in content["judged"].items()},
        content["similar"],
    )  # fmt: skip


def question_of(post: Post) -> str:
    return f"{post.title}\n{post.question}"


class Trainer:
    """Trains cross-encoders on a part of the judgments, as in the paper."""

    def __init__(self, task: Prepared, folder: Path, settings: Fit) -> None:
        self.task, self.folder, self.settings = task, folder, settings
        # The posts have no votes, so every thread counts.
        self._threads = thread_pairs(task.posts.values(), minimum_score=None)
        self._asked = [task.posts[name] for name in task.similar]

    def _similar(self, post: Post) -> list[Post]:
        return [self.task.posts[name] for name in self.task.similar[post.id] if name != post.id]

    def warmed_up(self, model: str, epochs: int) -> str:
        """Train a model on threads only, to match questions with answers; no judgments are used."""
        pairs = Epochs(
            self._threads, (), self._asked, self._similar, self.settings.seed, questions=_ASKED
        )
        place = self.folder / "warm-up"
        train_cross_encoder(model, pairs, [], place, replace(self.settings, epochs=epochs), _DATA)
        return str(place / "model")

    def tuned(self, model: str, judgments: Sequence[Judgment], name: str) -> Path:
        """Train a model on judgments, a fifth of them held out; return its folder."""
        learn, check = split_topics(judgments, 0.2, self.settings.seed)
        task, seed = self.task, self.settings.seed
        judged_ones = judged_pairs(task.queries, task.posts.get, learn)
        state = train_cross_encoder(
            model,
            Epochs(judged_ones, self._threads, self._asked, self._similar, seed),
            judged_pairs(task.queries, task.posts.get, check),
            self.folder / name,
            self.settings,
            _DATA,
        )
        losses = [f"{row['validation_loss']:.3f}" for row in state.history]
        print(f"  {name}: validation losses {' '.join(losses)}", flush=True)
        return self.folder / name / "model"


def logits(
    model: Path, task: Prepared, wanted: Iterable[str], max_tokens: int
) -> dict[str, list[float]]:
    """The scores of a model for the candidates of topics."""
    encoder = SentenceCrossEncoder(str(model), max_tokens, batch=128)
    return {
        topic: encoder.score(
            question_text(task.queries[topic]),
            [candidate_text(task.posts[name]) for name, _ in task.candidates[topic][:_READ]],
        )
        for topic in wanted
    }


def reranked(task: Prepared, read: Read, bounds: tuple[int, ...], weight: float) -> Run:
    """The run with the candidates reranked down to the last bound."""
    rankings = {}
    for topic, scores in read.items():
        rows = task.candidates[topic]
        found = in_tiers(scores[: bounds[-1]], [score for _, score in rows], bounds, weight)
        rankings[topic] = tuple(Hit(rows[place][0], 0.0) for place in found.order)
    return Run("reranked", rankings)


def report(task: Prepared, read: Read) -> tuple[str, dict[str, float]]:
    """Print the figures of both years; return the best setting on 2020 with its 2021."""
    plain = {
        topic: tuple(Hit(name, 0.0) for name, _ in rows) for topic, rows in task.candidates.items()
    }
    _print_row("no reranking", [mean_measures(Run("", plain), task.judged[y]) for y in YEARS])
    best, chosen, figures = 0.0, "", (0.0, 0.0)
    for name, bounds in _SLICES.items():
        for weight in _WEIGHTS:
            run = reranked(task, read, bounds, weight)
            years = [mean_measures(run, task.judged[year]) for year in YEARS]
            _print_row(f"{name}, weight {weight}", years)
            if years[0][1] > best:
                best, chosen, figures = years[0][1], f"{name}, weight {weight}", years[1]
    return chosen, {"nDCG@10": figures[0], "MAP": figures[1]}


def _print_row(name: str, years: Sequence[tuple[float, float]]) -> None:
    print(f"  {name:20} {'   '.join(f'{n:.3f} {m:.3f}' for n, m in years)}", flush=True)


def measure(folder: Path, place: Path, model: str, warm_up: int, settings: Fit) -> None:
    task = read_prepared(folder)
    print(f"{model}: nDCG@10 and MAP of 2020 (cross-validated), of 2021")
    print("untrained")
    untrained = model_folder(model, "cross-encoder", "reranking")
    everything = [topic for year in YEARS for topic in task.judged[year]]
    report(task, logits(untrained, task, everything, settings.max_tokens))
    trainer = Trainer(task, place, settings)
    start = trainer.warmed_up(model, warm_up) if warm_up else model
    read: dict[str, list[float]] = {}
    for fold in range(_FOLDS):
        others = [judgment for judgment in task.learned if _fold(judgment.query_id) != fold]
        kept = trainer.tuned(start, others, f"fold-{fold + 1}")
        own = [topic for topic in task.judged[YEARS[0]] if _fold(topic) == fold]
        read.update(logits(kept, task, own, settings.max_tokens))
    final = trainer.tuned(start, task.learned, "final")
    read.update(logits(final, task, task.judged[YEARS[1]], settings.max_tokens))
    (place / "logits.json").write_text(json.dumps(read))
    print("trained")
    chosen, figures = report(task, read)
    print(f"best on {YEARS[0]}: {chosen}; on {YEARS[1]} {figures}")
    add_figures(final, f"ARQMath {YEARS[1]}, reranked ({chosen})", figures)


def _fold(topic: str) -> int:
    return zlib.crc32(topic.encode()) % _FOLDS


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("stage", choices=["prepare", "measure"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--recipe", default="default")
    parser.add_argument("--model", default="cross-encoder/ms-marco-MiniLM-L-12-v2")
    parser.add_argument("--place", type=Path, help="where models go; FOLDER/trained unless given")
    parser.add_argument("--warm-up", type=int, default=2, help="epochs on threads alone, before")
    parser.add_argument("--max-tokens", type=int, default=512)
    parser.add_argument("--learning-rate", type=float, default=2e-5)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--data", type=Path, default=DATA)
    given = parser.parse_args()
    if given.stage == "prepare":
        prepare(given.folder, given.recipe, given.data)
    else:
        settings = Fit(
            epochs=given.epochs,
            batch=given.batch,
            learning_rate=given.learning_rate,
            max_tokens=given.max_tokens,
            seed=given.seed,
            checkpoint_every=10_000,
        )
        place = given.place or given.folder / "trained"
        measure(given.folder, place, given.model, given.warm_up, settings)


if __name__ == "__main__":
    main()
