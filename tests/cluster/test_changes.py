"""Additions, replacements and removals on a cluster: complete or not at all, with exact counts."""

from dataclasses import replace

import pytest

from mathsetu.cluster.client import connected
from mathsetu.cluster.state import writing_alone
from mathsetu.errors import InputError
from mathsetu.library import Library, add_posts, build_library, remove_posts
from mathsetu.records import Post
from tests.cluster.helpers import (
    ADDRESS,
    QUERIES,
    content_of,
    counts_of,
    nearly_equal,
    newest,
    publish,
    published,
    some_posts,
)
from tests.light import LIGHT

FRESH = "qdrant://localhost/fresh"


class Killed(Exception):
    """The process ends here."""


def changed(posts):
    """Posts after one was replaced and some were removed."""
    other = replace(posts[1], body=posts[2].body, title="Another title")
    gone = {post.id for post in posts[5:9]}
    kept = [post for post in posts if post.id not in {*gone, other.id}]
    return other, gone, [*kept, other]


@pytest.mark.thorough
def test_after_changes_counts_and_answers_equal_those_of_a_fresh_build(node, tmp_path):
    posts = some_posts(50)
    other, gone, final = changed(posts)
    _, there = published(tmp_path / "library", posts[:30])
    assert add_posts(ADDRESS, posts[30:], processes=1) == 20
    assert add_posts(ADDRESS, [other], processes=1) == 1
    assert remove_posts(ADDRESS, [*gone, "nobody"]) == 4
    fresh, _ = published(tmp_path / "fresh", final, address=FRESH)
    assert counts_of() == counts_of(FRESH)
    assert len(there) == len(fresh) == len(final)
    assert dict(there.languages) == dict(fresh.languages)
    assert there.tags(20) == fresh.tags(20)
    for query in QUERIES:
        assert nearly_equal(fresh.search(query, 10), there.search(query, 10))
        assert [one.latex for one in there.formulas("x^2", 5)] == [
            one.latex for one in fresh.formulas("x^2", 5)
        ]


@pytest.mark.thorough
def test_a_formula_counts_once_while_posts_with_it_are_added_and_removed(node, tmp_path):
    def post(name, latex="x^2"):
        return Post(id=name, body=f"See ${latex}$", language="en")

    published(tmp_path / "library", [post("a"), post("b", "y+1")])
    before = counts_of()
    add_posts(ADDRESS, [post("c")], processes=1)
    assert newest().state.parts["formulas"].documents == 2
    remove_posts(ADDRESS, ["a"])
    assert newest().state.parts["formulas"].documents == 2
    add_posts(ADDRESS, [post("a")], processes=1)
    remove_posts(ADDRESS, ["c"])
    assert counts_of()["formulas"] == before["formulas"]
    remove_posts(ADDRESS, ["a"])
    assert newest().state.parts["formulas"].documents == 1


@pytest.mark.thorough
def test_answers_are_indexed_again_when_their_question_is_added_or_removed(node, tmp_path):
    answer = Post(id="a", body="Because of Euler", parent_id="q", language="en")
    question = Post(id="q", title="Basel", body="Why is zeta of two so?", language="en")
    _, there = published(tmp_path / "library", [answer, Post(id="b", body="rings")])
    assert there.search("zeta", 5) == ()
    add_posts(ADDRESS, [question], processes=1)
    assert {hit.id for hit in there.search("zeta", 5)} == {"a", "q"}
    remove_posts(ADDRESS, ["q"])
    assert there.search("zeta", 5) == ()
    assert there.search("Euler", 5)[0].id == "a"


@pytest.mark.thorough
def test_searches_see_all_of_a_change_or_nothing(node, tmp_path):
    posts = some_posts(30)
    other, _, _ = changed(posts)
    _, there = published(tmp_path / "library", posts[:20])
    before = [there.search(query, 30) for query in QUERIES]
    seen = []

    def watch(name, asked):
        if name in ("upsert", "set_payload", "delete") and len(seen) % 5 == 0:
            node.watch = lambda name, asked: None
            seen.append([there.search(query, 30) for query in QUERIES] == before)
            node.watch = watch
        elif name in ("upsert", "set_payload", "delete"):
            seen.append(True)

    node.watch = watch
    add_posts(ADDRESS, [other, *posts[20:]], processes=1)
    # The very last request releases the lock; the state was replaced before.
    assert len(seen) > 5
    assert all(seen[:-1])
    after = [there.search(query, 30) for query in QUERIES]
    assert after != before


@pytest.mark.thorough
@pytest.mark.parametrize("last", [1, 4, 6, 8, 9])
def test_leftovers_of_a_killed_writer_are_invisible_and_removed_later(node, tmp_path, last):
    posts = some_posts(30)
    other, gone, final = changed(posts)
    _, there = published(tmp_path / "library", posts[:20])
    before, answers = content_of(node), [there.search(query, 30) for query in QUERIES]
    left = [last]

    def kill(name, asked):
        if name in ("upsert", "set_payload", "delete"):
            left[0] -= 1
            if left[0] < 0:
                raise Killed

    node.watch = kill
    with pytest.raises(Killed):
        add_posts(ADDRESS, [other, *posts[20:]], processes=1)
    node.watch = lambda name, asked: None
    assert content_of(node) == before
    assert [there.search(query, 30) for query in QUERIES] == answers
    # A killed writer does not release its lock: the lock expires.
    with pytest.raises(InputError, match="is locked by another writer"):
        add_posts(ADDRESS, posts[20:], processes=1)
    let_lock_end(node)
    add_posts(ADDRESS, [other, *posts[20:]], processes=1)
    remove_posts(ADDRESS, gone)
    published(tmp_path / "fresh", final, address=FRESH)
    assert counts_of() == counts_of(FRESH)


def let_lock_end(node):
    """Let the lock expire, as it does after a minute."""
    meta = newest().names.meta
    node.set_payload(meta, {"until": 0.0}, points=[2])


@pytest.mark.thorough
def test_a_second_writer_is_refused_until_the_first_has_finished(node, tmp_path):
    published(tmp_path / "library", some_posts(5))
    with connected(ADDRESS) as cluster:
        meta = newest().names.meta
        with (
            writing_alone(cluster, meta),
            pytest.raises(InputError, match="is locked by another writer"),
        ):
            remove_posts(ADDRESS, [some_posts(1)[0].id])
    assert remove_posts(ADDRESS, [some_posts(1)[0].id]) == 1


@pytest.mark.thorough
def test_removing_all_posts_is_refused(node, tmp_path):
    posts = some_posts(3)
    published(tmp_path / "library", posts)
    with pytest.raises(InputError, match="all of its posts"):
        remove_posts(ADDRESS, [post.id for post in posts])
    assert len(Library(ADDRESS)) == 3


@pytest.mark.thorough
def test_many_changes_leave_few_tables_and_points(node, tmp_path, monkeypatch):
    monkeypatch.setattr("mathsetu.cluster.change._MAX_TABLES", 4)
    posts = some_posts(8)
    published(tmp_path / "library", posts)
    from mathsetu.cluster.change import add_to_cluster, remove_from_cluster

    with connected(ADDRESS) as cluster:
        for _ in range(4):
            remove_from_cluster(cluster, [posts[0].id], grace=0.0)
            add_to_cluster(
                cluster, [posts[0]], collection="", processes=1, progress=print, grace=0.0
            )
    names = newest().names
    assert all(len(part.tables) <= 5 for part in newest().state.parts.values())
    points, _ = node.scroll(names.posts, limit=100)
    # The points that the last change removed are deleted by the next one.
    assert len(points) <= len(posts) + 1
    build_library(tmp_path / "fresh", posts, LIGHT, processes=1)
    publish(tmp_path / "fresh", FRESH)
    assert counts_of() == counts_of(FRESH)


def test_the_name_of_a_table_or_document_selects_its_posts(node, tmp_path):
    rows = [
        Post(f"sheet.csv#{n}", "A prime.", language=code, url=f"sheet.csv#{n}", collection="b")
        for n, code in ((2, "en"), (3, "es"))
    ]
    rows.append(
        Post("own", "A sum.", language="en", thread_id="t", url="notes/other.csv#2", collection="c")
    )
    sections = [Post(f"{name}#b", "Root.", thread_id=name) for name in ("a.md", "b.zip/a.md")]
    with published(tmp_path / "here", [*rows, *sections])[1] as there:
        names = ["own", "sheet.csv", "notes/other.csv", "t", "a.md", "b.zip", "void"]
        assert there.posts_named(names) == {
            "own": {"own"},
            "sheet.csv": {"sheet.csv#2", "sheet.csv#3"},
            "notes/other.csv": {"own"},
            "a.md": {"a.md#b"},
            "b.zip": {"b.zip/a.md#b"},
        }
        added = [Post("own", ""), Post("sheet.csv#9", ""), Post("void.csv#2", "")]
        assert there.kept_collections(added) == {"own": "c", "sheet.csv#9": "b"}
        assert there.has_collection("c")
        assert not there.has_collection("nosuch")
        # Rows are not versions of each other, since the table is not their thread.
        assert all(not hit.versions for hit in there.answer("prime", 5, group=True).hits)
