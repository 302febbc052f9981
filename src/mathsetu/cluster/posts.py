"""The posts of one version of a library on a cluster."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mathsetu.cluster.layout import COLLECTION, ID, KIND, LANGUAGE, PARENT, TAGS, THREAD
from mathsetu.cluster.payloads import damaged
from mathsetu.cluster.snapshot import Snapshot
from mathsetu.errors import UnknownPost
from mathsetu.intake.posts import LazyPost, PostFacts
from mathsetu.library.segmented_posts import FACETS, by_frequency, questions_of, whole_posts
from mathsetu.library.store import Heading, facts_of
from mathsetu.records import Post

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_RECORD = (LANGUAGE, COLLECTION, "record", "spans")
_PURPOSE = "the posts"
# Points per page of a listing.
_PAGE = 500


class ClusterPosts:
    """Access to posts by id and by number; posts are cached once they are read.

    A search fetches all posts that it shows in one request, and their questions in another.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._known: dict[int, PostFacts] = {}
        self._numbers: dict[str, int | None] = {}

    def __contains__(self, post_id: str) -> bool:
        return bool(self.numbers([post_id]))

    def number_of(self, post_id: str) -> int:
        """The number of a post."""
        numbers = self.numbers([post_id])
        if not numbers:
            raise UnknownPost(post_id)
        return numbers[post_id]

    def numbers(self, ids: Iterable[str]) -> dict[str, int]:
        """The number of each given post that exists, by id."""
        wanted = list(ids)
        found = self._listed(ID, wanted, (ID,)) if wanted else iter(())
        return {str(payload[ID]): number for number, payload in found}

    def post(self, post_id: str) -> Post:
        """A post by its id; an answer is completed from its question."""
        return self.named([post_id])[post_id]

    def named(self, ids: Iterable[str]) -> dict[str, Post]:
        """Posts by their ids; answers are completed from their questions."""
        wanted = list(ids)
        self._read_by_id(wanted)
        numbers: dict[str, int] = {}
        for post_id in wanted:
            number = self._numbers[post_id]
            if number is None:
                raise UnknownPost(post_id)
            numbers[post_id] = number
        posts = self.posts(list(numbers.values()))
        return {post_id: posts[number] for post_id, number in numbers.items()}

    def find(self, post_id: str) -> PostFacts | None:
        """The facts of a post; None if it does not exist."""
        self._read_by_id([post_id])
        number = self._numbers[post_id]
        return None if number is None else self._known[number]

    def answers_to(self, post_id: str) -> list[Post]:
        """The answers to a question; their ``collection`` is set."""
        return [
            replace(_read(payload).post, collection=str(payload[COLLECTION]))
            for _, payload in self._listed(PARENT, [post_id], _RECORD)
        ]

    def posts(self, numbers: Sequence[int]) -> dict[int, Post]:
        """Posts by their numbers; answers are completed from their questions."""
        self._read_by_number(numbers)
        facts = {number: self._known[number] for number in numbers}
        wanted = questions_of(facts.values())
        self._read_by_id(wanted)
        return whole_posts(facts, {post_id: self.find(post_id) for post_id in wanted})

    def lazy_posts(self, numbers: Sequence[int]) -> dict[int, LazyPost]:
        """Posts by their numbers as they were written; answers are not completed."""
        self._read_by_number(numbers)
        return {number: _glance(self._known[number]) for number in numbers}

    def headings(self, numbers: Sequence[int]) -> dict[int, Heading]:
        """The `Heading` of each post, by number."""
        names = self._snapshot.names
        fields = (LANGUAGE, THREAD, PARENT, KIND)
        found = self._snapshot.fetch(names.posts, numbers, fields, _PURPOSE)
        if len(found) != len(set(numbers)):
            raise damaged()
        return {
            number: Heading(
                str(payload[LANGUAGE]),
                _threads(payload)[0],
                str(payload[PARENT]),
                str(payload.get(KIND, "")),
            )
            for number, payload in found.items()
        }

    def ids(self, numbers: Sequence[int]) -> dict[int, str]:
        """The ids of posts by their numbers; reads the posts, because they will be shown."""
        self._read_by_number(numbers)
        return {number: self._known[number].post.id for number in numbers}

    def _read_by_number(self, numbers: Sequence[int]) -> None:
        names = self._snapshot.names
        missing = [number for number in numbers if number not in self._known]
        found = self._snapshot.fetch(names.posts, missing, _RECORD, _PURPOSE)
        if len(found) != len(set(missing)):
            raise damaged()
        for number, payload in found.items():
            self._keep(number, payload)

    def _read_by_id(self, ids: Iterable[str]) -> None:
        missing = [post_id for post_id in ids if post_id not in self._numbers]
        if not missing:
            return
        for number, payload in self._listed(ID, missing, _RECORD):
            self._keep(number, payload)
        for post_id in missing:
            self._numbers.setdefault(post_id, None)

    def _keep(self, number: int, payload: dict[str, Any]) -> None:
        facts = _read(payload)
        self._known[number] = facts
        self._numbers[facts.post.id] = number

    def collections(self, ids: Iterable[str]) -> dict[str, str]:
        """The collection of each given post that exists, by id."""
        found = self._listed(ID, list(ids), (ID, COLLECTION))
        return {str(payload[ID]): str(payload[COLLECTION]) for _, payload in found}

    def has_collection(self, name: str) -> bool:
        """Whether a collection has any post."""
        return next(self._listed(COLLECTION, [name], ()), None) is not None

    def threads(self, names: Iterable[str]) -> dict[str, dict[int, str]]:
        """For each known thread or file, the languages of its posts by their numbers."""
        found: dict[str, dict[int, str]] = {}
        wanted = dict.fromkeys(names)
        for number, payload in self._listed(THREAD, list(wanted), (THREAD, LANGUAGE)):
            for thread in _threads(payload):
                if thread in wanted:
                    found.setdefault(thread, {})[number] = str(payload[LANGUAGE])
        return found

    def threads_below(self, prefix: str) -> list[str]:
        """Always empty: all posts would have to be fetched."""
        return []

    def not_removed(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """The given numbers whose posts are visible."""
        import numpy as np

        there = self.among(numbers.tolist())
        return numbers[np.array([number in there for number in numbers.tolist()], dtype=np.bool_)]

    def among(self, numbers: Sequence[int]) -> set[int]:
        """The given numbers whose posts are visible."""
        models = self._snapshot.cluster.models
        there: set[int] = set()
        for start in range(0, len(numbers), _PAGE):
            batch = list(numbers[start : start + _PAGE])
            own = models.HasIdCondition(has_id=batch)
            there |= {number for number, _ in self._scrolled([own], ())}
        return there

    def tags(self, limit: int) -> dict[str, int]:
        """The most frequent tags and how many posts have each."""
        snapshot = self._snapshot
        found = snapshot.cluster.read(
            "the tags",
            "facet",
            snapshot.names.posts,
            key=TAGS,
            facet_filter=snapshot.visible(),
            limit=limit,
            exact=True,
        )
        return by_frequency({str(hit.value): int(hit.count) for hit in found.hits})

    def titles(self, limit: int) -> Iterator[tuple[int, str]]:
        """Always empty: all posts would have to be fetched."""
        return iter(())

    def facets(self, numbers: Sequence[int]) -> dict[str, dict[str, int]]:
        """How many of the given posts have each language, tag and collection."""
        snapshot = self._snapshot
        keys = (LANGUAGE, TAGS, COLLECTION)
        found = snapshot.fetch(snapshot.names.posts, numbers, keys, "the facets")
        counts: list[Counter[str]] = [Counter() for _ in keys]
        for payload in found.values():
            for counted, key in zip(counts, keys, strict=True):
                value = payload.get(key, "")
                counted.update(value if isinstance(value, list) else [value])
        return dict(zip(FACETS, map(by_frequency, counts), strict=True))

    def _listed(
        self, key: str, values: Sequence[str], fields: Sequence[str]
    ) -> Iterator[tuple[int, dict[str, Any]]]:
        models = self._snapshot.cluster.models
        for start in range(0, len(values), _PAGE):
            batch = list(values[start : start + _PAGE])
            one_of = models.FieldCondition(key=key, match=models.MatchAny(any=batch))
            yield from self._scrolled([one_of], fields)

    def _scrolled(
        self, conditions: Sequence[Any], fields: Sequence[str]
    ) -> Iterator[tuple[int, dict[str, Any]]]:
        """All visible posts that meet the conditions, in the order of their numbers."""
        snapshot = self._snapshot
        allowed = snapshot.visible(None, *conditions)
        chosen: Any = list(fields) or False
        offset: Any = None
        while True:
            points, offset = snapshot.cluster.read(
                _PURPOSE,
                "scroll",
                snapshot.names.posts,
                scroll_filter=allowed,
                limit=_PAGE,
                offset=offset,
                with_payload=chosen,
            )
            for point in points:
                yield int(point.id), point.payload or {}
            if offset is None:
                return


def _glance(facts: PostFacts) -> LazyPost:
    return LazyPost.of(facts.post, facts.texts)


def _threads(payload: dict[str, Any]) -> list[str]:
    """The thread of a post ("" if it has none), then its file and archives, if any."""
    named = payload.get(THREAD, "")
    return list(map(str, named)) if isinstance(named, list) and named else [str(named or "")]


def _read(payload: dict[str, Any]) -> PostFacts:
    try:
        return facts_of(str(payload[LANGUAGE]), payload["record"], payload["spans"])
    except (ValueError, TypeError, LookupError, RecursionError, json.JSONDecodeError) as error:
        raise damaged() from error
