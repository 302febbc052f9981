"""Trains a bi-encoder with in-batch negatives: each question must rank its own text first."""

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
# Factor of the cosines before the softmax, because their range is too narrow for it.
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
    """Train a bi-encoder with the multiple-negatives loss; save the best in ``folder/model``.

    A second call with the same arguments resumes an interrupted training.

    Args:
        model: A sentence-transformers model: a folder, or a name on the hub.
        pairs: Questions with matching texts; pairs with a label of 0.5 or less are skipped.
        validation: Held-out pairs for early stopping; if empty, all epochs are run.
        folder: The folder for checkpoints and the model.
        settings: The training settings.
        data: One sentence about the pairs, for the model card.
        progress: Called with the current phase and the number of items done.
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
