"""Exact before like, the asker's language first, versions as one hit, calibrated scores."""

from pathlib import Path

import pytest

from mathsetu.collections import sampler
from mathsetu.errors import InputError
from mathsetu.library import Filter, Library, build_library
from mathsetu.recipes.schema import parse_recipe
from mathsetu.records import Post, Query
from tests.light import LIGHT, LIGHT_TOML

CALIBRATED = """
    exact = 0.2
    own_language = "normal"
    [ranking.calibration]
    threshold = 0.4
    half = { words = 8.0, formulas = 0.5 }
    close = { bias = -12, words = 16, formulas = 8 }
    silent = { formulas = 2, words = 2 }
    relevant = { bias = 1, score = 6 }
"""
DIRICHLET = r"\int_0^\infty \frac{\sin x}{x}dx"


@pytest.fixture(scope="module")
def library(sampler_library: Library) -> Library:
    """The sampler under a recipe that has everything."""
    recipe = parse_recipe(LIGHT_TOML + CALIBRATED, "tests")
    return sampler_library.with_recipe(recipe)


def small(folder: Path, posts: list[Post], settings: tuple[str, ...] = ()) -> Library:
    build_library(folder / "library", posts, LIGHT, processes=1)
    return Library(folder / "library", settings)


def test_a_formula_as_written_is_above_a_variant(tmp_path: Path) -> None:
    posts = [
        Post("variant", r"Evaluate $\int_0^\infty \frac{\sin ax}{x}dx$ with a parameter."),
        Post("exact", r"Evaluate $\int_0^{\infty}\dfrac{\sin x}{x}\,dx=\frac{\pi}{2}$ by a trick."),
        Post("other", "Nothing but words."),
    ]
    library = small(tmp_path, posts, ("ranking.exact=0.2",))
    hit = library.search(f"${DIRICHLET}$", 3)[0]
    assert hit.id == "exact"
    [reason] = [reason for reason in hit.reasons if reason.part == "exact"]
    assert reason.evidence[0].found == r"\int_0^{\infty}\dfrac{\sin x}{x}\,dx=\frac{\pi}{2}"


def test_a_phrase_as_written_is_above_its_scattered_words(tmp_path: Path) -> None:
    scattered = "A uniform bound, and a convergence that is uniform. Convergence, uniform bound."
    posts = [
        Post("scattered", scattered, language="en"),
        Post("phrase", "The notion of uniform\n convergence is due to others.", language="en"),
    ]
    plain = small(tmp_path / "plain", posts)
    assert plain.search("uniform convergence", 2)[0].id == "scattered"
    exact = Library(plain.folder, ["ranking.exact=0.5"])
    hit = exact.search("uniform convergence", 2)[0]
    assert hit.id == "phrase"
    assert "“uniform convergence”" in hit.reasons[-1].detail


def test_the_asker_s_language_comes_first_unless_it_is_off(library: Library) -> None:
    def languages(preference: str | None) -> list[str]:
        hits = library.search("infinitely many primes", 6, own_language=preference)
        assert hits[0].id.startswith("infinitely-many-primes.")
        return [hit.id.rpartition(".")[2] for hit in hits]

    assert languages("off")[0] != "en"
    for preference in ("weak", "normal", "strong", None):
        assert languages(preference)[0] == "en"
    with pytest.raises(InputError, match="own_language is 'much'"):
        languages("much")


def test_a_post_that_moved_up_says_so_and_has_the_score_of_its_best_version(
    library: Library,
) -> None:
    plain = library.search("infinitely many primes", 50, own_language="off")
    before = {hit.id: hit.score for hit in plain}
    hit = library.search("infinitely many primes", 1)[0]
    assert hit.score == plain[0].score > before[hit.id]
    assert hit.reasons[-1].part == "language"
    assert hit.reasons[-1].score == pytest.approx(hit.score - before[hit.id])
    assert hit.reasons[-1].detail.startswith("in the language of the query (en): place ")


@pytest.mark.parametrize("preference", ["weak", "normal", "strong"])
@pytest.mark.parametrize("group", [False, True])
def test_scores_fall_along_the_list_whatever_is_preferred(
    library: Library, preference: str, group: bool
) -> None:
    for query in ("infinitely many primes", "दो समीकरणों का हल", "sum of $1/n^2$"):
        hits = library.answer(query, 50, own_language=preference, group=group).hits
        scores = [hit.score for hit in hits]
        assert scores == sorted(scores, reverse=True)
        for hit in hits:
            assert sum(reason.score for reason in hit.reasons) == pytest.approx(hit.score)


def test_a_formula_alone_is_asked_in_the_language_of_the_page(library: Library) -> None:
    for page in ("hi", "es"):
        question = library.question(DIRICHLET, page=page)
        assert library.answer(question, 1).hits[0].id == f"dirichlet-integral.{page}"


def test_a_run_prefers_no_language(library: Library) -> None:
    query = Query("q", "infinitely many primes", language="en")
    run = library.run([query], 10).rankings["q"]
    assert run == library.search(query, 10, explain=False, own_language="off")


def test_a_filter_holds_whatever_is_preferred(library: Library) -> None:
    hits = library.search("infinitely many primes", 5, where=Filter("cs"), own_language="strong")
    assert {hit.id.rpartition(".")[2] for hit in hits} == {"cs"}


def test_versions_of_a_post_are_one_hit_that_names_the_others(library: Library) -> None:
    answer = library.answer("infinitely many primes", 3, group=True)
    first = answer.hits[0]
    assert first.id == "infinitely-many-primes.en"
    assert {other.split(".")[0] for other in first.versions} == {"infinitely-many-primes"}
    assert len({hit.id.split(".")[0] for hit in answer.hits}) == len(answer.hits) == 3
    assert set(first.versions) <= set(answer.posts)
    assert not library.answer("infinitely many primes", 3).hits[0].versions


def test_translations_without_a_thread_are_versions_and_other_posts_are_not(
    tmp_path: Path,
) -> None:
    formulas = r"$\sum_{k=1}^n k=\frac{n(n+1)}{2}$ and $\sum_{k=1}^n k^2=\frac{n(n+1)(2n+1)}{6}$"
    posts = [
        Post("en", f"The sum of the first natural numbers and of their squares: {formulas}."),
        Post("es", f"La suma de los primeros números naturales y de sus cuadrados: {formulas}."),
        Post("hr", "Zbroj prvih prirodnih brojeva: $1+2+3$ i $4+5$."),
        Post("again", f"Sums of natural numbers and squares once more: {formulas}."),
    ]
    build_library(tmp_path / "library", posts, "default", processes=1)
    with Library(tmp_path / "library") as library:
        answer = library.answer("sum of the first natural numbers", 4, group=True)
    assert {hit.id: hit.versions for hit in answer.hits}["en"] == ("es",)
    assert {"hr", "again"} <= {hit.id for hit in answer.hits}


def test_a_calibrated_score_is_the_same_order_and_tells_nonsense(library: Library) -> None:
    asked = library.answer("infinitely many primes", 10, own_language="off")
    plain = library.with_recipe(parse_recipe(LIGHT_TOML + "    exact = 0.2\n", "tests"))
    assert [hit.id for hit in asked.hits] == [hit.id for hit in plain.search(
        "infinitely many primes", 10)]  # fmt: skip
    scores = [hit.score for hit in asked.hits]
    assert scores == sorted(scores, reverse=True)
    assert asked.is_close
    for hit in asked.hits:
        assert sum(reason.score for reason in hit.reasons) == pytest.approx(hit.score)
    far = library.answer("qwertyuiop zxcvbnm sum", 10)
    assert not far.is_close
    assert far.hits, "the nearest are shown"


def test_weights_of_the_caller_s_own_are_not_calibrated(library: Library) -> None:
    hit = library.answer(
        "infinitely many primes", 1, weights={"words": 1.0}, own_language="off"
    ).hits[0]
    assert sum(reason.score for reason in hit.reasons) == pytest.approx(hit.score)
    assert hit.score >= 1


@pytest.mark.parametrize(
    ("setting", "problem"),
    [
        ("ranking.own_language=much", "known: off, weak, normal, strong"),
        ("ranking.exact=-1", "cannot be less than 0"),
        ("ranking.full_scores={formulae=1}", "which is not a part"),
        ("ranking.full_scores={formulas=-1}", "none of them below 0"),
        ("parts.words.query_title=-1", "query_title is -1; it cannot be less than 0"),
        ("ranking.calibration={half={meanings=1}}", "which is not a part"),
        ("ranking.calibration={half={words=0}}", "positive"),
        ("ranking.calibration={close={words=1}}", "which half does not"),
        ("ranking.calibration={relevant={score=-1}}", "cannot be negative"),
        ("ranking.calibration={threshold=2}", "from 0 to 1"),
    ],
)
def test_settings_without_sense_are_refused(
    sampler_library: Library, setting: str, problem: str
) -> None:
    with pytest.raises(InputError, match=problem):
        Library(sampler_library.folder, [setting])


@pytest.mark.thorough
def test_the_sampler_is_answered_in_the_asker_s_language(tmp_path: Path) -> None:
    build_library(tmp_path / "library", sampler.posts(), "default", processes=1)
    spoken = {post.id: post.language for post in sampler.posts()}
    relevant: dict[str, set[str]] = {}
    for judgment in sampler.judgments():
        if judgment.grade >= 1:
            relevant.setdefault(judgment.query_id, set()).add(judgment.id)
    asked = first = 0
    with Library(tmp_path / "library") as library:
        for query in sampler.queries():
            own = {post for post in relevant.get(query.id, ()) if spoken[post] == query.language}
            if own:
                asked += 1
                first += library.search(query, 1, explain=False)[0].id in own
    assert asked == 66
    assert first >= 56
