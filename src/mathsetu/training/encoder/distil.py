"""Stage 4: the student learns to give both sides of an example the teachers' vector."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch.nn import functional

from mathsetu.training.checkpoints import load_checkpoint, save_checkpoint
from mathsetu.training.encoder.batches import GpuPack, by_length, sampled

if TYPE_CHECKING:
    from torch import Tensor

    from mathsetu.training.encoder.packs import Pack
    from mathsetu.training.encoder.student import Student

Report = Callable[[int, dict[str, float]], None]
_TOKENS_AT_ONCE = 400_000
#: Rows are as wide as a multiple of this many positions, which fast attention asks for.
POSITIONS = 8


@dataclass(frozen=True)
class Schedule:
    """How long and how fast a student learns.

    Attributes:
        steps: How many batches.
        batch: Examples in a batch.
        token_rate: The learning rate of the token vectors.
        rate: The learning rate of everything else.
        warmup: Steps until the full rate; then it falls along a cosine.
        contrast: The weight of telling a batch's texts apart.
        temperature: How sharply they are told apart.
        save_every: Steps between checkpoints.
        seed: Where randomness starts.
    """

    steps: int
    batch: int = 2048
    token_rate: float = 2e-3
    rate: float = 4e-4
    warmup: int = 300
    contrast: float = 0.25
    temperature: float = 0.05
    save_every: int = 2000
    seed: int = 1

    def share(self, step: int) -> float:
        """The share of the full rate at a step.

        >>> schedule = Schedule(steps=1000, warmup=100)
        >>> round(schedule.share(49), 2), round(schedule.share(999), 3)
        (0.5, 0.001)
        """
        rising = min(1.0, (step + 1) / self.warmup)
        return rising * (0.5 * (1 + math.cos(math.pi * step / self.steps)) * 0.999 + 0.001)


@dataclass(frozen=True)
class Lessons:
    """Examples as tokens, and the vector that both sides should get."""

    english: Pack
    other: Pack
    targets: Tensor


def distil(
    student: Student, lessons: Lessons, schedule: Schedule, folder: Path, report: Report
) -> None:
    """Train a student; goes on from the folder's checkpoint where there is one."""
    device = str(next(student.parameters()).device)
    optimizer = make_optimizer(student, schedule)
    identity = identity_of(schedule, lessons.english, student)
    state = load_checkpoint(folder, identity, student, optimizer)
    english, other = GpuPack(lessons.english, device), GpuPack(lessons.other, device)
    multiple = student.shape.group * POSITIONS
    lengths = lessons.english.lengths() + lessons.other.lengths()
    chance = np.random.default_rng(schedule.seed)
    student.train()
    read = compiled(student)
    for step, chosen in enumerate(sampled(lengths, chance, schedule.batch)):
        if step == schedule.steps:
            break
        if step < state.step:
            continue
        numbers = torch.from_numpy(chosen).to(device)
        target = lessons.targets[numbers].float()
        with half(device):
            own = read(english.rows(numbers, multiple))
            translated = read(other.rows(numbers, multiple))
        to_own, to_translated = (own * target).sum(1), (translated * target).sum(1)
        labels = torch.arange(len(chosen), device=device)
        apart = functional.cross_entropy(translated @ target.T / schedule.temperature, labels)
        loss = 4 * (2 - to_own.mean() - to_translated.mean()) + schedule.contrast * apart
        descend(student, optimizer, schedule, step, loss)
        if (step + 1) % 100 == 0:
            figures = {"english": to_own.mean().item(), "other": to_translated.mean().item()}
            report(step + 1, {"loss": loss.item(), **figures})
        if (step + 1) % schedule.save_every == 0 or step + 1 == schedule.steps:
            state.step = step + 1
            save_checkpoint(folder, state, student, optimizer)
    student.eval()


def make_optimizer(student: Student, schedule: Schedule) -> torch.optim.AdamW:
    """AdamW with a rate of its own for the token vectors."""
    tokens = [student.tokens.weight]
    rest = [p for name, p in student.named_parameters() if name != "tokens.weight"]
    groups = [
        {"params": tokens, "lr": schedule.token_rate, "base": schedule.token_rate},
        {"params": rest, "lr": schedule.rate, "base": schedule.rate},
    ]
    fused = student.tokens.weight.is_cuda
    return torch.optim.AdamW(groups, weight_decay=0.01, betas=(0.9, 0.98), fused=fused)


def descend(
    student: Student, optimizer: torch.optim.AdamW, schedule: Schedule, step: int, loss: Tensor
) -> None:
    """One step down, at the rate that the schedule has now."""
    for group in optimizer.param_groups:
        group["lr"] = group["base"] * schedule.share(step)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(student.parameters(), 1.0)
    optimizer.step()


@torch.inference_mode()
def encode(student: Student, pack: Pack) -> Tensor:
    """The student's vectors of all texts of a pack."""
    device = str(next(student.parameters()).device)
    texts = GpuPack(pack, device)
    vectors = torch.zeros(len(pack), student.shape.dimensions, dtype=torch.half, device=device)
    for chosen in by_length(pack.lengths(), _TOKENS_AT_ONCE):
        numbers = torch.from_numpy(chosen).to(device)
        with half(device):
            vectors[numbers] = student(texts.rows(numbers, student.shape.group * POSITIONS)).half()
    return vectors


def identity_of(schedule: Schedule, texts: Pack, student: Student) -> str:
    """What a checkpoint is of: other settings, texts or first weights do not go on from it."""
    said = json.dumps([asdict(schedule), asdict(student.shape)])
    digest = sha256(said.encode())
    digest.update(texts.tokens.tobytes())
    for weights in student.state_dict().values():
        digest.update(weights.cpu().numpy().tobytes())
    return digest.hexdigest()


def compiled(student: Student) -> Callable[[Tensor], Tensor]:
    """The student's way from tokens to vectors, made faster where there is an accelerator."""
    if not student.tokens.weight.is_cuda:
        return student
    # Rows come in a handful of widths, and a program for each is a third faster than none.
    made: Callable[[Tensor], Tensor] = torch.compile(student, dynamic=False)
    return made


def half(device: str) -> torch.autocast:
    """Half precision where it is fast."""
    return torch.autocast(
        device.partition(":")[0], torch.bfloat16, enabled=device.startswith("cuda")
    )
