"""How a student learns, whatever it learns."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from hashlib import sha256
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mathsetu.training.encoder.batches import sampled
from mathsetu.training.encoder.packs import Pack
from mathsetu.training.encoder.schedule import Schedule
from mathsetu.training.encoder.student import Student
from mathsetu.training.loop import Task, fit

Report = Callable[[int, dict[str, float]], None]
Read = Callable[[Tensor], Tensor]
#: What is wrong with a batch, given the way from tokens to vectors, the numbers of its examples and
#: chance; and figures that tell how far the student is.
Lesson = Callable[[Read, Tensor, np.random.Generator], tuple[Tensor, dict[str, Tensor]]]

_REPORT_EVERY = 50
# Rows are as wide as a multiple of this many positions, which fast attention asks for, and of this
# many tokens, so that there are few widths.
_POSITIONS = 8
_TOKENS = 32


@dataclass(frozen=True)
class _Drawn:
    """The numbers of examples that each step learns from, drawn as the steps go on."""

    lengths: NDArray[np.int64]
    schedule: Schedule

    def __len__(self) -> int:
        return self.schedule.steps

    def __iter__(self) -> Iterator[tuple[int, NDArray[np.int64]]]:
        chance = np.random.default_rng(self.schedule.seed)
        return enumerate(
            islice(sampled(self.lengths, chance, self.schedule.batch), self.schedule.steps)
        )


def learn(
    student: Student,
    texts: Pack,
    lengths: NDArray[np.int64],
    lesson: Lesson,
    schedule: Schedule,
    folder: Path,
    report: Report,
) -> None:
    """Train a student; goes on from the folder's checkpoint where there is one.

    Args:
        student: What is changed.
        texts: What it learns from; another training has others.
        lengths: How long the examples are: those of like length come together.
        lesson: What is wrong with a batch.
        schedule: How long and how fast it learns.
        folder: Where checkpoints lie.
        report: Hears how far it is.
    """
    device, read = device_of(student), _compiled(student)

    def loss(batch: tuple[int, NDArray[np.int64]]) -> Tensor:
        step, chosen = batch
        numbers = torch.from_numpy(chosen).to(device)
        # A training that goes on draws what it would have drawn: each step has chance of its own.
        found, figures = lesson(read, numbers, np.random.default_rng((schedule.seed, step)))
        if (step + 1) % _REPORT_EVERY == 0:
            said = {name: value.item() for name, value in figures.items()}
            report(step + 1, {"loss": found.item(), **said})
        return found

    task = Task(
        student,
        _make_optimizer(student, schedule),
        lambda _: _Drawn(lengths, schedule),
        loss,
        _identity(schedule, texts, student),
    )
    fit(task, schedule, folder)
    student.eval()


def device_of(student: Student) -> str:
    """Where a student is."""
    return str(student.tokens.weight.device)


def row_width(student: Student) -> int:
    """What the width of a student's rows of tokens must be divisible by."""
    return max(student.shape.group * _POSITIONS, _TOKENS)


def half(device: str) -> torch.autocast:
    """Half precision where it is fast."""
    return torch.autocast(
        device.partition(":")[0], torch.bfloat16, enabled=device.startswith("cuda")
    )


def _make_optimizer(student: Student, schedule: Schedule) -> torch.optim.AdamW:
    """AdamW with a rate of its own for the token vectors; what is held fast is left out."""
    tokens = [student.tokens.weight] if student.tokens.weight.requires_grad else []
    rest = [p for name, p in student.named_parameters() if name != "tokens.weight"]
    groups = [
        {"params": tokens, "lr": schedule.token_rate, "weight_decay": schedule.token_decay},
        {"params": rest, "lr": schedule.rate},
    ]
    fused = student.tokens.weight.is_cuda
    return torch.optim.AdamW(groups, weight_decay=0.01, betas=(0.9, 0.98), fused=fused)


def _identity(schedule: Schedule, texts: Pack, student: Student) -> str:
    """What a checkpoint is of: other settings, texts or first weights do not go on from it."""
    said = json.dumps([asdict(schedule), asdict(student.shape)])
    digest = sha256(said.encode())
    digest.update(texts.tokens.tobytes())
    for weights in student.state_dict().values():
        digest.update(weights.cpu().numpy().tobytes())
    return digest.hexdigest()


def _compiled(student: Student) -> Read:
    """The student's way from tokens to vectors, made faster where there is an accelerator."""
    if not student.tokens.weight.is_cuda:
        return student
    # Rows come in a handful of widths, and a program for each is a third faster than none. Programs
    # of an earlier training would count against the number that torch makes.
    torch.compiler.reset()
    made: Read = torch.compile(student, dynamic=False)
    return made
