"""Stage 8: train a second, larger network for queries, the reader.

There are few queries and many posts, so encoding a query may take longer. The reader has the
student's token vectors, but may have smaller groups of tokens and more layers. Its target for a
query in any language is the mean of two vectors of the English original: that of the student, since
queries are compared with its vectors of posts, and that of the teacher, which is more accurate.
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
    """The sizes and training settings of a reader.

    Attributes:
        layers: Its layers: from as many as the student has to twice as many.
        group: Its tokens per group; a divisor of the student's.
        reading: The settings of distillation.
        asking: The settings of contrastive training after that; None leaves it out.
    """

    layers: int
    group: int
    reading: Schedule
    asking: Schedule | None = None


def add_reader(
    works: Sequence[Path], folder: Path, plan: Plan, device: str, report: Report
) -> None:
    """Train a reader for the mean of the students of work folders; write both as a model.

    Args:
        works: One work folder, or several that can be blended. The reader is trained on the
            examples of the last one.
        folder: The folder for the model, with checkpoints in ``reading/`` and ``asking/``.
        plan: The sizes and training settings of the reader.
        device: The device for training.
        report: Called with the step and its figures.
    """
    if is_work_folder(folder):
        raise InputError(f"{folder}: is a work folder; name another folder for the model")
    student = blended(works).to(device)
    reader = make_reader(student, plan.layers, plan.group).to(device)
    # Read before the long training, so that a missing file is reported at once.
    threads = read_threads(works[-1], device) if plan.asking else None
    lessons = read_lessons(works[-1], device)
    targets = between(encode(student, lessons.english), lessons.targets)
    distil(reader, replace(lessons, targets=targets), plan.reading, folder / "reading", report)
    if plan.asking and threads:
        train_contrastive(reader, student, threads, plan.asking, folder / "asking", report)
    export_stage(student, works, folder, reader)


def make_reader(student: Student, layers: int, group: int) -> Student:
    """Return a reader with the weights of a student; its token vectors are frozen.

    Args:
        student: The student that reads posts.
        layers: The layers of the reader: from as many as the student has to twice as many.
        group: The tokens per group of the reader; a divisor of the student's.
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
    # Each place in a reader's group sums the maps of the matching places in a student's group.
    parts = weights["grouped.weight"].view(shape.width, times, group * shape.width)
    weights["grouped.weight"] = parts.sum(1)
    weights["places.weight"] = weights["places.weight"].repeat_interleave(times, dim=0)
    for place in range(layers):
        # A reader with more layers than the student repeats some of its layers.
        prefix = f"layers.{place * shape.layers // layers}."
        for name, value in student.state_dict().items():
            if name.startswith(prefix):
                weights[f"layers.{place}.{name.removeprefix(prefix)}"] = value
    reader.load_state_dict(weights)
    reader.tokens.weight.requires_grad_(False)
    return reader


def between(own: Tensor, theirs: Tensor) -> Tensor:
    """Return the normalised mean of the student's and the teacher's vectors."""
    return functional.normalize(own.float() + theirs.float(), dim=1).half()


def train_contrastive(
    reader: Student,
    student: Student,
    threads: Threads,
    schedule: Schedule,
    folder: Path,
    report: Report,
) -> None:
    """Train the reader to bring questions near their answers, as the student encodes these.

    Args:
        reader: The reader to train.
        student: The student that reads posts.
        threads: Questions and answers, with the teacher's vectors.
        schedule: The training settings.
        folder: The folder for checkpoints.
        report: Called with the step and its figures.
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
