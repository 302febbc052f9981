"""The sizes of a student, as training, export and the finished model use them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Shape:
    """The sizes of a student.

    Attributes:
        vocabulary: How many tokens.
        width: The length of a position's vector.
        layers: How many transformer layers.
        heads: How many attention heads.
        hidden: The width between the two feed-forward maps.
        group: How many tokens make a position.
        positions: How many positions at most.
        dimensions: The length of the vector of a text.
    """

    vocabulary: int
    width: int = 384
    layers: int = 6
    heads: int = 12
    hidden: int = 1536
    group: int = 4
    positions: int = 128
    dimensions: int = 384
