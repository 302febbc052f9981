"""Graphs of a library and of collections as files."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mathsetu.collections.jsonl import write_posts, write_queries
from mathsetu.collections.rows import BadRows
from mathsetu.errors import InputError
from mathsetu.graphs.build import GraphBuilder
from mathsetu.graphs.imported import ImportedGraphs
from mathsetu.graphs.penman import read_penman, write_penman
from mathsetu.graphs.penman.records import Record
from mathsetu.intake.posts import read_post
from mathsetu.library import graph_files, graph_upload, remove_posts
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
from mathsetu.records import Formula, Post, Query
from mathsetu.retrieval import qdrant
from tests.encoders.tiny_graph import POSTS, make_graph_library

FIELDS = ("title", "question", "body")


class Progress(list[tuple[str, int]]):
    def __call__(self, what: str, done: int) -> None:
        self.append((what, done))


@pytest.fixture
def posts(tmp_path: Path) -> Path:
    write_posts(tmp_path / "posts.jsonl", POSTS)
    return tmp_path / "posts.jsonl"


def test_a_library_gives_the_graphs_of_all_posts_except_removed_ones(tmp_path: Path) -> None:
    library, progress = make_graph_library(tmp_path), Progress()
    remove_posts(library, ["2"])
    records = list(library_graphs(library, progress))
    builder = GraphBuilder("terms")
    assert {record.id: write_penman(record.graph) for record in records} == {
        post.id: write_penman(builder.build(post_source(read_post(post), FIELDS)))
        for post in (POSTS[0], POSTS[2])
    }
    assert progress == [("building graphs", 1), ("building graphs", 2)]


def test_graphs_of_a_file_are_built_written_read_and_imported(posts: Path, tmp_path: Path) -> None:
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


def test_sentences_for_an_external_parser_are_numbered(posts: Path, tmp_path: Path) -> None:
    assert write_sentences(tmp_path / "sentences", read_sources(posts, FIELDS)) == 4
    lines = (tmp_path / "sentences").read_text(encoding="utf-8").splitlines()
    assert lines[::3] == ["# ::id 1.1", "# ::id 1.2", "# ::id 2.1", "# ::id 3.1"]
    assert lines[7] == "# ::snt Every even number is the sum of two odd ones."


def test_topics_are_read_as_sources_with_text_language_and_formulas(tmp_path: Path) -> None:
    path = tmp_path / "topics.jsonl"
    queries = [
        Query("1", "Is $x^2$ even?", language="cs"),
        Query("2", "Is $y$ odd?", formulas=(Formula("f", "y"),)),
    ]
    write_queries(path, queries)
    (_, first), (_, second) = read_sources(path, FIELDS, "hi")
    assert (first.text, first.language) == ("Is $x^2$ even?", "cs")
    assert [formula.latex for formula in first.formulas] == ["x^2"]
    assert (second.language, [formula.id for formula in second.formulas]) == ("hi", ["f"])
    (_, guessed) = list(read_sources(path, FIELDS))[1]
    assert guessed.language == "en"
    (tmp_path / "qrels.txt").write_text("1 0 7 1\n")
    with pytest.raises(InputError, match="holds judgments; graphs are built of posts or topics"):
        list(read_sources(tmp_path / "qrels.txt", FIELDS))


def test_a_source_has_only_the_formulas_of_its_fields() -> None:
    formulas = (Formula("1", "a", where="title"), Formula("2", "b", where="body"))
    post = read_post(Post("7", "$b$ here", title="$a$", formulas=formulas, language="en"))
    assert [one.id for one in post_source(post, ("body",)).formulas] == ["2"]
    assert [one.id for one in post_source(post, ("title", "body")).formulas] == ["1", "2"]
    assert post_source(post, ("question",)).formulas == []
    unknown = read_post(Post("8", "$b$"))
    assert post_source(unknown, ("body",)).language == "en"
    assert post_source(unknown, ("body",), "hi").language == "hi"


def test_graphs_of_sentences_are_joined_and_graphs_of_whole_posts_kept(
    posts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graph_files, "_BATCH_SIZE", 2)
    builder = GraphBuilder("terms")
    built = list(built_graphs(read_sources(posts, FIELDS), builder, Progress()))
    progress = Progress()
    many = [(f"{name}{number}", source) for number in range(3)
            for name, source in read_sources(posts, FIELDS) if name != "1"]  # fmt: skip
    sources = [*many[:3], *list(read_sources(posts, FIELDS))[:1], *many[3:]]
    count, failures = import_graphs(tmp_path / "graphs", built[:1], sources, progress)
    assert (count, failures) == (7, {"sentences": 6})
    assert progress == [("building graphs", 2), ("building graphs", 2), ("building graphs", 2)]
    with ImportedGraphs(tmp_path / "graphs") as store:
        assert all(store.get(name) is not None for name, _ in sources)
        assert store.get("9") is None


def test_a_disconnected_graph_is_a_bad_row(tmp_path: Path) -> None:
    path = tmp_path / "graphs.tsv"
    path.write_text("")
    assert list(read_graphs(path, "", BadRows())) == []
    with pytest.raises(InputError, match="unknown form of graphs 'dot'"):
        list(read_graphs(path, "dot", BadRows()))
    loose = [Record("1", SimpleNamespace(is_connected=lambda: False)),  # type: ignore[arg-type]
             Record("2", SimpleNamespace(is_connected=lambda: True))]  # type: ignore[arg-type]  # fmt: skip
    bad = BadRows(skip=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(graph_files, "records_in", lambda *given: loose)
        assert [one.id for one in read_graphs(path, "penman", bad)] == ["2"]
    assert bad.messages == [f"{path}: graph '1' is not connected"]


def test_the_vectors_of_a_library_are_uploaded_to_a_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = make_graph_library(tmp_path)
    assert graph_upload.searched_here(library) == (
        "parts.graph.server=''",
        "parts.graph.strategy='exact'",
    )
    sent: list[tuple[str, str, dict[str, object]]] = []

    class Server:
        closed = 0

        def __init__(self, url: str) -> None:
            self.url = url

        def close(self) -> None:
            Server.closed += 1

    def upload(server: Server, folder: Path, payload: Any, progress: object) -> int:
        sent.append((server.url, folder.name, payload(1)))
        return 3

    monkeypatch.setattr(qdrant, "QdrantServer", Server)
    monkeypatch.setattr(qdrant, "upload_segment", upload)
    assert graph_upload.upload_library(library, "http://a", Progress()) == 3
    told = {"id": "2", "language": POSTS[1].language, "tags": list(POSTS[1].tags), "collection": ""}
    assert sent == [("http://a", "graph", told)]
    assert Server.closed == 1
