"""The source of a post: an address on the web, or a file with a section or row."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

# Tables, also compressed: an anchor in them is the number of a row.
_TABLE = re.compile(r"\.(csv|tsv|json|jsonl|ndjson|parquet)(\.(gz|bz2|xz|zst))?$", re.IGNORECASE)


@dataclass(frozen=True)
class Place:
    """The source of a post.

    ``address`` is a link, "" if there is none; ``host`` is its server, for posts from the web.
    """

    address: str = ""
    host: str = ""
    file: str = ""
    section: str = ""
    collection: str = ""
    row: str = ""


def place(url: str, collection: str = "", files_at: str = "") -> Place:
    """The source of a post with this ``url``.

    Args:
        url: The ``url`` of the post: an address, or the path of a file with the anchor of a section
            or the number of a row.
        collection: The name of its collection.
        files_at: The address of the files on the web, from the settings of the server.

    >>> place("https://example.org/q/1").host
    'example.org'
    >>> at = place("notes/a b.md#taylor", files_at="https://example.org/notes")
    >>> at.file, at.section, at.address
    ('notes/a b.md', 'taylor', 'https://example.org/notes/notes/a%20b.md#taylor')
    >>> at = place("notes/sheet.csv#7")
    >>> at.file, at.section, at.row
    ('notes/sheet.csv', '', '7')
    >>> place("../secret", files_at="https://example.org/notes").address
    ''
    """
    address = web_address(url)
    if address:
        return Place(address, urlsplit(address).hostname or "", collection=collection)
    file, _, section = url.strip().partition("#")
    if not file or ":" in file.partition("/")[0]:
        # Another scheme, such as javascript.
        return Place(collection=collection)
    row = ""
    if section.isdigit() and _TABLE.search(file):
        row, section = section, ""
    is_inside = not file.startswith("/") and ".." not in file.split("/")
    if files_at and is_inside:
        anchor = f"#{quote(section)}" if section else ""
        address = f"{files_at.rstrip('/')}/{quote(file)}{anchor}"
    return Place(address, "", file, section, collection, row)


def web_address(url: str) -> str:
    """The address of a post on the web; "" for everything else, such as scripts.

    >>> web_address("https://example.org/q/1"), web_address(" javascript:alert(1)")
    ('https://example.org/q/1', '')
    """
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        return ""
    return url.strip() if parts.scheme in ("http", "https") and parts.netloc else ""
