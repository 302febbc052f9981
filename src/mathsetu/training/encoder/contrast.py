"""Stage 5: contrastive training on questions with right and wrong answers.

Questions are in mixed languages. A second loss keeps the student's vectors near the teacher's, so
that it does not forget.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from mathsetu.training.encoder.batches import GpuPack
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

# Answers whose teacher score is above this share of the right one's are probably right, too.
_TOO_GOOD = 0.95
#: The share of batches with questions in another language.
MIXED = 0.6


@dataclass(frozen=True)
class Threads:
    """Questions and answers as tokens, with the teacher's vectors of their English originals.

    ``asked`` has the same questions with words swapped into other languages.
    """

    questions: Pack
    asked: Pack
    answers: Pack
    question_targets: Tensor
    answer_targets: Tensor


def hard_negatives(threads: Threads, count: int = 8) -> Tensor:
    """Return, per question, wrong answers that are near it, but not as near as its own answer."""
    found = []
    own = (threads.question_targets.float() * threads.answer_targets.float()).sum(1)
    for start in range(0, len(own), 4096):
        scores = threads.question_targets[start : start + 4096] @ threads.answer_targets.T
        limit = (own[start : start + 4096] * _TOO_GOOD)[:, None]
        scores = scores.masked_fill(scores > limit, -1)
        # The own answer is ranked last, whatever its score.
        scores.diagonal(start).fill_(-2)
        found.append(scores.topk(min(count, len(own))).indices)
    return torch.cat(found)


def contrast(
    student: Student, threads: Threads, schedule: Schedule, folder: Path, report: Report
) -> None:
    """Train a student on threads; resume from the folder's checkpoint if there is one."""
    device, multiple = device_of(student), row_width(student)
    questions, asked, answers = (
        GpuPack(pack, device) for pack in (threads.questions, threads.asked, threads.answers)
    )
    near = hard_negatives(threads)

    def lesson(
        read: Read, numbers: Tensor, chance: np.random.Generator
    ) -> tuple[Tensor, dict[str, Tensor]]:
        wrong_ones = near[numbers, int(chance.integers(near.shape[1]))]
        side = asked if chance.random() < MIXED else questions
        with half(device):
            question = read(side.rows(numbers, multiple))
            answer = read(answers.rows(numbers, multiple))
            wrong = read(answers.rows(wrong_ones, multiple))
        labels = torch.arange(len(numbers), device=device)
        scores = question @ torch.cat([answer, wrong]).T / schedule.temperature
        back = answer @ question.T / schedule.temperature
        apart = functional.cross_entropy(scores, labels) + functional.cross_entropy(back, labels)
        kept = (question * threads.question_targets[numbers].float()).sum(1).mean()
        kept = kept + (answer * threads.answer_targets[numbers].float()).sum(1).mean()
        return schedule.contrast * apart + 4 * (2 - kept), {"apart": apart, "kept": kept / 2}

    lengths = threads.questions.lengths() + threads.answers.lengths()
    learn(student, threads.questions, lengths, lesson, schedule, folder, report)
