"""The reranker of a recipe: its model, its depth, its slices and its time limit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from math import isfinite
from typing import Protocol

from mathsetu.errors import InputError
from mathsetu.models import folder_of, is_path
from mathsetu.own_models import is_object, registered
from mathsetu.ranking.rerank.cross_encoder import SentenceCrossEncoder
from mathsetu.ranking.rerank.model_input import FIELDS, TEXTS
from mathsetu.ranking.rerank.onnx import OnnxCrossEncoder
from mathsetu.ranking.rerank.tiers import TIERS, Reranked, in_tiers, score_in_time


class CrossEncoder(Protocol):
    """A model that reads a question and a text together and scores how well they match."""

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        """One score for each text; higher is better."""
        ...


#: The class that loads the models of each kind.
CROSS_ENCODERS: dict[str, type[SentenceCrossEncoder] | type[OnnxCrossEncoder]] = {
    "cross-encoder": SentenceCrossEncoder,
    "onnx": OnnxCrossEncoder,
}


@dataclass(frozen=True)
class Rerank:
    """How candidates are reranked.

    Attributes:
        model: A folder, a name on the hub (``cross-encoder`` only), or ``object:NAME`` for one that
            was registered (`mathsetu.register`).
        kind: ``cross-encoder`` (sentence-transformers) or ``onnx`` (onnxruntime, without torch).
        depth: How many candidates, from the top, are read.
        tiers: Where slices end, each of which is reranked separately; empty for one slice.
        batch: How many candidates go through the model together.
        max_tokens: The most tokens of question and text together, up to the model's limit.
        seconds: The time limit of one question; candidates not reached in time keep their order.
            0 for no limit.
        weight: The model's share in the new score; the rest is the old score's.
        fields: The fields of a post, in the order in which the model reads them.
        text: ``marked`` (the text as written, formulas in LaTeX) or ``words`` (without formulas).

    >>> Rerank("./model", tiers=(7, 3))
    Traceback (most recent call last):
    mathsetu.errors.InputError: tiers are 7, 3; they must increase, from 1 or more
    """

    model: str
    kind: str = "cross-encoder"
    depth: int = 100
    tiers: tuple[int, ...] = TIERS
    batch: int = 32
    max_tokens: int = 512
    seconds: float = 0.0
    weight: float = 1.0
    fields: tuple[str, ...] = FIELDS
    text: str = "marked"

    def __post_init__(self) -> None:
        if self.kind not in CROSS_ENCODERS:
            raise InputError(f"unknown kind {self.kind!r} (known: {', '.join(CROSS_ENCODERS)})")
        for name in ("depth", "batch"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} is {getattr(self, name)}; it must be at least 1")
        if self.max_tokens < 8:
            raise InputError(f"max_tokens is {self.max_tokens}; a pair needs at least 8")
        if not 0 <= self.seconds < float("inf"):
            raise InputError(f"seconds is {self.seconds:g}; it must be 0 (no limit) or more")
        if not 0 < self.weight <= 1:
            raise InputError(f"weight is {self.weight:g}; it must be more than 0 and at most 1")
        if self.text not in TEXTS:
            raise InputError(f"text is {self.text!r} (known: {', '.join(TEXTS)})")
        for field in self.fields:
            if field not in FIELDS:
                raise InputError(f"fields has {field!r} (known: {', '.join(FIELDS)})")
        if any(start >= end for start, end in pairwise((0, *self.tiers))):
            shown = ", ".join(map(str, self.tiers))
            raise InputError(f"tiers are {shown}; they must increase, from 1 or more")


def check_reranker(settings: Rerank, setting: str = "") -> None:
    """Raise an error if a reranker's model or package is missing; fetch a model of the hub.

    Args:
        settings: The settings of the reranker.
        setting: The setting of a recipe that names the model, for the error.

    >>> check_reranker(Rerank("./nowhere"), "rerank.model")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    mathsetu.errors.InputError: nowhere: no such folder; ... (--set rerank.model=FOLDER)
    """
    if is_object(settings.model):
        registered("reranker", settings.model)
        return
    if is_path(settings.model):
        folder_of(settings.model, setting)
    CROSS_ENCODERS[settings.kind].check(settings.model, setting)


class Reranker:
    """Reranks candidates; the model is loaded with the first question.

    Args:
        settings: Which model, and how it is used.
        model: A model already loaded, instead of the one that the settings name.

    >>> class Shortest:
    ...     def score(self, question, texts):
    ...         return [-float(len(text)) for text in texts]
    >>> reranker = Reranker(Rerank("shortest", tiers=()), Shortest())
    >>> reranker.rerank("a question", ["a long answer", "an answer"], [2.0, 1.0]).order
    (1, 0)
    """

    def __init__(self, settings: Rerank, model: CrossEncoder | None = None) -> None:
        self.settings = settings
        self._model = model

    def rerank(self, question_text: str, texts: Sequence[str], scores: Sequence[float]) -> Reranked:
        """Rerank candidates, whose texts and scores come best first.

        Texts are needed only down to the depth that is read.
        """
        settings = self.settings
        if not min(settings.depth, len(scores)) <= len(texts) <= len(scores):
            raise ValueError(f"{len(texts)} texts and {len(scores)} scores; each text needs one")
        if not texts:
            return Reranked((), (), 0)
        # Loading takes longer than a question, and does not count towards its time limit.
        model = self._loaded()
        read = score_in_time(
            lambda some: model.score(question_text, some),
            texts[: settings.depth],
            settings.batch,
            settings.seconds,
        )
        if not all(map(isfinite, read)):
            raise InputError(
                f"{settings.model}: gives scores that are not numbers; the model is damaged"
            )
        return in_tiers(read, scores, settings.tiers, settings.weight)

    def _loaded(self) -> CrossEncoder:
        settings = self.settings
        if self._model is None and is_object(settings.model):
            self._model = registered("reranker", settings.model)
        if self._model is None:
            self._model = _load(settings.kind, settings.model, settings.max_tokens, settings.batch)
        return self._model


@cache
def _load(kind: str, model: str, max_tokens: int, batch: int) -> CrossEncoder:
    """Load a model; rerankers with the same settings share it."""
    return CROSS_ENCODERS[kind](model, max_tokens, batch)
