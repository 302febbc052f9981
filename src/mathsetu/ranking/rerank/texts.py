"""What a reranker reads of a query and of a post: the same in training as in search."""

from __future__ import annotations

from mathsetu.records import Post, Query


def question_text(query: Query) -> str:
    r"""Title and text of a query.

    >>> question_text(Query(id="1", title="A limit", text="Why is it 1?"))
    'A limit\nWhy is it 1?'
    """
    return _joined(query.title, query.text)


def candidate_text(post: Post) -> str:
    r"""Title of a post, the question that it answers, and its body.

    >>> candidate_text(Post(id="7", title="A limit", question="Why is it 1?", body="By squeezing."))
    'A limit\nWhy is it 1?\nBy squeezing.'
    """
    return _joined(post.title, post.question, post.body)


def _joined(*parts: str) -> str:
    return "\n".join(part for part in parts if part)
