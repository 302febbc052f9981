"""A compact hash table of the ids that were read and their places."""

from __future__ import annotations

from array import array

# A place is a file number and a line in one integer; larger line numbers become _LAST_LINE.
_LINE_BITS = 40
_LAST_LINE = (1 << _LINE_BITS) - 1
_HASH_BITS = (1 << 64) - 1


class SeenIds:
    """The ids of all sources that are read together, to find ids that occur twice.

    A collection has millions of ids, so the table keeps only a hash and a place for each: 16 bytes
    per slot, with at most 60% of the slots in use. Python's hash of a text has 64 bits and a
    secret key. The probability of a collision among ten million ids is about one in 400,000, and
    its only effect would be one refused post.

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
        """Return the first place of an id; if the id is new, record its place and return None."""
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
        """Return the slot of a key, or the free slot for it."""
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
