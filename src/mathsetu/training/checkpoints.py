"""Checkpoints: everything that training needs to go on, in files that cannot run code.

A checkpoint is a folder of its own; ``state.json`` is replaced last and names it, so a crash at any
moment leaves the one before.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from mathsetu.errors import InputError
from mathsetu.models import require

_PURPOSE = "training"


@dataclass
class State:
    """How far training has come.

    Attributes:
        identity: What the training is of; another one does not go on from here.
        epoch: The epoch that is under way.
        done: How many of its batches are done.
        step: How many batches are done in all.
        loss_sum: The sum of the losses of this epoch's batches.
        history: Training and validation loss of each epoch that is over.
        best: The epoch whose model is kept.
        finished: Whether there is nothing left to do.
    """

    identity: str
    epoch: int = 0
    done: int = 0
    step: int = 0
    loss_sum: float = 0.0
    history: list[dict[str, float]] = field(default_factory=list)
    best: int = -1
    finished: bool = False


def save_checkpoint(folder: Path, state: State, model: Any, optimizer: Any) -> None:
    """Write the model, the optimizer and the state into a folder."""
    safetensors = require("safetensors.torch", _PURPOSE, "neural")
    name = f"checkpoint-{state.step}-{state.epoch}"
    place = folder / name
    place.mkdir(parents=True, exist_ok=True)
    tensors = {key: value.contiguous().clone() for key, value in model.state_dict().items()}
    safetensors.save_file(tensors, place / "model.safetensors")
    safetensors.save_file(_moments(model, optimizer), place / "optimizer.safetensors")
    new = folder / "state.json.new"
    new.write_text(json.dumps({"checkpoint": name, **asdict(state)}, indent=1), encoding="utf-8")
    new.replace(folder / "state.json")
    for old in folder.glob("checkpoint-*"):
        if old != place:
            shutil.rmtree(old)


def load_checkpoint(folder: Path, identity: str, model: Any, optimizer: Any) -> State:
    """Bring model and optimizer to where training stopped; a fresh state where there is none."""
    if not (folder / "state.json").exists():
        return State(identity)
    state, place = _read_state(folder)
    if state.identity != identity:
        raise InputError(
            f"{folder}: contains a training with another model, other data or other settings; "
            "choose another folder, or remove it"
        )
    with _reading(place) as safetensors:
        model.load_state_dict(safetensors.load_file(place / "model.safetensors"))
        moments = safetensors.load_file(place / "optimizer.safetensors")
    for name, parameter in model.named_parameters():
        if f"step.{name}" in moments:
            # A fused optimizer counts its steps where the parameter is, any other on the processor.
            counting = parameter.device if optimizer.defaults.get("fused") else "cpu"
            optimizer.state[parameter] = {
                "step": moments[f"step.{name}"].to(counting),
                "exp_avg": moments[f"exp_avg.{name}"].to(parameter.device),
                "exp_avg_sq": moments[f"exp_avg_sq.{name}"].to(parameter.device),
            }
    return state


def load_weights(folder: Path, model: Any) -> None:
    """Give a model the weights of a folder's checkpoint, without going on with that training."""
    _, place = _read_state(folder)
    with _reading(place) as safetensors:
        model.load_state_dict(safetensors.load_file(place / "model.safetensors"))


def _read_state(folder: Path) -> tuple[State, Path]:
    """How far training has come, and the folder of its checkpoint."""
    path = folder / "state.json"
    try:
        saved = json.loads(path.read_text(encoding="utf-8"))
        place = folder / Path(saved.pop("checkpoint")).name
        return State(**saved), place
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as problem:
        raise InputError(f"{path}: is damaged ({problem}); remove {folder} to start anew") from None


@contextmanager
def _reading(place: Path) -> Iterator[Any]:
    """Read a checkpoint with what is yielded; whatever goes wrong becomes one line."""
    safetensors = require("safetensors.torch", _PURPOSE, "neural")
    try:
        yield safetensors
    # safetensors has an error class of its own that derives from nothing narrower.
    except Exception as problem:
        reason = " ".join(str(problem).split())
        raise InputError(
            f"{place}: is damaged ({reason}); remove {place.parent} to start anew"
        ) from None


def _moments(model: Any, optimizer: Any) -> dict[str, Any]:
    """What AdamW remembers of each parameter, by the parameter's name."""
    return {
        f"{key}.{name}": value.contiguous().clone()
        for name, parameter in model.named_parameters()
        for key, value in optimizer.state.get(parameter, {}).items()
    }
