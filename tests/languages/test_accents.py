"""Missing accents of typed words are restored."""

import pytest

from mathsetu.intake.question import Question, typed_question
from mathsetu.languages.accents import with_accents
from mathsetu.records import Query


@pytest.mark.parametrize(
    ("code", "typed", "spelt"),
    [
        ("es", "Ecuacion de segundo grado", "Ecuación de segundo grado"),
        ("hr", "najveci zajednicki djelitelj", "najveći zajednički djelitelj"),
        ("cs", "iracionalni cislo", "iracionální číslo"),
        ("fr", "derivee", "dérivée"),
        ("es", "la ecuación y su raiz", "la ecuación y su raiz"),  # with some accents: unchanged
        ("es", "gradoecuacion x1 RAIZ", "gradoecuacion x1 RAÍZ"),
        ("en", "ecuacion", "ecuacion"),
        ("hi", "ecuacion", "ecuacion"),
    ],
)
def test_missing_accents_are_restored(code: str, typed: str, spelt: str) -> None:
    assert with_accents(typed, code) == spelt


def test_the_text_for_the_encoder_has_accents_and_the_words_stay_as_typed() -> None:
    typed = typed_question("raices de una ecuacion x^2=2 (roots)")
    assert typed.language == "es"
    assert typed.readable == "raíces de una ecuación $x^2=2$ (roots)"
    assert "raíces de una ecuación $x^2=2$" in typed.readable_without_glosses
    assert typed.words.startswith("raices de una ecuacion")
    written = Question(Query("1", "la función y su ecuacion", language="es"))
    assert written.readable == "la función y su ecuacion"
