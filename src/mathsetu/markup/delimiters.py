r"""Finds formulas in plain text by their delimiters, in linear time.

The delimiters are ``$…$``, ``$$…$$``, ``\(…\)``, ``\[…\]`` and the mathematical environments
``\begin{align}…\end{align}``. Eight rules decide the meaning of a dollar:

- A closing dollar has the brace depth of the opening one (``$\text{if $x$}$`` is one formula); if
  braces do not balance, the next dollar closes.
- A formula between dollars does not contain a blank line.
- "costs $5 and $6" are prices: an amount, then plain words or another amount.
- "costs 5 $ and 6 $." are also prices: a dollar after an amount, then a possible rest of a
  sentence, up to another price or to a dollar that opens a formula.
- Text between two dollars is prose if it begins like the rest of a sentence and ends like text
  before a formula: one stray dollar must not swap the prose and the formulas of a whole post.
- "Let $x=1 and $y=2$." has a dollar that is not closed: the text up to the next one begins like a
  formula, but ends like prose before one.
- "from $5, at \(r=3\) percent, to $6" are prices and a formula: dollars do not enclose
  ``\(…\)`` or ``\[…\]`` with prose around these, except in braces (``$x \mbox{ if \(x>0\)}$``).
- ``\$`` is an escaped dollar, but it closes a formula in text that lost the space of ``\ $``, that
  is, if the formula would otherwise continue with prose.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

ENVIRONMENTS = frozenset(
    "math displaymath equation eqnarray align alignat flalign gather multline aligned alignedat "
    "gathered split cases dcases rcases array subarray matrix pmatrix bmatrix Bmatrix vmatrix "
    "Vmatrix smallmatrix subequations dmath CD tikzcd".split()
)

_EVENT = re.compile(
    r"\\(?:(?P<edge>begin|end)\{(?P<name>[A-Za-z]+)\*?\}|(?P<escaped>.))|[${}]|\n[ \t]*\n",
    re.DOTALL,
)
# A fast path for lines with one pair of dollars, such as most titles. Lines with a backslash that
# may escape something get the full analysis.
_LONE_PAIR = re.compile(
    r"[^$\\\n]*+\$(?!\s*+\$)((?:[^$\\\n]++|\\(?![\\(\[$\n]|begin\{))++)\$[^$\\\n]*+"
)
# An amount of money, between two dollars that may be prices.
_AMOUNT = re.compile(r"\d[\d.,]*(?:\s?(?:k|K|M|m|bn|million|billion))?")
# A dollar after an amount, and an amount before a dollar.
_DOLLAR_AFTER_AMOUNT = re.compile(r"\d\s?\$")
_AMOUNT_AT_END = re.compile(r"\d\s?\Z")
_MATHEMATICAL = re.compile(r"[\\^_={}+*<>|]")
# The first character of prose after a formula, and its last character before the next formula.
_AFTER_FORMULA = frozenset(" \n\t,.;:?!)]-")
_BEFORE_FORMULA = frozenset(" \n\t([")
_WORD = re.compile(r"(?<!\S)[^\W\d_]\w[^\s\\]*")
_EARLY_END = re.compile(r"\\\$(?=[\s,.;:?!)\]])")
# A group in braces, without groups in it.
_GROUP = re.compile(r"\{[^{}]*+\}")
# A literal dollar before what looks like a formula, the last literal dollar of its line.
_LONE_DOLLAR = re.compile(
    r"\\\$(?=[^\s$]{0,80}?(?:\\[A-Za-z]{2}|[\^_][\w{(\\]|[\w)][+*<>]\w|(?<![A-Za-z]{2})=))"
    r"(?!(?:[^\n\\]|\\[^\n$])*+\\\$)"
)
#: The message for such a dollar.
LONE_DOLLAR = "a dollar sign that is not closed"
_CLOSERS = {"(": ")", "[": "]"}
# Commands and braces inside a pair of dollars.
_NESTED = re.compile(r"\\[A-Za-z]++|\\.|[{}]", re.DOTALL)
# Words of prose: separate words in the alphabets that formulas also use (Latin and Greek), any
# letters in other alphabets.
_FREE_WORD = re.compile(r"(?<!\S)[^\W\d_]{2,}(?=[\s,.;:?!)]|\Z)")
_WORD_OF_PROSE_ONLY = re.compile(r"(?:(?![\u0000-\u03ff])[^\W\d_]){2,}")


class DelimitedFormula(NamedTuple):
    """A formula found in a text: the ranges of its markup and of its LaTeX."""

    start: int
    end: int
    latex_start: int
    latex_end: int
    display: bool


def find_formulas(
    text: str, *, shielded: Sequence[tuple[int, int]] = (), prices: bool = True
) -> Iterator[DelimitedFormula]:
    """Yield the formulas of a text in order.

    Args:
        text: The text to search.
        shielded: Ranges (code) without delimiters, in order.
        prices: Whether dollars may mark amounts of money (not in a LaTeX file).

    >>> [text[f.latex_start:f.latex_end] for text in ["Is $a<b$ if $5 is paid for $$c$$?"]
    ...  for f in find_formulas(text)]
    ['a<b', 'c']
    """
    if "$" not in text and "\\" not in text:
        return
    lone = None if shielded else lone_formula(text, prices=prices)
    if lone is not None:
        yield lone
        return
    events = _Events(text, shielded)
    position = 0
    for start in events.openings:
        if start < position:
            continue
        found = None
        if text[start] == "$":
            found = events.display(start) or events.inline(start, prices)
        elif text[start + 1] in _CLOSERS:
            found = events.bracketed(start, text[start + 1])
        else:
            found = events.environment(start)
        if found is not None:
            position = found.end
            if text[found.latex_start : found.latex_end].strip():
                yield found
        elif text.startswith("$$", start):
            position = start + 2  # neither dollar of an unmatched pair opens anything


def lone_formula(text: str, *, prices: bool = True) -> DelimitedFormula | None:
    """Return the formula of a line with one pair of dollars and no other opening delimiter.

    >>> lone_formula("Is $x$ even?"), lone_formula("Are $x$ and $y$ even?")
    (DelimitedFormula(start=3, end=6, latex_start=4, latex_end=5, display=False), None)
    """
    pair = _LONE_PAIR.fullmatch(text)
    return _between(text, *pair.span(1), prices) if pair else None


def has_lone_dollar(marked: str) -> bool:
    r"""Whether a marked text has a literal dollar where a formula seems to begin.

    >>> has_lone_dollar(r"So \$u=g(x) and $y$."), has_lone_dollar(r"It costs \$5, not \$6.")
    (True, False)
    >>> has_lone_dollar(r"Write \$\frac12\$.")
    False
    """
    return _LONE_DOLLAR.search(marked) is not None


class _Events:
    """The possible opening delimiters of a text and their closing ones, found in one pass."""

    def __init__(self, text: str, shielded: Sequence[tuple[int, int]]) -> None:
        self.text = text
        self.openings: list[int] = []
        self._bracket_ends: dict[str, list[int]] = {")": [], "]": []}
        self._environment_ends: dict[int, int] = {}
        self._dollars: list[int] = []
        self._paragraph: list[int] = []
        depth_at: list[int] = []
        open_environments: dict[str, list[int]] = {}
        depth = paragraph = 0
        shields = iter(shielded)
        shield_start, shield_end = next(shields, (len(text), len(text)))
        for event in _EVENT.finditer(text):
            start = event.start()
            while start >= shield_end < len(text):
                shield_start, shield_end = next(shields, (len(text), len(text)))
            if start >= shield_start:
                continue
            character = text[start]
            if character == "$":
                self.openings.append(start)
                self._dollars.append(start)
                self._paragraph.append(paragraph)
                depth_at.append(depth)
            elif character == "{":
                depth += 1
            elif character == "}":
                depth -= 1
            elif character == "\n":
                paragraph += 1
                depth = 0
            elif event["edge"]:
                if event["name"] in ENVIRONMENTS:
                    self._note_environment(event, open_environments)
            elif event["escaped"] in _CLOSERS:
                self.openings.append(start)
            elif event["escaped"] in self._bracket_ends:
                self._bracket_ends[event["escaped"]].append(start)
        self._index = {dollar: number for number, dollar in enumerate(self._dollars)}
        every = list(range(len(self._dollars)))
        pairs = [n for n in every[:-1] if self._dollars[n + 1] == self._dollars[n] + 1]
        self._closing = self._next_not_deeper(every, depth_at)
        self._closing_pair = self._next_not_deeper(pairs, depth_at)

    def _note_environment(
        self, event: re.Match[str], open_environments: dict[str, list[int]]
    ) -> None:
        begun = open_environments.setdefault(event["name"], [])
        if event["edge"] == "begin":
            begun.append(event.start())
            self.openings.append(event.start())
        elif begun:
            self._environment_ends[begun.pop()] = event.end()

    def _next_not_deeper(self, numbers: list[int], depth_at: list[int]) -> dict[int, int]:
        """Map each dollar to the next one of the same or a lower depth, in the same paragraph.

        If the braces after a dollar never balance, the next dollar is used.
        """
        following: dict[int, int] = {}
        waiting: list[int] = []
        neighbours = dict(pairwise(numbers))
        for number in numbers:
            if waiting and self._paragraph[waiting[-1]] != self._paragraph[number]:
                waiting.clear()
            while waiting and depth_at[waiting[-1]] >= depth_at[number]:
                following[waiting.pop()] = number
            waiting.append(number)
        for number, neighbour in neighbours.items():
            if self._paragraph[number] == self._paragraph[neighbour]:
                following.setdefault(number, neighbour)
        return following

    def display(self, start: int) -> DelimitedFormula | None:
        first = self._index[start]
        last = self._closing_pair.get(first)
        if last == first + 1:  # "$$$": the second pair overlaps the first
            last = self._closing_pair.get(last)
        if last is None:
            return None
        end = self._dollars[last]
        # "$$$x$$$": all repeated dollars are delimiters.
        more = self.text.startswith("$", start + 2) and self.text.startswith("$", end + 2)
        return DelimitedFormula(start, end + 2 + more, start + 2 + more, end, display=True)

    def inline(self, start: int, prices: bool) -> DelimitedFormula | None:
        closing = self._closing.get(self._index[start])
        if closing is None:
            return None
        end = self._dollars[closing]
        # Check only adjacent dollars: skipped ones are in braces, which shows that this is a
        # formula. So each dollar is checked once.
        is_next = closing == self._index[start] + 1
        if prices and is_next and reaches_across(self.text[start + 1 : end]):
            return None
        return _between(self.text, start + 1, end, prices)

    def bracketed(self, start: int, opening: str) -> DelimitedFormula | None:
        ends = self._bracket_ends[_CLOSERS[opening]]
        number = bisect_left(ends, start)
        if number == len(ends):
            return None
        end = ends[number]
        return DelimitedFormula(start, end + 2, start + 2, end, display=opening == "[")

    def environment(self, start: int) -> DelimitedFormula | None:
        end = self._environment_ends.get(start)
        # The LaTeX of an environment includes its delimiters.
        return None if end is None else DelimitedFormula(start, end, start, end, display=True)


def _between(text: str, start: int, end: int, prices: bool) -> DelimitedFormula | None:
    """Return the formula between two dollars, unless the text there is a price or prose."""
    between = text[start:end]
    if prices:
        after = text[end + 1 : end + 2]
        if _is_price(between, after) or _is_prose(between):
            return None
        is_amount = _DOLLAR_AFTER_AMOUNT.search(text, max(0, start - 3), start) is not None
        if is_amount and _follows_price(between, after):
            return None
    for early in _EARLY_END.finditer(between):
        if between[-1].isspace() and _WORD.search(between, early.end()):
            end = start + early.start()
            return DelimitedFormula(start - 1, end + 2, start, end, display=False)
    if prices and _is_unclosed(between, text[end + 1 : end + 2]):
        return None
    return DelimitedFormula(start - 1, end + 1, start, end, display=False)


def reaches_across(between: str) -> bool:
    r"""Whether the text between two dollars contains other formulas with prose around them.

    Brackets that were escaped by mistake in a formula have no prose around them.

    >>> reaches_across(r"5, at \(r=3\) percent, to "), reaches_across(r"x\in\[0,1\]")
    (True, False)
    >>> reaches_across(r"x \mbox{ if and only if \(y>0\), else } z")
    False
    """
    if "\\(" not in between and "\\[" not in between:
        return False
    outside: list[str] = []
    closer, depth, position, is_across = "", 0, 0, False
    for sign in _NESTED.finditer(between):
        if not closer and not depth:
            outside.append(between[position : sign.start()])
            outside.append("\\")  # letters next to a command are not a word
        position = sign.end()
        if closer:
            closer = "" if sign[0] == closer else closer
        elif sign[0] in "{}":
            depth = max(0, depth + (1 if sign[0] == "{" else -1))
        elif not depth and sign[0][1:] in _CLOSERS:
            closer, is_across = f"\\{_CLOSERS[sign[0][1:]]}", True
    if not is_across:
        return False
    if not closer and not depth:
        outside.append(between[position:])
    rest = "".join(outside)
    words = len(_FREE_WORD.findall(rest))
    if words > 1 or _WORD_OF_PROSE_ONLY.search(rest):
        return True
    may_open = bool(closer) or rest[-1:] in _BEFORE_FORMULA
    return may_open and (words > 0 or _AMOUNT.match(between) is not None)


def _is_price(between: str, after: str) -> bool:
    amount = _AMOUNT.match(between)
    if amount is None or _MATHEMATICAL.search(between):
        return False
    rest = between[amount.end() :]
    return after.isdigit() or (bool(rest.strip()) and rest[-1] in _BEFORE_FORMULA)


def _is_prose(between: str) -> bool:
    return (
        between[:1] in _AFTER_FORMULA
        and between[-1:] in _BEFORE_FORMULA
        and not _MATHEMATICAL.search(between)
        and len(_WORD.findall(between)) > 1
    )


def _is_unclosed(between: str, after: str) -> bool:
    """Whether a formula begins but prose ends: the second dollar opens a formula, too."""
    if between[:1].isspace() or between[-1:] not in _BEFORE_FORMULA or between[-1:] == "":
        return False
    is_opening = bool(after) and after not in _AFTER_FORMULA
    return is_opening and _FREE_WORD.search(_GROUP.sub("", between)) is not None


def _follows_price(between: str, after: str) -> bool:
    """Whether the text after ``20 $`` is prose up to another price or up to a formula."""
    if between[:1] not in _AFTER_FORMULA or _MATHEMATICAL.search(between):
        return False
    has_word = _WORD.search(between) is not None
    if _AMOUNT_AT_END.search(between, max(0, len(between) - 2)):
        return has_word or (between[-1].isspace() and any(map(str.isalpha, between)))
    is_opening = bool(after) and after not in _AFTER_FORMULA and between[-1] in _BEFORE_FORMULA
    return is_opening and (has_word or not any(map(str.isalnum, between)))
