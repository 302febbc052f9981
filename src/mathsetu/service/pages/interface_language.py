"""The texts of the page in its languages, and the language that a visitor wants.

``texts/`` holds one file per language. A new language is one new file with the same keys and its
code here. Texts of further languages are machine-made, and the page says so.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Final

from mathsetu.languages.table import FURTHER, LANGUAGES, Language, language

#: The languages that the page has texts in.
INTERFACE_LANGUAGES: Final[Mapping[str, Language]] = LANGUAGES | {
    code: FURTHER[code] for code in "de fr pt it nl pl ru ar zh id".split()
}
_DEFAULT = "en"
_PERSIAN_DIGITS = str.maketrans("0123456789", "۰۱۲۳۴۵۶۷۸۹")
# The separators of thousands and of decimals.
_ENGLISH = (",", ".")
_SEPARATORS = dict.fromkeys(("en", "hi", "ne", "ar", "zh"), _ENGLISH) | {"fa": ("٬", "٫")}
_EUROPEAN = ("\u202f", ",")
# The left-to-right mark keeps the sign on the left in right-to-left texts.
_MINUS = "\u200e−"


@dataclass(frozen=True)
class Interface:
    """The page in one language.

    >>> interface("es").say("box.search"), interface("fa").number(1234)
    ('Buscar', '۱٬۲۳۴')
    """

    language: Language
    texts: Mapping[str, str]

    @property
    def is_reviewed(self) -> bool:
        """Whether the texts were reviewed; those of further languages are machine-made."""
        return self.language.code in LANGUAGES

    def say(self, key: str, **values: str) -> str:
        """A text of the page with its values filled in; it is not yet escaped for HTML."""
        text = self.texts[key]
        return text.format_map(values) if values else text

    def part(self, name: str) -> str:
        """The display name of a recipe's part; its own name if there is none.

        >>> interface("en").part("vectors"), interface("en").part("my-part")
        ('Meaning', 'my-part')
        """
        return self.texts.get(f"parts.{name}", name)

    def number(self, value: float, decimals: int = 0) -> str:
        """A number in the format of the language.

        >>> interface("cs").number(0.875, decimals=2)
        '0,88'
        """
        thousands, point = _SEPARATORS.get(self.language.code, _EUROPEAN)
        whole, _, rest = f"{abs(value):,.{decimals}f}".partition(".")
        written = whole.replace(",", thousands) + (point + rest if rest else "")
        if self.language.code == "fa":
            written = written.translate(_PERSIAN_DIGITS)
        return _MINUS + written if value < 0 else written


@cache
def interface(code: str) -> Interface:
    """The page in the language with this code."""
    file = resources.files(__package__) / "texts" / f"{INTERFACE_LANGUAGES[code].code}.toml"
    table = tomllib.loads(file.read_text(encoding="utf-8"))
    return Interface(INTERFACE_LANGUAGES[code], dict(_flat(table)))


def _flat(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def wanted_language(named: str, accepted: str) -> str:
    """The code of the language a visitor wants.

    Args:
        named: The language in the address; it is used if we have it.
        accepted: The browser's ``Accept-Language`` header.

    >>> wanted_language("hi", "en"), wanted_language("", "fi, fa-IR;q=0.8, de;q=0.9")
    ('hi', 'de')
    >>> wanted_language("xx", "")
    'en'
    """
    if named in INTERFACE_LANGUAGES:
        return named
    best, best_quality = _DEFAULT, 0.0
    for choice in accepted[:500].split(","):
        tag, _, quality = choice.partition(";q=")
        code = language(tag).code
        weight = _quality(quality)
        if code in INTERFACE_LANGUAGES and weight > best_quality:
            best, best_quality = code, weight
    return best


def _quality(text: str) -> float:
    try:
        return min(max(float(text or 1), 0.0), 1.0)
    except ValueError:
        return 0.0
