"""Requests to a Qdrant server, and how its answers are read; a stub replaces the server."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from mathsetu.errors import InputError
from mathsetu.graphs.virtual import FORMULA
from mathsetu.retrieval import qdrant
from mathsetu.retrieval.mapped import seal
from mathsetu.retrieval.multivectors import write_multivectors
from mathsetu.retrieval.qdrant import QdrantSearch, QdrantServer, collections_of, upload_segment
from mathsetu.retrieval.qdrant_formulas import QdrantFormulas
from mathsetu.retrieval.segments import Numbering
from mathsetu.retrieval.text_table import write_texts

UNIT = np.eye(4, dtype=np.float32)
# Posts with two vectors, none and one; the first and the last of all vectors are of formulas.
POSTS = [UNIT[:2], UNIT[:0], UNIT[2:3]]


class Models:
    """Each model is a record of its arguments."""

    Distance = SimpleNamespace(DOT="dot")
    MultiVectorComparator = SimpleNamespace(MAX_SIM="max_sim")
    PayloadSchemaType = SimpleNamespace(KEYWORD="keyword", INTEGER="integer")

    @staticmethod
    def VectorParams(**given: Any) -> Any:  # noqa: N802
        def model_copy(update: dict[str, Any]) -> dict[str, Any]:
            return {**given, **update}

        return SimpleNamespace(**given, model_copy=model_copy)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return lambda **given: SimpleNamespace(**given)


class Client:
    """Stores collections with their points; a search returns prepared answers."""

    def __init__(self) -> None:
        self.collections: dict[str, dict[int, Any]] = {}
        self.configs: dict[str, Any] = {}
        self.indexes: list[tuple[str, str]] = []
        self.batches: list[list[int]] = []
        self.requests: list[Any] = []
        self.answers: list[list[tuple[int, float]]] = []
        self.closed = 0

    def close(self) -> None:
        self.closed += 1

    def collection_exists(self, name: str) -> bool:
        return name in self.collections

    def create_collection(self, name: str, vectors_config: Any) -> None:
        self.collections[name], self.configs[name] = {}, vectors_config

    def create_payload_index(self, name: str, field: str, kind: str) -> None:
        self.indexes.append((field, kind))

    def retrieve(self, name: str, ids: Sequence[int], **options: bool) -> list[Any]:
        assert options == {"with_payload": False, "with_vectors": False}
        return [self.collections[name][one] for one in ids if one in self.collections[name]]

    def upsert(self, name: str, points: list[Any], wait: bool) -> None:
        assert wait
        self.batches.append([point.id for point in points])
        self.collections[name].update((point.id, point) for point in points)

    def count(self, name: str, exact: bool) -> Any:
        assert exact
        return SimpleNamespace(count=len(self.collections[name]))

    def _points(self) -> Any:
        found = self.answers.pop(0)
        return SimpleNamespace(points=[SimpleNamespace(id=n, score=s) for n, s in found])

    def query_batch_points(self, name: str, requests: list[Any]) -> list[Any]:
        self.requests += requests
        return [self._points() for _ in requests]

    def query_points(self, name: str, **given: Any) -> Any:
        assert given.pop("with_payload") is False
        self.requests.append(SimpleNamespace(**given))
        return self._points()


class Server(QdrantServer):
    def __init__(self) -> None:
        self.url, self.models, self.client = "http://here", Models(), Client()

    @contextmanager
    def connected(self) -> Iterator[Any]:
        yield self.client


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("graph")
    write_multivectors(made / "vectors", POSTS, "float16")
    np.save(made / "kinds.npy", np.array([FORMULA, FORMULA + 1, FORMULA], dtype=np.int8))
    write_texts(made / "ids", ["f1", "f2"])
    write_texts(made / "latex", ["x", "y"])
    seal(made)
    return made


def uploaded(folder: Path, progress: Callable[[str, int], None] = lambda what, n: None) -> Server:
    server = Server()
    upload_segment(server, folder, lambda number: {"id": f"p{number}"}, progress)
    return server


def test_vectors_of_posts_and_formulas_are_sent_in_batches(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(qdrant, "_BATCH", 2)
    seen: list[tuple[str, int]] = []
    server = uploaded(folder, lambda what, number: seen.append((what, number)))
    names = collections_of(folder / "vectors")
    posts, formulas = (server.client.collections[name] for name in (names.posts, names.formulas))
    assert server.client.batches == [[0, 1], [2], [0, 1]]
    assert seen == [("posts", 2), ("posts", 3), ("formulas", 2)]
    assert posts[0].vector == {"doc": UNIT[1].tolist(), "all": UNIT[:2].tolist()}
    assert posts[1].vector == {"doc": [0.0] * 4, "all": [[0.0] * 4]}
    assert posts[2].payload == {"id": "p2"}
    assert [formulas[number].vector for number in (0, 1)] == [UNIT[0].tolist(), UNIT[2].tolist()]
    assert [formulas[number].payload for number in (0, 1)] == [
        {"formula": "f1", "latex": "x", "number": 0, "post": "p0"},
        {"formula": "f2", "latex": "y", "number": 2, "post": "p2"},
    ]
    plain, several = server.client.configs[names.posts].values()
    assert (plain.size, plain.distance) == (4, "dot")
    assert several["multivector_config"].comparator == "max_sim"
    assert server.client.configs[names.formulas].size == 4
    assert server.client.indexes == [
        ("id", "keyword"), ("language", "keyword"), ("tags", "keyword"), ("collection", "keyword"),
        ("post", "keyword"), ("number", "integer"),
    ]  # fmt: skip


def test_an_interrupted_upload_continues_with_the_missing_points(folder: Path) -> None:
    server = uploaded(folder)
    names = collections_of(folder / "vectors")
    del server.client.collections[names.posts][1]
    server.client.batches.clear()
    made = len(server.client.indexes)
    assert upload_segment(server, folder, lambda number: {}, lambda what, number: None) == 3
    assert server.client.batches == [[1]]
    assert len(server.client.indexes) == made
    assert server.missing(names.posts, [0, 7, 2, 8]) == [7, 8]
    server.close()
    assert server.client.closed == 1


def test_missing_posts_and_formulas_on_a_server_are_reported(folder: Path) -> None:
    vectors = folder / "vectors"
    server = uploaded(folder)
    names = collections_of(vectors)
    QdrantSearch(server, [vectors])
    QdrantFormulas(server, [vectors], Numbering([2]), Numbering([3]))
    del server.client.collections[names.posts][1]
    del server.client.collections[names.formulas][1]
    with pytest.raises(InputError, match="has 2 of the library's 3 posts; upload"):
        QdrantSearch(server, [vectors])
    with pytest.raises(InputError, match="has 1 of the library's 2 formulas; upload"):
        QdrantFormulas(server, [vectors], Numbering([2]), Numbering([3]))
    for search in (
        lambda: QdrantSearch(Server(), [vectors]),
        lambda: QdrantFormulas(Server(), [vectors], Numbering([2]), Numbering([3])),
    ):
        with pytest.raises(InputError, match="has 0 of the library's"):
            search()


def search(folder: Path, strategy: str, depth: int = 9) -> tuple[QdrantSearch, Client]:
    server = uploaded(folder)
    vectors = folder / "vectors"
    return QdrantSearch(server, [vectors, vectors], strategy, depth), server.client


def test_posts_of_all_segments_are_ranked_together(folder: Path) -> None:
    found, client = search(folder, "exact")
    client.answers = [[(0, 1.0), (2, 0.4)], [(1, 0.8), (0, 0.0), (2, 0.4)]]
    [scored, nothing] = found.search([UNIT[:2], UNIT[:0]], 3)
    # The score for a query of two vectors is divided by two; ties go to the earlier post.
    assert scored.numbers.tolist() == [0, 4, 2]
    assert scored.scores.tolist() == pytest.approx([0.5, 0.4, 0.2])
    assert len(nothing.numbers) == 0
    request = client.requests[0]
    assert (request.query, request.using, request.limit) == (UNIT[:2].tolist(), "all", 3)
    assert (request.params.exact, request.params.hnsw_ef) == (True, 128)
    assert (request.filter, request.prefetch) == (None, None)
    assert len(client.requests) == 2
    client.answers = []
    assert [len(one.numbers) for one in found.search([UNIT[:0]], 3)] == [0]


def test_the_document_vector_selects_candidates_or_ranks_posts_alone(folder: Path) -> None:
    found, client = search(folder, "document-hnsw", 2)
    client.answers = [[(0, 3.0), (1, 2.0)], [(0, 1.0)]]
    assert found.search([UNIT[1:4]], 5)[0].numbers.tolist() == [0, 1]
    request = client.requests[0]
    assert (request.using, request.params.exact) == ("all", False)
    first = request.prefetch
    assert (first.query, first.using, first.limit) == (UNIT[3].tolist(), "doc", 2)
    found, client = search(folder, "single", 2)
    client.answers = [[(0, 3.0), (1, 2.0)], [(0, 1.0)]]
    scored = found.search([UNIT[1:4]], 5)[0]
    assert (scored.numbers.tolist(), scored.scores.tolist()) == ([0, 1, 3], [3.0, 2.0, 1.0])
    request = client.requests[0]
    assert (request.query, request.using, request.limit) == (UNIT[3].tolist(), "doc", 5)


@pytest.mark.parametrize(
    ("allowed", "must", "must_not"),
    [([1, 0, 0], [0], None), ([1, 1, 0], None, [2]), ([1, 1, 1], None, None)],
)
def test_a_filter_lists_the_allowed_or_the_excluded_posts_whichever_are_fewer(
    folder: Path, allowed: list[int], must: list[int] | None, must_not: list[int] | None
) -> None:
    found, client = search(folder, "exact")
    client.answers = [[(0, 1.0)]]
    mask = np.array([0, 0, 0, *allowed], dtype=np.bool_)
    assert found.search([UNIT[:1]], 5, mask)[0].numbers.tolist() == [3]
    (request,) = client.requests  # no post of the first segment is allowed
    if must is None and must_not is None:
        assert request.filter is None
    elif must is not None:
        assert request.filter.must[0].has_id == must
    else:
        assert request.filter.must_not[0].has_id == must_not
    half = np.array([True, False, True, False])
    assert found._filter(half).must[0].has_id == [0, 2]


def formulas(folder: Path, strategy: str = "exact") -> tuple[QdrantFormulas, Client]:
    server = uploaded(folder)
    vectors = folder / "vectors"
    made = QdrantFormulas(
        server, [vectors, vectors], Numbering([2, 2]), Numbering([3, 3]), strategy
    )
    return made, server.client


def test_formulas_of_all_segments_are_ranked_together(folder: Path) -> None:
    found, client = formulas(folder)
    client.answers = [[(1, 0.5), (0, 0.0)], [(0, 0.9), (1, 0.5)]]
    scored = found.nearest(UNIT[0], 2, None)
    assert scored.numbers.tolist() == [2, 1]
    assert scored.scores.tolist() == pytest.approx([0.9, 0.5])
    request = client.requests[0]
    assert (request.query, request.limit, request.query_filter) == (UNIT[0].tolist(), 2, None)
    assert (request.search_params.exact, request.search_params.hnsw_ef) == (True, 128)
    found, client = formulas(folder, "document-hnsw")
    client.answers = [[], []]
    assert len(found.nearest(UNIT[0], 2, None).numbers) == 0
    assert client.requests[0].search_params.exact is False


@pytest.mark.parametrize(
    ("allowed", "name", "numbers"),
    [([0, 1, 0], "must", [1]), ([1, 1, 0], "must_not", [2]), ([1, 1, 1], "", [])],
)
def test_formulas_are_found_only_in_allowed_posts(
    folder: Path, allowed: list[int], name: str, numbers: list[int]
) -> None:
    found, client = formulas(folder)
    client.answers = [[(1, 0.5)]]
    mask = np.array([0, 0, 0, *allowed], dtype=np.bool_)
    assert found.nearest(UNIT[0], 2, mask).numbers.tolist() == [3]
    (request,) = client.requests
    if not name:
        assert request.query_filter is None
    else:
        (condition,) = getattr(request.query_filter, name)
        assert (condition.key, condition.match.any) == ("number", numbers)
    assert found._filter(np.array([True, False])).must[0].match.any == [0]
    client.answers = [[(0, 0.5)]]
    first = np.array([1, 1, 1, 0, 0, 0], dtype=np.bool_)
    assert found.nearest(UNIT[0], 2, first).numbers.tolist() == [0]
