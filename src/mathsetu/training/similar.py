"""Finds hard negatives: the posts of a library that are most similar to a question."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from mathsetu.library import Library
from mathsetu.records import Post, Query

# Similar posts to search for ones without a shared tag.
_SIMILAR = 100


def similar_posts(library: Library, known: Mapping[str, Post]) -> Callable[[Post], list[Post]]:
    """Return a function that finds the posts most similar to a post's question, best first.

    Args:
        library: The library to search.
        known: Posts by id, answers with their questions; only these are returned.
    """

    def similar(post: Post) -> list[Post]:
        query = Query(post.id, post.question, post.title, language=post.language)
        hits = library.search(query, _SIMILAR, explain=False, own_language="off")
        found = (known[hit.id] for hit in hits if hit.id in known and hit.id != post.id)
        # Without questions: a model would tell them from answers by form, not by content.
        return [other for other in found if other.kind != "question"]

    return similar
