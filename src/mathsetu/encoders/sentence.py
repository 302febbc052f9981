"""Any sentence-transformers model, from a folder or by its name on the hub.

A name is fetched into the hub's cache once and then read from there; ``HF_HUB_OFFLINE=1`` forbids
fetching. Only safetensors weights are read, and no code from a model's folder is run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mathsetu.models import (
    SAFE_LOADING,
    check_installed,
    loading,
    model_folder,
    require,
    room_by,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Texts that go through the model together.
_BATCH = 32
_PURPOSE = "dense search"
_ORGANISATION = "sentence-transformers"
_WHAT = (
    "a sentence-transformers model that can be loaded; it needs modules.json, a tokenizer and "
    "model.safetensors"
)


class SentenceEncoder:
    """Encodes texts with a sentence-transformers model, which is loaded at once.

    >>> SentenceEncoder("./no-such-folder")
    Traceback (most recent call last):
    mathsetu.errors.InputError: no-such-folder: no such folder; put the model's files there or \
name another folder
    """

    def __init__(self, model: str, max_tokens: int = 0) -> None:
        self._model = open_sentence_encoder(model, max_tokens, _PURPOSE)

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


def check_sentence_encoder(model: str, setting: str = "") -> None:
    """Miss a model, or the package that reads it, without loading either; a name is fetched."""
    check_installed("sentence_transformers", _PURPOSE, "neural")
    model_folder(model, _ORGANISATION, _PURPOSE, setting)


def open_sentence_encoder(
    model: str, max_tokens: int, purpose: str, *, device: str | None = None
) -> Any:
    """The model of sentence-transformers, ready to encode texts or to be trained.

    Args:
        model: A folder, or a name on the hub.
        max_tokens: How much of a text is read, up to what the model can; 0 for as much as it was
            made for.
        purpose: What it is for, in the error when a package is missing.
        device: Where it runs; the best there is unless given.
    """
    folder = model_folder(model, _ORGANISATION, purpose)
    package = require("sentence_transformers", purpose, "neural")
    with loading(model, _WHAT, purpose):
        opened = package.SentenceTransformer(str(folder), device=device, **SAFE_LOADING)
    if max_tokens:
        # A model can often read more than it was made for.
        most = room_by(opened[0].auto_model.config.to_dict()) or opened.max_seq_length
        opened.max_seq_length = min(max_tokens, most)
    return opened
