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
    """Train a cross-encoder; the best model and its card end up in ``folder/model``.

    Run again with the same arguments, it goes on where it was stopped.

    Args:
        model: Where training starts: a cross-encoder, or any encoder, which gets a new last layer.
        epochs: Gives the pairs of an epoch, the same ones for the same number.
        validation: Pairs held out; their loss says when to stop. Empty: all epochs are done.
        folder: Where checkpoints and the model go.
        settings: How it is trained.
        data: What the pairs are, in a sentence for the model's card.
        progress: Called with what is being done and how far it is.
    """
    torch = require("torch", "training", "neural")
    settings = settings or Fit()
    # The new last layer of an encoder is drawn at random.
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
