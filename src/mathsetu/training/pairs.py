"""Training pairs: a question, a text, and whether the text is relevant."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from mathsetu.collections.threads import is_accepted
from mathsetu.errors import InputError
from mathsetu.printable import counted
from mathsetu.ranking.rerank.model_input import candidate_text, question_text
from mathsetu.records import Judgment, Post, Query


@dataclass(frozen=True, slots=True)
class TrainingPair:
    """A question and a text; the label is 1.0 if the text is relevant, else 0.0.

    >>> TrainingPair("Why is it 1?", "By squeezing.", 1.0).label
    1.0
    """

    question: str
    text: str
    label: float


def judged_pairs(
    queries: Mapping[str, Query],
    find: Callable[[str], Post | None],
    judgments: Iterable[Judgment],
    relevant_from: int = 2,
) -> list[TrainingPair]:
    """Return pairs of queries and their judged posts, as far as the posts are available.

    Args:
        queries: Queries by id.
        find: Returns the post with an id, or None if there is no such post.
        judgments: The judgments of posts.
        relevant_from: The lowest grade that counts as relevant.

    >>> queries = {"A.1": Query("A.1", "Why is it 1?")}
    >>> posts = {"7": Post("7", "By squeezing."), "8": Post("8", "It is even.")}
    >>> judgments = [Judgment("A.1", "7", 3), Judgment("A.1", "8", 1), Judgment("A.1", "9", 3)]
    >>> [pair.label for pair in judged_pairs(queries, posts.get, judgments)]
    [1.0, 0.0]
    """
    pairs = []
    for judgment in judgments:
        query, post = queries.get(judgment.query_id), find(judgment.id)
        if query is not None and post is not None:
            label = 1.0 if judgment.grade >= relevant_from else 0.0
            pairs.append(TrainingPair(question_text(query), candidate_text(post), label))
    return pairs


def thread_pairs(
    posts: Iterable[Post], minimum_score: int | None = 50, *, accepted: bool = False
) -> list[TrainingPair]:
    r"""Return questions with the answers of their own threads that have enough votes.

    Args:
        posts: Answers with their questions (`mathsetu.collections.threads`).
        minimum_score: The fewest votes; None takes every answer.
        accepted: Take the accepted answers instead, regardless of their votes.

    >>> post = Post("7", "By squeezing.", title="A limit", question="Why is it 1?", score=61)
    >>> thread_pairs([post])
    [TrainingPair(question='A limit\nWhy is it 1?', text='By squeezing.', label=1.0)]
    """
    return [
        # The text has no question, or the model would learn to look for a copy of it.
        TrainingPair(_own_question(post), post.body, 1.0)
        for post in posts
        if post.question
        and (
            is_accepted(post)
            if accepted
            else minimum_score is None or (post.score or 0) >= minimum_score
        )
    ]


def unlike_negatives(
    question: Post, similar: Iterable[Post], count: int = 10
) -> list[TrainingPair]:
    """Return the most similar posts that share no tag with a question, as negative pairs.

    Posts without tags can be about anything and are skipped. The texts are bodies without
    questions, as in `thread_pairs`: if only negatives had a question, a model would learn that a
    question in the text means a negative.

    >>> asked = Post("7", "By squeezing.", question="Why is it 1?", tags=("limits",))
    >>> same, other = Post("8", "It is 1.", tags=("limits",)), Post("9", "Even.", tags=("parity",))
    >>> [pair.text for pair in unlike_negatives(asked, [same, other])]
    ['Even.']
    """
    tags = set(question.tags)
    unlike = (post for post in similar if post.tags and tags.isdisjoint(post.tags))
    return [TrainingPair(_own_question(question), post.body, 0.0) for post in islice(unlike, count)]


def split_topics(
    judgments: Sequence[Judgment], share: float, seed: int
) -> tuple[list[Judgment], list[Judgment]]:
    """Split judgments into training and validation; all judgments of a topic stay together.

    >>> judgments = [Judgment(topic, "7", 3) for topic in ("A.1", "A.1", "A.2", "A.3", "A.4")]
    >>> learn, check = split_topics(judgments, share=0.25, seed=1)
    >>> len({j.query_id for j in learn}), len({j.query_id for j in check})
    (3, 1)
    """
    topics = sorted({judgment.query_id for judgment in judgments})
    count = round(len(topics) * share)
    if not 0 < count < len(topics):
        raise InputError(
            f"{counted(len(topics), 'topic')} cannot be split with a share of {share:g} for "
            "validation; give more topics or another share"
        )
    kept_aside = set(np.random.default_rng(seed).permutation(topics)[:count].tolist())
    return (
        [judgment for judgment in judgments if judgment.query_id not in kept_aside],
        [judgment for judgment in judgments if judgment.query_id in kept_aside],
    )


def _own_question(post: Post) -> str:
    return question_text(Query(post.id, post.question, post.title))
