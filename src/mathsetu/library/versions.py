"""Versions of a post in several languages: finds them, and ranks the user's language first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING

import numpy as np

from mathsetu.deadline import check_time
from mathsetu.intake.posts import LazyPost
from mathsetu.library.backend import Posts
from mathsetu.library.candidates import RecipeReply
from mathsetu.library.store import Heading
from mathsetu.ranking.hybrid import order_by_language
from mathsetu.records import Reason
from mathsetu.retrieval.base import ComparableReply

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: The name of reasons for a new order by language.
LANGUAGE = "language"
# Top posts that are reordered by language.
_LANGUAGE_DEPTH = 100
# Posts in different languages are versions of one another from this cosine of their vectors and
# this Jaccard index of their formulas, with at least so many formulas in common.
_MIN_COSINE, _MIN_JACCARD, _MIN_SHARED_FORMULAS = 0.85, 0.6, 2
# Posts examined per hit wanted when versions are grouped.
_POSTS_PER_GROUP = 7


class Versions:
    """Finds versions of posts among those of a reply.

    Versions are posts in different languages that share a thread in which no language has two
    posts and no post is an answer, or posts with nearly the same meaning and formulas. An answer
    is never a version of a question.

    Args:
        posts: The posts of the library.
    """

    def __init__(self, posts: Posts) -> None:
        self._posts = posts

    def prefer_language(
        self,
        ranked: RecipeReply,
        language: str,
        strength: float,
        depth: int,
        *,
        is_filtered: bool = False,
    ) -> RecipeReply:
        """Reorder the posts for a user who prefers a language.

        Versions of a post are scored together, and the version in that language is ranked first.
        If no part has found that version, it is looked up in the thread of the post. A post that
        moves up gets the highest score of the posts below it, so that scores do not increase along
        the list. The difference is stated as the share of the language in the reasons.

        Args:
            ranked: The posts.
            language: The preferred language.
            strength: The strength of the preference (`order_by_language`).
            depth: The number of posts wanted; at least as many are examined.
            is_filtered: Whether a filter applies; then no versions are looked up.
        """
        without = ranked
        first = ranked.numbers[: max(depth, _LANGUAGE_DEPTH)].tolist()
        headings = self._posts.headings(first)
        threads = self._threads(headings.values())
        places = list(range(len(first)))
        if not is_filtered:
            ranked, further = _looked_up(ranked, threads, language, set(first))
            headings |= self._posts.headings(ranked.numbers[further].tolist())
            places += further
        looked_at = ranked.numbers[places]
        seen = [headings[number] for number in looked_at.tolist()]
        is_own = [heading.language == language for heading in seen]
        if not strength or all(is_own) or not any(is_own):
            return without
        groups = self._firsts(ranked, looked_at, seen, threads)
        sizes = {
            group: len(threads[seen[group].thread_id])
            for group in set(groups)
            if seen[group].thread_id in threads
        }
        totals, scores = ranked.totals[places], ranked.scores[places]
        order = order_by_language(scores, totals, is_own, groups, sizes, strength)
        is_rest = np.ones(len(ranked.numbers), dtype=np.bool_)
        is_rest[places] = False
        before = [*(places[place] for place in order), *np.flatnonzero(is_rest).tolist()]
        own = ranked.scores[before]
        shown = np.maximum.accumulate(own[::-1])[::-1]
        spoken = [is_own[place] for place in order]
        counts = Counter(groups)
        has_versions = [max(counts[group], sizes.get(group, 0)) > 1 for group in groups]

        def remark(place: int) -> Reason | None:
            old = before[place]
            if old <= place and shown[place] == own[place]:
                return None
            if place < len(spoken) and spoken[place]:
                why = f"in the language of the query ({language})"
            elif place < len(order) and has_versions[order[place]]:
                why = "judged together with its versions in other languages"
            else:
                why = "those above it were judged together with their versions"
            was_found = old < len(without.numbers)
            rank = f"rank {old + 1} otherwise" if was_found else "a version of what was found"
            return Reason(LANGUAGE, float(shown[place] - own[place]), f"{why}: {rank}")

        return ranked.ordered(before, shown, remark)

    def groups(self, ranked: RecipeReply, end: int) -> list[tuple[int, list[int]]]:
        """Groups of versions: the place of the first version, and those of all versions.

        Examines posts until there are ``end`` groups. Whether a post is a version of another
        depends on earlier places only, so that later pages continue the same list of groups.
        """
        depth = end * _POSTS_PER_GROUP
        while True:
            groups: dict[int, list[int]] = {}
            for place, first in enumerate(self.first_versions(ranked, depth)):
                groups.setdefault(first, []).append(place)
            if len(groups) >= end or depth >= len(ranked.numbers):
                return list(groups.items())
            depth *= 2

    def first_versions(self, ranked: RecipeReply, depth: int) -> list[int]:
        """For each of the first posts the place of its first version in any language."""
        numbers = ranked.numbers[:depth]
        headings = self._posts.headings(numbers.tolist())
        seen = [headings[number] for number in numbers.tolist()]
        return self._firsts(ranked, numbers, seen, self._threads(seen))

    def _threads(self, posts: Iterable[Heading]) -> dict[str, dict[int, str]]:
        """The threads of posts whose members are versions: the languages of posts by number.

        The posts of a discussion and the sections of a document are not versions.
        """
        names = dict.fromkeys(post.thread_id for post in posts if post.thread_id)
        known = self._posts.threads(names) if names else {}
        alike = {name: thread for name, thread in known.items() if _are_in_languages(thread)}
        several = [number for thread in alike.values() if len(thread) > 1 for number in thread]
        headings = self._posts.headings(several).values()
        answered = {heading.thread_id for heading in headings if heading.is_answer}
        return {name: thread for name, thread in alike.items() if name not in answered}

    def _firsts(
        self,
        ranked: RecipeReply,
        numbers: NDArray[np.int64],
        seen: Sequence[Heading],
        threads: Mapping[str, Mapping[int, str]],
    ) -> list[int]:
        """For each post the place of its first version among them."""
        first = list(range(len(seen)))
        near = self._near(ranked, numbers, [heading.language for heading in seen])
        mentioned = {place for pair in near for place in pair}
        posts = self._posts.lazy_posts(numbers[sorted(mentioned)].tolist())
        same: dict[int, list[int]] = {}
        for other, place in near:
            check_time()
            if _have_same_formulas(posts[int(numbers[place])], posts[int(numbers[other])]):
                same.setdefault(place, []).append(other)
        begun: dict[str, int] = {}
        for place, heading in enumerate(seen):
            thread = heading.thread_id
            same_thread = [begun.setdefault(thread, place)] if thread in threads else []
            for other in same_thread + sorted(same.get(place, ())):
                if other < place and _can_be_versions(heading, seen[first[other]]):
                    first[place] = first[other]
                    break
        return first

    @staticmethod
    def _near(
        ranked: RecipeReply, numbers: NDArray[np.int64], languages: Sequence[str]
    ) -> list[tuple[int, int]]:
        """Pairs of places of posts in different languages with nearly the same meaning."""
        comparing = [one for one in ranked.replies.values() if isinstance(one, ComparableReply)]
        spoken = Counter(filter(None, languages)).most_common()
        if not comparing or len(spoken) < 2:
            return []
        means = comparing[0].means(numbers)
        compared = np.zeros(0, dtype=np.int64)
        found: list[tuple[int, int]] = []
        for code, _ in spoken:
            own = np.flatnonzero([language == code for language in languages])
            cosines = np.einsum("ij,kj->ik", means[own], means[compared])
            pairs = np.argwhere(cosines >= _MIN_COSINE)
            both = np.stack([own[pairs[:, 0]], compared[pairs[:, 1]]], axis=1)
            found += map(tuple, np.sort(both, axis=1).tolist())
            compared = np.append(compared, own)
        return found


def _are_in_languages(thread: Mapping[int, str]) -> bool:
    """Whether a thread has at most one post per language."""
    spoken = [language for language in thread.values() if language]
    return len(set(spoken)) == len(spoken)


def _looked_up(
    ranked: RecipeReply,
    threads: Mapping[str, Mapping[int, str]],
    language: str,
    known: AbstractSet[int],
) -> tuple[RecipeReply, list[int]]:
    """Append the versions in a language from the posts' threads; also returns their places.

    Args:
        ranked: The posts.
        threads: The threads of the posts whose members are versions.
        language: The language.
        known: Numbers of posts that are not looked up.
    """
    wanted = [
        number
        for thread in threads.values()
        for number, spoken in thread.items()
        if spoken == language and number not in known
    ]
    if not wanted:
        return ranked, []
    found = {number: place for place, number in enumerate(ranked.numbers.tolist())}
    missing = [number for number in wanted if number not in found]
    found |= {number: len(found) + place for place, number in enumerate(missing)}
    return ranked.with_posts(missing) if missing else ranked, [found[one] for one in wanted]


def _can_be_versions(post: Heading, other: Heading) -> bool:
    """Whether two posts are in different languages, and both or neither are answers."""
    in_two_languages = post.language and other.language and post.language != other.language
    return bool(in_two_languages) and post.is_answer == other.is_answer


def _have_same_formulas(post: LazyPost, other: LazyPost) -> bool:
    ours, theirs = post.plain_formulas, other.plain_formulas
    shared = len(ours & theirs)
    return shared >= _MIN_SHARED_FORMULAS and shared >= _MIN_JACCARD * len(ours | theirs)
