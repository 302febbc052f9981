"""Finds hard negatives: the posts of a library that are most similar to a question."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from mathsetu.library import Library
from mathsetu.records import Post, Query

# How many similar posts are looked through for ones without a shared tag.
_SIMILAR = 100


def similar_posts(library: Library, known: Mapping[str, Post]) -> Callable[[Post], list[Post]]:
    """A function that finds the posts most similar to the question of a post, best first.

    Args:
        library: Where they are found.
        known: Posts by their ids, answers with their questions; others are not given.
    """

    def similar(post: Post) -> list[Post]:
        query = Query(post.id, post.question, post.title, language=post.language)
        hits = library.search(query, _SIMILAR, explain=False, own_language="off")
        found = (known[hit.id] for hit in hits if hit.id in known and hit.id != post.id)
        # A question beside answers would be told from them by its shape, not by what it says.
        return [other for other in found if other.kind != "question"]

    return similar
