r"""Extracts the macros that a page defines for MathJax or KaTeX, as LaTeX definitions.

Nothing is executed. In a script, only an object named ``macros`` is read. Its values are strings,
or lists of a string, a number of arguments and a default; reading stops at any other value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, islice

# Bounded, so that repeated or unclosed constructs take linear time.
_SPACE = r"(?:\s++|//[^\n]{0,2000}+|/\*(?:[^*]|\*(?!/)){0,2000}+\*/){0,100}+"
_STRING = (
    r'"(?:[^"\\\n]|\\.){0,2000}+"|\'(?:[^\'\\\n]|\\.){0,2000}+\''
    r"|(?:String\.raw)?`(?:[^`\\$]|\\.|\$(?!\{)){0,2000}+`"
)
_SCRIPT = re.compile(r"<script(?![a-z])[^<>]{0,2000}+>", re.IGNORECASE)
_SCRIPT_END = re.compile("</script", re.IGNORECASE)
_FOR_FORMULAS = re.compile(r"MathJax|katex|renderMathInElement", re.IGNORECASE)
_OBJECT = re.compile(rf"(?<![\w$])[\"']?[mM]acros[\"']?{_SPACE}[:=]{_SPACE}\{{")
_ENTRY = re.compile(
    rf"{_SPACE}(?P<name>[A-Za-z]{{1,100}}+|{_STRING}){_SPACE}:{_SPACE}"
    rf"(?:(?P<body>{_STRING})|\[{_SPACE}(?P<listed>{_STRING}){_SPACE}"
    rf"(?:,{_SPACE}(?P<count>\d){_SPACE}(?:,{_SPACE}(?P<default>{_STRING}){_SPACE})?+)?+,?+"
    rf"{_SPACE}\]){_SPACE}(?:,|(?=\}}))",
    re.DOTALL,
)
_NAME = re.compile(r"\\?([A-Za-z]++|[^A-Za-z\s])")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\n", "\n": ""}
_ARGUMENT = re.compile(r"#([1-9])")
_MAX_MACROS = 1_000


def script_macros(source: str) -> list[str]:
    r"""Return the macros in the scripts of a page.

    >>> script_macros(r"<script>MathJax = {tex: {macros: {RR: '\\mathbb{R}'}}}</script>")
    ['\\newcommand{\\RR}[0]{\\mathbb{R}}']
    """
    found = chain.from_iterable(
        _definitions(script, start.end())
        for script in _scripts(source)
        if _FOR_FORMULAS.search(script)
        for start in _OBJECT.finditer(script)
    )
    return list(islice(found, _MAX_MACROS))


def _scripts(source: str) -> Iterator[str]:
    position = 0
    while script := _SCRIPT.search(source, position):
        end = _SCRIPT_END.search(source, script.end())
        if end is None:
            return
        yield source[script.end() : end.start()]
        position = end.end()


def _definitions(script: str, position: int) -> Iterator[str]:
    """Yield the entries of an object, starting after its opening brace."""
    while entry := _ENTRY.match(script, position):
        position = entry.end()
        name = _NAME.fullmatch(_literal_value(entry["name"]))
        body = _literal_value(entry["body"] or entry["listed"])
        if name:
            # Without a stated number, count the arguments in the body, as KaTeX does.
            used = max(map(int, _ARGUMENT.findall(body)), default=0)
            default = f"[{_literal_value(entry['default'])}]" if entry["default"] else ""
            yield f"\\newcommand{{\\{name[1]}}}[{entry['count'] or used}]{default}{{{body}}}"


def _literal_value(literal: str) -> str:
    """Return the value of a string literal, or a bare name."""
    if literal.startswith("String.raw"):
        return literal[len("String.raw`") : -1]
    return literal if literal.isalpha() else _ESCAPE.sub(_character, literal[1:-1])


def _character(escape: re.Match[str]) -> str:
    number = escape[1] or escape[2]
    return chr(int(number, 16)) if number else _ESCAPED.get(escape[3], escape[3])
