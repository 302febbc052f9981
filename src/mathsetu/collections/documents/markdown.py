r"""Markdown in the dialects of pandoc, Quarto, R Markdown, Obsidian and notebooks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from mathsetu.collections.documents.sections import Document, posts_of, sections
from mathsetu.collections.documents.tex_expansion import expand_formulas
from mathsetu.collections.rows import BadRows
from mathsetu.markup import split, to_text
from mathsetu.records import Post

# YAML between hyphens, or TOML between plus signs.
_FRONT_MATTER = re.compile(
    r"\A(?:---[ \t]*\n.*?^(?:---|\.\.\.)|\+\+\+[ \t]*\n.*?^\+\+\+)[ \t]*$",
    re.DOTALL | re.MULTILINE,
)
_FRONT_TITLE = re.compile(r"^title[ \t]*[:=][ \t]*([^\n]*)$", re.MULTILINE)
# "hi", or the first part of "pt-BR".
_FRONT_LANGUAGE = re.compile(
    r"^lang(?:uage)?[ \t]*+[:=][ \t]*+[\"']?([a-z]{2,3})\b", re.MULTILINE | re.IGNORECASE
)
# Tags in one line, with or without brackets, or in the following lines, one per line.
_FRONT_TAGS = re.compile(
    r"^(?:tags|keywords)[ \t]*+[:=][ \t]*+([^\n]*+)((?:\n[ \t]*+-[ \t][^\n]*+)*+)", re.MULTILINE
)
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


def read_posts(document: Document, bad: BadRows) -> Iterator[Post]:
    """Read the sections of a file."""
    source = document.text()
    found = _FRONT_MATTER.match(source)
    front = found[0] if found else ""
    title, language = _FRONT_TITLE.search(front), _FRONT_LANGUAGE.search(front)
    # Keep the number of lines, so that messages have the right line numbers.
    body = "\n" * front.count("\n") + source[len(front) :]
    yield from read_source(
        document,
        body,
        bad,
        title=_unquoted(title[1]) if title else "",
        language=language[1].lower() if language else "",
        tags=_tags(front),
    )


def read_source(
    document: Document,
    source: str,
    bad: BadRows,
    *,
    title: str = "",
    language: str = "",
    tags: tuple[str, ...] = (),
) -> Iterator[Post]:
    """Read the sections of a text in Markdown."""
    plain = _without_marks(expand_formulas(_displays(_in_dollars(source)), "markdown"))
    shown = to_text(title, "markdown").replace("\n", " ") if title else ""
    yield from posts_of(
        document,
        sections(plain, "markdown"),
        "markdown",
        bad,
        title=shown,
        language=language,
        tags=tags,
    )


def _tags(front: str) -> tuple[str, ...]:
    r"""Return the tags in the front matter of a file.

    >>> _tags("tags: [algebra, 'number theory']")
    ('algebra', 'number theory')
    >>> _tags("tags:\n  - algebra\n  - '#homework'")
    ('algebra', 'homework')
    """
    found = _FRONT_TAGS.search(front)
    if found is None:
        return ()
    inline = found[1].strip()
    named = inline.strip("[]").split(",") if inline else re.findall(r"-[ \t]([^\n]*)", found[2])
    tags = (_unquoted(name).removeprefix("#").strip() for name in named)
    return tuple(dict.fromkeys(tag for tag in tags if tag))


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


def _unquoted(text: str) -> str:
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        return text[1:-1]
    return text
