"""Builds the graphs of a whole collection on all cores and stores them as tensors in one file.

The work can be resumed: graphs that the file has are not built again. Worker processes get texts in
small batches, since parsers are fastest on batches.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TypeVar

from mathsetu.encoders.graph.settings import GraphChoices
from mathsetu.graphs.build import GraphBuilder, Source
from mathsetu.graphs.store import TensorStore
from mathsetu.graphs.tensors import tensors
from mathsetu.graphs.vocabulary import TypeCounts, Vocabulary
from mathsetu.pool import all_cores, ordered_map
from mathsetu.training.loop import Progress

# Texts per batch: a post has about eight sentences, and a parser works best on about sixty.
_BATCH_SIZE = 8
# Graphs per write, since each write waits for the disk.
_WRITE_BATCH_SIZE = 512
# Batches that are sent to a process together.
_CHUNK = 8
_Batch = list[tuple[str, Source]]
Result = TypeVar("Result")


@dataclass(frozen=True)
class GraphsMade:
    """The number of graphs that were built now, and the problems inside them.

    ``failures`` counts sentences whose parser failed (they get the graph of their terms) and
    formulas that are attached to the root because a parser lost them. No post is lost.
    """

    made: int
    failures: Counter[str]


def count_types(
    sources: Iterable[Source],
    choices: GraphChoices,
    processes: int = 0,
    progress: Progress | None = None,
) -> TypeCounts:
    """Count the node and relation types of the graphs of some texts, for a vocabulary.

    Args:
        sources: The texts.
        choices: Which graphs are built.
        processes: Worker processes (default: one per core).
        progress: Called with the current phase and the number of items done.
    """
    total = TypeCounts()
    batches = _batches(("", source) for source in sources)
    done = 0
    for counts, size in _worked(_Counting(choices), batches, processes):
        total.update(counts)
        done += size
        if progress:
            progress("counting types", done)
    return total


def prepare_graphs(
    sources: Iterable[tuple[str, Source]],
    path: str | Path,
    vocabulary: Vocabulary,
    choices: GraphChoices,
    processes: int = 0,
    progress: Progress | None = None,
) -> GraphsMade:
    """Build and store the tensors of posts that are not in the store.

    Args:
        sources: Post ids with texts.
        path: The store; it is created if missing.
        vocabulary: The types of nodes and relations.
        choices: Which graphs are built.
        processes: Worker processes (default: one per core).
        progress: Called with the current phase and the number of items done.
    """
    failures: Counter[str] = Counter()
    waiting: list[tuple[str, bytes]] = []
    done = 0
    with TensorStore(path, write=True) as store:
        missing = (item for item in sources if item[0] not in store)
        work = _Making(choices, vocabulary)
        try:
            for rows, some in _worked(work, _batches(missing), processes):
                waiting += rows
                failures.update(some)
                done += len(rows)
                if progress:
                    progress("building graphs", done)
                if len(waiting) >= _WRITE_BATCH_SIZE:
                    store.write_bytes(waiting)
                    waiting = []
        finally:
            store.write_bytes(waiting)  # keep finished graphs if the work is interrupted
    return GraphsMade(done, +failures)


@dataclass
class _Counting:
    """Counts the types of a batch of graphs, in a worker process."""

    choices: GraphChoices

    def __call__(self, batch: _Batch) -> tuple[TypeCounts, int]:
        counts = TypeCounts()
        builder = GraphBuilder(self.choices.sentences)
        for graph in builder.build_many([source for _, source in batch]):
            counts.add(graph)
        return counts, len(batch)


@dataclass
class _Making:
    """Builds the tensors of a batch of graphs, in a worker process."""

    choices: GraphChoices
    vocabulary: Vocabulary

    def __call__(self, batch: _Batch) -> tuple[list[tuple[str, bytes]], Counter[str]]:
        builder = GraphBuilder(self.choices.sentences)
        graphs = builder.build_many([source for _, source in batch])
        virtual, trees = self.choices.virtual, self.choices.trees
        rows = [
            (post_id, tensors(graph, self.vocabulary, virtual, trees).to_bytes())
            for (post_id, _), graph in zip(batch, graphs, strict=True)
        ]
        return rows, builder.failures


def _batches(items: Iterable[tuple[str, Source]]) -> Iterator[_Batch]:
    waiting = iter(items)
    while batch := list(islice(waiting, _BATCH_SIZE)):
        yield batch


def _worked(
    work: Callable[[_Batch], Result], batches: Iterable[_Batch], processes: int
) -> Iterator[Result]:
    with closing(ordered_map(work, batches, processes or all_cores(), _CHUNK)) as results:
        yield from results
