"""Converts Markdown of pandoc, Quarto, R Markdown, Obsidian, GitHub and GitLab to CommonMark."""

from __future__ import annotations

import re
from collections.abc import Callable

from mathsetu.markup import split

_NAME = re.compile(r"(?:name|title)\s*=\s*\"([^\"]*)\"")


def _division(found: re.Match[str]) -> str:
    """Return the name of a theorem, from the attributes of its fenced div."""
    name = _NAME.search(found[1])
    return f"{name[1]}.\n" if name else ""


_REFERRED = "eq|thm|lem|cor|prp|def|exm|exr|sec|fig|tbl|rem|cnj"
# Placeholder for a formula or code while the marks around it are processed.
_START, _END = "\ue002", "\ue003"
_HELD = re.compile(f"{_START}(\\d+){_END}")
_PRIVATE = {ord(_START): None, ord(_END): None}
# In this order: the marks of these dialects, and what is kept of each as text.
_MARKS: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (re.compile(r"%%[^%]*+(?:%(?!%)[^%]*+)*+%%"), ""),  # Obsidian: a comment
    (re.compile(r"!\[\[[^\[\]\n]*+\]\]"), ""),  # Obsidian: an embedded image or note
    (re.compile(r"\[\[[^\[\]|\n]*+\|([^\[\]|\n]*+)\]\]"), r"\1"),
    (re.compile(r"\[\[([^\[\]|#^\n]*+)[^\[\]|\n]*+\]\]"), r"\1"),
    (re.compile(r"^((?:[ \t]*+>)++)[ \t]*+\[!([\w-]++)\][+-]?", re.MULTILINE), r"\1 \2:"),
    (re.compile(r"(?<![^\s])\^[\w-]++[ \t]*+$", re.MULTILINE), ""),  # Obsidian: a block id
    (re.compile(r"==(?=\S)([^=\n]++)=="), r"\1"),
    (re.compile(r"~~(?=\S)([^~\n]++)~~"), r"\1"),
    (re.compile(r"(?<=[\w)])\^([\w+-]{1,9}+)\^(?!\w)"), r"<sup>\1</sup>"),  # pandoc
    (re.compile(r"(?<=[\w)])~([\w+-]{1,9}+)~"), r"<sub>\1</sub>"),
    (re.compile(r"\^\[([^\[\]\n]*+)\]"), r" (\1)"),  # pandoc: an inline footnote
    (re.compile(r"\[\^[^\[\]\s]++\]:?"), ""),  # marks of footnotes; their text stays
    (re.compile(r"^:::++[ \t]*+\{([^{}\n]*+)\}[ \t]*+$", re.MULTILINE), _division),
    (re.compile(r"^:::++[^\n]*+$", re.MULTILINE), ""),
    (re.compile(f"({_END})[ \\t]*+\\{{#[^{{}}\n]*+\\}}"), r"\1"),  # Quarto: an equation's label
    (re.compile(r"\[[^\[\]\n@]*+(?<=[\[\s;-])@[^\[\]\n]*+\](?!\()"), ""),  # pandoc: a citation
    (re.compile(rf"(?<![\w@.`/])@(?:{_REFERRED})-[\w:-]++"), ""),  # Quarto: a reference
    (re.compile(r"\\(?:eqref|ref|cite[a-z]*+|label)\{[^{}\n]*+\}"), ""),
)  # fmt: skip
_MATH_FENCE = "```math"
_BACKTICKED = re.compile(r"\$`([^`\n]++)`\$")
# Maximum number of lines of a displayed formula.
_LONGEST_DISPLAY = 200


def to_commonmark(source: str) -> str:
    r"""Convert a text; its formulas are in dollars then, and the number of lines stays the same.

    >>> to_commonmark("So $`x^2`$ ==and== [[note|words]] of 2^10^")
    'So $x^2$ and words of 2<sup>10</sup>'
    """
    return _without_marks(_displays(_in_dollars(source)))


def _without_marks(source: str) -> str:
    """Remove the marks of Markdown dialects, except in formulas and code."""
    held: list[str] = []
    parts: list[str] = []
    for span in split(source, "markdown"):
        if span.kind == "text":
            parts.append(span.raw.translate(_PRIVATE))
        else:
            parts.append(f"{_START}{len(held)}{_END}")
            held.append(span.raw)
    text = "".join(parts)
    for pattern, replacement in _MARKS:
        text = pattern.sub(replacement, text)
    return _HELD.sub(lambda found: held[int(found[1])], text)


def _in_dollars(source: str) -> str:
    r"""Convert the formulas of GitHub and GitLab to dollar delimiters.

    >>> _in_dollars("So $`x^2`$:\n```math\nx\n```")
    'So $x^2$:\n$$\nx\n$$'
    """
    if "```" not in source and "$`" not in source:
        return source
    lines = source.split("\n")
    fence = ""
    for number, line in enumerate(lines):
        mark = line.strip()
        if fence == _MATH_FENCE and mark == "```":
            lines[number], fence = "$$", ""
        elif fence and mark.startswith(fence):
            fence = ""
        elif not fence and mark == _MATH_FENCE:
            lines[number], fence = "$$", _MATH_FENCE
        elif not fence and mark.startswith(("```", "~~~")):
            fence = mark[:3]
        elif not fence:
            lines[number] = _BACKTICKED.sub(r"$\1$", line)
    return "\n".join(lines)


def _displays(source: str) -> str:
    """Remove quotation marks (``>``) and inner blank lines from displayed formulas."""
    if "$$" not in source:
        return source
    lines = source.split("\n")
    opened = -1
    is_code = False
    for number, line in enumerate(lines):
        if line.lstrip().startswith(("```", "~~~")):
            is_code = not is_code
        if is_code or line.count("$$") % 2 == 0:
            continue
        if opened >= 0 and number - opened <= _LONGEST_DISPLAY:
            quoted = lines[opened].lstrip().startswith(">")
            inside = lines[opened + 1 : number + 1]
            if quoted:
                inside = [text.lstrip().removeprefix(">") for text in inside]
            # A blank line would end the formula. Move them after it to keep the number of lines.
            inside.sort(key=lambda text: not text.strip())
            lines[opened + 1 : number + 1] = inside
            opened = -1
        else:
            opened = number
    return "\n".join(lines)
