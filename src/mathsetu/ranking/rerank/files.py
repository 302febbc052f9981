"""Where a model's files are: a folder, or the hub's cache. Only safe ones are read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mathsetu.errors import InputError
from mathsetu.languages.translate.models import folder_of, is_path, require

# What a model consists of; pickled weights and other runtimes' files stay on the hub.
_FILES = ["*.json", "*.txt", "*.model", "*.safetensors"]
# These count positions from two.
_LATE_STARTERS = ("mpnet", "roberta", "xlm-roberta", "camembert")


def model_folder(model: str, organisation: str, purpose: str) -> Path:
    """The folder of a model, fetched from the hub where it is a name.

    Args:
        model: A folder, or a name on the hub.
        organisation: Whose model it is on the hub when the name does not say.
        purpose: What it is for, in the error when a package is missing.
    """
    folder = folder_of(model) if is_path(model) else _fetched(model, organisation, purpose)
    for pickled in sorted(folder.rglob("pytorch_model*.bin")):
        if not any(pickled.parent.glob("*.safetensors")):
            raise InputError(
                f"{pickled}: pickled weights are not read; convert the model to safetensors"
            )
    return folder


def room(folder: Path) -> int:
    """How many tokens a model can read at all; 0 when its configuration does not say."""
    try:
        config: Any = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        positions = int(config.get("max_position_embeddings", 0))
        late = config.get("model_type") in _LATE_STARTERS
    except (OSError, ValueError, AttributeError, TypeError):
        return 0
    return positions - 2 if late and positions else positions


@contextmanager
def without_bars(purpose: str) -> Iterator[None]:
    """Transformers draws bars while it reads and writes, in the midst of the caller's output."""
    logging = require("transformers.utils.logging", purpose, "neural")
    shown = logging.is_progress_bar_enabled()
    verbosity = logging.get_verbosity()
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if shown:
            logging.enable_progress_bar()


def _fetched(name: str, organisation: str, purpose: str) -> Path:
    hub = require("huggingface_hub", purpose, "neural")
    full = name if "/" in name else f"{organisation}/{name}"
    try:
        return Path(hub.snapshot_download(full, allow_patterns=_FILES))
    except (OSError, ValueError):
        raise InputError(
            f"{full}: the model is not on this machine and cannot be fetched; with a network, "
            f"'hf download {full}' gets it, or name a folder that holds it"
        ) from None
