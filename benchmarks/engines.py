"""Compares our search with other engines on the same posts, formulas, vectors and queries.

    python -m benchmarks.engines LIBRARY [--queries 50] [--only words,formulas,vectors]

LIBRARY is a library built with the recipe ``default``. Install the others with
``pip install 'mathsetu[rivals]'``, and pya0 where it is available; engines that are not installed
are left out.

words     Each engine gets the terms of every post; exact is BM25 of all posts by numpy. Each
          distinct term of a query counts once, because not every engine can weight terms.
formulas  Each engine gets the features of every distinct formula; exact is the Dice similarity of
          all formulas. Queries are single formulas; extracting their features is timed for all.
vectors   Each engine gets the vector of every passage; exact is the dot product of floats.

Queries come from posts of the library: short ones are the first words of a question and one of its
formulas, long ones are the whole question (for formulas: a random one, and the longest). Queries
run one at a time on one thread, with 500 results; each is run twice, and the faster run counts.
Times are medians of processor time. Recall accepts any document with the score of a document that
belongs there. Engines with a setting between speed and recall have two rows: the fastest setting
with a recall@100 of 0.95, and the fastest whose recall@100 equals ours. Builds may use all cores;
the table has their wall-clock time and the time of all processors. Sizes are those on disk.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from mathsetu.errors import InputError
from mathsetu.formulas.parse import parse_once
from mathsetu.intake import MarkedText, Question
from mathsetu.library import Library
from mathsetu.records import Query
from mathsetu.retrieval import kernels
from mathsetu.retrieval.formula import FormulaRetriever, _QueryFormula
from mathsetu.retrieval.formula_index import feature_counts, rarity_of
from mathsetu.retrieval.lexical import LexicalRetriever
from mathsetu.retrieval.meaning import MeaningRetriever, quantize_int8
from mathsetu.retrieval.postings import Postings, merge_postings, term_hashes
from mathsetu.retrieval.query_vectors import query_vector
from mathsetu.retrieval.segments import Numbering
from mathsetu.retrieval.weighting import write_impacts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Numbers = NDArray[np.int64]
    #: The scores of one term, from its frequencies in documents, their lengths, and their number.
    Weigh = Callable[[Floats, Floats, int], Floats]
    #: Returns the numbers of the best documents for the query with a number.
    Search = Callable[[int], Numbers]
    #: How many documents belong to the best, and their minimum score.
    Goal = tuple[int, float]

PARTS = ("words", "formulas", "vectors")
DEPTHS = (10, 100, 500)
DEPTH = DEPTHS[-1]
#: Number of results fetched from engines with another ranking, to be rescored by ours.
FETCHED = 2_000
_SHORT = 8
_SEED = 7
#: Points per request to Qdrant Edge.
_BATCH = 5_000
_LONGEST_REFUSAL = 90
#: Training examples per list of an IVF index.
_EXAMPLES = 64
_EXPANSIONS = [2**power for power in range(9, 15)]
#: The usual target of recall@100, and the tolerance for reaching a target.
_USUAL, _NEARLY = 0.95, 0.0005
#: Relative difference of sums in different order.
_ROUNDING = 1e-5

Retriever = TypeVar("Retriever")


@dataclass(frozen=True)
class Engine:
    """An engine with a built index.

    Attributes:
        search: Returns the numbers of the best documents for the query with a number, best first.
        note: Remarks for the table.
        count: The number of documents indexed, from the first on; None for all.
        size: Its bytes, if not those of the folder in which it was built.
        tune: For an engine with a setting between speed and recall: selects the fastest setting
            with this recall@100, and describes it.
        check: Makes further remarks that take time to find.
    """

    search: Search
    note: str = ""
    count: int | None = None
    size: int | None = None
    tune: Callable[[float], str] | None = None
    check: Callable[[], str] | None = None


#: Builds an engine in a folder.
Maker = Callable[[Path], Engine]


@dataclass(frozen=True)
class Contest:
    """The queries and exact scores by which engines are compared.

    Attributes:
        part: The part of the search.
        kinds: The kind of each query, short or long.
        exact: The exact scores of all documents for each query.
    """

    part: str
    kinds: Sequence[str]
    exact: Sequence[Floats]
    _goals: dict[tuple[int, int], list[Goal]] = field(default_factory=dict)

    def recall(self, search: Search, depth: int, count: int | None = None) -> float:
        """The share of the best documents that is found, among the first ``count`` documents."""
        return self._share([search(number) for number in range(len(self.exact))], depth, count)

    def _share(self, found: Sequence[Numbers], depth: int, count: int | None = None) -> float:
        count = len(self.exact[0]) if count is None else count
        if (depth, count) not in self._goals:
            self._goals[depth, count] = [goal(exact[:count], depth) for exact in self.exact]
        goals = self._goals[depth, count]
        return float(np.mean(list(map(share, found, self.exact, goals))))

    def run(self, ours: Maker, rivals: Sequence[tuple[str, Maker]]) -> None:
        """Measure our engine, then each of the others that is available."""
        reached = self._rows("mathsetu", ours, 1.0)
        for name, make in rivals:
            try:
                self._rows(name, make, reached)
            except ModuleNotFoundError as missing:
                self._left_out(name, f"not installed ({missing.name})")
            except Exception as error:  # measure the remaining engines
                self._left_out(name, f"{type(error).__name__}: {error}")

    def _rows(self, name: str, make: Maker, ours: float) -> float:
        """Build an engine, run all queries and print its rows; return the last recall@100."""
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            begun, had = time.perf_counter(), time.process_time()
            engine = make(folder)
            built = f"{time.perf_counter() - begun:.1f} | {time.process_time() - had:.1f}"
            size = folder_size(folder) if engine.size is None else engine.size
            known = f"{built} | {size / 1e6:,.1f}"
            engine.search(0)  # warm up
            if not engine.tune:
                more = f"; {engine.check()}" if engine.check else ""
                return self._row(name, engine, known, engine.note + more)
            usual = engine.tune(min(_USUAL, ours))
            reached = self._row(name, engine, known, f"{engine.note}, {usual}")
            equal = engine.tune(ours)
            if equal != usual:
                reached = self._row(f"{name}, as ours", engine, known, f"{engine.note}, {equal}")
            return reached

    def _row(self, name: str, engine: Engine, known: str, note: str) -> float:
        found = [engine.search(number) for number in range(len(self.exact))]
        recalls = [self._share(found, depth, engine.count) for depth in DEPTHS]
        numbers = [
            [number for number, one in enumerate(self.kinds) if one == kind]
            for kind in ("short", "long")
        ]
        times = " | ".join(f"{milliseconds(engine.search, own):.2f}" for own in numbers)
        if engine.count is not None and engine.count < len(self.exact[0]):
            note = f"the first {engine.count:,} only; {note}"
        shown = " / ".join(f"{one:.3f}" for one in recalls)
        print(f"| {self.part} | {name} | {times} | {shown} | {known} | {note} |", flush=True)
        return recalls[DEPTHS.index(100)]

    def _left_out(self, name: str, why: str) -> None:
        said = " ".join(why.split()).replace("|", "/")[:_LONGEST_REFUSAL]
        print(f"| {self.part} | {name} |  |  |  |  |  |  | left out: {said} |", flush=True)

    def quickest(
        self, settings: Sequence[int], use: Callable[[int], None], search: Search, target: float
    ) -> int:
        """Apply the first setting, from fast to thorough, that reaches a recall@100."""
        for setting in settings:
            use(setting)
            if self.recall(search, 100) >= target - _NEARLY:
                break
        return setting


def goal(exact: Floats, depth: int) -> Goal:
    """The number of documents that belong to the best, and their minimum score."""
    wanted = min(depth, int(np.count_nonzero(exact > 0)))
    least = np.partition(exact, len(exact) - wanted)[len(exact) - wanted] if wanted else 0
    return wanted, float(least) * (1 - _ROUNDING)


def share(found: Numbers, exact: Floats, goal: Goal) -> float:
    """The share of the best documents that was found; ties are interchangeable.

    >>> exact = np.array([1, 5, 5, 0], dtype=np.float32)
    >>> share(np.array([2, 0]), exact, goal(exact, 2)), share(np.array([2]), exact, goal(exact, 1))
    (0.5, 1.0)
    """
    wanted, least = goal
    return float(np.count_nonzero(exact[found[:wanted]] >= least) / wanted) if wanted else 1.0


def milliseconds(search: Search, queries: Sequence[int]) -> float:
    """The median processor time of queries; each is run twice, and the faster run counts."""
    times = []
    for query in queries:
        tries = []
        for _ in range(2):
            begun = time.process_time()
            search(query)
            tries.append(time.process_time() - begun)
        times.append(min(tries))
    return 1000 * float(np.median(times))


def folder_size(folder: Path) -> int:
    """The bytes of all files below a folder; unallocated space of sparse files does not count."""
    stats = (path.stat() for path in folder.rglob("*") if path.is_file())
    return sum(min(stat.st_size, 512 * stat.st_blocks) for stat in stats)


class Merged:
    """The postings of all segments as one index with consecutive document numbers."""

    def __init__(self, segments: Sequence[Postings]) -> None:
        self.terms = np.unique(np.concatenate([one.terms for one in segments]))
        rows = [np.searchsorted(self.terms, one.terms) for one in segments]
        sizes = np.zeros(len(self.terms), dtype=np.int64)
        for one, own in zip(segments, rows, strict=True):
            sizes[own] += np.diff(one.starts)
        #: Where the postings of each term begin; one more at the end.
        self.starts = np.concatenate([[0], np.cumsum(sizes)])
        self.documents = np.empty(self.starts[-1], dtype=np.int32)
        self.frequencies = np.empty(self.starts[-1], dtype=np.float32)
        free, first = self.starts[:-1].copy(), 0
        for one, own in zip(segments, rows, strict=True):
            lists = np.diff(one.starts)
            places = np.repeat(free[own] - one.starts[:-1], lists) + np.arange(one.size)
            self.documents[places] = one.documents + first
            self.frequencies[places] = one.frequencies
            free[own] += lists
            first += len(one)
        self.lengths = np.concatenate([one.lengths for one in segments])

    def __len__(self) -> int:
        return len(self.lengths)

    def rows(self, hashes: NDArray[np.uint64]) -> Numbers:
        """The rows of terms; -1 for an unknown term."""
        rows = np.searchsorted(self.terms, hashes)
        return np.where(np.take(self.terms, rows, mode="clip") == hashes, rows, -1)

    def lists(self, rows: Numbers) -> Iterator[tuple[NDArray[np.int32], Floats]]:
        """Yield the documents of each term, and its frequencies there."""
        for start, end in kernels.ranges_of(self.starts, rows).tolist():
            yield self.documents[start:end], self.frequencies[start:end]

    def scores(self, rows: Numbers, weigh: Weigh) -> Floats:
        """The scores of all documents: the sum over the terms."""
        scores = np.zeros(len(self), dtype=np.float32)
        for documents, frequencies in self.lists(rows):
            scores[documents] += weigh(frequencies, self.lengths[documents], len(documents))
        return scores

    @cached_property
    def order(self) -> Numbers:
        """The positions of postings, sorted by document."""
        # Packed into one integer: sorting integers is much faster than an argsort.
        places = np.arange(len(self.documents), dtype=np.uint64)
        both = np.sort((self.documents.astype(np.uint64) << np.uint64(32)) | places)
        return (both & np.uint64(2**32 - 1)).astype(np.int64)

    @cached_property
    def ends(self) -> Numbers:
        """The offset of each document's postings in that order, plus one at the end."""
        sizes = np.bincount(self.documents, minlength=len(self))
        return np.concatenate([[0], np.cumsum(sizes)])

    @cached_property
    def rows_by_document(self) -> NDArray[np.int32]:
        """The terms of each document."""
        rows = np.arange(len(self.terms), dtype=np.int32)
        return np.repeat(rows, np.diff(self.starts))[self.order]


def write(segments: Sequence[Postings], folder: Path) -> None:
    """Write an index as the library does when it merges segments."""
    numbering = Numbering(map(len, segments))
    pairs = zip(segments, numbering.firsts, strict=True)
    numbers = [first + np.arange(len(one)) for one, first in pairs]
    merge_postings(segments, numbers, len(numbering), folder)


class Edge:
    """Qdrant Edge with a sparse vector for each document; its dot product is the score."""

    def __init__(self, index: Merged, values: Floats, count: int, folder: Path) -> None:
        self._library: Any = importlib.import_module("qdrant_edge")
        edge = self._library
        config = edge.EdgeConfig(
            sparse_vectors={"terms": edge.EdgeSparseVectorParams(full_scan_threshold=1)},
            # One segment, indexed whatever its size.
            optimizers=edge.EdgeOptimizersConfig(
                default_segment_number=1, indexing_threshold=1, max_segment_size=10**9
            ),
            max_search_threads=1,
            wal_enabled=False,
        )
        self._shard = edge.EdgeShard.create(str(folder), config)
        ends = index.ends.tolist()
        for first in range(0, count, _BATCH):
            last = min(first + _BATCH, count)
            own = slice(ends[first], ends[last])
            rows, weights = index.rows_by_document[own].tolist(), values[own].tolist()
            points = []
            for number in range(first, last):
                start, end = ends[number] - own.start, ends[number + 1] - own.start
                vector = edge.SparseVector(rows[start:end], weights[start:end])
                points.append(edge.Point(number, {"terms": vector}))
            self._shard.update(edge.UpdateOperation.upsert_points(points))
        self._shard.optimize()
        self._shard.flush()

    def nearest(self, rows: list[int], values: list[float], k: int) -> Numbers:
        if not rows:
            return np.zeros(0, dtype=np.int64)
        edge = self._library
        query = edge.Query.Nearest(edge.SparseVector(rows, values), using="terms")
        found = self._shard.search(edge.SearchRequest(query=query, limit=k))
        return np.array([point.id for point in found], dtype=np.int64)


class Words:
    """Search by words."""

    def __init__(
        self, retriever: LexicalRetriever, questions: Sequence[Question], limit: int
    ) -> None:
        self._index, self._limit = retriever.index, limit
        self._merged = Merged(self._index.segments)
        #: The terms of each query that occur in the posts, and their rows.
        self._asked, self._rows = [], []
        for reply in retriever.ask(questions):
            terms = list(reply.wanted)
            rows = self._merged.rows(term_hashes(terms))
            self._asked.append([term for term, row in zip(terms, rows, strict=True) if row >= 0])
            self._rows.append(rows[rows >= 0])

    def contest(self, kinds: Sequence[str]) -> None:
        exact = [self._merged.scores(rows, self._weigh) for rows in self._rows]
        self._texts  # noqa: B018 - what engines are given is made before their time begins
        rivals = [
            ("bm25s", self._bm25s),
            ("tantivy", self._tantivy),
            ("Qdrant Edge", self._edge),
        ]
        Contest("words", kinds, exact).run(self._ours, rivals)

    def _weigh(self, frequencies: Floats, lengths: Floats, containing: int) -> Floats:
        scheme, collection = self._index.scheme, self._index.collection
        impact = scheme.impact(frequencies, lengths, collection)
        return np.asarray(impact * scheme.rarity(containing, collection), dtype=np.float32)

    def _ours(self, folder: Path) -> Engine:
        write(self._index.segments, folder / "index")
        write_impacts(folder / "index", self._index.scheme)
        wanted = [dict.fromkeys(terms, 1.0) for terms in self._asked]
        return Engine(
            lambda number: self._index.weigh(wanted[number]).best(DEPTH).numbers,
            f"{len(self._index.segments)} segments; "
            f"{'compiled' if kernels.is_compiled() else 'numpy'}",
        )

    @cached_property
    def _tokens(self) -> list[list[int]]:
        """The terms of each post, each as often as it occurs."""
        merged = self._merged
        counts = merged.frequencies[merged.order].astype(np.int64)
        tokens = np.repeat(merged.rows_by_document, counts)
        ends = np.concatenate([[0], np.cumsum(counts)])[merged.ends].tolist()
        every = tokens.tolist()
        return [every[start:end] for start, end in pairwise(ends)]

    @cached_property
    def _texts(self) -> list[str]:
        """The terms of each post, separated by spaces."""
        return [" ".join(map(str, tokens)) for tokens in self._tokens]

    def _bm25s(self, folder: Path) -> Engine:
        library: Any = importlib.import_module("bm25s")
        scheme: Any = self._index.scheme
        # Without delta, BM25+ is ATIRE's BM25 with another idf.
        index = library.BM25(
            k1=scheme.k1, b=scheme.b, method="atire", idf_method="bm25+", backend="auto"
        )
        vocabulary = {str(row): row for row in range(len(self._merged.terms))}
        index.index((self._tokens, vocabulary), create_empty_token=False, show_progress=False)
        index.save(folder, show_progress=False)
        asked = [rows.tolist() for rows in self._rows]
        k = min(DEPTH, len(self._merged))

        def search(number: int) -> Numbers:
            if not asked[number]:
                return np.zeros(0, dtype=np.int64)
            found = index.retrieve([asked[number]], k=k, show_progress=False, n_threads=0)
            return np.asarray(found.documents[0], dtype=np.int64)

        return Engine(search, f"{version('bm25s')}, {index.backend}; exact by design")

    def _tantivy(self, folder: Path) -> Engine:
        library: Any = importlib.import_module("tantivy")
        fields = library.SchemaBuilder()
        fields.add_text_field("terms", tokenizer_name="terms", index_option="freq")
        fields.add_integer_field("number", fast=True)
        schema = fields.build()
        index = library.Index(schema, path=str(folder))
        plain = library.TextAnalyzerBuilder(library.Tokenizer.whitespace()).build()
        index.register_tokenizer("terms", plain)
        # One thread with much memory produces one segment.
        writer = index.writer(heap_size=2_000_000_000, num_threads=1)
        for number, text in enumerate(self._texts):
            writer.add_document(library.Document(terms=text, number=number))
        writer.commit()
        writer.wait_merging_threads()
        index.reload()
        searcher, should = index.searcher(), library.Occur.Should
        queries = [
            library.Query.boolean_query(
                [
                    (should, library.Query.term_query(schema, "terms", str(row), "freq"))
                    for row in rows.tolist()
                ]
            )
            for rows in self._rows
        ]

        def search(number: int) -> Numbers:
            hits = searcher.search(queries[number], limit=DEPTH, count=False).hits
            numbers = searcher.fast_field_values("number", [address for _, address in hits])
            return np.array(numbers, dtype=np.int64)

        def check() -> str:
            own = [self._merged.scores(rows, self._as_tantivy) for rows in self._rows]
            found = Contest("words", (), own).recall(search, 100)
            return f"k1 is 1.2, fixed; against exact BM25 of that, recall@100 is {found:.3f}"

        return Engine(search, version("tantivy"), check=check)

    def _as_tantivy(self, frequencies: Floats, lengths: Floats, containing: int) -> Floats:
        """BM25 as defined by tantivy (which also rounds lengths)."""
        saturation = 1.2 * (0.25 + 0.75 * lengths / self._index.collection.average_length)
        idf = np.log1p((len(self._merged) - containing + 0.5) / (containing + 0.5))
        return np.asarray(idf * frequencies * 2.2 / (frequencies + saturation), dtype=np.float32)

    def _edge(self, folder: Path) -> Engine:
        merged = self._merged
        containing = np.repeat(np.diff(merged.starts), np.diff(merged.starts))
        scheme, collection = self._index.scheme, self._index.collection
        weights = scheme.impact(merged.frequencies, merged.lengths[merged.documents], collection)
        weights *= scheme.rarity(containing, collection)
        count = min(self._limit or len(merged), len(merged))
        edge = Edge(merged, weights[merged.order], count, folder)
        asked = [(rows.tolist(), [1.0] * len(rows)) for rows in self._rows]
        return Engine(
            lambda number: edge.nearest(*asked[number], DEPTH), version("qdrant-edge-py"), count
        )


class Formulas:
    """Search by the features of formulas."""

    def __init__(self, retriever: FormulaRetriever, asked: Sequence[str], limit: int) -> None:
        self._retriever, self._asked, self._limit = retriever, asked, limit
        self._segments = [segment.postings for segment in retriever.segments]
        self._merged = Merged(self._segments)
        containing = np.diff(self._merged.starts)
        self._rarity = rarity_of(containing, len(self._merged))
        self._masses = self._weigh()

    def _weigh(self) -> Floats:
        """The weight of all features of each formula."""
        rarity = np.repeat(self._rarity, np.diff(self._merged.starts))
        weights = rarity * self._merged.frequencies
        masses = np.bincount(self._merged.documents, weights, len(self._merged))
        return masses.astype(np.float32)

    def contest(self, kinds: Sequence[str]) -> None:
        exact = [self._dice(latex) for latex in self._asked]
        rivals = [("Qdrant Edge", self._edge), ("pya0", self._pya0)]
        Contest("formulas", kinds, exact).run(self._ours, rivals)

    def _features(self, latex: str) -> tuple[Numbers, Floats, Floats, float]:
        """A query's features: their rows, counts and weights, and the total weight of the query."""
        counted = feature_counts(parse_once(latex), query=True)
        rows = self._merged.rows(term_hashes(list(counted)))
        counts = np.array(list(counted.values()), dtype=np.float32)
        sizes = self._merged.starts[rows + 1] - self._merged.starts[rows]
        rarity = rarity_of(np.where(rows >= 0, sizes, 0), len(self._merged))
        mass = float(np.dot(rarity, counts))
        known = rows >= 0
        return rows[known], counts[known], rarity[known], mass

    def _dice(self, latex: str) -> Floats:
        """The Dice similarity of every formula to a query."""
        rows, counts, rarity, mass = self._features(latex)
        shared = np.zeros(len(self._merged), dtype=np.float32)
        for (documents, frequencies), count, weight in zip(
            self._merged.lists(rows), counts, rarity, strict=True
        ):
            shared[documents] += np.minimum(frequencies, count) * weight
        return np.asarray(2 * shared / (self._masses + np.float32(mass)), dtype=np.float32)

    def _ours(self, folder: Path) -> Engine:
        write(self._segments, folder / "index")
        np.save(folder / "index" / "masses.npy", self._weigh(), allow_pickle=False)
        return Engine(
            lambda number: (
                _QueryFormula(self._retriever, parse_once(self._asked[number])).best(DEPTH).numbers
            ),
            f"{len(self._segments)} segments; {FETCHED:,} looked at",
        )

    def _edge(self, folder: Path) -> Engine:
        merged, masses = self._merged, self._masses
        weights = np.repeat(self._rarity, np.diff(merged.starts)) * merged.frequencies
        values = np.sqrt(weights / np.maximum(masses[merged.documents], 1e-9))[merged.order]
        count = min(self._limit or len(merged), len(merged))
        edge = Edge(merged, values.astype(np.float32), count, folder)

        def search(number: int) -> Numbers:
            rows, counts, rarity, mass = self._features(self._asked[number])
            values = np.sqrt(counts * rarity).tolist()
            found = np.sort(edge.nearest(rows.tolist(), values, FETCHED))
            ranges = kernels.ranges_of(merged.starts, rows)
            likenesses = kernels.overlaps_of(
                merged.documents, merged.frequencies, ranges, counts, rarity, masses, mass, found
            )
            return found[np.argsort(-likenesses, kind="stable")[:DEPTH]]

        note = f"{version('qdrant-edge-py')}; {FETCHED:,} fetched, rescored by our loops"
        return Engine(search, note, count)

    def _pya0(self, folder: Path) -> Engine:
        library: Any = importlib.import_module("pya0")
        index = library.index_open(str(folder), option="w")
        writer = library.index_writer(index)
        numbers = {}
        for number in range(len(self._merged)):
            content = f"[imath]{self._retriever.latex(number)}[/imath]"
            numbers[library.writer_add_doc(writer, content=content)] = number
            if library.writer_maintain(writer):
                library.writer_flush(writer)
        library.writer_flush(writer)
        library.writer_close(writer)
        library.index_close(index)
        index = library.index_open(str(folder), option="r")

        def search(number: int) -> Numbers:
            keywords = [{"str": self._asked[number], "type": "tex"}]
            answer = json.loads(library.search(index, keywords, verbose=False, topk=DEPTH))
            found = [numbers[hit["docid"]] for hit in answer["hits"] if hit["docid"] in numbers]
            return np.array(found, dtype=np.int64)

        return Engine(search, f"{version('pya0')}; ranks by a measure of its own")


class Vectors:
    """Search by the vectors of passages."""

    def __init__(self, retriever: MeaningRetriever, questions: Sequence[Question]) -> None:
        self._retriever, self._segments = retriever, retriever.segments
        self._rows = np.concatenate([one.vectors.whole for one in self._segments])
        self._scales = np.concatenate([one.scales for one in self._segments])
        tokens = retriever.settings.tokens
        self._asked = [query_vector(retriever.encoder, one, tokens) for one in questions]

    @cached_property
    def _floats(self) -> Floats:
        return np.asarray(self._rows * self._scales[:, None], dtype=np.float32)

    def contest(self, kinds: Sequence[str]) -> None:
        exact = np.stack(self._asked) @ self._floats.T
        self._contest = Contest("vectors", kinds, list(exact))
        rivals = [
            ("faiss flat", self._flat),
            ("faiss IVF", self._ivf),
            ("faiss IVF, RaBitQ", self._rabitq),
            ("usearch, i8", self._usearch),
        ]
        self._contest.run(self._ours, rivals)

    def _ours(self, folder: Path) -> Engine:
        signs = kernels.sign_bits(self._rows)
        for name, array in (("rows", self._rows), ("scales", self._scales), ("signs", signs)):
            np.save(folder / f"{name}.npy", array, allow_pickle=False)
        starts = np.cumsum([0, *(len(one.vectors) for one in self._segments)])

        def search(number: int) -> Numbers:
            query = self._asked[number]
            near = self._retriever.near(query, None)
            found, dots = [], []
            for segment, _, posts in self._retriever.numbering.by_segment(near):
                rows, _ = self._segments[segment].passages(posts)
                dots.append(self._segments[segment].dots(rows, query))
                found.append(starts[segment] + rows)
            return _best(np.concatenate(found), np.concatenate(dots))

        note = f"{len(self._segments)} segments; sign bits, then int8, all passages of near posts"
        return Engine(search, note)

    def _rescored(self, found: Numbers, query: Floats) -> Numbers:
        found = found[found >= 0]
        return _best(found, kernels.int8_dots(self._rows, self._scales, found, query))

    def _faiss(self, kind: str, folder: Path, fetched: int, probes: Sequence[int] = ()) -> Engine:
        library: Any = importlib.import_module("faiss")
        library.omp_set_num_threads(os.cpu_count() or 1)
        index = library.index_factory(self._rows.shape[1], kind, library.METRIC_INNER_PRODUCT)
        if probes:
            lists: Any = library.extract_index_ivf(index)
            # Fewer examples than the default give equally good centroids.
            lists.cp.max_points_per_centroid = _EXAMPLES
            index.train(self._floats)
        index.add(self._floats)
        library.write_index(index, str(folder / "index"))
        library.omp_set_num_threads(1)
        wanted = min(fetched, len(self._rows))

        def search(number: int) -> Numbers:
            query = self._asked[number]
            found = np.asarray(index.search(query[None], wanted)[1][0], dtype=np.int64)
            return found if fetched == DEPTH else self._rescored(found, query)

        def tune(target: float) -> str:
            def use(value: int) -> None:
                lists.nprobe = value

            return f"nprobe {self._contest.quickest(probes, use, search, target)}"

        size, note = folder_size(folder), f"{version('faiss-cpu')}; {kind}"
        if fetched != DEPTH:
            size += self._rows.nbytes + self._scales.nbytes
            note = f"{note}; {fetched:,} fetched, rescored by our int8 loop"
        return Engine(search, note, size=size, tune=tune if probes else None)

    def _flat(self, folder: Path) -> Engine:
        return self._faiss("Flat", folder, DEPTH)

    def _ivf(self, folder: Path) -> Engine:
        lists, probes = self._lists
        return self._faiss(f"IVF{lists},Flat", folder, DEPTH, probes)

    def _rabitq(self, folder: Path) -> Engine:
        lists, probes = self._lists
        # Bits are most informative if all dimensions are alike, which a rotation ensures.
        kind = f"RR{self._rows.shape[1]},IVF{lists},RaBitQfs"
        return self._faiss(kind, folder, FETCHED, probes)

    @property
    def _lists(self) -> tuple[int, list[int]]:
        """The number of lists of an IVF index, and the numbers of lists to probe."""
        count = len(self._rows)
        lists = max(1, min(round(4 * count**0.5), count // 40))
        steps = (round(2 ** (step / 2)) for step in range(2 * lists.bit_length()))
        return lists, [*sorted({step for step in steps if step < lists}), lists]

    def _usearch(self, folder: Path) -> Engine:
        library: Any = importlib.import_module("usearch.index")
        index = library.Index(ndim=self._rows.shape[1], metric="cos", dtype="i8")
        index.add(np.arange(len(self._rows)), self._rows)
        index.save(str(folder / "index"))
        asked = [quantize_int8(query[None])[0][0] for query in self._asked]
        wanted = min(DEPTH + 100, len(self._rows))

        def search(number: int) -> Numbers:
            keys = index.search(asked[number], wanted, threads=1).keys
            return self._rescored(np.asarray(keys, dtype=np.int64), self._asked[number])

        def tune(target: float) -> str:
            def use(value: int) -> None:
                index.expansion_search = value

            return f"expansion {self._contest.quickest(_EXPANSIONS, use, search, target)}"

        note = f"{version('usearch')}; {wanted} fetched, rescored by our int8 loop"
        return Engine(search, note, tune=tune)


def _best(numbers: Numbers, scores: Floats) -> Numbers:
    """The numbers of the best scores, best first."""
    if len(numbers) > DEPTH:
        kept = np.argpartition(-scores, DEPTH)[:DEPTH]
        numbers, scores = numbers[kept], scores[kept]
    return numbers[np.argsort(-scores, kind="stable")]


def draw(library: Library, count: int) -> tuple[list[Question], list[str], list[str]]:
    """Draw posts at random, and make questions, their kinds, and a formula for each."""
    view = library._backend.now()
    rng = np.random.default_rng(_SEED)
    questions, kinds, formulas = [], [], []
    for number in rng.permutation(view.count).tolist():
        [post] = view.stored_posts.posts([number]).values()
        text = post.question or post.body
        own = [latex for latex in MarkedText(text).formulas if latex.strip()]
        if not own:
            continue
        some = own[int(rng.integers(len(own)))]
        words = MarkedText(post.question or post.title or post.body).words.split()[:_SHORT]
        for kind, asked, latex in (
            ("short", f"{' '.join(words)} ${some}$", some),
            ("long", text, max(own, key=len)),
        ):
            questions.append(Question(Query(str(number), asked, language=post.language)))
            kinds.append(kind)
            formulas.append(latex)
        if len(kinds) >= 2 * count:
            break
    if not questions:
        raise InputError(f"{library.folder}: has no post with a formula to ask for")
    return questions, kinds, formulas


def part_of(library: Library, kind: type[Retriever]) -> Retriever:
    """The part of a library that has a type."""
    for part in library._backend.now().parts(None)[0].values():
        if isinstance(part, kind):
            return part
    raise InputError(f"{library.folder}: has no {kind.__name__}; build it by the recipe default")


def compare(folder: Path, queries: int, parts: Sequence[str], limit: int = 0) -> None:
    """Print the table of results."""
    with Library(folder) as library:
        questions, kinds, formulas = draw(library, queries)
        print(
            f"{len(library):,} posts, {len(questions)} queries, Python {sys.version.split()[0]}\n"
        )
        print("| part | engine | short, ms | long, ms | recall@10 / 100 / 500 "
              "| build, s | processors, s | MB |  |")  # fmt: skip
        print("|---|---|---|---|---|---|---|---|---|", flush=True)
        if "words" in parts:
            Words(part_of(library, LexicalRetriever), questions, limit).contest(kinds)
        if "formulas" in parts:
            Formulas(part_of(library, FormulaRetriever), formulas, limit).contest(kinds)
        if "vectors" in parts:
            Vectors(part_of(library, MeaningRetriever), questions).contest(kinds)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("library", type=Path)
    parser.add_argument("--queries", type=int, default=50, help="of each kind (default: 50)")
    parser.add_argument("--only", default=",".join(PARTS), help="parts, with commas between")
    parser.add_argument(
        "--limit-edge", type=int, default=0, metavar="N",
        help="give Qdrant Edge, which takes one object a document, only the first N",
    )  # fmt: skip
    arguments = parser.parse_args()
    parts = arguments.only.split(",")
    if unknown := set(parts) - set(PARTS):
        parser.error(f"--only: unknown {', '.join(sorted(unknown))} (known: {', '.join(PARTS)})")
    compare(arguments.library, arguments.queries, parts, arguments.limit_edge)


if __name__ == "__main__":
    main()
