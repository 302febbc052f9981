"""The inputs and outputs, in a work folder, of the stages that need torch.

In the end, a work folder has ``tokenizer.json``, ``english.npz``, ``other.npz``, ``teacher.npz``,
``questions.npz``, ``asked.npz``, ``answers.npz``, the teacher's ``teacher*.targets.npy`` and
``basis.npy``, ``distilled/``, ``contrasted/`` and the finished ``model/``.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file

from mathsetu.errors import InputError
from mathsetu.training.encoder.contrast import Threads
from mathsetu.training.encoder.distil import Lessons
from mathsetu.training.encoder.folders import found, go_on_from, is_work_folder
from mathsetu.training.encoder.packs import Pack
from mathsetu.training.encoder.shape import Shape
from mathsetu.training.encoder.student import Student, start_from, start_tokens
from mathsetu.training.encoder.teach import Teacher, principal, read_basis
from mathsetu.training.encoder.tokenizer import load_tokenizer

# The most tokens of a text, and the width of an attention head.
_TOKENS = 512
_HEAD = 32


def teach(
    work: Path,
    teacher: Path,
    pooling: str,
    dimensions: int,
    device: str,
    space: Path | None = None,
) -> None:
    """Write the teacher's vectors of the English texts, projected to fewer dimensions.

    If the work folder ``space`` is given, its projection is used.
    """
    model = Teacher(teacher, pooling, usable_device(device))
    basis: Any = None if space is None else read_basis(space, model)
    for name in ("teacher", "teacher-questions", "teacher-answers"):
        pack = Pack.load(found(work / f"{name}.npz", "make the examples first"))
        vectors = model.encode(pack)
        if basis is None:
            basis = principal(vectors, min(dimensions, vectors.shape[1]))
        turned = [
            torch.nn.functional.normalize(part.float() @ basis, dim=1).half().cpu()
            for part in vectors.split(100_000)
        ]
        np.save(work / f"{name}.targets.npy", torch.cat(turned).numpy(), allow_pickle=False)
    np.save(work / "basis.npy", basis.cpu().numpy(), allow_pickle=False)


def student_shape(work: Path, width: int, layers: int, group: int) -> Shape:
    """Return the sizes of a student for the tokenizer and the targets of a work folder."""
    if width % _HEAD or _TOKENS % group:
        raise InputError(f"width must be a multiple of {_HEAD}, and group a divisor of {_TOKENS}")
    return Shape(
        vocabulary=load_tokenizer(work / "tokenizer.json").get_vocab_size(),
        width=width,
        layers=layers,
        heads=width // _HEAD,
        hidden=4 * width,
        group=group,
        positions=_TOKENS // group,
        dimensions=_read_targets(work, "teacher").shape[1],
    )


def start_student(
    work: Path, shape: Shape, start: Path | None, chosen: Sequence[int], seed: int = 1
) -> Student:
    """Return a new student: random, or with weights of another work folder or of a BERT.

    A BERT must have the same width; it provides some of its layers and its token vectors.
    """
    torch.manual_seed(seed)
    student = Student(shape)
    if start is not None and is_work_folder(start):
        go_on_from(student, work, start)
    elif start is not None:
        weights = load_file(
            found(start / "model.safetensors", "start from a model with safetensors weights")
        )
        start_from(student, weights, list(chosen))
        start_tokens(
            student,
            load_tokenizer(work / "tokenizer.json"),
            load_tokenizer(found(start / "tokenizer.json", "the model needs its tokenizer")),
            weights["embeddings.word_embeddings.weight"],
        )
    return student


def read_lessons(work: Path, device: Any) -> Lessons:
    """Read the examples of a work folder, with the teacher's vectors."""
    english = Pack.load(found(work / "english.npz", "make the examples first"))
    other = Pack.load(found(work / "other.npz", "make the examples first"))
    return Lessons(english, other, _targets(work, "teacher", len(english), device))


def read_threads(work: Path, device: Any) -> Threads:
    """Read the questions and answers of a work folder, with the teacher's vectors."""
    questions, asked, answers = (
        Pack.load(found(work / f"{name}.npz", "make the examples first"))
        for name in ("questions", "asked", "answers")
    )
    if not len(questions):
        raise InputError(
            f"{work}: has no English questions with answers; leave out --contrast-steps"
        )
    sides = (
        _targets(work, f"teacher-{name}", len(questions), device)
        for name in ("questions", "answers")
    )
    return Threads(questions, asked, answers, *sides)


def _targets(work: Path, name: str, count: int, device: Any) -> Any:
    targets = _read_targets(work, name)
    if len(targets) != count:
        raise InputError(
            f"{work}: has {count:,} texts, but a teacher has read {len(targets):,}; run 'teach' "
            "again"
        )
    return torch.from_numpy(targets).to(device)


def _read_targets(work: Path, name: str) -> NDArray[np.float16]:
    path = found(work / f"{name}.targets.npy", "run 'teach' first")
    targets: NDArray[np.float16] = np.load(path, allow_pickle=False)
    return targets


def usable_device(name: str) -> str:
    """Return the name of a device if torch can use it.

    Raises:
        InputError: Torch cannot use the device.
    """
    try:
        torch.empty(1, device=name)
    except (RuntimeError, AssertionError) as problem:
        reason = str(problem).partition("\n")[0]
        raise InputError(f"device {name!r}: cannot be used ({reason})") from None
    return name
