"""The reader of queries: its initial weights, its training, and the model with both networks."""

from dataclasses import replace
from pathlib import Path
from shutil import copytree
from typing import Any

import numpy as np
import pytest

torch: Any = pytest.importorskip("torch")
pytest.importorskip("transformers")

from mathsetu.encoders.builtin import BuiltinEncoder  # noqa: E402
from mathsetu.errors import InputError  # noqa: E402
from mathsetu.training.encoder.contrast import Threads  # noqa: E402
from mathsetu.training.encoder.distil import Lessons, distil, encode  # noqa: E402
from mathsetu.training.encoder.folders import finished_shape  # noqa: E402
from mathsetu.training.encoder.packs import Pack  # noqa: E402
from mathsetu.training.encoder.reader import between, make_reader, train_contrastive  # noqa: E402
from mathsetu.training.encoder.schedule import Schedule  # noqa: E402
from mathsetu.training.encoder.shape import Shape  # noqa: E402
from mathsetu.training.encoder.student import Student  # noqa: E402
from tests.training.encoder.command import FEW, SMALL, call  # noqa: E402
from tests.training.encoder.raw import SENTENCES, make_raw  # noqa: E402
from tests.training.encoder.teacher import make_teacher  # noqa: E402

pytestmark = pytest.mark.thorough

SHAPE = Shape(90, width=32, layers=2, heads=2, hidden=64, group=4, positions=8, dimensions=12)
TEXTS = [text.format(n=7) for language in ("en", "hi", "cs") for text in SENTENCES[language]]
SHORT = ("--steps", "20", "--batch", "16", "--layers", "3", "--group", "1", "--contrast-steps", "4")


def make_student() -> Student:
    torch.manual_seed(3)
    return Student(SHAPE)


def some_pack(seed: int) -> Pack:
    draw = np.random.default_rng(seed)
    return Pack.of([draw.integers(1, 90, draw.integers(1, 13)) for _ in range(40)])


def unit_vectors(seed: int) -> Any:
    drawn = torch.randn(40, 12, generator=torch.Generator().manual_seed(seed))
    return torch.nn.functional.normalize(drawn, dim=1).half()


def silent(step: int, figures: dict[str, float]) -> None:
    assert all(np.isfinite(value) for value in figures.values())


def likeness(one: Any, other: Any) -> float:
    return float((one.float() * other.float()).sum(1).mean())


def test_a_reader_of_the_same_size_starts_with_the_weights_of_the_student() -> None:
    student = make_student()
    reader = make_reader(student, layers=2, group=4)
    for name, weights in student.state_dict().items():
        assert torch.equal(weights, reader.state_dict()[name]), name


def test_a_reader_with_more_layers_starts_with_all_layers_of_the_student() -> None:
    student = make_student()
    reader = make_reader(student, layers=3, group=2)
    assert reader.shape == replace(SHAPE, layers=3, group=2, positions=16)
    matrices = [layer.up.weight for layer in reader.layers]
    for layer in student.layers:
        assert any(torch.equal(layer.up.weight, matrix) for matrix in matrices)


@pytest.mark.parametrize(("layers", "group"), [(1, 4), (5, 4), (2, 3), (2, 8)])
def test_sizes_that_do_not_fit_the_student_are_refused(layers: int, group: int) -> None:
    with pytest.raises(InputError, match="--layers from 2 to 4, and a --group that divides 4"):
        make_reader(make_student(), layers, group)


def test_the_targets_of_a_reader_are_between_student_and_teacher() -> None:
    own, theirs = unit_vectors(3), unit_vectors(4)
    middle = between(own, theirs)
    assert likeness(middle, own) > likeness(own, theirs) + 0.3
    assert likeness(middle, own) == pytest.approx(likeness(middle, theirs), abs=0.01)


def test_a_reader_learns_without_changing_the_token_vectors(tmp_path: Path) -> None:
    student = make_student()
    lessons = Lessons(some_pack(1), some_pack(2), unit_vectors(3))
    reader = make_reader(student, layers=3, group=2)
    before = likeness(encode(reader, lessons.other), lessons.targets)
    distil(reader, lessons, Schedule(steps=120, batch=8, warmup=10, seed=5), tmp_path, silent)
    assert likeness(encode(reader, lessons.other), lessons.targets) > before + 0.2
    assert torch.equal(reader.tokens.weight, student.tokens.weight)


def test_a_question_comes_nearer_to_its_answer_as_encoded_by_the_student(tmp_path: Path) -> None:
    student = make_student()
    reader = make_reader(student, layers=3, group=2)
    threads = Threads(some_pack(1), some_pack(2), some_pack(4), unit_vectors(3), unit_vectors(5))
    answers = encode(student, threads.answers)

    def found() -> float:
        """How much nearer a question is to its own answer than to others."""
        cosines = encode(reader, threads.questions).float() @ answers.float().T
        return float(cosines.diagonal().mean() - cosines.mean())

    before = found()
    schedule = Schedule(steps=120, batch=8, warmup=10, contrast=2.0, seed=5)
    train_contrastive(reader, student, threads, schedule, tmp_path, silent)
    assert found() > before + 0.05
    assert torch.equal(encode(student, threads.answers), answers)


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reader")
    raw, prepared = make_raw(folder / "raw"), folder / "prepared"
    from_teacher = ("--teacher", make_teacher(folder / "teacher"))
    assert call("prepare", raw, prepared, "--held-out", "5") == 0
    assert call("examples", prepared, folder / "work", *from_teacher, *FEW) == 0
    assert call("teach", folder / "work", *from_teacher, "--dimensions", "24") == 0
    assert call("distil", folder / "work", *SMALL) == 0
    return folder / "work"


def test_the_command_adds_a_reader_to_a_student(work: Path, tmp_path: Path) -> None:
    assert call("reader", work, tmp_path / "both", *SHORT) == 0
    alone, both = BuiltinEncoder(work / "model"), BuiltinEncoder(tmp_path / "both")
    assert (both.encode(TEXTS) == alone.encode(TEXTS)).all()
    rows = both.tokens(TEXTS)
    asked = both.encode_tokens(rows, careful=True)
    assert (asked != both.encode_tokens(rows)).any(axis=1).all()
    # The query vector of a text is nearer to its post vector than to others.
    cosines = asked @ both.encode(TEXTS).T
    assert cosines.diagonal().mean() > cosines.mean() + 0.05


def test_the_same_command_again_changes_nothing(work: Path, tmp_path: Path) -> None:
    assert call("reader", work, tmp_path / "one", *SHORT) == 0
    again = copytree(tmp_path / "one", tmp_path / "again")
    states = [again / stage / "state.json" for stage in ("reading", "asking")]
    written_at = [state.stat().st_mtime_ns for state in states]
    assert call("reader", work, again, *SHORT) == 0
    # Both trainings were found finished and were not repeated.
    assert [state.stat().st_mtime_ns for state in states] == written_at
    written = (again / "queries.onnx").read_bytes()
    assert written == (tmp_path / "one" / "queries.onnx").read_bytes()


def test_a_work_folder_is_refused_as_the_folder_of_the_model(
    work: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call("reader", work, work, *SHORT) == 2
    assert "is a work folder; name another folder for the model" in capsys.readouterr().err
    assert finished_shape(work).layers == 2
