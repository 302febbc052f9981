"""A text is analysed once, and all parts use the result."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import mathsetu.formulas.parse
import mathsetu.intake.marked_text
import mathsetu.intake.typed
import mathsetu.languages.detect
from mathsetu.intake.posts import read_post
from mathsetu.library import Filter, Library, add_posts, build_library
from mathsetu.recipes.schema import parse_recipe
from mathsetu.records import Post
from tests.light import LIGHT

HINDI = "किसी त्रिभुज के तीनों कोणों का योग दो समकोण के बराबर क्यों होता है?"
POSTS = [
    Post(id="ask", kind="question", title="Angles", body="Why is the sum of all angles $\\pi$?"),
    Post(id="tell", kind="answer", parent_id="ask", body="$\\alpha+\\beta+\\gamma=\\pi$"),
    Post(id="hindi", body=HINDI + " $\\alpha+\\beta$"),
    Post(id="bare", body="$\\pi$"),
]


SYMBOLS = parse_recipe(
    """
    name = "symbols"
    description = "Both mathematical parts of the MIRaCLE paper, and structure"
    [parts.tokens]
    kind = "overlap"
    of = "tokens"
    [parts.nodes]
    kind = "overlap"
    of = "nodes"
    [parts.formulas]
    kind = "formula"
    [ranking]
    weights = { tokens = 0.3, nodes = 0.3, formulas = 0.4 }
    """,
    "tests",
)


class Calls:
    """Counts the calls of functions by their first argument."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch

    def of(self, module: Any, name: str) -> Counter[str]:
        counts: Counter[str] = Counter()
        real: Callable[..., Any] = getattr(module, name)

        def counted(text: str, *rest: Any, **named: Any) -> Any:
            counts[text] += 1
            return real(text, *rest, **named)

        self._monkeypatch.setattr(module, name, counted)
        return counts


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Calls:
    mathsetu.formulas.parse.parse_once.cache_clear()
    return Calls(monkeypatch)


@pytest.mark.parametrize("recipe", [LIGHT, SYMBOLS, "msm-bm25"], ids=["light", "symbols", "msm"])
def test_a_build_reads_each_text_and_each_formula_once(
    calls: Calls, tmp_path: Path, recipe: Any
) -> None:
    steps = mathsetu.formulas.parse._STEPS
    steps.load()
    split = calls.of(mathsetu.intake.marked_text, "spans_of")
    parsed = calls.of(steps, "read_layout")
    detected = calls.of(mathsetu.languages.detect, "detect_in_words")
    build_library(tmp_path / "library", POSTS, recipe, processes=1)
    texts = [text for post in POSTS for text in (post.title, post.body) if text]
    assert {text: split[text] for text in texts} == dict.fromkeys(texts, 1)
    assert set(parsed.values()) <= {1}
    assert sum(detected.values()) == len(POSTS)


def test_a_search_reads_its_query_once(calls: Calls, tmp_path: Path) -> None:
    build_library(tmp_path / "library", POSTS, LIGHT, processes=1)
    mathsetu.formulas.parse.parse_once.cache_clear()
    query = "sum of angles $\\alpha+\\beta$"
    with Library(tmp_path / "library") as library:
        split = calls.of(mathsetu.intake.typed, "split")
        parsed = calls.of(mathsetu.formulas.parse._STEPS, "read_layout")
        detected = calls.of(mathsetu.languages.detect, "detect_in_words")
        assert library.search(query)
    assert split[query] == 1
    assert parsed
    assert set(parsed.values()) == {1}
    assert list(detected.values()) == [1]


def test_all_parts_use_the_same_language_of_a_post(tmp_path: Path) -> None:
    build_library(tmp_path / "library", POSTS, LIGHT, processes=1)
    with Library(tmp_path / "library") as library:
        languages = {post.id: library.post(post.id).language for post in POSTS}
        # An answer that is only a formula has the language of its question.
        assert languages == {"ask": "en", "tell": "en", "hindi": "hi", "bare": ""}
        assert library.manifest.languages == {"": 1, "en": 2, "hi": 1}
        words = library._backend.now().parts(None)[0]["words"]
        assert words.languages == ["en", "hi"]  # type: ignore[attr-defined]
        english = library.search("$\\pi$ angles", where=Filter(language="en"))
        assert {hit.id for hit in english} == {"ask", "tell"}
        assert [hit.id for hit in library.search("त्रिभुज", where=Filter(language="hi"))] == ["hindi"]


@pytest.mark.thorough
def test_an_answer_added_later_has_the_language_of_its_question(tmp_path: Path) -> None:
    build_library(tmp_path / "library", POSTS[:1], LIGHT, processes=1)
    add_posts(tmp_path / "library", POSTS[1:2], processes=1)
    with Library(tmp_path / "library") as library:
        assert library.post("tell").language == "en"
        found = library.search("angles", where=Filter(language="en"))
    assert {hit.id for hit in found} == {"ask", "tell"}


@pytest.mark.thorough
def test_several_processes_build_the_same_library(tmp_path: Path) -> None:
    posts = [
        Post(id=f"{post.id}-{number}", body=f"{post.body} $x_{number % 7}$", title=post.title)
        for number in range(60)
        for post in POSTS
    ]
    for processes in (1, 3):
        build_library(tmp_path / str(processes), posts, LIGHT, processes=processes)
    one, three = (_content(tmp_path / name) for name in ("1", "3"))
    assert one == three


def _content(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.mark.parametrize(
    ("question", "body", "language"),
    [
        ("How many diagonals does an n-gon have?", "$\\frac{n(n-3)}{2}$", "en"),
        ("Warum konvergiert die geometrische Reihe?", "", "de"),
        # Names alone would be detected as another language.
        ("Wie löst man ein lineares Gleichungssystem?", "Gauss Jordan", "de"),
        ("What are the first odd primes?", "3, 5, 7, 11, 13, 17, 19, 23, 29", "en"),
        # A long answer, or one in another script, has its own language.
        ("Why is the sum of all angles equal to two right angles?", HINDI, "hi"),
        ("Does this follow by induction?", "是的，由归纳法可得", "zh"),
    ],
)
def test_a_short_answer_has_the_language_of_its_question(
    question: str, body: str, language: str
) -> None:
    assert read_post(Post("row", body, question=question)).language == language
    assert read_post(Post("row", body, question=question, language="cs")).language == "cs"


def test_a_post_whose_answer_is_only_a_formula_is_found_by_words_of_its_question(
    tmp_path: Path,
) -> None:
    asked = "How many diagonals does an n-gon have?"
    posts = [Post("row", "$\\frac{n(n-3)}{2}$", question=asked), Post("other", "Sums of squares.")]
    build_library(tmp_path / "library", posts, LIGHT, processes=1)
    with Library(tmp_path / "library") as library:
        assert library.manifest.languages == {"en": 2}
        hits = library.search("diagonal", where=Filter(language="en"))
    assert [hit.id for hit in hits] == ["row"]
