"""Transliteration: the method of the paper, and back from typed Latin letters."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathsetu.languages.transliterate import Lexicon, itrans, roman_key, romanise
from mathsetu.markup import split

WORDS = (
    "समाकलन समीकरण संख्या क्षेत्रफल ज्ञात मूल्य सूत्र वर्ग प्रश्न त्रिभुज आव्यूह अवकलज विज्ञान "
    "संबंध पूर्णाङ्क अतः हूँ ऋण कृषि पढ़ना सड़क क़लम ख़ास ग़म ज़रा फ़लन श्रेणी दुःख ऐसा औसत ओर आधार "
    "ईकाई ऊँचाई उत्तर इसका एक ठोस ढाल झुकाव छेदक घन थैला धन भिन्न यौगिक लघुगणक षट्कोण व्यञ्जक ऽ ॐ"
)


def test_the_example_of_the_paper_is_transliterated() -> None:
    assert itrans("समाकलन") == "samAkalana"
    assert romanise("समाकलन") == "samakalan"


@pytest.mark.parametrize(
    ("word", "latin"),
    [
        ("संख्या", "sankhya"),  # the nasal of its class of consonants
        ("संबंध", "sambandh"),
        ("मूल्य", "mulya"),  # the final vowel is spoken after these clusters
        ("सूत्र", "sutra"),
        ("वर्ग", "varg"),
        ("न", "na"),
        ("ज्ञात", "gyat"),
        ("कृति", "kriti"),
        ("फ़लन", "falan"),
        ("कॉलेज", "kolej"),
        ("१२", "12"),
    ],
)
def test_words_are_romanised_as_people_type_them(word: str, latin: str) -> None:
    assert romanise(word) == latin


def test_formulas_and_masks_are_not_transliterated() -> None:
    text = r"मान $\text{समय} = T$ और QZ12 का \(Xफ\) ABC"
    assert romanise(text) == r"man $\text{समय} = T$ aur QZ12 ka \(Xफ\) abc"
    lexicon = Lexicon(["मान", "समय"])
    assert lexicon.to_devanagari(r"maan $maan$ QZ1 samay \(samay\)") == (
        r"मान $maan$ QZ1 समय \(samay\)"
    )


@pytest.mark.parametrize(
    ("word", "typed"),
    [
        ("समाकलन", "samakalan samaakalan samakalana"),
        ("समीकरण", "samikaran sameekaran samiikaran"),
        ("क्षेत्रफल", "kshetrafal kshetraphal"),
        ("पूर्णांक", "purnank poornank"),
        ("ज्ञात", "gyat gyaat jnaat"),
        ("संख्या", "sankhya samkhya"),
        ("द्विघात", "dwighat dvighaat"),
        ("कीजिए", "kijiye kijie keejiye"),
        ("त्रिकोणमिति", "trikonmiti trikonamiti"),
    ],
)
def test_a_word_is_a_candidate_for_its_usual_romanised_spellings(word: str, typed: str) -> None:
    lexicon = Lexicon([*WORDS.split(), "पूर्णांक", "द्विघात", "त्रिकोणमिति"])
    for spelling in typed.split():
        assert word in lexicon.candidates(spelling), spelling


def test_the_nearest_spelling_ranks_first() -> None:
    assert Lexicon(["घटता", "घात"]).candidates("ghaat")[0] == "घात"


def test_the_lexicon_has_function_words_by_default() -> None:
    assert Lexicon(["हल"]).to_devanagari("is ka hal") == "इस का हल"


@pytest.mark.parametrize("typed", ["kare", "karen", "karein"])
def test_the_common_verb_of_exercises_ranks_above_a_rare_noun(typed: str) -> None:
    assert Lexicon(["क्रय"]).candidates(typed)[0] in ("करे", "करें")


def test_unknown_words_are_not_transliterated() -> None:
    assert Lexicon([]).to_devanagari("Newton polygon") == "Newton polygon"


def test_every_word_is_found_by_its_own_romanisation() -> None:
    lexicon = Lexicon(WORDS.split())
    for word in WORDS.split()[:-2]:
        assert word in lexicon.candidates(romanise(word))


@given(st.text(alphabet=st.characters(min_codepoint=0x900, max_codepoint=0x97F)))
def test_romanisation_writes_ascii_and_does_not_change_the_key_of_a_text(text: str) -> None:
    latin = romanise(text)
    assert all(character.isascii() or ord(character) >= 0x900 for character in latin)
    assert roman_key(text) == roman_key(latin)


def test_itrans_equals_the_library_of_the_paper() -> None:
    sanscript = pytest.importorskip("indic_transliteration.sanscript")
    for word in WORDS.split():
        assert itrans(word) == sanscript.transliterate(word, "devanagari", "itrans")


@pytest.mark.parametrize(
    "text",
    [
        "\\्$y$",
        "a\\ं्$y$ and $z$",
        "\\्QZ1 $x$",
        "\\्\\$\\$$y$",
        "\\\u200d\\$ $y$",
        "\\बegin{align}x\\end{align} $y$",
    ],
)
def test_a_removed_sign_leaves_no_backslash_before_a_formula(text: str) -> None:
    formulas = [span.raw for span in split(text) if span.kind == "formula"]
    for changed in (romanise(text), Lexicon([]).to_devanagari(text)):
        assert [span.raw for span in split(changed) if span.kind == "formula"] == formulas
