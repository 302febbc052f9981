"""The training loop: AdamW, warm-up and decay, early stopping, checkpoints.

Every step draws its randomness (dropout) from the seed and the step's number, so a training that
was stopped and goes on gives the same model as one that was not.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mathsetu.errors import InputError
from mathsetu.models import require, without_bars
from mathsetu.training.checkpoints import State, load_checkpoint, save_checkpoint

#: Called with what is being done and how far it is.
Progress = Callable[[str, int], None]


@dataclass(frozen=True)
class Fit:
    """How a model is trained.

    Attributes:
        epochs: How often the data is gone through, at most.
        batch: How many pairs are learned from together.
        learning_rate: The highest rate, reached after the warm-up.
        warmup: The share of all steps during which the rate rises; it falls to 0 after that.
        weight_decay: How strongly AdamW pulls weights towards 0.
        patience: How many epochs without a lower validation loss end the training.
        max_tokens: How much of a text, or of a pair, is read.
        seed: Where randomness starts.
        checkpoint_every: After how many batches a checkpoint is written, besides after each epoch.
        device: ``cpu``, ``cuda`` …; empty for the best there is.

    >>> Fit(epochs=0)
    Traceback (most recent call last):
    mathsetu.errors.InputError: epochs is 0; it must be more than 0
    """

    epochs: int = 10
    batch: int = 16
    learning_rate: float = 2e-5
    warmup: float = 0.1
    weight_decay: float = 0.01
    patience: int = 2
    max_tokens: int = 512
    seed: int = 1
    checkpoint_every: int = 500
    device: str = ""

    def __post_init__(self) -> None:
        positive = ("epochs", "batch", "learning_rate", "patience", "max_tokens")
        for name in (*positive, "checkpoint_every"):
            if not getattr(self, name) > 0:
                raise InputError(f"{name} is {getattr(self, name)}; it must be more than 0")
        if not 0 <= self.warmup < 1:
            raise InputError(f"warmup is {self.warmup:g}; it must be a share from 0 to below 1")

    def rate(self, step: int, steps: int) -> float:
        """The learning rate at a step of so many.

        >>> [round(Fit(learning_rate=1.0, warmup=0.5).rate(step, 4), 2) for step in range(4)]
        [0.5, 1.0, 1.0, 0.5]
        """
        rising = self.warmup * steps
        if step + 1 <= rising:
            return self.learning_rate * (step + 1) / rising
        return self.learning_rate * (steps - step) / max(1.0, steps - rising)


@dataclass(frozen=True)
class Task:
    """What is fitted to what.

    Attributes:
        model: A torch module, changed in place.
        batches: Gives the batches of an epoch, the same ones for the same number.
        loss: The loss of a batch, as a tensor.
        validation: Batches kept aside; without any, all epochs are gone through.
        save: Writes the model as users load it into a folder.
        identity: Tells this training from others, so that only this one is gone on with.
    """

    model: Any
    batches: Callable[[int], Sequence[Sequence[Any]]]
    loss: Callable[[Sequence[Any]], Any]
    validation: Sequence[Sequence[Any]]
    save: Callable[[Path], None]
    identity: str


def fit(task: Task, settings: Fit, folder: Path, progress: Progress | None = None) -> State:
    """Train until the validation loss stops falling; the best model ends up in ``folder/model``.

    Run again with the same task and folder, it goes on where it was stopped.
    """
    torch = require("torch", "training", "neural")
    optimizer = torch.optim.AdamW(
        task.model.parameters(), lr=settings.learning_rate, weight_decay=settings.weight_decay
    )
    state = load_checkpoint(folder, task.identity, task.model, optimizer)
    while not state.finished:
        _one_epoch(task, settings, folder, state, optimizer, progress)
    return state


def _one_epoch(
    task: Task,
    settings: Fit,
    folder: Path,
    state: State,
    optimizer: Any,
    progress: Progress | None,
) -> None:
    torch = require("torch", "training", "neural")
    batches = task.batches(state.epoch)
    if not batches:
        raise InputError("there is nothing to learn from: no pairs, or fewer than a batch")
    steps = settings.epochs * len(batches)
    task.model.train()
    for batch in batches[state.done :]:
        torch.manual_seed(settings.seed * 1_000_003 + state.step)
        for group in optimizer.param_groups:
            group["lr"] = settings.rate(min(state.step, steps - 1), steps)
        loss = task.loss(batch)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(task.model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        state.loss_sum += float(loss.detach())
        state.step += 1
        state.done += 1
        if progress:
            progress(f"epoch {state.epoch + 1}, batches of {len(batches):,}", state.done)
        if state.step % settings.checkpoint_every == 0 and state.done < len(batches):
            save_checkpoint(folder, state, task.model, optimizer)
    _end_epoch(task, settings, folder, state, len(batches))
    save_checkpoint(folder, state, task.model, optimizer)


def _end_epoch(task: Task, settings: Fit, folder: Path, state: State, count: int) -> None:
    """Note the epoch's losses, keep its model if it is the best, and see whether to stop."""
    row = {"training_loss": state.loss_sum / count}
    if task.validation:
        row["validation_loss"] = _validation_loss(task)
    state.history.append(row)
    measure = [past.get("validation_loss", 0.0) for past in state.history]
    # Without validation the last epoch's model is the one to keep.
    if not task.validation or row["validation_loss"] < min(measure[:-1], default=float("inf")):
        state.best = state.epoch
        _swap_in(task.save, folder / "model")
    stale = task.validation and state.epoch - state.best >= settings.patience
    state.epoch, state.done, state.loss_sum = state.epoch + 1, 0, 0.0
    state.finished = bool(stale) or state.epoch == settings.epochs


def _validation_loss(task: Task) -> float:
    torch = require("torch", "training", "neural")
    task.model.eval()
    with torch.no_grad():
        losses = [float(task.loss(batch)) * len(batch) for batch in task.validation]
    return sum(losses) / sum(len(batch) for batch in task.validation)


def _swap_in(save: Callable[[Path], None], target: Path) -> None:
    """Write a folder beside the old one and put it in its place."""
    new = target.with_name(f"{target.name}.new")
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    with without_bars("training"):
        save(new)
    shutil.rmtree(target, ignore_errors=True)
    new.replace(target)
