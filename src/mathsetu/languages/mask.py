"""Masks formulas before translation, and restores every one of them.

The CrossMath method: each formula becomes a mask QZ1, QZ2, …, which is not a word of any language.
A translator may still lower-case masks, put spaces inside, write their digits in another script,
repeat them, attach them to punctuation or drop them; `unmask` handles all of this. A formula whose
mask is lost is appended at the end and reported, never dropped.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from mathsetu.markup import split

# A mask after translation: any case, any digits, with spaces, half-spaces or hyphens inside.
_GAP = r"[\s\u200b-\u200f\u2060_\-]{0,3}"
_NAME = re.compile(rf"[Qq]{_GAP}[Zz]{_GAP}(\d+)")
_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Masked:
    """A text with masked formulas, and the hidden parts in the order of their masks."""

    text: str
    hidden: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Unmasked:
    """A text with its formulas restored; ``lost`` are those that had to be appended."""

    text: str
    lost: tuple[str, ...]


def mask(text: str) -> Masked:
    """Replace each formula of a marked text by a mask.

    Text that already looks like a mask is hidden like a formula. Digits directly after a formula
    are hidden with it, because QZ1 and 5 would read as QZ15.

    >>> mask("Show that $x^2$ and $y$ are even.")
    Masked(text='Show that QZ1 and QZ2 are even.', hidden=('$x^2$', '$y$'))
    """
    parts: list[str] = []
    hidden: list[str] = []
    digits_belong = False
    for span in split(text):
        if span.kind == "formula":
            hidden.append(span.raw)
            parts.append(f"QZ{len(hidden)}")
            digits_belong = True
            continue
        raw = span.raw
        if digits_belong and (digits := _DIGITS.match(raw)) is not None:
            hidden[-1] += digits[0]
            raw = raw[digits.end() :]
        digits_belong = False
        position = 0
        for name in _NAME.finditer(raw):
            hidden.append(name[0])
            parts.append(raw[position : name.start()] + f"QZ{len(hidden)}")
            position = name.end()
        parts.append(raw[position:])
    return Masked("".join(parts), tuple(hidden))


def unmask(translated: str, masked: Masked) -> Unmasked:
    """Put each hidden formula back at its mask, exactly once.

    >>> hidden = mask("Show that $x^2$ and $y$ are even.")
    >>> unmask("दिखाइए कि qz १ सम है।", hidden)
    Unmasked(text='दिखाइए कि $x^2$ सम है। $y$', lost=('$y$',))
    """
    waiting = dict(enumerate(masked.hidden, start=1))

    def restore(name: re.Match[str]) -> str:
        digits = name[1]
        longest = min(len(digits), len(str(len(masked.hidden))))
        # "QZ12" without a twelfth formula is the first formula followed by a 2.
        for length in range(longest, 0, -1):
            number = int(digits[:length])
            if number in waiting:
                return waiting.pop(number) + digits[length:]
            if 1 <= number <= len(masked.hidden):
                return digits[length:]  # repeated: it is already restored
        return name[0]

    text = _NAME.sub(restore, translated)
    lost = tuple(waiting.values())
    return Unmasked(" ".join([text, *lost]) if lost else text, lost)
