"""Models from other people: nothing that their folders name is imported or unpickled."""

import json
from pathlib import Path

import pytest

from mathsetu.errors import InputError
from mathsetu.models import check_described, hub_name, is_path, model_folder


def test_a_model_that_names_a_class_of_another_package_is_refused(tmp_path: Path) -> None:
    modules = [{"idx": 0, "name": "0", "path": "", "type": "antigravity.Module"}]
    (tmp_path / "modules.json").write_text(json.dumps(modules))
    with pytest.raises(InputError, match=r"names 'antigravity\.Module', which is not part"):
        model_folder(str(tmp_path), "", "dense search")


@pytest.mark.parametrize("content", ["{", "7", '[{"idx": 0}]', "[" * 100_000])
def test_a_damaged_list_of_modules_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "modules.json").write_text(content)
    with pytest.raises(InputError, match=r"modules\.json: cannot be read"):
        model_folder(str(tmp_path), "", "dense search")


def test_a_model_of_sentence_transformers_is_accepted(tmp_path: Path) -> None:
    kind = "sentence_transformers.models.Transformer"
    (tmp_path / "modules.json").write_text(json.dumps([{"type": kind}]))
    assert model_folder(str(tmp_path), "", "dense search") == tmp_path


def test_pickled_weights_are_refused_and_the_error_gives_two_solutions(tmp_path: Path) -> None:
    (tmp_path / "pytorch_model.bin").write_bytes(b"not even a pickle")
    with pytest.raises(InputError, match=r"pickled weights are not read; convert .*NAME@REVISION"):
        model_folder(str(tmp_path), "", "dense search")
    (tmp_path / "model.safetensors").write_bytes(b"")
    assert model_folder(str(tmp_path), "", "dense search") == tmp_path


@pytest.mark.parametrize(
    ("model", "name", "revision"),
    [
        ("facebook/nllb-600M@refs/pr/45", "facebook/nllb-600M", "refs/pr/45"),
        ("all-mpnet-base-v2@main", "all-mpnet-base-v2", "main"),
        ("facebook/nllb@", "facebook/nllb@", None),
        ("facebook/nllb@../../etc", "facebook/nllb@../../etc", None),
    ],
)  # fmt: skip
def test_a_revision_follows_the_name_after_an_at_sign(
    model: str, name: str, revision: str | None
) -> None:
    assert hub_name(model) == (name, revision)
    assert revision is None or not is_path(model)


def test_a_folder_with_an_at_sign_in_its_name_is_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "models@home").mkdir()
    monkeypatch.chdir(tmp_path)
    assert is_path("models@home")
    assert is_path("./models@home")


def test_the_error_for_a_folder_without_a_model_names_a_folder_inside_with_one(
    tmp_path: Path,
) -> None:
    with pytest.raises(InputError, match=r"there is no config\.json\Z"):
        check_described(tmp_path)
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.json").write_text("{}")
    with pytest.raises(InputError, match=r"no config\.json; name the folder .*model\Z"):
        check_described(tmp_path)
    check_described(tmp_path / "model")
