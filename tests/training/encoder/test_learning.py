"""Stages 3 to 6 on a processor: the teacher, the training of a student, and its export."""

from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

torch: Any = pytest.importorskip("torch")
pytest.importorskip("transformers")
onnxruntime: Any = pytest.importorskip("onnxruntime")

from mathsetu.errors import InputError  # noqa: E402
from mathsetu.training.encoder.batches import GpuPack, by_length, sampled  # noqa: E402
from mathsetu.training.encoder.calibrate import input_ranges  # noqa: E402
from mathsetu.training.encoder.contrast import Threads, contrast, hard_negatives  # noqa: E402
from mathsetu.training.encoder.distil import Lessons, distil, encode  # noqa: E402
from mathsetu.training.encoder.export import export, token_table  # noqa: E402
from mathsetu.training.encoder.packs import Pack  # noqa: E402
from mathsetu.training.encoder.reader import train_contrastive  # noqa: E402
from mathsetu.training.encoder.schedule import Schedule  # noqa: E402
from mathsetu.training.encoder.shape import Shape  # noqa: E402
from mathsetu.training.encoder.student import Student, start_from, start_tokens  # noqa: E402
from mathsetu.training.encoder.teach import Teacher, principal  # noqa: E402
from mathsetu.training.encoder.tokenizer import train_tokenizer  # noqa: E402
from tests.training.encoder.raw import SENTENCES  # noqa: E402
from tests.training.encoder.teacher import make_teacher  # noqa: E402

pytestmark = pytest.mark.thorough

SHAPE = Shape(90, width=32, layers=2, heads=2, hidden=64, group=2, positions=16, dimensions=12)
SCHEDULE = Schedule(steps=120, batch=8, warmup=10, checkpoint_every=70, seed=5)

Train = Callable[[Student, Path, Schedule, Callable[..., None]], None]


def make_student(shape: Shape = SHAPE) -> Student:
    torch.manual_seed(3)
    return Student(shape)


def some_pack(count: int, seed: int, longest: int = 12) -> Pack:
    draw = np.random.default_rng(seed)
    return Pack.of([draw.integers(1, 90, draw.integers(1, longest + 1)) for _ in range(count)])


def unit_vectors(count: int, seed: int, size: int = 12) -> Any:
    generator = torch.Generator().manual_seed(seed)
    drawn = torch.randn(count, size, generator=generator)
    return torch.nn.functional.normalize(drawn, dim=1).half()


LESSONS = Lessons(some_pack(40, 1), some_pack(40, 2), unit_vectors(40, 3))
THREADS = Threads(
    some_pack(40, 1), some_pack(40, 2), some_pack(40, 4), unit_vectors(40, 3), unit_vectors(40, 5)
)


def learn_lessons(student: Student, folder: Path, schedule: Schedule, report: Any) -> None:
    distil(student, LESSONS, schedule, folder, report)


def learn_threads(student: Student, folder: Path, schedule: Schedule, report: Any) -> None:
    contrast(student, THREADS, schedule, folder, report)


def learn_to_read(student: Student, folder: Path, schedule: Schedule, report: Any) -> None:
    """Train as a reader: the token vectors are fixed, and another student encodes the answers."""
    student.tokens.weight.requires_grad_(False)
    train_contrastive(student, make_student(), THREADS, schedule, folder, report)


def silent(step: int, figures: dict[str, float]) -> None:
    assert all(np.isfinite(value) for value in figures.values())


@pytest.mark.exhaustive
@pytest.mark.parametrize("train", [learn_lessons, learn_threads, learn_to_read])
def test_a_stopped_and_resumed_training_ends_with_the_same_weights(
    tmp_path: Path, train: Train
) -> None:
    def stop(step: int, figures: dict[str, float]) -> None:
        if step == 100:
            raise KeyboardInterrupt

    at_once, first, second = (make_student() for _ in range(3))
    train(at_once, tmp_path / "at once", SCHEDULE, silent)
    with pytest.raises(KeyboardInterrupt):
        train(first, tmp_path / "in two", SCHEDULE, stop)
    train(second, tmp_path / "in two", SCHEDULE, silent)
    for name, weights in at_once.state_dict().items():
        assert torch.equal(weights, second.state_dict()[name]), name


def test_training_brings_a_student_nearer_to_its_teacher_in_both_languages(tmp_path: Path) -> None:
    student = make_student()

    def agreement() -> list[float]:
        sides = (LESSONS.english, LESSONS.other)
        return [float((encode(student, side) * LESSONS.targets).sum(1).mean()) for side in sides]

    before = agreement()
    learn_lessons(student, tmp_path, SCHEDULE, silent)
    assert all(new > old + 0.3 for old, new in zip(before, agreement(), strict=True))


@pytest.mark.parametrize(
    "change",
    [
        {"schedule": replace(SCHEDULE, seed=6)},
        {"lessons": replace(LESSONS, english=some_pack(40, 9))},
        {"shape": replace(SHAPE, hidden=96)},
    ],
    ids=lambda change: next(iter(change)),
)
def test_a_different_training_does_not_resume_from_a_checkpoint(
    tmp_path: Path, change: dict[str, Any]
) -> None:
    short = replace(SCHEDULE, steps=2)
    distil(make_student(), LESSONS, short, tmp_path, silent)
    schedule = replace(change.get("schedule", short), steps=2)
    student = make_student(change.get("shape", SHAPE))
    with pytest.raises(InputError, match="another model, other data or other settings"):
        distil(student, change.get("lessons", LESSONS), schedule, tmp_path, silent)


def test_a_hard_negative_is_never_the_right_answer() -> None:
    near = hard_negatives(THREADS)
    assert near.shape == (40, 8)
    assert (near != torch.arange(40)[:, None]).all()
    opposite = replace(THREADS, answer_targets=-THREADS.question_targets)
    assert (hard_negatives(opposite) != torch.arange(40)[:, None]).all()


tokens = st.lists(st.integers(1, 89), min_size=1, max_size=32)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Student:
    student = make_student()
    learn_lessons(student, tmp_path_factory.mktemp("trained"), SCHEDULE, silent)
    return student


@pytest.fixture(scope="module")
def exported(trained: Student) -> Callable[[Any], Any]:
    """The exported model of a student: gives the vectors of rows of tokens."""
    weights = {name: value.numpy() for name, value in trained.state_dict().items()}
    model = export(trained.shape, weights, input_ranges(trained, LESSONS.other))
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    table = token_table(weights)
    return lambda batch: session.run(None, {"tokens": batch, "bytes": table[batch]})[0]


def filled_up(rows: list[list[int]], width: int = 0) -> Any:
    width = max(width, max(map(len, rows)))
    width += width % SHAPE.group
    return np.array([row + [0] * (width - len(row)) for row in rows], dtype=np.int64)


@given(st.lists(tokens, min_size=1, max_size=6))
def test_the_exported_model_agrees_with_torch(
    trained: Student, exported: Callable[[Any], Any], rows: list[list[int]]
) -> None:
    batch = filled_up(rows)
    with torch.inference_mode():
        expected = trained(torch.from_numpy(batch)).numpy()
    vectors = exported(batch)
    # The ranges are from forty texts; a row may have values outside of them.
    assert ((expected * vectors).sum(axis=1) > 0.98).all()
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)


@given(st.lists(tokens, min_size=2, max_size=6), st.data())
def test_a_row_has_the_same_vector_alone_and_in_a_batch(
    exported: Callable[[Any], Any], rows: list[list[int]], data: st.DataObject
) -> None:
    batch = filled_up(rows)
    place = data.draw(st.integers(0, len(rows) - 1))
    together = exported(batch)
    alone = exported(batch[place : place + 1])
    assert np.abs(together[place] - alone[0]).max() <= 1e-6


@given(tokens)
def test_padding_changes_a_vector_of_torch_only_by_rounding(
    trained: Student, row: list[int]
) -> None:
    with torch.inference_mode():
        narrow = trained(torch.from_numpy(filled_up([row])))
        wide = trained(torch.from_numpy(filled_up([row], 32)))
    assert torch.allclose(narrow, wide, atol=1e-5)


@pytest.fixture(scope="module")
def teacher_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_teacher(tmp_path_factory.mktemp("teacher"))


@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_a_teacher_gives_the_same_vectors_as_transformers(
    teacher_folder: Path, pooling: str
) -> None:
    from tokenizers import Tokenizer
    from transformers import AutoModel

    tokenizer = Tokenizer.from_file(str(teacher_folder / "tokenizer.json"))
    texts = [*(text.format(n=3) for text in SENTENCES["en"]), "Divide", ""]
    vectors = Teacher(teacher_folder, pooling, "cpu").encode(Pack.encode(texts, tokenizer, 160))
    model = AutoModel.from_pretrained(teacher_folder, add_pooling_layer=False).eval()
    for text, vector in zip(texts, vectors, strict=True):
        ids = torch.tensor([tokenizer.encode(text).ids])
        with torch.inference_mode():
            states = model(input_ids=ids).last_hidden_state[0]
        expected = states[0] if pooling == "cls" else states.mean(0)
        expected = torch.nn.functional.normalize(expected, dim=0)
        assert torch.allclose(vector.float(), expected, atol=2e-3)


def test_no_texts_have_no_vectors(teacher_folder: Path) -> None:
    assert Teacher(teacher_folder, "mean", "cpu").encode(Pack.of([])).shape == (0, 32)


def test_a_folder_without_a_model_is_refused_as_a_teacher(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a BERT-like model"):
        Teacher(tmp_path, "mean", "cpu")


def test_principal_components_keep_the_inner_products_of_low_dimensional_vectors() -> None:
    generator = torch.Generator().manual_seed(1)
    flat = torch.randn(50, 4, generator=generator) @ torch.randn(4, 16, generator=generator)
    turned = flat @ principal(flat, 4)
    assert turned.shape == (50, 4)
    assert torch.allclose(turned @ turned.T, flat @ flat.T, atol=1e-2)


def test_a_student_starts_with_layers_and_token_vectors_of_a_bert(teacher_folder: Path) -> None:
    from safetensors.torch import load_file
    from tokenizers import Tokenizer

    weights = load_file(teacher_folder / "model.safetensors")
    own = train_tokenizer([text.format(n=3) for text in SENTENCES["en"]] * 3, 200)
    shape = replace(SHAPE, vocabulary=own.get_vocab_size(), hidden=128)
    student = make_student(shape)
    start_from(student, weights, [1, 0])
    down = "output.dense.weight"
    assert torch.equal(student.layers[0].down.weight, weights[f"encoder.layer.1.{down}"])
    assert torch.equal(student.layers[1].down.weight, weights[f"encoder.layer.0.{down}"])
    theirs = Tokenizer.from_file(str(teacher_folder / "tokenizer.json"))
    table = weights["embeddings.word_embeddings.weight"]
    assert start_tokens(student, own, theirs, table) > 0
    assert not student.tokens.weight[0].any()
    number, [same] = own.token_to_id("▁the"), theirs.encode("the", add_special_tokens=False).ids
    assert torch.equal(student.tokens.weight[number], table[same])


def test_rows_are_padded_and_have_begin_and_end_tokens() -> None:
    pack = GpuPack(Pack.of([[5, 6, 7], [8], []]), "cpu")
    numbers = torch.tensor([1, 0, 2])
    assert pack.rows(numbers, 4).tolist() == [[8, 0, 0, 0], [5, 6, 7, 0], [0, 0, 0, 0]]
    framed = pack.rows(numbers, 1, begin=1, end=2).tolist()
    assert framed == [[1, 8, 2, 0, 0], [1, 5, 6, 7, 2], [1, 2, 0, 0, 0]]


@given(st.lists(st.integers(1, 30), max_size=40), st.integers(1, 60))
def test_batches_by_length_contain_every_text_once(lengths: list[int], most: int) -> None:
    batches = list(by_length(np.array(lengths, dtype=np.int64), most))
    assert sorted(number for batch in batches for number in batch) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) == 1 or max(lengths[number] for number in batch) * len(batch) <= most


@given(st.integers(1, 50), st.integers(1, 60), st.integers(0, 5))
def test_sampled_batches_repeat_no_text_in_an_epoch(count: int, batch: int, seed: int) -> None:
    lengths = np.arange(count) % 7
    size = min(batch, count)
    drawn = sampled(lengths, np.random.default_rng(seed), batch, pool=3)
    epoch = list(islice(drawn, count // size))
    numbers = [number for chosen in epoch for number in chosen]
    assert all(len(chosen) == size for chosen in epoch)
    assert len(set(numbers)) == len(numbers)


def test_sampling_without_examples_is_refused() -> None:
    with pytest.raises(InputError, match="there are no examples to learn from"):
        next(sampled(np.empty(0, np.int64), np.random.default_rng(1), 4))
