"""A text with formulas inside, split once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

from mathsetu.markup import Span, spans_of

#: The stored form of spans; see `MarkedText.places`.
Places = list[Any]


class MarkedText:
    r"""A marked text and its spans.

    >>> text = MarkedText(r"Is $x^2$ even?")
    >>> text.words, text.formulas
    ('Is   even?', ('x^2',))
    """

    def __init__(self, text: str, spans: Sequence[Span] | None = None) -> None:
        """Split a text, unless its spans are given."""
        self.text = text
        self.spans = spans_of(text) if spans is None else tuple(spans)

    @cached_property
    def words(self) -> str:
        """The text without its formulas and code."""
        return "".join(span.content if span.kind == "text" else " " for span in self.spans)

    @cached_property
    def formulas(self) -> tuple[str, ...]:
        """The formulas in LaTeX, in order."""
        return tuple(span.content for span in self.spans if span.kind == "formula")

    @classmethod
    def joined(cls, texts: Iterable[MarkedText], between: str = "\n\n") -> MarkedText:
        r"""Join several texts into one; empty texts are left out.

        >>> MarkedText.joined([MarkedText("Is"), MarkedText(""), MarkedText("$x$")]).text
        'Is\n\n$x$'
        """
        spans: list[Span] = []
        for text in texts:
            if text.text:
                spans += [Span("text", between, between)] if spans else []
                spans += text.spans
        return cls("".join(span.raw for span in spans), spans)

    def places(self) -> Places:
        r"""Return the positions of the spans, as JSON values.

        A number is the length of a plain text. ``[length, start, end]`` is a formula and the
        position of the LaTeX inside it; a fourth number marks a displayed formula. Any other span
        is written out.

        >>> MarkedText("Is $x^2$ even?").places()
        [3, [5, 1, 4], 6]
        """
        return [_place(span) for span in self.spans]

    @classmethod
    def placed(cls, text: str, places: Places) -> MarkedText:
        """Restore a text from its `places`; raise `ValueError` if they do not match the text.

        >>> MarkedText.placed("Is $x^2$ even?", [3, [5, 1, 4], 6]).formulas
        ('x^2',)
        """
        spans: list[Span] = []
        position = 0
        for place in places:
            end = position + (place if isinstance(place, int) else place[0])
            raw = text[position:end]
            spans.append(Span("text", raw, raw) if isinstance(place, int) else _span(raw, place))
            position = end
        if position != len(text):
            raise ValueError("its formulas are not at their positions")
        return cls(text, spans)


def _place(span: Span) -> Any:
    size = len(span.raw)
    if span.kind == "text" and span.content == span.raw:
        return size
    start = span.raw.find(span.content)
    if span.kind == "formula" and start >= 0 and not span.id:
        return [size, start, start + len(span.content), *([1] if span.display else [])]
    return [size, span.kind, span.content, span.display, span.id]


def _span(raw: str, place: list[Any]) -> Span:
    match place:
        case [_, start, end] | [
            _,
            start,
            end,
            _,
        ]:  # nearly all spans; type checks would dominate the time
            return Span("formula", raw, raw[start:end], len(place) == 4)
        case [int(), "text" | "formula" | "code" as kind, str(content), bool(display), str(name)]:
            return Span(kind, raw, content, display, name)
    raise ValueError(f"{place!r} is no piece of a text")
