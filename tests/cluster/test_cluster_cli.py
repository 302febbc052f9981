"""The command line on a cluster: the same verbs, with an address instead of a folder."""

import json

import pytest

from mathsetu.collections.jsonl import write_posts
from tests.cluster.helpers import ADDRESS, some_posts


@pytest.fixture
def recipe(tmp_path):
    path = tmp_path / "words.toml"
    path.write_text(
        'name = "light"\ndescription = "Words and formulas"\n[parts.words]\nkind = "lexical"\n'
        '[parts.formulas]\nkind = "formula"\n[ranking]\nweights = { words = 0.6, formulas = 0.4 }\n'
    )
    return str(path)


@pytest.mark.thorough
def test_publish_info_search_add_and_remove_work_on_a_cluster(node, mathsetu, tmp_path, recipe):
    write_posts("posts.jsonl", some_posts(10))
    write_posts("more.jsonl", some_posts(12)[10:])
    mathsetu("index", "library", "posts.jsonl", "--recipe", recipe, "--processes", "1")
    assert "10 posts published" in mathsetu("publish", "library", ADDRESS).out
    facts = json.loads(mathsetu("info", ADDRESS, "--check", "--json").out)
    assert (facts["posts"], facts["version"], facts["recipe"]) == (10, 1, "light")
    assert all(name.isidentifier() for name in facts)
    query = "sum of fractions $\\frac{1}{2}+\\frac{1}{3}$"
    here = json.loads(mathsetu("search", "library", query, "--json").out)
    assert json.loads(mathsetu("search", ADDRESS, query, "--json").out) == here
    assert "2 posts added" in mathsetu("add", ADDRESS, "more.jsonl").out
    assert json.loads(mathsetu("remove", ADDRESS, some_posts(1)[0].id, "--json").out) == {
        "removed": 1,
        "unknown": [],
    }
    assert "posts" in mathsetu("info", ADDRESS).out
    assert json.loads(mathsetu("info", ADDRESS, "--json").out)["posts"] == 11


@pytest.mark.thorough
def test_a_plan_is_made_and_its_shards_are_published(node, mathsetu, recipe):
    write_posts("posts.jsonl", some_posts(10))
    made = mathsetu("plan", "plan", "posts.jsonl", "--shards", "2", "--recipe", recipe, "--json")
    assert sum(json.loads(made.out)["shards"]) == 10
    assert "shard 0 is not built yet" in mathsetu.refuses("publish", "plan", ADDRESS)
    for shard in ("0", "1"):
        out = mathsetu("publish", "plan", ADDRESS, "--shard", shard, "--processes", "1").out
        assert f"shard {shard}" in out
    assert "10 posts published" in mathsetu("publish", "plan", ADDRESS).out
    assert "no 2" in mathsetu.refuses("publish", "plan", ADDRESS, "--shard", "2")


def test_mistakes_are_reported_in_one_line(node, mathsetu, recipe):
    write_posts("posts.jsonl", some_posts(3))
    for arguments, problem in (
        (("index", ADDRESS, "posts.jsonl"), "mathsetu publish"),
        (("optimize", ADDRESS), "by itself"),
        (("search", "qdrant://localhost", "x"), "is not the address"),
        (("search", ADDRESS, "prime"), "no such library on the cluster"),
        (("publish", "nowhere", ADDRESS), "no such library"),
    ):
        assert problem in mathsetu.refuses(*arguments), arguments
