"""Words with the stem of a mathematical term and another meaning."""

import pytest

from mathsetu.languages.analyze import analyze
from mathsetu.languages.glossary import Glossary
from mathsetu.languages.stem_collisions import STEM_COLLISIONS


@pytest.mark.parametrize("language", STEM_COLLISIONS)
def test_each_has_the_stem_of_a_term_and_is_none(language: str) -> None:
    forms = {form for concept in Glossary.load() for form in concept.forms[language]}
    stems = {term for form in forms for term in analyze(form, language)}
    for word in STEM_COLLISIONS[language]:
        assert word not in forms
        assert set(analyze(word, language)) <= stems, word


def test_it_is_no_term_by_itself_but_may_be_part_of_one() -> None:
    glossary = Glossary.load()
    assert glossary.match("vertical", "en") == []
    [match] = glossary.match("a vertical asymptote", "en")
    assert match.concepts[0].term("en") == "asymptote"


def test_it_is_translated_but_not_as_the_term() -> None:
    glossary = Glossary.load()
    assert glossary.expand("equator", "en", "cs") == [("equator", 1.0)]
    assert glossary.expand("vertical", "en", "cs")[0][0] == "svisl"
    assert "vrchol" not in dict(glossary.expand("vertical", "en", "cs"))
