"""The concepts of the glossary and the files that define them.

``terms/`` has one table per area (``calculus.tsv``). A row is a concept, a column is a language,
and a cell has the usual term first, then synonyms, variant spellings and inflected forms, separated
by `` | ``. To add a term, edit a cell. Languages without a column have separate files
(`further.py`), which are read on demand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from mathsetu.languages.glossary.further import further_terms
from mathsetu.languages.normalise import fold

FORM_SEPARATOR = " | "
_NOT_IN_AN_ID = re.compile(r"[^\w]+")


@dataclass(frozen=True, slots=True)
class Concept:
    """A concept of mathematics and its terms.

    ``id`` is derived from the English term, ``area`` is the name of its file, and ``forms`` has the
    forms of each language, the usual term first. Further languages can be looked up in ``forms``,
    but iteration does not include them.

    >>> concept = Concept("root", "algebra", {"en": ("root", "roots"), "es": ("raíz",)})
    >>> concept.term("es"), concept.term("de")
    ('raíz', '')
    """

    id: str
    area: str
    forms: Mapping[str, tuple[str, ...]]

    def term(self, language: str) -> str:
        """Return the usual term in a language, empty if the glossary has none."""
        return self.forms.get(language, ("",))[0]


def read_concepts() -> Iterator[Concept]:
    """Yield the concepts of all areas; the areas are in alphabetical order.

    >>> {concept.area for concept in read_concepts()} >= {"algebra", "topology"}
    True
    """
    from importlib import resources  # lazy: opening a library does not need it

    folder = resources.files(__package__) / "terms"
    for file in sorted(folder.iterdir(), key=lambda file: file.name):
        area = file.name.removesuffix(".tsv")
        header, *rows = file.read_text(encoding="utf-8").splitlines()
        languages = header.split("\t")
        for row in rows:
            cells = (tuple(cell.split(FORM_SEPARATOR)) for cell in row.split("\t"))
            forms = dict(zip(languages, cells, strict=True))
            name = concept_id(forms["en"][0])
            yield Concept(name, area, _Forms(name, forms))


class _Forms(Mapping[str, tuple[str, ...]]):
    """The forms of a concept; those of further languages are looked up on demand."""

    __slots__ = ("_concept", "_own")

    def __init__(self, concept: str, own: Mapping[str, tuple[str, ...]]) -> None:
        self._concept = concept
        self._own = own

    def __getitem__(self, code: str) -> tuple[str, ...]:
        forms = self._own.get(code)
        return forms if forms is not None else further_terms(code)[self._concept].forms

    def __iter__(self) -> Iterator[str]:
        return iter(self._own)

    def __len__(self) -> int:
        return len(self._own)


def concept_id(english_term: str) -> str:
    """Return the id of the concept with this English term.

    >>> concept_id("Hölder's inequality")
    'holders-inequality'
    """
    return _NOT_IN_AN_ID.sub("-", fold(english_term.lower()).replace("'", "")).strip("-")
