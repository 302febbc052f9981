"""The order of hits: exact matches, the language of the user, versions, calibrated scores."""

import sqlite3
from collections import Counter
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from mathsetu.collections import columns, sampler
from mathsetu.collections.rows import BadRows
from mathsetu.errors import InputError
from mathsetu.intake.posts import read_post
from mathsetu.library import Filter, Library, build_library, ranker
from mathsetu.library.store import STORE, Store, to_row, write_store
from mathsetu.library.write import add_posts, optimize_library, remove_posts
from mathsetu.recipes import load_recipe
from mathsetu.recipes.schema import parse_recipe
from mathsetu.records import Post, Query
from mathsetu.retrieval.formula import FormulaReply
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
    """The sampler with a recipe that has all settings of ranking."""
    recipe = parse_recipe(LIGHT_TOML + CALIBRATED, "tests")
    return sampler_library.with_recipe(recipe)


def small(folder: Path, posts: list[Post], settings: tuple[str, ...] = ()) -> Library:
    build_library(folder / "library", posts, LIGHT, processes=1)
    return Library(folder / "library", settings)


def test_an_exact_formula_ranks_above_a_variant(tmp_path: Path) -> None:
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


def test_an_exact_formula_counts_more_if_the_query_has_no_words(tmp_path: Path) -> None:
    posts = [Post("1", f"Here is ${DIRICHLET}$."), Post("2", "Here is an integral.")]
    library = small(tmp_path, posts, ("ranking.exact=0.1",))

    def share(query: str) -> float:
        hit = next(hit for hit in library.search(query, 2) if hit.id == "1")
        return sum(reason.score for reason in hit.reasons if reason.part == "exact")

    assert share(f"${DIRICHLET}$") == pytest.approx(0.4)
    assert share(f"integral ${DIRICHLET}$") == pytest.approx(0.1)


@pytest.mark.parametrize("query", [r"\gcd(a,b)", "f(x)"])
def test_a_formula_that_contains_the_query_ranks_above_a_fragment_of_the_query(
    tmp_path: Path, query: str
) -> None:
    posts = [
        Post("fragment", r"Differentiable on $(a,b)$, with derivative $\sin(x^2)$ in $x$."),
        Post("gcd", r"Euclid uses $\gcd(a,b)=\gcd(b,a \bmod b)$ again and again."),
        Post("density", r"The density is $f(x)=\frac{1}{\sigma\sqrt{2\pi}}e^{-\frac{x^2}{2}}$."),
        *(Post(str(number), f"Something with $y_{number}$.") for number in range(9)),
    ]
    library = small(tmp_path, posts, ("ranking.exact=0.2",))
    found = [hit.id for hit in library.search(f"${query}$", 3)]
    assert found[0] == ("gcd" if "gcd" in query else "density")
    assert "fragment" in found[1:]


@pytest.mark.thorough
def test_rescoring_adds_the_scores_of_parts_that_did_not_retrieve_a_post(
    tmp_path: Path,
) -> None:
    words = "uniform convergence of a series of continuous functions"
    posts = [
        # The best post by words has a similar formula; two others have more similar ones.
        Post("both", f"{words} like $x^2+y$"),
        Post("formula-1", "first $x^2+1$"),
        Post("formula-2", "second $x^2+1$"),
        Post("words-2", "uniform convergence"),
    ]
    limits = ("ranking.candidates=2", "ranking.k=2", "ranking.exact=0")
    query = f"{words} $x^2+1$"
    found = {}
    for rescored in (0, 4):
        library = small(tmp_path / str(rescored), posts, (*limits, f"ranking.rescored={rescored}"))
        hits = {hit.id: hit for hit in library.search(query, 2)}
        found[rescored] = {reason.part: reason.score for reason in hits["both"].reasons}
    assert "formulas" not in found[0]
    assert found[4]["formulas"] > 0
    assert found[4]["words"] == found[0]["words"]


def test_an_exact_phrase_ranks_above_its_scattered_words(tmp_path: Path) -> None:
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


def test_a_section_with_a_matching_heading_ranks_above_its_subsections(tmp_path: Path) -> None:
    below = "Each entry is a sum: the binomial theorem says so."
    posts = [
        Post("below", below, title="Algebra › Binomial theorem › Pascal's triangle"),
        Post("section", "For natural n it expands a power.", title="Algebra › Binomial theorem"),
        Post("article", "Nothing.", title="The rest"),
    ]
    library = small(tmp_path, posts, ("ranking.exact=0.2",))

    def exact(query: str) -> dict[str, float]:
        return {
            hit.id: reason.score
            for hit in library.search(query, 3)
            for reason in hit.reasons
            if reason.part == "exact"
        }

    assert exact("binomial theorem?") == pytest.approx({"section": 0.8, "below": 0.4})
    assert library.search("Binomial theorem", 3)[0].id == "section"
    assert exact("the rest") == pytest.approx({"article": 0.8})
    # A phrase of two words may occur by chance, a longer one hardly.
    assert exact("expands a power of natural numbers") == {}
    assert exact("for natural n") == pytest.approx({"section": 0.2 * 3})


@pytest.mark.thorough
def test_hindi_in_latin_letters_matches_words_in_devanagari_exactly(tmp_path: Path) -> None:
    posts = [Post("hi", "प्रायिकता का नियम", language="hi"), Post("en", "Nothing.", language="en")]
    library = small(tmp_path, posts, ("ranking.exact=0.2",))
    hit = library.search("prayikta", 1)[0]
    assert (hit.id, hit.reasons[-1].detail) == ("hi", "as written: “प्रायिकता”")


def test_a_formula_that_contains_several_formulas_of_the_query_is_named_once(
    tmp_path: Path,
) -> None:
    posts = [Post("1", r"We know that $(a+b)^2=a^2+b^2+2ab$.", language="en")]
    library = small(tmp_path, posts, ("ranking.exact=0.2",))
    exact = library.search("$a^2$ and $b^2$", 1)[0].reasons[-1]
    assert exact.detail == "as written: $(a+b)^2=a^2+b^2+2ab$"
    assert [one.asked for one in exact.evidence] == ["a^2", "b^2"]


@pytest.mark.thorough
def test_an_exact_word_ranks_above_its_translation(tmp_path: Path) -> None:
    posts = [
        Post("heine.fr", "Toute fonction continue sur un compact est uniformément continue.",
             title="Théorème de Heine", language="fr"),
        Post("fermat.en", r"If $p$ is prime and $p\nmid a$ then $a^{p-1}\equiv 1 \pmod p$.",
             title="Fermat's little theorem", language="en"),
        Post("bayes.en", r"For events: $$P(A\mid B)=\frac{P(B\mid A)P(A)}{P(B)}.$$",
             title="Bayes' theorem", language="en"),
    ]  # fmt: skip
    build_library(tmp_path / "library", posts, "default", processes=1)
    with Library(tmp_path / "library") as library:
        first, second, _ = library.search("theorem", 3)
        assert {first.id, second.id} == {"fermat.en", "bayes.en"}
        assert "as written: “theorem”" in {reason.detail for reason in first.reasons}
        # In a query with a formula, a single word is no exact match.
        hit = library.search("theorem $P(A|B)$", 1)[0]
        assert "“theorem”" not in hit.reasons[-1].detail


def test_the_language_of_the_user_ranks_first_unless_own_language_is_off(library: Library) -> None:
    def languages(preference: str | None) -> list[str]:
        hits = library.search("infinitely many primes", 6, own_language=preference)
        assert hits[0].id.startswith("infinitely-many-primes.")
        return [hit.id.rpartition(".")[2] for hit in hits]

    assert languages("off")[0] != "en"
    for preference in ("weak", "normal", "strong", None):
        assert languages(preference)[0] == "en"
    with pytest.raises(InputError, match="own_language is 'much'"):
        languages("much")


@pytest.mark.thorough
def test_a_post_that_moved_up_has_a_reason_and_the_score_of_its_best_version(
    library: Library,
) -> None:
    plain = library.search("infinitely many primes", 50, own_language="off")
    before = {hit.id: hit.score for hit in plain}
    hit = library.search("infinitely many primes", 1)[0]
    assert hit.score == plain[0].score > before[hit.id]
    assert hit.reasons[-1].part == "language"
    assert hit.reasons[-1].score == pytest.approx(hit.score - before[hit.id])
    assert hit.reasons[-1].detail.startswith("in the language of the query (en): rank ")


@pytest.mark.parametrize(
    "query",
    [
        "area of a circle",
        pytest.param("infinitely many primes", marks=pytest.mark.thorough),
        pytest.param("sum of $1/n^2$", marks=pytest.mark.thorough),
    ],
)
def test_reasons_for_reordering_by_language_are_true_of_the_post(
    library: Library, query: str
) -> None:
    spoken = {post.id: post.language for post in sampler.posts()}
    versions = Counter(post.id.rpartition(".")[0] for post in sampler.posts())
    seen = set()
    for hit in library.search(query, 20, own_language="normal"):
        told = [reason.detail for reason in hit.reasons if reason.part == "language"]
        why = told[0].partition(":")[0] if told else ""
        seen.add(why)
        if why == "in the language of the query (en)":
            assert spoken[hit.id] == "en"
        elif why == "judged together with its versions in other languages":
            assert spoken[hit.id] != "en"
            assert versions[hit.id.rpartition(".")[0]] > 1
        else:
            assert why in ("", "those above it were judged together with their versions")
    assert len(seen) >= 2


def test_an_explanation_contains_the_post(library: Library) -> None:
    known = library.post("infinitely-many-primes.en")
    for query in ("infinitely many primes", "zzyzx"):
        hit = library.explain(query, known.id)
        assert hit.post is not None
        assert (hit.post.id, hit.post.title, hit.post.body) == (known.id, known.title, known.body)


@pytest.mark.thorough
@pytest.mark.parametrize("preference", ["weak", "normal", "strong"])
@pytest.mark.parametrize("group", [False, True])
def test_hits_are_sorted_by_score_with_any_preference_for_a_language(
    library: Library, preference: str, group: bool
) -> None:
    for query in ("infinitely many primes", "दो समीकरणों का हल", "sum of $1/n^2$"):
        hits = library.answer(query, 50, own_language=preference, group=group).hits
        scores = [hit.score for hit in hits]
        assert scores == sorted(scores, reverse=True)
        for hit in hits:
            assert sum(reason.score for reason in hit.reasons) == pytest.approx(hit.score)


def test_a_query_with_only_a_formula_has_the_language_of_the_page(library: Library) -> None:
    for page in ("hi", "es"):
        question = library.question(DIRICHLET, page=page)
        assert library.answer(question, 1).hits[0].id == f"dirichlet-integral.{page}"


def test_a_run_prefers_no_language(library: Library) -> None:
    query = Query("q", "infinitely many primes", language="en")
    run = library.run([query], 10).rankings["q"]
    assert run == library.search(query, 10, explain=False, own_language="off")


def test_a_filter_applies_with_any_preference_for_a_language(library: Library) -> None:
    hits = library.search("infinitely many primes", 5, where=Filter("cs"), own_language="strong")
    assert {hit.id.rpartition(".")[2] for hit in hits} == {"cs"}


def test_versions_of_a_post_are_grouped_into_one_hit_that_names_the_others(
    library: Library,
) -> None:
    answer = library.answer("infinitely many primes", 3, group=True)
    first = answer.hits[0]
    assert first.id == "infinitely-many-primes.en"
    assert {other.split(".")[0] for other in first.versions} == {"infinitely-many-primes"}
    assert len({hit.id.split(".")[0] for hit in answer.hits}) == len(answer.hits) == 3
    assert set(first.versions) <= set(answer.posts)
    assert not library.answer("infinitely many primes", 3).hits[0].versions


@pytest.mark.thorough
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


def test_calibration_keeps_the_order_of_hits_and_detects_nonsense(library: Library) -> None:
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


def test_scores_with_given_weights_are_not_calibrated(library: Library) -> None:
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
        ("ranking.calibration={close={words=1}}", "which is not in calibration.half"),
        ("ranking.calibration={relevant={score=-1}}", "cannot be negative"),
        ("ranking.calibration={threshold=2}", "from 0 to 1"),
    ],
)
def test_invalid_settings_are_refused(sampler_library: Library, setting: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        Library(sampler_library.folder, [setting])


@pytest.mark.thorough
def test_most_sampler_queries_are_answered_in_the_language_of_the_user(tmp_path: Path) -> None:
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
    assert asked == 67
    # Four of the others have their only answer (grade 3) in another language, ranked first.
    assert first >= 59


def in_two_languages(*more: Post) -> list[Post]:
    """A post that a Czech query finds, and its Czech version, which has none of the words."""
    return [
        Post("sum.en", "A geometric series.", language="en", thread_id="sum"),
        Post("sum.cs", "Sčítáme bez konce.", language="cs", thread_id="sum"),
        Post("other.cs", "Kružnice a úsečka.", language="cs", thread_id="other"),
        *more,
    ]


def test_a_version_that_no_part_retrieves_is_looked_up_in_the_thread(tmp_path: Path) -> None:
    library = small(tmp_path, in_two_languages(), ("ranking.own_language=normal",))
    query = Query("q", "geometrická řada", language="cs")
    assert [hit.id for hit in library.search(query, 5, own_language="off")] == ["sum.en"]
    first, second = library.search(query, 5)
    assert (first.id, second.id) == ("sum.cs", "sum.en")
    assert first.score == second.score
    [reason] = first.reasons
    assert reason.part == "language"
    assert reason.score == first.score
    assert reason.detail == "in the language of the query (cs): a version of what was found"


def test_versions_are_not_looked_up_if_a_filter_is_set(tmp_path: Path) -> None:
    library = small(tmp_path, in_two_languages(), ("ranking.own_language=normal",))
    query = Query("q", "geometrická řada", language="cs")
    found = library.search(query, 5, where=Filter(not_tags=("homework",)))
    assert [hit.id for hit in found] == ["sum.en"]


def test_posts_of_a_discussion_are_not_versions(tmp_path: Path) -> None:
    another = Post("again.cs", "Jiná odpověď.", language="cs", thread_id="sum")
    library = small(tmp_path, in_two_languages(another), ("ranking.own_language=normal",))
    query = Query("q", "geometrická řada", language="cs")
    assert [hit.id for hit in library.search(query, 5)] == ["sum.en"]


@pytest.mark.parametrize("how", [{"parent_id": "sum.en"}, {"kind": "answer"}])
def test_an_answer_in_another_language_is_not_a_version_of_its_question(
    tmp_path: Path, how: dict[str, str]
) -> None:
    question, answer, _ = in_two_languages()
    library = small(
        tmp_path,
        [question, replace(answer, **how), Post("3", "Řada.", language="cs")],  # type: ignore[arg-type]
        ("ranking.own_language=normal",),
    )
    query = Query("q", "geometrická řada bez konce", language="cs")
    found = library.answer(query, 5, group=True).hits
    assert {hit.id: hit.versions for hit in found} == {"sum.cs": (), "sum.en": (), "3": ()}
    # It is not looked up either if only the question is found.
    [alone] = library.search(Query("q", "geometrická", language="cs"), 5)
    assert alone.id == "sum.en"


def test_an_answer_that_repeats_its_question_is_not_a_version_of_it(tmp_path: Path) -> None:
    text = "The sum of the first natural numbers and of their squares:"
    suma = "La suma de los primeros números naturales y de sus cuadrados:"
    formulas = r"$\sum_{k=1}^n k=\frac{n(n+1)}{2}$ and $\sum_{k=1}^n k^2=\frac{n(n+1)(2n+1)}{6}$"
    posts = [
        Post("en", f"{text} {formulas}.", language="en"),
        Post("es", f"{suma} {formulas}.", language="es", parent_id="en"),
    ]
    build_library(tmp_path / "library", posts, "default", processes=1)
    with Library(tmp_path / "library") as library:
        answer = library.answer("sum of the first natural numbers", 4, group=True)
    assert [hit.versions for hit in answer.hits] == [(), ()]


def test_rows_of_a_table_in_different_languages_are_not_versions(tmp_path: Path) -> None:
    path = tmp_path / "sheet.csv"
    path.write_text("text\nThe sum of a series.\nLa suma de los ángulos de un triángulo.\n")
    library = small(tmp_path, list(columns.read_posts(path, BadRows())), ())
    answer = library.answer("sum suma", 5, group=True)
    assert {hit.id: hit.versions for hit in answer.hits} == {"sheet.csv#2": (), "sheet.csv#3": ()}


@pytest.mark.thorough
def test_sections_of_a_document_are_not_ranked_as_versions(tmp_path: Path) -> None:
    # A section whose neighbours do not match the query ranks like a separate page.
    sections = {
        "Powers": "The function $f(x)=x^2$ is convex.",
        "Limits": "A limit is a value that is approached.",
        "Continuity": "A function without jumps.",
    }
    posts = [
        Post(title, text, f"Calculus › {title}", language="en", thread_id="calculus")
        for title, text in sections.items()
    ]
    posts.append(Post("hi", "फलन $g(x)=x^2+1$ उत्तल है।", "घात", language="hi", thread_id="hi"))
    build_library(tmp_path / "library", posts, load_recipe("default"), processes=1)
    library = Library(tmp_path / "library")
    query = Query("q", "convex function $x^2$", language="en")
    for preference in ("off", "weak", "normal", "strong"):
        hits = library.search(query, 5, own_language=preference)
        assert [hit.id for hit in hits][:2] == ["Powers", "hi"], preference
        assert "language" not in {reason.part for reason in hits[0].reasons}


@pytest.mark.thorough
def test_a_merge_keeps_threads_and_a_removal_updates_them(tmp_path: Path) -> None:
    posts = in_two_languages()
    library = small(tmp_path, posts[:1], ("ranking.own_language=normal",))
    add_posts(library.folder, posts[1:], processes=1)
    optimize_library(library.folder)
    assert library.refresh()
    query = Query("q", "geometrická řada", language="cs")
    assert [hit.id for hit in library.search(query, 5)] == ["sum.cs", "sum.en"]
    remove_posts(library.folder, ["sum.cs"])
    assert library.refresh()
    assert [hit.id for hit in library.search(query, 5)] == ["sum.en"]


def test_a_store_without_a_table_of_threads_is_read(tmp_path: Path) -> None:
    folder = tmp_path / "old"
    folder.mkdir()
    facts = read_post(in_two_languages()[0])
    write_store(folder / STORE, [to_row(facts, "")])
    assert list(Store(folder / STORE).threads(["sum"])) == [("sum", 0, "en")]
    with closing(sqlite3.connect(folder / STORE)) as connection:
        connection.execute("DROP TABLE threads")
        connection.commit()
    store = Store(folder / STORE)
    assert list(store.threads(["sum"])) == []
    assert store.lazy_posts([0])[0].post.id == "sum.en"


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Library:
    posts = [
        Post("1", "A prime number has two divisors.", language="en"),
        Post("2", "The sum of two even numbers is even.", language="en"),
        Post("3", "Matrix multiplication is not commutative.", language="en"),
        Post("4", "97 × 94 by heart: 3 and 6 are missing, 97 - 6 = 91, so 9118", language="en"),
    ]
    folder = tmp_path_factory.mktemp("tiny") / "library"
    build_library(folder, posts, "default", processes=1)
    return Library(folder)


@pytest.mark.parametrize(
    "query", ["matrix", "matrices", "even", "what is a matrix", "prvočíslo", "commutative matrix"]
)
def test_in_a_tiny_library_a_post_with_all_words_of_the_query_is_close(
    tiny: Library, query: str
) -> None:
    answer = tiny.answer(query, 1)
    assert answer.is_close
    hit = answer.hits[0]
    assert sum(reason.score for reason in hit.reasons) == pytest.approx(hit.score)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "query", ["tensor", "qwerty matrix", "the", "다하모소노버", "고나카모8카7바"]
)
def test_in_a_tiny_library_nothing_is_close_if_no_post_has_all_words(
    tiny: Library, query: str
) -> None:
    assert not tiny.answer(query, 1).is_close


@pytest.mark.thorough
def test_a_query_of_unknown_words_has_no_close_answer(
    tiny: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = tiny.recipe
    assert recipe.ranking.calibration
    bold = replace(recipe.ranking.calibration, threshold=0.005)
    bolder = tiny.with_recipe(replace(recipe, ranking=replace(recipe.ranking, calibration=bold)))
    query = "자조거오4하로7 4차63아커고 5나1도3"
    assert bolder.answer("dělitelé a násobky", 1, language="cs").is_close
    assert not bolder.answer(query, 1).is_close
    monkeypatch.setattr(ranker, "_MIN_KNOWN", 0.0)
    assert bolder.answer(query, 1).is_close


@pytest.mark.thorough
def test_a_query_of_one_letter_finds_formulas_that_contain_it(tmp_path: Path) -> None:
    posts = [
        Post("1", r"Its area is $\pi r^2$.", "Circle", language="en"),
        Post("2", r"The roots of $\det(A-\lambda I)$.", "Roots", language="en"),
    ]
    build_library(tmp_path / "lib", posts, LIGHT)
    library = Library(tmp_path / "lib")
    assert [hit.id for hit in library.search(r"$\pi$")] == ["1"]
    assert [hit.id for hit in library.search(r"$\lambda$")] == ["2"]
    assert not library.search(r"$\theta$")


def test_a_weak_similarity_does_not_outweigh_the_word_itself(tmp_path: Path) -> None:
    posts = [
        Post("1", "Notes from the lecture.", "Probability", language="en"),
        Post(
            "2",
            "The sum of $n$ Bernoulli variables has mean $np$ and its variance $np(1-p)$; it "
            "counts successes.",
            "Probability › Binomial distribution",
            language="en",
        ),
        Post("3", r"$P(A|B)=\frac{P(B|A)P(A)}{P(B)}$", "Probability › Bayes", language="en"),
    ]
    build_library(tmp_path / "lib", posts, load_recipe("default"), processes=1)
    assert Library(tmp_path / "lib").search("variance")[0].id == "2"


@pytest.mark.thorough
def test_a_long_post_with_all_words_is_close_and_ranks_above_short_posts_with_one(
    tmp_path: Path,
) -> None:
    own = [post for post in sampler.posts() if post.language in ("en", "es")]
    english = [post.body for post in own if post.language == "en"]
    told = "Finally, the Cantor–Bernstein theorem says that two injections give a bijection."
    body = " ".join([*english[:6], told, *english[6:12]])
    build_library(
        tmp_path / "lib", [*own, Post("long", body, language="en")], "default", processes=1
    )
    with Library(tmp_path / "lib") as library:
        answer = library.answer("Cantor Bernstein theorem", k=3)
        assert answer.is_close
        first = answer.hits[0]
        assert first.id == "long"
        assert "all words together: “Cantor–Bernstein theorem”" in [
            reason.detail for reason in first.reasons
        ]
        assert not library.answer("Cantor Bernstein lemma", k=3).is_close


def test_an_inflected_heading_ranks_above_a_post_with_one_of_the_words(tmp_path: Path) -> None:
    posts = [
        Post(
            "other", "Eine Ungleichung, noch eine Ungleichung.", title="Ungleichung", language="de"
        ),
        Post("own", "Sie gelten.", title="Matrizen › Weylsche Ungleichungen", language="de"),
    ]
    library = small(tmp_path, posts, ("ranking.exact=0.2",))
    reasons = library.search("Weylsche Ungleichung", 2)[0]
    assert reasons.id == "own"
    shares = {reason.part: reason.score for reason in reasons.reasons}
    assert shares["exact"] == pytest.approx(0.2 * 2 * 0.9 * 2)


@pytest.mark.thorough
def test_a_post_that_contains_the_query_is_close(tmp_path: Path) -> None:
    formula = r"\left(\frac{\sqrt{\kappa}-1}{\sqrt{\kappa}+1}\right)^k"
    posts = [
        Post(
            "bound", f"Es gilt $|x-x_k|\\le 2{formula}|x-x_0|$.", "Fehlerabschätzung", language="de"
        ),
        Post("name", "Sie gilt auf Gebieten.", "Poincaré-Ungleichung", language="de"),
        *(Post(f"{n}", "Primes and their sums.", language="en") for n in range(20)),
    ]
    build_library(tmp_path / "library", posts, processes=1)
    # With this bias, nothing is close by the scores of the parts.
    library = Library(tmp_path / "library", ["ranking.calibration.close.bias=-90"])
    for query, found in (
        (r"steepness of it $(\frac{\sqrt{k}-1}{\sqrt{k}+1})^n$", "bound"),
        ("Poincaré", "name"),
    ):
        answer = library.answer(query, 1)
        assert answer.hits[0].id == found
        assert answer.is_close
    assert not library.answer(r"steepness of it $(\frac{\sqrt{k}-5}{k+1})^{n-m}$", 1).is_close


def test_a_part_without_weight_is_not_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = small(tmp_path, [Post("1", "The area is $\\pi r^2$.", language="en")])

    def fail(*_: object) -> None:
        raise AssertionError("asked")

    monkeypatch.setattr(FormulaReply, "scores", fail)
    answer = library.answer("area $\\pi r^2$", weights={"words": 1.0})
    assert [hit.id for hit in answer.hits] == ["1"]
