"""Search by meaning graphs: formulas, sentences and whole posts as vectors, compared by MaxSim.

A segment holds the vectors of each post (`multivectors.py`), the kind of each vector, and the ids
and LaTeX of the formulas. With a ``server``, Qdrant compares the vectors, which must have been
uploaded to it (`mathsetu graph upload`); explanations are still made from the local files.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

from mathsetu.encoders.graph import Encoded, GraphEncoder
from mathsetu.errors import DamagedLibrary, InputError
from mathsetu.graphs.build import Source
from mathsetu.graphs.graph import Graph
from mathsetu.graphs.imported import ImportedGraphs
from mathsetu.graphs.virtual import DOCUMENT, FORMULA
from mathsetu.intake import MarkedText, PostFacts, Question
from mathsetu.markup import formula_in_markdown
from mathsetu.records import Formula, Post, Query, Reason
from mathsetu.retrieval.base import Scored, WrittenSegment, check_fields
from mathsetu.retrieval.graph_formulas import GraphFormulas
from mathsetu.retrieval.mapped import Mapped
from mathsetu.retrieval.maxsim import STRATEGIES, MaxSim, check_strategy
from mathsetu.retrieval.multivectors import check_storage, write_multivectors
from mathsetu.retrieval.qdrant_address import confirmed
from mathsetu.retrieval.text_table import TextTable, write_texts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

#: The model that comes with the package.
SHIPPED = "shipped"
#: Strategies that only a server has, and what each is without the server's index (HNSW).
HNSW = {"hnsw": "exact", "document-hnsw": "document", "single-hnsw": "single"}
_SHIPPED_FOLDER = Path(__file__).parent.parent / "encoders" / "graph" / "model"
_FIELDS = ("title", "question", "body")
# How many matches an explanation names.
_MAX_MATCHES = 3


@dataclass(frozen=True)
class GraphSettings:
    """The settings of a graph index.

    Attributes:
        model: A folder with a graph model; ``shipped`` for the one that comes with the package.
        graphs: A file of imported graphs (`mathsetu graph import`), which replace the built ones
            of the posts and queries whose ids it has. Empty to build all graphs.
        fields: The fields of a post, in the order in which its graph is built from them.
        storage: ``float16``, or ``int8`` in half the space.
        strategy: ``exact``, or a faster one (see `maxsim.py`); on a server also ``hnsw``,
            ``document-hnsw`` and ``single-hnsw``, which use its index instead of comparing
            all vectors.
        depth: How many candidates ``document`` scores exactly. No other posts are found, however
            many are requested.
        server: The address of a Qdrant server that has the vectors; empty to search in process.
            It is contacted only if the user names it, too (`qdrant_address.py`).
    """

    model: str = SHIPPED
    graphs: str = ""
    fields: tuple[str, ...] = _FIELDS
    storage: str = "float16"
    strategy: str = "exact"
    depth: int = 1000
    server: str = ""

    def __post_init__(self) -> None:
        check_fields(self.fields, _FIELDS)
        if self.strategy in HNSW and not self.server:
            known = ", ".join(STRATEGIES)
            raise InputError(
                f"strategy is {self.strategy!r}, which needs a server (without one: {known})"
            )
        check_strategy(self.in_process, self.depth)
        check_storage(self.storage)

    @property
    def in_process(self) -> str:
        """The corresponding strategy without a server."""
        return HNSW.get(self.strategy, self.strategy)


@cache
def load_graph_encoder(model: str) -> GraphEncoder:
    """Load the encoder of a model; parts and segments with the same model share it."""
    return GraphEncoder.load(graph_model_folder(model))


def graph_model_folder(model: str) -> Path:
    """The folder of a graph model."""
    return _SHIPPED_FOLDER if model == SHIPPED else Path(model).expanduser()


@cache
def load_imported(path: str, process: int) -> ImportedGraphs:
    """Load the graphs of a file; parts and segments of one process share them."""
    return ImportedGraphs(Path(path).expanduser())


@dataclass(frozen=True)
class PreparedGraph:
    """What the index stores of a post."""

    encoded: Encoded
    latex: tuple[str, ...]


class GraphIndexBuilder:
    """Builds one segment; `prepare` makes the graph and the vectors of each post."""

    reader = None

    merges_on_disk = False

    def __init__(self, settings: GraphSettings) -> None:
        self._settings = settings
        self._posts: list[PreparedGraph] = []

    def prepare(self, facts: PostFacts) -> PreparedGraph:
        """The vectors of a post."""
        fields = self._settings.fields
        formulas = facts.named_formulas(fields)
        encoder = load_graph_encoder(self._settings.model)
        made = _imported(self._settings, facts.post.id)
        return encode(encoder, facts.joined(fields), facts.language, formulas, made)

    def add(self, prepared: PreparedGraph) -> None:
        """Add the next post."""
        self._posts.append(prepared)

    def merge(self, sources: Sequence[WrittenSegment], folder: Path) -> None:
        """Merge posts of other segments into one; all of their vectors are loaded into memory."""
        for source in sources:
            self._take_over(source.folder, source.kept)
        self.write(folder)

    def _take_over(self, folder: Path, kept: NDArray[np.int64]) -> None:
        segment = GraphSegment(folder)
        [vectors] = MaxSim([folder / "vectors"]).collections
        for number in kept.tolist():
            start, end = vectors.layout.starts[number : number + 2].tolist()
            kinds = segment.kinds[start:end]
            first = int(np.count_nonzero(segment.kinds[:start] == FORMULA))
            own = range(first, first + int(np.count_nonzero(kinds == FORMULA)))
            ids = tuple(segment.ids[place] for place in own)
            encoded = Encoded(vectors.of_post(number), kinds, ids)
            latex = tuple(segment.latex[place] for place in own)
            self._posts.append(PreparedGraph(encoded, latex))

    def write(self, folder: Path) -> None:
        """Write the segment into a new folder."""
        settings = self._settings
        folder.mkdir(parents=True)
        vectors = [post.encoded.vectors for post in self._posts]
        write_multivectors(folder / "vectors", vectors, settings.storage)
        kinds = np.concatenate([post.encoded.kinds for post in self._posts])
        np.save(folder / "kinds.npy", kinds, allow_pickle=False)
        write_texts(folder / "ids", [i for post in self._posts for i in post.encoded.formulas])
        write_texts(folder / "latex", [latex for post in self._posts for latex in post.latex])


def _imported(settings: GraphSettings, name: str) -> Graph | None:
    return load_imported(settings.graphs, os.getpid()).get(name) if settings.graphs else None


def encode(
    encoder: GraphEncoder,
    text: MarkedText,
    language: str,
    formulas: Sequence[Formula] = (),
    made: Graph | None = None,
) -> PreparedGraph:
    """The vectors of a text, with the LaTeX of its formulas.

    Args:
        encoder: The model.
        text: The text.
        language: Its language.
        formulas: Its formulas with their ids, if they have ids.
        made: Its graph, if that was imported.
    """
    # Formulas without an id get their LaTeX as id.
    given = list(formulas) or [Formula(latex, latex) for latex in text.formulas]
    if made is None:
        [encoded] = encoder.encode([Source(text.text, language, given, text.spans)])
    else:
        [encoded] = encoder.encode_made([made])
    latex = {formula.id: formula.latex for formula in given}
    return PreparedGraph(encoded, tuple(latex.get(name, name) for name in encoded.formulas))


class VectorComparison(Protocol):
    """Compares vectors, in this process or on a server."""

    def search(
        self, queries: Sequence[Vectors], k: int, allowed: NDArray[np.bool_] | None = None
    ) -> list[Scored]:
        """The best posts of each query."""
        ...


class GraphRetriever:
    """Answers questions by MaxSim of their graphs' vectors."""

    def __init__(self, folders: Sequence[Path], settings: GraphSettings) -> None:
        self.settings = settings
        # Checked when a library is opened, not at the first search.
        self.server = confirmed(settings.server) if settings.server else ""
        self.folders = list(folders)
        self.maxsim = MaxSim(
            [folder / "vectors" for folder in folders], settings.in_process, settings.depth
        )
        self.segments = [GraphSegment(folder) for folder in folders]
        self.posts = len(self.maxsim)
        self.heat_mapper = self
        self.formula_finder = GraphFormulas(self)

    def ask(self, questions: Sequence[Question]) -> list[GraphReply]:
        """Answer several questions, which are searched for in one batch."""
        batch = _Batch(self, [self.encode(question) for question in questions])
        return [GraphReply(self, batch, place) for place in range(len(questions))]

    def table(self, question: Question, number: int) -> tuple[list[str], list[str], Vectors]:
        """The parts of a question, the parts of a post, and their cosines, for a heat map."""
        return self.compared(self.encode(question), number)

    def compared(self, asked: PreparedGraph, number: int) -> tuple[list[str], list[str], Vectors]:
        """As `table`, for a question that is encoded already."""
        segment, place = self.maxsim.numbering.locate(number)
        collection = self.maxsim.collections[segment]
        names = self.segments[segment].names(*collection.layout.starts[place : place + 2].tolist())
        own = _part_names(asked.encoded.kinds.tolist(), asked.latex)
        return own, names, asked.encoded.vectors @ collection.of_post(place).T

    def encode(self, question: Question) -> PreparedGraph:
        """The vectors of a question."""
        encoder = load_graph_encoder(self.settings.model)
        named = named_formulas(question.query)
        made = _imported(self.settings, question.query.id)
        return encode(encoder, question.marked, question.language, named, made)

    def has_imported(self, question: Question) -> bool:
        """Whether the graph of a question was imported."""
        return _imported(self.settings, question.query.id) is not None

    def encode_text(self, text: MarkedText, language: str) -> PreparedGraph:
        """The vectors of a text; those of its formulas come first, in the order of the text."""
        return encode(load_graph_encoder(self.settings.model), text, language)

    @cached_property
    def engine(self) -> VectorComparison:
        """The engine that searches: this process, or a server."""
        if not self.server:
            return self.maxsim
        from mathsetu.retrieval.qdrant import QdrantSearch, QdrantServer

        folders = [folder / "vectors" for folder in self.folders]
        settings = self.settings
        server = QdrantServer(self.server)
        return QdrantSearch(server, folders, settings.strategy, settings.depth)


class _Batch:
    """Questions that are all searched for when the first of them is."""

    def __init__(self, retriever: GraphRetriever, asked: Sequence[PreparedGraph]) -> None:
        self._retriever, self.asked = retriever, asked
        self._searched: tuple[int, NDArray[np.bool_] | None] | None = None
        self._found: list[Scored] = []

    def search(self, k: int, allowed: NDArray[np.bool_] | None) -> list[Scored]:
        """The best posts of all questions."""
        last = self._searched
        if last is None or last[0] != k or last[1] is not allowed:
            vectors = [one.encoded.vectors for one in self.asked]
            self._found = self._retriever.engine.search(vectors, k, allowed)
            self._searched = (k, allowed)
        return self._found


class GraphReply:
    """Scores posts for one question of a batch, by MaxSim of graph vectors."""

    def __init__(self, retriever: GraphRetriever, batch: _Batch, place: int) -> None:
        self._retriever, self._batch, self._place = retriever, batch, place

    def best(self, k: int, allowed: NDArray[np.bool_] | None = None) -> Scored:
        """The best posts."""
        return self._batch.search(k, allowed)[self._place]

    def scores(self, numbers: NDArray[np.int64]) -> Vectors:
        """The exact scores of given posts."""
        vectors = self._batch.asked[self._place].encoded.vectors
        return self._retriever.maxsim.scores_of(vectors, numbers)

    def reason(self, number: int, post: Post) -> Reason:
        """The score, and the parts of the question that match best, each with its match."""
        rows, columns, cosines = self._retriever.compared(self._batch.asked[self._place], number)
        if not cosines.size:
            return Reason("graph", 0.0)
        best_of = cosines.max(axis=1)
        shown = [
            f"{rows[row]} ~ {columns[int(cosines[row].argmax())]} {best_of[row]:.2f}"
            for row in np.argsort(-best_of, kind="stable")[:_MAX_MATCHES].tolist()
        ]
        score = float(best_of.mean())
        return Reason("graph", score, f"MaxSim {score:.2f}: " + "; ".join(shown))


class GraphSegment:
    """The kinds of a segment's vectors, and the ids and LaTeX of its formulas."""

    def __init__(self, folder: Path) -> None:
        self._kinds = Mapped(folder / "kinds.npy", "int8")
        self._folder = folder
        self.ids, self.latex = TextTable(folder / "ids"), TextTable(folder / "latex")

    @cached_property
    def kinds(self) -> NDArray[np.int8]:
        """The kind of each vector: a formula, a sentence or the whole post."""
        kinds: NDArray[np.int8] = self._kinds.whole
        formulas = int(np.count_nonzero(kinds == FORMULA))
        if not formulas == len(self.ids) == len(self.latex):
            raise DamagedLibrary(self._folder, "is damaged (its files do not belong together)")
        return kinds

    def names(self, start: int, end: int) -> list[str]:
        """Readable names of the vectors from ``start`` to ``end``."""
        first = int(np.count_nonzero(self.kinds[:start] == FORMULA))
        kinds = self.kinds[start:end].tolist()
        count = kinds.count(FORMULA)
        return _part_names(kinds, [self.latex[first + number] for number in range(count)])


def _part_names(kinds: Sequence[int], latex: Sequence[str]) -> list[str]:
    names = [formula_in_markdown(one) for one in latex]
    sentences = sum(kind not in (FORMULA, DOCUMENT) for kind in kinds)
    names += [f"sentence {number + 1}" for number in range(sentences)]
    return [*names, "the whole"] if DOCUMENT in kinds else names


def named_formulas(query: Query) -> tuple[Formula, ...]:
    """The formulas that a query names and that its text contains."""
    return tuple(formula for formula in query.formulas if formula.latex in query.text)
