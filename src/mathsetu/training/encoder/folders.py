"""Helpers for work folders: required files, compatibility checks, and weights to start from."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from mathsetu.errors import InputError
from mathsetu.training.checkpoints import load_weights
from mathsetu.training.encoder.shape import Shape
from mathsetu.training.encoder.tokenizer import compact, load_tokenizer

if TYPE_CHECKING:
    from mathsetu.training.encoder.student import Student


def found(path: Path, remedy: str) -> Path:
    """Return a path that must exist.

    >>> found(Path("work/nothing.npz"), "make the examples first")
    Traceback (most recent call last):
    mathsetu.errors.InputError: work/nothing.npz: there is no such file; make the examples first
    """
    if not path.exists():
        raise InputError(f"{path}: there is no such file; {remedy}")
    return path


def finished_shape(work: Path) -> Shape:
    """Return the sizes of the student of a work folder, whose training must be finished.

    `distil` writes the model last, so a folder with a model is complete.
    """
    path = found(work / "model" / "model.json", "run 'distil' for that folder to the end")
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
        return Shape(**facts["posts"])
    except (ValueError, TypeError, KeyError) as problem:
        raise InputError(f"{path}: is damaged ({problem}); distil again") from None


def take_tokenizer(tokenizer: Path, work: Path) -> None:
    """Copy an existing tokenizer into a work folder that has no other one."""
    load_tokenizer(tokenizer)
    place = work / "tokenizer.json"
    if place.exists() and compact(place) != compact(tokenizer):
        raise InputError(f"{place}: differs from {tokenizer}; name another folder")
    work.mkdir(parents=True, exist_ok=True)
    place.write_bytes(tokenizer.read_bytes())


def require_same_tokenizer(first: Path, second: Path) -> None:
    """Refuse two work folders with different tokenizers."""
    one, other = (
        compact(found(work / "tokenizer.json", "make the examples of that folder first"))
        for work in (first, second)
    )
    if one != other:
        raise InputError(
            f"{first} and {second}: have different tokenizers; make the examples of one with the "
            "tokenizer of the other"
        )


def require_same_shape(first: Path, one: Shape, second: Path, other: Shape) -> None:
    """Refuse students of two work folders with different sizes."""
    theirs = asdict(other)
    for name, size in asdict(one).items():
        if size != theirs[name]:
            raise InputError(
                f"the student of {first} has {name} {size}, that of {second} {theirs[name]}; "
                "they must be the same"
            )


def is_work_folder(folder: Path) -> bool:
    """Whether a student was distilled in a folder."""
    return (folder / "distilled").is_dir()


def go_on_from(student: Student, work: Path, first: Path) -> None:
    """Load into a student the distilled weights of another work folder.

    Args:
        student: The student to change.
        work: The work folder of this student.
        first: The work folder to take the weights from.
    """
    require_same_tokenizer(work, first)
    require_same_shape(work, student.shape, first, finished_shape(first))
    load_weights(first / "distilled", student)
