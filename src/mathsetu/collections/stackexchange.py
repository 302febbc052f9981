"""``Posts.xml`` of any Stack Exchange dump, also in ARQMath's version.

Questions and answers become posts. The few rows of other types (tag wikis, election pages) contain
no mathematics and are skipped.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from mathsetu.collections.files import shown
from mathsetu.collections.rows import REFUSE, BadRows
from mathsetu.collections.source_text import form_of, read_texts, split_tags
from mathsetu.collections.trec import parse_integer
from mathsetu.collections.xmlrows import read_rows
from mathsetu.errors import RowError
from mathsetu.markup.attributes import BrokenReference
from mathsetu.records import Post

_KINDS = {"1": "question", "2": "answer"}


def read_posts(
    path: str | Path, bad: BadRows = REFUSE, *, site: str = "", language: str = ""
) -> Iterator[Post]:
    r"""Read questions and answers, in constant memory.

    Malformed XML is always an error, even if bad rows are skipped, because nothing after it can be
    trusted.

    Args:
        path: ``Posts.xml``, also compressed.
        bad: What to do with bad rows.
        site: The site's host, such as ``math.stackexchange.com``; posts then get a ``url``.
        language: The language of the site.

    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "Posts.xml"
    >>> _ = path.write_text('<posts>\n<row Id="7" PostTypeId="2" ParentId="3" Score="4" '
    ...                     'Body="&lt;p&gt;Yes, $x&amp;lt;1$.&lt;/p&gt;" />\n</posts>')
    >>> post = next(read_posts(path, site="math.stackexchange.com"))
    >>> post.kind, post.parent_id, post.body, post.url
    ('answer', '3', 'Yes, $x<1$.', 'https://math.stackexchange.com/a/7')
    """
    others = 0
    for line, row in read_rows(path, as_written="Body"):
        try:
            post = _post(row, site, language)
        except BrokenReference as error:
            raise RowError(shown(path), line, f"malformed XML: {error}") from None
        except ValueError as error:
            bad.report(RowError(shown(path), line, str(error)))
            continue
        if post is None:
            others += 1
        elif bad.accepts(post.id, shown(path), line, post.tags):
            yield post
    bad.add_ignored(shown(path), "a row that is neither question nor answer", others)


def _post(row: dict[str, str], site: str, language: str) -> Post | None:
    try:
        post_id, type_id, source = row["Id"], row["PostTypeId"], row["Body"]
    except KeyError as missing:
        raise ValueError(f"the row has no {missing.args[0]}") from None
    if not post_id:
        raise ValueError("the row's Id is empty")
    kind = _KINDS.get(type_id)
    if kind is None:
        return None
    parent_id = row.get("ParentId", "")
    if kind == "answer" and not parent_id:
        raise ValueError(f"answer {post_id} has no ParentId")
    # Dumps hold titles as text; ARQMath's version holds them as HTML.
    title = row.get("Title", "")
    texts = {"title": (title, form_of(title)), "body": (source, "attribute")}
    (title, title_formulas), (body, body_formulas) = read_texts(texts, post_id).values()
    return Post(
        post_id,
        body,
        title,
        split_tags(row["Tags"]) if "Tags" in row else (),
        language,
        kind,
        parent_id or post_id,
        parent_id,
        "",
        f"https://{site}/{kind[0]}/{post_id}" if site else "",
        _score(row.get("Score")),
        title_formulas + body_formulas,
        "",
        row.get("AcceptedAnswerId", ""),
    )


def _score(score: str | None) -> int | None:
    return None if score is None else parse_integer(score, "Score")
