"""Stage 7: average several trainings of one vector space into one model.

Students that started from the same weights stay close enough for the mean of their weights to work
as a student; it keeps what each of them learned.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch

from mathsetu.errors import InputError
from mathsetu.training.checkpoints import load_weights
from mathsetu.training.encoder.folders import (
    finished_shape,
    found,
    is_work_folder,
    require_same_shape,
    require_same_tokenizer,
)
from mathsetu.training.encoder.model_files import export_stage
from mathsetu.training.encoder.student import Student


def blend(works: Sequence[Path], folder: Path) -> None:
    """Write the mean of the finished students of work folders as a model.

    Args:
        works: Work folders with the same tokenizer, and with targets in the same space. A folder
            that is given twice has twice the weight.
        folder: The folder for the model.
    """
    if len(works) < 2:
        raise InputError("give at least two work folders, and then the folder of the model")
    if is_work_folder(folder):
        raise InputError(f"{folder}: is a work folder; name another folder for the model")
    export_stage(blended(works), works, folder)


def blended(works: Sequence[Path]) -> Student:
    """Return the mean of the finished students of work folders."""
    first, *others = works
    for other in others:
        require_same_tokenizer(first, other)
        require_same_shape(first, finished_shape(first), other, finished_shape(other))
        _require_same_space(first, other)
    students = [finished_student(work) for work in works]
    with torch.no_grad():
        for same in zip(*(student.parameters() for student in students), strict=True):
            same[0].copy_(torch.stack(same).mean(0))
    return students[0]


def finished_student(work: Path) -> Student:
    """Return the last student of a work folder: the contrasted one if there is one."""
    student = Student(finished_shape(work))
    contrasted = (work / "contrasted").is_dir()
    load_weights(work / ("contrasted" if contrasted else "distilled"), student)
    student.eval()
    return student


def _require_same_space(first: Path, second: Path) -> None:
    """Refuse folders with different projections of the targets, which cannot be averaged."""
    one, other = (
        found(work / "basis.npy", "run 'teach' for that folder").read_bytes()
        for work in (first, second)
    )
    if one != other:
        raise InputError(
            f"{first} and {second}: have different vector spaces; run 'teach' for one with the "
            "--space of the other"
        )
