"""A library on a cluster answers as the library in a folder from which it was published."""

from dataclasses import replace

import pytest

from mathsetu.errors import InputError, UnknownPost
from mathsetu.library import Filter, Library, build_library, remove_posts
from mathsetu.recipes import load_recipe
from mathsetu.records import Post, Query
from tests.cluster.helpers import ADDRESS, QUERIES, counts_of, publish, published, some_posts
from tests.cluster.local import local_node
from tests.light import LIGHT


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    with local_node():
        yield published(tmp_path_factory.mktemp("both") / "library", some_posts())


@pytest.mark.thorough
def test_hits_scores_and_reasons_are_the_same(both):
    here, there = both
    for query in QUERIES:
        assert here.search(query, 10) == there.search(query, 10) != ()


@pytest.mark.thorough
def test_hits_of_the_default_recipe_are_the_same(node, tmp_path):
    here, there = published(tmp_path / "library", some_posts(24), "default")
    for query in QUERIES[:2]:
        assert here.search(query, 5) == there.search(query, 5) != ()
        assert here.answer(query, 5, group=True).hits == there.answer(query, 5, group=True).hits


@pytest.mark.thorough
def test_filtered_hits_are_the_same(both):
    here, there = both
    for where in (Filter("es"), Filter(tags=("calculus", "integration")), Filter("xx")):
        assert here.search(QUERIES[0], 20, where=where) == there.search(QUERIES[0], 20, where=where)


@pytest.mark.thorough
def test_order_and_grouping_are_the_same(both):
    here, there = both
    settings = replace(here.recipe.ranking, exact=0.2, own_language="normal", group=True)
    recipe = replace(here.recipe, ranking=settings)
    for query in QUERIES:
        for where in (None, Filter(tags=("calculus",))):
            ours = here.with_recipe(recipe).answer(query, 10, where=where)
            assert ours.hits == there.with_recipe(recipe).answer(query, 10, where=where).hits


@pytest.mark.thorough
def test_explanations_are_the_same(both):
    here, there = both
    for post in some_posts()[::20]:
        assert here.explain(QUERIES[1], post.id) == there.explain(QUERIES[1], post.id)


@pytest.mark.thorough
def test_formulas_and_the_posts_that_contain_them_are_the_same(both):
    here, there = both
    ours, theirs = here.formulas("x^2", 5), there.formulas("x^2", 5)
    assert [(one.latex, one.score) for one in ours] == [(one.latex, one.score) for one in theirs]
    for one, other in zip(ours, theirs, strict=True):
        assert here.posts_with(one, 9) == there.posts_with(other, 9)


@pytest.mark.thorough
def test_formula_instances_are_the_same(both):
    """ARQMath task 2."""
    here, there = both
    query = Query("B.1", "Why is $x^2$ even?", language="en")
    ours, theirs = here.formula_instances(query, 5), there.formula_instances(query, 5)
    assert [one.hit for one in ours] == [one.hit for one in theirs] != []


@pytest.mark.thorough
def test_posts_tags_languages_and_similar_posts_are_the_same(both):
    here, there = both
    post = some_posts()[3]
    assert there.post(post.id) == here.post(post.id)
    assert there.tags(10) == here.tags(10)
    assert dict(there.languages) == dict(here.languages)
    assert len(there) == len(here)
    assert there.similar(post.id, 3).hits == here.similar(post.id, 3).hits
    assert there.present([post.id, "nobody"]) == {post.id}
    with pytest.raises(UnknownPost):
        there.post("nobody")


@pytest.mark.thorough
def test_runs_are_the_same(both):
    here, there = both
    queries = [Query(str(number), text) for number, text in enumerate(QUERIES)]
    assert here.run(queries, 5) == there.run(queries, 5)


@pytest.mark.thorough
def test_an_answer_is_found_by_its_question(node, tmp_path):
    posts = [
        Post(id="q", title="Why is zeta of two what it is?", body="See Basel.", language="en"),
        Post(id="a", body="Euler knew: $\\frac{\\pi^2}{6}$", parent_id="q", language="en"),
        Post(id="b", body="Something about rings", language="en"),
    ]
    here, there = published(tmp_path / "library", posts)
    assert {hit.id for hit in there.search("zeta of two", 5)} == {"q", "a"}
    assert here.search("zeta of two", 5) == there.search("zeta of two", 5)
    [shown] = [hit.post for hit in there.search("zeta of two", 5) if hit.id == "a"]
    assert shown == there.post("a") == here.post("a")
    assert (shown.title, shown.question) == (posts[0].title, posts[0].body)


@pytest.mark.thorough
@pytest.mark.parametrize("how", [{"parent_id": "q"}, {"kind": "answer"}])
def test_an_answer_is_not_a_version_of_its_question(node, tmp_path, how):
    posts = [
        Post(id="q", body="A geometric series.", language="en", thread_id="1"),
        Post(id="a", body="Geometrická řada.", language="cs", thread_id="1", **how),
    ]
    here, there = published(tmp_path / "library", posts)
    hits = there.answer("geometric series", 5, group=True).hits
    assert [(hit.id, hit.versions) for hit in hits] == [("q", ()), ("a", ())]
    assert hits == here.answer("geometric series", 5, group=True).hits


@pytest.mark.thorough
def test_removed_posts_are_not_published_and_do_not_count(node, tmp_path):
    posts = some_posts(30)
    build_library(tmp_path / "library", posts, LIGHT, processes=1)
    remove_posts(tmp_path / "library", [post.id for post in posts[10:20]])
    publish(tmp_path / "library")
    assert len(Library(ADDRESS)) == 20
    build_library(tmp_path / "fresh", posts[:10] + posts[20:], LIGHT, processes=1)
    publish(tmp_path / "fresh", "qdrant://localhost/fresh")
    assert counts_of() == counts_of("qdrant://localhost/fresh")


@pytest.mark.thorough
def test_a_missing_library_is_refused(node):
    with pytest.raises(InputError, match="no such library on the cluster"):
        Library(ADDRESS)


def test_parts_that_a_cluster_does_not_support_are_refused(node, tmp_path):
    recipe = tmp_path / "tfidf.toml"
    recipe.write_text(
        'name = "tfidf"\ndescription = "x"\n[parts.words]\nkind = "lexical"\n'
        'scheme = { name = "lnc" }\n[ranking]\nweights = { words = 1.0 }\n'
    )
    build_library(tmp_path / "library", some_posts(3), load_recipe(str(recipe)), processes=1)
    with pytest.raises(InputError, match="length one"):
        publish(tmp_path / "library")


@pytest.mark.thorough
def test_pages_totals_facets_and_negative_filters_are_the_same(both):
    filters = (
        None,
        Filter(("en", "es"), not_tags=("geometry",)),
        Filter(any_tags=("calculus", "geometry"), not_languages=("hi",)),
        Filter(collection=("other",)),
    )
    for where in filters:
        for offset in (0, 7, 500):
            ours, theirs = (
                library.answer(QUERIES[0], 5, where=where, offset=offset, min_score=0.01,
                               facets=True)
                for library in both
            )  # fmt: skip
            assert ours.hits == theirs.hits
            assert (ours.total, ours.is_total_exact) == (theirs.total, theirs.is_total_exact)
            assert ours.facets == theirs.facets


@pytest.mark.thorough
def test_a_library_on_a_cluster_prints_the_same_hits_and_can_be_refreshed(node, tmp_path):
    here, there = published(tmp_path / "library", some_posts(24))
    assert [str(hit) for hit in here.search(QUERIES[0], 3)] == [
        str(hit) for hit in there.search(QUERIES[0], 3)
    ]
    assert "24 posts" in repr(there)
    assert not there.refresh()
    remove_posts(ADDRESS, [some_posts(24)[0].id])
    assert there.refresh()
    assert "23 posts" in repr(there)


@pytest.mark.thorough
def test_posts_can_be_added_and_removed_over_http(node, tmp_path):
    testclient = pytest.importorskip("fastapi.testclient")
    from mathsetu.service.app import create_app
    from mathsetu.service.settings import Settings

    published(tmp_path / "library", some_posts(24))
    server = testclient.TestClient(create_app(Settings(ADDRESS, write_key="pen")))
    key = {"authorization": "Bearer pen"}
    body = b'{"id": "twin.md#pairs", "body": "Zwillinge: twin primes $p+2$."}'
    assert server.put("/v1/posts", content=body, headers=key).json()["added"] == 1
    with Library(ADDRESS) as library:
        assert [hit.id for hit in library.search("Zwillinge", 1)] == ["twin.md#pairs"]
    gone = server.delete("/v1/posts?id=twin.md&id=nobody", headers=key).json()
    assert gone == {"removed": 1, "unknown": ["nobody"]}
