"""Stage 7: one model from several trainings of one vector space.

Students that started from the same weights stay near enough for the mean of their weights to be a
student, too; it keeps what each of them knows.
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
    """Write the mean of work folders' finished students as a model.

    Args:
        works: Work folders with the same tokenizer, and with targets in the same space. One that
            is named twice counts twice.
        folder: Where the model goes.
    """
    if len(works) < 2:
        raise InputError("give at least two work folders, and then the folder of the model")
    if is_work_folder(folder):
        raise InputError(f"{folder}: is a work folder; name another folder for the model")
    export_stage(blended(works), works, folder)


def blended(works: Sequence[Path]) -> Student:
    """The mean of work folders' finished students; of one folder, its student."""
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
    """The last student of a work folder: the contrasted one where there is one."""
    student = Student(finished_shape(work))
    contrasted = (work / "contrasted").is_dir()
    load_weights(work / ("contrasted" if contrasted else "distilled"), student)
    student.eval()
    return student


def _require_same_space(first: Path, second: Path) -> None:
    """Refuse folders whose targets were turned differently: their mean would mean nothing."""
    one, other = (
        found(work / "basis.npy", "run 'teach' for that folder").read_bytes()
        for work in (first, second)
    )
    if one != other:
        raise InputError(
            f"{first} and {second}: have different vector spaces; run 'teach' for one with the "
            "--space of the other"
        )
