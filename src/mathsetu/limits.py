"""Limits of the size of input, for all readers.

They are far above what people write (Stack Exchange allows 30,000 characters in a post), but low
enough that one post cannot stall a build or exhaust the memory.
"""

from __future__ import annotations

from typing import Final

#: Characters of an id, a tag or the name of a collection. A longer one is a bad row. Interfaces
#: have the same limit, so that every stored name can be requested.
LONGEST_NAME: Final = 1_000
#: Characters in one text of a record (title, body, question, a query). A longer one is a bad row.
LONGEST_TEXT: Final = 10_000_000
#: Formulas in one post. A post with more is a bad row.
MAX_FORMULAS: Final = 100_000
#: Characters of one formula. The parser warns and ignores the rest.
LONGEST_FORMULA: Final = 100_000
#: Characters of Markdown that are rendered at once; a longer text is read as plain text.
LONGEST_MARKDOWN: Final = 500_000
#: Bytes of a document that is read as a whole (a page, a paper, a notebook).
LONGEST_DOCUMENT: Final = 128 * 1024 * 1024
#: Bytes that a compressed tar archive may unpack to, since it is held in memory.
LONGEST_ARCHIVE: Final = 512 * 1024 * 1024
#: How many times its size an archive may unpack to, if that is more than `LONGEST_ARCHIVE`.
MAX_GROWTH: Final = 100
#: Members of an archive.
MAX_MEMBERS: Final = 100_000
#: Digits of an integer (a grade, a rank, a score of votes, a cut-off).
MAX_DIGITS: Final = 18


def has_lone_surrogate(text: str) -> bool:
    r"""Whether a text contains a lone surrogate, which can be neither stored nor sent.

    >>> has_lone_surrogate("x\ud800"), has_lone_surrogate("समाकल")
    (True, False)
    """
    return any("\ud800" <= character <= "\udfff" for character in text)


def fits_header(text: str) -> bool:
    r"""Whether a text, such as a key, can be sent unchanged in an HTTP header.

    >>> fits_header("open-sesame"), fits_header("schlüssel"), fits_header("two\nlines")
    (True, False, False)
    """
    return text.isascii() and text.isprintable()
