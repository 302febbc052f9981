"""Hindi converted to near-Nepali: what differs is converted, and everything else is kept."""

import re
from importlib import resources

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathsetu.training import encoder
from mathsetu.training.encoder.nepali import near_nepali

FORMULA = re.compile(r"\$\$.*?\$\$|\$[^$]*\$", re.DOTALL)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("hindi", "nepali"),
    [
        # Postpositions are joined to the word before them, but not to formulas and Latin letters.
        ("वृत्त के केंद्र से रेखा की दूरी", "वृत्तको केन्द्रबाट रेखाको दूरी"),
        ("$x$ का मान, ABC में और 5 से", "$x$ को मान, ABC मा र 5 बाट"),
        ("इस प्रमेय के लिए", "यस प्रमेयका लागि"),
        ("उनके लिए और आपके पास", "उनीहरूका लागि र तपाईंसँग"),
        # Plurals have one ending, and nasals are written as consonants.
        ("बिंदुओं और राशियों को, कोणों में", "बिन्दुहरू र राशिहरूलाई, कोणहरूमा"),
        # The longest entry wins.
        ("यह 7 से बड़ा है।", "यो 7 भन्दा ठूलो छ।"),
        ("सबसे छोटी अभाज्य संख्या", "सबैभन्दा सानो अभाज्य संख्या"),
        # Verbs.
        ("सिद्ध कीजिए कि यह सत्य है।", "प्रमाणित गर्नुहोस् कि यो सत्य छ।"),
        ("इसे लिखा जा सकता है।", "यसलाई लेख्न सकिन्छ।"),
        ("इसे हल करने के लिए जोड़ना चाहिए।", "यसलाई हल गर्नका लागि जोड्नुपर्छ।"),
        ("वह नहीं जानता है", "त्यो जान्दैन"),
        ("आगे बढ़ें और इसे छोड़िए।", "अगाडि बढ्नुहोस् र यसलाई छोड्नुहोस्।"),
        ("वे इसे देख चुके हैं।", "ती यसलाई देखिसकेका छन्।"),
        ("कौन बोल रहा था?", "को बोलिरहेको थियो?"),
        # "Give", "take" and "go" after a stem change the meaning only a little.
        ("यह उसे सरल बना देता है।", "यो त्यसलाई सरल बनाउँछ।"),
        ("$x$ के मान के लिए भाग करके", "$x$ को मानका लागि भाग गरेर"),
        # "We" and "you" have their own verb forms, until the subject changes.
        ("हम $n$ चुनते हैं। वे भी चुनते हैं।", "हामी $n$ छान्छौं। ती पनि छान्छन्।"),
        ("क्या आप बता सकते हैं?", "के तपाईं बताउन सक्नुहुन्छ?"),
        # Two verbs for "be": what something is, and that it exists.
        ("7 एक अभाज्य संख्या है।", "7 एउटा अभाज्य संख्या हो।"),
        ("यहाँ कोई हल नहीं है।", "यहाँ कुनै हल छैन।"),
        # "So" at the beginning, "then" after a condition.
        ("तो यदि ऐसा है, तो क्यों?", "त्यसैले यदि यस्तो छ, भने किन?"),
    ],
)
def test_hindi_is_converted_to_near_nepali(hindi: str, nepali: str) -> None:
    assert near_nepali(hindi) == nepali


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("one", "another"),
    [
        ("यहाँ", "यहां"),
        ("बड़ा", "बड\u093cा"),
        ("क्या", "क्\u200dया"),
        ("कौन-सा", "कौन सा"),
        ("हैः", "है:"),
    ],
)
def test_spelling_variants_are_converted_alike(one: str, another: str) -> None:
    assert near_nepali(one).replace("ः", ":") == near_nepali(another)


@pytest.mark.thorough
@pytest.mark.parametrize("text", ["", " \n", "The sum is $का$.", "$$में$$ x_1 + 2", "१२३ । ॥"])
def test_text_that_is_not_hindi_is_not_changed(text: str) -> None:
    assert near_nepali(text) == text


words = st.sampled_from(["संख्या", "का", "के", "लिए", "हम", "करते", "हैं", "तो", "।", "$", "x", "5", "-"])


@pytest.mark.thorough
@given(st.lists(words), st.sampled_from([" ", ""]))
def test_formulas_latin_letters_and_digits_are_not_changed(parts: list[str], space: str) -> None:
    text = space.join(parts)
    turned = near_nepali(text)
    assert FORMULA.findall(turned) == FORMULA.findall(text)
    assert re.findall(r"[x5।$]", turned) == re.findall(r"[x5।$]", text)


@pytest.mark.thorough
@given(st.text(st.characters(min_codepoint=0x0900, max_codepoint=0x0980) | st.sampled_from(" $.")))
def test_any_text_can_be_converted_and_only_blank_text_becomes_blank(text: str) -> None:
    assert bool(near_nepali(text).strip()) == bool(text.strip()) or not text.strip("\u093c ")


def test_the_table_has_one_entry_for_each_phrase() -> None:
    table = resources.files(encoder) / "hindi-nepali.tsv"
    header, *rows = (line.split("\t") for line in table.read_text("utf-8").splitlines())
    assert header == ["hindi", "nepali", "kind"]
    assert {kind for _, _, kind in rows} == {"word", "noun", "ending", "opening", "verb"}
    assert all(hindi.strip() and nepali.strip() for hindi, nepali, _ in rows)
    # A word may have a second entry for the beginning of a sentence only.
    phrases = [hindi for hindi, _, kind in rows if kind != "opening"]
    assert len(set(phrases)) == len(phrases)
    assert all(hindi.count("/") == 1 for hindi, _, kind in rows if kind == "verb")
