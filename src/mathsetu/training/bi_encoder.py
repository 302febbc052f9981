"""Trains a bi-encoder: in a batch, each question must find its own text among all of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mathsetu.encoders.sentence import open_sentence_encoder
from mathsetu.models import require
from mathsetu.training.card import Card, identity_of, save_with_card
from mathsetu.training.checkpoints import State
from mathsetu.training.epochs import batches_without_repeats
from mathsetu.training.loop import Fit, Progress, Task, fit
from mathsetu.training.pairs import TrainingPair

_PURPOSE = "training a bi-encoder"
# Cosines lie too close together for a softmax; this is what they are multiplied by.
_SCALE = 20.0


def train_bi_encoder(
    model: str,
    pairs: Sequence[TrainingPair],
    validation: Sequence[TrainingPair],
    folder: Path,
    settings: Fit | None = None,
    data: str = "",
    progress: Progress | None = None,
) -> State:
    """Train a bi-encoder with the multiple-negatives loss; the best model is in ``folder/model``.

    Run again with the same arguments, it goes on where it was stopped.

    Args:
        model: A sentence-transformers model: a folder, or a name on the hub.
        pairs: Questions and texts that belong together; pairs that do not are skipped.
        validation: Pairs held out; their loss says when to stop. Empty: all epochs are done.
        folder: Where checkpoints and the model go.
        settings: How it is trained.
        data: What the pairs are, in a sentence for the model's card.
        progress: Called with what is being done and how far it is.
    """
    torch = require("torch", _PURPOSE, "neural")
    settings = settings or Fit()
    learn = [pair for pair in pairs if pair.label > 0.5]
    check = [pair for pair in validation if pair.label > 0.5]
    encoder = open_sentence_encoder(
        model, settings.max_tokens, _PURPOSE, device=settings.device or None
    )
    card = Card("bi-encoder", model, "multiple negatives ranking", data, settings)

    def vectors(texts: list[str]) -> Any:
        features = encoder.tokenizer(
            texts,
            padding=True,
            truncation=True,
            max_length=encoder.max_seq_length,
            return_tensors="pt",
        )
        found = encoder(dict(features.to(encoder.device)))["sentence_embedding"]
        return torch.nn.functional.normalize(found, dim=1)

    def loss(batch: Sequence[TrainingPair]) -> Any:
        asked = vectors([pair.question for pair in batch])
        answers = vectors([pair.text for pair in batch])
        own = torch.arange(len(batch), device=asked.device)
        return torch.nn.functional.cross_entropy(asked @ answers.T * _SCALE, own)

    def shuffled(some: Sequence[TrainingPair], number: int) -> list[Sequence[TrainingPair]]:
        return batches_without_repeats(some, settings.batch, settings.seed, number)

    task = Task(
        encoder,
        settings.optimizer(encoder),
        lambda number: shuffled(learn, number),
        loss,
        identity_of(card, [*learn, *check]),
        shuffled(check, 0),
        encoder.save_pretrained,
    )
    return save_with_card(fit(task, settings, folder, progress), card, folder, len(learn))
