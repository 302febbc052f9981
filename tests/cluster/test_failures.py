"""Unreachable nodes: requests are retried, then a clear error follows; no part is lost silently."""

import pytest
from fastapi.testclient import TestClient

from mathsetu.cluster.address import parse_address
from mathsetu.cluster.client import _TRIES, Cluster
from mathsetu.errors import InputError, Unavailable
from mathsetu.library import Library
from mathsetu.retrieval.qdrant_address import KEY, URL
from mathsetu.service.app import create_app
from mathsetu.service.settings import Settings
from tests.cluster.helpers import ADDRESS, QUERIES, published, some_posts
from tests.cluster.local import LocalClient

QUERY = QUERIES[0]


@pytest.fixture
def there(node, tmp_path):
    return published(tmp_path / "library", some_posts(20))[1]


@pytest.mark.thorough
def test_an_answer_names_the_part_that_is_missing(node, there):
    whole = there.answer(QUERY, 5)
    node.away = {"part-formulas"}
    answer = there.answer(QUERY, 5)
    assert answer.hits
    assert answer.unfinished == ("formulas",)
    assert "cannot be reached" in answer.missing["formulas"]
    assert {reason.part for hit in answer.hits for reason in hit.reasons} == {"words"}
    node.away = set()
    assert there.answer(QUERY, 5) == whole
    assert whole.missing == {}


@pytest.mark.thorough
def test_methods_that_return_only_hits_fail_if_a_part_is_missing(node, there):
    node.away = {"part-formulas"}
    with pytest.raises(Unavailable, match="formulas is missing"):
        there.search(QUERY, 5)
    with pytest.raises(Unavailable, match="formulas"):
        there.explain(QUERY, some_posts(1)[0].id)
    with pytest.raises(Unavailable):
        there.formulas("x^2", 3)


@pytest.mark.thorough
def test_an_unreachable_cluster_gives_an_error_instead_of_an_empty_answer(node, there):
    node.away = {"all"}
    with pytest.raises(Unavailable, match="cannot be reached"):
        there.answer(QUERY, 5)
    with pytest.raises(Unavailable):
        there.post(some_posts(1)[0].id)


@pytest.mark.thorough
def test_a_request_is_retried_a_limited_number_of_times(node, there):
    node.away = {"part-formulas"}
    node.requests.clear()
    with pytest.raises(Unavailable):
        there.formulas("x^2", 3)
    asked = [name for name, where in node.requests if "part-formulas" in where]
    assert len(asked) == _TRIES


@pytest.mark.thorough
def test_a_node_that_recovers_during_the_retries_causes_no_error(node, there):
    whole = there.search(QUERY, 5)
    left = [_TRIES - 1]

    def watch(name, asked):
        if "part-formulas" in asked and left[0]:
            left[0] -= 1
            node.away = {"part-formulas"}
        else:
            node.away = set()

    node.watch = watch
    assert there.search(QUERY, 5) == whole
    assert not left[0]


@pytest.mark.thorough
def test_another_node_is_asked_if_one_does_not_answer(node, monkeypatch):
    dead = LocalClient()
    dead.away = {"all"}
    clients = {"http://a:6333": dead, "http://b:6333": node}
    monkeypatch.setattr(Cluster, "_client", staticmethod(lambda url, seconds: clients[url]))
    cluster = Cluster(parse_address("qdrant://a,b/math"))
    for _ in range(4):
        assert cluster.read("the list", "get_collections").collections == []
    # A node that did not answer is not asked again until another one fails.
    assert len(dead.requests) <= 1


@pytest.mark.thorough
def test_the_service_answers_503_without_naming_addresses(node, there):
    with TestClient(create_app(Settings(ADDRESS)), raise_server_exceptions=False) as client:
        assert client.get("/v1/search", params={"q": QUERY}).status_code == 200
        node.away = {"part-formulas"}
        partial = client.get("/v1/search", params={"q": QUERY})
        assert partial.json()["unfinished"] == ["formulas"]
        node.away = {"all"}
        answer = client.get("/v1/search", params={"q": QUERY})
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "2")
        assert "localhost" not in answer.text
        # The page and the health check do not wait for a cluster.
        assert client.get("/v1/health").json()["posts"] == 20
        node.away = set()
        assert client.get("/v1/search", params={"q": QUERY}).status_code == 200


@pytest.mark.parametrize("named", ["", "http://other:6333", "http://localhost:6334"])
@pytest.mark.thorough
def test_the_key_is_sent_only_to_addresses_in_the_environment(monkeypatch, named):
    pytest.importorskip("qdrant_client", reason="the extra 'qdrant' is not installed")
    monkeypatch.setenv(KEY, "secret")
    monkeypatch.setenv(URL, named)
    with pytest.raises(InputError, match="is not sent to"):
        Library(ADDRESS)


@pytest.mark.thorough
def test_the_key_is_sent_to_all_nodes_in_the_environment_if_encrypted_or_local(monkeypatch):
    pytest.importorskip("qdrant_client", reason="the extra 'qdrant' is not installed")
    monkeypatch.setenv(KEY, "secret")
    monkeypatch.setenv(URL, "http://localhost:6333,http://127.0.0.1:7000")
    Cluster(parse_address("qdrant://localhost,127.0.0.1:7000/math")).close()
    with pytest.raises(InputError, match="is not sent to"):
        Cluster(parse_address("qdrant://localhost,127.0.0.1:7001/math"))
    monkeypatch.setenv(URL, "http://db.example.org:6333")
    with pytest.raises(InputError, match="unencrypted"):
        Cluster(parse_address("qdrant://db.example.org/math"))


@pytest.mark.parametrize(
    "address",
    ["qdrant://", "qdrant://host", "qdrant:///math", "qdrant://host/a/b", "qdrant://host/a-b",
     "qdrant://u:p@host/math", "qdrant://host:99999/math", "qdrant://a,,b/math",
     "qdrant://host/%2e%2e", "qdrant://host/math?x=1", "qdrant://host\x1b[2J/math"],
)  # fmt: skip
def test_invalid_addresses_are_refused(address):
    with pytest.raises(InputError) as refused:
        parse_address(address)
    assert "\x1b" not in str(refused.value)


@pytest.mark.thorough
def test_a_time_limit_applies_while_a_part_is_unreachable(node, there):
    node.away = {"part-formulas"}
    answer = there.answer(QUERY, 5, seconds=30)
    assert answer.unfinished == ("formulas",)
    assert there.answer(QUERY, 5, seconds=0).hits == ()


@pytest.mark.thorough
@pytest.mark.parametrize("content", [None, b"", b"no certificate"])
def test_an_invalid_certificate_authority_is_named(monkeypatch, tmp_path, content):
    path = tmp_path / "ca.pem"
    if content is not None:
        path.write_bytes(content)
    monkeypatch.setenv("QDRANT_CA", str(path))
    with pytest.raises(InputError, match=r"QDRANT_CA: .*ca\.pem' cannot be used"):
        Library("qdrants://localhost/math")
