"""Cross-encoders as ONNX files, which run without torch.

A folder holds ``model.onnx`` (or ``onnx/model.onnx``) and ``tokenizer.json``. The model takes
token ids and gives one logit for each pair.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mathsetu.errors import InputError
from mathsetu.models import folder_of, max_tokens_of, onnx_runtime

_NAMES = ("model.onnx", "onnx/model.onnx")


class OnnxCrossEncoder:
    """Reads pairs with an ONNX cross-encoder, which is loaded on construction.

    >>> OnnxCrossEncoder("./no-such-folder")
    Traceback (most recent call last):
    mathsetu.errors.InputError: no-such-folder: no such folder; put the model's files there or \
name another folder
    """

    def __init__(self, model: str, max_tokens: int = 512, batch: int = 32) -> None:
        folder = folder_of(model)
        # Imported here, because most searches do not rerank.
        from tokenizers import Tokenizer

        onnxruntime = onnx_runtime()
        try:
            self._session = onnxruntime.InferenceSession(
                str(_model_file(folder)), providers=onnxruntime.get_available_providers()
            )
            self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        # Both packages raise their own exception classes, with no narrower base class.
        except Exception as problem:
            reason = str(problem).strip().partition("\n")[0]
            raise InputError(
                f"{model}: is not an ONNX cross-encoder that can be loaded; it needs model.onnx "
                f"and tokenizer.json ({reason})"
            ) from None
        self._name = model
        self._batch = batch
        self._inputs = [put.name for put in self._session.get_inputs()]
        self._tokenizer.enable_truncation(min(max_tokens, max_tokens_of(folder) or max_tokens))
        # The tokenizer's file may set a fixed length; batches are padded to their longest text.
        padding = self._tokenizer.padding or {}
        self._tokenizer.enable_padding(
            pad_id=padding.get("pad_id", 0), pad_token=padding.get("pad_token", "[PAD]")
        )

    @staticmethod
    def check(model: str, setting: str = "") -> None:
        """Raise an error if the model's folder or a file in it is missing, without loading it."""
        folder = folder_of(model, setting)
        for name, found in (("model.onnx", _file_in(folder)), ("tokenizer.json", None)):
            if found is None and not (folder / name).is_file():
                raise InputError(f"{model}: is not an ONNX cross-encoder; there is no {name}")

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        """One score for each text, a logit; higher is better."""
        # Batch texts of similar length, to save padding.
        by_length = sorted(range(len(texts)), key=lambda place: len(texts[place]))
        found = np.zeros(len(texts))
        for start in range(0, len(texts), self._batch):
            places = by_length[start : start + self._batch]
            found[places] = self._logits([(question, texts[place]) for place in places])
        return [float(logit) for logit in found]

    def _logits(self, pairs: list[tuple[str, str]]) -> Any:
        encoded = self._tokenizer.encode_batch(pairs)
        fields = {
            "input_ids": [one.ids for one in encoded],
            "attention_mask": [one.attention_mask for one in encoded],
            "token_type_ids": [one.type_ids for one in encoded],
        }
        try:
            fed = {name: np.array(fields[name], dtype=np.int64) for name in self._inputs}
        except KeyError as unknown:
            raise InputError(
                f"{self._name}: needs the input {unknown}, which a pair of texts does not have"
            ) from None
        logits = self._session.run(None, fed)[0]
        if logits.shape not in ((len(pairs),), (len(pairs), 1)):
            raise InputError(
                f"{self._name}: gives {logits.shape} numbers for {len(pairs)} pairs; a reranker "
                "needs one per pair"
            )
        return logits.reshape(len(pairs))


def _model_file(folder: Path) -> Path:
    found = _file_in(folder)
    if found is None:
        raise FileNotFoundError(f"there is no {_NAMES[0]}")
    return found


def _file_in(folder: Path) -> Path | None:
    return next((folder / name for name in _NAMES if (folder / name).is_file()), None)
