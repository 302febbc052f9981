"""Looks up concepts by any form in any language, by prefixes and without accents."""

from __future__ import annotations

from collections.abc import Iterable

from mathsetu.languages.analyze import tokenize
from mathsetu.languages.glossary.concepts import Concept
from mathsetu.languages.glossary.further import further_terms
from mathsetu.languages.normalise import fold
from mathsetu.languages.table import FURTHER


class Index:
    """Every form of every concept, split into folded words.

    >>> index = Index([Concept("root", "algebra", {"en": ("square root",), "es": ("raíz",)})])
    >>> [len(index.search(words)) for words in ("RAIZ", "sq ro", "roo", "cube")]
    [1, 1, 1, 0]
    """

    def __init__(self, concepts: Iterable[Concept]) -> None:
        named = {concept.id: concept for concept in concepts}
        own = ((one, forms) for one in named.values() for forms in one.forms.values())
        # By language, since most concepts have no term in most languages.
        further = (
            (named[name], term.forms)
            for code in FURTHER
            for name, term in further_terms(code).items()
            if name in named
        )
        self._entries = [
            # Hand-written forms rank before forms found by a program.
            ((is_found, rank), _words(form), concept)
            for is_found, found in enumerate((own, further))
            for concept, forms in found
            for rank, form in enumerate(forms)
        ]

    def search(self, words: str) -> list[Concept]:
        """Return concepts ranked by match, source, length and rank of their best form."""
        wanted = _words(words)
        if not wanted:
            return []
        best: dict[str, tuple[int, int, int, int]] = {}
        found: dict[str, Concept] = {}
        for (is_found, rank), form, concept in self._entries:
            distance = _distance(wanted, form)
            if distance is None:
                continue
            score = (distance, is_found, len(form), rank)
            if concept.id not in best or score < best[concept.id]:
                best[concept.id] = score
                found[concept.id] = concept
        return sorted(found.values(), key=lambda concept: (best[concept.id], concept.id))


def _words(text: str) -> tuple[str, ...]:
    return tuple(fold(word) for word in tokenize(text))


def _distance(wanted: tuple[str, ...], form: tuple[str, ...]) -> int | None:
    """Return 0 for equal words, 1 if the form begins with them, 2 if it has them as prefixes."""
    if wanted == form:
        return 0
    if all(any(word.startswith(prefix) for word in form) for prefix in wanted):
        return 1 if form[0].startswith(wanted[0]) else 2
    return None
