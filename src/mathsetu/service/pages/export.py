"""Export of a post: as Markdown, as LaTeX, and as BibTeX if it has a source."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from mathsetu.answers.values import PostAnswer
from mathsetu.markup import formula_in_latex, formula_in_markdown
from mathsetu.service.pages.places import web_address
from mathsetu.service.pages.typeset import Piece, with_breaks

_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>#|$])")
_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}
_LATEX_SPECIAL = re.compile(r"[\\~^&%$#_{}]")
_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9._-]+")
_BRACES = re.compile(r"\\.|[{}]", re.DOTALL)
_LONGEST_NAME = 60


def file_name(post_id: str, ending: str) -> str:
    """A file name that is valid on every system.

    >>> file_name("notes/über uns.md#1", "bib")
    'notes-ber-uns.md-1.bib'
    """
    name = _NOT_IN_A_NAME.sub("-", post_id)[:_LONGEST_NAME].strip("-.")
    return f"{name or 'post'}.{ending}"


def markdown(post: PostAnswer) -> str:
    r"""A post as Markdown, formulas between dollars.

    >>> from mathsetu.answers.describe import whole_post
    >>> from mathsetu.records import Post
    >>> print(markdown(whole_post(Post("7", "So $x*y$ *is* 1.", title="On 1"))), end="")
    # On 1
    <BLANKLINE>
    So $x*y$ \*is\* 1.
    """
    return _document(post, _in_markdown, "# {}", "<{}>")


def latex(post: PostAnswer) -> str:
    r"""A post as LaTeX.

    >>> from mathsetu.answers.describe import whole_post
    >>> from mathsetu.records import Post
    >>> print(latex(whole_post(Post("7", "So $x$ is 50% of it.", title="On 1"))), end="")
    \section*{On 1}
    <BLANKLINE>
    So $x$ is 50\% of it.
    """
    return _document(post, _in_latex, r"\section*{{{}}}", r"\url{{{}}}")


def bibtex(post: PostAnswer) -> str:
    r"""An entry for BibTeX; "" for a post that has no address on the web.

    >>> from mathsetu.answers.describe import whole_post
    >>> from mathsetu.records import Post
    >>> post = Post("q 7", "", title="On $x$ & y", language="en", url="https://example.org/q/7")
    >>> print(bibtex(whole_post(post)), end="")
    @misc{q-7,
      title = {{On $x$ \& y}},
      url = {https://example.org/q/7},
      language = {en}
    }
    """
    url = web_address(post.url)
    if not url:
        return ""
    title = " ".join(_in_latex(post.title_pieces).split())
    if not _is_balanced(title):
        title = " ".join(_words_in_latex(post.title).split())
    fields = {
        "title": f"{{{title}}}" if title else "",
        "url": _in_braces(url),
        "language": post.language,
        "note": _words_in_latex(post.collection),
    }
    lines = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items() if value)
    return f"@misc{{{file_name(post.id, '').rstrip('.')},\n{lines}\n}}\n"


def _document(
    post: PostAnswer, written: Callable[[Iterable[Piece]], str], heading: str, link: str
) -> str:
    """The title, question, body and address of a post, without empty ones."""
    title = " ".join(written(post.title_pieces).split())
    url = _in_braces(web_address(post.url))
    parts = [
        heading.format(title) if title else "",
        written(post.question).strip(),
        written(post.body).strip(),
        link.format(url) if url else "",
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def _in_markdown(pieces: Iterable[Piece]) -> str:
    def written(piece: Piece) -> str:
        if piece.kind == "formula":
            return formula_in_markdown(piece.text, display=piece.display)
        if piece.kind == "code":
            return f"\n```\n{piece.text}\n```\n" if "\n" in piece.text else f"`{piece.text}`"
        return _MARKDOWN.sub(r"\\\1", piece.text)

    return "".join(map(written, with_breaks(pieces)))


def _in_latex(pieces: Iterable[Piece]) -> str:
    def written(piece: Piece) -> str:
        if piece.kind == "formula":
            return formula_in_latex(piece.text, display=piece.display)
        words = _words_in_latex(piece.text)
        return rf"\texttt{{{words}}}" if piece.kind == "code" else words

    return "".join(map(written, with_breaks(pieces)))


def _words_in_latex(text: str) -> str:
    return _LATEX_SPECIAL.sub(lambda special: _LATEX[special[0]], text)


def _in_braces(url: str) -> str:
    return url.replace("\\", "%5C").replace("{", "%7B").replace("}", "%7D")


def _is_balanced(text: str) -> bool:
    """Whether the braces of a text close each other, so that an entry ends where it should."""
    depth = 0
    for brace in _BRACES.findall(text):
        depth += {"{": 1, "}": -1}.get(brace, 0)
        if depth < 0:
            return False
    return not depth


#: The formats of an export, with the extensions of their files.
KINDS = {"markdown": (markdown, "md"), "latex": (latex, "tex"), "bibtex": (bibtex, "bib")}
