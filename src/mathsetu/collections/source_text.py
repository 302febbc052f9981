"""Shared functions of readers: they turn the text of a source into the text of a record."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from mathsetu.collections.rows import BadRows
from mathsetu.errors import InputError
from mathsetu.limits import LONGEST_TEXT, MAX_FORMULAS
from mathsetu.markup import extract, split, to_marked_text
from mathsetu.markup.attributes import from_attribute
from mathsetu.markup.convert import text_and_formulas
from mathsetu.markup.mathml import without_comments
from mathsetu.markup.tex import DEFINES
from mathsetu.records import Formula, Post

_HTML = re.compile(r"</(?:p|span|div|a|em|strong|li|b|i|code|pre|math)>", re.IGNORECASE)
# The elements that only whole pages have, and the part of a source in which they begin.
_PAGE = re.compile(r"<(?:!doctype html|html|body)\b", re.IGNORECASE)
_HEAD = 4096
_CLOSING = re.compile(r"</[a-zA-Z][a-zA-Z0-9]*>")
# If at least this share of bodies has HTML tags, they are probably markup, not a topic of the text.
_MANY = 0.1
_BRACKETED = re.compile(r"<([^<>]+)>")
_TAG_ENDS = re.compile(r"[|,;]")


def form_of(text: str) -> str:
    """Return ``html`` if a text has closing tags, otherwise ``text``.

    This is needed because some collections exist in both forms under the same name.

    >>> form_of("<p>Let $x<y$.</p>"), form_of("Let $x<y$.")
    ('html', 'text')
    """
    return "html" if _HTML.search(text) else "text"


def form_of_title(title: str, form: str) -> str:
    """Return the form of a title, given the form of the other texts of its post.

    Many sites store titles as plain text even if the bodies are HTML. A title with ``<`` but
    without closing tags, such as ``$a<b$``, is therefore plain text. Without any ``<``, HTML
    differs from text only by its character references.

    >>> form_of_title("Is $a<b$?", "html"), form_of_title("Is $a&lt;b$?", "html")
    ('text', 'html')
    """
    is_text = form == "html" and "<" in title and not _CLOSING.search(title)
    return "text" if is_text else form


def split_tags(tags: str) -> tuple[str, ...]:
    """Split a list of tags, in any of the notations of dumps and spreadsheets.

    >>> split_tags("<algebra><rings>"), split_tags("|algebra|rings|"), split_tags("algebra, rings")
    (('algebra', 'rings'), ('algebra', 'rings'), ('algebra', 'rings'))
    >>> split_tags("['algebra', 'rings']")
    ('algebra', 'rings')
    """
    if tags.startswith("<"):
        return tuple(_BRACKETED.findall(tags))
    pieces = (piece.strip(" \t[]'\"") for piece in _TAG_ENDS.split(tags))
    return tuple(piece for piece in pieces if piece)


def formulas_in(text: str, post_id: str, where: str) -> tuple[Formula, ...]:
    """Extract the formulas of a marked text; raise ValueError if there are too many.

    >>> [formula.id for formula in formulas_in("$a$ or $b$", "7", "body")]
    ['7:body:0', '7:body:1']
    """
    _check_delimiters(text, where)
    formulas = extract(split(text), post_id, where)
    _check_count(formulas, where)
    return formulas


def read_text(source: str, form: str, post_id: str, where: str) -> tuple[str, tuple[Formula, ...]]:
    """Return a source as marked text, and its formulas; raise ValueError if it is too large.

    >>> read_text("<p>Let $x>0$.</p>", "html", "7", "body")[0]
    'Let $x>0$.'
    """
    _check_source(source, where)
    text, formulas = text_and_formulas(source, form, post_id, where)
    _check_count(formulas, where)
    return text, formulas


def to_text(source: str, form: str = "text") -> str:
    r"""Convert a source to marked text, the form of titles, questions and bodies of posts.

    Macros that the source defines are expanded. A whole page of HTML (with ``<html>`` or
    ``<body>``) loses the menus and the footer of its site.

    Args:
        source: The source.
        form: ``text`` (already marked text), ``markdown``, ``latex`` or ``html``.

    >>> to_text('<p>In <span class="math-container">$a&lt;b$</span> it costs $5.</p>', "html")
    'In $a<b$ it costs \\$5.'
    >>> to_text(r"\newcommand{\R}{\mathbb R} Let $x\in\R$ be \emph{positive}.", "latex")
    'Let $x\\in\\mathbb R$ be positive.'
    """
    if form == "text":
        return to_marked_text(source)
    try:
        return read_texts({"text": (source, form)}, "")["text"][0]
    except ValueError as error:
        raise InputError(str(error)) from error


def read_texts(
    sources: Mapping[str, tuple[str, str]], post_id: str
) -> dict[str, tuple[str, tuple[Formula, ...]]]:
    r"""Read the texts of one post like `read_text`; macros apply to all texts of the post.

    Args:
        sources: The source and its form, by field (title, question, body).
        post_id: The id of the post.

    >>> sources = {"title": ("On $\\R$", "text"), "body": (r"<p>$\def\R{\mathbb R}$Is it?", "html")}
    >>> [text for text, formulas in read_texts(sources, "7").values()]
    ['On $\\mathbb R$', 'Is it?']
    """
    if any(form == "markdown" for _, form in sources.values()):
        sources = _in_commonmark(sources)
    definitions: list[str] = []
    if any(form == "html" and _PAGE.search(source, 0, _HEAD) for source, form in sources.values()):
        sources, definitions = _without_site(sources)
    # If all texts are marked text, they are kept unchanged.
    is_defining = definitions or any(DEFINES.search(source) for source, _ in sources.values())
    if is_defining and any(form != "text" for _, form in sources.values()):
        sources = _with_macros(sources, definitions)
    return {
        where: read_text(source, form, post_id, where) for where, (source, form) in sources.items()
    }


def _in_commonmark(sources: Mapping[str, tuple[str, str]]) -> dict[str, tuple[str, str]]:
    """Convert the dialects of Markdown."""
    from mathsetu.collections.documents.markdown_dialects import to_commonmark  # rarely needed

    converted = dict(sources)
    for where, (source, form) in sources.items():
        if form == "markdown":
            _check_source(source, where)
            converted[where] = to_commonmark(source), form
    return converted


def _without_site(
    sources: Mapping[str, tuple[str, str]],
) -> tuple[dict[str, tuple[str, str]], list[str]]:
    """The content of whole pages, without menus and footer, and the macros of their scripts."""
    from mathsetu.collections.documents.page_content import content_of  # rarely needed
    from mathsetu.collections.documents.script_macros import script_macros

    contents, definitions = dict(sources), []
    for where, (source, form) in sources.items():
        if form == "html":
            _check_source(source, where)
            contents[where] = content_of(source), form
            definitions += script_macros(without_comments(source))
    return contents, definitions


def _with_macros(
    sources: Mapping[str, tuple[str, str]], definitions: Sequence[str]
) -> dict[str, tuple[str, str]]:
    """Expand macros in sources; a title may use the macros that the other texts define."""
    # Imported here, because opening a library does not need it.
    from mathsetu.collections.documents.tex_expansion import FormulaMacros

    macros = FormulaMacros(definitions)
    expanded = dict(sources)
    for where in sorted(sources, key="title".__eq__):
        source, form = sources[where]
        _check_source(source, where)
        if form == "attribute":
            source, form = from_attribute(source), "html"
        expanded[where] = macros.expand(source, form), form
    return expanded


def _check_source(source: str, where: str) -> None:
    if len(source) > LONGEST_TEXT:
        raise ValueError(f"the {where} is longer than {LONGEST_TEXT:,} characters")
    _check_delimiters(source, where)


def _check_delimiters(text: str, where: str) -> None:
    """Refuse a text with far too many delimiters; finding its formulas would take minutes."""
    if len(text) < 4 * MAX_FORMULAS:
        return
    delimiters = text.count("$") // 2 + sum(map(text.count, ("\\(", "\\[", "\\begin{")))
    if delimiters > 2 * MAX_FORMULAS:
        raise ValueError(f"the {where} has more than {MAX_FORMULAS:,} formulas")


def _check_count(formulas: tuple[Formula, ...], where: str) -> None:
    count = len(formulas)
    if count > MAX_FORMULAS:
        problem = f"{count:,} formulas where at most {MAX_FORMULAS:,} are allowed"
        raise ValueError(f"the {where} has {problem}")


def complete(post: Post, form: str, *, has_formulas: bool) -> Post:
    """Convert the texts of a post to marked text, and list its formulas.

    Args:
        post: The post as written in a file.
        form: The form of its texts; empty means marked text.
        has_formulas: Whether the file lists the formulas of the post.

    >>> page = Post(id="7", title="Is $a<b$?", body="<p>Yes, $a&lt;b$.</p>")
    >>> complete(page, "html", has_formulas=False).body
    'Yes, $a<b$.'
    """
    if form in ("", "text"):
        return post if has_formulas else with_formulas(post)
    if post.formulas:
        raise ValueError(f'"formulas" must be left out where texts are in the form {form}')
    sources = {
        "title": (post.title, form_of_title(post.title, form)),
        "question": (post.question, form),
        "body": (post.body, form),
    }
    (title, in_title), (question, in_question), (body, in_body) = read_texts(
        sources, post.id
    ).values()
    formulas = in_title + in_question + in_body
    title = title.replace("\n", " ")
    return replace(post, title=title, question=question, body=body, formulas=formulas)


def noting_html(posts: Iterable[Post], path: str, bad: BadRows) -> Iterator[Post]:
    """Yield posts unchanged; add a note if many bodies look like HTML and no form was given."""
    count = pages = 0
    for post in posts:
        count += 1
        pages += form_of(post.body) == "html"
        yield post
    if not bad.form and pages and pages >= _MANY * count:
        where = f"{pages:,} of {count:,} bodies"
        remedy = "--form html reads them as HTML"
        bad.note(f"{path}: HTML tags in {where} are kept as text ({remedy})")


def with_formulas(post: Post) -> Post:
    """Return the post with the formulas of its title, question and body.

    >>> [f.where for f in with_formulas(Post(id="7", title="$a$", body="$b$")).formulas]
    ['title', 'body']
    """
    fields = (("title", post.title), ("question", post.question), ("body", post.body))
    found = [formulas_in(text, post.id, where) for where, text in fields if text]
    return replace(post, formulas=tuple(formula for some in found for formula in some))
