"""Which ids have been read and where, in a few bytes each."""

from __future__ import annotations

from array import array

# A place is a file and a line in one number; a line beyond these bits is told as the last.
_LINE_BITS = 40
_LAST_LINE = (1 << _LINE_BITS) - 1
_HASH_BITS = (1 << 64) - 1


class SeenIds:
    """The ids of all sources that are read together, to find those that occur twice.

    A collection has millions of ids, so what is kept is a hash of each and its place, 16 bytes in
    a table that is at most 60% full. Python's hash of a text has 64 bits and a secret key: that
    two of ten million ids share one has a chance of about one in 400,000, and the only harm would
    be a post that is refused.

    >>> seen = SeenIds()
    >>> seen.first_place("7", "a.jsonl", 1), seen.first_place("7", "b.jsonl", 5)
    (None, ('a.jsonl', 1))
    """

    def __init__(self) -> None:
        self._files: dict[str, int] = {}
        self._names: list[str] = []
        self._count = 0
        self._resize(1 << 10)

    def __contains__(self, post_id: str) -> bool:
        return bool(self._keys[self._slot(_key(post_id))])

    def first_place(self, post_id: str, path: str, line: int) -> tuple[str, int] | None:
        """Where an id was seen before; None, and it is remembered, when it was not."""
        if 10 * self._count > 6 * (self._mask + 1):
            self._grow()
        key = _key(post_id)
        slot = self._slot(key)
        if self._keys[slot]:
            place = self._places[slot]
            return self._names[place >> _LINE_BITS], place & _LAST_LINE
        number = self._files.setdefault(path, len(self._names))
        if number == len(self._names):
            self._names.append(path)
        self._keys[slot] = key
        self._places[slot] = number << _LINE_BITS | min(line, _LAST_LINE)
        self._count += 1
        return None

    def _slot(self, key: int) -> int:
        """Where a key stands, or would stand."""
        keys, mask = self._keys, self._mask
        slot = key & mask
        while keys[slot] and keys[slot] != key:
            slot = (slot + 1) & mask
        return slot

    def _resize(self, size: int) -> None:
        self._mask = size - 1
        self._keys = array("Q", bytes(8 * size))
        self._places = array("Q", bytes(8 * size))

    def _grow(self) -> None:
        keys, places = self._keys, self._places
        self._resize(2 * len(keys))
        for key, place in zip(keys, places, strict=True):
            if key:
                slot = self._slot(key)
                self._keys[slot] = key
                self._places[slot] = place


def _key(post_id: str) -> int:
    return (hash(post_id) & _HASH_BITS) or 1  # zero marks a free slot
