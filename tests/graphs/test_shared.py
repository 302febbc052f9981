"""Graphs of public posts and topics are connected and complete."""

from pathlib import Path

import pytest

from benchmarks.shared import LANGUAGES, arqmath_posts, topics
from mathsetu.graphs import GraphBuilder, Source
from mathsetu.graphs.penman import read_penman, write_penman
from mathsetu.markup.convert import split

pytestmark = [pytest.mark.shared, pytest.mark.thorough]


@pytest.mark.exhaustive
def test_posts_become_connected_graphs_that_penman_keeps_unchanged(shared_data: Path) -> None:
    posts = list(arqmath_posts(shared_data))[::16]
    sources = [
        Source(f"{post.title}\n\n{post.question}\n\n{post.body}", "en", post.formulas)
        for post in posts
    ]
    graphs = GraphBuilder("terms").build_many(sources)
    connected = sum(graph.is_connected() for graph in graphs)
    assert connected >= 0.995 * len(posts)
    for post, graph in zip(posts, graphs, strict=True):
        # The text has some formulas that ARQMath does not list, such as environments.
        listed = {formula.id: formula.latex for formula in post.formulas}
        found = {part.id for part in graph.formulas}
        text = f"{post.title}\n\n{post.question}\n\n{post.body}"
        written = [span.content for span in split(text) if span.kind == "formula"]
        assert listed.keys() <= found
        assert len(found - listed.keys()) <= sum(latex not in listed.values() for latex in written)
    for graph in graphs[::4]:
        back = read_penman(write_penman(graph), graph.formula_map)
        assert sorted(back.labels) == sorted(graph.labels)
        assert len(back.sources) == len(graph.sources)
        assert back.formula_map == graph.formula_map
        assert len(back.sentences) == len(graph.sentences)


@pytest.mark.parametrize("language", LANGUAGES)
def test_all_topics_become_connected_graphs(shared_data: Path, language: str) -> None:
    queries = topics(language, shared_data)
    sources = [Source(f"{query.title}\n\n{query.text}", language) for query in queries]
    assert all(graph.is_connected() for graph in GraphBuilder("terms").build_many(sources))
