r"""Splits a typed query into tokens: by one regular expression, then by the kind of each token.

Each token records whether white space precedes it. Nothing is dropped: only white space lies
between two tokens.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Final

from mathsetu.formulas.latex import boxes
from mathsetu.formulas.latex.commands import COMMANDS, IGNORED, INFIX
from mathsetu.formulas.latex.fonts import FONTS
from mathsetu.formulas.latex.lexer import TEXT_NAMES
from mathsetu.formulas.latex.symbols import ACCENTS, BRACKETS, SIGNS
from mathsetu.intake.typed.names import (
    BIG,
    CALLED,
    CALLED_NAMES,
    CONNECTIVES,
    FENCED,
    FUNCTIONS,
    GREEK,
    INFIX_WORDS,
    ROOTS,
    SIGNS_ONLY,
)
from mathsetu.intake.typed.names import SIGNS as SIGN_NAMES
from mathsetu.intake.typed.token_kinds import HYPHENS, PROSE, Kind, Token
from mathsetu.languages.table import language

SUPERSCRIPTS: Final = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱᵃᵇᶜᵈᵉᶠᵍʰʲᵏˡᵐᵒᵖʳˢᵗᵘᵛʷˣʸᶻᵀ"
SUBSCRIPTS: Final = "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₒₓₕₖₗₘₙₚₛₜᵢⱼᵣᵤᵥ"
#: Words of up to this many letters may be products of variables.
SHORT: Final = 3
_MATHEMATICAL_LETTERS = "\U0001d400-\U0001d7ffℂℍℕℙℚℝℤℓ℘ℜℑℵℏℰℱℒℳℋℐℬ"
_MARKS = "\u0300-\u036f\u064b-\u065f\u0670\u0900-\u0903\u093a-\u094f\u0951-\u0957\u0962\u0963"
_LATIN = "A-Za-zªºÀ-ÖØ-öø-ɏ\u1e00-\u1eff"
_GREEK = "\u0370-\u03ff\u1f00-\u1fff"
# A sign that is a complete script: A^*A, A^†, f_*. A plus or minus is one only if no operand of it
# follows: R^+ and A^+ b, but e^-x.
_SIGN_ALONE = r"(?:\*+|[∗⋆†‡]|[-+−](?=\|{0,2}(?:\s|\Z|[)\]},;:=<>^_*/]|[.?!](?!\w))))"
_TOKEN = re.compile(
    rf"""
      (?P<delimiter>\$\$?|\\[()\[\]])
    | (?P<fence>\\(?:left|right)(?![A-Za-z])\s*(?:\\(?:[A-Za-z]+|.)|[^\\\s])?)
    | (?P<command>\\(?:[A-Za-z]+|.|\Z))
    | (?P<number>\d+(?:[.٫]\d+)?|\.\d+|[½⅓¼¾⅔])
    | (?P<sup>[{SUPERSCRIPTS}]+|\^{_SIGN_ALONE})
    | (?P<sub>[{SUBSCRIPTS}]+|_{_SIGN_ALONE})
    | (?P<letter>[{_MATHEMATICAL_LETTERS}])
    | (?P<greek>[{_GREEK}][{_GREEK}\u0300-\u036f]*)
    | (?P<latin>[{_LATIN}][{_LATIN}\u0300-\u036f]*)
    | (?P<word>[^\W\d_](?:[^\W\d_{_LATIN}]|[{_MARKS}\u200c\u200d])*)
    | (?P<wild>\?[A-Za-z]\d*+(?![{_LATIN}]))
    | (?P<sign><=>|<->|\|->|<=|>=|=<|==?>|--?>|!=|=/=|===?|:=|\.\.\.+|\*\*|\+/?-|<<|>>|<>|~=|~~
        |\|\||\S)
    """,
    re.VERBOSE | re.DOTALL,
)
# Words with an apostrophe: Riemann's, don't, l'Hôpital; but not f'(x) and f'g.
_ELISION = re.compile(r"['’](?:s|t|m|d|ll|re|ve)?(?![^\W\d_])|['’](?=[^\W\d_]{2})")
_RUN_TOGETHER = re.compile(
    r"x?(?:arc)?(sin|cos|tan|cot|sec|csc|ln|log|exp|sinh|cosh|tanh)x"
)  # sinx, xlnx


# Detects a Greek text, in which short words are not letters of formulas: το, της, ή.
_GREEK_WORD = re.compile(rf"[{_GREEK}]{{4}}")
_GREEK_ARTICLES: Final = frozenset("ηΗ")
_FOLLOWED_BY_GREEK = re.compile(rf"\s+[{_GREEK}]{{2}}")
_GREEK_ACCENTS = re.compile("[άέήίόύώΆΈΉΊΌΎΏϊϋΐΰς\u0301\u0308]")


# The text after a capital sigma or pi that denotes a sum or a product.
_SUMMED = re.compile(rf"[_{SUBSCRIPTS}]|\s?(?:\d|[A-Za-z][\^_({SUBSCRIPTS}{SUPERSCRIPTS}/])")


# After a capital letter and before another, Σ is a matrix: U Σ V^T.
_CAPITAL = re.compile(r"\s?[A-Z](?![A-Za-z])")


# Names that are functions only before brackets. "im", also a German word, needs a letter inside
# them; Stab(s) may be a plural.
_CALL = re.compile(
    rf"binom(?:ial)?\(|im\((?:[A-Za-z]|[{_GREEK}]|{'|'.join(sorted(GREEK))})\)"
    rf"|(?:{'|'.join(CALLED_NAMES)})\((?!(?:s|es|e|n|en)\))"
)


# dtheta and dtau, but not dpi (dots per inch).
_DIFFERENTIALS = frozenset(f"d{name}" for name in GREEK if name[0].islower()) - {"dpi", "deps"}


# x̄, ŷ, ẋ: accents that do not occur on these letters in words.
_ACCENTED = re.compile("[p-tv-zP-TV-Z][\u0302\u0303\u0304\u0307\u0308]")


# A backslash between sets: A\\B, A \\ B, ℝ\\{0}. A set in LaTeX has a backslash before both braces.
_WITHOUT = re.compile(
    rf"\\(?:[A-Z](?![A-Za-z])|[{_MATHEMATICAL_LETTERS}]|\{{[^{{}}\\]{{1,40}}\}}"
    rf"| (?:[A-Z](?!\w)|[{_MATHEMATICAL_LETTERS}]|\{{[^{{}}\\]{{1,40}}\}}))"
)


# ħ alone or next to a letter, as in iħ and ħk; in Maltese words, a vowel or more letters follow.
_PLANCK = re.compile("[A-Zb-fh-np-tv-z]?ħ[A-Zb-df-hj-np-tv-z]?")


# The text after the & in a line pasted from an alignment: a &= b.
_ALIGNED = re.compile(
    r"\s?(?:[=<>≤≥≠≈≡∼∈→⇒⇔]|:=|\\(?:[lg]eq?|[lg]eqslant|[lg]t|neq?|approx|equiv|sim|simeq|cong|in"
    r"|subset(?:eq)?|propto|to|implies|iff|(?:Left|Long)?[rR]ightarrow)(?![A-Za-z]))"
)


# Functions applied to the image of a map.
_OF_IMAGES: Final = frozenset("dim codim rank rang Rang rg".split())


_ASCII_SIGNS: Final = {
    **dict.fromkeys("+ - * / +- +/- ** – ·".split(), Kind.INFIX),
    **dict.fromkeys(
        "= < > <= >= =< => ==> != =/= == === := -> --> <-> <=> |-> << >> <> ~ ~= ~~".split(),
        Kind.RELATION,
    ),
    **dict.fromkeys("^ _".split(), Kind.SCRIPT),
    **dict.fromkeys("! ' ’ ′ ″ °".split(), Kind.POSTFIX),
    **dict.fromkeys("( [ {".split(), Kind.OPENING),
    **dict.fromkeys(") ] }".split(), Kind.CLOSING),
    **dict.fromkeys("| || ∣ ‖ ∥".split(), Kind.BAR),
    **dict.fromkeys(", ;".split(), Kind.COMMA),
    **dict.fromkeys("... … ⋯".split(), Kind.DOTS),
    "△": Kind.PREFIX,
    "∆": Kind.PREFIX,
    "⊥": Kind.RELATION,
    "....": Kind.DOTS,
    "√": Kind.ROOT,
    "∛": Kind.ROOT,
    "∜": Kind.ROOT,
}
_WEAK_SIGNS: Final = frozenset("+ - * / = < > – ' ’ ! | || ( ) [ ] { } , ; ^ _ ~ · ...".split())
_BY_ROLE: Final = {
    boxes.MULTIPLICATION: Kind.INFIX,
    boxes.ADDITION: Kind.INFIX,
    boxes.RELATION: Kind.RELATION,
    boxes.META: Kind.RELATION,
    boxes.BIG: Kind.BIG,
    boxes.INTEGRAL: Kind.BIG,
    boxes.PREFIX: Kind.PREFIX,
    boxes.NEGATION: Kind.PREFIX,
    boxes.FUNCTION: Kind.FUNCTION,
    boxes.TRIGONOMETRIC: Kind.FUNCTION,
    boxes.OPENING: Kind.OPENING,
    boxes.CLOSING: Kind.CLOSING,
    boxes.BAR: Kind.BAR,
    boxes.IDENTIFIER: Kind.SYMBOL,
}
# Signs that the table lists as letters, but that also occur in prose.
_NO_MATHEMATICS: Final = frozenset("§¶®©£¥†‡♣♢♡♠✓✠★■□#&$_\\Åå æÆœØøß")
_CLOSINGS: Final = frozenset(")]|‖")
_COMMAND_PAIRS: Final = {
    "\\langle": "\\rangle", "\\lfloor": "\\rfloor", "\\lceil": "\\rceil",
    "\\lvert": "\\rvert", "\\lVert": "\\rVert",
}  # fmt: skip
_COMMAND_BRACKETS: Final = {
    "\\{": Kind.OPENING,
    "\\}": Kind.CLOSING,
    "\\|": Kind.BAR,
    **dict.fromkeys(_COMMAND_PAIRS, Kind.OPENING),
    **dict.fromkeys(_COMMAND_PAIRS.values(), Kind.CLOSING),
}
_PROSE_COMMANDS: Final = frozenset(
    "emph textbf textit textsc textsl underline section subsection subsubsection paragraph item "
    "LaTeX TeX newline par label ref cite footnote noindent centering".split()
)


def tokens(text: str) -> list[Token]:
    r"""Split a text into tokens.

    >>> tokens(r"is \pi a sum?")
    [SHORT('is'), COMMAND('\\pi'), LETTER('a'), BIG('sum'), OTHER('?')]
    """
    lexer = _Lexer(text)
    for match in _TOKEN.finditer(text):
        lexer.read(match)
    _mark_addresses(lexer.found)
    _mark_images(lexer.found)
    _pair(lexer.found)
    _pair_environments(lexer.found)
    return lexer.found


class _Lexer:
    """Turns matches of the regular expression into tokens.

    A match is usually one token. The exceptions are read by the methods that return whether they
    have read the match.
    """

    def __init__(self, text: str) -> None:
        self.found: list[Token] = []
        self._text = text
        self._position = 0
        # The end of an elision, which belongs to the word before it.
        self._elided_until = 0
        self._is_greek = _GREEK_WORD.search(text) is not None
        self._exceptions = {
            "greek": self._read_greek_letters,
            "command": self._read_difference_of_sets,
            "latin": self._read_latin,
            "wild": self._read_question_mark,
        }

    def read(self, match: re.Match[str]) -> None:
        """Add the tokens of the next match."""
        start, end = match.span()
        between = self._text[self._position : start]
        self._position = end
        if start < self._elided_until:
            return
        gap = 2 if "\n" in between else 1 if between else 0
        written, group = match[0], match.lastgroup or ""
        if written == "&" and _ALIGNED.match(self._text, end):
            return
        exception = self._exceptions.get(group)
        if exception is None or not exception(match, gap):
            self._read_one_token(match, group, gap)

    def _add(self, kind: Kind, text: str, start: int, gap: int, strong: bool = False) -> None:
        self.found.append(Token(kind, text, start, gap, strong))

    def _read_one_token(self, match: re.Match[str], group: str, gap: int) -> None:
        written, (start, end) = match[0], match.span()
        if written in CALLED and _CALL.match(self._text, start):
            self._add(Kind.FUNCTION, written, start, gap)
        elif written == "†" and _is_adjoint(self.found, gap):
            self._add(Kind.SUP, written, start, 0, True)
        else:
            kind, strong = _kind(group, written)
            is_closed = self._text[end : end + 1] in _CLOSINGS
            if kind is Kind.FUNCTION and len(written) == 2 and is_closed:
                kind = Kind.SHORT  # ||f+tg||
            self._add(kind, written, start, gap, strong)

    def _read_greek_letters(self, match: re.Match[str], gap: int) -> bool:
        """Read a few Greek letters as variables, unless they are a word."""
        written, start = match[0], match.start()
        is_function = written in FUNCTIONS  # ημ
        if len(written) >= SHORT or is_function:
            return False
        if self._is_greek and _is_greek_word(self._text, match):
            return False
        for place, letter in enumerate(written, start):
            is_sum = letter in "ΣΠ" and _begins_sum(self._text, place + 1, self.found)
            kind = Kind.BIG if is_sum else Kind.SYMBOL
            self._add(kind, letter, place, gap if place == start else 0, True)
        return True

    def _read_difference_of_sets(self, match: re.Match[str], gap: int) -> bool:
        r"""Read the backslash between sets, and the sign after it: ``A\B``, ``ℝ\{0}``."""
        if not _is_without(self._text, self.found, match, gap):
            return False
        start, sign = match.start(), match[0][1]
        self._add(Kind.INFIX, "∖", start, gap, True)
        if sign == "{":
            self._add(Kind.OPENING, sign, start + 1, 0)
        elif sign == " ":
            self._position -= 1
        else:
            self._add(Kind.LETTER, sign, start + 1, 0)
        return True

    def _read_latin(self, match: re.Match[str], gap: int) -> bool:
        """Read Latin letters that are several tokens, or a word with an elision."""
        written, (start, end) = match[0], match.span()
        if _is_transposed(self.found, written, gap):
            rest = written[1:]
            self._add(Kind.LETTER, "T", start, 0)
            self._add(Kind.LETTER if len(rest) == 1 else _latin(rest), rest, start + 1, 0)
        elif written in _DIFFERENTIALS:
            self._add(Kind.LETTER, "d", start, gap)
            self._add(Kind.NAME, written[1:], start + 1, 0)
        elif _PLANCK.fullmatch(written):
            for place, letter in enumerate(written, start):
                is_strong = letter == "ħ"
                kind = Kind.SYMBOL if is_strong else Kind.LETTER
                self._add(kind, letter, place, gap if place == start else 0, is_strong)
        elif (elided := _elided(self._text, start, end)) > end:
            self._add(Kind.WORD, self._text[start:elided], start, gap)
            self._elided_until = elided
        else:
            return False
        return True

    def _read_question_mark(self, match: re.Match[str], gap: int) -> bool:
        """Read a question mark that ends a sentence, not a wildcard: ``Is it true?x_n > 0``."""
        if gap or not self.found or self.found[-1].kind not in PROSE:
            return False
        start, letter, digits = match.start(), match[0][1], match[0][2:]
        self._add(Kind.OTHER, "?", start, 0)
        self._add(Kind.LETTER, letter, start + 1, 0)
        if digits:
            self._add(Kind.NUMBER, digits, start + 2, 0)
        return True


def _begins_sum(text: str, after: int, found: Sequence[Token]) -> bool:
    """Whether terms follow a capital sigma or pi, and it is not a matrix among others."""
    is_factor = bool(found) and found[-1].kind is Kind.LETTER and found[-1].text.isupper()
    is_matrix = is_factor and _CAPITAL.match(text, after) is not None
    return not is_matrix and _SUMMED.match(text, after) is not None


def _is_greek_word(text: str, found: re.Match[str]) -> bool:
    """Whether a few letters are a word in a Greek text: η γωνία, but not η = 30."""
    written = found[0]
    if written in _GREEK_ARTICLES:
        return _FOLLOWED_BY_GREEK.match(text, found.end()) is not None
    stop_words = language("el").stop_words
    return _GREEK_ACCENTS.search(written) is not None or written.lower() in stop_words


def _is_transposed(found: list[Token], written: str, gap: int) -> bool:
    """Whether the letters after ``^`` begin with the T of a transpose: ``h^TA``."""
    is_power = bool(found) and found[-1].text == "^" and not gap
    return is_power and written[0] == "T" and 1 < len(written) <= SHORT


def _is_without(text: str, found: list[Token], match: re.Match[str], gap: int) -> bool:
    """Whether a backslash is the difference of two sets, not the begin of a command."""
    before = found[-1] if found else None
    is_set = before is not None and (
        before.kind in (Kind.SYMBOL, Kind.CLOSING)
        or (before.kind is Kind.LETTER and before.text.isupper())
    )
    is_even = (gap == 1) == (match[0] == "\\ ")
    is_known = len(match[0]) > 2 or (match[0][1:].isalpha() and _command(match[0])[1])
    return is_set and is_even and not is_known and _WITHOUT.match(text, match.start()) is not None


def _is_adjoint(found: list[Token], gap: int) -> bool:
    """Whether a dagger directly follows an operand, ``a†a``, and not a word or a year."""
    before = found[-1] if found and not gap else None
    return before is not None and before.kind in (
        Kind.LETTER, Kind.SYMBOL, Kind.SUB, Kind.CLOSING,
    )  # fmt: skip


def _elided(text: str, start: int, end: int) -> int:
    """Return the end of a word, including an apostrophe and what follows it."""
    mark = _ELISION.match(text, end)
    if mark is None:
        return end
    if end - start == 2 and mark.end() == end + 1 and not _is_letter_at(text, end + 1):
        return end  # (uv)' = u'v + uv'
    is_variable = end - start == 1 and not mark[0][1:] and text[start] not in "lLdDsScCjJnNmMtT"
    if is_variable or (
        end - start == 1 and mark.end() == end + 1 and not _is_letter_at(text, end + 1)
    ):
        return end
    word = _TOKEN.match(text, end + 1)
    return word.end() if word is not None and word.lastgroup == "latin" else mark.end()


def _is_letter_at(text: str, place: int) -> bool:
    return place < len(text) and text[place].isalpha()


@lru_cache(maxsize=1 << 12)
def _kind(group: str, written: str) -> tuple[Kind, bool]:
    if group == "number":
        return Kind.NUMBER, False
    if group == "latin":
        return _latin(written), written in SIGNS_ONLY
    if group == "word":
        if written in FUNCTIONS:  # НОД
            return Kind.FUNCTION, False
        return (Kind.NAME if written in SIGN_NAMES else Kind.WORD), False
    if group == "greek":
        return (Kind.FUNCTION if written in FUNCTIONS else Kind.WORD), False  # ΜΚΔ
    if group == "fence":
        return (Kind.OPENING if written.startswith("\\l") else Kind.CLOSING), True
    if written in _COMMAND_BRACKETS:
        return _COMMAND_BRACKETS[written], True
    if group == "command":
        return _command(written)
    plain = {"letter": Kind.SYMBOL, "sup": Kind.SUP, "sub": Kind.SUB, "wild": Kind.WILD}
    if group in plain:
        return plain[group], group != "wild"
    if group == "delimiter":
        return Kind.DELIMITER, False
    return kind_of_sign(written)


@cache
def kind_of_sign(written: str) -> tuple[Kind, bool]:
    """Return the kind of a sign, and whether it does not occur in prose."""
    if written in _ASCII_SIGNS:
        return _ASCII_SIGNS[written], written not in _WEAK_SIGNS
    if written in _NO_MATHEMATICS or written.isascii():
        return Kind.OTHER, False
    sign = SIGNS.get(written) or BRACKETS.get(written)
    kind = _BY_ROLE.get(sign.role, Kind.OTHER) if sign is not None else Kind.OTHER
    return kind, kind is not Kind.OTHER


@cache
def _latin(written: str) -> Kind:
    if len(unicodedata.normalize("NFC", written)) == 1 or _ACCENTED.fullmatch(written):
        decomposed = unicodedata.normalize("NFD", written)
        is_variable = written.isascii() or _ACCENTED.fullmatch(decomposed)
        return Kind.LETTER if is_variable else Kind.WORD
    if written in ROOTS:
        return Kind.ROOT
    if written in FUNCTIONS or written in FENCED or _RUN_TOGETHER.fullmatch(written):
        return Kind.FUNCTION
    if written in BIG:
        return Kind.BIG
    if written in SIGN_NAMES:
        return Kind.SYMBOL if written in SIGNS_ONLY else Kind.NAME
    if written in CONNECTIVES:
        return Kind.CONNECTIVE
    if written in INFIX_WORDS or len(written) > SHORT or not written.isascii():
        return Kind.WORD
    return Kind.SHORT


@cache
def _command(written: str) -> tuple[Kind, bool]:
    name = written[1:]
    if name in _PROSE_COMMANDS or (name and name in "$%#&"):
        return Kind.PROSE_COMMAND, False
    known = (
        written in SIGNS
        or written in BRACKETS
        or written in COMMANDS
        or written in INFIX
        or written in IGNORED
        or written in ACCENTS
        or written in FONTS
        or name in TEXT_NAMES
        or name in ("begin", "end", "not", "limits")
    )
    is_sign = bool(name) and not name[0].isalpha()
    return Kind.COMMAND, known and not is_sign


def role(command: str) -> int:
    r"""Return the role of the sign of a command; that of a letter if it has no sign.

    >>> role("\\le") == boxes.RELATION
    True
    """
    sign = SIGNS.get(command) or BRACKETS.get(command)
    return boxes.IDENTIFIER if sign is None else sign.role


def _mark_addresses(found: list[Token]) -> None:
    """Turn all tokens of a web or mail address into words."""
    first = 0
    while first < len(found):
        last = first + 1
        while last < len(found) and not found[last].gap:
            last += 1
        chunk = found[first:last]
        head = chunk[0].text.casefold()
        is_mail = any(token.text == "@" for token in chunk) and len(chunk) > 2
        is_address = head in ("http", "https", "www", "ftp") and len(chunk) > 2
        if is_mail or is_address:
            for token in chunk:
                token.kind, token.strong = Kind.WORD, False
        first = last


def _mark_images(found: list[Token]) -> None:
    """Turn each ``im`` into a function if it is the image of a map, not the German preposition.

    A letter must follow it. In addition, an operator or a function of images must precede it
    (``dim im f``), or the query must mention a kernel and the image must be in brackets or before
    an operator or relation (``im f = ker g``).
    """
    has_kernel = any(token.text == "ker" for token in found)
    for place, token in enumerate(found):
        mapping = found[place + 1] if place + 1 < len(found) else None
        if token.text != "im" or mapping is None or mapping.gap != 1:
            continue
        if mapping.kind not in (Kind.LETTER, Kind.SYMBOL) and mapping.text not in GREEK:
            continue
        before = found[place - 1] if place else None
        beyond = found[place + 2] if place + 2 < len(found) else None
        is_compared = beyond is not None and beyond.kind in (Kind.RELATION, Kind.INFIX)
        if before is not None and before.kind is Kind.OPENING:
            is_compared = True
            before = found[place - 2] if place > 1 and not before.gap else before
        is_wanted = before is not None and (
            before.text in _OF_IMAGES
            or (before.kind in (Kind.RELATION, Kind.INFIX) and before.text not in HYPHENS)
        )
        if is_wanted or (has_kernel and is_compared):
            token.kind = Kind.FUNCTION


def _pair_environments(found: list[Token]) -> None:
    r"""Set the mate of each ``\begin`` to the end of its environment."""
    begun: list[int] = []
    for place, token in enumerate(found):
        if token.text == "\\begin":
            begun.append(place)
        elif token.text == "\\end" and begun and place + 1 < len(found):
            found[begun.pop()].mate = max(found[place + 1].mate, place)


def _pair(found: list[Token]) -> None:
    """Set the mates of brackets; ``[0,1)`` is a pair.

    Braces pair only with braces, and angles only with angles: in ``(|0⟩ + |1⟩)`` an angle closes
    a bar. Brackets of LaTeX without a partner are commands like others.
    """
    waiting: list[int] = []
    braces: list[int] = []
    angles: list[int] = []
    alone = {"{": braces, "}": braces, "⟨": angles, "⟩": angles}
    for opening, closing in _COMMAND_PAIRS.items():
        alone[opening] = alone[closing] = []
    for place, token in enumerate(found):
        if token.kind is Kind.OPENING:
            alone.get(token.text, waiting).append(place)
        elif token.kind is Kind.CLOSING:
            stack = alone.get(token.text, waiting)
            if stack:
                token.mate = stack.pop()
                found[token.mate].mate = place
            elif token.text in alone and token.text[0] == "\\":
                token.kind = Kind.COMMAND
    for command in _COMMAND_PAIRS:
        for place in alone[command]:
            found[place].kind = Kind.COMMAND
