"""A stack of nested input texts, and functions that read arguments from it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

LONGEST_OPTION = 2_000
_MAX_EDGES = 100

# A command, a character after a backslash, a comment, a brace, text.
TOKEN = re.compile(r"\\([A-Za-z@]++)|\\(.)|(%)|([{}])|([^\\%{}]++)|\\\Z", re.DOTALL)
_BRACE = re.compile(r"\\.|%[^\n]*+|[{}]", re.DOTALL)
_OPTION_EDGE = re.compile(r"\\.|[\[\]{}]|%[^\n]*+", re.DOTALL)
_BRACES = re.compile(r"[{}]")
_OPENING = re.compile(r"\s*+\{")
_BLANK = re.compile(r"(?:[ \t]++|%[^\n]*+\n?[ \t]*+|\n(?![ \t]*+\n))*+")
_DIMENSION = re.compile(
    r"\s*+=?\s*+-?[\d.]++\s*+(?:pt|em|ex|cm|mm|in|bp|mu|\\[A-Za-z]++)"
    r"(?:\s++(?:plus|minus)\s*+-?[\d.]++\s*+[a-z]{2,5})*+|\s*+=?\s*+-?\\[A-Za-z]++"
)
# Options of unknown commands that can only be layout, not part of a formula.
_LAYOUT = re.compile(
    r"\s*(?:[A-Za-z]+\s*=.*|-?[\d.]+\s*(?:[a-z]{2}|\\[A-Za-z]+)|[htbpcrls!]*)\s*", re.S
)


@dataclass(slots=True)
class Frame:
    """A text that is being read: a file or the body of a macro. Only files have names."""

    text: str
    name: str = ""
    position: int = 0
    is_file: bool = False
    closing: dict[int, int] | None = None
    absent: set[str] = field(default_factory=set)

    def closing_brace(self, opening: int) -> int | None:
        """Return the position that closes a brace; all braces are matched at the first call."""
        if self.closing is None:
            self.closing = {}
            waiting: list[int] = []
            for found in _BRACE.finditer(self.text):
                if found[0] == "{":
                    waiting.append(found.start())
                elif found[0] == "}" and waiting:
                    self.closing[waiting.pop()] = found.start()
        return self.closing.get(opening)


class Frames:
    """The stack of texts; input is read from the innermost."""

    def __init__(self) -> None:
        self._frames: list[Frame] = []

    def _here(self) -> Frame | None:
        """Return the innermost frame with unread text; None at the end of a file."""
        while self._frames and self._frames[-1].position >= len(self._frames[-1].text):
            if self._frames[-1].is_file:
                return None
            self._frames.pop()
        return self._frames[-1] if self._frames else None

    def _next_is(self, sign: str) -> bool:
        """Consume a given text if it comes next, after blanks; return whether it did."""
        frame = self._here()
        if frame is None:
            return False
        blank = _BLANK.match(frame.text, frame.position)
        start = blank.end() if blank else frame.position
        if not frame.text.startswith(sign, start):
            return False
        frame.position = start + len(sign)
        return True

    def _argument(self) -> str:
        """Consume the next argument: a group in braces, a command or a character."""
        frame = self._here()
        if frame is None:
            return ""
        blank = _BLANK.match(frame.text, frame.position)
        start = blank.end() if blank else frame.position
        if start >= len(frame.text):
            return ""
        if frame.text[start] == "{":
            end = frame.closing_brace(start)
            if end is None:
                return ""
            frame.position = end + 1
            return frame.text[start + 1 : end]
        token = TOKEN.match(frame.text, start)
        if token is None or token[4] or frame.text.startswith("\n", start):
            return ""
        end = token.end() if token[1] or token[2] else start + 1
        frame.position = end
        return frame.text[start:end]

    def _address(self) -> str:
        """Consume the next argument if it is in braces, verbatim: ``%`` starts no comment."""
        frame = self._here()
        opening = _OPENING.match(frame.text, frame.position) if frame else None
        if frame is None or opening is None:
            return ""
        depth = 0
        last = opening.end() + LONGEST_OPTION
        for brace in _BRACES.finditer(frame.text, opening.end() - 1, last):
            depth += 1 if brace[0] == "{" else -1
            if not depth:
                frame.position = brace.end()
                return frame.text[opening.end() : brace.start()]
        return ""

    def _option(self) -> str | None:
        """Consume an optional argument in square brackets, if it comes next."""
        frame = self._here()
        if frame is None:
            return None
        blank = _BLANK.match(frame.text, frame.position)
        start = blank.end() if blank else frame.position
        if not frame.text.startswith("[", start):
            return None
        depth = 0
        position = start
        last = min(len(frame.text), start + LONGEST_OPTION)
        if frame.text.find("]", start, last) < 0:
            return None
        for _ in range(_MAX_EDGES):
            edge = _OPTION_EDGE.search(frame.text, position, last)
            if edge is None:
                return None
            position = edge.end()
            if edge[0] == "{":
                closing = frame.closing_brace(edge.start())
                if closing is None:
                    return None
                position = closing + 1
            elif edge[0] == "}":
                return None
            elif edge[0] in "[]":
                depth += 1 if edge[0] == "[" else -1
                if not depth:
                    frame.position = position
                    return frame.text[start + 1 : position - 1]
        return None

    def _skip_layout(self) -> None:
        """Skip the option of an unknown command, if it can only be layout."""
        frame = self._frames[-1] if self._frames else None
        if frame is None or not frame.text.startswith("[", frame.position):
            return
        before = frame.position
        option = self._option()
        if option is not None and not _LAYOUT.fullmatch(option[:200]):
            frame.position = before

    def _dimension(self) -> None:
        frame = self._here()
        found = _DIMENSION.match(frame.text, frame.position) if frame else None
        if frame and found:
            frame.position = found.end()

    def _skip_to(self, closing: str) -> None:
        """Skip to the end of the next occurrence of a text; do nothing if there is none."""
        frame = self._here()
        if frame is None or closing in frame.absent:
            return
        end = frame.text.find(closing, frame.position)
        if end < 0:
            frame.absent.add(closing)
        else:
            frame.position = end + len(closing)
