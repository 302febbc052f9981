"""Search: hits, reasons and filters, across languages and scripts."""

from collections import defaultdict
from pathlib import Path

import pytest

from mathsetu.collections import sampler
from mathsetu.errors import InputError
from mathsetu.library import Filter, Library, build_library
from mathsetu.library.query_translation import LONGEST_QUERY
from mathsetu.records import Query


def first(library: Library, query: str, **options: object) -> str:
    return library.search(query, 1, **options)[0].id.split(".")[0]  # type: ignore[arg-type]


def test_the_library_contains_every_post_of_the_sampler(sampler_library: Library) -> None:
    assert len(sampler_library) == len(list(sampler.posts()))


@pytest.mark.parametrize(
    ("query", "thread"),
    [
        ("infinitely many primes", "infinitely-many-primes"),
        ("irracionalidad de la raíz de dos", "sqrt2-irrational"),
        ("अभाज्य संख्याएँ अनंत हैं", "infinitely-many-primes"),
        ("نامتناهی بودن اعداد اول", "infinitely-many-primes"),
        ("prvočísel je nekonečně mnoho", "infinitely-many-primes"),
        ("beskonačno mnogo prostih brojeva", "infinitely-many-primes"),
    ],
)
def test_a_query_of_words_finds_its_topic_in_each_language(
    sampler_library: Library, query: str, thread: str
) -> None:
    assert first(sampler_library, query) == thread


def test_hindi_in_latin_letters_finds_the_same_post_as_in_devanagari(
    sampler_library: Library,
) -> None:
    typed = sampler_library.search("abhajya sankhya anant", 3, language="hi")
    written = sampler_library.search("अभाज्य संख्या अनंत", 3, language="hi")
    assert typed[0].id == written[0].id


def test_the_language_of_a_query_is_given_by_its_code_or_its_name(sampler_library: Library) -> None:
    typed = "abhajya sankhya anant"
    for name in ("Hindi", "हिन्दी", "hi-IN"):
        assert sampler_library.question(typed, name).language == "hi"
        found = sampler_library.search(typed, 3, language=name)
        assert found == sampler_library.search(typed, 3, language="hi")
    for unknown in ("xx", "elvish", " "):
        for ask in (sampler_library.search, sampler_library.answer):
            with pytest.raises(InputError, match=rf"language '{unknown}': unknown language; give"):
                ask(typed, language=unknown)
        with pytest.raises(InputError, match="unknown language"):
            sampler_library.explain(typed, "sqrt2-irrational.en", language=unknown)


@pytest.mark.parametrize("language", ["en", "hi", "es", "cs", "hr", "fa"])
def test_a_query_finds_posts_in_other_languages(sampler_library: Library, language: str) -> None:
    found = first(sampler_library, "infinitely many primes", where=Filter(language=language))
    assert found == "infinitely-many-primes"


def mean_reciprocal_rank(library: Library, queries: list[Query]) -> float:
    """Of the first relevant post."""
    good = defaultdict(set)
    for judgment in sampler.judgments():
        if judgment.grade >= 2:
            good[judgment.query_id].add(judgment.id)
    run = library.run(queries)
    reciprocal = [
        next((1 / rank for rank, hit in enumerate(run.rankings[query.id], 1)
              if hit.id in good[query.id]), 0.0)
        for query in queries
    ]  # fmt: skip
    mean = sum(reciprocal) / len(reciprocal)
    print(f"mean reciprocal rank over {len(queries)} queries: {mean:.3f}")  # noqa: T201
    return mean


@pytest.mark.thorough
def test_the_first_relevant_post_ranks_high_even_without_the_encoder(
    sampler_library: Library,
) -> None:
    assert mean_reciprocal_rank(sampler_library, list(sampler.queries())[::3]) >= 0.75


@pytest.mark.thorough
def test_the_first_relevant_post_ranks_high_over_all_queries_of_the_sampler(tmp_path: Path) -> None:
    build_library(tmp_path / "default", sampler.posts(), "default", processes=1)
    queries = list(sampler.queries())
    assert len(queries) == 78
    assert mean_reciprocal_rank(Library(tmp_path / "default"), queries) >= 0.8


def test_a_formula_finds_formulas_of_the_same_structure(sampler_library: Library) -> None:
    hits = sampler_library.search("$u^2+v^2=w^2$", 5)
    assert hits[0].id.startswith("pythagorean-theorem")
    assert [reason.part for reason in hits[0].reasons] == ["formulas"]
    assert "u → " in hits[0].reasons[0].detail


def test_a_hit_for_only_a_formula_can_reach_a_score_of_one(sampler_library: Library) -> None:
    assert sampler_library.search("$a^2+b^2=c^2$", 1)[0].score == pytest.approx(1.0)


def test_a_query_of_words_gives_no_reason_of_formulas(small_library: Path) -> None:
    reasons = Library(small_library).search("prime numbers", 1)[0].reasons
    assert [reason.part for reason in reasons] == ["words", "meaning", "exact"]
    assert "prime" in reasons[0].detail


def test_a_wildcard_matches_any_expression(sampler_library: Library) -> None:
    [hit] = sampler_library.search(r"$\int_0^\infty ?f\,dx$", 1)
    assert r"\int_0^{\infty}" in hit.reasons[0].detail.replace(r"_0^\infty", r"_0^{\infty}")


def test_the_reasons_add_up_to_the_score(sampler_library: Library) -> None:
    for hit in sampler_library.search(r"prime numbers $p_1p_2\cdots p_n+1$", 20):
        assert hit.reasons
        assert sum(reason.score for reason in hit.reasons) == pytest.approx(hit.score)


@pytest.mark.parametrize("query", ["primes", "$x^2$", r"sum $\sum_{n=1}^\infty 1/n^2$"])
def test_hits_are_sorted_by_score_and_all_scores_are_positive(
    sampler_library: Library, query: str
) -> None:
    scores = [hit.score for hit in sampler_library.search(query, 500, explain=False)]
    assert scores == sorted(scores, reverse=True)
    assert min(scores) > 0


@pytest.mark.parametrize("k", [1, 3, 60])
def test_k_is_the_number_of_hits(sampler_library: Library, k: int) -> None:
    hits = sampler_library.search("number", k)
    assert len(hits) == len({hit.id for hit in hits}) == k
    assert hits[:1] == sampler_library.search("number", 1)


def test_k_below_one_is_refused(sampler_library: Library) -> None:
    with pytest.raises(InputError, match="k is 0; it must be at least 1"):
        sampler_library.search("number", 0)


def test_explanations_do_not_change_scores(sampler_library: Library) -> None:
    query = "area of a triangle $A=\\frac{1}{2}bh$"
    plain = sampler_library.search(query, 10, explain=False)
    explained = sampler_library.search(query, 10)
    assert [(hit.id, hit.score) for hit in plain] == [(hit.id, hit.score) for hit in explained]
    assert not any(hit.reasons for hit in plain)


def test_filters_select_posts_by_language_tag_and_collection(sampler_library: Library) -> None:
    posts = {post.id: post for post in sampler.posts()}
    tag = next(tag for post in posts.values() for tag in post.tags)
    by_language = sampler_library.search("number", 100, where=Filter(language="cs"))
    by_tag = sampler_library.search("number", 300, where=Filter(tags=(tag,)))
    assert {posts[hit.id].language for hit in by_language} == {"cs"}
    assert by_tag
    assert all(tag in posts[hit.id].tags for hit in by_tag)
    assert sampler_library.search("number", 5, where=Filter(collection="sampler"))
    assert not sampler_library.search("number", 5, where=Filter(collection="other"))


def test_a_filter_with_several_tags_needs_all_of_them(sampler_library: Library) -> None:
    posts = {post.id: post for post in sampler.posts()}
    tags = next(post.tags for post in posts.values() if len(post.tags) >= 2)[:2]
    hits = sampler_library.search("number", 300, where=Filter(tags=tags))
    with_both = {post.id for post in posts.values() if set(tags) <= set(post.tags)}
    with_one = {post.id for post in posts.values() if not set(tags).isdisjoint(post.tags)}
    assert hits
    assert {hit.id for hit in hits} <= with_both < with_one


@pytest.mark.thorough
def test_a_run_answers_each_query_as_a_search_does(sampler_library: Library) -> None:
    queries = list(sampler.queries())[:5]
    run = sampler_library.run(queries, 5)
    for query in queries:
        alone = sampler_library.search(query, 5, explain=False)
        assert run.rankings[query.id] == alone


@pytest.mark.parametrize("query", ["", "   "])
def test_an_empty_query_is_refused(sampler_library: Library, query: str) -> None:
    with pytest.raises(InputError, match="the query is empty"):
        sampler_library.search(query)
    with pytest.raises(InputError, match="the formula is empty"):
        sampler_library.formulas(query)


@pytest.mark.parametrize("query", ["$$", "the of and", "?!", "zzzzqqqq"])
def test_a_query_without_known_words_or_formulas_finds_nothing(
    sampler_library: Library, query: str
) -> None:
    assert sampler_library.search(query) == ()


@pytest.mark.thorough
def test_a_query_of_a_megabyte_is_refused_by_id(sampler_library: Library) -> None:
    long = Query(id="A.7", text="prime " * 170_000)
    with pytest.raises(InputError, match=r"query A\.7 has 1,020,000 characters; at most 100,000"):
        sampler_library.run([long])


@pytest.mark.thorough
def test_the_longest_query_allowed_is_answered(sampler_library: Library) -> None:
    assert sampler_library.search("prime ".ljust(LONGEST_QUERY, "x"), 1, explain=False)


def test_posts_are_returned_unchanged(sampler_library: Library) -> None:
    for post in list(sampler.posts())[:20]:
        assert sampler_library.post(post.id) == post
    with pytest.raises(InputError, match="there is no post 'nobody'"):
        sampler_library.post("nobody")


def test_formulas_are_found_with_scores_and_substitutions(sampler_library: Library) -> None:
    found = sampler_library.formulas("u^2+v^2=w^2", 3)
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    assert found[0].match.coverage == 1
    assert set(found[0].match.substitution) == {"u", "v", "w"}


def test_typed_formulas_are_found_with_the_posts_that_contain_them(
    sampler_library: Library,
) -> None:
    found = sampler_library.formulas("sqrt(2)", 3)
    assert found[0].latex == r"\sqrt{2}"
    assert [one.latex for one in found] == [
        one.latex for one in sampler_library.formulas(r"\sqrt{2}", 3)
    ]
    # Some of them write \\sqrt2, or have the full stop inside the formula.
    posts = [f"sqrt2-irrational.{code}" for code in ("hi", "es", "cs", "fa")]
    assert sampler_library.posts_with(found[0], 5) == tuple(posts)
