"""Expansion of words to terms of English: glossary, learned words, compounds and syllables."""

from pathlib import Path

import pytest

from mathsetu.languages.analyze import analyze
from mathsetu.languages.glossary import Concept, Glossary
from mathsetu.languages.glossary.expansion import (
    REVIEWED_WEIGHT,
    UNREVIEWED_WEIGHT,
    Expander,
    TermsOfConcepts,
)
from mathsetu.languages.glossary.further import FOLDER_VARIABLE
from mathsetu.languages.glossary.matching import Matcher
from mathsetu.languages.learned import LearnedWords

GLOSSARY = Glossary.load()


@pytest.fixture
def tables(monkeypatch: pytest.MonkeyPatch) -> dict[tuple[str, str], LearnedWords]:
    """Tables of learned words that a test defines, in place of the shipped ones."""
    own: dict[tuple[str, str], LearnedWords] = {}

    def load(source: str, target: str) -> LearnedWords:
        return own.get((source, target), LearnedWords(""))

    monkeypatch.setattr(LearnedWords, "load", load)
    return own


def expander(source: str, concepts: list[Concept] | None = None) -> Expander:
    known = concepts or []
    terms = (TermsOfConcepts(known, code) for code in (source, "en"))
    return Expander(Matcher(known, source), *terms)


def concept(name: str, source: str, *forms: str, area: str = "algebra") -> Concept:
    return Concept(name, area, {"en": (name,), source: forms})


def test_an_unreviewed_term_shares_its_weight_with_learned_words(
    tables: dict[tuple[str, str], LearnedWords],
) -> None:
    tables["de", "en"] = LearnedWords("gerad\teven\t80\tstraight\t20\n")
    weights = dict(expander("de", [concept("line", "de", "Gerade")]).expand("gerade"))
    assert weights["line"] == pytest.approx(UNREVIEWED_WEIGHT)
    assert weights["even"] == pytest.approx((1 - UNREVIEWED_WEIGHT) * 0.8)


def test_a_term_without_learned_words_has_the_full_weight(
    tables: dict[tuple[str, str], LearnedWords],
) -> None:
    assert dict(expander("de", [concept("line", "de", "Gerade")]).expand("gerade")) == {"line": 1.0}


def test_the_weight_of_learned_words_beside_a_term_depends_on_their_probability(
    tables: dict[tuple[str, str], LearnedWords],
) -> None:
    tables["es", "en"] = LearnedWords("rect\tstraight\t50\n")
    weights = dict(expander("es", [concept("line", "es", "recta")]).expand("recta"))
    assert weights["straight"] == pytest.approx((1 - REVIEWED_WEIGHT) * 0.5)
    assert weights["line"] == pytest.approx(1 - weights["straight"])


def test_a_reviewed_term_of_several_words_does_not_share_its_weight(
    tables: dict[tuple[str, str], LearnedWords],
) -> None:
    tables["es", "en"] = LearnedWords("real\treally\t90\nrect\tstraight\t90\n")
    known = [concept("line", "es", "recta real")]
    assert dict(expander("es", known).expand("recta real")) == {"line": 1.0}


def test_a_reviewed_term_has_a_higher_weight_than_an_unreviewed_one(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    tables: dict[tuple[str, str], LearnedWords],
) -> None:
    tables["de", "en"] = LearnedWords("dreieck\tgusset\t100\n")
    unread = dict(Glossary(GLOSSARY).expand("Dreieck", "de", "en"))
    assert unread["triangl"] == pytest.approx(UNREVIEWED_WEIGHT)
    table = tmp_path / "de.tsv"
    table.write_text("concept\tforms\tsources\ntriangle\tDreieck\treviewed\n", encoding="utf-8")
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    read = dict(Glossary(GLOSSARY).expand("Dreieck", "de", "en"))
    assert read["triangl"] == pytest.approx(REVIEWED_WEIGHT)


def test_learned_words_replace_longer_terms_that_contain_the_word(
    tables: dict[tuple[str, str], LearnedWords],
) -> None:
    # नहीं means "not", although "nowhere dense" contains it.
    known = [concept("nowhere dense", "hi", "कहीं नहीं सघन")]
    assert dict(expander("hi", known).expand("नहीं"))["nowher"] == pytest.approx(0.5)
    tables["hi", "en"] = LearnedWords(f"{analyze('नहीं', 'hi')[0]}\tnot\t60\n")
    assert dict(expander("hi", known).expand("नहीं")) == {"not": 0.6}


def test_a_single_letter_is_not_expanded_by_longer_terms(
    tables: dict[tuple[str, str], LearnedWords],
) -> None:
    known = [concept("combination", "cs", "k kombinace")]
    assert dict(expander("cs", known).expand("k")) in ({}, {"k": 1.0})


@pytest.mark.parametrize(
    ("language", "word", "parts"),
    [
        ("de", "Mathematikbücher", {"mathemat", "book"}),
        ("de", "Arbeitszimmer", {"work", "room"}),
        ("nl", "wiskundeboek", {"mathemat", "book"}),
        ("sv", "matematikuppgift", {"mathemat", "task"}),
    ],
)
def test_an_unknown_compound_is_split_into_its_parts(
    tables: dict[tuple[str, str], LearnedWords], language: str, word: str, parts: set[str]
) -> None:
    words = {
        "de": {"Mathematik": "mathematics", "Buch": "book", "Arbeit": "work", "Zimmer": "room"},
        "nl": {"wiskunde": "mathematics", "boek": "book"},
        "sv": {"matematik": "mathematics", "uppgift": "task"},
    }[language]
    lines = sorted(f"{analyze(own, language)[0]}\t{said}\t90\n" for own, said in words.items())
    tables[language, "en"] = LearnedWords("".join(lines))
    assert set(dict(expander(language).expand(word))) == parts


def test_known_words_and_words_of_languages_without_compounds_are_not_split(
    tables: dict[tuple[str, str], LearnedWords],
) -> None:
    table = LearnedWords("hand\thand\t90\nhandschuh\tglove\t90\nschuh\tshoe\t90\n")
    tables["de", "en"] = tables["fr", "en"] = table
    assert set(dict(expander("de").expand("Handschuh"))) == {"glove"}
    assert set(dict(expander("fr").expand("schuhhand"))) == {"schuhhand"}


def test_a_part_of_a_compound_has_at_least_four_letters(
    tables: dict[tuple[str, str], LearnedWords],
) -> None:
    tables["de", "en"] = LearnedWords("ei\tegg\t90\nkuchen\tcake\t90\n")
    assert set(dict(expander("de").expand("Eikuchen"))) == {"eikuchen"}


def test_tone_marks_distinguish_vietnamese_words(
    tables: dict[tuple[str, str], LearnedWords],
) -> None:
    table = "chó\tdog\t90\nchợ\tmarket\t90\ntrường học\tschool\t80\n"
    tables["vi", "en"] = LearnedWords(table)
    vietnamese = expander("vi", [concept("set", "vi", "tập hợp", "tập")])
    assert dict(vietnamese.expand("con chó")) == {"con": 1.0, "dog": 0.9}
    # "cho" is a function word, not "dog".
    assert "dog" not in dict(vietnamese.expand("cho chợ"))
    assert dict(vietnamese.expand("Trường học")) == {"school": 0.8}
    assert dict(vietnamese.expand("tap hop")) == {"set": 1.0}


def test_vietnamese_without_marks_is_expanded_to_all_words_with_that_spelling(
    tables: dict[tuple[str, str], LearnedWords],
) -> None:
    tables["vi", "en"] = LearnedWords("mèo\tcat\t90\nmẹo\ttrick\t50\ntrường học\tschool\t80\n")
    found = dict(expander("vi").expand("meo truong hoc"))
    assert found == {"cat": 0.45, "trick": 0.25, "school": 0.8}


def test_a_longer_word_wins_over_a_term_inside_it(
    tables: dict[tuple[str, str], LearnedWords],
) -> None:
    tables["vi", "en"] = LearnedWords("tập trung\tfocus\t90\n")
    vietnamese = expander("vi", [concept("set", "vi", "tập")])
    assert dict(vietnamese.expand("tập trung")) == {"focus": 0.9}
    # A comma separates two words.
    assert "focus" not in dict(vietnamese.expand("tập, trung"))


def test_a_vietnamese_word_does_not_match_across_a_formula(
    tables: dict[tuple[str, str], LearnedWords],
) -> None:
    tables["vi", "en"] = LearnedWords("trường học\tschool\t80\n")
    assert "school" not in dict(expander("vi").expand("trường $x$ học"))


def test_a_gloss_translates_known_words_and_keeps_formulas(
    tables: dict[tuple[str, str], LearnedWords],
) -> None:
    tables["de", "en"] = LearnedWords("buch\tbook\t90\nregal\tshelf\t20\n")
    german = expander("de", [concept("sum", "de", "Summe")])
    assert german.gloss("Die Summe der Bücher $x$ im Regal") == "Die sum der book $x$ im Regal"


def test_a_gloss_prefers_a_likely_learned_word_to_an_unreviewed_term(
    tables: dict[tuple[str, str], LearnedWords],
) -> None:
    tables["de", "en"] = LearnedWords("gerad\teven\t80\n")
    german = expander("de", [concept("line", "de", "Gerade")])
    assert german.gloss("gerade Zahl") == "even Zahl"
    tables["de", "en"] = LearnedWords("gerad\teven\t40\n")
    assert german.gloss("gerade Zahl") == "line Zahl"


def test_learned_words_are_returned_with_their_positions_in_the_text() -> None:
    found = list(GLOSSARY.learned("Ein Hund im Haus", "de", "en"))
    asked = {"Ein Hund im Haus"[start:end]: words for start, end, words in found}
    assert "dog" in asked["Hund"]


def test_stop_words_are_expanded_only_if_they_are_mathematical_terms() -> None:
    assert dict(GLOSSARY.expand("una ecuación", "es", "en")).keys() == {"equat"}
    assert dict(GLOSSARY.expand("یک معادله", "fa", "en")).keys() == {"equat"}
    # A stop word that is also a mathematical term is expanded as the term.
    assert "expon" in dict(GLOSSARY.expand("توان", "fa", "en"))


def test_the_inverse_of_numbers_is_expanded_as_their_reciprocal() -> None:
    asked = dict(GLOSSARY.expand("suma de los inversos de los cuadrados", "es", "en"))
    assert {"sum", "reciproc", "squar"} <= asked.keys()
    assert "matrix" not in asked


def test_a_letter_before_an_apostrophe_is_not_part_of_a_translation() -> None:
    terms = {one.term for one in GLOSSARY.expand_into("lhopital", "en", ["es", "fr"])}
    assert "hopital" in terms
    assert "l" not in terms
