"""Any cross-encoder of sentence-transformers, from a folder or by its name on the hub.

Only safetensors weights are read, and no code from a model's folder is run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mathsetu.errors import InputError
from mathsetu.models import (
    SAFE_LOADING,
    check_described,
    check_installed,
    loading,
    max_tokens_of,
    model_folder,
    require,
)

_PURPOSE = "reranking with a cross-encoder"
_ORGANISATION = "cross-encoder"
_EXPECTED = (
    "a cross-encoder that can be loaded; it needs config.json, a tokenizer and model.safetensors"
)


class SentenceCrossEncoder:
    """Reads pairs with a sentence-transformers cross-encoder, which is loaded on construction.

    >>> SentenceCrossEncoder("./no-such-folder")
    Traceback (most recent call last):
    mathsetu.errors.InputError: no-such-folder: no such folder; put the model's files there or \
name another folder
    """

    def __init__(self, model: str, max_tokens: int = 512, batch: int = 32) -> None:
        self._model = open_cross_encoder(model, max_tokens)
        self._batch = batch
        if self._model.num_labels != 1:
            raise InputError(
                f"{model}: gives {self._model.num_labels} scores per pair; a reranker needs a "
                "model with one"
            )

    @staticmethod
    def check(model: str, setting: str = "") -> None:
        """Raise an error if the model or its package is missing, without loading either."""
        check_installed("sentence_transformers", _PURPOSE, "neural")
        check_described(model_folder(model, _ORGANISATION, _PURPOSE, setting))

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        """One score for each text, a logit; higher is better."""
        torch = require("torch", _PURPOSE, "neural")
        pairs = [(question, text) for text in texts]
        found = self._model.predict(
            pairs,
            batch_size=self._batch,
            activation_fn=torch.nn.Identity(),
            show_progress_bar=False,
        )
        return [float(score) for score in found]


def open_cross_encoder(model: str, max_tokens: int, **choices: Any) -> Any:
    """Open a cross-encoder of sentence-transformers, to read pairs or to be trained.

    Args:
        model: A folder, or a name on the hub.
        max_tokens: The most tokens of a pair that are read, up to the model's limit.
        choices: Other arguments of sentence-transformers (``num_labels``, ``device``).
    """
    folder = model_folder(model, _ORGANISATION, _PURPOSE)
    package = require("sentence_transformers", _PURPOSE, "neural")
    length = min(max_tokens, max_tokens_of(folder) or max_tokens)
    with loading(model, _EXPECTED, _PURPOSE):
        return package.CrossEncoder(str(folder), max_length=length, **SAFE_LOADING, **choices)
