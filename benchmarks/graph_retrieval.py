"""Compares all retrieval strategies for graph vectors of the MathAMR+ thesis.

    python -m benchmarks.graph_retrieval [--model FOLDER] [--libraries FOLDER]

The vectors of a model (the built-in one, or that of ``--model``) are searched exactly by MaxSim, by
the document vector with MaxSim for its candidates, and by the document vector only (tables 4.15 and
4.16 of the thesis). If FAISS is installed, its HNSW index is also used to find the candidates. With
a Qdrant server (the program ``qdrant`` on the path, or named by MATHSETU_QDRANT) each strategy runs
there as well, exactly and with HNSW. Answers are searched alone, as in the thesis, and with their
questions. The measures are those of the thesis, on the topics of 2020 and 2021 with a relevant post
here, and nDCG@10 with unjudged posts as not relevant.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from collections.abc import Sequence
from contextlib import nullcontext
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.maxsim import wait_for_index
from benchmarks.shared import DATA, YEARS, Judged, arqmath_posts, judged, topics
from mathsetu.errors import MissingExtra
from mathsetu.evaluation import Judgments, evaluate, parse_measures
from mathsetu.graphs.virtual import FORMULA
from mathsetu.intake.question import Question
from mathsetu.library import build_library
from mathsetu.library.manifest import read_manifest, segment_folder
from mathsetu.models import require
from mathsetu.recipes import load_recipe
from mathsetu.records import Hit, Run
from mathsetu.retrieval.base import Scored, best
from mathsetu.retrieval.graph_search import SHIPPED, GraphRetriever, GraphSettings, VectorComparison
from mathsetu.retrieval.maxsim import MaxSim
from mathsetu.retrieval.multivectors import MultiVectors
from mathsetu.retrieval.qdrant import QdrantSearch, QdrantServer, collections_of, upload_segment
from mathsetu.retrieval.text_table import write_texts
from tests.retrieval.qdrant_server import LocalQdrant, qdrant_program

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

_DEPTH = 1000
# Search breadth (ef) of HNSW, as in the thesis.
_BREADTH = 128
_MEASURES = ("nDCG'", "MAP'", "P'@10", "bpref", "nDCG@10")
# The thesis uses 5,000 and 1,000 candidates of 33,771 posts; 500 and 100 are the same shares here.
_WAYS = (("exact", 0), ("document", 1000), ("document", 500), ("document", 100), ("single", 0))
_FIELDS = {"answers alone": ["body"], "with their questions": ["title", "question", "body"]}


def show(name: str, scored: Sequence[Scored], about: About, seconds: float) -> None:
    """Print one line: the measures of each year, and the speed."""
    rankings = {
        query: tuple(
            Hit(about.posts[number], score)
            for number, score in zip(one.numbers.tolist(), one.scores.tolist(), strict=True)
        )
        for query, one in zip(about.queries, scored, strict=True)
    }
    cells = []
    measures = [one for one in parse_measures(_MEASURES) if str(one) in _MEASURES]
    for grades in about.judged.values():
        run = Run(name, {topic: rankings[topic] for topic in grades})
        found = evaluate(run, Judgments(grades), measures, relevant_from=2)
        cells.append(" ".join(f"{found.mean(measure):.3f}" for measure in measures))
    print(f"{name:<28} {'  '.join(cells)}  {len(scored) / seconds:6.0f} q/s", flush=True)


class About:
    """The topics, their judgments and the posts."""

    def __init__(self, data: Path) -> None:
        self.judged: dict[int, Judged] = {year: judged(year, data) for year in YEARS}
        wanted = {topic for grades in self.judged.values() for topic in grades}
        self.questions = [Question(query) for query in topics("en", data) if query.id in wanted]
        self.queries = [question.query.id for question in self.questions]
        self.posts = [post.id for post in arqmath_posts(data)]


def search(name: str, engine: VectorComparison, about: About, vectors: Sequence[Vectors]) -> None:
    engine.search(vectors[:1], 1)
    started = time.perf_counter()
    found = engine.search(vectors, _DEPTH)
    show(name, found, about, time.perf_counter() - started)


def in_process(folders: Sequence[Path], about: About, vectors: Sequence[Vectors]) -> None:
    has_hnsw = find_spec("faiss") is not None
    if not has_hnsw:
        print(f"  (left out: {MissingExtra('HNSW in process', 'neural')})", flush=True)
    for strategy, depth in _WAYS:
        name = f"{strategy}, {depth}" if depth else strategy
        search(name, MaxSim(folders, strategy, depth or _DEPTH), about, vectors)
        if has_hnsw and len(folders) == 1:
            engine = FaissHnsw(MultiVectors(folders[0]), strategy, depth or _DEPTH)
            search(f"{name}, HNSW", engine, about, vectors)


class FaissHnsw:
    """Exact scores of HNSW candidates (16 neighbours, breadth 128, as in Qdrant)."""

    def __init__(self, vectors: MultiVectors, strategy: str, depth: int) -> None:
        faiss = require("faiss", "HNSW in process", "neural")
        self._vectors, self._strategy, self._depth = vectors, strategy, depth
        every = vectors.vectors(np.arange(vectors.total))
        rows = every if strategy == "exact" else vectors.documents
        self._index = faiss.IndexHNSWFlat(rows.shape[1], 16, faiss.METRIC_INNER_PRODUCT)
        self._index.hnsw.efConstruction = 100
        self._index.add(np.ascontiguousarray(rows))

    def search(
        self, queries: Sequence[Vectors], k: int, allowed: NDArray[np.bool_] | None = None
    ) -> list[Scored]:
        return [self._search(query, k) for query in queries]

    def _search(self, query: Vectors, k: int) -> Scored:
        if self._strategy == "exact":
            near = self._near(query, _BREADTH)
            posts = np.searchsorted(self._vectors.layout.starts, near, side="right") - 1
        else:
            posts = self._near(query[-1:], self._depth)
        posts = np.unique(posts)
        if self._strategy == "single":
            scores = self._vectors.documents[posts] @ query[-1]
        else:
            scores = self._vectors.scores_of(query, posts)
        found = best(scores, k)
        return Scored(posts[found.numbers], found.scores)

    def _near(self, rows: Vectors, count: int) -> NDArray[np.int64]:
        self._index.hnsw.efSearch = max(_BREADTH, count)
        found = self._index.search(np.ascontiguousarray(rows), count)[1].ravel()
        return np.asarray(found[found >= 0], dtype=np.int64)


def without_formulas(part: Path, place: Path) -> Path:
    """Copy a segment without its formula vectors, because uploading them takes long."""
    copy = place / part.parent.name
    shutil.copytree(part / "vectors", copy / "vectors")
    kinds = np.load(part / "kinds.npy")
    np.save(copy / "kinds.npy", np.full_like(kinds, FORMULA + 1))
    write_texts(copy / "ids", [])
    write_texts(copy / "latex", [])
    return copy


def on_server(parts: Sequence[Path], about: About, vectors: Sequence[Vectors], place: Path) -> None:
    local = LocalQdrant(place)
    local.start()
    try:
        server = QdrantServer(local.url)
        for part in [without_formulas(part, place) for part in parts]:
            upload_segment(server, part, lambda number: {"id": str(number)}, lambda *_: None)
            posts = collections_of(part / "vectors").posts
            with server.connected() as client:
                # Otherwise Qdrant builds no index for so few vectors.
                settings = server.models.OptimizersConfigDiff(indexing_threshold=1)
                client.update_collection(posts, optimizers_config=settings)
            seconds, indexed = wait_for_index(server, posts)
            print(f"  (Qdrant: {indexed:,} vectors in its index, {seconds:.0f} s)", flush=True)
        folders = [part / "vectors" for part in parts]
        for strategy, depth in _WAYS:
            for kind in ("", "hnsw"):
                way = "-".join(filter(None, (strategy.replace("exact", ""), kind))) or "exact"
                name = f"Qdrant {way}, {depth}" if depth else f"Qdrant {way}"
                engine = QdrantSearch(server, folders, way, depth or _DEPTH)
                search(name, engine, about, vectors)
        server.close()
    finally:
        local.kill()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--model", default=SHIPPED)
    parser.add_argument("--documents", choices=_FIELDS, nargs="+", default=list(_FIELDS))
    parser.add_argument("--libraries", type=Path, help="keep them here, and take those of before")
    parser.add_argument("--no-server", action="store_true", help="search in process alone")
    options = parser.parse_args()
    about = About(options.data)
    kept = options.libraries
    with nullcontext(kept) if kept else tempfile.TemporaryDirectory() as place:
        for documents in options.documents:
            fields = _FIELDS[documents]
            settings = [f"parts.graph.model={options.model}", f"parts.graph.fields={fields}"]
            library = Path(place) / documents.replace(" ", "-")
            if not library.exists():
                recipe = load_recipe("mathamr-plus", settings)
                build_library(library, arqmath_posts(options.data), recipe, processes=1)
            parts = [
                segment_folder(library, one.name) / "graph"
                for one in read_manifest(library).segments
            ]
            kinds = [np.load(part / "kinds.npy", allow_pickle=False) for part in parts]
            formulas = sum(np.count_nonzero(own == FORMULA) for own in kinds)
            measures = f"{', '.join(_MEASURES)} of 2020, of 2021"
            print(f"{documents}, {formulas:,} formulas: {measures}", flush=True)
            retriever = GraphRetriever(parts, GraphSettings(model=options.model))
            vectors = [retriever.encode(one).encoded.vectors for one in about.questions]
            in_process([part / "vectors" for part in parts], about, vectors)
            if qdrant_program() and not options.no_server:
                with tempfile.TemporaryDirectory() as data:
                    on_server(parts, about, vectors, Path(data))


if __name__ == "__main__":
    main()
