"""The table of translation backends: their options, and errors for missing packages."""

import subprocess
import sys
from pathlib import Path

import pytest

from mathsetu.errors import InputError, MissingExtra
from mathsetu.languages.translate import BACKENDS, Cache, open_translator


def test_the_backends_are_exactly_these() -> None:
    assert list(BACKENDS) == ["glossary", "apertium", "nllb", "mbart", "ctranslate2"]


@pytest.mark.parametrize("name", BACKENDS)
def test_every_backend_can_be_opened_without_its_packages(name: str) -> None:
    model = "some/folder" if name == "ctranslate2" else ""
    assert open_translator(name, model).backend.name == name


@pytest.mark.thorough
def test_opening_a_backend_imports_no_large_library() -> None:
    code = (
        "import sys; from mathsetu.languages.translate import open_translator;"
        "open_translator('nllb'); open_translator('ctranslate2', 'folder'); print(*sys.modules)"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"torch", "numpy", "transformers", "ctranslate2", "tokenizers"} & set(loaded)


@pytest.mark.parametrize(
    ("name", "model", "package", "extra"),
    [
        ("nllb", "", "transformers", "neural"),
        ("mbart", "", "transformers", "neural"),
        ("ctranslate2", "some/folder", "tokenizers", "ctranslate2"),
    ],
)
def test_the_error_for_a_missing_package_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, name: str, model: str, package: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    translator = open_translator(name, model, remember=False)
    with pytest.raises(MissingExtra, match=rf"install .*\[{extra}\]'"):
        translator.translate(["Why?"], "en", "hi")


def test_a_model_for_a_backend_without_models_is_refused() -> None:
    with pytest.raises(InputError, match="apertium takes no model"):
        open_translator("apertium", "eng-spa")


def test_the_error_says_that_a_backend_needs_the_folder_of_a_model() -> None:
    with pytest.raises(InputError, match="ctranslate2 needs the folder of a model"):
        open_translator("ctranslate2")


def test_the_caller_chooses_the_cache(tmp_path: Path) -> None:
    for given in (tmp_path / "a", str(tmp_path / "a"), Cache(tmp_path / "a")):
        cache = open_translator("nllb", cache=given).cache
        assert cache is not None
        assert cache.path == tmp_path / "a"
    assert open_translator("nllb", remember=False).cache is None
    assert open_translator("glossary", cache=tmp_path / "a").cache is None


@pytest.mark.parametrize("language", ["hi", "es", "cs", "hr", "fa", "ne"])
def test_the_glossary_translates_to_and_from_every_language_of_the_table(language: str) -> None:
    translator = open_translator("glossary")
    [there] = translator.translate(["Is $n$ a prime number?"], "en", language)
    assert "prime number" not in there.text
    assert there.text.count("$n$") == 1
    [back] = translator.translate([there.text], language, "en")
    assert "prime number" in back.text


def test_the_glossary_refuses_an_unknown_language() -> None:
    with pytest.raises(InputError, match="the glossary has no language 'tlh'"):
        open_translator("glossary").translate(["Why?"], "en", "tlh")
