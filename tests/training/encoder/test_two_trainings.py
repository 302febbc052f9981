"""A second training starts from the first in the same vector space, and both are blended."""

import json
from dataclasses import dataclass
from pathlib import Path
from shutil import copytree, rmtree
from typing import Any

import numpy as np
import pytest

torch: Any = pytest.importorskip("torch")
pytest.importorskip("transformers")

from safetensors.torch import load_file  # noqa: E402

from mathsetu.encoders.builtin import BuiltinEncoder  # noqa: E402
from mathsetu.training.encoder.blend import finished_student  # noqa: E402
from mathsetu.training.encoder.pipeline import start_student, student_shape  # noqa: E402
from tests.training.encoder.command import FEW, SMALL, call  # noqa: E402
from tests.training.encoder.raw import SENTENCES, make_raw  # noqa: E402
from tests.training.encoder.teacher import make_teacher  # noqa: E402

pytestmark = pytest.mark.thorough

LONGER = [*SMALL, "--steps", "100"]
TEXTS = [text.format(n=7) for language in ("en", "hi", "cs") for text in SENTENCES[language]]


@dataclass(frozen=True)
class Trainings:
    prepared: Path
    teacher: Path
    first: Path
    second: Path


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Trainings:
    """A first training with contrast, and a second one with other examples and no contrast."""
    folder = tmp_path_factory.mktemp("trainings")
    raw, prepared = make_raw(folder / "raw"), folder / "prepared"
    teacher = make_teacher(folder / "teacher")
    first, second = folder / "first", folder / "second"
    from_teacher = ("--teacher", teacher)
    assert call("prepare", raw, prepared, "--held-out", "5") == 0
    assert call("examples", prepared, first, *from_teacher, *FEW) == 0
    assert call("teach", first, *from_teacher, "--dimensions", "24") == 0
    assert call("distil", first, *SMALL, "--contrast-steps", "4") == 0
    others = ("--seed", "2", "--tokenizer", first / "tokenizer.json")
    assert call("examples", prepared, second, *from_teacher, *FEW, *others) == 0
    assert call("teach", second, *from_teacher, "--space", first) == 0
    assert call("distil", second, *LONGER, "--start", first) == 0
    return Trainings(prepared, teacher, first, second)


def complaint(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> str:
    """Return the error for wrong arguments, which has one line."""
    capsys.readouterr()
    assert call(*arguments) == 2
    said = capsys.readouterr().err
    assert said.startswith("mathsetu: ")
    assert said.count("\n") == 1
    return said


def checkpoint(folder: Path) -> dict[str, Any]:
    [weights] = folder.glob("checkpoint-*/model.safetensors")
    return dict(load_file(weights))


def blended(works: list[Path], folder: Path) -> Path:
    assert call("blend", *works, folder) == 0
    return folder


def assert_same_weights(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert one.keys() == other.keys()
    for name, weights in one.items():
        assert torch.equal(weights, other[name]), name


def test_both_trainings_have_the_same_tokenizer_and_different_examples(made: Trainings) -> None:
    one, other = (work / "tokenizer.json" for work in (made.first, made.second))
    assert one.read_bytes() == other.read_bytes()
    assert (made.first / "other.npz").read_bytes() != (made.second / "other.npz").read_bytes()


def test_a_text_has_the_same_target_in_both_trainings(made: Trainings, tmp_path: Path) -> None:
    same_texts = copytree(made.second, tmp_path / "second")
    for name in ("teacher", "teacher-questions", "teacher-answers"):
        (same_texts / f"{name}.npz").write_bytes((made.first / f"{name}.npz").read_bytes())
    assert call("teach", same_texts, "--teacher", made.teacher, "--space", made.first) == 0
    for name in ("teacher.targets.npy", "teacher-answers.targets.npy", "basis.npy"):
        assert np.array_equal(np.load(made.first / name), np.load(same_texts / name)), name
    assert np.load(same_texts / "teacher.targets.npy").shape[1] == 24


def test_other_texts_without_the_first_space_give_another_space(
    made: Trainings, tmp_path: Path
) -> None:
    alone = copytree(made.second, tmp_path / "alone")
    assert call("teach", alone, "--teacher", made.teacher, "--dimensions", "24") == 0
    assert not np.allclose(np.load(alone / "basis.npy"), np.load(made.first / "basis.npy"))


def test_a_student_starts_with_the_weights_from_before_contrast(made: Trainings) -> None:
    shape = student_shape(made.second, width=32, layers=2, group=2)
    student = start_student(made.second, shape, made.first, chosen=[])
    assert_same_weights(student.state_dict(), checkpoint(made.first / "distilled"))
    contrasted = checkpoint(made.first / "contrasted")
    assert not torch.equal(student.tokens.weight, contrasted["tokens.weight"])


def test_the_same_command_again_changes_nothing(made: Trainings, tmp_path: Path) -> None:
    again = copytree(made.second, tmp_path / "again")
    assert call("distil", again, *LONGER, "--start", made.first) == 0
    assert_same_weights(checkpoint(again / "distilled"), checkpoint(made.second / "distilled"))
    written = (again / "model" / "posts.onnx").read_bytes()
    assert written == (made.second / "model" / "posts.onnx").read_bytes()


def test_a_finished_student_has_the_weights_of_the_last_stage(made: Trainings) -> None:
    assert_same_weights(
        finished_student(made.first).state_dict(), checkpoint(made.first / "contrasted")
    )
    assert_same_weights(
        finished_student(made.second).state_dict(), checkpoint(made.second / "distilled")
    )


@pytest.mark.parametrize("which", ["first", "second"])
def test_a_folder_blended_with_itself_gives_its_own_model(
    made: Trainings, tmp_path: Path, which: str
) -> None:
    work = getattr(made, which)
    both = blended([work, work], tmp_path / "both")
    for name in ("posts.onnx", "tokens.npy", "tokenizer.json", "model.json"):
        written = (both / name).read_bytes()
        assert written == (work / "model" / name).read_bytes(), name


def test_a_blend_is_between_its_parts(made: Trainings, tmp_path: Path) -> None:
    middle = blended([made.first, made.second], tmp_path / "both")
    folders = (made.first / "model", middle, made.second / "model")
    first, both, second = (BuiltinEncoder(folder).encode(TEXTS) for folder in folders)
    apart = (first * second).sum(axis=1)
    assert apart.mean() < 0.99
    assert ((both * first).sum(axis=1) > apart).all()
    assert ((both * second).sum(axis=1) > apart).all()


def test_a_folder_that_is_named_twice_counts_twice(made: Trainings, tmp_path: Path) -> None:
    folders = {"even": [made.first, made.second], "more": [made.first, made.first, made.second]}
    even, more = (
        BuiltinEncoder(blended(works, tmp_path / name)).encode(TEXTS)
        for name, works in folders.items()
    )
    first = BuiltinEncoder(made.first / "model").encode(TEXTS)
    assert ((more * first).sum(axis=1) > (even * first).sum(axis=1)).all()


def test_the_order_of_a_blend_does_not_matter(made: Trainings, tmp_path: Path) -> None:
    one = blended([made.first, made.second], tmp_path / "one")
    other = blended([made.second, made.first], tmp_path / "other")
    assert (one / "posts.onnx").read_bytes() == (other / "posts.onnx").read_bytes()


def test_a_missing_folder_for_the_model_is_refused_and_changes_nothing(
    made: Trainings, capsys: pytest.CaptureFixture[str]
) -> None:
    said = complaint(capsys, "blend", made.first, made.second)
    assert "give at least two work folders, and then the folder of the model" in said
    said = complaint(capsys, "blend", made.first, made.first, made.second)
    assert "second: is a work folder; name another folder for the model" in said
    assert not (made.second / "posts.onnx").exists()


def test_a_missing_or_damaged_space_or_one_of_another_teacher_is_refused(
    made: Trainings, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wide = make_teacher(tmp_path / "wide", width=64)
    teach = ("teach", made.second, "--teacher")
    said = complaint(capsys, *teach, made.teacher, "--space", tmp_path)
    assert "basis.npy: there is no such file; run 'teach' for that" in said
    said = complaint(capsys, *teach, wide, "--space", made.first)
    assert "basis.npy: is for a teacher of 32 dimensions, but " in said
    assert "wide has 64; name the teacher of that folder" in said
    (tmp_path / "basis.npy").write_bytes(b"")
    assert "basis.npy: is damaged" in complaint(capsys, *teach, made.teacher, "--space", tmp_path)


def test_every_stage_refuses_another_tokenizer(
    made: Trainings, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = copytree(made.first, tmp_path / "other")
    table = json.loads((other / "tokenizer.json").read_text(encoding="utf-8"))
    table["normalizer"] = None
    (other / "tokenizer.json").write_text(json.dumps(table), encoding="utf-8")
    said = complaint(capsys, "distil", made.second, *SMALL, "--start", other)
    assert "have different tokenizers; make the examples of one with the tokenizer" in said
    assert "have different tokenizers" in complaint(
        capsys, "blend", made.first, other, tmp_path / "both"
    )
    examples = ("examples", made.prepared, made.second, "--teacher", made.teacher, "--tokenizer")
    assert "tokenizer.json: differs from" in complaint(capsys, *examples, other / "tokenizer.json")
    (other / "tokenizer.json").write_text("{}", encoding="utf-8")
    assert "is not a tokenizer" in complaint(capsys, *examples, other / "tokenizer.json")
    assert "is not a tokenizer" in complaint(capsys, "blend", made.first, other, tmp_path / "both")
    assert not (tmp_path / "both").exists()


def test_the_formatting_of_the_tokenizer_file_does_not_matter(
    made: Trainings, tmp_path: Path
) -> None:
    other = copytree(made.second, tmp_path / "other")
    compact = (made.first / "model" / "tokenizer.json").read_bytes()
    assert compact != (other / "tokenizer.json").read_bytes()
    (other / "tokenizer.json").write_bytes(compact)
    assert call("blend", made.first, other, tmp_path / "both") == 0


def test_students_of_other_sizes_are_refused(
    made: Trainings, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = complaint(capsys, "distil", made.second, *SMALL, "--layers", "1", "--start", made.first)
    assert "second has layers 1, that of " in said
    assert "first 2; they must be the same" in said
    small = copytree(made.second, tmp_path / "small")
    rmtree(small / "distilled")
    assert call("distil", small, *SMALL, "--layers", "1") == 0
    said = complaint(capsys, "blend", made.first, small, tmp_path / "both")
    assert "first has layers 2, that of " in said


def test_models_of_different_spaces_are_not_blended(
    made: Trainings, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = copytree(made.second, tmp_path / "other")
    np.save(other / "basis.npy", -np.load(other / "basis.npy"))
    said = complaint(capsys, "blend", made.first, other, tmp_path / "both")
    assert "have different vector spaces; run 'teach' for one with the --space" in said
    (other / "basis.npy").unlink()
    said = complaint(capsys, "blend", made.first, other, tmp_path / "both")
    assert "basis.npy: there is no such file" in said


def test_an_unfinished_training_is_refused(
    made: Trainings, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    early = copytree(made.first, tmp_path / "early")
    (early / "distilled" / "state.json").write_text("{}", encoding="utf-8")
    go_on = ("distil", made.second, *SMALL, "--start", early)
    assert "state.json: is damaged" in complaint(capsys, *go_on)
    rmtree(early / "model")
    for arguments in (go_on, ("blend", made.first, early, tmp_path / "both")):
        said = complaint(capsys, *arguments)
        assert "model.json: there is no such file; run 'distil' for that folder to" in said
