"""Romanised queries: Latin letters for a language with another script."""

import pytest

from mathsetu.intake.question import typed_question, typed_words
from mathsetu.languages.detect import detect
from mathsetu.languages.romanised import SOUNDED, SoundLexicon
from mathsetu.languages.scripts import dominant_script
from mathsetu.languages.table import ROWS, language, romanised_words


@pytest.mark.parametrize(
    ("code", "word", "spellings"),
    [
        ("ru", "уравнение", ("uravnenie", "uravneniye", "uravnenije")),
        ("ru", "число", ("chislo", "Chislo")),
        ("ru", "площадь", ("ploshchad", "ploschad", "ploshchad'", "ploshad")),
        ("ru", "функция", ("funktsiya", "funkciya", "funkcija")),
        ("ar", "معادلة", ("muadala", "mu3adala", "mu'adala", "moadala", "almuadala")),
        ("ar", "مثلث", ("muthallath", "mothalath")),
        ("ar", "مساحة", ("masaha", "misaha", "masa7a")),
        ("ur", "مساوات", ("musawat", "musawaat", "masawat")),
        ("ur", "مثلث", ("musallas", "musalas")),
        ("ur", "رقبہ", ("raqba", "rakba")),
        ("bn", "সমীকরণ", ("somikoron", "shomikoron", "samikaran")),
        ("bn", "ত্রিভুজ", ("tribhuj", "trivuj")),
        ("bn", "সংখ্যা", ("songkha", "sonkhya", "shongkha")),
        ("mr", "समीकरण", ("samikaran", "sameekaran")),
        ("mr", "त्रिकोण", ("trikon", "trikona")),
    ],
)
def test_a_word_is_found_in_every_usual_spelling(
    code: str, word: str, spellings: tuple[str, ...]
) -> None:
    lexicon = SoundLexicon(code, [word])
    assert {spelling: lexicon.candidates(spelling)[:1] for spelling in spellings} == {
        spelling: [word] for spelling in spellings
    }


@pytest.mark.parametrize("code", SOUNDED)
def test_formulas_and_masks_are_not_converted(code: str) -> None:
    written = SoundLexicon(code, []).to_script("$x^2 = uravnenie$ QZ1")
    assert written == "$x^2 = uravnenie$ QZ1"


def test_unlisted_russian_words_are_converted_by_rules() -> None:
    lexicon = SoundLexicon("ru", [])
    assert lexicon.to_script("dokazhite teoremu o krasivoy zhabe") == (
        "докажите теорему о красивой жабе"
    )


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("reshite uravnenie x^2 = 2", "ru", {"уравнение"}),
        ("naydite summu chisel", "ru", {"сумму", "чисел"}),
        ("kayfa ahsib masahat muthallath", "ar", {"كيف", "مثلث"}),
        ("musallas ka raqba kya hai", "ur", {"مثلث", "کا"}),
        ("tribhujer khetrofol nirnoy korun somadhan", "bn", set()),
        ("trikonacha kshetraphal kiti aahe", "mr", {"किती", "आहे"}),
    ],
)
def test_a_romanised_query_is_detected_and_converted_to_its_script(
    text: str, code: str, words: set[str]
) -> None:
    question = typed_question(text)
    assert question.language == code
    assert words <= set(question.words.split())
    assert words <= set(question.readable.replace("$", " ").split())


@pytest.mark.parametrize(
    "text",
    [
        "prime numbers and their sums",
        "que es un número primo",
        "samakalan ka maan gyat karo",
        "jak se dokáže že neexistuje největší prvočíslo",
        "kako dokazati da je korijen iz dva iracionalan",
        "dokazat že suma je kladná",
        "wie groß ist die Summe",
        "Korean numbers",
    ],
)
def test_other_languages_are_not_mistaken_for_romanised_ones(text: str) -> None:
    assert detect(text).language not in SOUNDED


@pytest.mark.parametrize("code", SOUNDED)
def test_listed_words_are_in_latin_letters_and_not_stop_words_of_other_languages(code: str) -> None:
    listed = romanised_words(code)
    assert len(listed) >= 30
    assert all(dominant_script(word) == "Latn" for word in listed)
    taken = {
        word
        for row in ROWS.values()
        if row.script == "Latn"
        for word in row.stop_words
        if len(word) > 2
    }
    assert not listed & taken
    assert not listed & romanised_words("hi")


@pytest.mark.thorough
@pytest.mark.parametrize("code", SOUNDED)
def test_candidates_for_a_romanised_term_are_in_the_script_of_the_language(code: str) -> None:
    lexicon = typed_words(code)
    typed = {"ru": "funktsiya", "ar": "dalla", "ur": "adad", "bn": "songkha", "mr": "sankhya"}
    scripts = {dominant_script(word) for word in lexicon.candidates(typed[code])}
    assert scripts == {language(code).script}
