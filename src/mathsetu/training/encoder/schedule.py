"""The training settings of a student."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from mathsetu.training.loop import Pace


@dataclass(frozen=True, kw_only=True)
class Schedule(Pace):
    """The settings of training a student, in one epoch of ``steps`` steps.

    Attributes:
        steps: The number of batches.
        batch: Examples per batch.
        token_rate: The learning rate of the token vectors.
        token_decay: The weight decay of the token vectors.
        rate: The learning rate of everything else.
        warmup: Steps of linear warm-up; afterwards the rate decays along a cosine.
        contrast: The weight of the contrastive loss.
        temperature: The temperature of the contrastive loss.
    """

    epochs: int = 1
    checkpoint_every: int = 2000
    steps: int
    batch: int = 2048
    token_rate: float = 2e-3
    token_decay: float = 0.01
    rate: float = 4e-4
    warmup: int = 300
    contrast: float = 0.25
    temperature: float = 0.05

    def for_contrast(self, steps: int) -> Schedule:
        """Return a schedule for contrastive training after this one, at lower rates."""
        return replace(
            self,
            steps=steps,
            batch=min(self.batch, 1024),
            token_rate=3e-4,
            rate=1e-4,
            warmup=50,
            contrast=0.5,
        )

    def share(self, step: int, steps: int) -> float:
        """Return the share of the full rate at a step.

        >>> schedule = Schedule(steps=1000, warmup=100)
        >>> round(schedule.share(49, 1000), 2), round(schedule.share(999, 1000), 3)
        (0.5, 0.001)
        """
        rising = min(1.0, (step + 1) / self.warmup)
        return rising * (0.5 * (1 + math.cos(math.pi * step / steps)) * 0.999 + 0.001)
