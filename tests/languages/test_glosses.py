"""English glosses in brackets that repeat the term before them."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathsetu.intake.posts import read_post
from mathsetu.intake.question import Question
from mathsetu.languages.glossary.glosses import without_glosses
from mathsetu.records import Post, Query
from mathsetu.retrieval.lexical import LexicalBuilder, LexicalRetriever
from mathsetu.retrieval.lexical_terms import LexicalSettings


@pytest.mark.parametrize(
    ("language", "text", "wanted"),
    [
        ("hi", "दो समीकरणों का हल सारणिक (determinant) से", "दो समीकरणों का हल सारणिक से"),
        ("ne", "अभाज्य सङ्ख्या(prime number) के हो", "अभाज्य सङ्ख्या के हो"),
        ("fa", "دترمینان (determinant) چیست", "دترمینان چیست"),
        ("hr", "determinanta (determinant) matrice (matrix)", "determinanta matrice"),
        ("hi", "सारणिक (matrix) का मान", "सारणिक (matrix) का मान"),
        ("hi", "सारणिक (of a square matrix)", "सारणिक (of a square matrix)"),
        ("hi", "मान (determinant) सारणिक", "मान (determinant) सारणिक"),
        ("hi", "सारणिक (determinant", "सारणिक (determinant"),
        ("en", "determinant (determinant)", "determinant (determinant)"),
        ("", "सारणिक (determinant)", "सारणिक (determinant)"),
    ],
)
def test_only_a_translation_of_the_term_before_it_is_removed(
    language: str, text: str, wanted: str
) -> None:
    assert without_glosses(text, language) == wanted


@given(st.text("सारणिक ()determinant", max_size=60), st.sampled_from(["hi", "cs", "en", ""]))
def test_a_text_without_brackets_is_not_changed_and_nothing_is_ever_added(
    text: str, language: str
) -> None:
    rest = without_glosses(text, language)
    assert len(rest) <= len(text)
    assert set(rest) <= set(text)
    if "(" not in text:
        assert rest == text


def test_a_question_offers_its_text_with_and_without_glosses() -> None:
    asked = Question(Query("1", "सारणिक (determinant) $D(x)$ (n)", language="hi"))
    assert asked.readable_without_glosses == "सारणिक $D(x)$ (n)"
    assert "determinant" not in asked.words_without_glosses
    assert asked.readable == asked.written
    assert "determinant" in asked.words


@pytest.mark.parametrize("translate", [True, False])
def test_an_english_gloss_is_searched_with_and_without_translation(
    tmp_path: Path, translate: bool
) -> None:
    settings = LexicalSettings(translate=translate)
    builder = LexicalBuilder(settings)
    for body in ("determinant", "eigenvalue"):
        builder.add(builder.prepare(read_post(Post("1", body, language="en"))))
    builder.write(tmp_path / "words")
    [reply] = LexicalRetriever([tmp_path / "words"], settings).ask(
        [Question(Query("1", "अभिलक्षणिक मान, सारणिक (determinant)", language="hi"))]
    )
    assert reply.wanted["determin"] == 1.0
    assert ("eigenvalu" in reply.wanted) is translate
