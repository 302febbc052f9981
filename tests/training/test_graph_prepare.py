"""Preparing the graphs of a collection: in parallel, and resumed after an interruption."""

from pathlib import Path

import pytest

from mathsetu.encoders.graph.settings import GraphChoices
from mathsetu.graphs import GraphBuilder, Source, TensorStore, TypeCounts, tensors
from mathsetu.training.graph.prepare import count_types, prepare_graphs

SOURCES = [
    (str(number), Source(f"Is ${number}x^2$ a multiple of {number}? Ask {number} people."))
    for number in range(30)
]
CHOICES = GraphChoices(sentences="terms")


@pytest.mark.thorough
@pytest.mark.parametrize("processes", [1, 2])
def test_all_posts_are_prepared_in_their_order(tmp_path: Path, processes: int) -> None:
    texts = [source for _, source in SOURCES]
    counts = count_types(texts, CHOICES, processes)
    expected = TypeCounts()
    for graph in GraphBuilder("terms").build_many(texts):
        expected.add(graph)
    assert counts.nodes == expected.nodes
    vocabulary = counts.vocabulary()
    seen: list[int] = []
    prepared = prepare_graphs(
        SOURCES,
        tmp_path / "graphs.sqlite",
        vocabulary,
        CHOICES,
        processes,
        lambda what, done: seen.append(done),
    )
    assert (prepared.made, seen[-1]) == (30, 30)
    assert seen == sorted(seen)
    with TensorStore(tmp_path / "graphs.sqlite") as store:
        assert list(store) == [post_id for post_id, _ in SOURCES]
        assert store["7"] == tensors(GraphBuilder("terms").build(SOURCES[7][1]), vocabulary)


def test_existing_graphs_are_not_made_again(tmp_path: Path) -> None:
    path = tmp_path / "graphs.sqlite"
    vocabulary = count_types([SOURCES[0][1]], CHOICES, 1).vocabulary()

    def stopped() -> object:
        yield from SOURCES[:16]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        prepare_graphs(stopped(), path, vocabulary, CHOICES, 1)  # type: ignore[arg-type]
    with TensorStore(path) as store:
        assert 0 < len(store) <= 16
        before = len(store)
    assert prepare_graphs(SOURCES, path, vocabulary, CHOICES, 1).made == 30 - before
    assert prepare_graphs(SOURCES, path, vocabulary, CHOICES, 1).made == 0
