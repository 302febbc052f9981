"""The cache of translations; a broken cache prevents no translation."""

import sys
import warnings
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from mathsetu.languages.translate.cache import Cache, Direction, cache_folder, model_stamp

DIRECTION = Direction("nllb", "small", "en", "hi")


def test_the_cache_distinguishes_backends_models_and_directions(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache")
    cache.remember(DIRECTION, {"one": "एक"})
    assert cache.recall(DIRECTION, ["one"]) == {"one": "एक"}
    for other in (
        Direction("mbart", "small", "en", "hi"),
        Direction("nllb", "large", "en", "hi"),
        Direction("nllb", "small", "hi", "en"),
        Direction("nllb", "small", "en", "ne"),
    ):
        assert cache.recall(other, ["one"]) == {}


def test_a_new_translation_replaces_the_old_one(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache")
    cache.remember(DIRECTION, {"one": "1"})
    cache.remember(DIRECTION, {"one": "एक"})
    assert cache.recall(DIRECTION, ["one"]) == {"one": "एक"}


def test_a_broken_file_is_renamed_with_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "cache"
    path.write_bytes(b"this is no database " * 100)
    cache = Cache(path)
    with pytest.warns(RuntimeWarning, match="broken"):
        assert cache.recall(DIRECTION, ["one"]) == {}
    [aside] = tmp_path.glob("cache.broken-*")
    assert aside.read_bytes().startswith(b"this is no database")
    cache.remember(DIRECTION, {"one": "एक"})
    assert cache.recall(DIRECTION, ["one"]) == {"one": "एक"}


def test_a_file_with_damaged_content_is_renamed_with_a_warning(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache")
    cache.remember(DIRECTION, {f"text {number}": "x" * 100 for number in range(1000)})
    content = bytearray(cache.path.read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    cache.path.write_bytes(bytes(content))
    with pytest.warns(RuntimeWarning, match="broken"):
        assert cache.recall(DIRECTION, ["text 5"]) == {}
    assert list(tmp_path.glob("cache.broken-*"))


def test_an_unusable_path_gives_only_a_warning(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.warns(RuntimeWarning, match="not used"):
        assert Cache(tmp_path / "file" / "cache").recall(DIRECTION, ["one"]) == {}
    (tmp_path / "folder").mkdir()
    with pytest.warns(RuntimeWarning, match="not used"):
        Cache(tmp_path / "folder").remember(DIRECTION, {"one": "एक"})


def _write(path: Path, worker: int) -> int:
    warnings.simplefilter("error")  # an unusable cache only warns
    cache = Cache(path)
    for number in range(20):
        cache.remember(DIRECTION, {f"{worker} {number}": "x", "all": str(worker)})
        cache.recall(DIRECTION, ["all"])
    return worker


@pytest.mark.thorough
def test_processes_share_one_file(tmp_path: Path) -> None:
    path = tmp_path / "cache"
    with ProcessPoolExecutor(4, get_context("spawn")) as pool:
        assert list(pool.map(_write, [path] * 4, range(4))) == [0, 1, 2, 3]
    texts = [f"{worker} {number}" for worker in range(4) for number in range(20)]
    assert len(Cache(path).recall(DIRECTION, texts)) == 80


def test_a_model_trained_again_in_its_folder_has_another_stamp(tmp_path: Path) -> None:
    weights = tmp_path / "model.safetensors"
    weights.write_text("one")
    before = model_stamp(str(tmp_path))
    assert model_stamp(str(tmp_path)) == before
    weights.write_text("longer")
    assert model_stamp(str(tmp_path)) != before


@pytest.mark.skipif(sys.platform == "win32", reason="the folder has another name there")
def test_the_cache_is_in_the_cache_folder_of_the_platform(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert Cache().path == Path("/somewhere/mathsetu/translations.sqlite")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert Path.home() in cache_folder().parents
