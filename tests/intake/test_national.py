"""National notation in formulas: names of functions, decimal commas, digits."""

import pytest

from mathsetu.formulas.latex.symbols import NATIONAL
from mathsetu.formulas.notation import write_tree
from mathsetu.formulas.parse import parse_once
from mathsetu.intake.question import typed_question


def operators(latex: str) -> str:
    """The operator tree of a formula, in one line."""
    return write_tree(parse_once(latex).opt)


@pytest.mark.parametrize(("name", "known"), NATIONAL.items())
def test_a_national_name_of_a_function_is_read_as_the_usual_one(name: str, known: str) -> None:
    argument = "(a)" if known == "nabla" else "(a,b)"
    command = r"\nabla" if known == "nabla" else rf"\operatorname{{{known}}}"
    meant = operators(command + argument)
    [typed] = typed_question(f"{name}{argument}").formulas
    assert operators(typed) == meant
    assert operators(rf"\operatorname{{{name}}}{argument}") == meant
    assert not name.isascii() or operators(rf"\mathrm{{{name}}}{argument}") == meant
    is_word = name == "rot"  # it is also a word of prose
    assert (operators(rf"\text{{{name}}}{argument}") == meant) is not is_word


@pytest.mark.parametrize(
    ("typed", "latex"),
    [
        ("tg x + ctg x", r"\tan x+\cot x"),
        ("sen 30", r"\sin 30"),
        ("arctg 1", r"\arctan 1"),
        ("ch^2 x - sh^2 x = 1", r"\cosh^2 x-\sinh^2 x=1"),
        ("cth x = 2", r"\coth x=2"),
        ("Arctan(x)", r"\arctan(x)"),
        ("НОД(12, 18) = 6", r"\gcd(12,18)=6"),
        ("ggT(12,18) = 6", r"\gcd(12,18)=6"),
        ("PGCD(12,18) = 6", r"\gcd(12,18)=6"),
        ("ΜΚΔ(12,18) = 6", r"\gcd(12,18)=6"),
        ("ημ x + συν x = 1", r"\sin x+\cos x=1"),
        ("εφ 45", r"\tan 45"),
        ("mcm(4,6) = 12", r"\operatorname{lcm}(4,6)=12"),
        ("kgV(4,6) = 12", r"\operatorname{lcm}(4,6)=12"),
        ("НОК(4,6) = 12", r"\operatorname{lcm}(4,6)=12"),
        ("Rang(A) = 2", r"\operatorname{rank}(A)=2"),
        ("límsup a_n", r"\limsup a_n"),
        ("٣ + ٤ = ٧", "3+4=7"),
        ("३ + ४ = ७", "3+4=7"),
        ("৩ + ৪ = ৭", "3+4=7"),
        ("x = ٣٫١٤", "x=3.14"),
    ],
)
def test_a_typed_formula_is_converted_to_english_notation(typed: str, latex: str) -> None:
    assert typed_question(typed).formulas == (latex,)


@pytest.mark.parametrize(
    "text", ["НОД чисел", "der ggT zweier Zahlen", "le PGCD de deux nombres", "rang matrice"]
)
def test_a_national_name_in_prose_is_a_word(text: str) -> None:
    assert typed_question(text).formulas == ()


@pytest.mark.parametrize(
    ("text", "formulas"),
    [
        ("Ποιο είναι το άθροισμα των γωνιών σε ένα τρίγωνο;", ()),
        ("η τιμή της συνάρτησης ή ο λόγος με τα δύο", ()),
        ("Να βρεθεί ο ΜΚΔ των αριθμών", ()),
        ("Αν η γωνία α = 30 και η = 2", (r"\alpha =30", r"\eta =2")),
        ("ο εμβαδόν είναι 2π r", (r"2\pi r",)),
        ("αβ + γδ", (r"\alpha \beta +\gamma \delta",)),
    ],
)
def test_short_greek_words_are_not_formulas(text: str, formulas: tuple[str, ...]) -> None:
    assert typed_question(text).formulas == formulas


@pytest.mark.parametrize("latex", [r"\mathrm{tg}x", r"\operatorname{tg}x", r"\tg x"])
def test_a_name_in_upright_letters_is_a_function(latex: str) -> None:
    assert operators(latex) == operators(r"\tg x")
    assert "tan" in operators(latex)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("text", "language", "formula"),
    [
        ("Löse die Gleichung x = 3,14", "", "x=3.14"),
        ("Résoudre l'équation 0,5x = 2", "", "0.5x=2"),
        ("x = 1.234,5", "de", "x=1234.5"),
        ("x = 1.234,5", "pt-BR", "x=1234.5"),
        ("x = 3,14", "en", "x=3,14"),
        ("solve the equation x = 1,2", "", "x=1,2"),
        ("x = 1,2,3", "de", "x=1,2"),
        ("f(1,5) = 2", "de", "f(1,5)=2"),
    ],
)
def test_a_comma_is_a_decimal_comma_if_the_language_uses_it(
    text: str, language: str, formula: str
) -> None:
    assert typed_question(text, language).formulas == (formula,)


def test_the_language_of_the_page_decides_on_decimal_commas_without_words() -> None:
    assert typed_question("x = 3,14", page="cs").formulas == ("x=3.14",)
    assert typed_question("x = 3,14", page="hi").formulas == ("x=3,14",)


@pytest.mark.parametrize(
    ("written", "number"),
    [("3{,}14", "3.14"), ("٣٫١٤", "3.14"), ("1{,}000", "1000"), ("1{,}000{,}5", "1000.5")],
)
def test_a_number_with_national_separators_in_latex_is_the_same_number(
    written: str, number: str
) -> None:
    assert operators(written) == operators(number)


@pytest.mark.thorough
def test_a_long_row_of_numbers_and_commas_is_read() -> None:
    assert typed_question("x = " + "1,2" * 20_000, "de").formulas
