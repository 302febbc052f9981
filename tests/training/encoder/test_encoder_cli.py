"""``mathsetu train encoder`` as a user runs it: from raw text to a finished model."""

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from shutil import copytree

import numpy as np
import pytest

from mathsetu.encoders.builtin import BuiltinEncoder
from mathsetu.installed import install_command
from mathsetu.library import Library, build_library
from mathsetu.recipes import load_recipe
from mathsetu.records import Post
from tests.training.encoder.command import FEW, SMALL, call
from tests.training.encoder.raw import SENTENCES, TOPIC, make_raw
from tests.training.encoder.teacher import make_teacher

pytestmark = pytest.mark.thorough


@dataclass(frozen=True)
class Place:
    raw: Path
    prepared: Path
    teacher: Path
    work: Path


def distil(place: Place, *more: str | Path) -> int:
    return call("distil", place.work, *SMALL, "--contrast-steps", "4", *more)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """The folders after all stages were run in order."""
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    folder = tmp_path_factory.mktemp("encoder")
    made = Place(
        raw=make_raw(folder / "raw"),
        prepared=folder / "prepared",
        teacher=make_teacher(folder / "teacher"),
        work=folder / "work",
    )
    topics = folder / "topics.tsv"
    topics.write_text(f"A.1\tGuests\t{TOPIC}\n", encoding="utf-8")
    assert call("prepare", made.raw, made.prepared, "--avoid", topics, "--held-out", "5") == 0
    assert call("examples", made.prepared, made.work, "--teacher", made.teacher, *FEW) == 0
    assert call("teach", made.work, "--teacher", made.teacher) == 0
    assert distil(made, "--start", made.teacher, "--start-layers", "0,1") == 0
    return made


def test_the_trained_model_encodes_texts(place: Place) -> None:
    encoder = BuiltinEncoder(place.work / "model")
    vectors = encoder.encode([SENTENCES["en"][0], SENTENCES["hi"][0], ""])
    assert encoder.dimensions == 32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 1, 0], abs=1e-5)


def test_the_teacher_encodes_every_example(place: Place) -> None:
    targets = np.load(place.work / "teacher.targets.npy")
    with np.load(place.work / "english.npz") as english, np.load(place.work / "other.npz") as other:
        assert len(targets) == len(english["ends"]) - 1 == len(other["ends"]) - 1
    assert np.linalg.norm(targets.astype(np.float32), axis=1) == pytest.approx(1, abs=0.01)


def test_a_library_can_be_built_with_the_trained_model(place: Place, tmp_path: Path) -> None:
    recipe = load_recipe("meaning", [f"parts.meaning.model={place.work / 'model'}"])
    bodies = [text.format(n=5) for text in SENTENCES["es"]]
    posts = [Post(id=str(number), body=body) for number, body in enumerate(bodies)]
    build_library(tmp_path / "library", posts, recipe, processes=1)
    hits = Library(tmp_path / "library").search(bodies[2])
    assert hits[0].id == "2"


def test_the_same_command_again_changes_nothing(place: Place, tmp_path: Path) -> None:
    again = Place(place.raw, place.prepared, place.teacher, copytree(place.work, tmp_path / "work"))
    assert distil(again, "--start", place.teacher, "--start-layers", "0,1") == 0
    for file in (place.work / "model").iterdir():
        assert file.read_bytes() == (again.work / "model" / file.name).read_bytes(), file.name


def test_the_same_seed_gives_the_same_model_from_the_start(place: Place, tmp_path: Path) -> None:
    copied = tmp_path / "work"
    copied.mkdir()
    for file in place.work.iterdir():
        if file.is_file():
            (copied / file.name).write_bytes(file.read_bytes())
    again = Place(place.raw, place.prepared, place.teacher, copied)
    assert distil(again, "--start", place.teacher, "--start-layers", "0,1") == 0
    written = (place.work / "model" / "posts.onnx").read_bytes()
    assert (copied / "model" / "posts.onnx").read_bytes() == written


def test_counts_are_printed_as_json(
    place: Place, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call("prepare", place.raw, tmp_path / "prepared", "--held-out", "0", "--json") == 0
    assert '"es: kept": ' in capsys.readouterr().out


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--start", "TEACHER", "--start-layers", "0,x"], "separated by commas, not '0,x'"),
        (["--start", "TEACHER", "--start-layers", "0,1,1"], "3 layers to start from, but the stud"),
        (["--start", "TEACHER", "--start-layers", "0,7"], "to start from has no layer 7"),
        (
            ["--start", "TEACHER", "--start-layers", "0,1", "--width", "64"],
            "is 32 wide",
        ),
        (["--start", "nowhere"], "nowhere/model.safetensors: there is no such file"),
        (["--width", "40"], "width must be a multiple of 32"),
        (["--group", "3"], "group a divisor of 512"),
        (["--device", "abacus"], "device 'abacus': cannot be used"),
        (["--seed", "2"], "contains a training with another model, other data or other settings"),
    ],
)
def test_the_error_for_wrong_settings_of_a_student_has_one_line(
    place: Place, capsys: pytest.CaptureFixture[str], more: Sequence[str], message: str
) -> None:
    given = [str(place.teacher) if word == "TEACHER" else word for word in more]
    assert distil(place, *given) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.startswith("mathsetu: ")
    assert said.count("\n") == 1


def test_the_error_names_a_missing_folder(
    place: Place, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nowhere = tmp_path / "nowhere"

    def complaint(*arguments: str | Path) -> str:
        assert call(*arguments) == 2
        return capsys.readouterr().err

    assert "parallel.en-hi.tsv.xz: cannot be read" in complaint("prepare", nowhere, tmp_path / "p")
    avoid = ("prepare", place.raw, tmp_path / "p", "--avoid", nowhere)
    assert "nowhere: cannot be read" in complaint(*avoid)
    said = complaint("examples", nowhere, tmp_path / "w", "--teacher", place.teacher)
    assert "run 'mathsetu train encoder prepare' first" in said
    said = complaint("examples", place.prepared, place.work, "--teacher", nowhere)
    assert "tokenizer.json: there is no such file; a teacher needs its tokenizer" in said
    assert "nowhere: no such folder" in complaint("teach", place.work, "--teacher", nowhere)
    assert "make the examples first" in complaint("teach", nowhere, "--teacher", place.teacher)
    assert "make the examples first" in complaint("distil", nowhere)


def test_targets_of_other_examples_are_refused(
    place: Place, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    work = copytree(place.work, tmp_path / "work")
    targets = np.load(work / "teacher.targets.npy")
    np.save(work / "teacher.targets.npy", targets[:-1])
    assert call("distil", work, *SMALL) == 2
    assert "run 'teach' again" in capsys.readouterr().err


def test_a_teacher_that_reads_too_few_tokens_is_refused(
    place: Place, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    short = make_teacher(tmp_path / "short", positions=16)
    assert call("teach", place.work, "--teacher", short) == 2
    assert "short: reads 16 tokens, but a text has" in capsys.readouterr().err


@pytest.mark.parametrize(
    "stage",
    [["teach", "work", "--teacher", "t"], ["distil", "work"], ["blend", "first", "second", "both"]],
    ids=lambda stage: stage[0],
)
def test_the_error_without_torch_says_what_to_install(stage: list[str]) -> None:
    code = (
        "import sys; sys.modules['torch'] = None; from mathsetu.cli import main; "
        f"main(['train', 'encoder', *{stage!r}])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert shown.returncode == 2
    assert shown.stderr == (
        "mathsetu: training the encoder needs an optional dependency: "
        f"{install_command('neural')}\n"
    )
