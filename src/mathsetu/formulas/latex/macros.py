r"""Macros that a formula defines for itself: ``\newcommand``, ``\def``, ``\DeclareMathOperator``.

Tokens from a macro keep the position of its use in the text. Expansion is limited, so that
definitions that multiply themselves end early.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

#: Maximum number of macro uses, and of tokens that they produce.
MAX_USES: Final = 1_000
MAX_TOKENS: Final = 8_000

_COMMANDS: Final = frozenset({"\\newcommand", "\\renewcommand", "\\providecommand"})
_DEFINITIONS: Final = frozenset({"\\def", "\\gdef", "\\edef", "\\xdef"})
_OPERATORS: Final = frozenset({"\\DeclareMathOperator"})
#: The commands that define macros.
DEFINING: Final = _COMMANDS | _DEFINITIONS | _OPERATORS | {"\\let"}

#: A token and the number of the token that it comes from.
Placed = tuple[str, int]


class Macro:
    """A body with its number of arguments; the first argument may have a default."""

    __slots__ = ("arguments", "body", "default")

    def __init__(self, body: list[str], arguments: int, default: list[str] | None) -> None:
        self.body = body
        self.arguments = arguments
        self.default = default


def may_define(latex: str) -> bool:
    r"""Whether a text may define macros; most texts do not and need no expansion.

    >>> may_define("x+1"), may_define("\\def\\R{x}\\R")
    (False, True)
    """
    return "def" in latex or "command" in latex or "\\let" in latex or "Declare" in latex


def expand(tokens: Sequence[str]) -> tuple[list[str], list[int], int | None]:
    r"""Remove macro definitions from tokens and expand the macros.

    Return the tokens, for each the number of the token it comes from, and the number of the
    token at which a limit stopped the expansion, or None.

    >>> expand(["\\def", "\\R", "{", "x", "}", "\\R", "+", "1"])
    (['x', '+', '1'], [5, 6, 7], None)
    """
    # A stack: the next token is the last of the list, so that pop and push are cheap.
    coming: list[Placed] = [(token, number) for number, token in enumerate(tokens)][::-1]
    macros: dict[str, Macro] = {}
    made: list[str] = []
    origins: list[int] = []
    uses = produced = 0
    while coming:
        token, origin = coming.pop()
        if token in _COMMANDS:
            _read_command(coming, macros)
        elif token in _DEFINITIONS:
            _read_definition(coming, macros)
        elif token in _OPERATORS:
            _read_operator(coming, macros)
        elif token == "\\let":  # noqa: S105
            _read_let(coming, macros)
        elif (macro := macros.get(token)) is not None:
            body = _use(macro, coming)
            uses += 1
            produced += len(body)
            if uses > MAX_USES or produced > MAX_TOKENS:
                return made, origins, origin
            coming.extend((part, origin) for part in reversed(body))
        else:
            made.append(token)
            origins.append(origin)
    return made, origins, None


def _argument(coming: list[Placed]) -> list[str]:
    """Read the next argument: one token, or the content of braces."""
    if not coming:
        return []
    token = coming.pop()[0]
    if token != "{":  # noqa: S105
        return [token]
    taken: list[str] = []
    depth = 1
    while coming:
        token = coming.pop()[0]
        depth += (token == "{") - (token == "}")  # noqa: S105
        if not depth:
            break
        taken.append(token)
    return taken


def _optional(coming: list[Placed]) -> list[str] | None:
    """Read the content of square brackets, if they come next; else return None."""
    if not coming or coming[-1][0] != "[":
        return None
    coming.pop()
    taken: list[str] = []
    while coming:
        token = coming.pop()[0]
        if token == "]":  # noqa: S105
            break
        taken.append(token)
    return taken


def _read_command(coming: list[Placed], macros: dict[str, Macro]) -> None:
    r"""Read ``\newcommand{\name}[arguments][default]{body}``."""
    if coming and coming[-1][0] == "*":
        coming.pop()
    name = _argument(coming)
    count = _optional(coming) or ["0"]
    default = _optional(coming)
    body = _argument(coming)
    if name and len(name[0]) > 1 and count[0].isdecimal():
        macros[name[0]] = Macro(body, min(int(count[0][:2]), 9), default)


def _read_definition(coming: list[Placed], macros: dict[str, Macro]) -> None:
    r"""Read ``\def\name#1#2{body}``."""
    if not coming:
        return
    name = coming.pop()[0]
    count = 0
    while coming and coming[-1][0] != "{":
        count += coming.pop()[0].startswith("#")
    body = _argument(coming)
    if name.startswith("\\") and len(name) > 1:
        macros[name] = Macro(body, min(count, 9), None)


def _read_operator(coming: list[Placed], macros: dict[str, Macro]) -> None:
    r"""Read ``\DeclareMathOperator{\name}{text}``."""
    star = bool(coming) and coming[-1][0] == "*"
    if star:
        coming.pop()
    name = _argument(coming)
    text = "".join(token.lstrip("\\") for token in _argument(coming) if token not in ("{", "}"))
    if name and len(name[0]) > 1:
        macros[name[0]] = Macro(["\\operatorname" + "*" * star + "{" + text + "}"], 0, None)


def _read_let(coming: list[Placed], macros: dict[str, Macro]) -> None:
    r"""Read ``\let\name=\other``."""
    if not coming:
        return
    name = coming.pop()[0]
    if coming and coming[-1][0] == "=":
        coming.pop()
    if coming and name.startswith("\\") and coming[-1][0] != name:
        macros[name] = Macro([coming.pop()[0]], 0, None)


def _use(macro: Macro, coming: list[Placed]) -> list[str]:
    """Return the body of a macro with the arguments after it substituted."""
    arguments: list[list[str]] = []
    if macro.default is not None and macro.arguments:
        given = _optional(coming)
        arguments.append(macro.default if given is None else given)
    while len(arguments) < macro.arguments:
        arguments.append(_argument(coming))
    if not arguments:
        return macro.body
    body: list[str] = []
    for token in macro.body:
        if "#" not in token:
            body.append(token)
        elif token[0] == "#":
            number = int(token[1:] or "0")
            if 0 < number <= len(arguments):
                body += arguments[number - 1]
        else:
            # A token that includes its text argument, such as \text{#1}.
            for number, argument in enumerate(arguments, 1):
                token = token.replace(f"#{number}", " ".join(argument))
            body.append(token)
    return body
