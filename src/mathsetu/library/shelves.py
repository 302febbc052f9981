"""The posts of a library: those of all its segments in one row, without the removed ones.

A post has a number in its segment, and one in the whole library: that of its segment's first post
added to its own. Retrievers count the same way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mathsetu.errors import DamagedLibrary, UnknownPost
from mathsetu.intake.posts import PostFacts
from mathsetu.library.manifest import Segment
from mathsetu.library.store import STORE, Store
from mathsetu.records import Post
from mathsetu.retrieval.segments import Numbering

if TYPE_CHECKING:
    from numpy.typing import NDArray


# Filters whose posts are remembered, a bit for each post.
_FILTERS = 64
# Ids whose numbers are remembered.
_REMEMBERED = 10_000


@dataclass(frozen=True)
class Filter:
    """Which posts may be found: of one language, with all of these tags, of one collection."""

    language: str = ""
    tags: tuple[str, ...] = ()
    collection: str = ""


class Shelves:
    """The stores of all segments as one.

    Attributes:
        count: How many posts the segments have, removed ones included.
        present: Which posts may be found at all, by number; None when none was removed.
    """

    def __init__(self, folders: Sequence[Path], segments: Sequence[Segment]) -> None:
        """Open the stores of segments that lie in ``folders``."""
        self._segments = segments
        self._stores: list[Store] = []
        with ExitStack() as opened:
            for folder, segment in zip(folders, segments, strict=True):
                store = Store(folder / STORE)
                opened.callback(store.close)
                self._stores.append(store)
                if store.count != segment.posts:
                    raise DamagedLibrary(
                        folder, f"has {store.count} posts instead of {segment.posts}"
                    )
            opened.pop_all()
        self._numbering = Numbering(store.count for store in self._stores)
        self.count = len(self._numbering)
        self.present: NDArray[np.bool_] | None = self._not_removed()
        self._numbers: dict[str, int] = {}
        # People turn pages and change their words; the filter stays.
        self._passing = lru_cache(_FILTERS)(self._passing_bits)

    def _not_removed(self) -> NDArray[np.bool_] | None:
        if not any(segment.removed for segment in self._segments):
            return None
        present = np.ones(self.count, dtype=np.bool_)
        for first, segment in zip(self._numbering.firsts, self._segments, strict=True):
            present[first + np.array(segment.removed, dtype=np.int64)] = False
        return present

    def close(self) -> None:
        """Close the files."""
        for store in self._stores:
            store.close()

    def __contains__(self, post_id: str) -> bool:
        return self._place(post_id) is not None

    def number_of(self, post_id: str) -> int:
        """The number of a post in the whole library."""
        _, number, offset = self._find(post_id)
        return offset + number

    def post(self, post_id: str) -> Post:
        """One post by its id."""
        store, number, _ = self._find(post_id)
        return store.by_number([number])[number].post

    def find(self, post_id: str) -> PostFacts | None:
        """What is known of a post, if it is here."""
        place = self._place(post_id)
        return None if place is None else place[0].by_number([place[1]])[place[1]]

    def answers_to(self, post_id: str) -> list[Post]:
        """The answers to a question."""
        return [
            answer
            for store, segment in zip(self._stores, self._segments, strict=True)
            for number, answer in store.answers_to(post_id)
            if number not in segment.removed
        ]

    def places(self, ids: Iterable[str]) -> dict[str, dict[str, int]]:
        """For each segment, by its name, those of some posts that it has, with their numbers."""
        wanted = list(ids)
        found: dict[str, dict[str, int]] = {}
        for store, segment in zip(self._stores, self._segments, strict=True):
            numbers = {post_id: store.number_of(post_id) for post_id in wanted}
            found[segment.name] = {
                post_id: number
                for post_id, number in numbers.items()
                if number is not None and number not in segment.removed
            }
        return found

    def posts(self, numbers: Sequence[int]) -> dict[int, Post]:
        """Posts by their numbers, each answer with what its question says."""
        posts: dict[int, Post] = {}
        for store, offset, own in self._shared_out(numbers):
            for number, facts in store.by_number(own).items():
                parent_id = facts.post.parent_id
                asked = self.find(parent_id) if parent_id else None
                posts[offset + number] = (facts.beside(asked) if asked else facts).post
        return posts

    def glances(self, numbers: Sequence[int]) -> dict[int, Post]:
        """Posts by their numbers as they were written, answers without their questions."""
        return {
            offset + number: post
            for store, offset, own in self._shared_out(numbers)
            for number, post in store.glances(own).items()
        }

    def ids(self, numbers: Sequence[int]) -> dict[int, str]:
        """The ids of posts by their numbers."""
        ids: dict[int, str] = {}
        for store, offset, own in self._shared_out(numbers):
            ids.update((offset + number, name) for number, name in store.ids(own).items())
        # Posts that are found are asked for next, by their ids.
        if len(self._numbers) > _REMEMBERED:
            self._numbers.clear()
        self._numbers.update((name, number) for number, name in ids.items())
        return ids

    def allowed(self, where: Filter | None) -> NDArray[np.bool_] | None:
        """Which posts may be found, by number; None for all."""
        if where is None or where == Filter():
            return self.present
        bits = self._passing(where.language, tuple(where.tags), where.collection)
        allowed = np.unpackbits(bits, count=self.count).view(np.bool_)
        return allowed if self.present is None else allowed & self.present

    def _passing_bits(
        self, language: str, tags: tuple[str, ...], collection: str
    ) -> NDArray[np.uint8]:
        """A bit for each post: whether it passes a filter."""
        masks = [store.allowed(language, tags, collection) for store in self._stores]
        return np.packbits(np.concatenate(masks))

    def not_removed(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Those of some numbers whose posts are still there."""
        return numbers if self.present is None else numbers[self.present[numbers]]

    def tags(self, limit: int) -> dict[str, int]:
        """The most frequent tags and how many posts have each."""
        counts: Counter[str] = Counter()
        for store, segment in zip(self._stores, self._segments, strict=True):
            counts.update(store.tags(frozenset(segment.removed)))
        ranked = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
        return dict(ranked[:limit])

    def _find(self, post_id: str) -> tuple[Store, int, int]:
        place = self._place(post_id)
        if place is None:
            raise UnknownPost(post_id)
        return place

    def _place(self, post_id: str) -> tuple[Store, int, int] | None:
        """The store of a post, its number there, and the number of the store's first post."""
        known = self._numbers.get(post_id)
        if known is not None:
            place, own = self._numbering.locate(known)
            return self._stores[place], own, known - own
        stores = zip(self._stores, self._segments, self._numbering.firsts, strict=True)
        for store, segment, first in stores:
            number = store.number_of(post_id)
            if number is not None and number not in segment.removed:
                return store, number, first
        for store in self._stores:
            store.check()
        return None

    def _shared_out(self, numbers: Sequence[int]) -> Iterator[tuple[Store, int, list[int]]]:
        """Each store, the number of its first post, and those of some numbers that are its own."""
        wanted = np.array(numbers, dtype=np.int64)
        for segment, _, own in self._numbering.shared_out(wanted):
            yield self._stores[segment], self._numbering.firsts[segment], own.tolist()
