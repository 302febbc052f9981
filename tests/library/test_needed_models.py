"""A missing model or package is reported before posts are read or encoded."""

import sys
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

import pytest

import mathsetu as package
from mathsetu.collections.jsonl import write_posts, write_queries
from mathsetu.errors import InputError, MissingExtra
from mathsetu.languages.translate import open_translator
from mathsetu.languages.translate.cache import Cache
from mathsetu.library import Library, build_library
from mathsetu.library.query_translation import _translator
from mathsetu.library.reproduction import check_models
from mathsetu.ranking.rerank import Rerank, check_reranker
from mathsetu.recipes import load_recipe
from mathsetu.records import Post, Query
from tests.command import Mathsetu
from tests.light import LIGHT_TOML

TRANSLATED = LIGHT_TOML + '[query]\ntranslate = "en"\nbackend = "apertium"\n'
RERANKED = LIGHT_TOML + '[rerank]\nmodel = "nobody/nothing"\n'
SPANISH = Query("A.1", "¿Cuál es la suma de dos números primos?", language="es")
ENGLISH = Query("A.2", "the sum of two prime numbers", language="en")


def unread() -> Iterator[Post]:
    raise AssertionError("posts were read")
    yield


@pytest.fixture
def asked(mathsetu: Mathsetu, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Mathsetu:
    """A folder with recipes, topics and judgments, without apertium or packages for models."""
    monkeypatch.setattr("shutil.which", lambda name: None)
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    for name, text in (("translated", TRANSLATED), ("reranked", RERANKED)):
        (tmp_path / f"{name}.toml").write_text(text, encoding="utf-8")
    write_queries(tmp_path / "es.jsonl", [ENGLISH, SPANISH])
    write_queries(tmp_path / "en.jsonl", [ENGLISH])
    write_posts(tmp_path / "posts.jsonl", [Post("7", "The sum of two prime numbers is even.")])
    (tmp_path / "qrels.txt").write_text("A.1 0 7 3\nA.2 0 7 3\n")
    return mathsetu


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A model hub without a network; the names that were requested."""
    names: list[str] = []

    def download(name: str, **choices: object) -> str:
        names.append(name)
        raise OSError("no network")

    for name in ("sentence_transformers", "huggingface_hub", "torch", "transformers"):
        module = ModuleType(name)
        module.__spec__ = ModuleSpec(name, None)
        module.snapshot_download = download  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, name, module)
    return names


@pytest.mark.thorough
def test_reproduce_reports_a_missing_translator_or_reranker_before_reading_posts(
    asked: Mathsetu,
) -> None:
    said = asked.refuses("reproduce", "translated.toml", "none.jsonl", "es.jsonl", "qrels.txt")
    assert "apertium is not installed" in said
    said = asked.refuses("reproduce", "reranked.toml", "none.jsonl", "en.jsonl", "qrels.txt")
    assert "reranking with a cross-encoder needs an optional dependency" in said
    done = asked("reproduce", "translated.toml", "posts.jsonl", "en.jsonl", "qrels.txt")
    assert done.code == 0, done.err  # there is nothing to translate


@pytest.mark.thorough
def test_run_reports_a_missing_translator_before_the_first_topic(
    asked: Mathsetu, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert asked("index", "library", "posts.jsonl", "--recipe", "translated.toml").code == 0
    monkeypatch.setattr(Library, "run", lambda *given, **more: pytest.fail("a topic was answered"))
    said = asked.refuses("run", "library", "es.jsonl", "some.run")
    assert "apertium is not installed" in said


def test_a_model_that_cannot_be_downloaded_is_reported_with_its_setting(hub: list[str]) -> None:
    settings = ["rerank.model=nobody/nothing"]
    with pytest.raises(InputError, match=r"cannot be downloaded.*\(--set rerank\.model=FOLDER\)"):
        check_models(load_recipe("mirmu", settings), [ENGLISH])
    translated = ["query.backend=nllb", "query.model="]
    with pytest.raises(InputError, match=r"cannot be downloaded.*\(--set query\.model=FOLDER\)"):
        check_models(load_recipe("crossmath-nllb-bi", translated), [SPANISH])
    check_models(load_recipe("crossmath-nllb-bi", translated), [ENGLISH])
    assert hub == ["nobody/nothing", "facebook/nllb-200-distilled-600M"]


def test_cached_translations_need_no_model(
    hub: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = Cache(tmp_path / "translations")
    translator = open_translator("nllb", "a/b", cache=cache)
    monkeypatch.setattr(
        translator.backend, "translate", lambda texts, source, target: ["the sum"] * len(texts)
    )
    translator.translate([SPANISH.text], "es", "en")
    monkeypatch.setattr("mathsetu.library.query_translation._translator", lambda *given: translator)
    recipe = load_recipe("crossmath-nllb-bi", ["query.backend=nllb", "query.model=a/b"])
    check_models(recipe, [SPANISH])
    assert hub == []
    with pytest.raises(InputError, match="cannot be downloaded"):
        check_models(recipe, [Query("A.3", "otra pregunta sobre números", language="es")])


@pytest.mark.parametrize("index", ["ivf", "adaptive"])
def test_a_build_does_not_start_without_the_package_of_its_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, index: str
) -> None:
    class Constant:
        dimensions = 2

        def encode(self, texts: list[str]) -> list[list[float]]:
            return [[1.0, 0.0] for _ in texts]

    package.register("constant", encoder=Constant())
    monkeypatch.setitem(sys.modules, "faiss", None)
    settings = ["parts.text.model=object:constant", f"parts.text.index={index}"]
    with pytest.raises(MissingExtra, match="an IVF index"):
        build_library(tmp_path / "library", unread(), load_recipe("miracle-2", settings))


def test_a_build_does_not_start_without_its_encoder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hub: list[str]
) -> None:
    recipe = load_recipe("miracle-2", ["parts.text.index=flat"])
    with pytest.raises(InputError, match=r"\(--set parts\.text\.model=FOLDER\)"):
        build_library(tmp_path / "library", unread(), recipe)
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(MissingExtra, match="dense search"):
        build_library(tmp_path / "library", unread(), recipe)
    assert hub == ["sentence-transformers/all-mpnet-base-v2"]


def test_missing_files_of_an_onnx_reranker_are_named(tmp_path: Path) -> None:
    asked = Rerank(str(tmp_path), kind="onnx")
    for name in ("model.onnx", "tokenizer.json"):
        with pytest.raises(InputError, match=f"there is no {name}"):
            check_reranker(asked)
        (tmp_path / name).touch()
    check_reranker(asked)


@pytest.fixture(autouse=True)
def own_translators() -> Iterator[None]:
    """Libraries share translators, but tests must not."""
    _translator.cache_clear()
    yield
    _translator.cache_clear()
