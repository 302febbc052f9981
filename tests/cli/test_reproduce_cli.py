"""``mathsetu reproduce``, from files to figures."""

import json
from pathlib import Path

import pytest

from mathsetu.collections.jsonl import write_posts, write_queries
from mathsetu.records import Formula, Post, Query
from tests.command import Mathsetu
from tests.encoders.tiny_graph import POSTS, make_graph_model
from tests.light import LIGHT_TOML


@pytest.fixture
def files(mathsetu: Mathsetu, tmp_path: Path) -> list[str]:
    mathsetu("sampler", "export", tmp_path)
    return [str(tmp_path / name) for name in ("posts.jsonl", "queries.jsonl", "judgments.txt")]


@pytest.mark.thorough
def test_reproduce_prints_json_and_uses_an_existing_library(
    mathsetu: Mathsetu, files: list[str], tmp_path: Path
) -> None:
    folder = tmp_path / "library"
    asked = ("msm-sum", *files, "--library", str(folder), "--json")
    first = mathsetu("reproduce", *asked)
    assert first.code == 0
    done = json.loads(first.out)
    assert done["recipe"] == "msm-sum"
    assert {figure["language"] for figure in done["figures"]} >= {"en", "hi", "cs"}
    manifest = (folder / "manifest.json").stat()
    again = mathsetu("reproduce", *asked)
    assert (again.code, again.out) == (0, first.out)
    assert "is used as it is, and" in again.err
    assert (folder / "manifest.json").stat().st_mtime_ns == manifest.st_mtime_ns


@pytest.mark.thorough
def test_a_library_that_is_used_or_replaced_is_named(mathsetu: Mathsetu, tmp_path: Path) -> None:
    write_posts(tmp_path / "posts.jsonl", POSTS)
    write_queries(tmp_path / "topics.jsonl", [Query("A.301", "Is $x^2-2$ even?", language="en")])
    (tmp_path / "qrels.txt").write_text("A.301 0 3 3\nA.301 0 1 0\n")
    files = [str(tmp_path / name) for name in ("posts.jsonl", "topics.jsonl", "qrels.txt")]
    kept = ("--library", str(tmp_path / "kept"))
    assert "library" not in mathsetu("reproduce", "msm-bm25", *files, *kept).err
    told = mathsetu("reproduce", "msm-bm25", *files, *kept).err
    assert f"kept: this library is used as it is, and {files[0]} is not read" in told
    told = mathsetu("reproduce", "msm-tfidf", *files, *kept).err
    assert "kept: the library there has another recipe and is replaced" in told


@pytest.mark.thorough
def test_the_recipe_sets_the_number_of_ranked_posts(mathsetu: Mathsetu, tmp_path: Path) -> None:
    write_posts(tmp_path / "posts.jsonl", [Post(str(n), "An even prime $p$.") for n in range(2)])
    write_queries(tmp_path / "topics.jsonl", [Query("A.1", "An even prime $p$?", language="en")])
    (tmp_path / "qrels.txt").write_text("A.1 0 0 3\nA.1 0 1 3\n")
    (tmp_path / "deep.toml").write_text(LIGHT_TOML, encoding="utf-8")
    (tmp_path / "flat.toml").write_text(
        LIGHT_TOML.replace("[ranking]", "[ranking]\nk = 1"), encoding="utf-8"
    )
    names = ("posts.jsonl", "topics.jsonl", "qrels.txt")
    depths: dict[str, tuple[int, float]] = {}
    for recipe in ("deep", "flat"):
        done = json.loads(mathsetu("reproduce", f"{recipe}.toml", *names, "--json").out)
        recalled = {figure["measure"]: figure["ours"] for figure in done["figures"]}
        depths[recipe] = done["depth"], recalled["MAP'"]
    assert depths == {"deep": (1000, 1.0), "flat": (1, 0.5)}
    assert "hits per topic: at most 1\n" in mathsetu("reproduce", "flat.toml", *names).out
    changed = mathsetu("reproduce", "deep.toml", *names, "--set", "ranking.k=2").out
    assert "hits per topic: at most 2\n" in changed
    # The whole pool is ranked.
    assert "hits per topic" not in mathsetu("reproduce", "flat.toml", *names, "--pool").out


@pytest.mark.thorough
def test_run_and_evaluate_give_the_same_figures_with_the_saved_judgments(
    mathsetu: Mathsetu, tmp_path: Path
) -> None:
    """The recipe leaves out a relevant post, so all judgments together give other figures."""
    bodies = ("An even prime $p$.", "An odd prime $p$.", "$p$")
    posts = [Post(str(number), body) for number, body in enumerate(bodies)]
    write_posts(tmp_path / "posts.jsonl", posts)
    asked = [Query(f"A.{number}", "Is $p$ an even prime?", language="en") for number in (1, 2)]
    write_queries(tmp_path / "topics.jsonl", asked)
    (tmp_path / "qrels.txt").write_text("A.1 0 1 2\nA.1 0 2 3\nA.1 0 9 2\nA.2 0 0 1\nA.2 0 9 2\n")
    (tmp_path / "own.toml").write_text(f"{LIGHT_TOML}\n[posts]\nneed_words = true")
    files = ("own.toml", "posts.jsonl", "topics.jsonl", "qrels.txt")
    kept = ("--library", "library")
    first = mathsetu("reproduce", *files, *kept, "--save-judgments", "used.txt")
    assert "left out by the recipe: 1 post (posts.need_words True)" in first.out
    left_out = "1 of posts that the recipe leaves out, 2 of posts that are not in the library"
    assert f"1 of 5 judgments are used; left out: {left_out}" in first.out
    assert (tmp_path / "used.txt").read_text() == "A.1 0 1 2\n"
    assert "  mathsetu run LIBRARY TOPICS RUN --k 1000\n" in first.err
    assert """  mathsetu evaluate used.txt RUN -m "nDCG'" """ in first.err
    assert "--relevant-from 2\n" in first.err
    done = json.loads(mathsetu("reproduce", *files, *kept, "--json").out)
    assert "judgments" not in done
    assert any("the recipe leaves out some posts" in line for line in done["differences"])
    assert mathsetu("run", "library", "topics.jsonl", "my.run", "--k", "1000").code == 0
    measures = [word for figure in done["figures"] for word in ("-m", figure["measure"])]
    for qrels, is_same in (("used.txt", True), ("qrels.txt", False)):
        asked_again = ("evaluate", qrels, "my.run", *measures, "--relevant-from", "2", "--json")
        [measured] = json.loads(mathsetu(*asked_again).out)["runs"]
        ours = {figure["measure"]: figure["ours"] for figure in done["figures"]}
        means = {name: measured["measures"][name]["mean"] for name in ours}
        assert (means == pytest.approx(ours)) is is_same
    refused = mathsetu.refuses("reproduce", *files, "--save-judgments", "used.txt")
    assert "used.txt: exists, contains judgments (remove it first, or name another file)" in refused


@pytest.mark.thorough
def test_the_table_names_settings_that_differ_from_the_recipe(
    mathsetu: Mathsetu, files: list[str]
) -> None:
    shown = mathsetu("reproduce", "msm-sum", *files, "--set", "parts.bm25.scheme.k1=2.5")
    assert shown.code == 0
    assert "parts.bm25.scheme.k1 is 2.5, not 1.5" in shown.out
    assert "the paper has no figures for them" in shown.out


@pytest.mark.thorough
def test_a_recipe_file_with_the_name_of_a_shipped_recipe_is_compared_with_it(
    mathsetu: Mathsetu, files: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "own.toml"
    changed = 'based_on = "msm-sum"\nparts.bm25.scheme = { name = "bm25+", k1 = 2.5 }\n'
    path.write_text(f'name = "msm-sum"\n{changed}', encoding="utf-8")
    assert "parts.bm25.scheme.k1 is 2.5, not 1.5" in mathsetu("reproduce", path, *files).out
    path.write_text(changed, encoding="utf-8")
    assert "paper" not in mathsetu("reproduce", path, *files).out


@pytest.mark.thorough
def test_graphs_of_answers_alone_are_compared_with_the_figures_of_the_thesis(
    mathsetu: Mathsetu, tmp_path: Path
) -> None:
    model = make_graph_model(tmp_path / "model", [post.body for post in POSTS])
    write_posts(tmp_path / "posts.jsonl", POSTS)
    write_queries(tmp_path / "topics.jsonl", [Query("A.301", "Is $x^2-2$ even?", language="en")])
    (tmp_path / "qrels.txt").write_text("A.301 0 3 3\nA.301 0 1 0\n")
    files = [str(tmp_path / name) for name in ("posts.jsonl", "topics.jsonl", "qrels.txt")]
    settings = (f"parts.graph.model={model}", "parts.graph.fields=['body']")
    shown = mathsetu("reproduce", "mathamr-plus", *files, "--json",
                     *(word for one in settings for word in ("--set", one)))  # fmt: skip
    done = json.loads(shown.out)
    papers = {figure["measure"]: figure["paper"] for figure in done["figures"]}
    assert papers == {"nDCG'": 0.334, "MAP'": 0.108, "P'@10": 0.236, "bpref": 0.163}
    assert any("parts.graph.fields is ['body']" in line for line in done["differences"])


@pytest.mark.thorough
def test_a_recipe_without_a_paper_is_not_compared_with_one(
    mathsetu: Mathsetu, tmp_path: Path
) -> None:
    (tmp_path / "own.toml").write_text(LIGHT_TOML, encoding="utf-8")
    write_posts(tmp_path / "posts.jsonl", POSTS)
    write_queries(tmp_path / "topics.jsonl", [Query("A.1", "Is $x^2-2$ even?", language="en")])
    (tmp_path / "qrels.txt").write_text("A.1 0 3 3\nA.1 0 1 0\nA.1 0 missing 2\n")
    names = ("own.toml", "posts.jsonl", "topics.jsonl", "qrels.txt")
    shown = mathsetu("reproduce", *(tmp_path / name for name in names), "--pool")
    assert shown.code == 0, shown.err
    assert "ARQMath 2020" in shown.out
    assert "paper" not in shown.out
    assert "posts were searched" not in shown.out
    assert "notes:" in shown.out
    assert "2 of 3 judgments are used" in shown.out


def test_wrong_input_gets_an_error_in_one_line(mathsetu: Mathsetu, files: list[str]) -> None:
    posts, topics, qrels = files
    other = str(Path(qrels).with_name("other.txt"))
    Path(other).write_text("A.1 0 7 3\n")
    for arguments, message in (
        (("magic", posts, topics, qrels), "unknown recipe 'magic'"),
        (("mirmu", posts, topics, qrels), "name another folder (--set rerank.model=FOLDER)"),
        (("msm-compubert", posts, topics, qrels), "(--set parts.text.model=FOLDER)"),
        (("msm-sum", posts, posts, qrels), "holds posts"),
        (("msm-sum", topics, topics, qrels), "holds queries"),
        (("msm-sum", posts, topics, topics), "holds queries"),
        (("msm-sum", posts, topics, other), "queries.jsonl: none of its topics is judged in"),
        (("msm-sum", posts, topics, qrels, "--set", "ranking.k=x"), "must be an integer"),
    ):
        assert message in mathsetu.refuses("reproduce", *arguments)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--write page.md", "--write can only be used with --all DATA"),
        ("--only msm --keep k", "--only, --keep can only be used with --all DATA"),
        ("--models m.toml", "--models can only be used with --all DATA"),
        ("--sweep-k 1,2 --pool", "--pool cannot be used with --sweep-k"),
        (
            "--sweep-k 1,2 --learned f --save-judgments g",
            "--save-judgments, --learned cannot be used with",
        ),
        ("--sweep-k 1,2 --save f", "--save cannot be used with --sweep-k"),
    ],
)
def test_options_of_the_page_are_refused_for_one_recipe(
    mathsetu: Mathsetu, options: str, message: str
) -> None:
    files = ("msm-ens-7", "posts.jsonl", "topics.xml", "qrels.txt")
    assert message in mathsetu.refuses("reproduce", *files, *options.split())


@pytest.mark.parametrize(
    "options",
    ["--json", "--sweep-k 1,2", "--library l", "--pool", "--set ranking.k=7", "--lang en",
     "--save f", "--save-judgments f", "--learned f"],
)  # fmt: skip
def test_options_of_one_recipe_are_refused_for_the_page(
    mathsetu: Mathsetu, tmp_path: Path, options: str
) -> None:
    said = mathsetu.refuses("reproduce", "--all", tmp_path, *options.split())
    assert f"{options.split()[0]} cannot be used with --all" in said


@pytest.fixture
def english(files: list[str]) -> list[str]:
    """Only the English posts and queries: the same checks in a sixth of the time."""
    for path in map(Path, files[:2]):
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        kept = [line for line in lines[1:] if '"en"' in line]
        path.write_text("".join([lines[0], *kept]), encoding="utf-8")
    return files


ENSEMBLE = """
name = "two"
description = "Two systems"
[parts.tfidf]
kind = "lexical"
scheme = { name = "ltn" }
[parts.bm25]
kind = "lexical"
[systems.a]
weights = { tfidf = 1.0 }
[systems.b]
weights = { bm25 = 1.0 }
[ranking]
fuse = { method = "rbc" }
"""


@pytest.mark.thorough
def test_learned_settings_of_rbc_are_saved_and_reused(
    mathsetu: Mathsetu, english: list[str], tmp_path: Path
) -> None:
    posts, topics, qrels = english
    recipe, library = tmp_path / "two.toml", tmp_path / "two.library"
    recipe.write_text(ENSEMBLE)
    kept = tmp_path / "rbc.toml"
    asked = ("reproduce", str(recipe), posts, topics, qrels, "--library", str(library))
    first = mathsetu(*asked, "--save", kept)
    assert first.code == 0, first.err
    assert "learned: a, b: RBC" in first.out
    assert kept.read_text().startswith("# Learned from judgments.txt")
    again = mathsetu(*asked, "--learned", kept)
    assert again.code == 0, again.err
    assert "learned: " not in again.out
    assert "are not held out" in again.out
    run = tmp_path / "run.trec"
    assert mathsetu("run", library, topics, run, "--learned", kept, "--k", "5").code == 0
    assert "needs coefficients" in mathsetu.refuses("run", library, topics, run)
    assert "--learned, which learns nothing" in mathsetu.refuses(
        *asked, "--learned", kept, "--save", kept
    )
    # This is reported before posts are read and a library of another recipe is replaced.
    plain = ("reproduce", "msm-bm25", "none.jsonl", topics, qrels, "--library", str(library))
    assert "has no fusion that learns" in mathsetu.refuses(*plain, "--save", tmp_path / "new.toml")


@pytest.mark.thorough
def test_k_is_swept_over_the_same_systems(
    mathsetu: Mathsetu, english: list[str], tmp_path: Path
) -> None:
    recipe = tmp_path / "two.toml"
    recipe.write_text(ENSEMBLE.replace('method = "rbc"', 'method = "rrf"'))
    swept = mathsetu("reproduce", recipe, *english, "--sweep-k", "1,60", "--json")
    assert swept.code == 0, swept.err
    found = json.loads(swept.out)
    assert [row["k"] for row in found] == [1, 60]
    plain = json.loads(mathsetu("reproduce", recipe, *english, "--json").out)
    assert found[1]["figures"] == plain["figures"]
    assert "needs a recipe that fuses with rrf" in mathsetu.refuses(
        "reproduce", "msm-sum", *english, "--sweep-k", "1,60"
    )


@pytest.mark.thorough
def test_with_pool_only_judged_posts_are_ranked(
    mathsetu: Mathsetu, english: list[str], tmp_path: Path
) -> None:
    posts, topics, qrels = english
    library, target = tmp_path / "library", tmp_path / "pool.run"
    assert mathsetu("index", library, posts, "--recipe", "msm-bm25").code == 0
    assert mathsetu("run", library, topics, target, "--pool", qrels).code == 0
    judged: dict[str, set[str]] = {}
    for line in Path(qrels).read_text().splitlines():
        topic, _, post, _ = line.split()
        judged.setdefault(topic, set()).add(post)
    ranked: dict[str, list[str]] = {}
    for line in target.read_text().splitlines():
        topic, _, post, *_ = line.split()
        ranked.setdefault(topic, []).append(post)
    assert ranked
    assert all(set(found) <= judged[topic] for topic, found in ranked.items())
    whole = tmp_path / "whole.run"
    assert mathsetu("run", library, topics, whole, "--k", "1000").code == 0
    for topic in ranked:
        order = [
            line.split()[2]
            for line in whole.read_text().splitlines()
            if line.startswith((f"{topic} ", f"{topic}\t"))
        ]
        assert ranked[topic] == [post for post in order if post in judged[topic]]
    done = mathsetu("reproduce", "msm-bm25", *english, "--pool")
    assert "the paper ranks the collection" in done.out


@pytest.mark.thorough
def test_posts_of_the_pool_that_are_not_found_are_reported(
    mathsetu: Mathsetu, tmp_path: Path
) -> None:
    write_posts(tmp_path / "posts.jsonl", POSTS)
    write_queries(tmp_path / "topics.jsonl", [Query("q", "Is it even?", language="en")])
    every = ["nobody", *(post.id for post in POSTS)]
    (tmp_path / "qrels.txt").write_text("".join(f"q 0 {post} 2\n" for post in every))
    files = ("posts.jsonl", "topics.jsonl", "qrels.txt")
    done = mathsetu("reproduce", "msm-bm25", *files, "--library", "l", "--pool")
    ran = mathsetu("run", "l", "topics.jsonl", "pool.run", "--pool", "qrels.txt")
    found = len((tmp_path / "pool.run").read_text().splitlines())
    assert 0 < found < len(POSTS)
    missed = len(POSTS) - found
    assert f"{missed} of {len(POSTS)} judged posts were not found by the recipe" in done.out
    assert f"{missed} posts of the pool not found by the recipe" in ran.err


def test_for_topics_of_formulas_the_error_points_to_run_and_evaluate(
    mathsetu: Mathsetu, tmp_path: Path
) -> None:
    formula = Formula("q_1", "x^2-2")
    write_queries(tmp_path / "t.jsonl", [Query("B.1", "Is $x^2-2$ even?", formulas=(formula,))])
    (tmp_path / "qrels.txt").write_text("B.1 0 1051844 2\n")
    said = mathsetu.refuses("reproduce", "formula", "none.jsonl", "t.jsonl", "qrels.txt")
    assert "topics of ARQMath task 2 (B.1 …) ask for formulas" in said
    assert "--to arqmath-formula-run" in said
    assert "--visual-ids FILE' (docs/evaluate.md)" in said


@pytest.mark.thorough
@pytest.mark.parametrize(("topic", "compared"), [("A.301", True), ("A.1", False), ("q_1", False)])
def test_topics_that_the_paper_did_not_use_are_not_compared_with_it(
    mathsetu: Mathsetu, tmp_path: Path, topic: str, compared: bool
) -> None:
    model = make_graph_model(tmp_path / "model", [post.body for post in POSTS])
    write_posts(tmp_path / "posts.jsonl", POSTS)
    write_queries(tmp_path / "topics.jsonl", [Query(topic, "Is $x^2-2$ even?", language="en")])
    (tmp_path / "qrels.txt").write_text(f"{topic} 0 3 3\n{topic} 0 1 0\n")
    files = ("posts.jsonl", "topics.jsonl", "qrels.txt")
    shown = mathsetu("reproduce", "mathamr-plus", *files, "--set", f"parts.graph.model={model}").out
    assert ("posts were searched, not" in shown) is compared
    assert ("topics were asked, not" in shown) is compared
    assert ("the paper's figure is in" in shown) is compared
    assert ("en: the paper has no figures for them" in shown) is not compared
    assert "our network" not in shown


@pytest.mark.thorough
def test_our_own_network_is_named_as_a_difference(mathsetu: Mathsetu, tmp_path: Path) -> None:
    write_posts(tmp_path / "posts.jsonl", POSTS)
    write_queries(tmp_path / "topics.jsonl", [Query("A.301", "Is $x^2-2$ even?", language="en")])
    (tmp_path / "qrels.txt").write_text("A.301 0 3 3\nA.301 0 1 0\n")
    shown = mathsetu("reproduce", "mathamr-plus", "posts.jsonl", "topics.jsonl", "qrels.txt").out
    assert "parts.graph.model is shipped: our network" in shown
