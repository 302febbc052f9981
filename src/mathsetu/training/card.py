"""The card of a trained model: its kind, training data, settings and results."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path

from mathsetu.training.checkpoints import State
from mathsetu.training.loop import Fit
from mathsetu.training.pairs import TrainingPair


@dataclass(frozen=True)
class Card:
    """Facts about a model that are known before it is trained.

    Attributes:
        kind: ``cross-encoder`` or ``bi-encoder``.
        base: The model that training starts from.
        loss: The name of the loss.
        data: One sentence about the pairs.
        settings: The training settings.
    """

    kind: str
    base: str
    loss: str
    data: str
    settings: Fit


def identity_of(card: Card, pairs: Iterable[TrainingPair]) -> str:
    """Return a digest of model, settings and pairs that identifies a training.

    >>> card = Card("cross-encoder", "base", "some loss", "some data", Fit())
    >>> identity_of(card, []) == identity_of(card, [TrainingPair("q", "a", 1.0)])
    False
    """
    digest = sha256(json.dumps(asdict(card), sort_keys=True).encode())
    for pair in pairs:
        digest.update(json.dumps([pair.question, pair.text, pair.label]).encode())
    return digest.hexdigest()


def card_text(card: Card, state: State, pairs: int) -> str:
    """Return the card as Markdown.

    Args:
        card: The facts about the model.
        state: The state of the training, with its history.
        pairs: The number of pairs in an epoch.

    >>> card = Card("cross-encoder", "roberta-large", "cross-entropy", "Judgments.", Fit())
    >>> history = [{"training_loss": 0.7, "validation_loss": 0.6}]
    >>> print(card_text(card, State("", history=history, best=0), 836))
    # A cross-encoder for mathematics
    <BLANKLINE>
    Trained with MathSetu from `roberta-large`; the loss is cross-entropy, the optimizer AdamW.
    <BLANKLINE>
    ## Data
    <BLANKLINE>
    Judgments. 836 pairs in an epoch.
    <BLANKLINE>
    ## Settings
    <BLANKLINE>
    epochs 10 · patience 2 · seed 1 · batch 16 · learning_rate 2e-05 · warmup 0.1 · \
weight_decay 0.01 · max_tokens 512
    <BLANKLINE>
    ## Figures
    <BLANKLINE>
    | epoch | training loss | validation loss |
    |---|---|---|
    | 1 (kept) | 0.7000 | 0.6000 |
    <BLANKLINE>
    """
    shown = {
        name: value
        for name, value in asdict(card.settings).items()
        if name not in ("checkpoint_every", "device")
    }
    rows = [
        f"| {number + 1}{' (kept)' if number == state.best else ''} | {row['training_loss']:.4f} | "
        + (f"{row['validation_loss']:.4f} |" if "validation_loss" in row else "– |")
        for number, row in enumerate(state.history)
    ]
    parts = [
        f"# A {card.kind} for mathematics",
        f"Trained with MathSetu from `{card.base}`; the loss is {card.loss}, the optimizer AdamW.",
        "## Data",
        f"{card.data} {pairs:,} pairs in an epoch.".strip(),
        "## Settings",
        " · ".join(f"{name} {value}" for name, value in shown.items()),
        "## Figures",
        "\n".join(["| epoch | training loss | validation loss |", "|---|---|---|", *rows]),
    ]
    return "\n\n".join(parts) + "\n"


def save_with_card(state: State, card: Card, folder: Path, pairs: int) -> State:
    """Write the card into the folder of the best model."""
    text = card_text(card, state, pairs)
    (folder / "model" / "README.md").write_text(text, encoding="utf-8")
    return state


def add_figures(model: Path, about: str, figures: Mapping[str, float]) -> None:
    """Append evaluation results to the card of a finished model.

    >>> from tempfile import mkdtemp
    >>> folder = Path(mkdtemp())
    >>> add_figures(folder, "English topics of 2021", {"MAP": 0.5, "nDCG@10": 0.625})
    >>> print((folder / "README.md").read_text(encoding="utf-8").strip())
    English topics of 2021: MAP 0.500 · nDCG@10 0.625
    """
    shown = " · ".join(f"{name} {value:.3f}" for name, value in figures.items())
    with (model / "README.md").open("a", encoding="utf-8") as card:
        card.write(f"\n{about}: {shown}\n")
