"""The glossary: matching, expansion, glosses and search."""

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathsetu.languages.glossary import Concept, Glossary
from mathsetu.languages.glossary.concepts import read_concepts
from mathsetu.languages.learned import LearnedWords
from tests.timing import assert_grows_at_most, assert_within

GLOSSARY = Glossary.load()
SMALL = Glossary(
    [
        Concept("limit", "calculus", {"en": ("limit", "limits"), "es": ("límite",)}),
        Concept(
            "limit-of-a-function",
            "calculus",
            {"en": ("limit of a function",), "es": ("límite de una función",)},
        ),
        Concept("function", "sets", {"en": ("function", "map"), "es": ("función", "aplicación")}),
        Concept("field", "algebra", {"en": ("field",), "cs": ("těleso",), "es": ("cuerpo",)}),
        Concept("solid", "geometry", {"en": ("solid", "body"), "cs": ("těleso",)}),
        Concept("such-that", "discourse", {"en": ("such that",), "es": ("tal que",)}),
        Concept("same-way", "discourse", {"en": ("in the same way",), "es": ("igualmente",)}),
    ]
)


def found(text: str, language: str, glossary: Glossary = SMALL) -> list[tuple[str, str]]:
    matches = glossary.match(text, language)
    return [(text[match.start : match.end], match.concepts[0].id) for match in matches]


@pytest.mark.thorough
def test_the_tables_are_read_in_a_tenth_of_a_second() -> None:
    assert_within(0.1, lambda: Glossary(read_concepts()))


def test_the_glossary_is_loaded_once() -> None:
    assert Glossary.load() is Glossary.load()


def test_the_longest_term_wins() -> None:
    assert found("Limit of a function", "en") == [("Limit of a function", "limit-of-a-function")]


def test_a_term_matches_with_other_stop_words_inside() -> None:
    assert found("the limits of the functions", "en") == [
        ("limits of the functions", "limit-of-a-function")
    ]


@pytest.mark.parametrize("between", [". ", "; ", "\n\n", "\r\n\r\n", "\n- ", " $x$ "])
def test_a_term_does_not_match_across_a_full_stop_a_paragraph_or_a_formula(between: str) -> None:
    names = [name for _, name in found(f"a limit{between}functions", "en")]
    assert names == ["limit", "function"]


@pytest.mark.parametrize("between", [" ", "-", " - ", "\n", "-\n", "  \r\n  "])
def test_a_term_matches_across_the_end_of_a_line_and_a_hyphen(between: str) -> None:
    [(_, name)] = found(f"a limit{between}function", "en")
    assert name == "limit-of-a-function"


def test_terms_made_of_stop_words_are_found() -> None:
    assert found("x tal que y", "es") == [("tal que", "such-that")]


def test_a_stop_word_does_not_match_a_term_with_the_same_stem() -> None:
    assert found("con conos", "es", GLOSSARY) == [("conos", "cone")]


def test_a_phrase_with_one_content_word_matches_only_with_its_stop_words() -> None:
    assert found("a way", "en") == []
    assert found("in the same way", "en") == [("in the same way", "same-way")]


def test_formulas_are_not_matched_and_positions_are_those_in_the_text() -> None:
    text = "Let $limit$ be; then the limit exists"
    assert [text[m.start : m.end] for m in SMALL.match(text, "en")] == ["limit"]
    assert SMALL.match(text, "en")[0].start == text.rindex("limit")


@pytest.mark.parametrize(
    ("language", "inflected", "concept"),
    [
        ("hi", "अभाज्य संख्याओं", "prime-number"),
        ("es", "números primos", "prime-number"),
        ("cs", "prvočísel", "prime-number"),
        ("cs", "diferenciálních rovnic", "differential-equation"),
        ("hr", "prostih brojeva", "prime-number"),
        ("fa", "اعداد اول", "prime-number"),
        ("ne", "अभाज्य सङ्ख्याहरू", "prime-number"),
        ("fa", "پاره خط", "line-segment"),
        ("fa", "پاره‌خط", "line-segment"),
    ],
)
def test_inflected_and_variant_forms_are_found(language: str, inflected: str, concept: str) -> None:
    assert found(inflected, language, GLOSSARY) == [(inflected, concept)]


@pytest.mark.thorough
@pytest.mark.parametrize("language", ["hi", "es", "cs", "hr", "fa", "ne", "en"])
def test_the_usual_term_of_every_concept_matches_that_concept(language: str) -> None:
    for concept in GLOSSARY:
        matches = GLOSSARY.match(concept.term(language), language)
        assert concept in [meaning for match in matches for meaning in match.concepts]


@pytest.mark.thorough
def test_matching_takes_linear_time() -> None:
    piece = "limit of the function "
    small, large = (partial(GLOSSARY.match, piece * count, "en") for count in (400, 4000))
    assert_grows_at_most(20, small, large)


@pytest.fixture
def nothing_learned(monkeypatch: pytest.MonkeyPatch) -> None:
    """The glossary alone, without tables of learned words."""
    monkeypatch.setattr(LearnedWords, "load", lambda *_: LearnedWords(""))


@pytest.mark.usefixtures("nothing_learned")
def test_expansion_gives_the_usual_term_a_higher_weight_than_its_synonyms() -> None:
    weights = dict(SMALL.expand("función", "es", "en"))
    assert weights == {"function": 1.0, "map": 0.5}


@pytest.mark.usefixtures("nothing_learned")
def test_the_weights_of_synonyms_sum_to_at_most_half_a_word() -> None:
    forms = {"es": ("teorema",), "en": ("theorem", "theorems", "law", "principle", "result")}
    glossary = Glossary([Concept("theorem", "logic", forms)])
    weights = dict(glossary.expand("teorema", "es", "en"))
    assert weights.pop("theorem") == 1.0
    assert len(weights) == 3
    assert sum(weights.values()) == pytest.approx(0.5)


@pytest.mark.usefixtures("nothing_learned")
def test_an_ambiguous_word_shares_its_weight_among_its_meanings() -> None:
    assert dict(SMALL.expand("těleso", "cs", "en")) == {
        "field": 0.5,
        "solid": 0.5,
        "bodi": 0.25,
    }


@pytest.mark.usefixtures("nothing_learned")
def test_words_of_discourse_have_a_lower_weight() -> None:
    assert dict(GLOSSARY.expand("příklad", "cs", "en"))["exampl"] == 0.5


@pytest.mark.usefixtures("nothing_learned")
def test_a_word_known_only_from_longer_terms_is_expanded_to_a_word_of_theirs() -> None:
    assert dict(GLOSSARY.expand("majorizovaná", "cs", "en")) == {"domin": 0.5}


def test_unknown_words_are_kept_and_stop_words_dropped() -> None:
    assert GLOSSARY.expand("de Zagier", "es", "en") == [("zagier", 1.0)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("합을", ["sum"]),
        ("무한합", ["infinity", "sum"]),
        ("소수의 합", ["prime-number", "sum"]),
        ("나도합", []),  # neither 도 (degree) nor 합 (sum) is at its start
    ],
)
def test_a_korean_term_of_one_syllable_matches_at_the_start_of_a_word_or_after_a_term(
    text: str, found: list[str]
) -> None:
    assert [match.concepts[0].id for match in GLOSSARY.match(text, "ko")] == found


def test_words_of_a_language_without_a_column_are_kept() -> None:
    assert GLOSSARY.expand("Alkuluku", "fi", "en") == [("alkuluku", 1.0)]
    assert dict(GLOSSARY.expand("número primo", "es", "fi")) == {"numero": 1.0, "primo": 1.0}
    assert GLOSSARY.gloss("número primo", "es", "fi") == "número primo"


def test_gloss_translates_terms_and_keeps_the_rest() -> None:
    text = "Halla la derivada de $x^2$ según Zagier."
    assert GLOSSARY.gloss(text, "es", "en") == "Find la derivative de $x^2$ según Zagier."


@pytest.mark.parametrize(
    ("language", "form", "said"),
    [
        ("es", "cinta de Möbius", "Möbius strip"),
        ("hr", "Kleinova boca", "Klein bottle"),
        ("cs", "konvexní obal", "convex hull"),
        ("cs", "tabulka hodnot", "table of values"),
        ("fa", "تیله", "marble"),
        ("hi", "अतुच्छ हल", "nontrivial solution"),
        ("ne", "क्रमजोडा", "ordered pair"),
        ("de", "endliche Gruppe", "finite group"),
    ],
)
def test_gloss_translates_to_the_concept_itself_and_not_to_a_related_one(
    language: str, form: str, said: str
) -> None:
    assert GLOSSARY.gloss(form, language, "en").casefold() == said.casefold()


@pytest.mark.parametrize("target", ["hi", "es", "cs", "hr", "fa", "ne"])
def test_gloss_to_a_language_and_back_gives_the_same_term(target: str) -> None:
    there = GLOSSARY.gloss("eigenvalue", "en", target)
    assert there != "eigenvalue"
    assert GLOSSARY.gloss(there, target, "en") == "eigenvalue"


@given(st.text(alphabet="ab éč$.\\-’'límite función नप्र\u200cپ", max_size=40))
def test_gloss_into_an_unknown_language_changes_nothing(text: str) -> None:
    assert SMALL.gloss(text, "es", "xx") == text


@given(st.text(max_size=60))
def test_matches_are_in_order_inside_the_text_and_do_not_overlap(text: str) -> None:
    end = 0
    for match in SMALL.match(text + " límite de una función", "es"):
        assert end <= match.start < match.end <= len(text) + 22
        end = match.end


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("words", "concept"),
    [
        ("integral", "integral"),
        ("INTEGR", "integral"),
        ("prvocislo", "prime-number"),
        ("समाकल", "integral"),
        ("انتگرال", "integral"),
        ("numero primo", "prime-number"),
        ("uniform conv", "uniform-convergence"),
    ],
)
def test_search_finds_concepts_by_any_form_by_prefix_and_without_accents(
    words: str, concept: str
) -> None:
    assert GLOSSARY.search(words)[0].id == concept


@pytest.mark.thorough
def test_search_for_an_empty_or_unknown_word_finds_nothing() -> None:
    assert GLOSSARY.search("") == []
    assert GLOSSARY.search("xyzzy") == []
