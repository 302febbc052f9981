"""Every neural recipe from posts to hits, on small models of the architectures it names."""

from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("sentence_transformers")
pytest.importorskip("sentencepiece")
pytest.importorskip("faiss")

from mathsetu.collections import sampler
from mathsetu.errors import InputError
from mathsetu.library import Library, build_library
from mathsetu.library.reproduction import reproduce
from mathsetu.recipes import load_recipe
from mathsetu.recipes.schema import Recipe
from tests.encoders.tiny import make_cross_encoder, make_model
from tests.languages.translate import tiny
from tests.recipes.test_recipes import NEURAL

SPANISH = "Demuestra que $n^2$ es par. ¿Por qué?"


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("models")
    threads = tiny.torch.get_num_threads()
    tiny.torch.set_num_threads(1)
    tiny.make_nllb(folder / "nllb")
    tiny.make_mbart(folder / "mbart")
    tiny.torch.set_num_threads(threads)
    return {
        "bi": make_model(folder / "bi"),
        "cross": make_cross_encoder(folder / "cross"),
        "nllb": folder / "nllb",
        "mbart": folder / "mbart",
    }


def with_models(name: str, models: dict[str, Path]) -> Recipe:
    """The recipe with all its models replaced, as on the command line."""
    recipe = load_recipe(name)
    settings = [
        f"parts.{part}.model={models['bi']}"
        for part, choices in recipe.parts.items()
        if choices["kind"] == "dense"
    ]
    if recipe.query.translate:
        settings.append(f"query.model={models[recipe.query.backend]}")
    if recipe.rerank:
        settings.append(f"rerank.model={models['cross']}")
    settings += [
        f"systems.{system}.rerank.model={models['cross']}"
        for system, choices in recipe.systems.items()
        if choices.rerank
    ]
    return load_recipe(name, settings)


def built(folder: Path, recipe: Recipe) -> Library:
    posts = [post for post in sampler.posts() if post.language == "en"][:20]
    build_library(folder, posts, recipe, processes=1)
    return Library(folder)


@pytest.mark.parametrize("name", NEURAL)
def test_a_neural_recipe_builds_and_searches(
    name: str, models: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    recipe = with_models(name, models)
    library = built(tmp_path / "library", recipe)
    if recipe.ranking.fuse.get("method") == "rbc":
        with pytest.raises(InputError, match="rbc needs coefficients"):
            library.search(SPANISH, 3, language="es")
        return
    hits = library.search(SPANISH, 5, language="es")
    assert len(hits) == 5
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    said = {reason.part: reason.detail for reason in hits[0].reasons}
    assert ("query" in said) == bool(recipe.query.translate)
    if recipe.query.translate:
        assert "Show that $n^2$ is even." in said["query"]
    assert ("rerank" in said) == (recipe.rerank is not None)
    assert recipe.ranking.fuse.get("method", "text") in said or "math" in said


def test_a_reranker_moves_posts_within_its_tiers(models: dict[str, Path], tmp_path: Path) -> None:
    library = built(tmp_path / "library", with_models("mirmu", models))
    asked = "Is the square of an even number even?"
    after = [hit.id for hit in library.search(asked, 20)]
    bare = library.with_recipe(replace(library.recipe, rerank=None))
    before = [hit.id for hit in bare.search(asked, 20)]
    assert after != before
    for start, end in ((0, 3), (3, 7), (7, 12), (12, 16), (16, 20)):
        assert set(after[start:end]) == set(before[start:end])


def test_an_ensemble_that_learns_can_be_reproduced(models: dict[str, Path], tmp_path: Path) -> None:
    library = built(tmp_path / "library", with_models("msm-ens-17", models))
    queries = [query for query in sampler.queries() if query.language == "en"]
    done = reproduce(library, load_recipe("msm-ens-17"), queries, list(sampler.judgments()))
    assert done.learned.startswith("msm-4, mirmu-1: RBC(")
    assert any("mirmu-1.rerank.model is" in difference for difference in done.differences)
