"""What is put above its like: posts that hold a query as it is written, and versions of posts."""

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from mathsetu.deadline import Clock
from mathsetu.intake.posts import LazyPost
from mathsetu.intake.question import Question
from mathsetu.library import ranker as module
from mathsetu.library.candidates import RecipeReply
from mathsetu.library.ranker import ExactReply, Ranker, Scope
from mathsetu.library.store import Heading
from mathsetu.ranking.hybrid import Calibration
from mathsetu.records import Post, Query, Reason
from tests.light import LIGHT


def question(text: str, language: str = "en") -> Question:
    return Question(Query("1", text, language=language))


def glance(body: str, title: str = "") -> LazyPost:
    return LazyPost.of(Post("a", body, title=title, language="en"))


@pytest.mark.parametrize(
    ("text", "telling", "little"),
    [
        ("$x^2+1$", 4.0, True),
        ("prime", 4.0, True),
        ("prime number", 2.0, True),
        ("the prime numbers", 3.0, True),
        ("all the prime numbers", 4.0, False),
        ("are all of the prime numbers odd", 4.0, False),
        ("a b c d e f g h", 4.0, False),
        ("a b c d e f g h i", 1.0, False),
        ("solve $x^2+1$", 1.0, False),
    ],
)
def test_how_much_it_tells_depends_on_what_else_is_asked(
    text: str, telling: float, little: bool
) -> None:
    exact = ExactReply(question(text))
    assert (exact.strength, exact.is_short) == (telling, little)


def test_a_post_holds_formulas_and_phrases_as_they_are_written() -> None:
    exact = ExactReply(question("$x^2+1$ or $y^3-2$"))
    assert exact.is_needed
    share, found = exact.share_contained(glance("Let $x^2+1$ be."))
    assert (share, [one.found for one in found]) == (0.5, ["x^2+1"])
    assert exact.share_contained(glance("$y^3-2$ and $x^2+1$"))[0] == 1.0
    assert exact.share_contained(glance("nothing")) == (0.0, [])
    words = ExactReply(question("prime number theorem"))
    share, found = words.share_contained(glance("The Prime  number theorem holds."))
    assert (share, found[0].kind) == (1.0, "word")
    assert words.share_contained(glance("number theorem for a prime"))[0] == 0.0
    assert words.share_contained(glance("$prime number theorem$"))[0] == 0.0
    reason = exact.reason(0, Post("a", "Let $x^2+1$ be."))
    assert (reason.part, reason.score, reason.detail) == ("exact", 0.5, "as written: $x^2+1$")
    assert words.reason(0, Post("a", "prime number theorem")).detail == (
        "as written: “prime number theorem”"
    )


def test_a_title_that_is_the_question_counts_twice() -> None:
    exact = ExactReply(question("prime numbers"))
    share, found = exact.share_contained(glance("text", "Algebra › Prime numbers"))
    assert (share, found[0].found) == (2.0, "Prime numbers")
    assert exact.share_contained(glance("text", "Prime numbers › Algebra"))[0] == 1.0
    with_formula = ExactReply(question("prime $x^2+1$"))
    assert with_formula.share_contained(glance("text", "prime"))[0] < 2.0


def test_the_versions_of_a_thread_come_before_posts_that_are_alike() -> None:
    seen = [Heading("en", "t"), Heading("cs", ""), Heading("es", "t")]
    alike = glance("$x^2+1$, $y^3-2$, $z^4+w$ and $uv-3$")
    own = SimpleNamespace(
        _near=lambda *_: [(1, 2)],
        _posts=SimpleNamespace(lazy_posts=lambda numbers: dict.fromkeys(numbers, alike)),
    )
    threads = {"t": {0: "en", 2: "es"}}
    groups = Ranker._groups(own, None, np.arange(3), seen, threads)  # type: ignore[arg-type]
    assert groups == [0, 1, 0]
    assert Ranker._groups(own, None, np.arange(3), seen, {}) == [0, 1, 1]  # type: ignore[arg-type]


def test_only_the_five_longest_formulas_are_looked_for() -> None:
    formulas = [f"x^{number}+{10**number}" for number in range(1, 8)]
    exact = ExactReply(question(" ".join(f"${one}$" for one in formulas)))
    assert exact._formulas == formulas[:1:-1]
    assert not ExactReply(question("$x$")).is_needed


def test_what_only_looks_into_posts_finds_none() -> None:
    exact = ExactReply(question("prime"))
    assert len(exact.best(5).numbers) == len(exact.best(5).scores) == 0
    assert exact.scores(np.array([1, 2])).tolist() == [0.0, 0.0]


class Lexical:
    """Words of a question, met in a few words of a post."""

    def __init__(self, words: int, count: int = 2, quotes: Sequence[str] = ("a b",)) -> None:
        self.word_count = count
        self._own = SimpleNamespace(words=words, quotes=tuple(quotes), is_term=False)
        self.asked_for: set[str] = set()

    def may_match_all(self, number: int) -> bool:
        return number != 9

    def shortest_passage(self, post: Post) -> object:
        return self._own if self._own.words else None

    def is_inflection_of_query(self, found: str, language: str) -> bool:
        return found in self.asked_for


@pytest.mark.parametrize(
    ("words", "count", "share"),
    [
        (2, 2, 0.6), (4, 2, 0.5), (20, 2, 0.42), (21, 2, 0.0), (0, 2, 0.0),
        (3, 3, 0.75), (6, 3, 0.65), (4, 4, 0.9), (8, 5, 0.825), (1, 4, 0.9), (1, 1, 0.0),
    ],
)  # fmt: skip
def test_all_words_among_a_few_of_a_post_count(words: int, count: int, share: float) -> None:
    exact = ExactReply(question("group abelian"), Lexical(words, count, ("a", "b")))  # type: ignore[arg-type]
    assert exact.share(1, glance("text")) == pytest.approx(share)
    assert exact.share(9, glance("text")) == 0.0


def test_words_in_their_order_with_other_endings_count_most() -> None:
    lexical = Lexical(5, 2, ("groups abelian",))
    exact = ExactReply(question("group abelian"), lexical)  # type: ignore[arg-type]
    lexical.asked_for = {"groups abelian"}
    assert exact.share(1, glance("text")) == pytest.approx(0.9)
    lexical.asked_for |= {"Groups"}
    assert exact.share(1, glance("text", "Algebra › Groups")) == pytest.approx(1.8)
    reason = exact.reason(1, Post("a", "text"))
    assert reason.detail == "all words together: “groups abelian”"


def test_a_translation_of_the_whole_question_counts_as_much() -> None:
    lexical = Lexical(2, 2, ("Fibonacci numbers",))
    lexical._own.is_term = True
    exact = ExactReply(question("números de Fibonacci"), lexical)  # type: ignore[arg-type]
    assert exact.share(1, glance("text")) == pytest.approx(0.9)
    assert exact.share(1, glance("text", "Series › Fibonacci Numbers")) == pytest.approx(1.8)


def test_words_beside_formulas_and_long_questions_are_not_looked_for_together() -> None:
    for text in ("group $x^2$", "a b c d e f g h i"):
        assert not ExactReply(question(text), Lexical(2)).may_have_words(1)  # type: ignore[arg-type]
    exact = ExactReply(question("a b c d e f g h"), Lexical(2))  # type: ignore[arg-type]
    assert exact.may_have_words(1)
    assert not exact.may_have_words(9)
    assert not ExactReply(question("a"), Lexical(2, 1)).may_have_words(1)  # type: ignore[arg-type]
    assert not ExactReply(question("a")).may_have_words(1)


class Posts:
    def __init__(self, headings: dict[int, Heading], bodies: dict[int, str] | None = None) -> None:
        self._headings, self._bodies = headings, bodies or {}
        self.glanced: list[list[int]] = []

    def headings(self, numbers: Sequence[int]) -> dict[int, Heading]:
        return {number: self._headings[number] for number in numbers}

    def threads(self, names: Sequence[str]) -> dict[str, dict[int, str]]:
        found: dict[str, dict[int, str]] = {}
        for number, heading in self._headings.items():
            if heading.thread_id in names:
                found.setdefault(heading.thread_id, {})[number] = heading.language
        return found

    def lazy_posts(self, numbers: Sequence[int]) -> dict[int, LazyPost]:
        self.glanced.append(list(numbers))
        return {number: glance(self._bodies.get(number, "")) for number in numbers}

    def ids(self, numbers: Sequence[int]) -> dict[int, str]:
        return {number: str(number) for number in numbers}


def ranked(scores: dict[int, float], text: str = "prime", **more: Any) -> RecipeReply:
    values = np.array(list(scores.values()))
    numbers = np.array(list(scores))
    added = {"words": values}
    return RecipeReply(question(text), numbers, values, added, {}, said=added, **more)


def ranker(posts: Posts) -> Ranker:
    return Ranker(LIGHT, {}, posts)  # type: ignore[arg-type]


def test_the_version_in_the_asker_s_language_stands_first() -> None:
    posts = Posts(
        {
            1: Heading("en", "t"), 2: Heading("hi", "t"), 3: Heading("en", ""),
            4: Heading("cs", "t"),
        }
    )  # fmt: skip
    before = ranked({1: 0.9, 3: 0.8, 2: 0.3})
    after = ranker(posts).prefer_language(before, "hi", 0.2, 3)
    assert after.numbers.tolist()[0] == 2
    assert after.scores.tolist() == sorted(after.scores.tolist(), reverse=True)
    remark = after.remarks[0](0)
    assert remark is not None
    assert remark.part == "language"
    assert remark.detail == "in the language of the query (hi): rank 3 otherwise"
    for same in (
        ranker(posts).prefer_language(before, "hi", 0.0, 3),
        ranker(posts).prefer_language(before, "ru", 0.2, 3),
        ranker(posts).prefer_language(ranked({1: 0.9, 3: 0.8}), "en", 0.2, 2, is_filtered=True),
    ):
        assert same.numbers.tolist() in ([1, 3, 2], [1, 3])
        assert same.remarks == ()


def test_a_version_that_nobody_found_is_looked_up() -> None:
    posts = Posts({1: Heading("en", "t"), 2: Heading("hi", "t"), 3: Heading("en", "")})
    found = ranker(posts).prefer_language(ranked({1: 0.9, 3: 0.8}), "hi", 0.2, 2)
    assert found.numbers.tolist() == [2, 3, 1]
    remark = found.remarks[0](0)
    assert remark is not None
    assert remark.detail.endswith(": a version of what was found")
    kept = ranker(posts).prefer_language(ranked({1: 0.9, 3: 0.8}), "hi", 0.2, 2, is_filtered=True)
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
    assert ranker(Posts(headings)).versions(reply, 3) == groups
    assert ranker(Posts(headings)).versions(reply, 1) == [0]


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
def test_posts_of_nearly_one_meaning_and_the_same_formulas_are_versions(
    monkeypatch: pytest.MonkeyPatch, bodies: dict[int, str], cosine: float, groups: list[int]
) -> None:
    monkeypatch.setattr(module, "ComparableReply", Means)
    reply = ranked({1: 0.9, 2: 0.8})
    vectors = {1: [1.0, 0.0], 2: [cosine, (1 - cosine**2) ** 0.5]}
    reply.replies = {"meaning": Means(vectors)}  # type: ignore[dict-item]
    posts = Posts({1: Heading("en", ""), 2: Heading("hi", "")}, bodies)
    assert ranker(posts).versions(reply, 2) == groups
    alike = Posts({1: Heading("en", ""), 2: Heading("en", "")}, bodies)
    assert ranker(alike).versions(reply, 2) == [0, 1]


@pytest.mark.parametrize(("text", "looked_into"), [("prime", 50), ("all of the prime numbers", 20)])
def test_the_first_posts_are_looked_into_for_the_query_as_it_is_written(
    text: str, looked_into: int
) -> None:
    posts = Posts({}, {looked_into - 1: text, looked_into: text})
    reply = ranked({number: 1.0 - number / 1000 for number in range(120)}, text)
    found = Ranker(replace(LIGHT, ranking=replace(LIGHT.ranking, exact=0.5)), {}, posts)._exact(
        reply
    )  # type: ignore[arg-type]
    assert posts.glanced == [list(range(looked_into))]
    assert found.numbers.tolist()[0] == looked_into - 1
    assert found.added["exact"].tolist()[0] == pytest.approx(2.0)
    nothing = ranked({1: 1.0}, "$x$")
    assert Ranker(LIGHT, {}, posts)._exact(nothing) is nothing  # type: ignore[arg-type]


def test_parts_find_as_many_posts_as_are_needed() -> None:
    recipe = replace(LIGHT, ranking=replace(LIGHT.ranking, candidates=30))
    made = Ranker(recipe, {}, Posts({}))  # type: ignore[arg-type]
    assert (made.depth(5), made.depth(50)) == (30, 50)


def test_a_member_gives_no_more_posts_than_are_fused() -> None:
    reply = ranked({1: 0.9, 2: 0.8, 3: 0.7, 4: 0.6})
    scope = Scope(2, None, Clock())
    assert module._first(reply, scope).numbers.tolist() == [1, 2]
    assert module._first(reply, replace(scope, also=4)).numbers.tolist() == [1, 2, 4]
    assert module._first(reply, replace(scope, also=1)).numbers.tolist() == [1, 2]
    assert module._first(reply, replace(scope, k=4)) is reply


def test_a_fused_post_tells_its_ranks_and_its_shares_add_up() -> None:
    first, second = ranked({1: 0.9, 2: 0.8}), ranked({2: 0.5, 3: 0.0})
    second.added = {"formulas": second.scores}
    scores = np.array([0.4, 0.2, 0.1])
    both = module._together(
        question("prime"), {"words": first, "formulas": second}, [2, 1, 3], scores, "rrf"
    )
    assert both.numbers.tolist() == [2, 1, 3]
    assert both.added["words"] + both.added["formulas"] == pytest.approx([0.4, 0.2, 0.0])
    assert both.added["words"][0] == pytest.approx(0.4 * 0.8 / 1.3)
    assert [both.remarks[0](place) for place in range(3)] == [
        Reason("rrf", 0.0, "ranks: words 2, formulas 1"),
        Reason("rrf", 0.0, "ranks: words 1"),
        Reason("rrf", 0.1, "ranks: formulas 2"),
    ]


class Learned(Calibration):
    """A calibration by which parts that say nothing leave little."""

    threshold = 0.5

    def __init__(self) -> None:
        pass

    def scores(
        self, totals: Any, levels: Any, silent: frozenset[str], *, contains_query: bool = False
    ) -> Any:
        return totals * (2.0 if contains_query else 1.0) * min(1.0, 0.1 + sum(levels.values()))


@pytest.mark.parametrize(
    ("best", "known", "said", "scores"),
    [
        (0.9, True, False, [0.9]),
        (0.4, True, False, [0.2]),
        (0.4, True, True, [0.4]),
        (0.9, False, False, [0.09]),
    ],
)
def test_calibrated_scores_heed_unknown_words_and_what_is_said_in_full(
    monkeypatch: pytest.MonkeyPatch, best: float, known: bool, said: bool, scores: list[float]
) -> None:
    table = {"words": {"kind": "meaning"}}
    made = Ranker(replace(LIGHT, parts=table), {}, Posts({}))  # type: ignore[arg-type]
    monkeypatch.setattr(made, "_knows_words", lambda question: known)
    monkeypatch.setattr(made, "_contains_query", lambda ranked: said)
    assert made._chances(ranked({1: best}), Learned()) == pytest.approx(scores)


def test_what_is_held_as_it_is_written_is_said() -> None:
    made = ranker(Posts({}))
    reply = ranked({1: 0.9})
    assert not made._contains_query(reply)
    reply.added = {"exact": np.array([0.0])}
    assert not made._contains_query(reply)
    reply.added = {"exact": np.array([0.1])}
    assert made._contains_query(reply)


def test_versions_that_were_found_or_not_are_looked_up_by_their_threads() -> None:
    reply = ranked({1: 0.9, 5: 0.8, 3: 0.7})
    threads = {"t": {1: "en", 2: "hi"}, "u": {5: "en", 6: "hi", 7: "cs"}, "v": {9: "en", 3: "hi"}}
    found, places = module._looked_up(reply, threads, "hi", {1, 5})
    assert found.numbers.tolist() == [1, 5, 3, 2, 6]
    assert places == [3, 4, 2]
    assert module._looked_up(reply, threads, "ru", {1}) == (reply, [])
    same, places = module._looked_up(reply, {"v": threads["v"]}, "hi", set())
    assert (same, places) == (reply, [2])
    assert module._looked_up(reply, {"v": threads["v"]}, "hi", {3}) == (reply, [])
