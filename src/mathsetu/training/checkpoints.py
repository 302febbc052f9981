"""Checkpoints: all state needed to resume a training, in files that cannot run code.

Each checkpoint has its own folder. ``state.json`` names it and is replaced last, so after a crash
at any moment the previous checkpoint is still valid.
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
    """The progress of a training.

    Attributes:
        identity: A digest of the training; only the same training can resume from this state.
        epoch: The current epoch.
        done: Batches done in this epoch.
        step: Batches done in all epochs.
        loss_sum: The sum of the losses of this epoch's batches.
        history: Training and validation loss of each finished epoch.
        best: The epoch with the best model.
        finished: Whether the training is complete.
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
    """Restore model and optimizer from a checkpoint; return a new state if there is none."""
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
            # A fused optimizer counts steps on the parameter's device, any other on the CPU.
            counting = parameter.device if optimizer.defaults.get("fused") else "cpu"
            optimizer.state[parameter] = {
                "step": moments[f"step.{name}"].to(counting),
                "exp_avg": moments[f"exp_avg.{name}"].to(parameter.device),
                "exp_avg_sq": moments[f"exp_avg_sq.{name}"].to(parameter.device),
            }
    return state


def load_weights(folder: Path, model: Any) -> None:
    """Load only the weights of a folder's checkpoint, for another training."""
    _, place = _read_state(folder)
    with _reading(place) as safetensors:
        model.load_state_dict(safetensors.load_file(place / "model.safetensors"))


def _read_state(folder: Path) -> tuple[State, Path]:
    """Return the saved state of a training and the folder of its checkpoint."""
    path = folder / "state.json"
    try:
        saved = json.loads(path.read_text(encoding="utf-8"))
        place = folder / Path(saved.pop("checkpoint")).name
        return State(**saved), place
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as problem:
        raise InputError(f"{path}: is damaged ({problem}); remove {folder} to start anew") from None


@contextmanager
def _reading(place: Path) -> Iterator[Any]:
    """Yield safetensors for reading a checkpoint; turn any failure into a one-line error."""
    safetensors = require("safetensors.torch", _PURPOSE, "neural")
    try:
        yield safetensors
    # The error class of safetensors derives directly from Exception.
    except Exception as problem:
        reason = " ".join(str(problem).split())
        raise InputError(
            f"{place}: is damaged ({reason}); remove {place.parent} to start anew"
        ) from None


def _moments(model: Any, optimizer: Any) -> dict[str, Any]:
    """Return the state of AdamW for each parameter, by the parameter's name."""
    return {
        f"{key}.{name}": value.contiguous().clone()
        for name, parameter in model.named_parameters()
        for key, value in optimizer.state.get(parameter, {}).items()
    }
