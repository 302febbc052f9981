"""Graphs of a library and of collections as files."""

from pathlib import Path

import pytest

from mathsetu.collections.jsonl import write_posts
from mathsetu.collections.rows import BadRows
from mathsetu.errors import InputError
from mathsetu.graphs.build import GraphBuilder
from mathsetu.graphs.imported import ImportedGraphs
from mathsetu.graphs.penman import read_penman, write_penman
from mathsetu.intake.posts import read_post
from mathsetu.library import remove_posts
from mathsetu.library.graph_files import (
    built_graphs,
    import_graphs,
    library_graphs,
    post_source,
    read_graphs,
    read_sources,
    write_graphs,
    write_sentences,
)
from tests.encoders.tiny_graph import POSTS, make_graph_library

FIELDS = ("title", "question", "body")


class Progress(list[tuple[str, int]]):
    def __call__(self, what: str, done: int) -> None:
        self.append((what, done))


@pytest.fixture
def posts(tmp_path: Path) -> Path:
    write_posts(tmp_path / "posts.jsonl", POSTS)
    return tmp_path / "posts.jsonl"


def test_a_library_gives_the_graphs_of_the_posts_that_are_left(tmp_path: Path) -> None:
    library, progress = make_graph_library(tmp_path), Progress()
    remove_posts(library, ["2"])
    records = list(library_graphs(library, progress))
    builder = GraphBuilder("terms")
    assert {record.id: write_penman(record.graph) for record in records} == {
        post.id: write_penman(builder.build(post_source(read_post(post), FIELDS)))
        for post in (POSTS[0], POSTS[2])
    }
    assert progress == [("building graphs", 1), ("building graphs", 2)]


def test_graphs_of_a_file_are_built_written_read_and_taken_in(posts: Path, tmp_path: Path) -> None:
    progress, bad = Progress(), BadRows()
    builder = GraphBuilder("terms")
    built = list(built_graphs(read_sources(posts, FIELDS), builder, progress))
    assert progress == [("building graphs", 3)]
    assert write_graphs(tmp_path / "graphs.penman", built) == 3
    again = list(read_graphs(tmp_path / "graphs.penman", "", bad))
    assert [record.id for record in again] == ["1", "2", "3"]
    texts = [write_penman(read_penman(write_penman(record.graph))) for record in built]
    assert [write_penman(record.graph) for record in again] == texts
    assert import_graphs(tmp_path / "graphs.sqlite", again, None, progress) == (3, {})
    with ImportedGraphs(tmp_path / "graphs.sqlite") as taken_in:
        assert taken_in.get("2") is not None
        assert taken_in.get("4") is None
    with pytest.raises(InputError, match="unknown form of graphs 'dot'"):
        list(read_graphs(tmp_path / "graphs.penman", "dot", bad))


def test_sentences_are_numbered_for_a_parser_that_runs_elsewhere(
    posts: Path, tmp_path: Path
) -> None:
    assert write_sentences(tmp_path / "sentences", read_sources(posts, FIELDS)) == 4
    lines = (tmp_path / "sentences").read_text(encoding="utf-8").splitlines()
    assert lines[::3] == ["# ::id 1.1", "# ::id 1.2", "# ::id 2.1", "# ::id 3.1"]
    assert lines[7] == "# ::snt Every even number is the sum of two odd ones."
