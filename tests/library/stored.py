"""Posts and replies for tests of ranking, without a library."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mathsetu.intake.posts import LazyPost
from mathsetu.intake.question import Question
from mathsetu.library.candidates import RecipeReply
from mathsetu.library.store import Heading
from mathsetu.records import Post, Query


def question(text: str, language: str = "en") -> Question:
    return Question(Query("1", text, language=language))


def lazy_post(body: str, title: str = "") -> LazyPost:
    return LazyPost.of(Post("a", body, title=title, language="en"))


class Posts:
    def __init__(self, headings: dict[int, Heading], bodies: dict[int, str] | None = None) -> None:
        self._headings, self._bodies = headings, bodies or {}
        self.read: list[list[int]] = []

    def headings(self, numbers: Sequence[int]) -> dict[int, Heading]:
        return {number: self._headings[number] for number in numbers}

    def threads(self, names: Sequence[str]) -> dict[str, dict[int, str]]:
        found: dict[str, dict[int, str]] = {}
        for number, heading in self._headings.items():
            if heading.thread_id in names:
                found.setdefault(heading.thread_id, {})[number] = heading.language
        return found

    def lazy_posts(self, numbers: Sequence[int]) -> dict[int, LazyPost]:
        self.read.append(list(numbers))
        return {number: lazy_post(self._bodies.get(number, "")) for number in numbers}

    def ids(self, numbers: Sequence[int]) -> dict[int, str]:
        return {number: str(number) for number in numbers}


def ranked(scores: dict[int, float], text: str = "prime", **more: Any) -> RecipeReply:
    values = np.array(list(scores.values()))
    numbers = np.array(list(scores))
    added = {"words": values}
    return RecipeReply(question(text), numbers, values, added, {}, said=added, **more)
