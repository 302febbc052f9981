"""Publishing is complete or invisible, can be resumed, and replaces a library in one step."""

import json
import pickle
from pathlib import Path

import pytest

from mathsetu.cluster.client import connected
from mathsetu.cluster.facts import facts_of
from mathsetu.cluster.layout import Spread, builds
from mathsetu.cluster.plan import finish_plan, make_plan, publish_shard, read_plan, shard_of
from mathsetu.cluster.points import FolderWeights, SegmentPoints
from mathsetu.errors import InputError
from mathsetu.library import Library, add_posts, build_library
from mathsetu.library.manifest import read_manifest, segment_folder
from mathsetu.recipes.schema import parse_table
from mathsetu.records import Post
from tests.cluster.helpers import (
    ADDRESS,
    QUERIES,
    content_of,
    counts_of,
    nearly_equal,
    publish,
    published,
    quiet,
    some_posts,
)
from tests.light import LIGHT


class Killed(Exception):
    """The process ends here."""


def kill_after(node, requests):
    left = [requests]

    def kill(name, asked):
        left[0] -= 1
        if left[0] < 0:
            raise Killed

    node.watch = kill


@pytest.fixture
def folder(tmp_path):
    build_library(tmp_path / "library", some_posts(20), LIGHT, processes=1)
    return tmp_path / "library"


@pytest.mark.thorough
def test_publishing_can_be_killed_at_any_request_and_ends_with_the_same_collections(node, folder):
    publish(folder, "qdrant://localhost/whole")
    requests = 0
    while True:
        kill_after(node, requests)
        try:
            publish(folder)
            break
        except Killed:
            node.watch = lambda name, asked: None
            # Nothing is visible until everything is published.
            if "math" not in {alias.alias_name for alias in node.get_aliases().aliases}:
                with pytest.raises(InputError, match="no such library"):
                    Library(ADDRESS)
        requests += 3
    node.watch = lambda name, asked: None
    assert requests > 20
    assert content_of(node) == content_of(node, "qdrant://localhost/whole")
    assert counts_of() == counts_of("qdrant://localhost/whole")


@pytest.mark.thorough
def test_the_same_library_is_not_sent_twice(node, folder):
    publish(folder)
    node.requests.clear()
    publish(folder)
    assert "upsert" not in {name for name, _ in node.requests}


@pytest.mark.thorough
def test_a_library_that_was_changed_on_the_cluster_is_published_again(node, folder):
    publish(folder)
    add_posts(ADDRESS, some_posts(21)[20:], processes=1)
    there = Library(ADDRESS)
    assert len(there) == 21
    publish(folder)
    assert len(there) == 20


@pytest.mark.thorough
def test_publishing_a_rebuild_replaces_the_old_library_in_one_step(node, folder, tmp_path):
    publish(folder)
    there = Library(ADDRESS)
    before = [there.search(query, 5) for query in QUERIES]
    build_library(tmp_path / "other", some_posts(40)[20:], "default", processes=1)
    seen = []

    def watch(name, asked):
        if name == "upsert" and not seen:
            node.watch = lambda name, asked: None
            seen.append([there.search(query, 5) for query in QUERIES] == before)
            node.watch = watch

    node.watch = watch
    publish(tmp_path / "other")
    assert seen == [True]
    # The open library continues with the new library and its recipe.
    assert there.recipe.name == "default"
    other = Library(tmp_path / "other")
    assert there.search(QUERIES[0], 5) == other.search(QUERIES[0], 5)


@pytest.mark.thorough
def test_a_replaced_build_is_kept_for_a_while_and_then_dropped(node, folder, tmp_path):
    publish(folder)
    build_library(tmp_path / "other", some_posts(10), LIGHT, processes=1)
    publish(tmp_path / "other")
    with connected(ADDRESS) as cluster:
        assert len(builds(cluster, "math")) == 2
    publish(tmp_path / "other", grace=0.0)
    with connected(ADDRESS) as cluster:
        assert len(builds(cluster, "math")) == 1
    assert len(Library(ADDRESS)) == 10


@pytest.mark.thorough
def test_another_process_gets_the_same_points_from_a_segment(folder):
    manifest = read_manifest(folder)
    own = segment_folder(folder, manifest.segments[0].name)
    recipe = parse_table(manifest.recipe, "test")
    points = SegmentPoints(own, recipe, FolderWeights([own]), [3, 7], 5, birth=1)
    points.mark_counted("formulas", [0])
    sent = pickle.loads(pickle.dumps(points))
    numbers, make = points.formulas("formulas")
    assert list(make(numbers)) == list(sent.formulas("formulas")[1](numbers))
    assert list(points.posts(points.post_numbers())) == list(sent.posts(sent.post_numbers()))
    assert len(points.post_numbers()) == 18


@pytest.mark.thorough
def test_libraries_on_one_cluster_do_not_affect_each_other(node, folder, tmp_path):
    publish(folder)
    _, other = published(
        tmp_path / "other", some_posts(30)[20:], address="qdrant://localhost/math2"
    )
    assert (len(Library(ADDRESS)), len(other)) == (20, 10)


def workers(plan, numbers):
    with connected(ADDRESS) as cluster:
        for number in numbers:
            publish_shard(cluster, plan, number, Spread(), 1, quiet)


@pytest.mark.thorough
def test_shards_that_many_workers_publish_make_one_library(node, tmp_path):
    posts = some_posts(40)
    plan = tmp_path / "plan"
    made = make_plan(plan, posts, LIGHT, 3, quiet)
    assert sum(made.shards) == 40
    workers(plan, [2, 0])
    with connected(ADDRESS) as cluster, pytest.raises(InputError, match="shard 1 is not built yet"):
        finish_plan(cluster, plan)
    workers(plan, [1, 0])
    with connected(ADDRESS) as cluster:
        assert finish_plan(cluster, plan).posts == 40
    build_library(tmp_path / "whole", posts, LIGHT, processes=1)
    whole, there = Library(tmp_path / "whole"), Library(ADDRESS)
    publish(tmp_path / "whole", "qdrant://localhost/whole")
    # A formula that occurs in several shards counts once.
    assert counts_of() == counts_of("qdrant://localhost/whole")
    for query in QUERIES:
        assert in_any_order(there.search(query, 5)) == in_any_order(whole.search(query, 5))
        assert there.formulas(query, 5)[0].latex == whole.formulas(query, 5)[0].latex
    with connected(ADDRESS) as cluster:
        facts_of(cluster, thorough=True)


def in_any_order(hits):
    """Scores and reasons by id: between equal scores, the order of shards decides."""
    return sorted((hit.id, round(hit.score, 5), hit.reasons) for hit in hits)


@pytest.mark.thorough
def test_finishing_a_plan_can_be_killed_and_ends_with_the_same_counts(node, tmp_path):
    plan = tmp_path / "plan"
    make_plan(plan, some_posts(12), LIGHT, 3, quiet)
    workers(plan, [0, 1, 2])
    requests = 0
    while True:
        kill_after(node, requests)
        try:
            with connected(ADDRESS) as cluster:
                finish_plan(cluster, plan)
        except Killed:
            requests += 2
            continue
        break
    node.watch = lambda name, asked: None
    assert requests > 4
    build_library(tmp_path / "whole", some_posts(12), LIGHT, processes=1)
    publish(tmp_path / "whole", "qdrant://localhost/whole")
    assert counts_of() == counts_of("qdrant://localhost/whole")


@pytest.mark.thorough
def test_a_search_starts_again_if_its_library_is_dropped_meanwhile(node, folder, tmp_path):
    publish(folder)
    there = Library(ADDRESS)
    other = build(tmp_path / "other")
    asked = []

    def drop(name, collection):
        # During the first search, a rebuild replaces the library and the old one is dropped.
        if name == "query_batch_points" and not asked:
            asked.append(collection)
            node.watch = lambda name, asked: None
            publish(tmp_path / "other")
            publish(tmp_path / "other", grace=0.0)

    for query in QUERIES[:2]:
        node.watch = drop
        there._backend._newest._looked = float("inf")
        assert there.search(query, 5) == other.search(query, 5)
    assert asked
    assert there.post(some_posts(1)[0].id) == other.post(some_posts(1)[0].id)


def build(folder, count=10):
    build_library(folder, some_posts(count), LIGHT, processes=1)
    return Library(folder)


@pytest.mark.thorough
def test_an_answer_names_the_part_whose_collection_was_deleted(node, folder):
    publish(folder)
    there = Library(ADDRESS)
    names = there._backend._newest.get().names
    node.delete_collection(names.part("formulas"))
    answer = there.answer(QUERIES[0], 5)
    assert answer.hits
    assert "does not exist" in answer.missing["formulas"]


@pytest.mark.thorough
def test_a_killed_worker_can_be_started_again(node, tmp_path):
    plan = tmp_path / "plan"
    make_plan(plan, some_posts(10), LIGHT, 2, quiet)
    kill_after(node, 25)
    with pytest.raises(Killed):
        workers(plan, [0, 1])
    node.watch = lambda name, asked: None
    workers(plan, [0, 1])
    with connected(ADDRESS) as cluster:
        assert finish_plan(cluster, plan).posts == 10


def test_a_question_and_its_answers_are_in_the_same_shard():
    posts = [Post(id=str(number), body="x") for number in range(50)]
    answers = [Post(id=f"a{post.id}", body="y", parent_id=post.id) for post in posts]
    assert list(map(lambda post: shard_of(post, 7), posts)) == [  # noqa: C417
        shard_of(answer, 7) for answer in answers
    ]
    assert len({shard_of(post, 7) for post in posts}) == 7


@pytest.mark.parametrize(
    "content",
    [b"", b"{}", b"[]", b'{"mathsetu": "plan", "format": 9}', b"\xff", b"[" * 100_000],
)
def test_a_file_that_is_not_a_plan_is_refused(tmp_path: Path, content):
    (tmp_path / "plan.json").write_bytes(content)
    with pytest.raises(InputError, match="is not a plan"):
        read_plan(tmp_path)


def test_a_plan_with_a_path_in_the_name_of_its_build_is_refused(tmp_path):
    make_plan(tmp_path / "plan", some_posts(2), LIGHT, 1, quiet)
    path = tmp_path / "plan" / "plan.json"
    content = json.loads(path.read_text())
    path.write_text(json.dumps({**content, "digest": "../x"}))
    with pytest.raises(InputError, match="is not a plan"):
        read_plan(tmp_path / "plan")


def test_a_plan_is_not_written_over_other_files(tmp_path):
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(InputError, match="choose another folder"):
        make_plan(tmp_path, some_posts(2), LIGHT, 1, quiet)
    assert (tmp_path / "thesis.tex").exists()


@pytest.mark.thorough
def test_words_rank_nearly_the_same_in_shards_as_in_a_whole_library(node, tmp_path):
    plan = tmp_path / "plan"
    make_plan(plan, some_posts(20), LIGHT, 2, quiet)
    workers(plan, [0, 1])
    with connected(ADDRESS) as cluster:
        finish_plan(cluster, plan)
    build_library(tmp_path / "whole", some_posts(20), LIGHT, processes=1)
    words = {"words": 1.0}
    here = Library(tmp_path / "whole").answer(QUERIES[3], 5, weights=words).hits
    assert nearly_equal(here, Library(ADDRESS).answer(QUERIES[3], 5, weights=words).hits)


@pytest.mark.thorough
def test_a_former_library_can_be_published_again(node, folder, tmp_path):
    publish(folder)
    build_library(tmp_path / "other", some_posts(10), LIGHT, processes=1)
    publish(tmp_path / "other")
    publish(folder)
    there = Library(ADDRESS)
    assert len(there) == 20
    publish(folder, grace=0.0)
    with connected(ADDRESS) as cluster:
        assert len(builds(cluster, "math")) == 1
    assert len(there) == 20
    assert there.search(QUERIES[0], 3) == Library(folder).search(QUERIES[0], 3)


@pytest.mark.thorough
def test_a_build_that_was_only_partly_dropped_is_published_again(node, folder, tmp_path):
    publish(folder)
    build_library(tmp_path / "other", some_posts(10), LIGHT, processes=1)
    publish(tmp_path / "other")

    def kill(name, asked):
        if name == "delete_collection" and "posts" in asked:
            raise Killed

    node.watch = kill
    with pytest.raises(Killed):
        publish(tmp_path / "other", grace=0.0)
    node.watch = lambda name, asked: None
    publish(folder)
    there = Library(ADDRESS)
    assert there.search(QUERIES[0], 3) == Library(folder).search(QUERIES[0], 3) != ()
