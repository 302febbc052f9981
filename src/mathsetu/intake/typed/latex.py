r"""Converts a typed formula to LaTeX: names get backslashes, scripts braces.

LaTeX input stays as typed, except names without a backslash (`mathsetu.intake.typed.mixed`) and
scripts of several digits, which get braces: ``x^10`` means x to the tenth power.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import pairwise, zip_longest
from typing import Final

from mathsetu.formulas.latex.symbols import BRACKETS
from mathsetu.formulas.latex.symbols import SIGNS as LATEX_SIGNS
from mathsetu.intake.typed.atoms import DIFFERENCE, Atom, joined
from mathsetu.intake.typed.matrices import cells_of, matrix_of
from mathsetu.intake.typed.mixed import run_together, with_commands
from mathsetu.intake.typed.names import (
    BIG,
    BINOMIALS,
    CALLED,
    CONNECTIVES,
    FENCED,
    FUNCTIONS,
    GREEK,
    ROOTS,
    SIGNS,
)
from mathsetu.intake.typed.row import Region, end_of_exponent
from mathsetu.intake.typed.slashes import with_fractions
from mathsetu.intake.typed.token_kinds import BARS, Kind, Token
from mathsetu.markup.spans import is_closed, strip_latex

_OPERATORS: Final = {
    "<=": "\\le ", ">=": "\\ge ", "=<": "\\le ", "!=": "\\ne ", "=/=": "\\ne ", "<>": "\\ne ",
    "==": "=", "===": "\\equiv ", "->": "\\to ", "-->": "\\to ", "=>": "\\Rightarrow ",
    "==>": "\\Rightarrow ", "<=>": "\\Leftrightarrow ", "<->": "\\leftrightarrow ",
    "|->": "\\mapsto ", "+-": "\\pm ", "+/-": "\\pm ", "<<": "\\ll ", ">>": "\\gg ",
    "~": "\\sim ", "~=": "\\approx ", "~~": "\\approx ", "...": "\\dots ", "…": "\\dots ",
    "⋯": "\\cdots ", "−": "-", "–": "-", "·": "\\cdot ", "°": "^\\circ ", "’": "'", "′": "'",
    "″": "''", "Σ": "\\sum ", "Π": "\\prod ", "△": "\\triangle ",
    "⊥": "\\perp ",
    "||": "\\|", "‖": "\\|", "½": "\\frac{1}{2}",
    "⅓": "\\frac{1}{3}",
    "¼": "\\frac{1}{4}", "¾": "\\frac{3}{4}", "⅔": "\\frac{2}{3}",
}  # fmt: skip
_BRACKETS: Final = {
    "⟨": "\\langle ", "⟩": "\\rangle ", "⌊": "\\lfloor ", "⌋": "\\rfloor ", "⌈": "\\lceil ",
    "⌉": "\\rceil ",
}  # fmt: skip
_FENCES: Final = {
    "{": "\\{", "}": "\\}", "<": "\\langle ", ">": "\\rangle ", "||": "\\|", "‖": "\\|", "∥": "\\|",
    "∣": "|",
}  # fmt: skip
_SCRIPT = re.compile(r"([\^_])\s*(-?\d{2,}|-\d)")
# GL(2), Hom(A,B); but Ax(t) is a product.
_OPERATOR_NAME = re.compile(r"[A-Z]{2,3}|[A-Z][a-z]{2}|[a-z]{3}")
# The number of combinations: nCr, nCk.
_COMBINATIONS: Final = re.compile("([mn])C([ijkmr])")
# Signs before a letter that denote its change.
_DIFFERENCES: Final = {"∂": "\\partial ", "Δ": "\\Delta ", "∆": "\\Delta "}
_ACCENTS: Final = {
    "\u0302": "hat", "\u0303": "tilde", "\u0304": "bar", "\u0307": "dot", "\u0308": "ddot",
}  # fmt: skip
_MODULUS, _IN_BRACKETS = "\\bmod ", " \\pmod"
# Signs before "inf" that show that it means infinity, not infimum.
_ENDLESS: Final = frozenset({"->", "-->", "→", "-", "−", "="})
# Signs before "inf" at the end that show the same.
_BOUNDS: Final = frozenset("< > <= >= ≤ ≥ !=".split())
_ENDLESS_ARROWS: Final = frozenset({"->", "-->", "→"})
_SCRIPT_SIGNS: Final = {"−": "-", "∗": "*", "⋆": "\\star", "†": "\\dagger", "‡": "\\ddagger"}
# Letters in a script that brackets after them are the argument of; x^n(x+1) is a product.
_APPLIED: Final = frozenset({"f", "g", "phi", "varphi", "φ", "ϕ"})
_LIMITS: Final = frozenset({"\\lim", "\\limsup", "\\liminf"})
# Kinds of tokens that digits directly after them belong to, and digits that are likely powers.
_LETTERS: Final = frozenset({Kind.LETTER, Kind.SYMBOL, Kind.NAME, Kind.SHORT})
_POWERS: Final = frozenset({"2", "3"})
_LAST_INDICES: Final = frozenset("nmkrNMK")
_LONGEST_TOWER: Final = 1000
#: Deeper brackets are not analysed.
_DEEPEST: Final = 100


@dataclass
class _Frame:
    """The atoms between two brackets, and pending constructs that need the next atom."""

    opening: str = ""
    atoms: list[Atom] = field(default_factory=list)
    script: str = ""
    #: What precedes the content of the script: a sign, a function.
    script_sign: str = ""
    root: str | None = None
    root_sign: str = ""
    degree: str = ""
    fence: tuple[str, str] | None = None
    tight: bool = False
    #: Whether the next brackets contain the numbers of a binomial coefficient; whether these do.
    awaits_binomial: bool = False
    is_binomial: bool = False


def indexed_letters(tokens: Sequence[Token]) -> frozenset[str]:
    """Return the letters that have indices, since a number after them is not 2 or 3: x1, v0, a12.

    >>> from mathsetu.intake.typed.lexer import tokens
    >>> indexed_letters(tokens("v1 = 3, v2 = 4, E = mc2"))
    frozenset({'v'})
    """
    return frozenset(letter for letter, digits in _with_digits(tokens) if digits not in _POWERS)


def _with_digits(tokens: Sequence[Token]) -> Iterator[tuple[str, str]]:
    """Yield each letter, or name of a letter, with the digits directly after it."""
    for before, token in pairwise(tokens):
        if token.kind is Kind.NUMBER and not token.gap and before.kind in _LETTERS:
            is_product = before.kind is Kind.SHORT
            yield before.text[-1] if is_product else before.text, token.text


def to_latex(
    text: str, tokens: Sequence[Token], region: Region, indexed: frozenset[str] = frozenset()
) -> str:
    r"""Return the LaTeX of a formula found in a text.

    Args:
        text: The text.
        tokens: The tokens of the text.
        region: The tokens of the formula.
        indexed: The letters of the text whose digits are indices.

    >>> from mathsetu.intake.typed.lexer import tokens
    >>> typed = "n(n+1)/2 <= sqrt(2 pi n)"
    >>> found = tokens(typed)
    >>> to_latex(typed, found, Region(0, len(found)))
    '\\frac{n(n+1)}{2}\\le \\sqrt{2\\pi n}'
    """
    own = list(tokens[region.first : region.after])
    first = region.first
    while own and own[0].kind is Kind.DELIMITER:
        own.pop(0)
        first += 1
    while own and own[-1].kind is Kind.DELIMITER:
        own.pop()
    if not own:
        return ""
    if any(token.kind is Kind.COMMAND or token.text.startswith("\\") for token in own):
        latex = _SCRIPT.sub(r"\1{\2}", with_commands(text, own, first))
    else:
        latex = _written(own, _index_mark(own, indexed))
    latex = strip_latex(latex)
    return latex if is_closed(latex) else _closed(latex)


def _closed(latex: str) -> str:
    """Add missing braces to LaTeX."""
    depth = lacking = 0
    for place, character in enumerate(latex):
        if character in "{}" and (place == 0 or latex[place - 1] != "\\"):
            depth += 1 if character == "{" else -1
            lacking = max(lacking, -depth)
    return "{" * lacking + latex + "}" * (depth + lacking)


def _series(tokens: Sequence[Token]) -> frozenset[str]:
    """Return the letters that are numbered in a list or sum with dots: ``x1 + ... + xn``."""
    if all(token.kind is not Kind.DOTS for token in tokens):
        return frozenset()
    return frozenset(letter for letter, _ in _with_digits(tokens))


def _written(tokens: Sequence[Token], index: str) -> str:
    series = _series(tokens)
    frames = [_Frame()]
    after_exponent = 0
    for place, (token, following) in enumerate(zip_longest(tokens, tokens[1:])):
        if place < after_exponent:
            continue
        frame = frames[-1]
        is_tight = not token.gap and bool(frame.atoms)
        kind = token.kind
        if kind is Kind.OPENING and len(frames) < _DEEPEST:
            inner = _Frame(token.text, tight=is_tight, is_binomial=frame.awaits_binomial)
            frame.awaits_binomial = False
            frames.append(inner)
        elif kind is Kind.CLOSING and len(frames) > 1:
            _add(frames[-2], _bracketed(frames.pop(), token.text))
        elif kind is Kind.SCRIPT and (end := end_of_exponent(tokens, place)):
            factors = [atom for one in tokens[place + 1 : end] for atom in _atoms(one, True)]
            _attach(frame, "^", joined(factors))
            after_exponent = end
        elif kind is Kind.SCRIPT:
            frame.script = token.text
        elif kind is Kind.SUP and following is not None and following.kind is Kind.ROOT:
            frame.degree = _plain(token.text)
        elif kind in (Kind.SUP, Kind.SUB):
            _attach(frame, "^" if kind is Kind.SUP else "_", _plain(token.text))
        elif token.text == "**":
            frame.script = "^"
        elif _is_side(frame, token, following):
            _attach(frame, "^", "+" if token.text == "+" else "-")
        elif frame.script and kind is Kind.INFIX and not frame.script_sign:
            if token.text in ("*", "+", "-", "−", "–"):
                frame.script_sign = "-" if token.text in "−–" else token.text
        elif frame.root is not None and kind is Kind.INFIX and not frame.root_sign:
            frame.root_sign = "-" if token.text in "-−–" else "+"
        elif kind is Kind.ROOT:
            frame.root = frame.degree or ROOTS[token.text]
            frame.degree = ""
        elif kind is Kind.FUNCTION and token.text in BINOMIALS:
            frame.awaits_binomial = True
        elif token.text in FENCED and _is_fenced(following):
            frame.fence = FENCED[token.text]
        elif token.text == "." and frame.opening in BARS:
            _add(frame, Atom("\\cdot ", False, is_tight, sign=token.text))  # |u.v|
        elif kind is Kind.LETTER and token.gap and _is_times(frame, token, following):
            _add(frame, Atom("\\times ", False, sign="times"))
        elif kind is Kind.SHORT and _is_last_term(token, series):
            _add(frame, Atom(f"{token.text[0]}_{token.text[1]}", True, is_tight))
        elif frame.script == "^" and _is_applied(token, following):
            [function] = _atoms(token, is_tight)
            frame.script_sign += function.latex
        else:
            for atom in _atoms(token, is_tight):
                _add(frame, atom, index)
            if kind is Kind.BIG and token.strong and _begins_limits(tokens, place + 1):
                frame.script = "_"
    while len(frames) > 1:
        unclosed = frames.pop()
        latex = _bracket(unclosed.opening) + _finished(unclosed)
        _add(frames[-1], Atom(latex, True, unclosed.tight))
    return _finished(frames[0])


def _begins_limits(tokens: Sequence[Token], place: int) -> bool:
    """Whether the limits of an integral begin here without an underscore: ``∫0^1``, ``∫a^b``."""
    limits = tokens[place : place + 3]
    if len(limits) < 3 or any(one.gap for one in limits) or limits[1].text != "^":
        return False
    return limits[0].kind is Kind.NUMBER or (limits[0].text, limits[2].text) == ("a", "b")


def _is_last_term(token: Token, series: frozenset[str]) -> bool:
    """Whether two letters are the last term of a series: the xn of ``x1 + ... + xn``."""
    return len(token.text) == 2 and token.text[0] in series and token.text[1] in _LAST_INDICES


def _is_fenced(following: Token | None) -> bool:
    """Whether the token after abs, floor, ceil or norm can be its argument."""
    return (
        following is not None
        and following.text not in BARS
        and following.kind not in (Kind.CLOSING, Kind.COMMA, Kind.INFIX, Kind.RELATION)
    )


def _is_applied(token: Token, following: Token | None) -> bool:
    """Whether a token of a script is a function with brackets after it: ``a^phi(n)``."""
    is_function = token.kind is Kind.FUNCTION or token.text in _APPLIED
    return is_function and following is not None and following.text == "(" and not following.gap


def _is_times(frame: _Frame, token: Token, following: Token | None) -> bool:
    """Whether an x between two numbers is a multiplication sign."""
    before = frame.atoms[-1] if frame.atoms else None
    return (
        token.text in "xX"
        and before is not None
        and before.latex.isdigit()
        and following is not None
        and following.kind is Kind.NUMBER
        and bool(following.gap)
    )


def _is_side(frame: _Frame, token: Token, following: Token | None) -> bool:
    """Whether a sign marks a one-sided limit: ``x -> 0+``."""
    ends = following is None or bool(following.gap) or following.kind is Kind.CLOSING
    is_sign = token.kind is Kind.INFIX and token.text in "+-−" and not token.gap
    return is_sign and ends and len(frame.atoms) > 2 and frame.atoms[-2].sign in _ENDLESS_ARROWS


def _atoms(token: Token, is_tight: bool) -> list[Atom]:
    text, kind = token.text, token.kind
    if kind is Kind.NUMBER:
        number = _OPERATORS.get(text) or "".join(
            str(unicodedata.digit(character, 0)) if character.isdigit() else character
            for character in text.replace("٫", ".")
        )
        return [Atom(number, True, is_tight)]
    if kind is Kind.NAME:
        sign = DIFFERENCE if text == "Delta" else ""
        is_letter = text in GREEK
        return [Atom(f"{SIGNS[text]} ", True, is_tight, takes_digits=is_letter, sign=sign)]
    if kind is Kind.FUNCTION:
        name = FUNCTIONS.get(text) or CALLED.get(text)
        if text in FENCED:
            name = f"\\operatorname{{{text}}}"
        if name is not None:
            return [Atom(f"{name} ", True, is_tight, is_function=True)]
        return [Atom(run_together(text), True, is_tight)]
    if kind is Kind.BIG:
        latex = BIG.get(text) or _OPERATORS.get(text) or command_of(text)
        return [Atom(f"{latex.strip()} ", False, is_tight)]
    if text in _DIFFERENCES:
        is_letter = text == "Δ"
        latex = _DIFFERENCES[text]
        return [
            Atom(
                latex,
                True,
                is_tight,
                is_function=is_letter,
                takes_digits=is_letter,
                sign=DIFFERENCE,
            )
        ]
    if kind is Kind.CONNECTIVE:
        return [Atom(CONNECTIVES[text], False)]
    if kind is Kind.SHORT and (chosen := _COMBINATIONS.fullmatch(text)):
        return [Atom(f"\\binom{{{chosen[1]}}}{{{chosen[2]}}}", True, is_tight)]
    if kind is Kind.SHORT:
        is_differential = text[0] == "d" and len(text) == 2
        is_function = not is_differential
        return [Atom(text, True, is_tight, is_function=is_function, takes_digits=True)]
    if kind is Kind.WORD:
        if text == "mod":
            return [Atom(_MODULUS, False)]
        if text == "choose":
            return [Atom("choose", False, sign="choose")]
        return [Atom(f"\\text{{{text}}}", True)]
    if kind is Kind.LETTER and (accented := _accented(text)):
        return [Atom(accented, True, is_tight, is_function=True, takes_digits=True)]
    if kind in (Kind.LETTER, Kind.SYMBOL):
        name = SIGNS.get(text)
        latex = f"{name} " if name else text if text.isascii() else command_of(text)
        return [Atom(latex, True, is_tight, is_function=True, takes_digits=True)]
    if kind is Kind.WILD:
        return [Atom(text, True, is_tight, is_function=True)]
    if kind is Kind.POSTFIX and text == "!":
        return [Atom("!", True, True, sign="post")]
    latex = _OPERATORS.get(text) or (text if text.isascii() else command_of(text))
    if kind is Kind.POSTFIX:
        return [Atom(latex, True, True, sign="post")]
    if kind is Kind.BAR:
        return [Atom(latex, False, is_tight, sign="bar")]
    if kind is Kind.DOTS:
        return [Atom(latex, True, is_tight)]
    return [Atom(latex, False, is_tight, sign=text)]


def _accented(letter: str) -> str:
    r"""Return the LaTeX of a letter with an accent; empty without one.

    >>> _accented("x\u0304"), _accented("x")
    ('\\bar{x}', '')
    """
    decomposed = unicodedata.normalize("NFD", letter)
    accent = _ACCENTS.get(decomposed[1:])
    return f"\\{accent}{{{decomposed[0]}}}" if accent else ""


def _index_mark(tokens: Sequence[Token], indexed: frozenset[str]) -> str:
    """Decide what digits directly after letters are: indices (x1 + x2) or powers (x2 + y2 = r2).

    They are indices if another power is marked, as in x2^2, or if powers of one letter would be
    multiplied, as in R2 R3.
    """
    found = list(_with_digits(tokens))
    is_equation = any(token.kind in (Kind.RELATION, Kind.INFIX) for token in tokens)
    has_powers = any(token.text in ("^", "**") or token.kind is Kind.SUP for token in tokens)
    are_digits = all(digits in _POWERS and letter not in indexed for letter, digits in found)
    if not is_equation or has_powers or not are_digits:
        return "_"
    is_multiplied = any(
        letter.text == again.text and letter.kind in _LETTERS and not digits.gap
        for letter, digits, again in zip(tokens, tokens[1:], tokens[2:], strict=False)
        if digits.kind is Kind.NUMBER
    )
    return "_" if is_multiplied else "^"


def _add(frame: _Frame, atom: Atom, index: str = "_") -> None:
    """Add an atom, or use it as the pending script, radicand or argument."""
    bare = atom.latex.strip() if atom.inner is None else atom.inner
    if frame.fence is not None:
        opening, closing = frame.fence
        frame.fence = None
        atom = Atom(f"{opening}{bare}{closing}", True, atom.is_tight)
        bare = atom.latex
    if frame.root is not None:
        degree = f"[{frame.root}]" if frame.root else ""
        frame.root = None
        atom = Atom(f"\\sqrt{degree}{{{frame.root_sign}{bare}}}", True, atom.is_tight)
        frame.root_sign = ""
        bare = atom.latex
    if bare == "\\inf" and (frame.script or (frame.atoms and frame.atoms[-1].sign in _ENDLESS)):
        bare, atom = "\\infty", Atom("\\infty ", True)
    if frame.script:
        mark, sign = frame.script, frame.script_sign
        frame.script = frame.script_sign = ""
        is_argument = sign.lstrip("+-*") != ""
        _attach(frame, mark, sign.rstrip() + atom.latex if is_argument else sign + bare)
        return
    last = frame.atoms[-1] if frame.atoms else None
    if last is not None and atom.sign == "post":
        last.latex = last.latex.rstrip() + atom.latex
        last.inner, last.takes_digits = None, False
        return
    argument = last is not None and last.is_function and atom.inner is not None and atom.is_tight
    if last is not None and argument:
        name = last.latex.strip()
        if _OPERATOR_NAME.fullmatch(name):
            name = f"\\operatorname{{{name}}}"
        last.latex = name + atom.latex
        last.is_function = last.takes_digits = False
        return
    takes_digits = last is not None and (last.takes_digits or last.latex == "\\log ")
    if last is not None and takes_digits and atom.is_tight and atom.latex.isdigit():
        # x1 is x_1, log2 is log_2
        _attach(frame, index if last.takes_digits else "_", atom.latex)
        last.is_function = True
        return
    frame.atoms.append(atom)


def _attach(frame: _Frame, mark: str, script: str) -> None:
    if not frame.atoms:
        frame.atoms.append(Atom("", True))
    last = frame.atoms[-1]
    latex = last.latex.rstrip()
    if last.script == mark and len(latex) < _LONGEST_TOWER:
        # e^x^2 is e to the x squared.
        inner = latex[last.script_at :]
        inner = inner[1:-1] if inner[:1] == "{" else inner
        latex, script = latex[: last.script_at - 1], f"{inner}{mark}{{{script}}}"
    last.script, last.script_at = mark, len(latex) + 1
    last.latex = latex + mark + (script if len(script) == 1 else f"{{{script}}}")
    last.inner, last.takes_digits = None, False
    # sin^2 x: the next atom is still its argument.
    if last.latex.startswith("\\"):
        last.latex += " "


def _bracket(sign: str) -> str:
    return _FENCES.get(sign) or (sign if sign.isascii() else f"{command_of(sign)} ")


def _bracketed(frame: _Frame, closing: str) -> Atom:
    if frame.atoms and frame.atoms[0].latex == _MODULUS:
        frame.atoms.pop(0)
        return Atom(f"{_IN_BRACKETS}{{{_finished(frame)}}}", False)
    if frame.is_binomial:
        return _binomial(frame, closing)
    if frame.opening == "[" and closing == "]" and (matrix := matrix_of(frame.atoms)):
        return Atom(matrix, True, frame.tight)
    is_choice = len(frame.atoms) == 3 and frame.atoms[1].sign == "choose"
    inner = _finished(frame)
    if is_choice and frame.opening == "(" and closing == ")":
        return Atom(inner, True, frame.tight)  # (n choose k)
    latex = f"{_bracket(frame.opening)}{inner}{_bracket(closing)}"
    is_plain = frame.opening in "({" and closing in ")}"
    cells = cells_of(frame.atoms) if frame.opening == "[" and closing == "]" else ()
    return Atom(latex, True, frame.tight, inner if is_plain else None, cells=cells)


def _binomial(frame: _Frame, closing: str) -> Atom:
    """Return the LaTeX of a named binomial coefficient: ``binom(n,k)``."""
    commas = [place for place, atom in enumerate(frame.atoms) if atom.sign in (",", ";")]
    if len(commas) != 1 or not 0 < commas[0] < len(frame.atoms) - 1:
        latex = f"{CALLED['binom']}{_bracket(frame.opening)}{_finished(frame)}{_bracket(closing)}"
        return Atom(latex, True, frame.tight)
    [comma] = commas
    lower = _finished(replace(frame, atoms=frame.atoms[comma + 1 :]))
    upper = _finished(_Frame(atoms=frame.atoms[:comma]))
    return Atom(f"\\binom{{{upper}}}{{{lower}}}", True, frame.tight)


def _join_congruences(atoms: Sequence[Atom]) -> None:
    """Turn an equation with a modulus into a congruence, as in posts: ``x = a mod n``."""
    equals = None
    for atom in atoms:
        if atom.latex == "=":
            equals = atom
        elif equals is not None and atom.latex.startswith((_MODULUS, _IN_BRACKETS)):
            equals.latex, equals = command_of("≡"), None


def _finished(frame: _Frame) -> str:
    """Return the LaTeX of a frame, with fractions, binomials and limits built."""
    if frame.script or frame.root is not None or frame.fence is not None:
        # A pending construct has no operand.
        waiting = frame.script + frame.script_sign or ("\\surd " if frame.root is not None else "")
        frame.atoms.append(Atom(waiting.replace("_", "\\_").replace("^", "\\hat{}"), True))
    *_, before, last = [Atom("", False), Atom("", False), *frame.atoms]
    if last.latex == "\\inf " and before.sign in _BOUNDS:
        last.latex = "\\infty "
    atoms = _with_limits(frame.atoms)
    _join_congruences(atoms)
    return joined(with_fractions(atoms))


def _with_limits(atoms: list[Atom]) -> list[Atom]:
    """Turn the target of a limit into a subscript: ``lim x->0``."""
    if not any(atom.latex.strip() in _LIMITS for atom in atoms):
        return atoms
    done: list[Atom] = []
    place = 0
    while place < len(atoms):
        atom = atoms[place]
        ahead = atoms[place + 1 : place + 4]
        if (
            atom.latex.strip() in _LIMITS
            and len(ahead) == 3
            and ahead[1].sign in ("->", "-->", "→")
            and ahead[2].is_operand
        ):
            done.append(Atom(f"{atom.latex.strip()}_{{{joined(ahead).strip()}}} ", False))
            place += 4
        elif atom.latex.strip() in _LIMITS and ahead and "\\to " in (ahead[0].inner or ""):
            done.append(Atom(f"{atom.latex.strip()}_{{{ahead[0].inner}}} ", False))
            place += 2
        else:
            done.append(atom)
            place += 1
    return done


def _plain(script: str) -> str:
    """Return the content of a superscript or subscript such as ² and ^*, without its mark."""
    plain = unicodedata.normalize("NFKC", script.lstrip("^_"))
    return "".join(_SCRIPT_SIGNS.get(sign, sign) for sign in plain)


@cache
def command_of(sign: str) -> str:
    r"""Return the command of a Unicode sign; the sign itself if there is none.

    >>> command_of("≤"), command_of("ℝ"), command_of("क")
    ('\\leq ', '\\mathbb{R}', 'क')
    """
    if sign in _BRACKETS:
        return _BRACKETS[sign]
    for table in (LATEX_SIGNS, BRACKETS):
        known = table.get(sign)
        if known is not None:
            for name, other in table.items():
                if other is known and name[0] == "\\" and name[1:].isalpha():
                    return f"{name} "
    plain = unicodedata.normalize("NFKC", sign)
    if len(plain) == 1 and plain.isascii() and plain != sign:
        is_double = "DOUBLE-STRUCK" in unicodedata.name(sign, "")
        return f"\\mathbb{{{plain}}}" if is_double else plain
    return sign
