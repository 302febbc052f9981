"""What a translation backend is, and what a translation tells about itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Translation:
    """A translated text and where it comes from.

    Attributes:
        text: The translation, with every formula of the source in it.
        backend: The name of the backend ("" when source and target are the same language).
        model: The model, folder or language pair that did it.
        seconds: The backend's time for this text; zero when all of it was remembered.
        lost: Formulas that the backend dropped and that were put at the end of their sentence.

    >>> Translation("Sea $n$ par.", "apertium", "eng-spa", 0.01).lost
    ()
    """

    text: str
    backend: str
    model: str
    seconds: float = 0.0
    lost: tuple[str, ...] = ()


class Backend(Protocol):
    """Turns plain sentences into sentences of another language: batch in, batch out.

    Formulas, sentence ends and memory are the business of the common part (`Translator`): a backend
    sees short sentences on one line each, with names such as QZ1 where formulas were.

    >>> class Shouting:
    ...     name, chunk = "shouting", 100
    ...     def model_for(self, source: str, target: str) -> str:
    ...         return "capitals"
    ...     def translate(self, sentences: Sequence[str], source: str, target: str) -> list[str]:
    ...         return [sentence.upper() for sentence in sentences]
    >>> backend: Backend = Shouting()
    >>> backend.translate(["Let QZ1 be even."], "en", "en-GB")
    ['LET QZ1 BE EVEN.']
    """

    @property
    def name(self) -> str:
        """Its name in the table of backends."""

    @property
    def chunk(self) -> int:
        """How many sentences to hand over at once: what is done is remembered after each chunk."""

    def model_for(self, source: str, target: str) -> str:
        """The model that serves a direction; raises `InputError` when there is none."""

    def translate(self, sentences: Sequence[str], source: str, target: str) -> list[str]:
        """Translate sentences: one result for each, in the same order."""


class CheckedBackend(Backend, Protocol):
    """A backend of the table, which knows what it needs."""

    def check(self, setting: str = "") -> None:
        """Miss a package, a program or a model; ``setting`` names the model in a recipe."""
