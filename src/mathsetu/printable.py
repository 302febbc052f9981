r"""Makes untrusted text safe for a terminal.

Escape sequences control a terminal, and direction controls can make a line look like another.
Posts, file names and all other quoted text may contain them. The joiners that Persian and Indian
scripts need are kept, and so are single direction marks.
"""

from __future__ import annotations

import re

# Controls (C0 without tab and line break, DEL, C1), line and paragraph separators, directional
# embeddings, overrides and isolates, interlinear annotation marks, and lone surrogates.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufff9-\ufffb\ud800-\udfff]"
)
_LINE_BREAKS = re.compile(r"[\r\n\t]+")


def visible(text: str) -> str:
    r"""Replace the characters that could control a terminal.

    >>> visible("a\x1b[2Jb\u202ec\n")
    'a\ufffd[2Jb\ufffdc\n'
    """
    return _UNSAFE.sub("\ufffd", text)


def one_line(text: str) -> str:
    r"""As `visible`, for a message, which must stay one line whatever it quotes.

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
    r"""Escape the same characters in JSON; its value is unchanged, since only strings contain them.

    >>> visible_json('{"a": "\u202e"}')
    '{"a": "\\u202e"}'
    """
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
