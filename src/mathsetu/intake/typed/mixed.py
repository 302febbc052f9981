r"""Completes typed formulas that are partly LaTeX: names and arrows become commands.

In ``sum_{n=1}^\infty`` a backslash is missing; a product of s, u and m is not meant. Everything
else stays as typed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from mathsetu.formulas.latex import boxes
from mathsetu.formulas.latex.fonts import FONTS
from mathsetu.formulas.latex.lexer import TEXT_NAMES
from mathsetu.formulas.latex.symbols import SIGNS as LATEX_SIGNS
from mathsetu.intake.typed.lexer import role
from mathsetu.intake.typed.names import BIG, BINOMIALS, CALLED, FENCED, FUNCTIONS, ROOTS, SIGNS
from mathsetu.intake.typed.token_kinds import ARROWS, Kind, Token

# Commands whose arguments are words, or letters in a font.
_VERBATIM: Final = frozenset(FONTS).union(
    (f"\\{name}" for name in TEXT_NAMES), (r"\begin", r"\end", r"\label", r"\ref", r"\tag")
)
_ARROWS: Final = {
    "->": r"\to", "-->": r"\to", "|->": r"\mapsto", "=>": r"\Rightarrow", "==>": r"\Rightarrow",
    "<->": r"\leftrightarrow", "<=>": r"\Leftrightarrow",
}  # fmt: skip
_LETTERS: Final = {"Σ": r"\sum", "Π": r"\prod"}
_LIMITS: Final = frozenset({r"\lim", r"\limsup", r"\liminf"})
_TARGETS: Final = frozenset({Kind.NUMBER, Kind.LETTER, Kind.SYMBOL, Kind.NAME})
_SCRIPTS: Final = frozenset({Kind.SCRIPT, Kind.SUP, Kind.SUB})
# Signs before "inf" that show that it means infinity, not infimum.
_ENDLESS: Final = ARROWS | frozenset("^_-−=")
_RUN_TOGETHER = re.compile(r"(x?)((?:arc)?(?:sin|cos|tan|cot|sec|csc|ln|log|exp)h?)(x)")
_COMMAND_AT_END = re.compile(r"\\[A-Za-z]+\Z")


def run_together(text: str) -> str:
    r"""Return the LaTeX of a function typed without a space before its variable.

    >>> run_together("sinx"), run_together("xlnx")
    ('\\sin x', 'x\\ln x')
    """
    together = _RUN_TOGETHER.fullmatch(text)
    before, name, after = together.groups() if together else ("", text, "")
    return f"{before}{FUNCTIONS.get(name, name)} {after}"


def with_commands(text: str, tokens: Sequence[Token], first: int = 0) -> str:
    r"""Return the text of partly LaTeX tokens, with names and arrows replaced by commands.

    Args:
        text: The text.
        tokens: The tokens of a formula in the text.
        first: The position of the first of them among all tokens of the text.

    >>> from mathsetu.intake.typed.lexer import tokens
    >>> typed = r"lim_{x->oo} sqrt(x+1)/x \neq \text{lim}"
    >>> with_commands(typed, tokens(typed))
    '\\lim_{x\\to\\infty} \\sqrt{x+1}/x \\neq \\text{lim}'
    """
    pieces = [token.text for token in tokens]
    rewritten: list[int] = []
    verbatim = 0  # the end of a non-mathematical argument
    for place, token in enumerate(tokens):
        if token.text in _VERBATIM:
            verbatim = max(verbatim, _end_of_argument(tokens, place, first))
        elif place >= verbatim:
            rewritten.append(place)
    # In reverse order, since a limit appends a brace to a later token.
    for place in reversed(rewritten):
        _rewrite(pieces, tokens, place, first)
    return _joined(text, tokens, pieces)


def _rewrite(pieces: list[str], tokens: Sequence[Token], place: int, first: int) -> None:
    """Replace a name or an arrow by its command, and the brackets of its argument by braces."""
    token = tokens[place]
    command = _command(tokens, place)
    if not command:
        return
    following = tokens[place + 1] if place + 1 < len(tokens) else None
    closing = _closing(tokens, place + 1, first) if following and following.text == "(" else 0
    if token.text in FENCED:
        if closing and following is not None and not following.gap:
            pieces[place] = ""
            pieces[place + 1], pieces[closing] = FENCED[token.text]
            return
    elif token.kind is Kind.ROOT:
        if closing:
            pieces[place + 1], pieces[closing] = "{", "}"
        elif following is not None and following.kind is Kind.NUMBER:
            pieces[place + 1] = f"{{{following.text}}}"
    elif token.text in BINOMIALS:
        comma = _only_comma(tokens, place + 1, closing, first)
        if comma:
            command = r"\binom"
            pieces[place + 1], pieces[comma], pieces[closing] = "{", "}{", "}"
    elif command in _LIMITS and (target := _target(tokens, place)):
        command += "_{"
        pieces[target] += "}"
    elif command == r"\log" and following is not None and not following.gap:
        command += "_" * (following.kind is Kind.NUMBER)  # log2
    pieces[place] = command


def _command(tokens: Sequence[Token], place: int) -> str:
    """Return the command of a name or an arrow; empty for any other token."""
    token = tokens[place]
    text, kind = token.text, token.kind
    if text == "†" and kind is Kind.SUP:
        return r"^\dagger"
    if kind is Kind.ROOT and text.isalpha():
        return rf"\sqrt[{ROOTS[text]}]" if ROOTS[text] else r"\sqrt"
    if kind is Kind.FUNCTION:
        if text == "inf" and _means_infinity(tokens, place):
            return r"\infty"
        if text in FENCED:
            return rf"\operatorname{{{text}}}"
        return FUNCTIONS.get(text) or CALLED.get(text) or run_together(text).rstrip()
    if kind is Kind.BIG:
        return BIG.get(text) or _LETTERS.get(text, "")
    if kind in (Kind.NAME, Kind.SYMBOL):
        return SIGNS.get(text, "")
    if kind is Kind.WORD and text == "mod":
        return r"\bmod"
    return _ARROWS.get(text, "")


def _means_infinity(tokens: Sequence[Token], place: int) -> bool:
    before = tokens[place - 1].text if place else ""
    following = tokens[place + 1].text if place + 1 < len(tokens) else ""
    return before in _ENDLESS or (before == "{" and following == "}")


def _closing(tokens: Sequence[Token], opening: int, first: int) -> int:
    """Return the position of the closing bracket; 0 if it is not among the tokens."""
    closing = tokens[opening].mate - first
    return closing if opening < closing < len(tokens) else 0


def _end_of_argument(tokens: Sequence[Token], place: int, first: int) -> int:
    """Return the end of the braced argument of a command; 0 if there is none."""
    opening = place + 1
    if opening < len(tokens) and tokens[opening].text == "*":
        opening += 1
    if opening >= len(tokens) or tokens[opening].text != "{":
        return 0
    return _closing(tokens, opening, first) or len(tokens)


def _only_comma(tokens: Sequence[Token], opening: int, closing: int, first: int) -> int:
    """Return the position of the comma between two arguments; 0 if there are not exactly two."""
    commas: list[int] = []
    place = opening + 1
    while place < closing:
        if tokens[place].kind is Kind.OPENING:
            place = _closing(tokens, place, first) or place
        elif tokens[place].kind is Kind.COMMA:
            commas.append(place)
        place += 1
    is_between = len(commas) == 1 and opening + 1 < commas[0] < closing - 1
    return commas[0] if is_between else 0


def _target(tokens: Sequence[Token], place: int) -> int:
    """Return the position of the target of a limit, ``lim x->0``; 0 if there is none."""
    target = place + 3
    if target >= len(tokens) or tokens[place + 2].text not in ARROWS:
        return 0
    if tokens[place + 1].kind not in (Kind.LETTER, Kind.SYMBOL, Kind.NAME):
        return 0
    if tokens[target].text in ("-", "−", "+") and target + 1 < len(tokens):
        target += 1
    goal, following = tokens[target], tokens[target + 1 : target + 2]
    if goal.kind not in _TARGETS and goal.text != "inf" and not _is_letter(goal):
        return 0
    # A target followed by scripts or brackets stays as typed.
    goes_on = any(token.kind in _SCRIPTS or token.kind is Kind.OPENING for token in following)
    return 0 if goes_on else target


def _is_letter(token: Token) -> bool:
    return token.text in LATEX_SIGNS and role(token.text) == boxes.IDENTIFIER


def _joined(text: str, tokens: Sequence[Token], pieces: Sequence[str]) -> str:
    latex: list[str] = []
    for place, (token, piece) in enumerate(zip(tokens, pieces, strict=True)):
        between = text[tokens[place - 1].end : token.start] if place else ""
        if not between and piece[:1].isalpha() and latex and _COMMAND_AT_END.search(latex[-1]):
            between = " "  # x->y
        latex += (between, piece)
    return "".join(latex)
