"""Versions of a post in several languages."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from mathsetu.library import versions as module
from mathsetu.library.store import Heading
from mathsetu.library.versions import _POSTS_PER_GROUP, Versions
from tests.library.stored import Posts, lazy_post, ranked


def test_versions_of_a_thread_take_precedence_over_similar_posts() -> None:
    seen = [Heading("en", "t"), Heading("cs", ""), Heading("es", "t")]
    alike = lazy_post("$x^2+1$, $y^3-2$, $z^4+w$ and $uv-3$")
    own = SimpleNamespace(
        _near=lambda *_: [(1, 2)],
        _posts=SimpleNamespace(lazy_posts=lambda numbers: dict.fromkeys(numbers, alike)),
    )
    threads = {"t": {0: "en", 2: "es"}}
    found = Versions._firsts(own, None, np.arange(3), seen, threads)  # type: ignore[arg-type]
    assert found == [0, 1, 0]
    assert Versions._firsts(own, None, np.arange(3), seen, {}) == [0, 1, 1]  # type: ignore[arg-type]


def test_the_version_in_the_language_of_the_user_ranks_first() -> None:
    posts = Posts(
        {
            1: Heading("en", "t"), 2: Heading("hi", "t"), 3: Heading("en", ""),
            4: Heading("cs", "t"),
        }
    )  # fmt: skip
    before = ranked({1: 0.9, 3: 0.8, 2: 0.3})
    after = Versions(posts).prefer_language(before, "hi", 0.2, 3)
    assert after.numbers.tolist()[0] == 2
    assert after.scores.tolist() == sorted(after.scores.tolist(), reverse=True)
    remark = after.remarks[0](0)
    assert remark is not None
    assert remark.part == "language"
    assert remark.detail == "in the language of the query (hi): rank 3 otherwise"
    assert remark.score == pytest.approx(after.scores[0] - 0.3)
    for same in (
        Versions(posts).prefer_language(before, "hi", 0.0, 3),
        Versions(posts).prefer_language(before, "ru", 0.2, 3),
        Versions(posts).prefer_language(ranked({1: 0.9, 3: 0.8}), "en", 0.2, 2, is_filtered=True),
    ):
        assert same.numbers.tolist() in ([1, 3, 2], [1, 3])
        assert same.remarks == ()


def test_a_version_that_no_part_found_is_looked_up() -> None:
    posts = Posts({1: Heading("en", "t"), 2: Heading("hi", "t"), 3: Heading("en", "")})
    found = Versions(posts).prefer_language(ranked({1: 0.9, 3: 0.8}), "hi", 0.2, 2)
    assert found.numbers.tolist() == [2, 3, 1]
    remark = found.remarks[0](0)
    assert remark is not None
    assert remark.detail.endswith(": a version of what was found")
    kept = Versions(posts).prefer_language(ranked({1: 0.9, 3: 0.8}), "hi", 0.2, 2, is_filtered=True)
    assert kept.numbers.tolist() == [1, 3]


@pytest.mark.parametrize(
    ("headings", "groups"),
    [
        ({1: Heading("en", "t"), 2: Heading("hi", "t"), 3: Heading("cs", "t")}, [0, 0, 0]),
        # Two posts in one language are a discussion, and so are answers.
        ({1: Heading("en", "t"), 2: Heading("hi", "t"), 3: Heading("en", "t")}, [0, 1, 2]),
        ({1: Heading("en", "t"), 2: Heading("hi", "t", "1"), 3: Heading("cs", "")}, [0, 1, 2]),
        ({1: Heading("en", "t"), 2: Heading("hi", "t", "", "answer"), 3: Heading("cs", "")},
         [0, 1, 2]),
        ({1: Heading("", "t"), 2: Heading("", "t"), 3: Heading("cs", "t")}, [0, 1, 2]),
        ({1: Heading("en", "t"), 2: Heading("hi", "u"), 3: Heading("cs", "u")}, [0, 1, 1]),
    ],
)  # fmt: skip
def test_posts_of_a_thread_in_several_languages_are_versions(
    headings: dict[int, Heading], groups: list[int]
) -> None:
    reply = ranked({1: 0.9, 2: 0.8, 3: 0.7})
    assert Versions(Posts(headings)).first_versions(reply, 3) == groups
    assert Versions(Posts(headings)).first_versions(reply, 1) == [0]


class Means:
    """Vectors of posts, of which some are nearly the same."""

    def __init__(self, means: dict[int, list[float]]) -> None:
        self._means = means

    def means(self, numbers: Any) -> Any:
        return np.array([self._means[number] for number in numbers.tolist()])


@pytest.mark.parametrize(
    ("bodies", "cosine", "groups"),
    [
        ({1: "$x^2$ $y^3$", 2: "$x^2$ $y^3$"}, 0.86, [0, 0]),
        ({1: "$x^2$ $y^3$", 2: "$x^2$ $y^3$"}, 0.84, [0, 1]),
        ({1: "$x^2$", 2: "$x^2$"}, 0.9, [0, 1]),
        ({1: "$x^2$ $y^3$ $a$", 2: "$x^2$ $y^3$ $b$"}, 0.9, [0, 1]),
        ({1: "$x^2$ $y^3$ $z^4$ $a$", 2: "$x^2$ $y^3$ $z^4$ $b$"}, 0.9, [0, 0]),
    ],
)
def test_posts_with_similar_vectors_and_the_same_formulas_are_versions(
    monkeypatch: pytest.MonkeyPatch, bodies: dict[int, str], cosine: float, groups: list[int]
) -> None:
    monkeypatch.setattr(module, "ComparableReply", Means)
    reply = ranked({1: 0.9, 2: 0.8})
    vectors = {1: [1.0, 0.0], 2: [cosine, (1 - cosine**2) ** 0.5]}
    reply.replies = {"meaning": Means(vectors)}  # type: ignore[dict-item]
    posts = Posts({1: Heading("en", ""), 2: Heading("hi", "")}, bodies)
    assert Versions(posts).first_versions(reply, 2) == groups
    alike = Posts({1: Heading("en", ""), 2: Heading("en", "")}, bodies)
    assert Versions(alike).first_versions(reply, 2) == [0, 1]


def test_missing_versions_are_appended_from_their_threads() -> None:
    reply = ranked({1: 0.9, 5: 0.8, 3: 0.7})
    threads = {"t": {1: "en", 2: "hi"}, "u": {5: "en", 6: "hi", 7: "cs"}, "v": {9: "en", 3: "hi"}}
    found, places = module._looked_up(reply, threads, "hi", {1, 5})
    assert found.numbers.tolist() == [1, 5, 3, 2, 6]
    assert places == [3, 4, 2]
    assert module._looked_up(reply, threads, "ru", {1}) == (reply, [])
    same, places = module._looked_up(reply, {"v": threads["v"]}, "hi", set())
    assert (same, places) == (reply, [2])
    assert module._looked_up(reply, {"v": threads["v"]}, "hi", {3}) == (reply, [])


def test_more_posts_are_examined_until_there_are_enough_groups(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[int] = []

    def first_versions(_: Versions, reply: Any, depth: int) -> list[int]:
        asked.append(depth)
        return [0] * min(depth, 30) + list(range(30, min(depth, 99)))

    monkeypatch.setattr(Versions, "first_versions", first_versions)
    groups = Versions(Posts({})).groups(SimpleNamespace(numbers=range(99)), 2)  # type: ignore[arg-type]
    assert asked == [2 * _POSTS_PER_GROUP, 4 * _POSTS_PER_GROUP, 8 * _POSTS_PER_GROUP]
    assert groups[:2] == [(0, list(range(30))), (30, [30])]


def test_posts_have_the_same_formulas_if_they_share_two_and_most_of_all() -> None:
    def with_formulas(formulas: str) -> Any:
        return SimpleNamespace(plain_formulas=frozenset(formulas))

    def are_same(ours: str, theirs: str) -> bool:
        return module._have_same_formulas(with_formulas(ours), with_formulas(theirs))

    assert are_same("ab", "ab")
    assert not are_same("a", "a")
    assert are_same("abcd", "abce")  # three of five
    assert not are_same("abd", "abe")  # two of four
