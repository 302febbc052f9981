"""Terms of further languages, beyond the first seven: one file per language, read on demand.

``further/XX.tsv`` has a row for each concept with a known term: the id of the concept, the forms as
in the other tables, and their sources. A program found nearly all of them in word lists and
parallel text (``mathsetu train encoder terms``), and no native speaker has reviewed them yet. To
correct a table, ``mathsetu glossary export`` writes it with an additional column of English terms,
``import`` checks the corrected table, and the folder in ``MATHSETU_GLOSSARY`` is read before the
shipped one.

>>> further_terms("de")["prime-number"].forms[0]
'Primzahl'
>>> further_terms("xx")
{}
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from mathsetu.errors import InputError, RowError
from mathsetu.languages.scripts import letters_by_script
from mathsetu.languages.table import FURTHER

#: The environment variable with the folder of corrected tables.
FOLDER_VARIABLE: Final = "MATHSETU_GLOSSARY"
#: The value of the column ``sources`` for a reviewed term.
REVIEWED: Final = "reviewed"
_SHIPPED: Final = Path(__file__).parent / "further"
_SEPARATOR: Final = " | "
_HEADER: Final = ("concept", "forms", "sources")
# Maximum size of a table in bytes; no table of a language is larger.
_LARGEST = 4_000_000
_LONGEST_FORM = 100


@dataclass(frozen=True, slots=True)
class Term:
    """The term of a concept in a language.

    Attributes:
        forms: Its forms, the usual term first.
        sources: The sources of the usual term: a letter for each (see `docs/glossary.md`), or
            ``reviewed`` if a speaker of the language has reviewed it.
    """

    forms: tuple[str, ...]
    sources: str

    @property
    def is_reviewed(self) -> bool:
        """Whether a speaker of the language has reviewed it."""
        return self.sources == REVIEWED


def further_terms(code: str) -> Mapping[str, Term]:
    """Return the terms of a language by concept id; empty if there is no table.

    Codes from posts and queries are untrusted, so only tables of languages in `FURTHER` are opened.
    """
    return _terms(code, os.environ.get(FOLDER_VARIABLE, "")) if code in FURTHER else {}


@cache
def _terms(code: str, corrected: str) -> Mapping[str, Term]:
    for folder in filter(None, (corrected, str(_SHIPPED))):
        path = Path(folder) / f"{code}.tsv"
        if path.is_file():
            return read_table(path, code)
    return {}


def read_table(path: Path, code: str) -> dict[str, Term]:
    """Read a table and check its content.

    Raises:
        InputError: When the file is not a table, or a row is invalid.
    """
    try:
        if path.stat().st_size > _LARGEST:
            raise InputError(f"{path}: is too large for a table of terms")
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read ({error})") from None
    rows = [
        (number, line.split("\t"))
        for number, line in enumerate(lines, 1)
        if line.strip() and not line.startswith("#")
    ]
    header = rows[0][1] if rows else []
    if missing := [name for name in _HEADER if name not in header]:
        raise InputError(
            f"{path}: the first row must name the columns {', '.join(_HEADER)} "
            f"(missing: {', '.join(missing)})"
        )
    columns = [header.index(name) for name in _HEADER]
    terms: dict[str, Term] = {}
    for number, cells in rows[1:]:
        if len(cells) != len(header):
            raise RowError(
                path, number, f"has {len(cells)} columns; the first row has {len(header)}"
            )
        concept, written, sources = (cells[column].strip() for column in columns)
        if not written:
            continue  # a corrected table may leave a term empty
        composed = unicodedata.normalize("NFC", written)
        forms = tuple(" ".join(form.split()) for form in composed.split("|"))
        if problem := _problem_with(forms, code):
            raise RowError(path, number, problem)
        if concept in terms:
            raise RowError(path, number, f"the concept {concept!r} is there twice")
        terms[concept] = Term(forms, sources)
    return terms


def _problem_with(forms: tuple[str, ...], code: str) -> str:
    """Return the problem with the forms of a term, empty if there is none."""
    if not all(forms):
        return "has an empty form between two bars"
    if len(set(forms)) < len(forms):
        return "has the same form twice"
    if max(map(len, forms)) > _LONGEST_FORM:
        return f"has a form of more than {_LONGEST_FORM} characters"
    script = FURTHER[code].script
    scripts = {script, "Hani", "Jpan"} if script == "Jpan" else {script}
    for form in forms:
        if not scripts.intersection(letters_by_script(form)):
            return f"{form!r} is not written in the script of {FURTHER[code].name}"
    return ""


def table_lines(
    terms: Mapping[str, Term], code: str, english: Mapping[str, str] | None = None
) -> Iterator[str]:
    """Yield the lines of a table, with a column of English terms if these are given."""
    name = FURTHER[code].name
    yield f"# {name} terms of MathSetu's glossary. Forms are separated by |, the usual one first.\n"
    yield "# sources: t, w, p, h = machine-made; reviewed = a native speaker has reviewed it\n"
    columns = [*_HEADER[:1], *(["english"] if english is not None else []), *_HEADER[1:]]
    yield "\t".join(columns) + "\n"
    for concept in english if english is not None else terms:
        term = terms.get(concept, Term((), ""))
        beside = [english[concept]] if english is not None else []
        yield "\t".join([concept, *beside, _SEPARATOR.join(term.forms), term.sources]) + "\n"


def check_concepts(terms: Iterable[str], known: Iterable[str], path: Path) -> None:
    """Refuse a table with concepts that the glossary does not have."""
    if unknown := sorted(set(terms) - set(known)):
        raise InputError(f"{path}: the glossary has no concept {unknown[0]!r} (concepts have ids)")
