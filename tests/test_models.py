"""Models that somebody else made: what their folders name is not imported or unpickled."""

import json
from pathlib import Path

import pytest

from mathsetu.errors import InputError
from mathsetu.models import model_folder


def test_a_model_that_names_a_class_of_another_package_is_refused(tmp_path: Path) -> None:
    modules = [{"idx": 0, "name": "0", "path": "", "type": "antigravity.Module"}]
    (tmp_path / "modules.json").write_text(json.dumps(modules))
    with pytest.raises(InputError, match=r"names 'antigravity\.Module', which is not part"):
        model_folder(str(tmp_path), "", "dense search")


@pytest.mark.parametrize("content", ["{", "7", '[{"idx": 0}]', "[" * 100_000])
def test_a_damaged_list_of_modules_is_refused_in_one_line(tmp_path: Path, content: str) -> None:
    (tmp_path / "modules.json").write_text(content)
    with pytest.raises(InputError, match=r"modules\.json: cannot be read"):
        model_folder(str(tmp_path), "", "dense search")


def test_a_model_of_sentence_transformers_is_taken(tmp_path: Path) -> None:
    kind = "sentence_transformers.models.Transformer"
    (tmp_path / "modules.json").write_text(json.dumps([{"type": kind}]))
    assert model_folder(str(tmp_path), "", "dense search") == tmp_path
