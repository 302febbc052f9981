"""Encoders: text to vectors. Large libraries are imported when a model is loaded."""

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
    """Turns texts into vectors of length one, so that an inner product is a cosine."""

    @property
    def dimensions(self) -> int:
        """How long the vectors are."""
        ...

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row for each text; a blank text gets zeros, which are like nothing."""
        ...


def load_encoder(model: str, max_tokens: int = 0, device: str = "cpu") -> Encoder:
    """The encoder of a model; parts and segments that name the same one share it.

    Args:
        model: ``mathsetu`` for the one that comes with the package, a folder, a name on the hub,
            or ``object:NAME`` for one that was registered (`mathsetu.register`).
        max_tokens: How much of a text is read; 0 for as much as the model was made for.
        device: Where a model of our own kind runs (see `BuiltinEncoder`); sentence-transformers
            takes the best device there is.
    """
    if is_object(model):
        own: Encoder = registered("encoder", model)
        return own
    return _loaded(model, max_tokens, device)


def check_encoder(model: str, setting: str = "") -> None:
    """Miss the model of an encoder, or what it needs, before it is loaded; a name is fetched.

    Args:
        model: As for `load_encoder`.
        setting: The setting of a recipe that names it, for the error.
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
