"""The training loop of all models: warm-up and decay, early stopping, checkpoints.

The randomness of each step (dropout) depends only on the seed and the step's number, so a resumed
training gives the same model as an uninterrupted one.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

from mathsetu.errors import InputError
from mathsetu.models import require, without_progress_bars
from mathsetu.training.checkpoints import State, load_checkpoint, save_checkpoint

#: Called with the current phase and the number of items done.
Progress = Callable[[str, int], None]


@dataclass(frozen=True, kw_only=True)
class Pace:
    """The settings of the training loop.

    Attributes:
        epochs: The most epochs.
        patience: Training stops after this many epochs without a lower validation loss.
        seed: The random seed.
        checkpoint_every: Batches between checkpoints; one is also written after each epoch.
    """

    epochs: int = 10
    patience: int = 2
    seed: int = 1
    checkpoint_every: int = 500

    def share(self, step: int, steps: int) -> float:
        """Return the share of the full learning rate at a step."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class Fit(Pace):
    """The settings of training on pairs, in addition to those of `Pace`.

    Attributes:
        batch: Pairs per batch.
        learning_rate: The highest rate, reached after the warm-up.
        warmup: The share of all steps in which the rate rises; afterwards it falls to 0.
        weight_decay: The weight decay of AdamW.
        max_tokens: Tokens after which a text, or a pair, is truncated.
        device: ``cpu``, ``cuda`` …; empty for the best available.

    >>> Fit(epochs=0)
    Traceback (most recent call last):
    mathsetu.errors.InputError: epochs is 0; it must be more than 0
    """

    batch: int = 16
    learning_rate: float = 2e-5
    warmup: float = 0.1
    weight_decay: float = 0.01
    max_tokens: int = 512
    device: str = ""

    def __post_init__(self) -> None:
        positive = ("epochs", "batch", "learning_rate", "patience", "max_tokens")
        for name in (*positive, "checkpoint_every"):
            if not getattr(self, name) > 0:
                raise InputError(f"{name} is {getattr(self, name)}; it must be more than 0")
        if not 0 <= self.warmup < 1:
            raise InputError(f"warmup is {self.warmup:g}; it must be a share from 0 to below 1")

    def share(self, step: int, steps: int) -> float:
        """Return the share of the full learning rate at a step.

        >>> [round(Fit(warmup=0.5).share(step, 4), 2) for step in range(4)]
        [0.5, 1.0, 1.0, 0.5]
        """
        rising = self.warmup * steps
        if step + 1 <= rising:
            return (step + 1) / rising
        return (steps - step) / max(1.0, steps - rising)

    def optimizer(self, model: Any) -> Any:
        """Return an AdamW optimizer for all weights of a model."""
        torch = require("torch", "training", "neural")
        return torch.optim.AdamW(
            model.parameters(), lr=self.learning_rate, weight_decay=self.weight_decay
        )


class Batches(Protocol):
    """The batches of an epoch, which need not all be in memory at once."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[Any]: ...


@dataclass(frozen=True)
class Task:
    """A model with its optimizer, its data and its loss.

    Attributes:
        model: A torch module, changed in place.
        optimizer: An AdamW for it, at the full learning rate.
        batches: Returns the batches of an epoch; the same number must give the same batches.
        loss: The loss of a batch, as a tensor.
        identity: A digest of the training, so that only the same training is resumed.
        validation: Held-out batches for early stopping; if empty, all epochs are run.
        save: Writes the model into a folder in the form that users load; if None, only
            checkpoints are written.
    """

    model: Any
    optimizer: Any
    batches: Callable[[int], Batches]
    loss: Callable[[Any], Any]
    identity: str
    validation: Sequence[Sequence[Any]] = ()
    save: Callable[[Path], None] | None = None


def fit(task: Task, pace: Pace, folder: Path, progress: Progress | None = None) -> State:
    """Train until the validation loss stops falling; save the best model in ``folder/model``.

    A second call with the same task and folder resumes an interrupted training.
    """
    state = load_checkpoint(folder, task.identity, task.model, task.optimizer)
    rates = [group["lr"] for group in task.optimizer.param_groups]
    while not state.finished:
        _one_epoch(task, pace, rates, folder, state, progress)
    return state


def _one_epoch(
    task: Task,
    pace: Pace,
    rates: Sequence[float],
    folder: Path,
    state: State,
    progress: Progress | None,
) -> None:
    torch = require("torch", "training", "neural")
    optimizer = task.optimizer
    batches = task.batches(state.epoch)
    if not len(batches):
        raise InputError("there is nothing to learn from: no pairs, or fewer than a batch")
    steps = pace.epochs * len(batches)
    task.model.train()
    for batch in islice(batches, state.done, None):
        torch.manual_seed(pace.seed * 1_000_003 + state.step)
        share = pace.share(min(state.step, steps - 1), steps)
        for group, rate in zip(optimizer.param_groups, rates, strict=True):
            group["lr"] = rate * share
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
        if state.step % pace.checkpoint_every == 0 and state.done < len(batches):
            save_checkpoint(folder, state, task.model, optimizer)
    _end_epoch(task, pace, folder, state, len(batches))
    save_checkpoint(folder, state, task.model, optimizer)


def _end_epoch(task: Task, pace: Pace, folder: Path, state: State, count: int) -> None:
    """Record the epoch's losses, save its model if it is the best, and decide whether to stop."""
    row = {"training_loss": state.loss_sum / count}
    if task.validation:
        row["validation_loss"] = _validation_loss(task)
    state.history.append(row)
    measure = [past.get("validation_loss", 0.0) for past in state.history]
    # Without validation, the model of the last epoch is kept.
    if not task.validation or row["validation_loss"] < min(measure[:-1], default=float("inf")):
        state.best = state.epoch
        if task.save:
            _swap_in(task.save, folder / "model")
    stale = task.validation and state.epoch - state.best >= pace.patience
    state.epoch, state.done, state.loss_sum = state.epoch + 1, 0, 0.0
    state.finished = bool(stale) or state.epoch == pace.epochs


def _validation_loss(task: Task) -> float:
    torch = require("torch", "training", "neural")
    task.model.eval()
    with torch.no_grad():
        losses = [float(task.loss(batch)) * len(batch) for batch in task.validation]
    return sum(losses) / sum(len(batch) for batch in task.validation)


def _swap_in(save: Callable[[Path], None], target: Path) -> None:
    """Write a new folder and replace the old one with it."""
    new = target.with_name(f"{target.name}.new")
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    with without_progress_bars("training"):
        save(new)
    shutil.rmtree(target, ignore_errors=True)
    new.replace(target)
