"""Signs of tokens that are in no table, and characters that stand for several tokens."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from mathsetu.formulas.latex.boxes import FUNCTION, IDENTIFIER, TEXT, Row, Sign
from mathsetu.formulas.latex.fonts import FONTS, styled_text, word_sign
from mathsetu.formulas.latex.lexer import TEXT_NAMES, TOKEN
from mathsetu.formulas.latex.symbols import BRACKETS, NATIONAL, SIGNS, STRUCTURE, number_sign
from mathsetu.markup.references import unescape

#: A script of one sign: whether it is high, its sign, and its rows shared between formulas, by
#: symbol number: rows beside the base, and rows over or under it.
OneSign = tuple[bool, Sign, dict[int, Row], dict[int, Row]]
#: Scripts of one letter or digit.
SCRIPTS: Final[dict[str, OneSign]] = {
    mark + form.format(character): (mark == "^", SIGNS[character], {}, {})
    for mark in "^_"
    for form in ("{}", "{{{}}}")
    for character in "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
}

_TEXT_TOKEN: Final = re.compile(
    rf"\\({'|'.join(map(re.escape, TEXT_NAMES))})\s*\{{(.*)\}}", re.DOTALL
)
# Commands and braces in a text; the command for a space leaves the space.
_TEXT_COMMAND: Final = re.compile(r"\\[A-Za-z]+\s*|\\[,;:!/]|\\(?=.)|[{}]")
# National names that are also words, which a text in a formula may have.
_WORDS: Final = frozenset(("rot",))
_LENGTH: Final = re.compile(r"\\(?:[hvm]skip|m?kern)\s*-?[\d.]")
_FONT_TOKEN: Final = re.compile(r"(\\[A-Za-z]+)\s*\{?\s*([A-Za-z0-9]+)")
# Separators of groups of three digits.
_GROUPING: Final = re.compile(r"\\[ ,]\s*|\{,\}\s*|~\s*")
# A comma in braces is a decimal comma unless three digits follow; Arabic has its own sign.
_DECIMAL_COMMA: Final = re.compile(r"\{,\}(?!\d{3}(?:\D|\Z))(\d+)\Z")
_DECIMAL_MARK: Final = re.compile("٫")
_SPACES: Final = re.compile(r"[\s~]+")
#: A cache of signs by token; small, because only frequent tokens matter.
_seen: Final[dict[str, Sign]] = {}
_MAX_SEEN: Final = 20_000


def uncommon_sign(token: str) -> Sign | None:
    r"""Return the sign of a number, a letter of any script, a text, a font or an entity.

    Return None for other tokens: unknown commands, and characters that are no signs.

    >>> [uncommon_sign(token).operand for token in ("12", "\\mathbb{R}", "ℝ")]
    ['N!12', 'V!ℝ', 'V!ℝ']
    """
    sign = _seen.get(token)
    if sign is None:
        sign = _make(token)
        if sign is not None and len(token) < 40 and len(_seen) < _MAX_SEEN:
            _seen[token] = sign
    return sign


def _make(token: str) -> Sign | None:
    first = token[0]
    if first == "\\":
        return _command_sign(token)
    if first == "?" and len(token) > 1:
        return wildcard(token[1:])
    if first == "&" and len(token) > 1:
        return _entity_sign(token)
    if first.isdecimal() or (first == "." and len(token) > 1):
        # Digits of any script form numbers; the label has their values.
        digits = _GROUPING.sub("", _DECIMAL_COMMA.sub(r".\1", token))
        label = "N!" + "".join(
            str(unicodedata.decimal(character)) if character.isdecimal() else character
            for character in _DECIMAL_MARK.sub(".", digits)
        )
        sign = number_sign(
            _GROUPING.sub(lambda mark: "," if "," in mark[0][1:-1] else "\u2009", token)
        )
        sign.layout = sign.operand = label
        return sign
    if len(token) == 1 and token not in STRUCTURE:
        return _character_sign(token)
    return None


def _command_sign(token: str) -> Sign | None:
    named = _TEXT_TOKEN.fullmatch(token)
    if named is not None:
        name, content = named.groups()
        if name.startswith("operatorname"):
            return operator_name(content, limits=name.endswith("*"))
        if name == "qvar":
            return wildcard(plain_text(content).strip())
        if content.strip() in NATIONAL and content.strip() not in _WORDS:
            return SIGNS[f"\\{content.strip()}"]
        return None if "$" in content else text_sign(plain_text(content))
    if _LENGTH.match(token) is not None:
        return SIGNS["\\,"]
    font = _FONT_TOKEN.match(token)
    if font is not None and font.group(1) in FONTS:
        return font_word(font.group(2), FONTS[font.group(1)])
    return None


def font_word(text: str, font: str) -> Sign:
    """Return letters or digits in a font as one sign."""
    if text.isdecimal():
        sign = number_sign(styled_text(text, font))
        sign.operand = sign.operator = "N!" + text
        return sign
    if text in NATIONAL:
        return SIGNS[f"\\{text}"]
    return word_sign(text, font)


def operator_name(text: str, limits: bool = False) -> Sign:
    r"""Return the sign of a function with a spelled-out name, as in ``\operatorname{ord}``."""
    lone = SIGNS.get(text.strip())
    if lone is not None and lone.element == "mo":
        return lone
    name = "".join(plain_text(text).split())
    known = SIGNS.get("\\" + name)
    if known is not None and known.role >= FUNCTION and not limits:
        return known
    return Sign(name, "mi", FUNCTION, limits=limits)


def is_text(token: str) -> bool:
    """Whether a token is a text command with its argument."""
    return _TEXT_TOKEN.fullmatch(token) is not None


def plain_text(text: str) -> str:
    r"""Remove commands and braces from a text.

    >>> plain_text(r"if \emph{all}~of it")
    'if all of it'
    """
    if "\\" in text or "{" in text or "~" in text:
        text = _TEXT_COMMAND.sub("", text).replace("~", " ")
    return text


def text_sign(text: str) -> Sign:
    """Return the sign of words in a formula."""
    words = _SPACES.sub(" ", unescape(text))
    label = "T!" + words.strip()
    if label == "T!":
        label = "W!"
    return Sign(words, "mtext", TEXT, layout=label, operand=label, operator="F" + label[1:])


def wildcard(name: str) -> Sign:
    """Return the sign of a wildcard of a query."""
    label = "?" + name
    return Sign(label, "mi", IDENTIFIER, layout=label, operand=label)


def _entity_sign(token: str) -> Sign | None:
    text = unescape(token)
    if text == "'":
        text = "′"
    if text in SIGNS:
        return SIGNS[text]
    return _character_sign(text) if len(text) == 1 and text not in STRUCTURE else None


def _character_sign(character: str) -> Sign | None:
    """Return the sign of a character that is in no table: a letter of any script or style."""
    decomposed = unicodedata.normalize("NFKC", character)
    category = unicodedata.category(character)
    if decomposed != character and decomposed in SIGNS and category[0] in "LNS":
        name = unicodedata.name(character, "")
        if name.startswith("MATHEMATICAL ITALIC") or category[0] == "S" or "FULLWIDTH" in name:
            return SIGNS[decomposed]
        if name.startswith(("MATHEMATICAL", "DOUBLE-STRUCK")):
            return font_character_sign(character, decomposed)
    if decomposed in BRACKETS or category[0] == "C" or category[0] == "Z":
        return None
    return Sign(character, "mi")


def font_character_sign(character: str, plain: str) -> Sign:
    """Return the sign of a digit or letter that has its own code point in a font."""
    if plain.isdecimal():
        sign = number_sign(character)
        sign.operand = "N!" + plain
        return sign
    return Sign(character, "mi")


def _spellings() -> dict[str, str]:
    """Map characters that stand for several tokens to their LaTeX."""
    spellings = {"√": "\\sqrt", "′": "'", "″": "''", "‴": "'''", "⁗": "''''"}
    for code in (*range(0xB2, 0xBF), *range(0x2070, 0x2095), *range(0x2150, 0x215F)):
        kind, _, plain = unicodedata.decomposition(chr(code)).partition(" ")
        text = "".join(chr(int(part, 16)) for part in plain.split())
        if kind == "<super>" and text.isalnum():
            spellings[chr(code)] = "^" + text
        elif kind == "<sub>":
            spellings[chr(code)] = "_" + text.replace("−", "-")
        elif kind == "<fraction>" and text[-1:].isdecimal():
            above, _, below = text.partition("⁄")
            spellings[chr(code)] = f"\\frac{{{above}}}{{{below}}}"
    for code in range(0x207A, 0x207F):
        spellings[chr(code)] = "^" + "+-=()"[code - 0x207A]
    return spellings


_SPELLED: Final = _spellings()
_COMPOSED: Final = re.compile("[" + "".join(_SPELLED) + "]")


def is_composed(latex: str) -> bool:
    """Whether a text has characters that stand for several tokens: ``²``, ``½``, ``√``."""
    return _COMPOSED.search(latex) is not None


def spell_out(tokens: list[str]) -> tuple[list[str], list[int]]:
    """Replace ``²``, ``½`` and the like by LaTeX; return tokens with source token numbers.

    >>> spell_out(["x", "²"])
    (['x', '^', '{', '2', '}'], [0, 1, 1, 1, 1])
    """
    spelled: list[str] = []
    origins: list[int] = []
    script = ""  # the script being collected: its mark and its text so far

    def put(parts: list[str], number: int) -> None:
        spelled.extend(parts)
        origins.extend([number] * len(parts))

    for number, token in enumerate(tokens):
        made = _SPELLED.get(token) if len(token) == 1 else None
        if made is not None and made[0] in "^_" and len(made) > 1:
            if script[:1] == made[0]:
                script += made[1:]
                continue
            if script:
                put([script[0], "{", *TOKEN.findall(script[1:]), "}"], number - 1)
            script = made
            continue
        if script:
            put([script[0], "{", *TOKEN.findall(script[1:]), "}"], number - 1)
            script = ""
        if made is None or (made == "\\sqrt" and tokens[number + 1 : number + 2] in ([], ["("])):
            put([token], number)
        elif made[0] == "'" and spelled and spelled[-1][0] == "'":
            spelled[-1] += made
        else:
            put(TOKEN.findall(made), number)
    if script:
        put([script[0], "{", *TOKEN.findall(script[1:]), "}"], len(tokens) - 1)
    return spelled, origins
