"""The sizes of a student, as training, export and the finished model use them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Shape:
    """The sizes of a student.

    Attributes:
        vocabulary: The number of tokens.
        width: The length of a position's vector.
        layers: The number of transformer layers.
        heads: The number of attention heads.
        hidden: The width between the two feed-forward layers.
        group: The number of tokens per position.
        positions: The most positions.
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
