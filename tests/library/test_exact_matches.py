"""Posts that contain a query as it is written rank higher."""

from collections.abc import Sequence
from types import SimpleNamespace

import numpy as np
import pytest

from mathsetu.library.exact_matches import ExactReply
from mathsetu.records import Post
from tests.library.stored import lazy_post, question


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
def test_the_factor_for_exact_matches_depends_on_the_length_of_the_query(
    text: str, telling: float, little: bool
) -> None:
    exact = ExactReply(question(text))
    assert (exact.strength, exact.is_short) == (telling, little)


def test_formulas_and_phrases_are_matched_as_they_are_written() -> None:
    exact = ExactReply(question("$x^2+1$ or $y^3-2$"))
    assert exact.is_needed
    share, found = exact.share_contained(lazy_post("Let $x^2+1$ be."))
    assert (share, [one.found for one in found]) == (0.5, ["x^2+1"])
    assert exact.share_contained(lazy_post("$y^3-2$ and $x^2+1$"))[0] == 1.0
    assert exact.share_contained(lazy_post("nothing")) == (0.0, [])
    words = ExactReply(question("prime number theorem"))
    share, found = words.share_contained(lazy_post("The Prime  number theorem holds."))
    assert (share, found[0].kind) == (1.0, "word")
    assert words.share_contained(lazy_post("number theorem for a prime"))[0] == 0.0
    assert words.share_contained(lazy_post("$prime number theorem$"))[0] == 0.0
    reason = exact.reason(0, Post("a", "Let $x^2+1$ be."))
    assert (reason.part, reason.score, reason.detail) == ("exact", 0.5, "as written: $x^2+1$")
    assert words.reason(0, Post("a", "prime number theorem")).detail == (
        "as written: “prime number theorem”"
    )


def test_a_title_equal_to_the_question_counts_twice() -> None:
    exact = ExactReply(question("prime numbers"))
    share, found = exact.share_contained(lazy_post("text", "Algebra › Prime numbers"))
    assert (share, found[0].found) == (2.0, "Prime numbers")
    assert exact.share_contained(lazy_post("text", "Prime numbers › Algebra"))[0] == 1.0
    with_formula = ExactReply(question("prime $x^2+1$"))
    assert with_formula.share_contained(lazy_post("text", "prime"))[0] < 2.0


def test_only_the_five_longest_formulas_are_searched_for() -> None:
    formulas = [f"x^{number}+{10**number}" for number in range(1, 8)]
    exact = ExactReply(question(" ".join(f"${one}$" for one in formulas)))
    assert exact._formulas == formulas[:1:-1]
    assert not ExactReply(question("$x$")).is_needed


def test_an_exact_reply_finds_no_posts_itself() -> None:
    exact = ExactReply(question("prime"))
    assert len(exact.best(5).numbers) == len(exact.best(5).scores) == 0
    assert exact.scores(np.array([1, 2])).tolist() == [0.0, 0.0]


class Lexical:
    """A lexical reply that finds the words of a query within a few words of a post."""

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
def test_all_words_of_a_query_close_together_count(words: int, count: int, share: float) -> None:
    exact = ExactReply(question("group abelian"), Lexical(words, count, ("a", "b")))  # type: ignore[arg-type]
    assert exact.share(1, lazy_post("text")) == pytest.approx(share)
    assert exact.share(9, lazy_post("text")) == 0.0


def test_inflected_words_in_the_order_of_the_query_count_most() -> None:
    lexical = Lexical(5, 2, ("groups abelian",))
    exact = ExactReply(question("group abelian"), lexical)  # type: ignore[arg-type]
    lexical.asked_for = {"groups abelian"}
    assert exact.share(1, lazy_post("text")) == pytest.approx(0.9)
    lexical.asked_for |= {"Groups"}
    assert exact.share(1, lazy_post("text", "Algebra › Groups")) == pytest.approx(1.8)
    reason = exact.reason(1, Post("a", "text"))
    assert reason.detail == "all words together: “groups abelian”"


def test_a_translation_of_the_whole_query_counts_as_much_as_its_inflected_words() -> None:
    lexical = Lexical(2, 2, ("Fibonacci numbers",))
    lexical._own.is_term = True
    exact = ExactReply(question("números de Fibonacci"), lexical)  # type: ignore[arg-type]
    assert exact.share(1, lazy_post("text")) == pytest.approx(0.9)
    assert exact.share(1, lazy_post("text", "Series › Fibonacci Numbers")) == pytest.approx(1.8)


def test_a_single_word_counts_only_if_a_term_of_several_words_translates_it() -> None:
    lexical = Lexical(2, 1, ("Nombres premiers",))
    exact = ExactReply(question("prime"), lexical)  # type: ignore[arg-type]
    lexical.asked_for = {"Nombres premiers"}
    assert exact.share(1, lazy_post("text")) == 0.0
    lexical._own.is_term = True
    assert exact.share(1, lazy_post("text")) == pytest.approx(0.9)
    assert exact.share(9, lazy_post("text")) == 0.0


def test_no_proximity_for_queries_with_formulas_or_many_words() -> None:
    for text in ("group $x^2$", "a b c d e f g h i"):
        assert not ExactReply(question(text), Lexical(2)).may_have_words(1)  # type: ignore[arg-type]
    exact = ExactReply(question("a b c d e f g h"), Lexical(2))  # type: ignore[arg-type]
    assert exact.may_have_words(1)
    assert not exact.may_have_words(9)
    assert not ExactReply(question("a")).may_have_words(1)
