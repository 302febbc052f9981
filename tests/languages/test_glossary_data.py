"""Checks of the glossary's tables."""

import csv
import re
import unicodedata
from collections import defaultdict
from importlib import resources
from pathlib import Path

import pytest

from mathsetu.languages.glossary import Glossary
from mathsetu.languages.glossary.tokens import tokenize
from mathsetu.languages.table import LANGUAGES

CONCEPTS = list(Glossary.load())
FORMS = [
    (concept.id, language, form)
    for concept in CONCEPTS
    for language, forms in concept.forms.items()
    for form in forms
]
AREAS = """arithmetic algebra geometry trigonometry calculus analysis linear-algebra
    abstract-algebra number-theory probability statistics sets-logic combinatorics topology
    differential-equations numerical-methods discourse""".split()
SCRIPTS = {
    "Latn": re.compile(r"[A-Za-zÀ-ɏ0-9 '.^-]+"),
    "Deva": re.compile(r"[\u0900-\u097f\u200c\u200d '.-]+"),
    "Arab": re.compile(r"[\u0621-\u064a\u064b-\u0655\u067e-\u06cc\u06d5\u200c .-]+"),
}


def test_there_are_at_least_a_thousand_mathematical_concepts() -> None:
    everyday = {"discourse", "names", "applications"}
    assert sum(concept.area not in everyday for concept in CONCEPTS) >= 1000


def test_no_two_concepts_share_an_id() -> None:
    folder = resources.files("mathsetu.languages.glossary") / "terms"
    rows = sum(len(file.read_text("utf-8").splitlines()) - 1 for file in folder.iterdir())
    assert rows == len(CONCEPTS)


@pytest.mark.parametrize("area", AREAS)
def test_every_area_of_mathematics_has_a_table(area: str) -> None:
    assert sum(concept.area == area for concept in CONCEPTS) >= 30


def test_every_concept_has_a_term_in_every_language_of_the_table() -> None:
    missing = [
        (concept.id, language)
        for concept in CONCEPTS
        for language in LANGUAGES
        if not concept.term(language)
    ]
    assert missing == []


def test_forms_are_clean_and_in_composed_unicode() -> None:
    unclean = [
        row
        for row in FORMS
        if row[2] != " ".join(unicodedata.normalize("NFC", row[2]).split()) or "|" in row[2]
    ]
    assert unclean == []


def test_forms_are_in_the_script_of_their_language() -> None:
    wrong = [row for row in FORMS if not SCRIPTS[LANGUAGES[row[1]].script].fullmatch(row[2])]
    assert wrong == []


def test_persian_uses_persian_letters() -> None:
    assert [row for row in FORMS if row[1] == "fa" and re.search("[يكىة]", row[2])] == []


@pytest.mark.thorough
def test_every_form_has_tokens() -> None:
    assert [row for row in FORMS if not tokenize(row[2], row[1])] == []


def test_no_cell_repeats_a_form() -> None:
    repeated = [
        (concept.id, language)
        for concept in CONCEPTS
        for language, forms in concept.forms.items()
        if len({form.casefold() for form in forms}) < len(forms)
    ]
    assert repeated == []


def test_the_forms_of_several_concepts_are_exactly_the_reviewed_ones() -> None:
    concepts = defaultdict(set)
    for concept, language, form in FORMS:
        concepts[language, form.casefold()].add(concept)
    ambiguous = {key: ids for key, ids in concepts.items() if len(ids) > 1}
    with Path(__file__).with_name("test_glossary_ambiguous.tsv").open(encoding="utf-8") as file:
        reviewed = {
            (row["language"], row["form"]): set(row["concepts"].split(", "))
            for row in csv.DictReader(file, delimiter="\t")
        }
    assert ambiguous == reviewed


@pytest.mark.parametrize(
    "forms",
    [
        ("torus", "Möbius strip", "Klein bottle"),
        ("convex", "convex polygon", "convex hull", "convex set", "convex function"),
        ("figure", "table of values"),
        ("ball", "marble"),
        ("dense set", "nowhere dense set"),
        ("zero", "nonzero"),
        ("well-defined", "undefined"),
        ("positive number", "positive integer"),
        ("null hypothesis", "alternative hypothesis"),
        ("buy", "sell"),
    ],
)
def test_related_terms_are_separate_concepts(
    forms: tuple[str, ...],
) -> None:
    concepts = {form: concept for concept, language, form in FORMS if language == "en"}
    assert len({concepts[form] for form in forms}) == len(forms)
