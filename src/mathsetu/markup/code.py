r"""Finds code in Markdown and LaTeX sources, in which dollars are not delimiters."""

from __future__ import annotations

import re

_MARKS = re.compile(
    r"^(?:`{3,}|~{3,})|`+|<(?P<ends>/?)(?P<tag>code|pre|kbd|samp)\b[^<>]*>",
    re.MULTILINE | re.IGNORECASE,
)
_LATEX_CODE = re.compile(
    r"\\(?:verb\*?(?P<delimiter>[^\sA-Za-z*])|begin\{(?P<name>verbatim|lstlisting|minted)\}|.)"
    r"|(?P<comment>%[^\n]*\n?)",
    re.DOTALL,
)


def markdown_code(text: str) -> list[tuple[int, int]]:
    """Return the ranges of code spans, fenced blocks and HTML elements for code.

    A run of backticks is closed by the next run of the same length, as in CommonMark; after an
    unclosed fence, the rest of the text is code.

    >>> markdown_code("use `$HOME` for $x$"), markdown_code("<code>$5</code> is $x$")
    ([(4, 11)], [(0, 15)])
    """
    runs = list(_MARKS.finditer(text))
    following: dict[int, int] = {}
    latest: dict[str, int] = {}
    for number in range(len(runs) - 1, -1, -1):
        mark = (runs[number]["tag"] or runs[number][0]).lower()
        if mark in latest and not runs[number]["ends"]:
            following[number] = latest[mark]
        if runs[number]["ends"] or not runs[number]["tag"]:
            latest[mark] = number
    ranges: list[tuple[int, int]] = []
    number = 0
    while number < len(runs):
        closing = following.get(number)
        if closing is None:
            if _opens_a_block(text, runs[number]):
                ranges.append((runs[number].start(), len(text)))
                break
            number += 1
            continue
        ranges.append((runs[number].start(), runs[closing].end()))
        number = closing + 1
    return ranges


def _opens_a_block(text: str, run: re.Match[str]) -> bool:
    """Whether a run begins a fenced block."""
    # A fence may be indented by up to three spaces.
    begin = text.rfind("\n", 0, run.start()) + 1
    at_start = run.start() - begin <= 3 and not text[begin : run.start()].strip(" ")
    if not at_start or len(run[0]) < 3 or run["tag"]:
        return False
    line = text[run.end() :].partition("\n")[0]
    return run[0][0] == "~" or "`" not in line


def latex_code(text: str) -> list[tuple[int, int]]:
    r"""Return the ranges of verbatim text and comments in a LaTeX source.

    >>> latex_code(r"50\% of $x$ % costs $5")
    [(12, 22)]
    """
    ranges: list[tuple[int, int]] = []
    position = 0
    missing: set[str] = set()
    for match in _LATEX_CODE.finditer(text):
        if match.start() < position:
            continue
        closing = match["delimiter"] or (match["name"] and f"\\end{{{match['name']}}}")
        if match["comment"]:
            position = match.end()
        elif closing and closing not in missing:
            end = text.find(closing, match.end())
            if end < 0:
                missing.add(closing)  # not searched for again, so that the time is linear
                continue
            position = end + len(closing)
        else:
            continue
        ranges.append((match.start(), position))
    return ranges
