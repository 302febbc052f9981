r"""Text from outside, made safe for a terminal.

Escape sequences drive a terminal, and the controls of writing direction make a line read as what
it is not. They come from posts, file names and everything else that we quote. The joiners that
Persian and Indian scripts need stay, and so do the marks of direction that stand alone.
"""

from __future__ import annotations

import re

# Controls (C0 without tab and line break, DEL, C1), the separators of lines and paragraphs, the
# embeddings, overrides and isolates of direction, and halves of characters.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufff9-\ufffb\ud800-\udfff]"
)
_LINE_BREAKS = re.compile(r"[\r\n\t]+")


def visible(text: str) -> str:
    r"""Text without what would drive the terminal.

    >>> visible("a\x1b[2Jb\u202ec\n")
    'a\ufffd[2Jb\ufffdc\n'
    """
    return _UNSAFE.sub("\ufffd", text)


def one_line(text: str) -> str:
    r"""The same for a message, which must stay one line whatever it quotes.

    >>> one_line("a\nmathsetu: b\x07")
    'a mathsetu: b\ufffd'
    """
    return visible(_LINE_BREAKS.sub(" ", text))


def counted(number: int, noun: str, plural: str = "") -> str:
    """A number with its noun in the right form.

    >>> counted(1, "post"), counted(1204, "post"), counted(0, "reply", "replies")
    ('1 post', '1,204 posts', '0 replies')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def visible_json(text: str) -> str:
    r"""JSON with the same characters escaped: it says the same, and only strings can hold them.

    >>> visible_json('{"a": "\u202e"}')
    '{"a": "\\u202e"}'
    """
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
