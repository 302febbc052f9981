"""Mutates inputs: bytes, characters, lines, tokens and JSON values are changed.

All choices come from one seeded generator, so that a case can be reproduced.
"""

from __future__ import annotations

import copy
import json
import math
import random
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

#: The maximum length of an input; some targets read several hundred inputs per second.
LONGEST = 24_000
_NUMBERS = (
    "0 1 -1 -0 00 007 2147483647 2147483648 -2147483649 9223372036854775808 1e5 1e400 -1e400 1e-400"
    " 0.1 .5 5. 1_000 NaN nan inf Infinity -Infinity 0x10 ٣ ५ ² ½ 1,000 +1 ++1"
).split(" ")
_LONG_NUMBERS = ("9" * 400, "9" * 5_000, "0" * 5_000, "1" + "0" * 309)
_NUMBER = re.compile(r"\d+")
# Characters that often break programs: control characters, line ends of other systems, combining
# marks, lone surrogates, letters whose length changes with their case, digits that are not decimal.
_ODD = (
    "\0\x01\t\n\x0b\x0c\r\x1a\x1b\x1c\x1e\x7f\x80\x85\xa0\xad\u0300\u0301\u061c\u0660\u0966\u200b"
    "\u200c\u200d\u200e\u2028\u2029\u202e\u2060\u20e3\u3000\ue000\ue001\ufdd0\ufeff\ufffc\ufffd"
    "\ufffe\uffff\ud800\udbff\udc00\udfff\U0001d465\U0001f600\U000e0001\U0010ffff"
    "ıİßŉǰﬁſKµ²³¹½Ⅷ①ªºʰ़क्षि्ि日本語한국어אבابتी"
)
_PRINTABLE = "".join(map(chr, range(32, 127)))
_ODD_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2**31, 2**63, -(2**63) - 1, 10**400, 0.5, 1e308, -0.0),
    *("", " ", "\0", "\ud800", "x" * 300, "../../etc/passwd", "NaN"),
    *([], {}, [[]], [None], {"": ""}, [[[[[[[[]]]]]]]]),
)

_Change = Callable[[str], str]


def as_text(data: bytes) -> str:
    """Decode any bytes as text; lone surrogates are preserved."""
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return data.decode("utf-8", "surrogateescape")


def as_bytes(text: str) -> bytes:
    """Encode a text, including surrogates, as bytes."""
    return text.encode("utf-8", "surrogatepass")


class Mutator:
    """Mutates the inputs of a pool.

    Args:
        chance: The source of all random choices.
        pool: Inputs to start from and to copy pieces from.
        tokens: The tokens of the grammar.
    """

    def __init__(
        self, chance: random.Random, pool: Sequence[bytes], tokens: Sequence[str] = ()
    ) -> None:
        self.chance = chance
        self.pool = pool
        self.tokens = tokens
        # Repeated entries are drawn more often.
        self._changes: tuple[_Change, ...] = (
            *(self._insert_token,) * (4 if tokens else 0),
            *(self._delete, self._double, self._splice, self._splice, self._odd_character) * 2,
            *(self._reverse, self._swap, self._number, self._lines, self._lines, self._plain),
            *(self._truncate, self._case),
        )

    def base(self) -> bytes:
        """Draw an input from the pool; short ones are preferred, because they run faster."""
        tries = 3 if self.chance.random() < 0.95 else 1
        return min((self.chance.choice(self.pool) for _ in range(tries)), key=len)

    def text(self, text: str | None = None) -> str:
        """A text with one to six mutations, or one made of random tokens only."""
        chance = self.chance
        if text is None:
            if self.tokens and chance.random() < 0.15:
                return "".join(chance.choices(self.tokens, k=chance.randint(1, 30)))
            text = as_text(self.base())
        for _ in range(min(chance.randint(1, 6), chance.randint(1, 6))):
            text = chance.choice(self._changes)(text)
        if chance.random() < 0.02:
            text = self._repeat(text)
        return text[:LONGEST]

    def data(self) -> bytes:
        """Like `text`, but one in four is mutated byte by byte, so that it may not be UTF-8."""
        if self.chance.random() < 0.75:
            return as_bytes(self.text())
        raw = Mutator(self.chance, self.pool).text(self.base().decode("latin-1"))
        return raw.encode("latin-1", "replace")

    def value(self, value: Any) -> Any:
        """Replace, remove, duplicate or rename one to three parts of a JSON value."""
        value = copy.deepcopy(value)
        for _ in range(self.chance.randint(1, 3)):
            value = self._changed_value(value)
        return value

    def json_lines(self, text: str) -> str:
        """Mutate one line of JSON Lines as a value, or the text if that line is not JSON."""
        lines = text.splitlines() or [""]
        place = self.chance.randrange(len(lines))
        try:
            value = json.loads(lines[place])
        except (ValueError, RecursionError):
            return self.text(text)
        lines[place] = json.dumps(self.value(value), ensure_ascii=self.chance.random() < 0.5)
        return "\n".join(lines) + "\n"

    def _changed_value(self, value: Any) -> Any:
        chance = self.chance
        if isinstance(value, dict) and value and chance.random() < 0.9:
            key = chance.choice(list(value))
            match chance.randrange(8):
                case 0:
                    del value[key]
                case 1:
                    value[self.text(key)[:200]] = value.pop(key)
                case 2:
                    value[chance.choice(("", "id", "\0", "__class__", "extra"))] = value[key]
                case _:
                    value[key] = self._changed_value(value[key])
            return value
        if isinstance(value, list) and value and chance.random() < 0.9:
            place = chance.randrange(len(value))
            match chance.randrange(6):
                case 0:
                    del value[place]
                case 1:
                    value.insert(place, value[place])
                case _:
                    value[place] = self._changed_value(value[place])
            return value
        if isinstance(value, str) and chance.random() < 0.7:
            return self.text(value)[:2_500]
        if isinstance(value, int | float) and not isinstance(value, bool) and chance.random() < 0.5:
            with suppress(OverflowError):
                return value + chance.choice((1, -1, 0.5, 1e18, -(10**20)))
        return copy.deepcopy(chance.choice(_ODD_VALUES))

    def _range(self, text: str, longest: int = 12) -> tuple[int, int]:
        start = self.chance.randint(0, len(text))
        return start, min(len(text), start + self.chance.randint(0, longest))

    def _insert_token(self, text: str) -> str:
        start, end = self._range(text, self.chance.choice((0, 0, 3)))
        return text[:start] + self.chance.choice(self.tokens) + text[end:]

    def _delete(self, text: str) -> str:
        start, end = self._range(text)
        return text[:start] + text[end:]

    def _double(self, text: str) -> str:
        start, end = self._range(text, 40)
        return text[:end] + text[start:]

    def _reverse(self, text: str) -> str:
        start, end = self._range(text)
        return text[:start] + text[start:end][::-1] + text[end:]

    def _swap(self, text: str) -> str:
        start, end = self._range(text, 30)
        middle = (start + end) // 2
        return text[:start] + text[middle:end] + text[start:middle] + text[end:]

    def _splice(self, text: str) -> str:
        other = as_text(self.base())
        cut = self.chance.randint(0, len(other))
        start, end = self._range(text)
        return text[:start] + other[cut : cut + self.chance.randint(0, 60)] + text[end:]

    def _odd_character(self, text: str) -> str:
        start, end = self._range(text, 1)
        return text[:start] + self.chance.choice(_ODD) + text[end:]

    def _plain(self, text: str) -> str:
        start, end = self._range(text, 1)
        return text[:start] + self.chance.choice(_PRINTABLE) + text[end:]

    def _truncate(self, text: str) -> str:
        cut = self.chance.randint(0, len(text))
        return text[:cut] if self.chance.random() < 0.5 else text[cut:]

    def _case(self, text: str) -> str:
        start, end = self._range(text)
        return text[:start] + text[start:end].swapcase() + text[end:]

    def _number(self, text: str) -> str:
        found = [match.span() for match in _NUMBER.finditer(text, 0, 4_000)]
        start, end = self.chance.choice(found) if found else self._range(text, 0)
        is_long = self.chance.random() < 0.05
        return (
            text[:start] + self.chance.choice(_LONG_NUMBERS if is_long else _NUMBERS) + text[end:]
        )

    def _lines(self, text: str) -> str:
        lines = text.splitlines(keepends=True)
        if len(lines) < 2:
            return self._double(text)
        first, second = self.chance.randrange(len(lines)), self.chance.randrange(len(lines))
        match self.chance.randrange(4):
            case 0:
                del lines[first]
            case 1:
                lines.insert(second, lines[first])
            case 2:
                lines[first], lines[second] = lines[second], lines[first]
            case _:
                lines[first] = lines[first].rstrip("\r\n")
        return "".join(lines)

    def _repeat(self, text: str) -> str:
        """Repeat one piece many times, to find quadratic time and too deep nesting."""
        piece = text[slice(*self._range(text, 8))] or "x"
        if self.tokens and self.chance.random() < 0.5:
            piece = "".join(self.chance.choices(self.tokens, k=self.chance.randint(1, 2)))
        start = self.chance.randint(0, len(text))
        # Logarithmic, because long inputs are slow: ten repetitions are as likely as a thousand.
        most = max(LONGEST // len(piece), 2)
        return text[:start] + piece * round(math.pow(most, self.chance.random())) + text[start:]
