"""The heat map of a graph model: which part of a post answers which part of a question."""

from __future__ import annotations

import re
from dataclasses import dataclass

from markupsafe import Markup, escape

from mathsetu.answers.describe import pieces
from mathsetu.answers.values import HeatMap
from mathsetu.service.pages import typeset
from mathsetu.service.pages.interface_language import Interface

# Parts of a post that are shown, at most; a long post has hundreds.
_PARTS = 16
#: Shades from cold to hot; hits.css has a colour for each.
SHADES = 10
_SENTENCE = re.compile(r"sentence (\d+)")
_WHOLE = "the whole"


@dataclass(frozen=True)
class Cell:
    """The similarity of two parts; MaxSim uses the best one of each column."""

    cosine: str
    shade: int
    is_best: bool


@dataclass(frozen=True)
class HeatView:
    """A table: a column for each part of the question, a row for each part of the post."""

    columns: tuple[Markup, ...]
    rows: tuple[tuple[Markup, tuple[Cell, ...]], ...]


def heat(answer: HeatMap, interface: Interface) -> HeatView | None:
    """The table for a page: the most similar parts of the post, in their order.

    >>> from mathsetu.service.pages.interface_language import interface
    >>> answer = HeatMap("7", ("the whole",), ("sentence 1", "the whole"), ((0.3, 0.91),))
    >>> [cell for _, [cell] in heat(answer, interface("en")).rows]
    [Cell(cosine='0.30', shade=3, is_best=False), Cell(cosine='0.91', shade=9, is_best=True)]
    """
    fits = list(zip(*answer.cosines, strict=True))
    if not fits:
        return None
    warmest = sorted(range(len(fits)), key=lambda place: -max(fits[place]))[:_PARTS]
    best = [max(range(len(row)), key=row.__getitem__) for row in answer.cosines]
    rows = (
        (
            _label(answer.columns[place], interface),
            tuple(
                Cell(
                    interface.number(cosine, decimals=2),
                    round(SHADES * min(max(cosine, 0.0), 1.0)),
                    best[number] == place,
                )
                for number, cosine in enumerate(fits[place])
            ),
        )
        for place in sorted(warmest)
    )
    return HeatView(tuple(_label(name, interface) for name in answer.rows), tuple(rows))


def _label(name: str, interface: Interface) -> Markup:
    sentence = _SENTENCE.fullmatch(name)
    if sentence:
        number = interface.number(int(sentence[1]))
        return escape(interface.say("heat.sentence", number=number))
    if name == _WHOLE:
        return escape(interface.say("heat.whole"))
    return typeset.line(pieces(name))
