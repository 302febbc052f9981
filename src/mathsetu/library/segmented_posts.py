"""The posts of all segments of a library as one sequence, without removed posts.

A post has a number in its segment and a number in the library: the sum of the former and the number
of the segment's first post. Retrievers use the same numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, fields
from functools import lru_cache
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mathsetu.errors import DamagedLibrary, InputError, UnknownPost
from mathsetu.intake.posts import LazyPost, PostFacts
from mathsetu.languages.table import language as language_of
from mathsetu.library.manifest import Segment
from mathsetu.library.store import STORE, Heading, Store
from mathsetu.records import Post, has_question_text
from mathsetu.retrieval.segments import Numbering

if TYPE_CHECKING:
    from numpy.typing import NDArray


# Cached filters; each takes one bit per post.
_FILTERS = 64
# Cached ids with their numbers.
_CACHE_SIZE = 10_000


#: A condition on posts: a field, the values of which a post has at least one, and whether it must
#: (or must not) have one.
Condition = tuple[str, tuple[str, ...], bool]
#: The fields by which posts are filtered and counted.
FACETS = LANGUAGE, TAG, COLLECTION = "language", "tag", "collection"


@dataclass(frozen=True)
class Filter:
    """Restricts a search to some posts.

    A list of values may be given instead of a tuple, and the name of a language instead of its
    code.

    Attributes:
        language: Only posts in this language, or in one of these.
        tags: Only posts with all of these tags.
        collection: Only posts of this collection, or of one of these.
        any_tags: Only posts with at least one of these tags.
        not_languages: No posts in these languages.
        not_tags: No posts with any of these tags.
        not_collections: No posts of these collections.

    >>> Filter(("en", "Hindi"), not_tags=["homework"]).conditions
    (('language', ('en', 'hi'), True), ('tag', ('homework',), False))
    >>> Filter(tags="calculus")
    Traceback (most recent call last):
    mathsetu.errors.InputError: Filter: tags is a text; give a list of texts
    """

    language: str | tuple[str, ...] = ""
    tags: tuple[str, ...] = ()
    collection: str | tuple[str, ...] = ""
    any_tags: tuple[str, ...] = ()
    not_languages: tuple[str, ...] = ()
    not_tags: tuple[str, ...] = ()
    not_collections: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            if isinstance(value, list):
                value = tuple(value)
                object.__setattr__(self, one.name, value)
            if isinstance(value, str) and one.default == "":
                continue
            if isinstance(value, str):
                raise InputError(f"Filter: {one.name} is a text; give a list of texts")
            if not isinstance(value, tuple) or not all(isinstance(item, str) for item in value):
                raise InputError(f"Filter: {one.name} is {value!r:.60}; give texts")
        for name in ("language", "not_languages"):
            codes = tuple(language_of(item).code for item in _several(getattr(self, name)))
            one_code = codes[0] if codes else ""
            is_text = isinstance(getattr(self, name), str)
            object.__setattr__(self, name, one_code if is_text else codes)

    @property
    def languages(self) -> tuple[str, ...]:
        """The allowed languages; empty for all."""
        return _several(self.language)

    @property
    def collections(self) -> tuple[str, ...]:
        """The allowed collections; empty for all."""
        return _several(self.collection)

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """The conditions that a post must meet."""
        conditions = [
            (LANGUAGE, self.languages, True),
            (COLLECTION, self.collections, True),
            *((TAG, (tag,), True) for tag in _several(self.tags)),
            (TAG, _several(self.any_tags), True),
            (LANGUAGE, _several(self.not_languages), False),
            (TAG, _several(self.not_tags), False),
            (COLLECTION, _several(self.not_collections), False),
        ]
        return tuple(condition for condition in conditions if condition[1])


def _several(value: str | tuple[str, ...]) -> tuple[str, ...]:
    """The values of a filter; an empty one, as a form sends for "any", does not filter."""
    return tuple(filter(None, (value,) if isinstance(value, str) else value))


def by_frequency(counts: Mapping[str, int]) -> dict[str, int]:
    """Sort counts, the largest first.

    >>> by_frequency({"hi": 1, "en": 2, "cs": 2})
    {'cs': 2, 'en': 2, 'hi': 1}
    """
    return dict(sorted(counts.items(), key=lambda entry: (-entry[1], entry[0])))


def questions_of(posts: Iterable[PostFacts]) -> list[str]:
    """The ids of the questions that complete the given posts, each once."""
    wanted = (one.post.parent_id for one in posts if not has_question_text(one.post))
    return list(dict.fromkeys(filter(None, wanted)))


def whole_posts(
    posts: Mapping[int, PostFacts], questions: Mapping[str, PostFacts | None]
) -> dict[int, Post]:
    """Posts as they are shown: each answer is completed from its question, if that is known."""
    whole: dict[int, Post] = {}
    for number, facts in posts.items():
        asked = questions.get(facts.post.parent_id)
        whole[number] = (facts.with_question(asked) if asked else facts).post
    return whole


class SegmentedPosts:
    """The stores of all segments as one.

    Attributes:
        count: The number of posts in the segments, including removed ones.
        present: The mask of posts that were not removed; None if none was removed.
    """

    def __init__(self, folders: Sequence[Path], segments: Sequence[Segment]) -> None:
        """Open the stores of segments in ``folders``."""
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
        # Users page through results and edit their queries with the same filter.
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
        """A post by its id; an answer is completed from its question."""
        return self.named([post_id])[post_id]

    def named(self, ids: Iterable[str]) -> dict[str, Post]:
        """Posts by their ids; answers are completed from their questions."""
        numbers = {post_id: self.number_of(post_id) for post_id in ids}
        posts = self.posts(list(numbers.values()))
        return {post_id: posts[number] for post_id, number in numbers.items()}

    def find(self, post_id: str) -> PostFacts | None:
        """The facts of a post; None if it does not exist."""
        place = self._place(post_id)
        return None if place is None else place[0].by_number([place[1]])[place[1]]

    def collections(self, ids: Iterable[str]) -> dict[str, str]:
        """The collection of each given post that exists, by id."""
        places = ((post_id, self._place(post_id)) for post_id in ids)
        return {
            post_id: place[0].collection_of(place[1])
            for post_id, place in places
            if place is not None
        }

    def has_collection(self, name: str) -> bool:
        """Whether a collection has any post."""
        allowed = self.allowed(Filter(collection=name))
        return allowed is not None and bool(allowed.any())

    def answers_to(self, post_id: str) -> list[Post]:
        """The answers to a question."""
        return [
            answer
            for store, segment in zip(self._stores, self._segments, strict=True)
            for number, answer in store.answers_to(post_id)
            if number not in segment.removed
        ]

    def threads(self, names: Iterable[str]) -> dict[str, dict[int, str]]:
        """For each known thread or file, the languages of its posts by their numbers."""
        wanted = list(dict.fromkeys(names))
        found: dict[str, dict[int, str]] = {}
        for store, segment, first in zip(
            self._stores, self._segments, self._numbering.firsts, strict=True
        ):
            for thread, number, language in store.threads(wanted):
                if number not in segment.removed:
                    found.setdefault(thread, {})[first + number] = language
        return found

    def threads_below(self, prefix: str) -> list[str]:
        """The names of threads and files that start with a prefix, also those of removed posts."""
        names = chain.from_iterable(store.threads_below(prefix) for store in self._stores)
        return sorted(set(names))

    def places(self, ids: Iterable[str]) -> dict[str, dict[str, int]]:
        """For each segment, by name, the numbers of the given posts that it has."""
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
        """Posts by their numbers; answers are completed from their questions."""
        facts = {
            offset + number: one
            for store, offset, own in self._shared_out(numbers)
            for number, one in store.by_number(own).items()
        }
        asked = {post_id: self.find(post_id) for post_id in questions_of(facts.values())}
        return whole_posts(facts, asked)

    def lazy_posts(self, numbers: Sequence[int]) -> dict[int, LazyPost]:
        """Posts by their numbers as they were written; answers are not completed."""
        return {
            offset + number: lazy
            for store, offset, own in self._shared_out(numbers)
            for number, lazy in store.lazy_posts(own).items()
        }

    def headings(self, numbers: Sequence[int]) -> dict[int, Heading]:
        """The `Heading` of each post, by number."""
        return {
            offset + number: heading
            for store, offset, own in self._shared_out(numbers)
            for number, heading in store.headings(own).items()
        }

    def ids(self, numbers: Sequence[int]) -> dict[int, str]:
        """The ids of posts by their numbers."""
        ids: dict[int, str] = {}
        for store, offset, own in self._shared_out(numbers):
            ids.update((offset + number, name) for number, name in store.ids(own).items())
        # Callers usually request these posts next, by id.
        if len(self._numbers) > _CACHE_SIZE:
            self._numbers.clear()
        self._numbers.update((name, number) for number, name in ids.items())
        return ids

    def allowed(self, where: Filter | None) -> NDArray[np.bool_] | None:
        """The mask of posts that may be found, by number; None for all."""
        if where is None or not where.conditions:
            return self.present
        bits = self._passing(where.conditions)
        allowed = np.unpackbits(bits, count=self.count).view(np.bool_)
        return allowed if self.present is None else allowed & self.present

    def _passing_bits(self, conditions: tuple[Condition, ...]) -> NDArray[np.uint8]:
        """A bit for each post: whether it meets all conditions."""
        masks = [store.allowed(conditions) for store in self._stores]
        return np.packbits(np.concatenate(masks))

    def not_removed(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """The given numbers without those of removed posts."""
        return numbers if self.present is None else numbers[self.present[numbers]]

    def tags(self, limit: int) -> dict[str, int]:
        """The most frequent tags and how many posts have each."""
        counts: Counter[str] = Counter()
        for store, segment in zip(self._stores, self._segments, strict=True):
            counts.update(store.tags(frozenset(segment.removed)))
        return dict(list(by_frequency(counts).items())[:limit])

    def titles(self, limit: int) -> Iterator[tuple[int, str]]:
        """The numbers and titles of the first posts with a title, without removed posts."""
        stores = zip(self._stores, self._segments, self._numbering.firsts, strict=True)
        every = (
            (first + number, title)
            for store, segment, first in stores
            for number, title in store.titles()
            if number not in segment.removed
        )
        return islice(every, limit)

    def facets(self, numbers: Sequence[int]) -> dict[str, dict[str, int]]:
        """How many of the given posts have each language, tag and collection, largest first.

        Args:
            numbers: The numbers of the posts, without duplicates.
        """
        counts: dict[str, Counter[str]] = {field: Counter() for field in FACETS}
        for store, _, own in self._shared_out(numbers):
            for field, counted in counts.items():
                counted.update(store.facet(field, own))
        return {field: by_frequency(counted) for field, counted in counts.items()}

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
        """For each store with some of the posts: the store, its first number, the numbers in it."""
        wanted = np.array(numbers, dtype=np.int64)
        for segment, _, own in self._numbering.by_segment(wanted):
            yield self._stores[segment], self._numbering.firsts[segment], own.tolist()
