"""Finds the places of a post that are read only in part: invalid LaTeX, dollars without a pair."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from mathsetu.formulas.parse import parse_once
from mathsetu.markup.convert import spans_of
from mathsetu.markup.delimiters import LONE_DOLLAR, has_lone_dollar
from mathsetu.records import Post


class PostProblem(NamedTuple):
    """A problem of a post: the message, and the formula with the position in it, if it is known."""

    message: str
    latex: str = ""
    position: int = 0


def problems_of(post: Post) -> Iterator[PostProblem]:
    r"""Yield the problems of a post, those of its title first.

    >>> [tuple(one) for one in problems_of(Post("7", r"So $\frac{a$, or \$\frac12."))]
    [('{ is not closed', '\\frac{a', 7), ('a dollar sign that is not closed', '', 0)]
    """
    for text in (post.title, post.body):
        for span in spans_of(text):
            if span.kind == "formula":
                for warning in parse_once(span.content).warnings:
                    yield PostProblem(warning.message, span.content, warning.position)
        if has_lone_dollar(text):
            yield PostProblem(LONE_DOLLAR)
