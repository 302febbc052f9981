"""The interface of translation backends, and the record of a translation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Translation:
    """A translated text and its origin.

    Attributes:
        text: The translation, with all formulas of the source.
        backend: The name of the backend ("" if source and target are the same language).
        model: The model, folder or language pair used.
        seconds: The time of the backend for this text; zero if all of it was cached.
        lost: Formulas that the backend dropped; they were appended to their sentence.

    >>> Translation("Sea $n$ par.", "apertium", "eng-spa", 0.01).lost
    ()
    """

    text: str
    backend: str
    model: str
    seconds: float = 0.0
    lost: tuple[str, ...] = ()


class Backend(Protocol):
    """Translates a batch of plain sentences into another language.

    `Translator` handles formulas, sentence splitting and the cache. A backend receives short
    sentences of one line each, with masks such as QZ1 in place of formulas.

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
        """The number of sentences per call; results are cached after each chunk."""

    def model_for(self, source: str, target: str) -> str:
        """Return the model for a direction; raise `InputError` if there is none."""

    def translate(self, sentences: Sequence[str], source: str, target: str) -> list[str]:
        """Translate sentences: one result for each, in the same order."""


class CheckedBackend(Backend, Protocol):
    """A backend of the table, which can check its requirements."""

    def check(self, setting: str = "") -> None:
        """Raise if a package, program or model is missing; ``setting`` names the recipe setting."""
