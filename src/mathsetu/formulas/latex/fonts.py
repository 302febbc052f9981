"""Letters in other fonts, as mathematical letters of Unicode."""

from __future__ import annotations

import unicodedata
from typing import Final

from mathsetu.formulas.latex.boxes import NUMBER, TEXT, Sign

#: Font commands, with arguments or as switches, and the Unicode name of their font.
FONTS: Final[dict[str, str]] = {
    "\\mathbb": "DOUBLE-STRUCK", "\\Bbb": "DOUBLE-STRUCK", "\\mathds": "DOUBLE-STRUCK",
    "\\mathbbm": "DOUBLE-STRUCK", "\\mathcal": "SCRIPT", "\\cal": "SCRIPT", "\\mathscr": "SCRIPT",
    "\\scr": "SCRIPT", "\\mathfrak": "FRAKTUR", "\\frak": "FRAKTUR", "\\mathbf": "BOLD",
    "\\bf": "BOLD", "\\bold": "BOLD", "\\boldsymbol": "BOLD ITALIC", "\\bm": "BOLD ITALIC",
    "\\pmb": "BOLD ITALIC", "\\mathrm": "UPRIGHT", "\\rm": "UPRIGHT", "\\mathup": "UPRIGHT",
    "\\mathnormal": "ITALIC", "\\mathit": "ITALIC", "\\it": "ITALIC", "\\mathsf": "SANS-SERIF",
    "\\sf": "SANS-SERIF", "\\mathtt": "MONOSPACE", "\\tt": "MONOSPACE", "\\sl": "ITALIC",
    "\\bfseries": "BOLD", "\\rmfamily": "UPRIGHT", "\\symbf": "BOLD", "\\mathbfit": "BOLD ITALIC",
    "\\mathbfcal": "BOLD SCRIPT", "\\mathbfsf": "SANS-SERIF BOLD", "\\vb": "BOLD",
}  # fmt: skip

#: Font switches, which apply to the end of their group.
SWITCHES: Final = frozenset(
    {"\\rm", "\\bf", "\\it", "\\cal", "\\sf", "\\tt", "\\sl", "\\scr", "\\bfseries", "\\rmfamily"}
)
#: Fonts in which adjacent letters form one name, as in ``\\mathrm{id}``.
JOINING: Final = frozenset({"UPRIGHT", "BOLD", "SANS-SERIF", "MONOSPACE", "ITALIC"})

# Letters with an older code point than the others of their font.
_EARLY: Final = {
    "SCRIPT": dict(zip("BEFHILMRego", "ℬℰℱℋℐℒℳℛℯℊℴ", strict=True)),
    "FRAKTUR": dict(zip("CHIRZ", "ℭℌℑℜℨ", strict=True)),
    "DOUBLE-STRUCK": dict(zip("CHNPQRZ", "ℂℍℕℙℚℝℤ", strict=True)),
}
_styled: Final[dict[tuple[str, str], str]] = {}


def styled_text(text: str, font: str) -> str:
    """Convert text to a font, letter by letter; characters that the font lacks do not change.

    >>> styled_text("R", "DOUBLE-STRUCK"), styled_text("x2", "BOLD")
    ('ℝ', '𝐱𝟐')
    """
    if font in ("UPRIGHT", "ITALIC"):
        return text
    return "".join(_styled_character(character, font) for character in text)


def _styled_character(character: str, font: str) -> str:
    known = _styled.get((character, font))
    if known is not None:
        return known
    early = _EARLY.get(font, {}).get(character)
    if early is not None:
        return early
    words = unicodedata.name(character, "").split()
    made = character
    if len(words) == 4 and words[0] in ("LATIN", "GREEK") and words[2] == "LETTER":
        try:
            made = unicodedata.lookup(f"MATHEMATICAL {font} {words[1]} {words[3]}")
        except KeyError:
            made = character
    elif len(words) == 2 and words[0] == "DIGIT":
        try:
            made = unicodedata.lookup(
                f"MATHEMATICAL {font.removesuffix(' ITALIC')} {' '.join(words)}"
            )
        except KeyError:
            made = character
    if len(_styled) < 10_000:
        _styled[character, font] = made
    return made


def styled_sign(sign: Sign, font: str) -> Sign:
    """Return a letter or number in another font; its SLT label does not change.

    >>> styled_sign(Sign("x"), "BOLD").operand
    'V!𝐱'
    """
    text = styled_text(sign.text, font)
    if sign.role == NUMBER:
        return Sign(text, "mn", NUMBER, layout=sign.layout, operand=sign.operand)
    if sign.role == TEXT or (text == sign.text and font != "UPRIGHT"):
        return sign
    return Sign(text, sign.element, sign.role, layout=sign.layout)


def word_sign(text: str, font: str) -> Sign:
    """Return a name of one or more letters in a font as one sign.

    >>> word_sign("id", "UPRIGHT").layout
    'V!id'
    """
    text = styled_text(text, font)
    return Sign(text, "mi")
