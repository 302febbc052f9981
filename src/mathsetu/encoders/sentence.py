"""Encodes texts with any sentence-transformers model, from a folder or from the hub.

A model of the hub is downloaded once and then read from the hub's cache; ``HF_HUB_OFFLINE=1``
forbids downloads. Only safetensors weights are read, and no code from a model's folder is run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mathsetu.models import (
    SAFE_LOADING,
    check_described,
    check_installed,
    loading,
    max_tokens_in,
    model_folder,
    require,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Texts per batch.
_BATCH = 32
_PURPOSE = "dense search"
_ORGANISATION = "sentence-transformers"
_EXPECTED = (
    "a sentence-transformers model that can be loaded; it needs modules.json, a tokenizer and "
    "model.safetensors"
)


class SentenceEncoder:
    """Encodes texts with a sentence-transformers model, which is loaded on creation.

    >>> SentenceEncoder("./no-such-folder")
    Traceback (most recent call last):
    mathsetu.errors.InputError: no-such-folder: no such folder; put the model's files there or \
name another folder
    """

    def __init__(self, model: str, max_tokens: int = 0) -> None:
        self._model = open_sentence_encoder(model, max_tokens, _PURPOSE)

    @property
    def dimensions(self) -> int:
        """The length of the vectors."""
        return int(self._model.get_embedding_dimension())

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one row of length one per text; zeros for a blank text."""
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
    """Raise an error if a model or its package is missing; download the model, but load nothing."""
    check_installed("sentence_transformers", _PURPOSE, "neural")
    check_described(model_folder(model, _ORGANISATION, _PURPOSE, setting))


def open_sentence_encoder(
    model: str, max_tokens: int, purpose: str, *, device: str | None = None
) -> Any:
    """Load a sentence-transformers model, for encoding or training.

    Args:
        model: A folder, or a name on the hub.
        max_tokens: Tokens after which a text is truncated, at most the model's limit; 0 for the
            default of the model.
        purpose: The purpose to name in the error if a package is missing.
        device: The device of torch (default: the best available).
    """
    folder = model_folder(model, _ORGANISATION, purpose)
    package = require("sentence_transformers", purpose, "neural")
    with loading(model, _EXPECTED, purpose):
        opened = package.SentenceTransformer(str(folder), device=device, **SAFE_LOADING)
    if max_tokens:
        # The limit of a model is often higher than its default.
        most = max_tokens_in(opened[0].auto_model.config.to_dict()) or opened.max_seq_length
        opened.max_seq_length = min(max_tokens, most)
    return opened
