r"""Cleans saved web pages: removes the additions of renderers and sites.

Formulas are found in the markup of Wikipedia, arXiv (LaTeXML), KaTeX, MathJax 2 and 3, pandoc and
Sphinx. Each is replaced by a container that `mathsetu.markup.html` reads. Navigation, edit links,
reference marks and the visual rendering of formulas are removed.
"""

from __future__ import annotations

import html
import re

from mathsetu.markup.blocks import with_blocks
from mathsetu.markup.delimiters import find_formulas
from mathsetu.markup.html import with_plain_endings
from mathsetu.markup.mathml import mathml_to_latex, without_comments
from mathsetu.markup.references import unescape

#: A tag: the slash of a closing tag, the name, and the rest (the attributes).
TAG = re.compile(
    r"<(/?)([a-zA-Z][a-zA-Z0-9-]*+)((?:[^<>\"']++|\"[^\"<]*+\"|'[^'<]*+')*+)>", re.ASCII
)
_ATTRIBUTE = re.compile(
    r"([a-zA-Z-]++)\s*+=\s*+(?:\"([^\"]*+)\"|'([^']*+)'|([^\s\"'<>]++))", re.ASCII
)
_TEX = re.compile(
    r"<annotation[^<>]*encoding=[\"']?(?:application/x-tex|TeX|LaTeX)[\"']?[^<>]*>([^<]*)<", re.I
)
_WRAPPED = re.compile(r"\{\s*\\(?:display|text)style\s+(.*)\}", re.DOTALL)
_DELIMITERS = (("\\(", "\\)"), ("\\[", "\\]"), ("$$", "$$"), ("$", "$"))
#: Elements without content, which have no closing tag.
VOID = frozenset("area base br col embed hr img input link meta source track wbr".split())
_RAW = frozenset(("script", "style"))
# Classes and roles of elements that are not part of the text.
_NOISE = frozenset(
    "mw-editsection mw-jump-link navbox navbox-styles vertical-navbox sidebar reference reflist "
    "mw-references-wrap catlinks printfooter mw-indicators noprint toc hatnote metadata ambox "
    "mwe-math-mathml-fallback katex-html MathJax MathJax_Display MathJax_Preview MathJax_SVG "
    "MathJax_SVG_Display MathJax_CHTML ltx_eqn_eqno ltx_tag_equation "
    "ltx_tag_equationgroup ltx_bibliography ltx_page_navbar ltx_page_footer ltx_page_logo "
    "ltx_cite ltx_role_footnotemark ltx_note_mark ltx_ERROR ltx_pagination ltx_dates "
    "footnote-ref footnote-back headerlink anchor-link navigation vector-menu mw-portlet "
    "site-notice vector-header-container vector-page-toolbar vector-column-start".split()
)
# Attributes with a meaning for the text.
_KEPT = {"ol": ("start", "type"), "li": ("value",), "td": ("class",), "th": ("class",)}
_NOISE_ROLES = frozenset(("navigation", "search", "contentinfo"))
_CODE = frozenset(("code", "pre", "kbd", "samp"))
_NOISE_TAGS = frozenset(("nav", "footer", "button", "select", "textarea", "noscript", "svg"))
_IMAGES = frozenset(
    "mwe-math-fallback-image-inline mwe-math-fallback-image-display tex latex math".split()
)


# Classes of elements in which MathJax reads no formulas, and the beginnings of formulas.
_LITERAL = frozenset(("mathjax_ignore", "tex2jax_ignore"))
_DELIMITER = re.compile(r"\$|\\[(\[]|\\begin\{")
# References to numbered formulas, which MathJax reads also in text and as whole formulas.
_REF = r"\\(?:eq)?ref\{[^{}<>]{0,200}\}"
_REFERENCE = re.compile(rf"(?<![^\s(])\${_REF}\$|\\\({_REF}\\\)|\({_REF}\)|{_REF}")


# Signs of a page whose formulas have other markup than delimiters and Stack Exchange's containers.
_MARKS = ("<math", "<mjx-container")
_MARKED = re.compile(
    r"class=[\"']?(?!math-container[\"'])(?:[\w -]{0,60}[ \t])?"
    r"(?:(?:katex|math|texhtml|MathJax(?:_[A-Za-z_]{1,20})?)(?=[\s\"'>])|mwe-math-fallback-image)"
)


def with_containers(source: str) -> str:
    """Put formulas in any other markup than delimiters into containers, by cleaning the page.

    Most rows of dumps and tables have no such formulas and are not cleaned, which saves time.
    Indices and exponents are always converted by `with_scripts`, lists and tables by `with_blocks`.

    >>> with_containers("<p>Is <math><mi>x</mi></math> even?</p>")
    '<p>Is <span class="math-container">$x$</span> even?</p>'
    >>> with_containers("<p>Is $x$ <b class='big'>even</b>?</p>")
    "<p>Is $x$ <b class='big'>even</b>?</p>"
    """
    is_page = any(mark in source for mark in _MARKS) or _MARKED.search(source)
    return with_blocks(with_scripts(clean_page(source) if is_page else source))


# Superscript and subscript characters, by the ordinary ones.
_RAISED = dict(zip("0123456789+-−=()nix", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿⁱˣ", strict=True))
_LOWERED = dict(
    zip("0123456789+-−=()aehijklmnoprstuvx", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ", strict=True)
)
# Superscripts after a number that are not exponents.
_ORDINALS = frozenset("st nd rd th er ère ème".split())
_SCRIPT = re.compile(
    r"<(sup|sub)>((?:[^<>\0]|</?(?:i|em|b|strong|var)>){1,60}+)</\1>", re.IGNORECASE
)


def with_scripts(source: str) -> str:
    """Write indices and exponents of HTML as text; without tags, 2<sup>10</sup> would become 210.

    Ordinals (1<sup>st</sup>) and note marks (<sup>[1]</sup>) only lose their tags.

    >>> with_scripts("2<sup>10</sup>, a<sub><i>n</i></sub>, e<sup>kx</sup>, 1<sup>st</sup>")
    '2¹⁰, aₙ, e^(kx), 1st'
    """
    return _SCRIPT.sub(_script, source) if "<su" in source or "<SU" in source else source


def _script(found: re.Match[str]) -> str:
    text = unescape(TAG.sub("", found[2])).strip()
    is_raised = found[1].lower() == "sup"
    characters = _RAISED if is_raised else _LOWERED
    if text and characters.keys() >= set(text):
        return "".join(map(characters.__getitem__, text))
    if text.startswith("[") or text.lower() in _ORDINALS or not text.isprintable():
        return found[2]
    sign = "^" if is_raised else "_"
    return f"{sign}{found[2]}" if len(text) == 1 else f"{sign}({found[2]})"


def clean_page(source: str) -> str:
    r"""Clean a page: formulas become containers, and parts that are not text are removed.

    >>> page = '<p>So <span class="katex"><span class="katex-mathml"><math><semantics><mi>x</mi>'
    >>> page += '<annotation encoding="application/x-tex">x</annotation></semantics></math></span>'
    >>> page += '<span class="katex-html"><span>x</span></span></span>.</p>'
    >>> clean_page(page)
    '<p>So <span><span><span class="math-container">$x$</span></span></span>.</p>'
    """
    return _Page(with_plain_endings(without_comments(source))).cleaned()


class _Page:
    """One pass over the tags of a page."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._parts: list[str] = []
        self._last = ""  # the last formula, until text follows it
        self._found: dict[str, int] = {}
        self._has_formulas = False
        self._texts: list[int] = []  # indices of the parts that are text, except code

    def cleaned(self) -> str:
        source = self._source
        position = 0
        skipped = ""  # the name of the noise element that is being skipped
        depth = 0
        only_formulas = 0
        code = 0  # number of open code elements
        literal, literal_depth = "", 0  # the name of an element without formulas, and its depth
        for tag in TAG.finditer(source):
            start, end = tag.span()
            if start < position:
                continue
            closing, name, attributes = tag[1], tag[2].lower(), tag[3]
            is_open = not closing and name not in VOID and not attributes.endswith("/")
            if skipped:
                if name == skipped:
                    depth += 1 if is_open else -1 if closing else 0
                    if not depth:
                        skipped = ""
                position = end
                continue
            if not only_formulas:
                self._text(source[position:start], is_code=code > 0, is_literal=bool(literal))
            position = end
            if literal and name == literal:
                literal_depth += 1 if is_open else -1 if closing else 0
                literal = literal if literal_depth else ""
            if name in _CODE:
                code = max(0, code + (1 if is_open else -1 if closing else 0))
            if name == "mjx-container":
                only_formulas = max(0, only_formulas + (1 if is_open else -1 if closing else 0))
            elif closing:
                self._parts.append("" if only_formulas else f"</{name}>")
            elif name == "math":
                position = self._mathml(end, attributes)
            elif name in _RAW and is_open:
                position = self._raw(start, end, name, attributes)
            elif only_formulas:
                continue
            else:
                attribute = attributes_of(attributes)
                classes = set(attribute.get("class", "").split())
                if is_open and not literal and classes & _LITERAL:
                    literal, literal_depth = name, 1
                if is_open and is_noise(name, attribute):
                    skipped, depth = name, 1
                    if name == "a" and "id" in attribute:  # the element may be a link target
                        self._parts.append(f"{_kept(name, attribute)}</a>")
                elif name == "img":
                    self._image(attribute, classes)
                elif is_open and name in ("span", "div") and classes & {"math", "texhtml"}:
                    position = self._container(end, name, classes)
                elif is_open and name == "span" and "math-container" in classes:
                    position = self._own_container(start, end, attribute)
                else:
                    self._parts.append(_kept(name, attribute))
        if not skipped and not only_formulas:
            self._text(source[position:], is_code=code > 0, is_literal=bool(literal))
        self._mark_delimited()
        return "".join(self._parts)

    def _text(self, text: str, *, is_code: bool, is_literal: bool) -> None:
        if text.strip():
            self._last = ""
        if is_code:
            self._parts.append(text)
        elif is_literal and _DELIMITER.search(text):
            self._parts.append(f"<code>{text}</code>")
        else:
            self._texts.append(len(self._parts))
            self._parts.append(_REFERENCE.sub("", text) if "ref{" in text else text)

    def _mark_delimited(self) -> None:
        r"""Also mark formulas between delimiters, if a page has formulas of both kinds.

        In a page that marks its formulas, dollars are usually literal. But ``\(`` is always a
        delimiter, and if it occurs, dollars are delimiters as well.
        """
        texts = (self._parts[number] for number in self._texts)
        if not self._has_formulas or not any("\\(" in one or "\\[" in one for one in texts):
            return
        for number in self._texts:
            text = self._parts[number]
            position = 0
            marked: list[str] = []
            for found in find_formulas(text):
                dollars = "$$" if found.display else "$"
                latex = text[found.latex_start : found.latex_end]
                marked += (text[position : found.start], _marked(f"{dollars}{latex}{dollars}"))
                position = found.end
            self._parts[number] = "".join((*marked, text[position:]))

    def _find(self, needle: str, start: int) -> int:
        """Like str.find for increasing starts; results are cached, so that the time is linear."""
        found = self._found.get(needle, 0)
        if 0 <= found < start or needle not in self._found:
            found = self._found[needle] = self._source.find(needle, start)
        return found

    def _mathml(self, start: int, attributes: str) -> int:
        close = self._find("</math>", start)
        if close < 0:
            return start
        inner = self._source[start:close]
        attribute = attributes_of(attributes)
        annotation = _TEX.search(inner)
        latex = unescape(annotation[1]) if annotation else attribute.get("alttext", "")
        display = attribute.get("display") == "block" or attribute.get("mode") == "display"
        self._formula(latex or mathml_to_latex(inner), display)
        return close + len("</math>")

    def _raw(self, start: int, end: int, name: str, attributes: str) -> int:
        close = self._find(f"</{name}", end)
        after = self._find(">", close) if close >= 0 else -1
        if after < 0:
            return len(self._source)
        if "math/tex" in attributes:
            self._formula(self._source[end:close], "display" in attributes)
        elif "math/mml" in attributes:
            self._formula(mathml_to_latex(self._source[end:close]), False)
        return after + 1

    def _image(self, attribute: dict[str, str], classes: set[str]) -> None:
        latex = attribute.get("alt", "")
        if classes & _IMAGES and latex and _bare(latex) != self._last:
            self._formula(latex, any("display" in name for name in classes))

    def _container(self, start: int, name: str, classes: set[str]) -> int:
        close = self._find(f"</{name}>", start)
        if close < 0:
            return start
        after = close + len(name) + 3
        if any(0 <= self._find(sign, start) < close for sign in ("<math", 'class="katex')):
            return start  # already rendered: read the elements inside
        inner = self._source[start:close]
        if "texhtml" in classes:
            nested = inner.count(f"<{name}")
            for _ in range(min(nested, 20)):  # the rendering may contain nested elements
                close = self._find(f"</{name}>", after)
                if close < 0:
                    break
                after = close + len(name) + 3
            self._formula(html_formula(self._source[start : after - len(name) - 3]), False)
        else:
            self._formula(unescape(TAG.sub("", inner)), name == "div" or "display" in classes)
        return after

    def _own_container(self, start: int, end: int, attribute: dict[str, str]) -> int:
        """Keep a container unchanged; if it contains tags, keep only its own tag and read on."""
        close = self._find("</span>", end)
        if close < 0 or 0 <= self._find("<", end) < close:
            self._parts.append(_kept("span", attribute))
            return end
        self._has_formulas = True
        after = close + len("</span>")
        self._parts.append(self._source[start:after])
        return after

    def _formula(self, latex: str, display: bool) -> None:
        latex = _bare(latex)
        if not latex:
            return
        self._last = latex
        dollars = "$$" if display else "$"
        self._has_formulas = True
        self._parts.append(_marked(html.escape(f"{dollars}{latex}{dollars}", quote=False)))


def _marked(written: str) -> str:
    """Return a formula with its delimiters in a container."""
    return f'<span class="math-container">{written}</span>'


def _bare(latex: str) -> str:
    """Remove delimiters and a style command that a site puts around the whole formula."""
    latex = latex.strip()
    for opening, closing in _DELIMITERS:
        if latex.startswith(opening) and latex.endswith(closing) and len(latex) > len(opening):
            latex = latex[len(opening) : -len(closing)].strip()
            break
    wrapped = _WRAPPED.fullmatch(latex)
    if wrapped and _is_one_group(latex):
        latex = wrapped[1].strip()
    return latex.replace("%\n", "").strip()


def _is_one_group(latex: str) -> bool:
    """Whether the first brace is closed by the last character."""
    depth = 0
    for number, character in enumerate(latex):
        depth += (character == "{") - (character == "}")
        if not depth:
            return number == len(latex) - 1
    return False


_HTML_SIGNS: dict[str, str] = {"sup": "^{", "/sup": "}", "sub": "_{", "/sub": "}"}


def html_formula(inner: str) -> str:
    """Convert a formula written with italics, indices and exponents of HTML to LaTeX."""

    def sign(tag: re.Match[str]) -> str:
        return _HTML_SIGNS.get(f"{tag[1]}{tag[2].lower()}", "")

    return unescape(TAG.sub(sign, inner))


def is_noise(name: str, attribute: dict[str, str]) -> bool:
    """Whether an element is navigation or similar, which is not read.

    >>> is_noise("nav", {}), is_noise("div", {"class": "toc"}), is_noise("div", {})
    (True, True, False)
    """
    is_role = attribute.get("role", "") in _NOISE_ROLES
    return (
        is_role or name in _NOISE_TAGS or not _NOISE.isdisjoint(attribute.get("class", "").split())
    )


def attributes_of(source: str) -> dict[str, str]:
    """Parse the attributes of a tag, given the text after its name.

    >>> attributes_of(' href="/a?b&amp;c" ID=d')
    {'href': '/a?b&c', 'id': 'd'}
    """
    return {
        match[1].lower(): unescape(match[2] or match[3] or match[4] or "")
        for match in _ATTRIBUTE.finditer(source)
    }


def _kept(name: str, attribute: dict[str, str]) -> str:
    """Return a tag with its id, for anchors, and with the attributes that `with_blocks` reads.

    Before HTML 5, anchors had a name instead.
    """
    given = attribute.get("id", "") or (attribute.get("name", "") if name == "a" else "")
    kept = {"id": given} | {key: attribute.get(key, "") for key in _KEPT.get(name, ())}
    shown = (f' {key}="{html.escape(value)}"' for key, value in kept.items() if value)
    return f"<{name}{''.join(shown)}>"


_CHARSET = re.compile(rb"<meta[^<>]{0,200}?charset\s*=\s*[\"']?([\w-]{1,40})", re.I)


def declared_encoding(head: bytes) -> str:
    """Return the encoding that a page declares; empty if it declares none.

    >>> declared_encoding(b'<meta charset="iso-8859-2">')
    'iso-8859-2'
    """
    declared = _CHARSET.search(head)
    return declared[1].decode("ascii") if declared else ""
