"""The backend without dependencies: word by word from the built-in glossary.

It translates mathematical terms and keeps all other words, which is sufficient for search but not
for reading.
"""

from __future__ import annotations

from collections.abc import Sequence

from mathsetu.errors import InputError
from mathsetu.languages.glossary import Glossary
from mathsetu.languages.table import ROWS, language


class GlossaryBackend:
    """Translates the terms of the glossary.

    >>> GlossaryBackend().translate(["QZ1 is a prime number"], "en", "es")
    ['QZ1 is a número primo']
    """

    name = "glossary"
    chunk = 1000

    def check(self, setting: str = "") -> None:
        """Do nothing: it is always available."""

    def model_for(self, source: str, target: str) -> str:
        """Return the name of the glossary, for languages of the table."""
        for asked in (source, target):
            if language(asked).code not in ROWS:
                raise InputError(
                    f"the glossary has no language {asked!r} (it has: {', '.join(ROWS)})"
                )
        return "built-in"

    def translate(self, sentences: Sequence[str], source: str, target: str) -> list[str]:
        """Replace each known term by its first form in the target language."""
        gloss = Glossary.load().gloss
        return [gloss(line, language(source).code, language(target).code) for line in sentences]
