r"""Converts the markup of Wikipedia and other wikis to HTML for `mathsetu.markup.html`.

Formulas in ``<math>`` and in templates for formulas are kept. Tables, links and other known
templates are reduced to their text; references and unknown templates are removed. Any input is
read, in linear time.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator

from mathsetu.markup.mathml import without_comments
from mathsetu.markup.pages import html_formula
from mathsetu.markup.references import unescape

_HEADING = re.compile(r"^=[^\n]*=[ \t]*+$", re.MULTILINE)
_RAW = re.compile(
    r"<(math|chem|ce|nowiki|pre|syntaxhighlight|source|code|ref|gallery|timeline|score|graph|"
    r"templatedata|imagemap|hiero)\b([^<>]*+)>",
    re.IGNORECASE,
)
_BRACKETS = re.compile(r"(\{\{|\}\}|\[\[|\]\])")
_DEEPEST = 40
_EXTERNAL = re.compile(r"\[(?:https?|ftp)?:?//[^\s\[\]]++[ \t]*+([^\[\]\n]*+)\]")
_QUOTES = re.compile(r"'{2,5}")
_SWITCH = re.compile(r"__[A-Z]{3,20}__")
_TABLE_MARK = re.compile(r"^[ \t:]*+(?:\{\||\|\}|\|-|\|\+)[^\n]*+$", re.MULTILINE)
_CELLS = re.compile(r"^[ \t]*+[|!](?:[^\[\]|\n<>{}\"]*+\"[^\n|]*+\|(?!\|))?|\|\||!!", re.MULTILINE)
_LIST = re.compile(r"^[*#:;]++[ \t]*+", re.MULTILINE)
_NAMED = re.compile(r"\s*+([\w -]{1,40})=(?!=)")
# Templates that write a formula in HTML, and those that only format text.
_FORMULAS = frozenset(("math", "mvar", "var", "bigmath", "intmath"))
_TEXTS = frozenset(
    "nowrap nobr lang small big em strong abbr overline underline sup sub su keypress angle "
    "not a typo ill interlanguage link visible anchor var serif vanchor".split()
) | {"not a typo", "interlanguage link", "visible anchor"}
_SIGNS = {"pi": "π", "=": "=", "!": "|", "!!": "||", "ndash": "–", "mdash": "—", "spaces": " ",
          "snd": " – ", "e": "e", "gaps": " ", "-": "", "clear": "", "thinsp": " ",
          "nbsp": " ", "minus": "−", "times": "×", "infin": "∞"}  # fmt: skip
_STATEMENTS = frozenset(("math theorem", "math proof", "numblk", "equation box 1", "bi", "quote",
                         "block indent", "blockquote", "ordered list", "unordered list",
                         "unbulleted list", "plainlist", "hidden", "collapse top",
                         "efn", "mathproof", "demostración", "teorema", "ecuación", "definición",
                         "demostracion", "satz"))  # fmt: skip
_UNSEEN_LINKS = re.compile(r"[^\[\]|:]{1,40}:")


def sections(source: str) -> Iterator[tuple[int, str, str]]:
    r"""Yield the sections of a page: level, heading and text, the last two as HTML.

    >>> list(sections("A [[set|collection]].\n== Proof ==\nLet <math>x<1</math>."))[1][1:]
    ('Proof', '\nLet <span class="math-container">$x&lt;1$</span>.')
    """
    text, held = _hold(without_comments(source))
    text = _without_brackets(text)
    level, title, start = 0, "", 0
    for heading in _HEADING.finditer(text):
        yield level, _finished(title, held), _finished(text[start : heading.start()], held)
        line = heading[0].rstrip()
        bare = line.strip("=")
        signs = (len(line) - len(line.lstrip("=")), len(line) - len(line.rstrip("=")))
        level, title, start = min(*signs, 6), bare.strip(), heading.end()
    yield level, _finished(title, held), _finished(text[start:], held)


def _hold(source: str) -> tuple[str, list[str]]:
    """Replace each formula and code by a numbered placeholder; return the text and their HTML."""
    source = source.replace("\0", "")
    held: list[str] = []
    parts: list[str] = []
    position = 0
    missing: set[str] = set()
    for opening in _RAW.finditer(source):
        if opening.start() < position:
            continue
        name, attributes = opening[1].lower(), opening[2]
        parts.append(source[position : opening.start()])
        position = opening.end()
        if attributes.rstrip().endswith("/"):
            continue
        closing = f"</{opening[1]}"
        end = -1 if closing in missing else source.find(closing, position)
        after = source.find(">", end) if end >= 0 else -1
        if after < 0:
            missing.add(closing)
            continue
        inner, position = source[opening.end() : end], after + 1
        made = _made(name, inner, attributes)
        if made:
            parts.append(f"\0{len(held)}\0")
            held.append(made)
    parts.append(source[position:])
    return "".join(parts), held


def _made(name: str, inner: str, attributes: str) -> str:
    if name == "math":
        dollars = "$$" if "block" in attributes else "$"
        return container(unescape(inner), dollars)
    if name in ("chem", "ce"):
        return container(f"\\ce{{{unescape(inner)}}}", "$")
    if name == "nowiki":
        return html.escape(unescape(inner), quote=False)
    if name in ("code", "pre", "source", "syntaxhighlight"):
        return f"<code>{html.escape(unescape(inner), quote=False)}</code>"
    return ""


def container(latex: str, dollars: str = "$") -> str:
    """Return a formula in a container of HTML; empty for an empty formula."""
    latex = latex.strip()
    if not latex:
        return ""
    written = html.escape(f"{dollars}{latex}{dollars}", quote=False)
    return f'<span class="math-container">{written}</span>'


def _without_brackets(text: str) -> str:
    """Resolve templates and links, the innermost first."""
    stack: list[tuple[str, list[str]]] = [("", [])]
    for piece in _BRACKETS.split(text):
        if piece in ("{{", "[[") and len(stack) <= _DEEPEST:
            stack.append((piece, []))
        elif piece in ("}}", "]]") and stack[-1][0] == {"}}": "{{", "]]": "[["}[piece]:
            opening, parts = stack.pop()
            resolve = _template if opening == "{{" else _link
            stack[-1][1].append(resolve("".join(parts)))
        else:
            stack[-1][1].append(piece)
    while len(stack) > 1:  # unclosed brackets are text
        opening, parts = stack.pop()
        stack[-1][1].extend([opening, *parts])
    return "".join(stack[0][1])


def _link(inner: str) -> str:
    target, _, shown = inner.partition("|")
    if not target.startswith(":") and _UNSEEN_LINKS.match(target) and target[:1] != "#":
        # A file, a category or a language link; other titles with a colon are rare.
        return "" if " " not in target.partition(":")[0].strip() else shown or target
    return (shown.rpartition("|")[2] if shown else target).lstrip(":")


def _template(inner: str) -> str:
    name, _, rest = inner.partition("|")
    name = " ".join(name.replace("_", " ").split()).lower()
    values = rest.split("|") if rest else []
    plain = [value for value in values if not _NAMED.match(value)]
    if name in _FORMULAS:
        text = plain[0] if plain else rest
        return container(html_formula(_QUOTES.sub("", text.removeprefix("1=")).strip()))
    if name in _SIGNS:
        return _SIGNS[name]
    maker = _MAKERS.get(name)
    if maker is not None and plain:
        return maker(plain)
    if name in _STATEMENTS:
        return "\n" + "\n".join(_NAMED.sub("", value, count=1) for value in values) + "\n"
    if name in _TEXTS and plain:
        return plain[-1]
    return ""


def _fraction(parts: list[str]) -> str:
    if len(parts) > 2:
        return f"{parts[0]} {parts[1]}/{parts[2]}"
    return f"({parts[0]})/({parts[1]})" if len(parts) > 1 else f"1/{parts[0]}"


_MAKERS: dict[str, Callable[[list[str]], str]] = {
    "sqrt": lambda parts: f"√({parts[0]})", "radic": lambda parts: f"√({parts[0]})",
    "frac": _fraction, "sfrac": _fraction, "abs": lambda parts: f"|{parts[0]}|",
    "floor": lambda parts: f"⌊{parts[0]}⌋", "ceil": lambda parts: f"⌈{parts[0]}⌉",
    "sub": lambda parts: f"<sub>{parts[0]}</sub>", "sup": lambda parts: f"<sup>{parts[0]}</sup>",
    "norm": lambda parts: f"‖{parts[0]}‖", "val": lambda parts: parts[0],
    "lang": lambda parts: parts[-1], "transl": lambda parts: parts[-1],
}  # fmt: skip


def _finished(text: str, held: list[str]) -> str:
    """Finish a piece of a page: remove other markup, and put formulas and code back."""
    text = _EXTERNAL.sub(r"\1", text)
    text = _SWITCH.sub("", _QUOTES.sub("", text))
    if "{|" in text or "\n|" in text or "\n!" in text:
        text = _CELLS.sub(" ", _TABLE_MARK.sub("", text))
    text = _LIST.sub("", text)
    pieces = text.split("\0")
    for number in range(1, len(pieces), 2):
        pieces[number] = held[int(pieces[number])] if pieces[number].isdecimal() else ""
    return re.sub(r"\n{2,}", "\n<p>\n", "".join(pieces))
