"""Qdrant: a real server on loopback finds what a search in process finds, and loses no data."""

import numpy as np
import pytest

from mathsetu.collections import sampler
from mathsetu.errors import InputError, MissingExtra
from mathsetu.graphs.virtual import FORMULA
from mathsetu.library import Library, add_posts, remove_posts
from mathsetu.library.graph_upload import upload_library
from mathsetu.models import require
from mathsetu.records import Query
from mathsetu.retrieval import qdrant
from mathsetu.retrieval.maxsim import MaxSim
from mathsetu.retrieval.multivectors import write_multivectors
from mathsetu.retrieval.qdrant import QdrantSearch, QdrantServer, collections_of, upload_segment
from mathsetu.retrieval.text_table import write_texts
from tests.encoders.tiny_graph import make_graph_library
from tests.retrieval.qdrant_marks import needs_client, needs_server
from tests.retrieval.qdrant_server import LocalQdrant

pytestmark = [pytest.mark.thorough, needs_client]


def unit(random, count):
    vectors = random.standard_normal((count, 32), dtype=np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def make_segment(folder, posts):
    """The folder of a part as a graph index writes it; half of a post's vectors are formulas."""
    write_multivectors(folder / "vectors", posts, "float16")
    kinds = [FORMULA if row < len(post) // 2 else 1 for post in posts for row in range(len(post))]
    np.save(folder / "kinds.npy", np.array(kinds, dtype=np.int8))
    count = kinds.count(FORMULA)
    write_texts(folder / "ids", [f"q_{number}" for number in range(count)])
    write_texts(folder / "latex", [f"x^{number}" for number in range(count)])
    return folder


def about(number):
    return {"id": f"post-{number}", "language": "hi" if number % 2 else "en", "tags": ["sum"]}


def quiet(what, number):
    pass


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    server = LocalQdrant(tmp_path_factory.mktemp("qdrant"))
    server.start()
    yield server
    server.kill()


@pytest.fixture(scope="module")
def uploaded(local, tmp_path_factory):
    random = np.random.default_rng(1)
    posts = [unit(random, random.integers(1, 12)) for _ in range(400)]
    folder = make_segment(tmp_path_factory.mktemp("library") / "graph", posts)
    server = QdrantServer(local.url)
    assert upload_segment(server, folder, about, quiet) == 400
    yield server, folder
    server.close()


@needs_server
def test_embedded_and_server_find_the_same_100_posts_for_100_queries(uploaded):
    server, folder = uploaded
    random = np.random.default_rng(2)
    queries = [unit(random, random.integers(1, 10)) for _ in range(100)]
    embedded = MaxSim([folder / "vectors"]).search(queries, 100)
    remote = QdrantSearch(server, [folder / "vectors"]).search(queries, 100)
    for here, there in zip(embedded, remote, strict=True):
        np.testing.assert_allclose(here.scores, there.scores, atol=1e-5)
        # Posts with almost equal scores may be in a different order.
        apart = {*here.numbers.tolist()} ^ {*there.numbers.tolist()}
        assert all(
            abs(MaxSim([folder / "vectors"]).scores_of(query, np.array([number]))[0]
                - here.scores[-1]) < 1e-5
            for number in apart for query in [queries[embedded.index(here)]]
        )  # fmt: skip


@needs_server
@pytest.mark.parametrize("strategy", ["document", "single"])
def test_faster_strategies_find_the_same_posts_in_process_and_on_a_server(uploaded, strategy):
    server, folder = uploaded
    queries = [unit(np.random.default_rng(3), 5)]
    [here] = MaxSim([folder / "vectors"], strategy, 40).search(queries, 10)
    [there] = QdrantSearch(server, [folder / "vectors"], strategy, 40).search(queries, 10)
    assert here.numbers.tolist() == there.numbers.tolist()


@pytest.mark.filterwarnings("ignore:Payload indexes have no effect", "ignore:Local mode performs")
def test_a_search_finds_only_the_candidates_of_the_first_stage(tmp_path):
    random = np.random.default_rng(4)
    folder = make_segment(tmp_path / "graph", [unit(random, 4) for _ in range(60)])
    server = QdrantServer("http://127.0.0.1:9")
    # The client itself searches collections in memory, as a server would.
    server.client = require("qdrant_client", "tests", "qdrant").QdrantClient(":memory:")
    upload_segment(server, folder, about, quiet)
    queries = [unit(random, 5) for _ in range(3)]
    for strategy in ("document", "document-hnsw"):
        # One segment, and the same posts twice, as two segments.
        for folders in ([folder / "vectors"], [folder / "vectors"] * 2):
            for found in QdrantSearch(server, folders, strategy, depth=7).search(queries, 20):
                assert len(found.numbers) == 7
    here = MaxSim([folder / "vectors"], "document", 7).search(queries, 20)
    there = QdrantSearch(server, [folder / "vectors"], "document", 7).search(queries, 20)
    assert [one.numbers.tolist() for one in here] == [one.numbers.tolist() for one in there]


@needs_server
def test_hnsw_finds_most_posts_of_the_exact_search(uploaded):
    server, folder = uploaded
    random = np.random.default_rng(8)
    queries = [unit(random, 5) for _ in range(20)]
    exact = MaxSim([folder / "vectors"]).search(queries, 10)
    quick = QdrantSearch(server, [folder / "vectors"], "hnsw").search(queries, 10)
    shared = [
        len({*wanted.numbers.tolist()} & {*found.numbers.tolist()})
        for wanted, found in zip(exact, quick, strict=True)
    ]
    assert np.mean(shared) >= 9


@needs_server
@pytest.mark.parametrize("strategy", ["document", "single"])
def test_document_strategies_find_nearly_the_same_posts_with_and_without_hnsw(uploaded, strategy):
    server, folder = uploaded
    random = np.random.default_rng(9)
    queries = [unit(random, 5) for _ in range(20)]
    exact, quick = (
        QdrantSearch(server, [folder / "vectors"], name, depth=50).search(queries, 10)
        for name in (strategy, f"{strategy}-hnsw")
    )
    for wanted, found in zip(exact, quick, strict=True):
        shared = {*wanted.numbers.tolist()} & {*found.numbers.tolist()}
        assert len(shared) >= 9
        # With and without HNSW, candidates get exact scores.
        both = dict(zip(wanted.numbers.tolist(), wanted.scores.tolist(), strict=True))
        for number, score in zip(found.numbers.tolist(), found.scores.tolist(), strict=True):
            assert both.get(number, score) == pytest.approx(score, abs=1e-5)


@needs_server
def test_only_allowed_posts_are_found(uploaded):
    server, folder = uploaded
    for share in (4, 400):
        allowed = np.arange(400) % share != 0 if share == 400 else np.arange(400) % share == 0
        query = [unit(np.random.default_rng(4), 5)]
        [here] = MaxSim([folder / "vectors"]).search(query, 20, allowed)
        [there] = QdrantSearch(server, [folder / "vectors"]).search(query, 20, allowed)
        assert here.numbers.tolist() == there.numbers.tolist()
        assert allowed[there.numbers].all()


@needs_server
def test_points_can_be_filtered_by_payload(uploaded):
    server, folder = uploaded
    models = server.models
    hindi = models.FieldCondition(key="language", match=models.MatchValue(value="hi"))
    found = server.client.query_points(
        collections_of(folder / "vectors").posts,
        query=unit(np.random.default_rng(5), 3).tolist(),
        using="all",
        query_filter=models.Filter(must=[hindi]),
        limit=10,
    )
    assert len(found.points) == 10
    assert all(point.payload["language"] == "hi" for point in found.points)


@needs_server
def test_each_formula_is_a_point_that_names_its_post(uploaded):
    server, folder = uploaded
    names = collections_of(folder / "vectors")
    search = MaxSim([folder / "vectors"]).collections[0]
    post = next(number for number in range(400) if search.counts[number] >= 2)
    first = search.of_post(post)[0]
    [point] = server.client.query_points(names.formulas, query=first.tolist(), limit=1).points
    assert point.score == pytest.approx(1.0, abs=1e-2)
    assert (point.payload["post"], point.payload["number"]) == (f"post-{post}", post)


@needs_server
def test_formulas_are_found_with_the_same_scores_as_in_process(local, tmp_path, monkeypatch):
    monkeypatch.setenv("QDRANT_URL", local.url)
    posts = [post for post in sampler.posts() if post.language == "en"][:40]
    library = make_graph_library(tmp_path, posts[:30])
    add_posts(library, posts[30:], processes=1)
    remove_posts(library, [posts[3].id])
    on_server = f"parts.graph.server='{local.url}'"
    query = Query("B.1", posts[3].body, language="en", formulas=posts[3].formulas[:1])
    with (
        Library(library, [on_server]) as there,
        pytest.raises(InputError, match=r"has 0 of the library's [\d,]+ formulas.*graph upload"),
    ):
        there.formula_instances(query, 20)
    upload_library(library, local.url, quiet)
    with Library(library) as here:
        wanted = here.formula_instances(query, 20, every=True)
    assert len(wanted) == 20
    for strategy in ("exact", "hnsw"):
        with Library(library, [on_server, f"parts.graph.strategy='{strategy}'"]) as there:
            found = there.formula_instances(query, 20, every=True)
        np.testing.assert_allclose(
            [one.score for one in wanted], [one.score for one in found], atol=1e-5
        )
        assert posts[3].id not in {one.formula.post_id for one in (*wanted, *found)}
        # Formulas with almost equal scores may be in a different order.
        assert {one.formula.id for one in wanted if one.score > wanted[-1].score + 1e-5} <= {
            one.formula.id for one in found
        }


@needs_server
def test_acknowledged_points_survive_a_kill_and_the_upload_continues(tmp_path):
    random = np.random.default_rng(6)
    posts = [unit(random, 8) for _ in range(640)]
    folder = make_segment(tmp_path / "graph", posts)
    local = LocalQdrant(tmp_path / "qdrant")
    local.start()
    acknowledged = []

    def kill_midway(what, number):
        acknowledged.append(number)
        if number >= 320:
            local.kill()

    try:
        server = QdrantServer(local.url)
        with pytest.raises(InputError, match="does not answer"):
            upload_segment(server, folder, about, kill_midway)
        local.start()
        name = collections_of(folder / "vectors").posts
        assert server.missing(name, range(max(acknowledged))) == []
        sent = []
        upsert = server.client.upsert
        server.client.upsert = lambda collection, points, wait: (
            sent.extend(point.id for point in points if collection == name)
            or upsert(collection, points, wait=wait)
        )
        assert upload_segment(server, folder, about, quiet) == 640
        assert min(sent) >= max(acknowledged)
        query = [unit(random, 5)]
        [here] = MaxSim([folder / "vectors"]).search(query, 100)
        [there] = QdrantSearch(server, [folder / "vectors"]).search(query, 100)
        assert here.numbers.tolist() == there.numbers.tolist()
        server.close()
    finally:
        local.kill()


@needs_server
def test_a_library_that_was_not_uploaded_is_refused_with_the_remedy(local, tmp_path):
    folder = make_segment(tmp_path / "graph", [unit(np.random.default_rng(7), 4)] * 3)
    with pytest.raises(InputError, match=r"has 0 of the library's 3 posts.*mathsetu graph upload"):
        QdrantSearch(QdrantServer(local.url), [folder / "vectors"])


def test_a_server_that_does_not_answer_is_reported(tmp_path):
    folder = make_segment(tmp_path / "graph", [unit(np.random.default_rng(7), 4)])
    with pytest.raises(InputError, match="does not answer"):
        QdrantSearch(QdrantServer("http://127.0.0.1:9"), [folder / "vectors"])


def test_without_the_client_the_extra_is_named(monkeypatch):
    def missing(module, purpose, extra):
        raise MissingExtra(purpose, extra)

    monkeypatch.setattr(qdrant, "require", missing)
    with pytest.raises(MissingExtra, match=r"\[qdrant\]"):
        QdrantServer("http://127.0.0.1:9")
