"""Search by words: fields, formula tokens, translation, filters, reasons."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathsetu.errors import InputError
from mathsetu.intake import read_post
from mathsetu.intake.question import typed_question
from mathsetu.library.build import index_posts
from mathsetu.library.store import Stored
from mathsetu.records import Post, Query
from mathsetu.retrieval.base import Question, WrittenSegment, best
from mathsetu.retrieval.lexical import LexicalBuilder, LexicalRetriever
from mathsetu.retrieval.lexical_terms import LexicalSettings, post_terms

POSTS = [
    Post(id="0", title="Prime numbers", body="A prime has two divisors.", language="en"),
    Post(id="1", title="Matrices", body="The determinant $\\det A$ of a matrix.", language="en"),
    Post(id="2", title="Prvočísla", body="Prvočísel je nekonečně mnoho.", language="cs"),
    Post(id="3", title="Sums", body="A sum of two primes.", tags=("number-theory",), language="en"),
    Post(id="4", title="Odd", body="", question="Is every prime odd?", language="en"),
]


def build(folder: Path, posts: list[Post], choices: LexicalSettings) -> Path:
    builder = LexicalBuilder(choices)
    index_posts([builder], map(Stored.of, posts))
    builder.write(folder)
    return folder


def retriever(place: Path, **choices: object) -> LexicalRetriever:
    settings = LexicalSettings(**choices)  # type: ignore[arg-type]
    return LexicalRetriever([build(place / "index", POSTS, settings)], settings)


def over(place: Path, *posts: Post) -> LexicalRetriever:
    """An index of other posts, which finds only posts with words of the query."""
    settings = LexicalSettings(**MATCHED)  # type: ignore[arg-type]
    return LexicalRetriever([build(place, list(posts), settings)], settings)


def asked(text: str, language: str = "en") -> Question:
    return Question(Query(id="q", text=text, language=language))


def found(index: LexicalRetriever, question: Question, **options: object) -> list[int]:
    return index.ask([question])[0].best(10, **options).numbers.tolist()  # type: ignore[arg-type]


MATCHED = {"scheme": {"name": "bm25+", "matched_only": True}}


def test_words_are_found_in_all_their_forms(tmp_path: Path) -> None:
    assert set(found(retriever(tmp_path, **MATCHED, translate=False), asked("primes"))) == {0, 3, 4}


def test_a_short_question_finds_other_forms_of_its_concepts(tmp_path: Path) -> None:
    index = over(
        tmp_path / "forms",
        Post("a", "Diagonalization is a change of basis.", language="en"),
        Post("b", "A circle is round.", language="en"),
    )
    assert found(index, asked("diagonalizable")) == [0]
    [reply] = index.ask([asked("diagonalizable")])
    assert reply.reason(0, Post("a", "Diagonalization is a change.", language="en")).detail == (
        "diagonalizable → Diagonalization"
    )
    long = "diagonalizable if some other word of all of these long ones is said"
    assert found(index, asked(long)) == []


def test_only_the_fields_of_the_recipe_are_read(tmp_path: Path) -> None:
    titles = retriever(tmp_path, **MATCHED, fields={"title": 1}, translate=False)
    assert found(titles, asked("prime")) == [0]
    assert not found(titles, asked("divisor"))


def test_the_words_of_a_tag_are_separate_terms(tmp_path: Path) -> None:
    tags = retriever(tmp_path, **MATCHED, fields={"tags": 1})
    assert found(tags, asked("theory of numbers")) == [3]


def test_a_term_counts_with_the_weight_of_its_field(tmp_path: Path) -> None:
    terms = post_terms(read_post(POSTS[0]), LexicalSettings(fields={"title": 2.5, "body": 1}))
    assert terms["prime"] == 3.5
    assert terms["divisor"] == 1


def test_query_terms_are_in_the_languages_of_the_posts(tmp_path: Path) -> None:
    """Without translation, or if posts have no language, they are the words of the query."""
    question = asked("números primos", "es")
    posts = {"english": POSTS[0], "none": Post(id="x", body="$x$")}
    wanted = {
        name: over(tmp_path / name, post).ask([question])[0].wanted for name, post in posts.items()
    }
    assert wanted["english"]["prime"] == wanted["english"]["number"] == 1
    assert "numer" not in wanted["english"]
    assert wanted["none"] == {"numer": 1, "prim": 1}
    [reply] = retriever(tmp_path / "without", translate=False).ask([question])
    assert reply.wanted == {"numer": 1, "prim": 1}


def test_a_name_in_a_formula_is_a_word_unless_formula_tokens_is_zero(tmp_path: Path) -> None:
    assert found(retriever(tmp_path, **MATCHED), asked("$\\det B$"))[0] == 1
    without = retriever(tmp_path / "without", **MATCHED, formula_tokens=0.0)
    assert not found(without, asked("$\\det B$"))


def test_each_name_in_a_query_formula_has_the_weight_of_formula_tokens(
    tmp_path: Path,
) -> None:
    index = retriever(tmp_path, formula_tokens=0.5, translate=False)
    wanted = index.ask([asked("prime $\\det B + \\det C$")])[0].wanted
    assert wanted == {"prime": 1, "det": 1, "b": 0.5, "c": 0.5}


def test_the_glossary_finds_posts_in_other_languages_if_translate_is_set(tmp_path: Path) -> None:
    assert 2 in found(retriever(tmp_path, **MATCHED), asked("prime number"))
    without = retriever(tmp_path / "without", **MATCHED, translate=False)
    assert 2 not in found(without, asked("prime number"))


def test_query_title_adds_weight_to_the_words_of_a_query_title(tmp_path: Path) -> None:
    query = Query(id="q", title="Primes", text="What is a determinant? And primes?", language="en")
    once, more = (
        retriever(tmp_path / str(share), query_title=share).ask([Question(query)])[0].wanted
        for share in (0.0, 0.5)
    )
    assert (once["prime"], once["determin"]) == (2, 1)
    assert (more["prime"], more["determin"]) == (2.5, 1)
    assert more["prvocisl"] == pytest.approx(once["prvocisl"] * 2.5 / 2)
    twice = Query(id="q", title="Primes and primes", text="Why?", language="en")
    [reply] = retriever(tmp_path / "twice", query_title=0.5, translate=False).ask([Question(twice)])
    assert reply.wanted["prime"] == 3
    [alone] = retriever(tmp_path / "alone", query_title=0.5).ask(
        [Question(Query(id="q", text="", title="Primes", language="en"))]
    )
    assert alone.wanted["prime"] == 1


def test_a_translation_is_no_rarer_than_its_original_if_few_posts_have_its_language(
    tmp_path: Path,
) -> None:
    english = [Post(str(n), "A theorem here.", language="en") for n in range(5)]
    spanish = Post("es", "Un teorema aquí.", language="es")
    index = over(tmp_path / "i", *english, Post("other", "A lemma.", language="en"), spanish)
    scores = index.ask([asked("theorem")])[0].scores(np.arange(7))
    assert scores[6] == pytest.approx(scores[0])
    assert index.ask([asked("theorem lemma")])[0].scores(np.array([5]))[0] > scores[0]


def test_only_posts_that_are_allowed_are_found(tmp_path: Path) -> None:
    allowed = np.array([False, True, True, True, False])
    index = retriever(tmp_path, **MATCHED, translate=False)
    assert found(index, asked("primes"), allowed=allowed) == [3]


def test_scores_of_given_posts_are_those_of_the_search(tmp_path: Path) -> None:
    index, question = retriever(tmp_path), asked("sum of primes")
    ranked = index.ask([question])[0].best(10)
    assert index.ask([question])[0].scores(ranked.numbers).tolist() == ranked.scores.tolist()


def test_the_reason_names_the_shared_words_and_no_others(tmp_path: Path) -> None:
    index = retriever(tmp_path, **MATCHED, translate=False)
    reason = index.ask([asked("matrix of primes")])[0].reason(1, POSTS[1])
    assert reason.detail == "matrix"
    assert reason.score > 0


def test_a_translation_into_another_language_than_that_of_the_post_is_no_reason(
    tmp_path: Path,
) -> None:
    """The Spanish número has the stem of the English numerator."""
    english = Post(id="0", body="The numerator is even.", language="en")
    spanish = Post(id="1", body="Un número primo y su numerador.", language="es")
    [reply] = over(tmp_path / "index", english, spanish).ask([asked("every prime is odd")])
    assert "numer" in reply.wanted
    assert reply.reason(0, english).detail == ""
    assert reply.reason(1, spanish).detail == "prime → número primo"


def test_several_questions_together_find_the_same_posts_as_each_alone(tmp_path: Path) -> None:
    index = retriever(tmp_path)
    questions = [asked("prime"), asked("matrix"), asked("nothing of that")]
    together = [reply.best(5) for reply in index.ask(questions)]
    for question, ranked in zip(questions, together, strict=True):
        assert ranked.numbers.tolist() == index.ask([question])[0].best(5).numbers.tolist()


def test_settings_have_these_defaults() -> None:
    settings = LexicalSettings()
    assert settings.fields == {"title": 1, "body": 1, "question": 1}
    assert (settings.max_share, settings.translate, settings.stop_words) == (1.0, True, True)
    assert (settings.formula_tokens, settings.query_title) == (1.0, 0.0)


def test_stop_words_are_kept_if_stop_words_is_false() -> None:
    facts = read_post(Post(id="1", body="The sum of all the roots", language="en"))
    assert "the" not in post_terms(facts, LexicalSettings())
    assert post_terms(facts, LexicalSettings(stop_words=False))["the"] == 2
    assert post_terms(facts, LexicalSettings(stop_words=False, analysis="snowball"))["the"] == 2


def test_terms_that_are_too_rare_or_too_frequent_find_nothing(tmp_path: Path) -> None:
    bodies = ["ring ideal", "ring ideal", "ring field", "ring group", "ring order"]
    posts = [Post(str(number), body, language="en") for number, body in enumerate(bodies)]
    choices = LexicalSettings(min_posts=2, max_share=0.7, translate=False)
    index = LexicalRetriever([build(tmp_path / "i", posts, choices)], choices)
    assert found(index, asked("field")) == []
    assert found(index, asked("ideal ring field")) == [0, 1]


def test_a_term_in_exactly_max_share_of_the_posts_still_finds_them(tmp_path: Path) -> None:
    bodies = ["ring", "ring", "ring field", "field"]
    posts = [Post(str(number), body, language="en") for number, body in enumerate(bodies)]
    for share, expected in ((0.75, [0, 1, 2]), (0.74, [])):
        choices = LexicalSettings(max_share=share, translate=False)
        index = LexicalRetriever([build(tmp_path / str(share), posts, choices)], choices)
        assert sorted(found(index, asked("ring"))) == expected


@pytest.mark.parametrize("choices", [{"min_posts": -1}, {"max_share": 0.0}, {"max_share": 1.5}])
def test_impossible_bounds_are_refused(choices: dict[str, float]) -> None:
    with pytest.raises(InputError, match=next(iter(choices))):
        LexicalSettings(**choices)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("choices", "expected"),
    [
        ({}, False),
        ({"min_posts": 1}, False),
        ({"min_posts": 2}, True),
        ({"max_share": 0.9}, True),
    ],
)
def test_extreme_terms_are_ignored_only_if_a_bound_excludes_some(
    choices: dict[str, float], expected: bool
) -> None:
    assert LexicalSettings(**choices).without_extremes == expected  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"scheme": {"name": "xyz"}}, "unknown scheme 'xyz'"),
        ({"fields": {"title": 0}}, r"fields\.title must be a positive number"),
    ],
)
def test_invalid_settings_are_refused(choices: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        LexicalSettings(**choices)  # type: ignore[arg-type]


@pytest.mark.parametrize("choices", [{"analysis": "magic"}, {"fields": {"id": 1}}])
def test_unknown_settings_are_refused_with_the_known_ones(choices: dict[str, object]) -> None:
    with pytest.raises(InputError, match="known: "):
        LexicalSettings(**choices)  # type: ignore[arg-type]


@given(
    scores=st.lists(st.integers(0, 4), max_size=40),
    k=st.integers(1, 45),
    data=st.data(),
)
def test_best_finds_the_same_posts_as_a_full_sort(
    scores: list[int], k: int, data: st.DataObject
) -> None:
    size = len(scores)
    mask = data.draw(st.none() | st.lists(st.booleans(), min_size=size, max_size=size))
    allowed = None if mask is None else np.array(mask, dtype=np.bool_)
    ranked = best(np.array(scores, dtype=np.float32), k, allowed)
    wanted = [n for n in range(size) if scores[n] > 0 and (mask is None or mask[n])]
    expected = sorted(wanted, key=lambda number: (-scores[number], number))[:k]
    assert ranked.numbers.tolist() == expected
    assert ranked.scores.tolist() == [scores[number] for number in expected]


def test_a_word_that_the_glossary_lacks_is_found_by_a_learned_translation(
    tmp_path: Path,
) -> None:
    choices = LexicalSettings(scheme={"name": "bm25+", "matched_only": True})
    posts = [*POSTS, Post(id="5", title="A dog and its shadow", body="", language="en")]
    index = LexicalRetriever([build(tmp_path / "index", posts, choices)], choices)
    assert found(index, asked("pes", "cs")) == [5]
    reason = index.ask([asked("pes", "cs")])[0].reason(5, posts[5])
    assert reason.detail == "pes → dog"
    assert [(word.asked, word.translation) for word in reason.evidence] == [("pes", "dog")]
    strict = LexicalRetriever(
        [tmp_path / "index"], LexicalSettings(choices.scheme, translate=False)
    )
    assert not found(strict, asked("pes", "cs"))


def test_a_translation_with_two_words_does_not_count_more_than_one_word(tmp_path: Path) -> None:
    english = Post(id="0", body="Primes.", language="en")
    hindi = Post(id="1", body="अभाज्य संख्याएँ।", language="hi")
    asked_for = asked("prime numbers $p$ such as prime numbers")
    both = over(tmp_path / "both", english, hindi)
    wanted = both.ask([asked_for])[0].wanted
    assert (wanted["prime"], wanted["अभाज्य"], wanted["संख्य"]) == (2, 2, 2)
    wanted = both.ask([asked("primes")])[0].wanted
    assert wanted["अभाज्य"] + wanted["संख्य"] <= 1
    # If no post is in the question's language, words count as in the language of the posts.
    alone = over(tmp_path / "hindi", hindi).ask([asked("primes")])[0].wanted
    assert alone["संख्य"] == pytest.approx(2 * wanted["संख्य"])


@pytest.mark.parametrize(
    ("query", "body", "language", "detail"),
    [
        # The post has a part of the term in the glossary.
        ("Parseval theorem", "De stelling (Parseval) zegt het.", "nl", "theorem → stelling"),
        ("Parseval identity", "De Parseval-vergelijking", "nl", "Parseval → Parseval-vergelijking"),
    ],
)
def test_a_reason_names_the_words_of_the_query_for_parts_of_translations(
    tmp_path: Path, query: str, body: str, language: str, detail: str
) -> None:
    post = Post(id="0", body=body, language=language)
    reason = over(tmp_path / "index", post).ask([asked(query)])[0].reason(0, post)
    assert detail in reason.detail.split("; ")
    assert all(one.asked.lower() in query.lower() for one in reason.evidence)


@pytest.mark.parametrize(
    ("question", "body", "language", "met"),
    [
        # One of the words is translated by itself.
        (asked("partial sums"), "योग ज्ञात करें।", "hi", ("sums", "योग", "योग")),
        (asked("अभाज्य संख्या", "hi"), "Numbers!", "en", ("संख्या", "number", "Numbers")),
        (asked("nombres premiers", "fr"), "Numbers!", "en", ("nombres", "number", "Numbers")),
        (asked("liczby pierwsze", "pl"), "Numbers!", "en", ("liczby", "number", "Numbers")),
        # A word of the translation is found, not all of it.
        (asked("prime"), "Un número.", "es", ("prime", "número primo", "número")),
        # The glossary has no Dutch name for the theorem.
        (asked("Parseval theorem"), "De stelling.", "nl", ("theorem", "stelling", "stelling")),
        # A name needs no translation.
        (asked("Parseval"), "Parseval!", "nl", ("Parseval", "", "Parseval")),
    ],
)
def test_evidence_names_the_translation_of_which_a_post_has_a_part(
    tmp_path: Path, question: Question, body: str, language: str, met: tuple[str, str, str]
) -> None:
    post = Post("0", body, language=language)
    [one] = over(tmp_path / "index", post).ask([question])[0].reason(0, post).evidence
    assert (one.asked, one.translation, one.found) == met


def test_a_part_of_a_translation_in_another_reading_of_the_question_is_no_reason(
    tmp_path: Path,
) -> None:
    # "identity" is also a plural in Czech, and "algebraic identity" is its translation.
    posts = [english("Algebra."), Post("1", "Součet.", language="cs")]
    question = typed_question("identity", library={"en": 1, "cs": 1})
    [reply] = over(tmp_path / "index", *posts).ask([question])
    assert question.languages == ("en", "cs")
    assert reply.wanted["algebra"] > 0
    assert not reply.reason(0, posts[0]).evidence


def english(body: str) -> Post:
    return Post(id=body, body=body, language="en")


def spanish(body: str) -> Post:
    return Post(id=body, body=body, language="es")


def chinese(body: str) -> Post:
    return Post(id=body, body=body, language="zh")


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> LexicalRetriever:
    """An index of posts in three languages."""
    place = tmp_path_factory.mktemp("lexical") / "index"
    return over(place, english("odd"), spanish("par"), chinese("奇数"))


def told(place: Path, question: Question, *posts: Post) -> str:
    """The reason for the first of some posts."""
    return over(place / "index", *posts).ask([question])[0].reason(0, posts[0]).detail


def test_a_reason_names_at_most_eight_words_the_heaviest_first(tmp_path: Path) -> None:
    common = [english("A ring, and a ring.")] * 3
    post = english("The ring of a prime.")
    assert told(tmp_path / "two", asked("ring prime"), post, *common) == "prime; ring"
    words = "group ring field module lattice graph matrix vector tensor"
    named = told(tmp_path / "many", asked(words), english(words)).split("; ")
    assert len(named) == len(set(named)) == 8
    assert set(named) < set(words.split())


def test_a_word_in_a_field_that_is_not_read_is_no_reason(tmp_path: Path) -> None:
    index = retriever(tmp_path, **MATCHED, fields={"title": 1}, translate=False)
    [reply] = index.ask([asked("prime divisors")])
    assert "divisors" in POSTS[0].body
    assert reply.reason(0, POSTS[0]).detail == "Prime"


def test_a_word_with_a_small_weight_is_a_reason(tmp_path: Path) -> None:
    posts = [english("ring")] * 20
    reason = over(tmp_path / "index", *posts).ask([asked("ring")])[0].reason(0, posts[0])
    assert reason.score < 1
    assert reason.detail == "ring"


def test_a_reason_uses_only_the_first_twenty_thousand_words_of_a_post(tmp_path: Path) -> None:
    post = english("and " * 10_000 + "$x$ " + "and " * 9_999 + "prime ring")
    assert told(tmp_path, asked("prime ring"), post) == "prime"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("Un número primo.", "prime → número primo"),
        # Words between are quoted, too; words that are apart are named separately.
        ("El número es primo.", "prime → número es primo"),
        ("Un número $x$ primo.", "prime → primo, número"),
        # A quote does not cross the end of a sentence, a clause or a paragraph.
        ("Un número. El primo.", "prime → primo, número"),
        ("Un número; primo.", "prime → primo, número"),
        ("Un número\n\nPrimo.", "prime → Primo, número"),
        ("Un número\nprimo.", "prime → número primo"),
        ("Un número.", "prime → número"),
    ],
)
def test_a_translation_of_two_words_is_quoted_as_in_the_post(
    tmp_path: Path, body: str, expected: str
) -> None:
    assert told(tmp_path, asked("prime"), spanish(body), english("odd")) == expected


def test_a_word_of_the_question_is_named_before_a_translation(tmp_path: Path) -> None:
    [reply] = over(tmp_path / "index", english("A prime number.")).ask([asked("素数 prime", "zh")])
    evidence = reply.reason(0, english("A prime number.")).evidence
    assert [(one.asked, one.found, one.translation) for one in evidence] == [
        ("prime", "prime", ""),
        ("素数", "prime number", "prime number"),
    ]


@pytest.mark.parametrize(
    ("query", "language", "post", "detail", "forms"),
    [
        # The form in the query is named, wherever it is; the other forms are evidence.
        (
            "ecuación",
            "es",
            spanish("Ecuaciones. Una ecuación. Otra Ecuación."),
            "ecuación",
            ["ecuación", "Ecuaciones"],
        ),
        ("Ecuacion", "es", spanish("Ecuaciones. La ecuación."), "ecuación", None),
        (
            "prime",
            "en",
            spanish("Números primos. Un número primo."),
            "prime → número primo",
            ["número primo", "Números primos"],
        ),
        # It is named before other words for it, however often these occur.
        (
            "diagonalizable",
            "en",
            english("Diagonalization, diagonalization, diagonalization of a diagonalizable map."),
            "diagonalizable → diagonalizable, Diagonalization",
            ["diagonalizable", "Diagonalization"],
        ),
        # An escaped dollar in a marked text is a dollar.
        ("$1050", "en", english(r"It costs \$1050."), "$1050", ["$1050"]),
        # Clauses without spaces are not forms of a word.
        (
            "prime",
            "en",
            Post("z", "素数是整数。 两个素数的和。", language="zh"),
            None,
            ["素数是整数。"],
        ),
    ],
)
def test_a_word_is_named_in_its_form_in_the_query_and_all_its_forms_are_evidence(
    tmp_path: Path,
    query: str,
    language: str,
    post: Post,
    detail: str | None,
    forms: list[str] | None,
) -> None:
    others = [english("It is diagonalizable.")] * 9
    [reply] = over(tmp_path / "index", post, *others).ask([asked(query, language)])
    reason = reply.reason(0, post)
    assert detail is None or reason.detail == detail
    assert forms is None or [one.found for one in reason.evidence] == forms


def test_a_translation_in_brackets_is_required_only_if_nothing_is_translated(
    tmp_path: Path,
) -> None:
    hindi = Post(id="h", body="सारणिक", language="hi")
    question = asked("सारणिक (determinant)", "hi")
    posts = [hindi, english("A determinant.")]
    for translate, expected in ((True, True), (False, False)):
        choices = LexicalSettings(**MATCHED, translate=translate)  # type: ignore[arg-type]
        index = LexicalRetriever([build(tmp_path / str(translate), posts, choices)], choices)
        assert (index.ask([question])[0].shortest_passage(hindi) is not None) == expected


@pytest.mark.parametrize(
    ("question", "post", "expected"),
    [
        (asked("prime number theorem"), english("A theorem on a prime and a number."), True),
        (asked("prime number theorem"), english("A theorem on a prime."), False),
        (asked("the primes"), english("Prime."), True),
        (asked("7 primes"), english("7 primes"), True),
        # Numbers alone do not count.
        (asked("7"), english("7"), False),
        (asked("prime number theorem"), spanish("El teorema de los números primos."), True),
        (asked("素数", "zh"), english("A prime."), True),
        (asked("连续函数", "zh"), chinese("连续函数"), True),
        (asked("连续函数", "zh"), chinese("连续"), False),
        # Two of its characters mean a number in other contexts.
        (asked("连续函数", "zh"), english("A number."), False),
        (asked("有理数", "zh"), english("A number."), False),
        # Two terms of the glossary, "diagonal" and "diagonalization", have the same stem.
        (asked("diagonalizable matrix"), english("A matrix and its diagonals."), False),
        (asked("diagonalizable matrix"), english("Diagonalization of a matrix."), True),
        (asked("matriz diagonalizable", "es"), english("A matrix, its diagonal."), False),
        (asked("matriz diagonalizable", "es"), english("Diagonalization of a matrix."), True),
    ],
)
def test_a_post_matches_a_question_fully_if_it_has_all_words_or_their_translations(
    index: LexicalRetriever, question: Question, post: Post, expected: bool
) -> None:
    assert (index.ask([question])[0].shortest_passage(post) is not None) == expected


@pytest.mark.parametrize(
    ("post", "words", "quotes"),
    [
        (english("A sum of\n$$p\n+q$$-like primes."), 4, ["sum of $p +q$-like primes"]),
        # Formulas do not count as words, and a long one is not quoted.
        (english(f"A sum $a$ ${'x' * 99}$ of primes."), 3, ["sum … of primes"]),
        # A quote does not continue in the next field.
        (Post("1", "Here is a sum.", "Odd primes", language="en"), 5, ["primes", "sum"]),
        (Post("1", "Primes, $2$.", tags=("odd", "sum"), language="en"), 4, ["Primes", "sum"]),
        (Post("1", "Odd.", tags=("direct-sum", "primes"), language="en"), 2, ["sum, primes"]),
    ],
)
def test_the_shortest_passage_is_quoted_field_by_field_with_its_formulas(
    index: LexicalRetriever, post: Post, words: int, quotes: list[str]
) -> None:
    found = index.ask([asked("sum of primes")])[0].shortest_passage(post)
    assert found == (words, tuple(quotes), False)


def test_the_longest_form_of_a_term_is_quoted(tmp_path: Path) -> None:
    # "Indépendant" is a short form of the term; "sont" is a stop word.
    post = Post("0", "Deux événements sont indépendants si", language="fr")
    [reply] = over(tmp_path / "index", post).ask([asked("independent events")])
    assert reply.shortest_passage(post) == (3, ("événements sont indépendants",), True)


@pytest.mark.parametrize(
    ("query", "body", "quote"),
    [
        # "Faible" alone is "low" in the glossary, but "weak" among the learned words.
        (
            "loi faible des grands nombres",
            "A weak law of large numbers.",
            "weak law of large numbers",
        ),
        ("principe du maximum", "It satisfies the maximum principle.", "maximum principle"),
        # The name is one word in English, and two in French.
        ("formule de d'Alembert", "Use D'Alembert's formula.", "D'Alembert's formula"),
    ],
)
def test_all_words_of_a_query_are_found_in_another_language(
    tmp_path: Path, query: str, body: str, quote: str
) -> None:
    post = Post("0", body, language="en")
    [reply] = over(tmp_path / "index", post).ask([asked(query, "fr")])
    passage = reply.shortest_passage(post)
    assert passage is not None
    assert passage.quotes == (quote,)


def test_translations_of_parts_of_a_term_do_not_make_the_term(tmp_path: Path) -> None:
    # Number and first translate the two words of nombre premier, a prime number.
    first, prime = Post("0", "The first number.", language="en"), english("A prime number.")
    [reply] = over(tmp_path / "index", first, prime).ask([asked("nombre premier", "fr")])
    assert reply.shortest_passage(first) is None
    passage = reply.shortest_passage(prime)
    assert passage is not None
    assert passage.is_term


def test_a_hyphenated_translation_is_a_term(tmp_path: Path) -> None:
    subgroup = Post("0", "Un sous-groupe normal", language="fr")
    group = Post("1", "Un groupe fini", language="fr")
    [reply] = over(tmp_path / "index", subgroup, group).ask([asked("subgroup")])
    assert reply.shortest_passage(subgroup) == (1, ("sous-groupe",), True)
    assert reply.shortest_passage(group) is None


@pytest.mark.parametrize(
    ("body", "quote"),
    [
        (
            "A group in which all $g$ are $h$ is abelian.",
            "group in which all $g$ are $h$ is abelian",
        ),
        (f"A group,{' yes' * 20} abelian.", "abelian"),
        ("A group of Abel is abelian, and so is an odd group.", "group of Abel is abelian"),
    ],
)
def test_a_short_form_of_a_term_is_quoted_with_the_other_words_near_it(
    index: LexicalRetriever, body: str, quote: str
) -> None:
    found = index.ask([asked("abelian group")])[0].shortest_passage(english(body))
    assert found == (1, (quote,), False)


def test_a_reason_names_no_other_glossary_term_with_the_stem_of_a_translation(
    tmp_path: Path,
) -> None:
    question = asked("diagonalizable", "es")
    assert not told(tmp_path / "other", question, english("A diagonal."))
    assert not told(
        tmp_path / "part",
        asked("distribución de probabilidad", "es"),
        english("It is distributive."),
    )
    same = told(tmp_path / "same", question, english("A diagonal. Diagonalization."))
    assert same == "diagonalizable → Diagonalization"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("prime numbers", True),
        ("Primes number", True),
        ("prime number.", True),
        ("prime, number", False),
        ("prime (number", True),
        ("number prime", False),
        ("prime", False),
    ],
)
def test_an_inflection_of_the_query_has_the_same_words_in_order_with_nothing_between(
    index: LexicalRetriever, words: str, expected: bool
) -> None:
    [reply] = index.ask([asked("prime number")])
    assert reply.is_inflection_of_query(words, "en") == expected
    [reply] = index.ask([asked("odd prime number")])
    assert reply.is_inflection_of_query(f"odd {words}", "en") == expected


def test_an_index_knows_whether_any_post_has_one_of_some_terms(tmp_path: Path) -> None:
    choices = LexicalSettings()
    folders = [
        build(tmp_path / name, [english(name)], choices) for name in ("ring", "field", "group")
    ]
    index = LexicalRetriever(folders, choices)
    assert index.has(["nowhere", "field"])
    assert index.has(["ring"])
    assert not index.has(["nowhere"])


def test_a_merged_segment_equals_one_built_from_the_kept_posts(tmp_path: Path) -> None:
    choices = LexicalSettings()
    parts = [build(tmp_path / "a", POSTS[:3], choices), build(tmp_path / "b", POSTS[3:], choices)]
    sources = [
        WrittenSegment(parts[0], np.array([0, 2]), ["en", "cs"]),
        WrittenSegment(parts[1], np.array([0, 1]), ["en", "en"]),
    ]
    LexicalBuilder(choices).merge(sources, tmp_path / "merged")
    kept = build(tmp_path / "kept", [POSTS[number] for number in (0, 2, 3, 4)], choices)
    assert json.loads((kept / "languages.json").read_text()) == {"cs": 1, "en": 3}
    for file in kept.iterdir():
        assert (tmp_path / "merged" / file.name).read_bytes() == file.read_bytes(), file.name


def test_a_reason_names_no_unlikely_translation(tmp_path: Path) -> None:
    # The Hindi word for "value" is also the first word of "let us suppose".
    post = Post("1", "Let it be an integral. Its value is one.", language="en")
    [reply] = over(tmp_path / "index", post).ask([asked("समाकल का मान", "hi")])
    assert 0 < reply.wanted["let"] < reply.wanted["valu"]
    assert {one.found for one in reply.reason(0, post).evidence} == {"integral", "value"}


def test_posts_that_may_have_all_words_or_their_translations_are_recognised(tmp_path: Path) -> None:
    index = over(
        tmp_path / "index",
        english("Every prime number is odd."),
        english("A number."),
        spanish("Un número primo."),
        english("It is prime."),
        english("Nothing of the kind."),
    )

    def may(question: Question) -> list[int]:
        [reply] = index.ask([question])
        return [number for number in range(5) if reply.may_match_all(number)]

    assert may(asked("prime number")) == [0, 2]
    assert may(asked("the number")) == [0, 1, 2]
    assert may(asked("odd number")) == [0]
    assert may(asked("the of")) == []
    assert [
        index.ask([asked(text)])[0].word_count for text in ("the prime", "odd prime number", "of")
    ] == [
        1,
        3,
        0,
    ]
    assert index.ask([asked("the of")])[0].shortest_passage(english("the of")) is None


def test_without_translation_only_the_words_themselves_match(tmp_path: Path) -> None:
    settings = LexicalSettings(**MATCHED, translate=False)  # type: ignore[arg-type]
    posts = [english("A prime number."), spanish("Un número primo.")]
    index = LexicalRetriever([build(tmp_path / "index", posts, settings)], settings)
    [reply] = index.ask([asked("prime number")])
    assert [reply.may_match_all(number) for number in (0, 1)] == [True, False]


def test_an_inflection_of_the_query_may_be_in_any_language_of_the_question(
    index: LexicalRetriever, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Question, "languages", ("de", "en"))  # it may be in either language
    [reply] = index.ask([asked("prime numbers")])
    assert reply.is_inflection_of_query("primes number", "en")


@pytest.mark.parametrize(("more", "expected"), [(7, [0]), (8, [])])
def test_a_question_of_at_most_eight_words_finds_other_forms_of_its_concepts(
    tmp_path: Path, more: int, expected: list[int]
) -> None:
    post = Post("a", "Diagonalization is a change of basis.", language="en")
    question = asked("diagonalizable" + " zzz" * more)
    assert found(over(tmp_path / "forms", post), question) == expected


@pytest.mark.parametrize(
    ("question", "body", "language", "met"),
    [
        (asked("equator"), "An equation.", "en", []),
        (asked("equation"), "The equator.", "en", []),
        (asked("equator"), "Equators and equations.", "en", ["Equators"]),
        (asked("equations"), "The equator, an equation.", "en", ["equation"]),
        (asked("Äquator", "de"), "An equation.", "en", []),
        (asked("Äquator", "de"), "An equation of the equator.", "en", ["equator"]),
        (asked("equator"), "Jedna rovnice.", "cs", []),
        # Words that are derived from a word match it.
        (asked("integrate"), "The integrals.", "en", ["integrals"]),
        (asked("equational"), "An equation.", "en", ["equation"]),
        # In pairs of translated sentences, "if" occurs with any word.
        (asked("gibt", "de"), "If it gives one.", "en", ["gives"]),
        (asked("todos", "es"), "All of them.", "en", ["All"]),
    ],
)
def test_a_word_that_only_shares_the_stem_of_a_term_is_neither_named_nor_counted(
    tmp_path: Path, question: Question, body: str, language: str, met: list[str]
) -> None:
    post = Post("0", body, language=language)
    [reply] = over(tmp_path / "index", post).ask([question])
    assert [one.found for one in reply.reason(0, post).evidence] == met
    assert bool(reply.shortest_passage(post)) == bool(met)


def test_a_reason_names_only_the_matching_name_in_code(tmp_path: Path) -> None:
    post = Post("0", "Then np.quantile(medians, 0.5) of all.", language="en")
    [reply] = over(tmp_path / "index", post).ask([asked("median")])
    assert [one.found for one in reply.reason(0, post).evidence] == ["medians"]


def test_tags_are_read_in_english_too(tmp_path: Path) -> None:
    posts = (Post("0", "Sea X.", tags=("number-theory",), language="es"), english("A sum."))
    settings = LexicalSettings(fields={"body": 1, "tags": 1})
    index = LexicalRetriever([build(tmp_path / "index", list(posts), settings)], settings)
    [reply] = index.ask([asked("number theory")])
    assert reply.scores(np.array([0, 1]))[0] > 0
    assert {one.found for one in reply.reason(0, posts[0]).evidence} == {"number", "theory"}


def test_a_translation_of_one_word_can_match_all_words_of_a_term(tmp_path: Path) -> None:
    posts = (Post("0", "Der Zwischenwertsatz.", language="de"), english("A value."))
    [reply] = over(tmp_path / "index", *posts).ask([asked("intermediate value theorem")])
    assert [reply.may_match_all(number) for number in (0, 1)] == [True, False]
