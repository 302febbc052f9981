"""Any sentence-transformers model, from a folder or by its name on the hub.

A name is fetched into the hub's cache once and then read from there; ``HF_HUB_OFFLINE=1`` forbids
fetching. Only safetensors weights are read, and no code from a model's folder is run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mathsetu.errors import InputError
from mathsetu.languages.translate.models import folder_of, is_path, require

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Texts that go through the model together.
_BATCH = 32
# What a model consists of; pickled weights and other runtimes' files stay on the hub.
_FILES = ["*.json", "*.txt", "*.model", "*.safetensors"]
_PURPOSE = "dense search"


class SentenceEncoder:
    """Encodes texts with a sentence-transformers model, which is loaded at once.

    >>> SentenceEncoder("./no-such-folder")
    Traceback (most recent call last):
    mathsetu.errors.InputError: no-such-folder: no such folder; put the model's files there or \
name another folder
    """

    def __init__(self, model: str, max_tokens: int = 0) -> None:
        folder = folder_of(model) if is_path(model) else _fetched(model)
        _refuse_pickles(folder)
        package = require("sentence_transformers", _PURPOSE, "neural")
        try:
            with _without_bars():
                self._model = package.SentenceTransformer(
                    str(folder),
                    local_files_only=True,
                    trust_remote_code=False,
                    model_kwargs={"use_safetensors": True},
                )
        except (OSError, ValueError, KeyError) as problem:
            reason = str(problem).strip().partition("\n")[0]
            raise InputError(
                f"{model}: is not a sentence-transformers model that can be loaded; it needs "
                f"modules.json, a tokenizer and model.safetensors ({reason})"
            ) from None
        if max_tokens:
            self._model.max_seq_length = min(max_tokens, _room(self._model))

    @property
    def dimensions(self) -> int:
        """How long the vectors are."""
        return int(self._model.get_embedding_dimension())

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row of length one for each text, zeros for a blank one."""
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        spoken = [number for number, text in enumerate(texts) if text.strip()]
        if spoken:
            vectors[spoken] = self._model.encode(
                [texts[number] for number in spoken],
                batch_size=_BATCH,
                normalize_embeddings=True,
                convert_to_numpy=True,
                show_progress_bar=False,
            )
        return vectors


def _fetched(name: str) -> Path:
    """The folder of the hub's cache that holds a model, after fetching what is missing."""
    hub = require("huggingface_hub", _PURPOSE, "neural")
    full = name if "/" in name else f"sentence-transformers/{name}"
    try:
        return Path(hub.snapshot_download(full, allow_patterns=_FILES))
    except (OSError, ValueError):
        raise InputError(
            f"{full}: the model is not on this machine and cannot be fetched; with a network, "
            f"'hf download {full}' gets it, or name a folder that holds it"
        ) from None


def _refuse_pickles(folder: Path) -> None:
    """Weights in a pickle could run code; a safetensors file must lie beside them."""
    for pickled in sorted(folder.rglob("pytorch_model*.bin")):
        if not any(pickled.parent.glob("*.safetensors")):
            raise InputError(
                f"{pickled}: pickled weights are not read; convert the model to safetensors"
            )


@contextmanager
def _without_bars() -> Iterator[None]:
    """Transformers draws a bar while it loads, in the middle of the caller's own output."""
    logging = require("transformers.utils.logging", _PURPOSE, "neural")
    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()


def _room(model: Any) -> int:
    """How many tokens a model can read at all, which may be more than it was trained on."""
    config = model[0].auto_model.config
    positions = getattr(config, "max_position_embeddings", 0) or model.max_seq_length
    # RoBERTa and MPNet count positions from two.
    first = 2 if config.model_type in ("mpnet", "roberta", "xlm-roberta", "camembert") else 0
    return int(positions) - first
