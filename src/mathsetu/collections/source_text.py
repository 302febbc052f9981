"""What all readers need to turn the text of a source into the text of a record."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from mathsetu.collections.rows import BadRows
from mathsetu.limits import LONGEST_TEXT, MOST_FORMULAS
from mathsetu.markup import extract, split
from mathsetu.markup.attributes import from_attribute
from mathsetu.markup.convert import text_and_formulas
from mathsetu.markup.tex import DEFINES
from mathsetu.records import Formula, Post

_HTML = re.compile(r"</(?:p|span|div|a|em|strong|li|b|i|code|pre|math)>", re.IGNORECASE)
_CLOSING = re.compile(r"</[a-zA-Z][a-zA-Z0-9]*>")
# The share of bodies with tags from which on they are hardly about HTML.
_MANY = 0.1
_BRACKETED = re.compile(r"<([^<>]+)>")
_TAG_ENDS = re.compile(r"[|,;]")


def form_of(text: str) -> str:
    """``html`` where a text has closing tags, ``text`` otherwise.

    Some collections exist in both forms under the same name.

    >>> form_of("<p>Let $x<y$.</p>"), form_of("Let $x<y$.")
    ('html', 'text')
    """
    return "html" if _HTML.search(text) else "text"


def form_of_title(title: str, form: str) -> str:
    """The form of a title beside texts in a form: one in HTML may be plain text.

    Sites keep many titles as text, in which ``$a<b$`` is no tag; without any ``<``, HTML differs
    from text by its references alone.

    >>> form_of_title("Is $a<b$?", "html"), form_of_title("Is $a&lt;b$?", "html")
    ('text', 'html')
    """
    is_text = form == "html" and "<" in title and not _CLOSING.search(title)
    return "text" if is_text else form


def split_tags(tags: str) -> tuple[str, ...]:
    """Tags from the ways in which dumps and sheets write them.

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
    """The formulas of a marked text.

    >>> [formula.id for formula in formulas_in("$a$ or $b$", "7", "body")]
    ['7:body:0', '7:body:1']
    """
    _check_delimiters(text, where)
    formulas = extract(split(text), post_id, where)
    _check_count(formulas, where)
    return formulas


def read_text(source: str, form: str, post_id: str, where: str) -> tuple[str, tuple[Formula, ...]]:
    """A source as marked text with its formulas; ValueError when it is too much for a post.

    >>> read_text("<p>Let $x>0$.</p>", "html", "7", "body")[0]
    'Let $x>0$.'
    """
    _check_source(source, where)
    text, formulas = text_and_formulas(source, form, post_id, where)
    _check_count(formulas, where)
    return text, formulas


def read_texts(
    sources: Mapping[str, tuple[str, str]], post_id: str
) -> dict[str, tuple[str, tuple[Formula, ...]]]:
    r"""The texts of one post as `read_text` gives them; their formulas share macros.

    Args:
        sources: The source and its form, by where it stands: title, question, body.
        post_id: The post.

    >>> sources = {"title": ("On $\\R$", "text"), "body": (r"<p>$\def\R{\mathbb R}$Is it?", "html")}
    >>> [text for text, formulas in read_texts(sources, "7").values()]
    ['On $\\mathbb R$', 'Is it?']
    """
    # Marked text alone is kept as it is.
    if any(DEFINES.search(source) for source, _ in sources.values()) and any(
        form != "text" for _, form in sources.values()
    ):
        sources = _with_macros(sources)
    return {
        where: read_text(source, form, post_id, where) for where, (source, form) in sources.items()
    }


def _with_macros(sources: Mapping[str, tuple[str, str]]) -> dict[str, tuple[str, str]]:
    """Sources with macros expanded; a title may use those of the texts under it."""
    # Here, because a library opens without it.
    from mathsetu.collections.documents.tex_expansion import FormulaMacros

    macros = FormulaMacros()
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
    """Refuse what has far too many delimiters before minutes are spent on finding formulas."""
    if len(text) < 4 * MOST_FORMULAS:
        return
    delimiters = text.count("$") // 2 + sum(map(text.count, ("\\(", "\\[", "\\begin{")))
    if delimiters > 2 * MOST_FORMULAS:
        raise ValueError(f"the {where} has more than {MOST_FORMULAS:,} formulas")


def _check_count(formulas: tuple[Formula, ...], where: str) -> None:
    count = len(formulas)
    if count > MOST_FORMULAS:
        problem = f"{count:,} formulas where at most {MOST_FORMULAS:,} are allowed"
        raise ValueError(f"the {where} has {problem}")


def complete(post: Post, form: str, *, has_formulas: bool) -> Post:
    """A post as it was written in a file, with its texts as marked text and its formulas listed.

    Args:
        post: The post.
        form: The form of its texts; marked text where it is empty.
        has_formulas: Whether the file lists its formulas.

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
    """Posts as they pass; noted if the bodies of many seem to be HTML, and nobody said so."""
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
    """The post with the formulas of its title, question and body listed.

    >>> [f.where for f in with_formulas(Post(id="7", title="$a$", body="$b$")).formulas]
    ['title', 'body']
    """
    fields = (("title", post.title), ("question", post.question), ("body", post.body))
    found = [formulas_in(text, post.id, where) for where, text in fields if text]
    return replace(post, formulas=tuple(formula for some in found for formula in some))
