"""Words as English terms: the glossary beside learned words, compounds, and syllables."""

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
    """Tables that a test writes itself, in place of the shipped ones."""
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


def test_a_term_that_nobody_has_read_shares_its_weight_with_learned_words(
    tables: dict[tuple[str, str], LearnedWords],
) -> None:
    tables["de", "en"] = LearnedWords("gerad\teven\t80\tstraight\t20\n")
    weights = dict(expander("de", [concept("line", "de", "Gerade")]).expand("gerade"))
    assert weights["line"] == pytest.approx(UNREVIEWED_WEIGHT)
    assert weights["even"] == pytest.approx((1 - UNREVIEWED_WEIGHT) * 0.8)


def test_a_term_without_learned_words_has_all_the_weight(
    tables: dict[tuple[str, str], LearnedWords],
) -> None:
    assert dict(expander("de", [concept("line", "de", "Gerade")]).expand("gerade")) == {"line": 1.0}


def test_learned_words_claim_as_much_of_a_term_as_they_are_likely(
    tables: dict[tuple[str, str], LearnedWords],
) -> None:
    tables["es", "en"] = LearnedWords("rect\tstraight\t50\n")
    weights = dict(expander("es", [concept("line", "es", "recta")]).expand("recta"))
    assert weights["straight"] == pytest.approx((1 - REVIEWED_WEIGHT) * 0.5)
    assert weights["line"] == pytest.approx(1 - weights["straight"])


def test_a_term_of_several_words_that_people_have_written_is_not_shared(
    tables: dict[tuple[str, str], LearnedWords],
) -> None:
    tables["es", "en"] = LearnedWords("real\treally\t90\nrect\tstraight\t90\n")
    known = [concept("line", "es", "recta real")]
    assert dict(expander("es", known).expand("recta real")) == {"line": 1.0}


def test_a_term_that_a_native_speaker_has_read_counts_more(
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


def test_what_was_learned_counts_more_than_longer_terms_with_the_word(
    tables: dict[tuple[str, str], LearnedWords],
) -> None:
    # नहीं is "not", although it stands in "nowhere dense".
    known = [concept("nowhere dense", "hi", "कहीं नहीं सघन")]
    assert dict(expander("hi", known).expand("नहीं"))["nowher"] == pytest.approx(0.5)
    tables["hi", "en"] = LearnedWords(f"{analyze('नहीं', 'hi')[0]}\tnot\t60\n")
    assert dict(expander("hi", known).expand("नहीं")) == {"not": 0.6}


def test_a_letter_is_not_what_longer_terms_say_with_it(
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
def test_a_word_that_is_not_known_is_taken_apart(
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


def test_a_known_word_and_one_of_another_language_are_not_taken_apart(
    tables: dict[tuple[str, str], LearnedWords],
) -> None:
    table = LearnedWords("hand\thand\t90\nhandschuh\tglove\t90\nschuh\tshoe\t90\n")
    tables["de", "en"] = tables["fr", "en"] = table
    assert set(dict(expander("de").expand("Handschuh"))) == {"glove"}
    assert set(dict(expander("fr").expand("schuhhand"))) == {"schuhhand"}


def test_a_part_is_not_shorter_than_four_letters(
    tables: dict[tuple[str, str], LearnedWords],
) -> None:
    tables["de", "en"] = LearnedWords("ei\tegg\t90\nkuchen\tcake\t90\n")
    assert set(dict(expander("de").expand("Eikuchen"))) == {"eikuchen"}


def test_tone_marks_tell_vietnamese_words_apart(
    tables: dict[tuple[str, str], LearnedWords],
) -> None:
    table = "chó\tdog\t90\nchợ\tmarket\t90\ntrường học\tschool\t80\n"
    tables["vi", "en"] = LearnedWords(table)
    vietnamese = expander("vi", [concept("set", "vi", "tập hợp", "tập")])
    assert dict(vietnamese.expand("con chó")) == {"con": 1.0, "dog": 0.9}
    # "cho" is a function word, and no dog.
    assert "dog" not in dict(vietnamese.expand("cho chợ"))
    assert dict(vietnamese.expand("Trường học")) == {"school": 0.8}
    assert dict(vietnamese.expand("tap hop")) == {"set": 1.0}


def test_vietnamese_without_any_marks_may_be_all_that_is_spelt_so(
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
    # A comma stands between two words.
    assert "focus" not in dict(vietnamese.expand("tập, trung"))


def test_no_vietnamese_word_reaches_over_a_formula(
    tables: dict[tuple[str, str], LearnedWords],
) -> None:
    tables["vi", "en"] = LearnedWords("trường học\tschool\t80\n")
    assert "school" not in dict(expander("vi").expand("trường $x$ học"))


def test_words_are_said_in_english_and_formulas_stay(
    tables: dict[tuple[str, str], LearnedWords],
) -> None:
    tables["de", "en"] = LearnedWords("buch\tbook\t90\nregal\tshelf\t20\n")
    german = expander("de", [concept("sum", "de", "Summe")])
    assert german.gloss("Die Summe der Bücher $x$ im Regal") == "Die sum der book $x$ im Regal"


def test_a_likely_word_is_said_in_place_of_an_unread_term(
    tables: dict[tuple[str, str], LearnedWords],
) -> None:
    tables["de", "en"] = LearnedWords("gerad\teven\t80\n")
    german = expander("de", [concept("line", "de", "Gerade")])
    assert german.gloss("gerade Zahl") == "even Zahl"
    tables["de", "en"] = LearnedWords("gerad\teven\t40\n")
    assert german.gloss("gerade Zahl") == "line Zahl"


def test_reasons_name_the_words_that_were_asked() -> None:
    found = list(GLOSSARY.learned("Ein Hund im Haus", "de", "en"))
    asked = {"Ein Hund im Haus"[start:end]: words for start, end, words in found}
    assert "dog" in asked["Hund"]


def test_an_article_is_not_a_number_word_nor_is_any_other_stop_word_of_discourse() -> None:
    assert dict(GLOSSARY.expand("una ecuación", "es", "en")).keys() == {"equat"}
    assert dict(GLOSSARY.expand("یک معادله", "fa", "en")).keys() == {"equat"}
    # A stop word that is a term of mathematics, too, is meant as the term.
    assert "expon" in dict(GLOSSARY.expand("توان", "fa", "en"))


def test_an_inverse_of_numbers_is_their_reciprocal() -> None:
    asked = dict(GLOSSARY.expand("suma de los inversos de los cuadrados", "es", "en"))
    assert {"sum", "reciproc", "squar"} <= asked.keys()
    assert "matrix" not in asked


def test_a_letter_before_an_apostrophe_is_no_part_of_a_translation() -> None:
    terms = {one.term for one in GLOSSARY.expand_into("lhopital", "en", ["es", "fr"])}
    assert "hopital" in terms
    assert "l" not in terms
