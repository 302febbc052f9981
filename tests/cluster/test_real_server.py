"""One real Qdrant server, and three: the same answers, and no loss when one is killed."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mathsetu.cluster.client import AUTHORITY, SECONDS, connected
from mathsetu.cluster.facts import facts_of
from mathsetu.cluster.layout import Spread
from mathsetu.cluster.publish import publish_library
from mathsetu.collections import sampler
from mathsetu.errors import InputError, Unavailable
from mathsetu.library import Filter, Library, add_posts, build_library, remove_posts
from mathsetu.retrieval.qdrant_address import KEY, URL
from tests.cluster.helpers import QUERIES, counts_of, nearly_equal, quiet, some_posts
from tests.retrieval.qdrant_marks import needs_client, needs_server
from tests.retrieval.qdrant_server import LocalQdrant

SCRIPT = Path(__file__).parents[2] / "docs" / "cluster-backup.sh"

pytestmark = [
    pytest.mark.thorough,
    needs_client,
    needs_server,
]


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """An emulated server is slow."""
    monkeypatch.setenv(SECONDS, "60")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("real") / "library"
    build_library(folder, some_posts(60), "default", processes=1)
    return folder


@pytest.fixture
def server(tmp_path):
    server = LocalQdrant(tmp_path / "server")
    server.start()
    yield server
    server.kill()


@pytest.fixture
def three(tmp_path):
    nodes = LocalQdrant.cluster(tmp_path / "nodes", 3)
    yield nodes
    for node in nodes:
        node.kill()


def address_of(*nodes, name="math"):
    return f"qdrant://{','.join(node.url.removeprefix('http://') for node in nodes)}/{name}"


def publish(folder, address, spread=None):
    with connected(address) as cluster:
        return publish_library(cluster, folder, spread or Spread(), quiet)


def test_one_server_answers_and_explains_as_the_folder_does(server, folder):
    address = address_of(server)
    publish(folder, address)
    here, there = Library(folder), Library(address)
    queries = [query for query in sampler.queries() if query.kind == "both"][::20] or QUERIES
    for query in (*queries[:12], *QUERIES):
        assert here.search(query, 10) == there.search(query, 10)
    for where in (Filter("es"), Filter(tags=("calculus",))):
        assert here.search(QUERIES[0], 10, where=where) == there.search(QUERIES[0], 10, where=where)
    assert here.tags(9) == there.tags(9)
    posts = some_posts(70)
    add_posts(address, posts[60:], processes=1)
    remove_posts(address, [post.id for post in posts[5:9]])
    fresh = folder.parent / "fresh"
    build_library(fresh, posts[:5] + posts[9:], "default", processes=1)
    publish(fresh, address_of(server, name="fresh"))
    assert counts_of(address) == counts_of(address_of(server, name="fresh"))
    time.sleep(1.1)
    for query in QUERIES:
        assert nearly_equal(Library(fresh).search(query, 10), there.search(query, 10))


def test_a_killed_server_is_reported_and_answers_after_a_restart(server, folder, monkeypatch):
    address = address_of(server)
    publish(folder, address)
    monkeypatch.setenv(SECONDS, "5")
    there = Library(address)
    before = there.search(QUERIES[0], 10)
    server.kill()
    with pytest.raises(Unavailable, match="cannot be reached"):
        there.answer(QUERIES[0], 10)
    server.start()
    monkeypatch.setenv(SECONDS, "60")
    assert Library(address).search(QUERIES[0], 10) == before


def test_writing_needs_the_key_for_writing_and_reading_a_key_for_reading(
    tmp_path, folder, monkeypatch
):
    settings = {
        "QDRANT__SERVICE__API_KEY": "writer",
        "QDRANT__SERVICE__READ_ONLY_API_KEY": "reader",
    }
    server = LocalQdrant(tmp_path / "server", settings=settings)
    server.start()
    try:
        address = address_of(server)
        with pytest.raises(Unavailable, match=KEY):
            publish(folder, address)
        monkeypatch.setenv(URL, server.url)
        monkeypatch.setenv(KEY, "writer")
        publish(folder, address)
        monkeypatch.setenv(KEY, "reader")
        assert Library(address).search(QUERIES[0], 3) == Library(folder).search(QUERIES[0], 3)
        with pytest.raises(Unavailable, match="or read-only"):
            remove_posts(address, [some_posts(1)[0].id])
    finally:
        server.kill()


@pytest.fixture
def authority(tmp_path):
    """An authority of our own, and a certificate of it for this machine."""
    if not shutil.which("openssl"):
        pytest.skip("openssl is not installed")

    def openssl(*arguments):
        subprocess.run(["openssl", *arguments], cwd=tmp_path, check=True, capture_output=True)

    new = ("req", "-newkey", "rsa:2048", "-nodes", "-days", "2")
    openssl(*new, "-x509", "-subj", "/CN=ours", "-keyout", "ca.key", "-out", "ca.pem")
    openssl(*new, "-subj", "/CN=node", "-keyout", "node.key", "-out", "node.csr")
    (tmp_path / "names").write_text("subjectAltName=IP:127.0.0.1\n")
    signed = ("x509", "-req", "-in", "node.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-days", "2")
    openssl(*signed, "-CAcreateserial", "-extfile", "names", "-out", "node.pem")
    return tmp_path / "ca.pem", (tmp_path / "node.pem", tmp_path / "node.key")


def test_tls_works_with_a_certificate_authority_of_the_user(
    tmp_path, folder, authority, monkeypatch
):
    trusted, certificate = authority
    settings = {"QDRANT__SERVICE__API_KEY": "writer"}
    server = LocalQdrant(tmp_path / "server", settings=settings, certificate=certificate)
    server.start()
    try:
        address = f"qdrants://{server.url.removeprefix('https://')}/math"
        monkeypatch.setenv(URL, server.url)
        monkeypatch.setenv(KEY, "writer")
        with pytest.raises(Unavailable, match="CERTIFICATE_VERIFY_FAILED"):
            publish(folder, address)
        monkeypatch.setenv(AUTHORITY, str(trusted))
        publish(folder, address)
        assert Library(address).search(QUERIES[0], 3) == Library(folder).search(QUERIES[0], 3)
    finally:
        server.kill()


def test_the_backup_script_restores_a_library(three, folder, tmp_path):
    if not shutil.which("jq") or not shutil.which("curl"):
        pytest.skip("the script needs curl and jq")
    address = address_of(*three)
    publish(folder, address, Spread(shards=3, replicas=2))
    before = Library(address).search(QUERIES[0], 5)

    def script(verb):
        urls = [node.url for node in three]
        subprocess.run([SCRIPT, verb, "math", tmp_path / "backup", *urls], check=True)

    script("save")
    with connected(address) as cluster:
        for one in cluster.read("the list", "get_collections").collections:
            cluster.write(one.name, "delete_collection", one.name)
    with pytest.raises(InputError, match="no such library"):
        Library(address)
    script("restore")
    assert Library(address).search(QUERIES[0], 5) == before
    # The restored library has two replicas, too.
    three[0].kill()
    assert Library(address_of(*three[1:])).search(QUERIES[0], 5) == before


def test_publishing_can_be_killed_at_some_moments_and_ends_with_the_same_library(server, folder):
    address = address_of(server)
    command = [sys.executable, "-m", "mathsetu", "publish", str(folder), address]
    for seconds in (2.0, 3.0, 4.0, 5.5):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    publish(folder, address_of(server, name="whole"))
    assert counts_of(address) == counts_of(address_of(server, name="whole"))
    assert Library(folder).search(QUERIES[0], 10) == Library(address).search(QUERIES[0], 10)
    facts = subprocess.run(
        [sys.executable, "-m", "mathsetu", "info", address, "--check", "--json"],
        check=True,
        capture_output=True,
        env={**os.environ, SECONDS: "60"},
    )
    assert json.loads(facts.stdout)["posts"] == 60


def test_several_processes_publish_the_same_library_as_one(server, folder, monkeypatch):
    publish(folder, address_of(server, name="one"))
    monkeypatch.setattr("mathsetu.cluster.sending._PER_PROCESS", 20)
    address = address_of(server, name="several")
    with connected(address) as cluster:
        publish_library(cluster, folder, Spread(), quiet, processes=3)
        facts_of(cluster, thorough=True)
    assert counts_of(address) == counts_of(address_of(server, name="one"))
    assert Library(address).search(QUERIES[0], 10) == Library(folder).search(QUERIES[0], 10)


def test_with_two_replicas_the_cluster_answers_after_a_node_is_killed(three, folder):
    address = address_of(*three)
    publish(folder, address, Spread(shards=3, replicas=2))
    here, there = Library(folder), Library(address)
    expected = [here.search(query, 10) for query in QUERIES]
    assert [there.search(query, 10) for query in QUERIES] == expected
    three[2].kill()
    assert [there.search(query, 10) for query in QUERIES] == expected
    # Changes that are made while a node is down reach it when it returns.
    added = some_posts(62)[60:]
    add_posts(address, added, processes=1)
    three[2].start()
    time.sleep(10)
    three[0].kill()
    time.sleep(1.1)
    alone = Library(address_of(*three[1:]))
    assert alone.present(post.id for post in added) == {post.id for post in added}
    assert len(alone) == 62
