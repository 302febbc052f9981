"""Stage 4: train the student to give the teacher's vector to both sides of an example."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from mathsetu.training.encoder.batches import GpuPack, by_length
from mathsetu.training.encoder.learning import (
    Read,
    Report,
    device_of,
    half,
    learn,
    row_width,
)
from mathsetu.training.encoder.packs import Pack
from mathsetu.training.encoder.schedule import Schedule
from mathsetu.training.encoder.student import Student

_TOKENS_AT_ONCE = 400_000


@dataclass(frozen=True)
class Lessons:
    """Examples as tokens, with the target vector of both sides."""

    english: Pack
    other: Pack
    targets: Tensor


def distil(
    student: Student, lessons: Lessons, schedule: Schedule, folder: Path, report: Report
) -> None:
    """Train a student; resume from the folder's checkpoint if there is one."""
    device, multiple = device_of(student), row_width(student)
    english, other = GpuPack(lessons.english, device), GpuPack(lessons.other, device)

    def lesson(
        read: Read, numbers: Tensor, _: np.random.Generator
    ) -> tuple[Tensor, dict[str, Tensor]]:
        target = lessons.targets[numbers].float()
        with half(device):
            own = read(english.rows(numbers, multiple))
            translated = read(other.rows(numbers, multiple))
        to_own, to_translated = (own * target).sum(1).mean(), (translated * target).sum(1).mean()
        labels = torch.arange(len(numbers), device=device)
        apart = functional.cross_entropy(translated @ target.T / schedule.temperature, labels)
        loss = 4 * (2 - to_own - to_translated) + schedule.contrast * apart
        return loss, {"english": to_own, "other": to_translated}

    lengths = lessons.english.lengths() + lessons.other.lengths()
    learn(student, lessons.english, lengths, lesson, schedule, folder, report)


@torch.inference_mode()
def encode(student: Student, pack: Pack) -> Tensor:
    """Return the student's vectors of all texts of a pack."""
    device = device_of(student)
    texts = GpuPack(pack, device)
    vectors = torch.zeros(len(pack), student.shape.dimensions, dtype=torch.half, device=device)
    for chosen in by_length(pack.lengths(), _TOKENS_AT_ONCE):
        numbers = torch.from_numpy(chosen).to(device)
        with half(device):
            vectors[numbers] = student(texts.rows(numbers, row_width(student))).half()
    return vectors
