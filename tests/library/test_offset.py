"""Pages belong to one list of hits; filters, thresholds and counts agree with the posts."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathsetu.collections import sampler
from mathsetu.errors import InputError
from mathsetu.library import Filter, Library
from mathsetu.records import Post

QUERIES = ("infinitely many primes", "समाकल $\\int_0^1 x^2 dx$", "$a^2+b^2=c^2$", "number")
POSTS = {post.id: post for post in sampler.posts()}
ALL = 1_000


@pytest.fixture(scope="module")
def small(sampler_library: Library) -> Library:
    """The sampler with a recipe that retrieves fewer candidates than there are posts."""
    from dataclasses import replace

    recipe = sampler_library.recipe
    ranking = replace(recipe.ranking, candidates=60, k=10, exact=0.2)
    return sampler_library.with_recipe(replace(recipe, ranking=ranking))


@pytest.mark.thorough
@given(
    query=st.sampled_from(QUERIES),
    k=st.integers(20, 60),
    own_language=st.sampled_from(["off", "strong"]),
    group=st.booleans(),
    where=st.sampled_from([None, Filter(("en", "hi")), Filter(not_languages=("cs",))]),
)
def test_pages_belong_to_one_list_of_hits_without_duplicates(
    small: Library,
    query: str,
    k: int,
    own_language: str,
    group: bool,
    where: Filter | None,
) -> None:
    def page(offset: int, size: int = k) -> tuple[str, ...]:
        answer = small.answer(
            query, size, where=where, explain=False, own_language=own_language, group=group,
            offset=offset,
        )  # fmt: skip
        assert answer.offset == offset
        totals.add((answer.total, answer.is_total_exact))
        return tuple(hit.id for hit in answer.hits)

    totals: set[tuple[int, bool]] = set()
    pages = [page(offset) for offset in (*range(0, 200, k), 500, ALL)]
    listed = [post_id for one in pages for post_id in one]
    assert len(set(listed)) == len(listed)
    assert len(totals) == 1
    assert pages[-3:] == [(), (), ()]  # all hits are listed
    [(total, _)] = totals
    assert len(listed) == total or (group and len(listed) < total)
    # Only the last page is short, and any other offset gives the same posts.
    assert all(len(one) == k for one in pages[: len(listed) // k])
    middle = len(listed) // 3
    assert list(page(middle)) == listed[middle : middle + k]
    assert list(page(0, 60))[: len(listed)] == listed[:60]


def test_an_answer_says_whether_its_total_is_exact(
    sampler_library: Library, small: Library
) -> None:
    whole = sampler_library.answer("number", 5, explain=False)
    cut = small.answer("number", 5, explain=False)
    assert whole.is_total_exact
    assert not cut.is_total_exact
    assert 60 <= cut.total < whole.total
    nothing = sampler_library.answer("number", 5, where=Filter("xx"))
    assert (nothing.total, nothing.is_total_exact, nothing.hits) == (0, True, ())


def test_facets_count_the_posts_that_were_found(sampler_library: Library) -> None:
    for where in (None, Filter(("en", "es"), not_tags=("calculus",))):
        answer = sampler_library.answer("number $n$", ALL, where=where, explain=False, facets=True)
        found = [answer.posts[hit.id] for hit in answer.hits]
        assert len(found) == answer.total > 20
        assert answer.facets["language"] == Counter(post.language for post in found)
        assert answer.facets["tag"] == Counter(tag for post in found for tag in set(post.tags))
        assert answer.facets["collection"] == {"sampler": answer.total}
        first = sampler_library.answer("number $n$", 1, where=where, offset=3, facets=True)
        assert first.facets == answer.facets
        counts = list(answer.facets["tag"].values())
        assert counts == sorted(counts, reverse=True)
    assert sampler_library.answer("number").facets == {}


_tags = st.lists(st.sampled_from(["calculus", "integration", "number-theory", "nobody"]))
_codes = st.lists(st.sampled_from(["en", "hi", "cs", "xx"]))


@pytest.mark.thorough
@given(
    languages=_codes,
    tags=_tags,
    any_tags=_tags,
    not_languages=_codes,
    not_tags=_tags,
    collections=st.sampled_from([(), ("sampler",), ("other", "sampler"), ("other",)]),
    not_collections=st.sampled_from([(), ("other",), ("sampler",)]),
)
def test_a_filter_returns_exactly_the_posts_that_meet_its_conditions(
    sampler_library: Library,
    languages: list[str],
    tags: list[str],
    any_tags: list[str],
    not_languages: list[str],
    not_tags: list[str],
    collections: tuple[str, ...],
    not_collections: tuple[str, ...],
) -> None:
    where = Filter(
        languages, tags, collections, any_tags, not_languages, not_tags, not_collections  # type: ignore[arg-type]
    )  # fmt: skip

    def passes(post: Post) -> bool:
        own = set(post.tags)
        return (
            (not languages or post.language in languages)
            and own.issuperset(tags)
            and (not any_tags or not own.isdisjoint(any_tags))
            and post.language not in not_languages
            and own.isdisjoint(not_tags)
            and (not collections or "sampler" in collections)
            and "sampler" not in not_collections
        )

    everything = sampler_library.search("number $n$", ALL, explain=False, own_language="off")
    hits = sampler_library.search("number $n$", ALL, where=where, explain=False, own_language="off")
    assert {hit.id for hit in hits} == {hit.id for hit in everything if passes(POSTS[hit.id])}


def test_a_threshold_leaves_out_lower_scores(sampler_library: Library) -> None:
    whole = sampler_library.answer("number $n$", ALL, explain=False)
    threshold = whole.hits[10].score
    cut = sampler_library.answer("number $n$", 5, explain=False, min_score=threshold, facets=True)
    assert cut.hits == whole.hits[:5]
    assert cut.total == sum(hit.score >= threshold for hit in whole.hits)
    assert sum(cut.facets["language"].values()) == cut.total
    assert sampler_library.answer("number $n$", min_score=1e6).hits == ()


@pytest.mark.parametrize(
    "make",
    [
        lambda library: Filter(tags="calculus"),
        lambda library: Filter(language=7),
        lambda library: Filter(not_tags=(7,)),
        lambda library: library.answer("number", offset=-1),
    ],
)
def test_invalid_filters_and_offsets_are_refused(sampler_library: Library, make) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InputError):
        make(sampler_library)


def test_a_threshold_applies_to_the_scores_that_are_shown(sampler_library: Library) -> None:
    """The language of the user adds to a score before it is compared."""
    question = "infinitely many primes"
    first = sampler_library.answer(question, 3, explain=False).hits[0]
    cut = sampler_library.answer(question, 3, explain=False, min_score=first.score - 1e-6)
    assert cut.hits[0].id == first.id
