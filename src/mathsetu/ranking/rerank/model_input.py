"""The input of a reranker, from a query and a post: the same in training as in search."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from mathsetu.languages.analyze import words
from mathsetu.records import Post, Query

#: The fields of a post that a model may read, in their usual order.
FIELDS = ("title", "question", "body")


def _words_alone(text: str) -> str:
    return " ".join(words(text).split())


#: How a text is converted before a model reads it.
TEXTS: dict[str, Callable[[str], str]] = {"marked": str, "words": _words_alone}


def question_text(query: Query, text: str = "marked") -> str:
    r"""Title and text of a query.

    >>> question_text(Query(id="1", title="A limit", text="Why is it $1$?"))
    'A limit\nWhy is it $1$?'
    """
    return _joined((query.title, query.text), text)


def candidate_text(post: Post, fields: tuple[str, ...] = FIELDS, text: str = "marked") -> str:
    r"""Title of a post, the question that it answers, and its body.

    >>> post = Post(id="7", title="A limit", question="Why is it $1$?", body="By squeezing.")
    >>> candidate_text(post)
    'A limit\nWhy is it $1$?\nBy squeezing.'
    >>> candidate_text(post, ("question", "body"), "words")
    'Why is it ?\nBy squeezing.'
    """
    return _joined((getattr(post, field) for field in fields), text)


def _joined(parts: Iterable[str], text: str) -> str:
    return "\n".join(TEXTS[text](part) for part in parts if part)
