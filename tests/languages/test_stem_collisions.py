"""Words that share their stem with a mathematical term but have another meaning."""

import pytest

from mathsetu.languages.analyze import analyze
from mathsetu.languages.glossary import Glossary
from mathsetu.languages.stem_collisions import STEM_COLLISIONS


@pytest.mark.parametrize("language", STEM_COLLISIONS)
def test_every_listed_word_has_the_stem_of_a_word_of_a_term(language: str) -> None:
    forms = {form for one in Glossary.load() for form in one.forms.get(language, ())}
    words = {word.lower() for form in forms for word in form.split()}
    others = words - STEM_COLLISIONS[language]
    stems = {term for word in others for term in analyze(word, language)}
    for word in STEM_COLLISIONS[language]:
        assert set(analyze(word, language)) <= stems, word


def test_a_listed_word_matches_only_as_part_of_a_term() -> None:
    glossary = Glossary.load()
    assert glossary.match("vertical", "en") == []
    [match] = glossary.match("a vertical asymptote", "en")
    assert match.concepts[0].term("en") == "asymptote"


def test_a_listed_word_is_not_translated_as_the_term_with_its_stem() -> None:
    glossary = Glossary.load()
    assert glossary.expand("equator", "en", "cs") == [("equator", 1.0)]
    assert glossary.expand("vertical", "en", "cs")[0][0] == "svisl"
    assert "vrchol" not in dict(glossary.expand("vertical", "en", "cs"))


def test_a_listed_word_does_not_match_a_word_of_a_longer_term() -> None:
    glossary = Glossary.load()
    found = [match.concepts[0].term("en") for match in glossary.match("kleine Quadrate", "de")]
    assert found == ["small", "square"]
    [match] = glossary.match("die kleinsten Quadrate", "de")
    assert match.concepts[0].term("en") == "least squares"
    [match] = glossary.match("das Gesetz der großen Zahlen", "de")
    assert match.concepts[0].term("en") == "law of large numbers"
