"""The training of a student on any lesson."""

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
#: The loss of a batch, and figures to report, from the encoder, the numbers of the batch's examples
#: and a random generator.
Lesson = Callable[[Read, Tensor, np.random.Generator], tuple[Tensor, dict[str, Tensor]]]

_REPORT_EVERY = 50
# The width of rows is a multiple of this many positions, as fast attention requires, or of this
# many tokens if that is more, so that there are few widths.
_POSITIONS = 8
_TOKENS = 32


@dataclass(frozen=True)
class _Drawn:
    """The numbers of the examples of each step, sampled lazily."""

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
    """Train a student; resume from the folder's checkpoint if there is one.

    Args:
        student: The student to train.
        texts: Its training texts, which identify the training.
        lengths: The lengths of the examples, for batches of similar length.
        lesson: The loss of a batch.
        schedule: The training settings.
        folder: The folder for checkpoints.
        report: Called with the step and its figures.
    """
    device, read = device_of(student), _compiled(student)

    def loss(batch: tuple[int, NDArray[np.int64]]) -> Tensor:
        step, chosen = batch
        numbers = torch.from_numpy(chosen).to(device)
        # Each step has its own random generator, so that a resumed training draws the same.
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
    """Return the device of a student."""
    return str(student.tokens.weight.device)


def row_width(student: Student) -> int:
    """Return the number that divides the width of a student's rows of tokens."""
    return max(student.shape.group * _POSITIONS, _TOKENS)


def half(device: str) -> torch.autocast:
    """Return a context for half precision on CUDA; elsewhere it has no effect."""
    return torch.autocast(
        device.partition(":")[0], torch.bfloat16, enabled=device.startswith("cuda")
    )


def _make_optimizer(student: Student, schedule: Schedule) -> torch.optim.AdamW:
    """Return AdamW with a separate rate for the token vectors, unless these are frozen."""
    tokens = [student.tokens.weight] if student.tokens.weight.requires_grad else []
    rest = [p for name, p in student.named_parameters() if name != "tokens.weight"]
    groups = [
        {"params": tokens, "lr": schedule.token_rate, "weight_decay": schedule.token_decay},
        {"params": rest, "lr": schedule.rate},
    ]
    fused = student.tokens.weight.is_cuda
    return torch.optim.AdamW(groups, weight_decay=0.01, betas=(0.9, 0.98), fused=fused)


def _identity(schedule: Schedule, texts: Pack, student: Student) -> str:
    """Return a digest of settings, texts and initial weights that identifies a checkpoint."""
    said = json.dumps([asdict(schedule), asdict(student.shape)])
    digest = sha256(said.encode())
    digest.update(texts.tokens.tobytes())
    for weights in student.state_dict().values():
        digest.update(weights.cpu().numpy().tobytes())
    return digest.hexdigest()


def _compiled(student: Student) -> Read:
    """Return the student, compiled if it is on CUDA."""
    if not student.tokens.weight.is_cuda:
        return student
    # Rows have only a few widths; a compiled program for each is a third faster than eager mode.
    # Reset, because programs of an earlier training count towards torch's limit.
    torch.compiler.reset()
    made: Read = torch.compile(student, dynamic=False)
    return made
