"""Encoders of texts as vectors; large libraries are imported when a model is loaded."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from mathsetu.own_models import is_object, registered

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Encoder", "check_encoder", "load_encoder"]


class Encoder(Protocol):
    """Encodes texts as vectors of length one, so that an inner product is a cosine."""

    @property
    def dimensions(self) -> int:
        """The length of the vectors."""
        ...

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one row per text; a blank text gets zeros, so its similarity to any text is 0."""
        ...


def load_encoder(model: str, max_tokens: int = 0, device: str = "cpu") -> Encoder:
    """Load the encoder of a model; parts and segments with the same model share it.

    Args:
        model: ``mathsetu`` for the model of the package, a folder, a name on the hub, or
            ``object:NAME`` for a registered encoder (`mathsetu.register`).
        max_tokens: Tokens after which a text is truncated; 0 for the default of the model.
        device: The device of a `BuiltinEncoder`; sentence-transformers chooses the best device
            available.
    """
    if is_object(model):
        own: Encoder = registered("encoder", model)
        return own
    return _loaded(model, max_tokens, device)


def check_encoder(model: str, setting: str = "") -> None:
    """Raise an error early if a model or its package is missing; download a model of the hub.

    Args:
        model: As for `load_encoder`.
        setting: The recipe's setting with this model, for the error.
    """
    from mathsetu.encoders.builtin import NAME

    if is_object(model):
        registered("encoder", model)
    elif model != NAME and not (Path(model) / "model.json").exists():
        from mathsetu.encoders.sentence import check_sentence_encoder

        check_sentence_encoder(model, setting)


@cache
def _loaded(model: str, max_tokens: int, device: str) -> Encoder:
    from mathsetu.encoders.builtin import LENGTH, NAME, BuiltinEncoder

    if model == NAME:
        return BuiltinEncoder(max_tokens=max_tokens or LENGTH, device=device)
    if (Path(model) / "model.json").exists():
        return BuiltinEncoder(Path(model), max_tokens or LENGTH, device=device)
    from mathsetu.encoders.sentence import SentenceEncoder

    return SentenceEncoder(model, max_tokens)
