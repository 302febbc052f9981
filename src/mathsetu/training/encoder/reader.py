"""Stage 8: a second body for the student, which reads queries with more care.

There are few queries and many posts, so a query may take longer. The reader has the student's token
vectors, but may take fewer of them together and have more layers. It learns to give a query, in
whichever language, what the student that reads posts and the teacher find in its English original:
queries are compared with the vectors of the one, and the other knows better what they mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from mathsetu.errors import InputError
from mathsetu.training.encoder.batches import GpuPack
from mathsetu.training.encoder.blend import blended
from mathsetu.training.encoder.contrast import MIXED, Threads, hard_negatives
from mathsetu.training.encoder.distil import distil, encode
from mathsetu.training.encoder.folders import is_work_folder
from mathsetu.training.encoder.learning import (
    Read,
    Report,
    device_of,
    half,
    learn,
    row_width,
)
from mathsetu.training.encoder.model_files import export_stage
from mathsetu.training.encoder.pipeline import read_lessons, read_threads
from mathsetu.training.encoder.schedule import Schedule
from mathsetu.training.encoder.student import Student


@dataclass(frozen=True)
class Plan:
    """How a reader is made.

    Attributes:
        layers: How many layers it has: as many as the student, or up to twice as many.
        group: How many tokens it takes together; a divisor of the student's number.
        reading: How it learns to read.
        asking: How it learns which answers are meant, after that; not at all where there is none.
    """

    layers: int
    group: int
    reading: Schedule
    asking: Schedule | None = None


def add_reader(
    works: Sequence[Path], folder: Path, plan: Plan, device: str, report: Report
) -> None:
    """Train a reader beside the mean of work folders' students, and write both as a model.

    Args:
        works: Work folders that can be blended, or one. The reader learns from the last one's
            examples.
        folder: Where the model goes, and the checkpoints in ``reading/`` and ``asking/``.
        plan: How the reader is made.
        device: Where it learns.
        report: Hears how far it is.
    """
    if is_work_folder(folder):
        raise InputError(f"{folder}: is a work folder; name another folder for the model")
    student = blended(works).to(device)
    reader = make_reader(student, plan.layers, plan.group).to(device)
    # Read before the long training, so that what is missing is said at once.
    threads = read_threads(works[-1], device) if plan.asking else None
    lessons = read_lessons(works[-1], device)
    targets = between(encode(student, lessons.english), lessons.targets)
    distil(reader, replace(lessons, targets=targets), plan.reading, folder / "reading", report)
    if plan.asking and threads:
        learn_to_ask(reader, student, threads, plan.asking, folder / "asking", report)
    export_stage(student, works, folder, reader)


def make_reader(student: Student, layers: int, group: int) -> Student:
    """A reader that starts from what a student knows; its token vectors stay as they are.

    Args:
        student: The one that reads posts.
        layers: How many layers the reader has: as many as the student, or up to twice as many.
        group: How many tokens the reader takes together; a divisor of the student's number.
    """
    shape = student.shape
    if not shape.layers <= layers <= 2 * shape.layers or shape.group % group:
        raise InputError(
            f"a reader of {layers} layers and groups of {group} does not fit the student; choose "
            f"--layers from {shape.layers} to {2 * shape.layers}, and a --group that divides "
            f"{shape.group}"
        )
    times = shape.group // group
    reader = Student(replace(shape, layers=layers, group=group, positions=shape.positions * times))
    weights = {name: value for name, value in student.state_dict().items() if "layers." not in name}
    # What the student does with a later token of its group is done with an earlier one as well.
    parts = weights["grouped.weight"].view(shape.width, times, group * shape.width)
    weights["grouped.weight"] = parts.sum(1)
    weights["places.weight"] = weights["places.weight"].repeat_interleave(times, dim=0)
    for place in range(layers):
        # Where there are more layers than the student has, some of its layers come twice.
        prefix = f"layers.{place * shape.layers // layers}."
        for name, value in student.state_dict().items():
            if name.startswith(prefix):
                weights[f"layers.{place}.{name.removeprefix(prefix)}"] = value
    reader.load_state_dict(weights)
    reader.tokens.weight.requires_grad_(False)
    return reader


def between(own: Tensor, theirs: Tensor) -> Tensor:
    """Vectors of length one, halfway between those of the student and those of the teacher."""
    return functional.normalize(own.float() + theirs.float(), dim=1).half()


def learn_to_ask(
    reader: Student,
    student: Student,
    threads: Threads,
    schedule: Schedule,
    folder: Path,
    report: Report,
) -> None:
    """Put questions, as the reader reads them, beside their answers, as the student does.

    Args:
        reader: What is changed.
        student: The one that reads posts.
        threads: Questions and answers, with the teacher's vectors.
        schedule: How long and how fast the reader learns.
        folder: Where checkpoints lie.
        report: Hears how far it is.
    """
    device, multiple = device_of(reader), row_width(reader)
    questions, asked = GpuPack(threads.questions, device), GpuPack(threads.asked, device)
    meant = between(encode(student, threads.questions), threads.question_targets)
    answers = encode(student, threads.answers)
    near = hard_negatives(replace(threads, question_targets=meant, answer_targets=answers))

    def lesson(
        read: Read, numbers: Tensor, chance: np.random.Generator
    ) -> tuple[Tensor, dict[str, Tensor]]:
        wrong_ones = near[numbers, int(chance.integers(near.shape[1]))]
        side = asked if chance.random() < MIXED else questions
        with half(device):
            question = read(side.rows(numbers, multiple))
        compared = torch.cat([answers[numbers], answers[wrong_ones]]).float()
        labels = torch.arange(len(numbers), device=device)
        apart = functional.cross_entropy(question @ compared.T / schedule.temperature, labels)
        kept = (question * meant[numbers].float()).sum(1).mean()
        return schedule.contrast * apart + 4 * (1 - kept), {"apart": apart, "kept": kept}

    lengths = threads.questions.lengths() + threads.answers.lengths()
    learn(reader, threads.questions, lengths, lesson, schedule, folder, report)
