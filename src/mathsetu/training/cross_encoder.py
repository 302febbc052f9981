"""Trains a cross-encoder: binary cross-entropy on the logit of each pair."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from mathsetu.models import require
from mathsetu.ranking.rerank.cross_encoder import open_cross_encoder
from mathsetu.training.card import Card, identity_of, save_with_card
from mathsetu.training.checkpoints import State
from mathsetu.training.epochs import batches
from mathsetu.training.loop import Fit, Progress, Task, fit
from mathsetu.training.pairs import TrainingPair


def train_cross_encoder(
    model: str,
    epochs: Callable[[int], Sequence[TrainingPair]],
    validation: Sequence[TrainingPair],
    folder: Path,
    settings: Fit | None = None,
    data: str = "",
    progress: Progress | None = None,
) -> State:
    """Train a cross-encoder; save the best model and its card in ``folder/model``.

    A second call with the same arguments resumes an interrupted training.

    Args:
        model: The start: a cross-encoder, or any encoder, to which a new last layer is added.
        epochs: Returns the pairs of an epoch; the same number must give the same pairs.
        validation: Held-out pairs for early stopping; if empty, all epochs are run.
        folder: The folder for checkpoints and the model.
        settings: The training settings.
        data: One sentence about the pairs, for the model card.
        progress: Called with the current phase and the number of items done.
    """
    torch = require("torch", "training", "neural")
    settings = settings or Fit()
    # A new last layer is initialised at random.
    torch.manual_seed(settings.seed)
    device = settings.device or None
    encoder = open_cross_encoder(model, settings.max_tokens, num_labels=1, device=device)
    card = Card("cross-encoder", model, "binary cross-entropy with logits", data, settings)

    def loss(pairs: Sequence[TrainingPair]) -> Any:
        features = encoder.tokenizer(
            [pair.question for pair in pairs],
            [pair.text for pair in pairs],
            padding=True,
            truncation=True,
            max_length=encoder.max_seq_length,
            return_tensors="pt",
        )
        logits = encoder.model(**features.to(encoder.device)).logits.view(-1)
        labels = torch.tensor([pair.label for pair in pairs], device=logits.device)
        return torch.nn.functional.binary_cross_entropy_with_logits(logits, labels)

    first = epochs(0)
    task = Task(
        encoder,
        settings.optimizer(encoder),
        lambda number: batches(epochs(number) if number else first, settings.batch),
        loss,
        identity_of(card, [*first, *validation]),
        batches(validation, settings.batch),
        encoder.save_pretrained,
    )
    return save_with_card(fit(task, settings, folder, progress), card, folder, len(first))
