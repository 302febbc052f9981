"""Fuzz targets for texts: language detection, terms, masks, scripts, sentences, the glossary."""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path

from benchmarks.fuzz.mutate import as_text
from benchmarks.fuzz.target import Target, expect, expect_equal, expect_refusal
from benchmarks.fuzz.targets.markup import text_seeds
from mathsetu.errors import InputError
from mathsetu.intake.question import typed_hindi
from mathsetu.languages.analyze import analyze, tokenize, words
from mathsetu.languages.detect import detect
from mathsetu.languages.glossary import Glossary
from mathsetu.languages.mask import mask, unmask
from mathsetu.languages.normalise import fold, normalise
from mathsetu.languages.scripts import dominant_script, letters_by_script
from mathsetu.languages.sentences import LONGEST, sentences
from mathsetu.languages.table import LANGUAGES, language
from mathsetu.languages.translate import Translator, open_translator
from mathsetu.languages.transliterate import itrans, roman_key, romanise
from mathsetu.markup import split, to_marked_text

LANGUAGE_TOKENS = (
    "QZ1 QZ2 QZ12 qz १ Q Z 1 Q\u200bZ3 QZ $x$ $QZ1$ $y$5 . ? ! । ۔ … ... e.g. i.e. Dr. 2.5 , ; : ،"
    " ؛ —"
    " क्ष ज्ञ ़ ् ं ँ ा ि ी ै ो अभाज्य संख्या हरू लाई ما می‌شود ی ي ک ك ه‌ای ۱۲ ٣ đ ł ß ﬁ é"
    " e\u0301 ñ š"
    " the of and prime number integral samikaran sameekaran ka hai karo \u200c \u200d \u200b"
    " \u2060 \ufeff"
    " 第二 素数 한국 простое \U0001d465 \ud800 \0 \n \n\n \t ² ½ ' ’ - _ / \\ \\$ `"
).split(" ")


@cache
def _translator() -> Translator:
    return open_translator("glossary")


class Languages(Target):
    """All functions on words."""

    name = "languages"
    tokens = LANGUAGE_TOKENS
    floor = 2.0  # a text is read a dozen times, and may hold thousands of formulas

    def open(self, place: Path) -> None:
        """Load the models, which takes half a second."""
        detect("Dokažte, že to je číslo")
        typed_hindi()

    def seeds(self) -> list[bytes]:
        """Texts of the sampler in all of its languages."""
        return text_seeds()

    def check(self, data: bytes) -> None:
        """Check terms and sentences, and that masked formulas are restored and never changed."""
        text = as_text(data)
        detected = detect(text)
        expect_equal(detect(text), detected, "the language is the same again")
        expect(0 <= detected.confidence <= 1, "a confidence is a share", detected)
        codes = sorted(LANGUAGES)
        code = codes[len(data) % len(codes)]
        expect_equal(detect(text, code).language, code, "the language that is given wins")
        bare = words(text)
        for chosen in (detected.language, code):
            terms = analyze(bare, chosen)
            expect(all(terms), "no term is empty", terms)
            expect_equal(analyze(bare, chosen), terms, "the terms are the same again")
        once = normalise(bare)
        for word in tokenize(bare):
            fold(word)
        expect(sum(letters_by_script(once).values()) <= len(once), "letters are characters")
        dominant_script(bare)
        language(text[:40])
        self._check_mask(text)
        self._check_scripts(text)
        self._check_sentences(text)

    def _check_mask(self, text: str) -> None:
        masked = mask(text)
        back = unmask(masked.text, masked)
        expect_equal((back.text, back.lost), (text, ()), "a mask is taken off again")
        lost = unmask("", masked)
        expect_equal(lost.lost, masked.hidden, "what is lost is reported")
        # As a machine translator might return it.
        swapped = unmask(masked.text.swapcase().replace("QZ", "Q Z"), masked)
        expect(
            all(hidden in swapped.text for hidden in masked.hidden), "no formula is ever dropped"
        )

    def _check_scripts(self, text: str) -> None:
        itrans(text)
        roman_key(text)
        marked = to_marked_text(text)  # where a single dollar sign cannot begin a formula
        for changed in (romanise(marked), typed_hindi().to_devanagari(marked)):
            missing = Counter(_formulas(marked)) - Counter(_formulas(changed))
            expect(not missing, "formulas stay in another script", missing)

    def _check_sentences(self, text: str) -> None:
        found = sentences(text)
        expect_equal("".join(found), text, "the sentences make up the text")
        for sentence in found:
            written = sentence.rstrip()
            # The placeholder of a formula could be any run of letters and digits.
            is_run = written.isascii() and written.isalnum()
            expect(len(written) <= LONGEST or is_run, "no sentence is too long", len(written))


class Translation(Target):
    """The glossary: finding and searching concepts, and translation without a model."""

    name = "glossary"
    tokens = LANGUAGE_TOKENS
    floor = 2.0  # a text is read several times, and may hold thousands of formulas

    def seeds(self) -> list[bytes]:
        """Texts of the sampler."""
        return text_seeds()

    def kind(self, data: bytes) -> str:
        """Whether the glossary is searched as well."""
        return "searched" if _is_searched(data) else ""

    def check(self, data: bytes) -> None:
        """Check that a translation keeps every formula and is the same each time."""
        text = to_marked_text(as_text(data))
        codes = sorted(LANGUAGES)
        source, target = codes[len(data) % 7 % len(codes)], codes[len(data) // 7 % len(codes)]
        try:
            [done] = _translator().translate([text], source, target)
        except InputError as error:
            expect_refusal(error)
        else:
            [again] = _translator().translate([text], source, target)
            expect_equal(again.text, done.text, "the translation is the same again")
            missing = Counter(_formulas(text)) - Counter(_formulas(done.text))
            expect(not missing, "no formula is lost in translation", missing)
        if _is_searched(data):
            Glossary.load().search(text[:80])


def _is_searched(data: bytes) -> bool:
    """Select one case in sixteen, because a search compares every form of every concept."""
    return len(data) % 16 == 0


def _formulas(text: str) -> list[str]:
    return [span.raw for span in split(text) if span.kind == "formula"]
