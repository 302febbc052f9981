"""Removes formulas from posts and queries, for models that read words only (MIRMU 2)."""

from __future__ import annotations

from dataclasses import replace

from mathsetu.ranking.rerank.model_input import TEXTS
from mathsetu.records import Post, Query

_words = TEXTS["words"]


def post_words(post: Post) -> Post:
    """Return a post as a reranker with ``text = "words"`` reads it.

    >>> post_words(Post("7", "It is $x^2$, by squeezing.", title="A limit of $x$")).body
    'It is , by squeezing.'
    """
    return replace(
        post,
        title=_words(post.title),
        body=_words(post.body),
        question=_words(post.question),
        formulas=(),
    )


def query_words(query: Query) -> Query:
    """Return a query as a reranker with ``text = "words"`` reads it.

    >>> query_words(Query("A.1", "Why is $x$ even?", title="Parity")).text
    'Why is even?'
    """
    return replace(query, title=_words(query.title), text=_words(query.text), formulas=())
