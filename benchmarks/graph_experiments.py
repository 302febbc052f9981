"""Runs the experiments of the MathAMR+ thesis on our data: python -m benchmarks.graph_experiments.

Each variant is trained on the same pairs with several seeds, and measured on the ARQMath posts of
the data: nDCG@10 and MAP of 2020 and 2021, and the measures of the thesis (nDCG', MAP', P'@10 and
bpref), in English and other chosen languages. The same is measured with answers only, without their
questions, as in the thesis. Further figures are the reciprocal rank of held-out answers, and costs.

``--preset`` uses the network and training of a table of the thesis. ``--no-search`` leaves out the
posts, which take most of the time without a GPU. Each finished trial is written to a JSON file; a
run with the same file continues with the missing trials. ``--report`` makes tables and plots of the
file.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.graph_variants import DEPTH, Trained, Variant, experiments, train_variant
from benchmarks.shared import DATA, LANGUAGES, YEARS, arqmath_posts, judged, topics
from mathsetu.encoders.graph import GraphChoices, GraphModel
from mathsetu.encoders.graph.batch import ReadyGraph
from mathsetu.encoders.graph.network import GraphNetwork
from mathsetu.evaluation import Judgments, evaluate, parse_measures
from mathsetu.graphs.vocabulary import Vocabulary
from mathsetu.records import Hit, Run
from mathsetu.retrieval.maxsim import STRATEGIES, MaxSim
from mathsetu.retrieval.multivectors import write_multivectors
from mathsetu.training.graph.fit import GraphFit, reading
from mathsetu.training.graph.graphs import (
    PairGraphSettings,
    graph_pairs,
    source_of,
    text_graphs,
    vocabulary_of,
    with_features,
)
from mathsetu.training.graph.loss import GraphPair
from mathsetu.training.graph.negatives import hard_negatives
from mathsetu.training.graph.text_pairs import TextPair, read_text_pairs, split_pairs
from mathsetu.training.graph.thesis import PRESETS
from mathsetu.training.graph.validation import Vectors, found_answers, vectors_of

_ASIDE = 500
#: The measures of each topic: ours first, then the four of the thesis.
MEASURES = ("nDCG@10", "MAP", "nDCG'", "MAP'", "P'@10", "bpref")
#: Key of the results for answers without their questions, as searched in the thesis.
ANSWERS = "answers"


class Bench:
    """The data of all trials; each kind of graph is built only once."""

    def __init__(
        self,
        data: Path,
        pairs: list[TextPair],
        languages: Sequence[str],
        processes: int = 0,
        graphs: Path | None = None,
    ) -> None:
        self.learn, self.check = split_pairs(pairs, _ASIDE, seed=1)
        self.processes, self._graphs = processes, graphs
        self.vocabulary = self._vocabulary()
        self._judged = {year: judged(year, data) for year in YEARS}
        wanted = {topic for grades in self._judged.values() for topic in grades}
        self._topics = [
            (language, topic)
            for language in languages
            for topic in topics(language, data)
            if topic.id in wanted
        ]
        self._posts = list(arqmath_posts(data)) if languages else []
        self.pairs = cache(self._pairs)
        self.collection = cache(self._collection)
        # Retrieval strategies share a trained model, and follow each other.
        self.trained = lru_cache(maxsize=1)(self._trained)
        self.vectors = lru_cache(maxsize=1)(self._vectors)

    def _vocabulary(self) -> Vocabulary:
        """The node and relation types of the pairs' graphs; from the graph folder if present."""
        path = self._graphs / "vocabulary.json" if self._graphs else None
        if path and path.exists():
            return Vocabulary.load(path)
        found = vocabulary_of(self.learn, GraphChoices(), self.processes)
        if path:
            path.parent.mkdir(parents=True, exist_ok=True)
            found.save(path)
        return found

    def making(self, model: GraphModel) -> PairGraphSettings:
        """Settings for making the graphs of a model."""
        features = with_features(model)[1]
        return PairGraphSettings(model.graphs, self.vocabulary, features, self.processes)

    def _pairs(self, model: GraphModel, negatives: int) -> tuple[list[GraphPair], list[GraphPair]]:
        wrong = hard_negatives(self.learn, negatives) if negatives else ()
        making = self.making(model)
        with self._place(model) as folder:
            learn = graph_pairs(self.learn, making, folder / "learn.sqlite", wrong)
            return learn, graph_pairs(self.check, making, folder / "check.sqlite")

    def _trained(self, variant: Variant, kind: GraphModel, seed: int) -> Trained:
        learn, check = self.pairs(kind, variant.negatives)
        return train_variant(variant, self.vocabulary, learn, check, seed)

    @contextmanager
    def _place(self, model: GraphModel) -> Iterator[Path]:
        """The folder for graphs of a kind: permanent if ``--graphs`` is given, else temporary."""
        if self._graphs:
            virtual = model.graphs.virtual
            yield self._graphs / f"{model.graphs.trees}-{virtual.structure}-{virtual.auxiliary}"
        else:
            with TemporaryDirectory() as folder:
                yield Path(folder)

    def _collection(self, model: GraphModel) -> dict[str, list[ReadyGraph]]:
        """The graphs of topics, of answers with their questions, and of answers only."""
        texts = {
            "topics": [
                source_of(f"{topic.title}\n{topic.text}", language)
                for language, topic in self._topics
            ],
            "threads": [
                source_of(f"{post.title}\n\n{post.question}\n\n{post.body}", "en")
                for post in self._posts
            ],
            ANSWERS: [source_of(post.body, "en") for post in self._posts],
        }
        making = self.making(model)
        with self._place(model) as folder:
            return {
                name: text_graphs(sources, making, folder / f"{name}.sqlite")
                for name, sources in texts.items()
            }

    def _vectors(self, network: GraphNetwork, model: GraphModel) -> dict[str, list[Vectors]]:
        """Encode topics and posts."""
        read = reading(network)
        return {name: vectors_of(read, some) for name, some in self.collection(model).items()}

    def measure(self, trained: Trained, model: GraphModel, variant: Variant) -> dict[str, Any]:
        """Measure each topic of each year, the size of the index, and the speed."""
        found: dict[str, Any] = {"topics": {}}
        if not self._posts:
            return found
        vectors = self.vectors(trained.network, model)
        asked = vectors["topics"]
        for documents in ("threads", ANSWERS):
            posts = vectors[documents]
            with TemporaryDirectory() as folder:
                write_multivectors(Path(folder) / "posts", posts, "float16")
                index = MaxSim([Path(folder) / "posts"], variant.strategy, variant.depth)
                started = time.perf_counter()
                scored = index.search(asked, DEPTH)
                seconds = time.perf_counter() - started
            for language in dict.fromkeys(language for language, _ in self._topics):
                rankings = {
                    topic.id: tuple(
                        Hit(self._posts[place].id, score)
                        for place, score in zip(
                            one.numbers.tolist(), one.scores.tolist(), strict=True
                        )
                    )
                    for (own, topic), one in zip(self._topics, scored, strict=True)
                    if own == language
                }
                where = found if documents == "threads" else found.setdefault(ANSWERS, {})
                where = where if language == "en" else where.setdefault(language, {})
                where["topics"] = self._measured(Run("graph", rankings))
            if documents == "threads":
                found["queries_a_second"] = len(asked) / seconds
                found["index_mb"] = sum(one.size for one in posts) * 2 / 1e6
        return found

    def _measured(self, run: Run) -> dict[str, list[float]]:
        """The measures of each topic; keys are year and topic."""
        found: dict[str, list[float]] = {}
        measures = [one for one in parse_measures(MEASURES) if str(one) in MEASURES]
        for year, grades in self._judged.items():
            own = Run(run.name, {topic: run.rankings[topic] for topic in grades})
            results = evaluate(own, Judgments(grades), measures, relevant_from=2)
            columns = [results.of(measure) for measure in measures]
            for topic, values in zip(results.topics, zip(*columns, strict=True), strict=True):
                found[f"{year} {topic}"] = list(values)
        return found


def trial(bench: Bench, variant: Variant, seed: int) -> dict[str, Any]:
    model = with_features(variant.model)[0]
    variant = replace(variant, model=model)
    # The graphs do not depend on the initialisation of virtual nodes or on the network.
    same = replace(model.graphs.virtual, initialisation="zero-embedding")
    kind = GraphModel(features_from=model.features_from, graphs=replace(model.graphs, virtual=same))
    alike = replace(variant, name="", strategy=STRATEGIES[0], depth=DEPTH)
    trained = bench.trained(alike, kind, seed)
    check = bench.pairs(kind, variant.negatives)[1]
    return {
        "reciprocal_rank": found_answers(reading(trained.network), check).reciprocal_rank,
        "epoch_seconds": trained.epoch_seconds,
        "parameters": trained.parameters,
        "memory_gb": trained.memory / 1e9,
        "losses": list(trained.losses),
        **bench.measure(trained, kind, variant),
    }


def run(bench: Bench, options: argparse.Namespace) -> None:
    """Run the missing trials, seed by seed, so that a time limit affects all variants equally."""
    model = GraphModel(options.hidden, 32, options.layers, options.bases)
    fit = GraphFit(epochs=options.epochs, batch=options.batch, learning_rate=options.rate, beta=1.0)
    if options.preset:
        model, fit = PRESETS[options.preset]
    tables = experiments(model, fit)
    file = options.results
    done: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}
    trials: dict[tuple[Variant, int], dict[str, Any]] = {}
    started = time.monotonic()
    for seed in map(int, options.seeds.split(",")):
        for name in options.only.split(","):
            for variant in tables[name]:
                key = f"{name}/{variant.name}/{seed}"
                # The thesis' own model is in every experiment, but is trained only once.
                known = (replace(variant, name=""), seed)
                if key not in done:
                    if time.monotonic() - started > options.seconds:
                        return
                    trials[known] = trials.get(known) or trial(bench, variant, seed)
                    done[key] = trials[known]
                    file.parent.mkdir(parents=True, exist_ok=True)
                    file.write_text(json.dumps(done))
                trials[known] = done[key]
                print(f"{key}: MRR {done[key]['reciprocal_rank']:.3f}", flush=True)


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(description=__doc__)
    made.add_argument("--data", type=Path, default=DATA)
    made.add_argument("--results", type=Path, default=Path("out/graph/experiments.json"))
    made.add_argument("--report", type=Path, help="write tables and plots into this folder")
    made.add_argument("--and-results", type=Path, nargs="+", default=[], help="report these too")
    made.add_argument("--only", default=",".join(experiments(GraphModel(), GraphFit())))
    made.add_argument("--pairs", type=int, default=8000, help="pairs to learn from and to check")
    made.add_argument("--seeds", default="1,2,3")
    made.add_argument("--seconds", type=float, default=float("inf"), help="begin nothing after")
    made.add_argument("--preset", choices=sorted(PRESETS), help="a table of the thesis")
    made.add_argument("--epochs", type=int, default=3)
    made.add_argument("--batch", type=int, default=64)
    made.add_argument("--rate", type=float, default=1e-3)
    made.add_argument("--hidden", type=int, default=64)
    made.add_argument("--layers", type=int, default=4)
    made.add_argument("--bases", type=int, default=16)
    made.add_argument("--languages", nargs="+", default=["en"], choices=LANGUAGES)
    made.add_argument("--no-search", action="store_true", help="measure pairs held out alone")
    made.add_argument("--processes", type=int, default=0)
    made.add_argument("--graphs", type=Path, help="keep graphs here, and take those of before")
    return made


def main() -> None:
    options = parser().parse_args()
    if options.report:
        from benchmarks.graph_report import write_report

        write_report([options.results, *options.and_results], options.report)
        return
    unseen = [f"{topic.title}\n{topic.text}" for topic in topics("en", options.data)]
    pairs = read_text_pairs(options.data / "training", unseen)
    # The file is sorted by source, so pairs are taken at regular intervals to cover all sources.
    pairs = pairs[:: max(1, len(pairs) // options.pairs)][: options.pairs]
    languages = () if options.no_search else options.languages
    run(Bench(options.data, pairs, languages, options.processes, options.graphs), options)


if __name__ == "__main__":
    main()
