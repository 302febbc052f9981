"""Suggestions while a query is typed, and corrections of misspelt words."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathsetu.collections import sampler
from mathsetu.library import Library, build_library, remove_posts
from mathsetu.library import suggestions as module
from mathsetu.library.prefix_index import PrefixIndex, folded
from mathsetu.library.spelling import Spelling, edits
from mathsetu.library.suggestions import Suggestion, Suggestions
from mathsetu.records import Post
from tests.light import LIGHT


@pytest.fixture(scope="module")
def offered(sampler_folder: Path) -> Suggestions:
    suggestions = Suggestions(Library(sampler_folder))
    suggestions.prepare()
    return suggestions


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("typed", "language", "term"),
    [
        ("prime nu", "en", "prime number"),
        ("Sum of prime nu", "en", "prime number"),
        ("prvoc", "cs", "prvočíslo"),
        ("अभाज्य", "hi", "अभाज्य संख्या"),
        ("عدد او", "fa", "عدد اول"),
        ("NUMEROS PRI", "es", "números primos"),
        ("primza", "de", "Primzahl"),
    ],
)
def test_terms_in_the_language_of_the_user_are_suggested(
    offered: Suggestions, typed: str, language: str, term: str
) -> None:
    found = offered.find(typed, [language])
    assert term in [one.text for one in found if one.kind == "term"]


def test_terms_in_another_language_are_suggested_if_the_first_has_none(
    offered: Suggestions,
) -> None:
    assert Suggestion("term", "prvočíslo", 0) in offered.find("prvočís", ["en"])
    assert offered.find("अभाज्य सं", ["en"])[0].text == "अभाज्य संख्या"


def test_a_suggestion_replaces_the_text_that_it_completes(offered: Suggestions) -> None:
    typed = "why are there infinitely many prime nu"
    [first, *_] = offered.find(typed, ["en"])
    assert typed[: first.start] + first.text == "why are there infinitely many prime number"


def test_titles_and_tags_are_suggested(offered: Suggestions) -> None:
    kinds = {one.kind: one for one in offered.find("geometric", ["en"])}
    assert "geometric" in kinds["title"].text.lower()
    assert kinds["title"].start == 0
    assert any(one.kind == "tag" for one in offered.find("worked ex", ["en"]))


def test_the_number_of_suggestions_of_each_kind_is_limited(offered: Suggestions) -> None:
    kinds = [one.kind for one in offered.find("int", ["en"])]
    assert kinds == ["term"] * 4 + ["tag"] + ["title"] * 4
    # Completions of the longer phrase come first and leave fewer places to those of the word.
    terms = [one for one in offered.find("prime num", ["en"]) if one.kind == "term"]
    assert [one.start for one in terms] == [0, 0, 6, 6]


@pytest.mark.parametrize(
    "typed", ["", " ", "x", "$\\int", "the value of $x^2", "$x$", "1 2 3", "?"]
)
def test_nothing_is_suggested_inside_formulas_or_without_words(
    offered: Suggestions, typed: str
) -> None:
    assert offered.find(typed, ["en"]) == []


def test_terms_are_suggested_after_a_complete_formula(offered: Suggestions) -> None:
    assert Suggestion("term", "prime number", 4) in offered.find("$x$ prime nu", ["en"])
    assert offered.find("$x$ is $ prime nu", ["en"]) == []


def test_the_typed_text_itself_is_not_suggested(offered: Suggestions) -> None:
    found = offered.find("prime number", ["en"])
    assert "prime number" not in [one.text for one in found]
    assert len({folded(one.text) for one in found}) == len(found)


@pytest.mark.thorough
def test_titles_of_removed_posts_are_not_suggested(tmp_path: Path) -> None:
    posts = [post for post in sampler.posts() if post.language == "en"][:6]
    build_library(tmp_path / "library", posts, LIGHT, processes=1)
    word = folded(posts[0].title)
    remove_posts(tmp_path / "library", [posts[0].id])
    suggestions = Suggestions(Library(tmp_path / "library"))
    suggestions.prepare()
    assert posts[0].title not in [one.text for one in suggestions.find(word[:-1], ["en"])]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("infinitely many primse", "infinitely many primes"),
        ("Intergal of $x^2$", "Integral of $x^2$"),
        ("sum of a geomteric series $1+q$", "sum of a geometric series $1+q$"),
        ("continous function", "continuous function"),  # a frequent misspelling, so it is learned
        ("Pythagorus theorem", "Pythagoras theorem"),  # a Czech ending
        ("prvočisel je nekonecne mnoho", ""),
        ("what is a integral", ""),
        ("dérivée d'une fonction composée", ""),
        ("dérivé d'une foncton composée", "dérivé d'une fonction composée"),
        ("Stetikeit einer Funktion", "Stetigkeit einer Funktion"),  # its grade is "good"
        ("Konvxrtieren", ""),  # two letters, in a language of which fewer words are known
        ("eigenvlaue", "eigenvalue"),  # read as German
        ("theoremm", "theorem"),
        (r"$\\fracc{1}{2}$", ""),
        ("abhajya sankhya anant hain", ""),
        ("sima ki derivatve", "sima ki derivative"),
    ],
)
def test_misspelt_words_are_corrected(offered: Suggestions, typed: str, meant: str) -> None:
    question = offered._library.question(typed)
    assert offered.corrected(question) == meant


def test_words_of_many_titles_correct_a_query_only_after_the_titles_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_FEW_POSTS", 2)
    titles = ("Zorblax spaces", "On zorblax spaces", "A theorem on zorblax spaces")
    posts = [Post(f"p{place}", "A body.", title=title) for place, title in enumerate(titles)]
    build_library(tmp_path / "library", posts, LIGHT, processes=1)
    suggestions = Suggestions(Library(tmp_path / "library"))
    question = suggestions._library.question("zorblxa spaces", "en")
    assert suggestions.corrected(question) == ""
    suggestions.prepare()
    assert suggestions.corrected(question) == "zorblax spaces"


def test_words_of_few_titles_correct_a_query_at_once(tmp_path: Path) -> None:
    build_library(tmp_path / "library", [Post("p", "A body.", title="Zorblax é")], LIGHT)
    suggestions = Suggestions(Library(tmp_path / "library"))
    assert suggestions.corrected(suggestions._library.question("zorblxa")) == "zorblax"


def test_a_word_that_occurs_in_a_post_is_not_corrected(tmp_path: Path) -> None:
    posts = [Post("p", "The kernal trick.", title="Kernals", language="en")]
    build_library(tmp_path / "library", posts, LIGHT, processes=1)
    suggestions = Suggestions(Library(tmp_path / "library"))
    for typed, meant in (("kernal", ""), ("kernql", "kernel")):
        assert suggestions.corrected(suggestions._library.question(typed, "en")) == meant


@pytest.mark.thorough
def test_queries_of_the_sampler_are_not_corrected(offered: Suggestions) -> None:
    for query in sampler.queries():
        assert offered.corrected(offered._library.question(query.text)) == ""


words = st.text("aábc ñ", max_size=12)


@given(st.lists(words, max_size=8), words)
def test_texts_are_found_by_the_prefix_of_any_word(texts: list[str], typed: str) -> None:
    beginning = folded(typed)
    found = PrefixIndex(texts).find(beginning, 50)
    expected = [
        number
        for number, text in enumerate(texts)
        if beginning
        and any(
            folded(text).startswith(beginning, place)
            for place in range(len(folded(text)))
            if place == 0 or folded(text)[place - 1] == " "
        )
    ]
    assert sorted(found) == expected


def test_a_text_of_one_letter_is_found() -> None:
    assert PrefixIndex(["x y", " z"]).find("x", 5) == [0]
    assert PrefixIndex([" z", "x y"]).find("x", 5) == [1]


def test_long_prefixes_are_distinguished_beyond_the_sorted_length() -> None:
    long = "a" * 40
    table = PrefixIndex([f"{long} x", f"{long} y"])
    assert table.find(f"{long} y", 5) == [1]


@given(st.text("abc", max_size=7), st.text("abc", max_size=7))
def test_the_edit_distance_is_symmetric(one: str, other: str) -> None:
    distance = edits(one, other, 2)
    assert distance == edits(other, one, 2)
    assert (distance == 0) == (one == other)


@given(st.sampled_from(["integral", "polynomial", "geometry"]), st.data())
def test_one_wrong_letter_is_corrected(word: str, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(word) - 1))
    letter = data.draw(st.sampled_from("xzq"))
    wrong = word[:place] + letter + word[place + 1 :]
    assert Spelling({"integral": 1, "polynomial": 1, "geometry": 1}).nearest(wrong) == word


def test_the_size_is_the_memory_of_the_titles_that_were_read(library: Path) -> None:
    suggestions = Suggestions(Library(library))
    assert suggestions.size == 0
    suggestions.prepare()
    assert suggestions.size == 96
