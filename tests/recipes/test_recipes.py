"""Recipes: the shipped ones, replaced settings, and what is refused."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from mathsetu.collections import sampler
from mathsetu.encoders.builtin import own_folder
from mathsetu.errors import InputError
from mathsetu.library import Library, build_library
from mathsetu.models import model_fingerprint
from mathsetu.recipes import (
    complete_recipe_text,
    load_recipe,
    recipe_names,
    recipe_table,
    recipe_text,
    searched_with,
)
from mathsetu.recipes.parts import check_parts, models_of
from mathsetu.recipes.schema import Recipe, parse_recipe
from tests.command import Mathsetu

BM25 = ["msm-bm25", "msm-bm25-best", "msm-bm25-tuned"]
LIGHT = ["default", "formula", *BM25, "msm-sum", "msm-tfidf"]
CROSSMATH = [f"crossmath-{by}-{with_}" for by in ("mbart", "nllb") for with_ in ("bi", "cross")]
MIRMU = ["mirmu", "mirmu-base", "mirmu-mathberta", "mirmu-mathberta-fine", "mirmu-text",
         "mirmu-tuned", "mirmu-tuned-mathberta"]  # fmt: skip
ENSEMBLES = ["msm-ensemble", *(f"msm-ens-{number}" for number in range(1, 23))]
NEURAL = [*CROSSMATH, *MIRMU, "mirmu-retriever", "miracle-1", "miracle-2", "msm-compubert",
          *ENSEMBLES]  # fmt: skip
# These have separate tests.
OTHERS = ["formula-context", "mathamr-plus", "meaning"]
SHIPPED = sorted([*LIGHT, *NEURAL, *OTHERS])
WORDS = """
name = "mine"
description = "Words alone"
[parts.words]
kind = "lexical"
[ranking]
weights = { words = 1.0 }
"""


def checked(text: str, *settings: str, place: Path) -> Recipe:
    path = place / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return load_recipe(str(path), settings)


def test_a_reranker_without_a_model_is_switched_off() -> None:
    assert load_recipe("mirmu").rerank is not None
    assert load_recipe("mirmu", ["rerank.model="]).rerank is None
    assert load_recipe("default", ['rerank.model=""']).rerank is None
    ensemble = load_recipe("msm-ensemble", ["systems.mirmu-1.rerank.model="])
    assert load_recipe("msm-ensemble").systems["mirmu-1"].rerank is not None
    assert ensemble.systems["mirmu-1"].rerank is None


def test_these_recipes_are_shipped() -> None:
    assert sorted(recipe_names()) == SHIPPED


def test_recipes_are_listed_in_numeric_order() -> None:
    ensembles = [name for name in recipe_names() if name.startswith("msm-ens-")]
    assert ensembles.index("msm-ens-2") < ensembles.index("msm-ens-10")


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_recipe_is_valid_and_has_the_name_of_its_file(name: str) -> None:
    recipe = load_recipe(name)
    assert recipe.name == name
    assert recipe.description
    assert name in recipe_text(name)
    check_parts(recipe)


@pytest.mark.thorough
@pytest.mark.parametrize("name", LIGHT)
def test_a_recipe_without_neural_parts_builds_and_searches(tmp_path: Path, name: str) -> None:
    posts = [post for post in sampler.posts() if post.language == "en"][:20]
    # With so few posts, nearly every term is in fewer than eight.
    settings = ["parts.words.min_posts=2"] if name == "msm-tfidf" else []
    recipe = load_recipe(name, settings)
    build_library(tmp_path / name, posts, recipe, processes=1)
    library = Library(tmp_path / name)
    hit = library.search(f"{posts[7].title} {posts[7].body}", 1)[0]
    assert hit.id == posts[7].id
    assert library.recipe == recipe
    assert set(library.recipe.parts) == {reason.part for reason in hit.reasons} - {"exact"}


def test_the_papers_settings_are_in_their_recipes() -> None:
    for name, k1, title in (
        ("msm-bm25", 1.5, 1),
        ("msm-bm25-best", 1.8, 1),
        ("msm-bm25-tuned", 1.8, 2),
    ):
        words = load_recipe(name).parts["words"]
        assert words["scheme"] == {"name": "bm25+", "k1": k1, "b": 0.75, "delta": 1.0}
        assert words["fields"] == {"title": title, "body": 1, "question": 1, "tags": 1}
    tfidf = load_recipe("msm-tfidf").parts["words"]
    assert (tfidf["min_posts"], tfidf["max_share"], tfidf["stop_words"]) == (8, 0.7, False)
    assert load_recipe("miracle-1").ranking.weights == {"text": 0.7, "math": 0.3}
    assert load_recipe("miracle-2").ranking.weights == {"text": 0.6, "math": 0.4}
    for name in ("miracle-1", "miracle-2"):
        ranking = load_recipe(name).ranking
        assert (ranking.candidates, ranking.k, ranking.candidates_from) == (500, 50, ("text",))
    for name in CROSSMATH:
        recipe = load_recipe(name)
        assert recipe.query.translate == "en"
        assert recipe.query.backend == name.split("-")[1]
        assert recipe.parts["text"]["fields"] == ["body"]
        assert (recipe.rerank is None) == name.endswith("bi")
    for name in MIRMU:
        rerank = load_recipe(name).rerank
        assert rerank is not None
        assert rerank.tiers == (3, 7, 12, 16, 20, 50, 100, 125)
        assert rerank.text == ("words" if name == "mirmu-text" else "marked")
    assert load_recipe("msm-ens-7").ranking.fuse == {"method": "rrf", "k": 60}
    assert load_recipe("msm-ens-8").ranking.fuse == {"method": "rrf", "k": 180}


@pytest.mark.parametrize("name", ENSEMBLES)
def test_an_ensemble_has_only_parts_that_its_systems_need(name: str) -> None:
    recipe = load_recipe(name)
    needed = {part for system in recipe.systems.values() for part in system.weights}
    assert set(recipe.parts) == needed
    assert len(set(recipe.ranking.weights.values())) == 1


@pytest.mark.parametrize(
    ("alone", "system"),
    [
        ("msm-tfidf", "msm-2"),
        ("msm-bm25", "msm-3"),
        ("msm-sum", "msm-4"),
        ("msm-compubert", "msm-5"),
        ("mirmu-base", "mirmu-1"),
        ("mirmu-text", "mirmu-2"),
        ("mirmu-mathberta", "mirmu-3"),
        ("mirmu-tuned", "mirmu-4"),
        ("mirmu-tuned-mathberta", "mirmu-5"),
    ],
)
def test_a_system_of_the_ensembles_equals_its_own_recipe(alone: str, system: str) -> None:
    own, member = load_recipe(alone), load_recipe("msm-ens-7").member(system)
    assert sorted(map(str, own.parts.values())) == sorted(map(str, member.parts.values()))
    assert own.rerank == member.rerank
    assert own.ranking.normalise == member.ranking.normalise


@pytest.mark.parametrize(
    ("alone", "system"),
    [
        ("mirmu-mathberta-fine", "fine-1"),
        ("msm-bm25-best", "fine-2"),
        ("mirmu", "fine-3"),
        ("mirmu-retriever", "fine-4"),
    ],
)
def test_a_refined_system_equals_its_own_recipe(alone: str, system: str) -> None:
    own, member = load_recipe(alone), load_recipe("msm-ens-1").member(system)
    assert sorted(map(str, own.parts.values())) == sorted(map(str, member.parts.values()))
    assert own.rerank == member.rerank


def test_a_recipe_based_on_another_states_only_the_differences(tmp_path: Path) -> None:
    text = """
    name = "mine"
    description = "Other systems"
    based_on = "msm-ens-7"
    use = ["msm-3", "mine"]
    [systems.mine]
    weights = { tfidf = 1.0 }
    [ranking]
    fuse = { method = "ibc" }
    """
    recipe = checked(text, place=tmp_path)
    assert list(recipe.parts) == ["tfidf", "bm25"]
    assert recipe.ranking.weights == {"msm-3": 0.5, "mine": 0.5}
    assert (recipe.ranking.fuse, recipe.ranking.candidates) == ({"method": "ibc"}, 1000)


def test_a_recipe_based_on_another_is_named_after_its_file(tmp_path: Path) -> None:
    path = tmp_path / "other-k1.toml"
    path.write_text('based_on = "msm-bm25"\n', encoding="utf-8")
    recipe = load_recipe(str(path))
    assert (recipe.name, recipe.description) == ("other-k1", "Based on msm-bm25")
    path.write_text('based_on = "msm-bm25"\nname = "mine"\n', encoding="utf-8")
    assert load_recipe(str(path)).name == "mine"


@pytest.mark.parametrize(
    ("part", "is_known"),
    [
        ('kind = "dense"\nmodel = "mathsetu"', True),
        ('kind = "meaning"', True),
        ('kind = "dense"\nmodel = "a/b"', False),
        ('kind = "lexical"', False),
    ],
)
def test_parts_with_vectors_have_the_fingerprints_of_their_local_models(
    part: str, is_known: bool
) -> None:
    text = WORDS.replace('kind = "lexical"', part, 1)
    expected = {"words": model_fingerprint(own_folder())} if is_known else {}
    assert models_of(parse_recipe(text, "mine")) == expected


def test_some_systems_of_an_ensemble_can_be_chosen_on_the_command_line() -> None:
    wanted = ["parts.bm25.scheme.k1=2.5", 'use=["msm-3"]']
    recipe = load_recipe("msm-ens-9", wanted)
    assert (list(recipe.systems), list(recipe.parts)) == (["msm-3"], ["bm25"])
    assert recipe.ranking.weights == {"msm-3": 1.0}
    with pytest.raises(
        InputError, match=r"msm-ens-9: use names 'x', which is not a system \(systems:"
    ):
        load_recipe("msm-ens-9", ['use=["x"]'])
    with pytest.raises(InputError, match=r"msm-bm25: use names 'x'.*the recipe has no systems"):
        load_recipe("msm-bm25", ['use=["x"]'])
    with pytest.raises(InputError, match="based_on stands in the file of a recipe"):
        load_recipe("msm-bm25", ["based_on=default"])


def test_some_systems_of_a_built_ensemble_can_be_searched() -> None:
    built = recipe_table("msm-ens-9")
    built["ranking"]["weights"] = dict.fromkeys(built["systems"], 0.25)  # as a library states them
    chosen = searched_with(built, ['use=["msm-2", "msm-3"]'], "lib")
    assert chosen.ranking.weights == {"msm-2": 0.5, "msm-3": 0.5}


def based_on(base: str, changes: str, place: Path) -> Recipe:
    return checked(f'based_on = "{base}"\nname = "mine"\n{changes}', place=place)


@pytest.mark.parametrize("kind", ["", 'kind = "lexical"\n'])
def test_a_part_changes_single_settings_of_the_part_it_is_based_on(
    tmp_path: Path, kind: str
) -> None:
    changes = f'[parts.words]\n{kind}scheme = {{ name = "bm25+", k1 = 2.5 }}'
    words = load_recipe("msm-bm25").parts["words"]
    changed = based_on("msm-bm25", changes, tmp_path).parts["words"]
    assert changed == words | {"scheme": {"name": "bm25+", "k1": 2.5}}
    assert changed["analysis"] == "porter"


def test_a_part_of_another_kind_replaces_the_one_it_is_based_on(tmp_path: Path) -> None:
    recipe = based_on("msm-bm25", '[parts.words]\nkind = "formula"', tmp_path)
    assert recipe.parts == {"words": {"kind": "formula"}}


def test_a_system_changes_single_settings_of_the_system_it_is_based_on(tmp_path: Path) -> None:
    before = load_recipe("msm-ens-7").systems
    changes = "[systems.mirmu-1]\nweights = { minilm = 0.5, bm25 = 0.5 }"
    after = based_on("msm-ens-7", changes, tmp_path).systems
    weights = {"minilm": 0.5, "bm25": 0.5}
    assert after == before | {"mirmu-1": replace(before["mirmu-1"], weights=weights)}


@pytest.mark.parametrize(
    ("base", "changes", "message"),
    [
        (
            "default",
            "[parts.wrods]\nquery_title = 1.0",
            "parts.wrods: kind is missing, and default has nothing of this name "
            "(parts: words, formulas, meaning)",
        ),
        (
            "msm-ens-12",
            "[systems.mirmu1]\nnormalise = 'rank'",
            "systems.mirmu1: weights is missing, and msm-ens-12 has nothing of this name "
            "(systems: msm-4, mirmu-1)",
        ),
        ("default", "[systems.mine]\nnormalise = 'rank'", "systems.mine: weights is missing"),
        ("default", "[parts]\nwords = 3", "parts.words must be a table"),
    ],
)
def test_invalid_changes_in_a_based_recipe_are_refused(
    tmp_path: Path, base: str, changes: str, message: str
) -> None:
    with pytest.raises(InputError, match=r"mine\.toml: ") as refused:
        based_on(base, changes, tmp_path)
    assert str(refused.value).endswith(message)


@pytest.mark.thorough
@pytest.mark.parametrize("name", SHIPPED)
def test_the_complete_text_of_a_recipe_gives_the_same_recipe(tmp_path: Path, name: str) -> None:
    text = complete_recipe_text(name)
    assert "based_on =" not in text
    assert checked(text, place=tmp_path) == load_recipe(name)
    assert (text == recipe_text(name)) == ("based_on =" not in recipe_text(name))


def test_a_combined_recipe_keeps_the_comment_of_its_file() -> None:
    about, base, first, *_ = complete_recipe_text("msm-bm25-tuned").splitlines()
    assert about == recipe_text("msm-bm25-tuned").splitlines()[0]
    assert base == "# Combined with msm-bm25, which this recipe is based on."
    assert first == 'name = "msm-bm25-tuned"'


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('based_on = "magic"', "based_on must name another shipped recipe, not 'magic'"),
        ("based_on = 3", "based_on must name another shipped recipe, not 3"),
        ('use = ["words"]', "use names 'words', which is not a system (the recipe has no systems)"),
        ('use = "words"', "use must be a list of systems, not 'words' (the recipe has no"),
        ('uses = "words"', "mine.toml: unknown setting 'uses' (known: name,"),
        ('uses = "words"', "rerank, based_on, use)"),
    ],
)
def test_based_on_and_use_are_checked(tmp_path: Path, line: str, message: str) -> None:
    with pytest.raises(InputError) as refused:
        checked(line + WORDS, place=tmp_path)
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("setting", "read"),
    [
        ("ranking.k=7", lambda recipe: recipe.ranking.k == 7),
        ("ranking.normalise=rank", lambda recipe: recipe.ranking.normalise == "rank"),
        ("ranking.adaptive = false", lambda recipe: recipe.ranking.adaptive is False),
        ("parts.words.fields={title=2}", lambda r: r.parts["words"]["fields"] == {"title": 2}),
        ("parts.words.scheme.k1=2.5", lambda r: r.parts["words"]["scheme"]["k1"] == 2.5),
        ("posts.kinds=['answer']", lambda recipe: recipe.posts.kinds == ("answer",)),
        ("description=a=b", lambda recipe: recipe.description == "a=b"),
    ],
)
def test_any_setting_can_be_replaced(setting: str, read: object) -> None:
    assert read(load_recipe("default", [setting]))  # type: ignore[operator]


def test_a_replaced_setting_changes_what_is_built(tmp_path: Path) -> None:
    posts = list(sampler.posts())[:10]
    recipe = load_recipe("msm-bm25", ["parts.words.fields={title=1}", "ranking.k=3"])
    build_library(tmp_path / "l", posts, recipe, processes=1)
    assert Library(tmp_path / "l").recipe.parts["words"]["fields"] == {"title": 1}


def test_the_model_of_a_recipe_can_be_replaced() -> None:
    recipe = load_recipe("miracle-1", ["parts.text.model=models/all-MiniLM-L6-v2"])
    assert recipe.parts["text"]["model"] == "models/all-MiniLM-L6-v2"


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("ranking.depth=5", "ranking: unknown setting 'depth'"),
        ("rankings.k=5", "unknown setting 'rankings'"),
        ("ranking.k=many", "ranking: k must be an integer, not 'many'"),
        ("ranking.k=true", "ranking: k must be an integer, not True"),
        ("ranking.k=0", "ranking needs 1 <= k <= candidates"),
        ("ranking.k=501", "ranking needs 1 <= k <= candidates"),
        ("ranking.candidates=0", "ranking needs 1 <= k <= candidates"),
        ("ranking.rescored=-1", "ranking.rescored is -1; it must be 0 or more"),
        ("ranking.adaptive=1", "ranking: adaptive must be true or false, not 1"),
        ("ranking.weights=1", "ranking: weights must be a table"),
        ("ranking.weights={words=1.0 b=2}", "{words=1.0 b=2}: is not valid TOML"),
        ("ranking.weights.words=0.5", "ranking.weights must add up to 1, not 0.5"),
        ("ranking.weights.words=nan", "ranking.weights must add up to 1, not nan"),
        ("ranking.weights.words=-1", "ranking.weights must not be negative (words)"),
        ("ranking.own_language=loud", "mine.toml: ranking: own_language is 'loud' (known: off"),
        ("query.backend=google", "query: no translation backend 'google' (there are: glossary"),
        ("query.backend=", "query: backend is empty; to leave queries as they are: translate"),
        ("parts.word.scheme.b=0.5", "there is no part 'word' (parts: words)"),
        ("ranking.weights={}", "ranking.weights lacks words"),
        ("ranking.weights.other=0.5", "ranking names 'other', which is not a part (parts: words)"),
        ("ranking.candidates_from=['x']", "ranking names 'x', which is not a part"),
        ("ranking.candidates_from=x", "ranking: candidates_from must be a list"),
        ("ranking.normalise=zscore", "ranking.normalise is 'zscore' (known: minmax, rank, none)"),
        ("ranking.fuse=rrf", "ranking: fuse must be a table"),
        ("ranking.fuse={k=60}", "ranking.fuse: method is '' (known: rrf, ibc"),
        ("ranking.fuse={method='magic'}", "ranking.fuse: method is 'magic' (known: rrf, ibc"),
        ("ranking.fuse={method='rrf', n=6}", "ranking.fuse: unknown setting 'n' (known: k)"),
        ("ranking.fuse={method='rrf', k='x'}", "ranking.fuse: k must be a number, not 'x'"),
        ("ranking.fuse={method='rrf', k=-1}", "ranking.fuse: k = -1.0: choose a number from 0"),
        (
            "ranking.fuse={method='wibc', weights=[1]}",
            "set the weights in ranking.weights, not here",
        ),
        ("ranking.fuse={method='rbc', coefficients={x=[1]}}", "must be a table of words"),
        ("systems.a.weights={words=1}", "which is not a system (systems: a)"),
        ("query.translate=xx", "query: translate is 'xx', which is not a language of"),
        ("query={translate='en', backend='magic'}", "query: no translation backend 'magic'"),
        ("query={translate='en', model='m'}", "query: glossary takes no model"),
        ("query.language=en", "query: unknown setting 'language' (known: translate, backend"),
        ("rerank={}", "rerank: model is missing"),
        ("rerank={model='m', kind='magic'}", "rerank: unknown kind 'magic' (known: cross-encoder"),
        ("rerank={model='m', tiers=[7, 3]}", "rerank: tiers are 7, 3; they must increase"),
        ("rerank={model='m', text='magic'}", "rerank: text is 'magic' (known: marked, words)"),
        ("rerank={model='m', fields=['tags']}", "rerank: fields has 'tags' (known: title"),
        ("rerank=m", "rerank must be a table"),
        ("posts.minimum_words=1.5", "posts: minimum_words must be an integer, not 1.5"),
        ("parts={}", "[parts] is empty"),
        ("parts.words={}", "parts.words needs a kind"),
        ("parts.words=lexical", "parts.words must be a table"),
        ("name.short=x", "name is not a table"),
        ("ranking.k", "'ranking.k': write a setting as NAME=VALUE"),
        ("parts.words.kind=magic", "mine.toml: parts.words: unknown kind 'magic' (known: lexical"),
        ("parts.words.stem=no", "parts.words: unknown setting 'stem' (known: scheme, fields"),
        ("parts.words.translate=2", "parts.words: translate must be true or false, not 2"),
        ("parts.words.fields.titel=1", "parts.words: fields has 'titel' (known: title, body"),
        ("parts.words.fields.title=-1", "fields.title must be a positive number, not -1"),
        ("parts.words.fields.title=nan", "fields.title must be a positive number, not nan"),
        ("parts.words.analysis=magic", "parts.words: analysis is 'magic' (known: languages"),
        ("parts.words.formula_tokens=-1", "formula_tokens is -1; it cannot be less than 0"),
        ("parts.words.scheme.name=bm26", "parts.words: unknown scheme 'bm26' (known: bm25+"),
        ("parts.words.scheme.name=1", "the name of a scheme must be text, not 1"),
        ("parts.words.scheme.k2=1", "parts.words: bm25+ takes no 'k2' (known: k1, b, delta"),
        (
            "parts.words.scheme.k1=much",
            "parts.words: k1 must be a number of at least 0, not 'much'",
        ),
        ("parts.words.scheme.b=-0.5", "b must be a number of at least 0, not -0.5"),
        ("parts.words.scheme.matched_only=1", "matched_only must be true or false, not 1"),
        ("parts.words.scheme={name='lnc', k1=1}", "the TF-IDF scheme 'lnc' takes no k1"),
    ],
)
def test_a_wrong_setting_is_refused_by_name(tmp_path: Path, setting: str, message: str) -> None:
    with pytest.raises(InputError) as refused:
        checked(WORDS, setting, place=tmp_path)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("parts.formulas.matched=-1", "matched must be at least 0"),
        ("parts.formulas.query_formulas=0", "query_formulas at least 1"),
        ("parts.formulas.size_power=2", "size_power must be from 0 to 1"),
        ('parts.formulas.fields=["tags"]', "fields has 'tags' (known: title, body, question)"),
    ],
)
def test_a_wrong_setting_of_formulas_is_refused(setting: str, message: str) -> None:
    with pytest.raises(InputError) as refused:
        load_recipe("formula", [setting])
    assert str(refused.value).startswith("formula: parts.formulas: ")
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name = ", "is not valid TOML"),
        ("", "name is missing"),
        (WORDS.replace('name = "mine"', ""), "name is missing"),
        (WORDS.split("[ranking]")[0], "ranking is missing"),
        (WORDS + "extra = 1", "ranking: unknown setting 'extra'"),
        (WORDS.replace(".words]", '."../words"]'), "'../words' cannot be the name of a part"),
    ],
)
def test_an_invalid_recipe_is_refused_with_the_name_of_its_file(
    tmp_path: Path, text: str, message: str
) -> None:
    with pytest.raises(InputError, match=r"mine\.toml: ") as refused:
        checked(text, place=tmp_path)
    assert message in str(refused.value)


def test_an_unknown_recipe_is_refused_with_those_that_exist(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"unknown recipe 'magic'.*default, formula"):
        load_recipe("magic")
    with pytest.raises(InputError, match=r"unknown recipe 'defualt' \(did you mean default"):
        load_recipe("defualt")
    with pytest.raises(InputError, match=r"nowhere\.toml: cannot be read"):
        load_recipe(str(tmp_path / "nowhere.toml"))


def test_wrong_parts_are_refused_before_a_post_is_read(tmp_path: Path) -> None:
    recipe = replace(load_recipe("default"), parts={"words": {"kind": "magic"}})
    posts = iter(sampler.posts())
    with pytest.raises(InputError, match="unknown kind 'magic'"):
        build_library(tmp_path / "l", posts, recipe, processes=1)
    assert next(posts) == next(sampler.posts())
    assert not (tmp_path / "l").exists()


HOSTILE = {
    "deep lists": "x = " + "[" * 5000 + "]" * 5000,
    "deep tables": "[" + ".".join(["a"] * 3000) + "]",
    "a number of 5,000 digits": "[ranking]\nk = " + "9" * 5000,
    "a number of 400 digits": "based_on = 'default'\n[ranking]\nk = " + "9" * 400,
    "use is a number": "use = 3\nparts = []\nsystems = 1",
    "systems are a list": "use = ['a']\nsystems = []",
    "use has a list": "based_on = 'default'\nuse = [[1]]",
    "use has a table": "based_on = 'default'\nuse = [{a = 1}]",
    "a system is a number": "based_on = 'default'\nsystems = {a = 1}\nuse = ['a']",
    "weights are a number": "based_on = 'default'\nsystems = {a = {weights = 3}}\nuse = ['a']",
    "parts are a number": "based_on = 'default'\nparts = 3\nsystems = {a = {}}\nuse = ['a']",
    "based_on is a list": "based_on = ['default']",
    "a path as a part": "based_on = 'default'\n[parts.'../../x']\nkind = 'words'",
    "a long name of a part": f"based_on = 'default'\n[parts.{'x' * 300}]\nkind = 'words'",
    "no UTF-8": "name = '\udcff'",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_recipe_is_refused_in_one_line(mathsetu: Mathsetu, text: str) -> None:
    Path("r.toml").write_text(text, encoding="utf-8", errors="surrogateescape")
    assert len(mathsetu.refuses("recipes", "r.toml")) < 1000


@pytest.mark.parametrize("name", ["/dev/zero", "folder.toml", "pipe.toml"])
def test_a_recipe_that_is_no_file_is_refused_at_once(mathsetu: Mathsetu, name: str) -> None:
    Path("folder.toml").mkdir()
    if hasattr(os, "mkfifo"):
        os.mkfifo("pipe.toml")
    mathsetu.refuses("recipes", name)


@pytest.mark.parametrize("key", ["k." * 100_000 + "k", "'k' . " * 50_000 + "k"])
def test_a_key_of_many_parts_is_refused_at_once(key: str) -> None:
    with pytest.raises(InputError, match="is nested too deeply"):
        parse_recipe(f"{key} = 1", "tests")
