"""Translation of whole posts: no formula is lost, and no sentence is translated twice."""

import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathsetu.errors import MathSetuError
from mathsetu.languages.translate import Cache, Translator
from mathsetu.markup import split


class Echo:
    """Returns its input unchanged and records it."""

    name = "echo"
    chunk = 2

    def __init__(self) -> None:
        self.seen: list[str] = []

    def model_for(self, source: str, target: str) -> str:
        return "none"

    def translate(self, sentences: Sequence[str], source: str, target: str) -> list[str]:
        self.seen += sentences
        return [self.change(sentence) for sentence in sentences]

    def change(self, sentence: str) -> str:
        return sentence


class Hostile(Echo):
    """Changes masks as translators do, and adds delimiters."""

    noise = (
        "",
        "शब्द",
        "$",
        "costs $5",
        "\\",
        "`",
        "{",
        "}",
        "\\(",
        "\\begin{align}",
        "QZ9",
        "~~~",
        "\n\n",
    )

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.generator = random.Random(seed)

    def change(self, sentence: str) -> str:
        words = [self.word(word) for word in sentence.split(" ")]
        if self.generator.random() < 0.3:
            self.generator.shuffle(words)
        return self.generator.choice((" ", " ", "")).join(words)

    def word(self, word: str) -> str:
        change = self.generator.choice(
            (str, str, str.lower, lambda w: w.replace("QZ", "QZ "), lambda w: w + w, lambda w: "")
        )
        return self.generator.choice(self.noise) + change(word) + self.generator.choice(self.noise)


def formulas(text: str) -> list[str]:
    return [span.raw for span in split(text) if span.kind == "formula"]


FORMULAS = st.sampled_from(["$a$", "$b_1 = 2$", "$$\\frac{c}{d}$$", "\\(e\\)", "\\[f^2\\]", "$5$"])
WORDS = st.sampled_from(
    ["Let ", "be. ", "Is it? ", "सम है। ", "\n\n", "\n", "- ", ", ", "e.g. ", "`code` ", "7 "]
)
POSTS = st.lists(st.one_of(WORDS, FORMULAS.map(lambda f: f + " ")), max_size=25).map("".join)


@given(st.one_of(POSTS, st.text()))
def test_a_text_is_unchanged_if_the_backend_changes_nothing(text: str) -> None:
    [done] = Translator(Echo()).translate([text], "en", "hi")
    assert (done.text, done.lost) == (text, ())


@given(POSTS, st.integers(0, 100_000))
def test_a_hostile_backend_loses_no_formula(text: str, seed: int) -> None:
    [done] = Translator(Hostile(seed)).translate([text], "en", "hi")
    assert sorted(formulas(done.text)) == sorted(formulas(text))
    assert set(done.lost) <= set(formulas(text))


def test_a_lost_formula_is_reported_and_stays_with_its_sentence() -> None:
    class Forgetful(Echo):
        def change(self, sentence: str) -> str:
            return sentence.replace("QZ2", "it")

    text = "Let $a$ and $b$ be even. Then stop."
    [done] = Translator(Forgetful()).translate([text], "en", "hi")
    assert done.text == "Let $a$ and it be even. $b$ Then stop."
    assert done.lost == ("$b$",)


def test_a_translated_dollar_does_not_open_a_formula() -> None:
    class Dropping(Echo):
        def change(self, sentence: str) -> str:
            return sentence.replace("\\$", "$").replace("costs", "kostet")

    [done] = Translator(Dropping()).translate(["It costs \\$x+$y$."], "en", "de")
    assert formulas(done.text) == ["$y$"]
    assert "kostet \\$x" in done.text


def test_the_backend_gets_single_sentences_with_masks_numbered_from_1() -> None:
    echo = Echo()
    Translator(echo).translate(["Let $a$ be\neven. Let $b$ be odd."], "en", "hi")
    assert echo.seen == ["Let QZ1 be even.", "Let QZ1 be odd."]


def test_a_text_without_words_is_not_translated() -> None:
    echo = Echo()
    text = "$$x^2 = 1$$\n\n$a$, $b$.\n\n1234 --"
    assert Translator(echo).translate([text], "en", "hi")[0].text == text
    assert echo.seen == []


def test_each_distinct_sentence_is_translated_once() -> None:
    echo = Echo()
    Translator(echo).translate(["Why? Why? Show it.", "Why?"], "en", "hi")
    assert echo.seen == ["Why?", "Show it."]


def test_characters_that_no_backend_can_read_are_kept(tmp_path: Path) -> None:
    translator = Translator(Echo(), Cache(tmp_path / "cache"))
    text = "half \ud800 a NUL \0 and $x$"
    assert translator.translate([text], "en", "hi")[0].text == text


def test_a_text_in_the_target_language_is_not_translated() -> None:
    echo = Echo()
    [done] = Translator(echo).translate(["Let it be."], "en", "eng_Latn")
    assert (done.text, done.backend, echo.seen) == ("Let it be.", "", [])


def test_two_languages_outside_the_table_are_not_the_same_language() -> None:
    echo = Echo()
    [done] = Translator(echo).translate(["Let it be."], "fra_Latn", "deu_Latn")
    assert (done.backend, echo.seen) == ("echo", ["Let it be."])


def test_a_translation_has_its_backend_model_and_time() -> None:
    first, second = Translator(Echo()).translate(["Let it be.", "$x$"], "en", "hi")
    assert (first.backend, first.model) == ("echo", "none")
    assert first.seconds > 0
    assert second.seconds == 0


def test_a_cached_sentence_is_not_translated_again(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache")
    Translator(Echo(), cache).translate(["Let $a$ be even."], "en", "hi")
    echo = Echo()
    [done] = Translator(echo, cache).translate(["Let $b$ be even."], "en", "hi")
    assert (done.text, done.seconds, echo.seen) == ("Let $b$ be even.", 0, [])
    Translator(echo, cache).translate(["Let $b$ be even."], "en", "es")
    assert echo.seen == ["Let QZ1 be even."]


def test_an_interrupted_translation_resumes_where_it_stopped(tmp_path: Path) -> None:
    class Interrupted(Echo):
        def translate(self, sentences: Sequence[str], source: str, target: str) -> list[str]:
            if self.seen:
                raise KeyboardInterrupt
            return super().translate(sentences, source, target)

    cache = Cache(tmp_path / "cache")
    texts = ["One.", "Two.", "Three.", "Four."]
    with pytest.raises(KeyboardInterrupt):
        Translator(Interrupted(), cache).translate(texts, "en", "hi")
    echo = Echo()
    Translator(echo, cache).translate(texts, "en", "hi")
    assert echo.seen == ["Three.", "Four."]


def test_progress_is_reported_after_each_chunk() -> None:
    told: list[tuple[int, int]] = []
    texts = ["One.", "Two.", "Three."]
    Translator(Echo()).translate(texts, "en", "hi", progress=lambda *step: told.append(step))
    assert told == [(2, 3), (3, 3)]


def test_a_wrong_number_of_translations_is_an_error() -> None:
    class Short(Echo):
        def translate(self, sentences: Sequence[str], source: str, target: str) -> list[str]:
            return []

    with pytest.raises(MathSetuError, match="echo gave 0 translations for 1 sentence"):
        Translator(Short()).translate(["One."], "en", "hi")


@pytest.mark.shared
@pytest.mark.thorough
def test_a_hostile_backend_loses_no_formula_of_a_topic(shared_data: Path) -> None:
    lines = [
        line
        for file in sorted((shared_data / "crossmath" / "topics").glob("*.tsv"))
        for line in file.read_text(encoding="utf-8").splitlines()
    ]
    texts = lines[::7]
    assert len(texts) > 150
    for text, done in zip(texts, Translator(Hostile(7)).translate(texts, "xx", "en"), strict=True):
        assert sorted(formulas(done.text)) == sorted(formulas(text))
