"""Compares our trainers of bi- and cross-encoders with sentence-transformers, on the same pairs.

    python -m benchmarks.trainers prepare FILE
    python -m benchmarks.trainers measure FILE --model MODEL [--seeds 1 2 3]

The first command writes pairs of ARQMath (threads, and the judgments of 2020) and the topics of
2021 to one file. The second command needs only this file, and can run on another machine with a
GPU. Both trainers get the same model, pairs, batch size, learning rate, warm-up and number of
epochs. A bi-encoder ranks all answers for the topics of 2021; a cross-encoder reranks the best 100
answers of the untrained model. Prints nDCG@10 and MAP; unjudged answers count as not relevant. The
other trainers need the packages ``accelerate`` and ``datasets``, which none of our extras installs.
"""

from __future__ import annotations

import argparse
import gzip
import json
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.shared import DATA, YEARS, Judged, arqmath_posts, judged, mean_measures, topics
from mathsetu.collections.trec import read_qrels
from mathsetu.ranking.rerank.model_input import candidate_text, question_text
from mathsetu.records import Hit, Run
from mathsetu.training.bi_encoder import train_bi_encoder
from mathsetu.training.cross_encoder import train_cross_encoder
from mathsetu.training.epochs import Epochs
from mathsetu.training.loop import Fit
from mathsetu.training.pairs import TrainingPair, judged_pairs, thread_pairs

_DEPTH = 100
_SETTINGS = Fit(batch=16, learning_rate=2e-5, max_tokens=256, checkpoint_every=10_000)
# A bi-encoder is already trained and is only adapted; a cross-encoder gets a new last layer.
_EPOCHS = {"bi-encoder": 1, "cross-encoder": 10}
Ask = Callable[[str, Sequence[str]], Sequence[float]]


@dataclass(frozen=True)
class Task:
    """The data for training and measuring."""

    matching: list[TrainingPair]
    labelled: list[TrainingPair]
    texts: dict[str, str]
    questions: dict[str, str]
    grades: Judged


def prepare(file: Path, data: Path) -> None:
    posts = {post.id: post for post in arqmath_posts(data)}
    queries = {query.id: query for query in topics("en", data)}
    learned = read_qrels(data / "arqmath" / f"qrels-task1-{YEARS[0]}.present.txt")
    judged_ones = judged_pairs(queries, posts.get, learned)
    # The posts have no votes, so every thread counts.
    threads = thread_pairs(posts.values(), minimum_score=None)
    grades = judged(YEARS[1], data)
    content = {
        "matching": [(p.question, p.text) for p in (*threads, *judged_ones) if p.label > 0.5],
        "labelled": [(p.question, p.text, p.label) for p in Epochs(judged_ones, threads)(0)],
        "texts": {name: candidate_text(post) for name, post in posts.items()},
        "questions": {topic: question_text(queries[topic]) for topic in grades},
        "grades": grades,
    }
    file.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(file, "wt", encoding="utf-8") as output:
        json.dump(content, output)


def read_task(file: Path) -> Task:
    with gzip.open(file, "rt", encoding="utf-8") as stream:
        content = json.load(stream)
    return Task(
        [TrainingPair(question, text, 1.0) for question, text in content["matching"]],
        [TrainingPair(*row) for row in content["labelled"]],
        content["texts"],
        content["questions"],
        content["grades"],
    )


def our_bi_encoder(model: str, task: Task, folder: Path, settings: Fit) -> Path:
    train_bi_encoder(model, task.matching, [], folder, settings)
    return folder / "model"


def our_cross_encoder(model: str, task: Task, folder: Path, settings: Fit) -> Path:
    train_cross_encoder(model, lambda number: task.labelled, [], folder, settings)
    return folder / "model"


def their_bi_encoder(model: str, task: Task, folder: Path, settings: Fit) -> Path:
    theirs = import_module("sentence_transformers")
    losses = import_module("sentence_transformers.sentence_transformer.losses")
    samplers = import_module(
        "sentence_transformers.sentence_transformer.training_args"
    ).BatchSamplers
    encoder = theirs.SentenceTransformer(model)
    encoder.max_seq_length = settings.max_tokens
    theirs.SentenceTransformerTrainer(
        model=encoder,
        args=theirs.SentenceTransformerTrainingArguments(
            batch_sampler=samplers.NO_DUPLICATES, **_arguments(folder, settings)
        ),
        train_dataset=import_module("datasets").Dataset.from_dict(
            {
                "anchor": [pair.question for pair in task.matching],
                "positive": [pair.text for pair in task.matching],
            }
        ),
        loss=losses.MultipleNegativesRankingLoss(encoder),
    ).train()
    encoder.save_pretrained(str(folder / "model"))
    return folder / "model"


def their_cross_encoder(model: str, task: Task, folder: Path, settings: Fit) -> Path:
    theirs = import_module("sentence_transformers.cross_encoder")
    losses = import_module("sentence_transformers.cross_encoder.losses")
    encoder = theirs.CrossEncoder(model, num_labels=1, max_length=settings.max_tokens)
    theirs.CrossEncoderTrainer(
        model=encoder,
        args=theirs.CrossEncoderTrainingArguments(**_arguments(folder, settings)),
        train_dataset=import_module("datasets").Dataset.from_dict(
            {
                "question": [pair.question for pair in task.labelled],
                "text": [pair.text for pair in task.labelled],
                "label": [pair.label for pair in task.labelled],
            }
        ),
        loss=losses.BinaryCrossEntropyLoss(encoder),
    ).train()
    encoder.save_pretrained(str(folder / "model"))
    return folder / "model"


def _arguments(folder: Path, settings: Fit) -> dict[str, Any]:
    return {
        "output_dir": str(folder / "steps"),
        "num_train_epochs": settings.epochs,
        "per_device_train_batch_size": settings.batch,
        "learning_rate": settings.learning_rate,
        # Despite its name, a value below 1 is a share of all steps.
        "warmup_steps": settings.warmup,
        "weight_decay": settings.weight_decay,
        "seed": settings.seed,
        "save_strategy": "no",
        "report_to": "none",
        "disable_tqdm": True,
    }


def by_vectors(model: str | Path) -> Ask:
    """Score by the cosines of a bi-encoder; the vectors of texts are cached."""
    encoder = import_module("sentence_transformers").SentenceTransformer(str(model))
    encoder.max_seq_length = _SETTINGS.max_tokens
    kept: dict[int, Any] = {}

    def vectors(texts: Sequence[str]) -> Any:
        return encoder.encode(list(texts), normalize_embeddings=True, show_progress_bar=False)

    def ask(question: str, texts: Sequence[str]) -> Sequence[float]:
        if id(texts) not in kept:
            kept[id(texts)] = vectors(texts)
        return list(kept[id(texts)] @ vectors([question])[0])

    return ask


def by_pairs(model: str | Path) -> Ask:
    """Score by the logits of a cross-encoder."""
    theirs = import_module("sentence_transformers")
    encoder = theirs.CrossEncoder(str(model), num_labels=1, max_length=_SETTINGS.max_tokens)

    def ask(question: str, texts: Sequence[str]) -> Sequence[float]:
        return list(encoder.predict([(question, text) for text in texts], show_progress_bar=False))

    return ask


def rank(ask: Ask, task: Task, candidates: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Rank the candidates of each topic, best first."""
    everything = {id(names): [task.texts[name] for name in names] for names in candidates.values()}
    rankings = {}
    for topic, names in candidates.items():
        scores = np.asarray(ask(task.questions[topic], everything[id(names)]))
        rankings[topic] = [names[place] for place in np.argsort(-scores, kind="stable")]
    return rankings


def figures(task: Task, rankings: Mapping[str, Sequence[str]]) -> str:
    hits = {topic: tuple(Hit(name, 0.0) for name in names) for topic, names in rankings.items()}
    return "{:.3f} {:.3f}".format(*mean_measures(Run("", hits), task.grades))


@contextmanager
def timed(name: str) -> Iterator[None]:
    began, worked = time.perf_counter(), time.process_time()
    yield
    seconds, processor = time.perf_counter() - began, time.process_time() - worked
    print(f"  {name}: trained in {seconds:.1f} s ({processor:.1f} s of processor)", flush=True)


def measure(file: Path, model: str, seeds: Sequence[int]) -> None:
    task = read_task(file)
    answers = list(task.texts)
    whole = dict.fromkeys(task.questions, answers)
    untrained = rank(by_vectors(model), task, whole)
    top = {topic: names[:_DEPTH] for topic, names in untrained.items()}
    print(f"{model}, untrained: {figures(task, untrained)}")
    jobs = (
        ("bi-encoder", our_bi_encoder, their_bi_encoder, by_vectors, whole, task.matching),
        ("cross-encoder", our_cross_encoder, their_cross_encoder, by_pairs, top, task.labelled),
    )
    for name, ours, theirs, scores, candidates, pairs in jobs:
        print(f"{name}, {len(pairs):,} pairs, {_EPOCHS[name]} epochs", flush=True)
        for seed in seeds:
            settings = replace(_SETTINGS, seed=seed, epochs=_EPOCHS[name])
            for whose, train in (("ours", ours), ("sentence-transformers", theirs)):
                with tempfile.TemporaryDirectory() as folder:
                    with timed(f"{whose}, seed {seed}"):
                        trained = train(model, task, Path(folder), settings)
                    found = rank(scores(trained), task, candidates)
                    print(f"    nDCG@10 and MAP: {figures(task, found)}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("stage", choices=["prepare", "measure"])
    parser.add_argument("file", type=Path)
    parser.add_argument("--model", default="sentence-transformers/all-MiniLM-L6-v2")
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3])
    parser.add_argument("--data", type=Path, default=DATA)
    given = parser.parse_args()
    if given.stage == "prepare":
        prepare(given.file, given.data)
    else:
        measure(given.file, given.model, given.seeds)


if __name__ == "__main__":
    main()
