"""Unicode and spelling normalisation of text.

Three steps, in this order, for text of any language: Unicode NFKC, lower case, and the rules of
each script in the text. Digits of every script become ASCII. The rules never join or split words.

- Devanagari: joiners, nukta and visarga are removed; chandrabindu becomes anusvara, and so does a
  nasal before a consonant of its own row (अङ्क, अंक); candra vowels become plain vowels (ऑ, ओ);
  ये and यी after a vowel become ए and ई (कीजिये, कीजिए); a doubled consonant in a cluster is
  written once (तत्त्व, तत्व).
- Arabic script: Arabic ye and kaf become the Persian letters, hamza carriers and teh marbuta are
  simplified, vowel marks and tatweel are removed. The half-space stays, because it joins the parts
  of a word; only the ezafe and article after a silent he are removed with it (نقطه‌ی, نقطه).
- Other scripts of India: joiners are removed, because they do not change the word.
- Ordinal signs after a number are removed with the point before them: 4º, 4.º and 4.ª become 4.
- Latin: accents stay, because stemming needs them; `fold` removes them after stemming.

>>> normalise("पूर्णाङ्क १२"), normalise("كتابي ٢۳"), normalise("Čech")
('पूर्णांक 12', 'کتابی 23', 'čech')
"""

from __future__ import annotations

import re
import unicodedata

HALF_SPACE = "\u200c"
_DEVANAGARI = re.compile("[\u0900-\u097f]")
_ARABIC = re.compile("[\u0600-\u06ff]")
# From Bengali to Malayalam.
_INDIC = re.compile("[\u0980-\u0d7f]")
_JOINERS = re.compile("[\u200c\u200d]")
_DIGIT = re.compile(r"[^\D0-9]")
# Applied before NFKC, which turns 4º into 4o, and 4.º into 4.o, two words.
_ORDINAL = re.compile(r"(?<=\d)\.?[ºª](?!\w)")

_DEVANAGARI_LETTERS = str.maketrans(
    {
        "\u200c": None,
        "\u200d": None,
        "\u093c": None,  # nukta
        "ः": None,
        "ँ": "ं",
        "ऀ": "ं",
        "ऑ": "ओ",
        "ऒ": "ओ",
        "ॉ": "ो",
        "ॊ": "ो",
        "ऍ": "ए",
        "ऎ": "ए",
        "ॅ": "े",
        "ॆ": "े",
        "ॲ": "अ",
        "ऩ": "न",
        "ऱ": "र",
        "ऴ": "ळ",
    }
)
# A nasal before a consonant of its own row, equivalent to anusvara.
_NASAL = re.compile("ङ्(?=[क-घ])|ञ्(?=[च-झ])|ण्(?=[ट-ढ])|न्(?=[त-ध])|म्(?=[प-भ])")
_GLIDE = re.compile("(?<=[अ-औा-ौ])(ये|यी|यें|यीं)(?![\u0900-\u097f])")
_DOUBLED = re.compile("([क-ह])्\\1(?=्)")
_AFTER_GLIDE = {"ये": "ए", "यी": "ई", "यें": "एं", "यीं": "ईं"}

_ARABIC_LETTERS = str.maketrans(
    {
        "ي": "ی",
        "ى": "ی",
        "ئ": "ی",
        "ك": "ک",
        "ة": "ه",
        "ۀ": "ه",
        "ۂ": "ه",
        "ہ": "ه",
        "ە": "ه",
        "أ": "ا",
        "إ": "ا",
        "ٱ": "ا",
        "آ": "ا",
        "ؤ": "و",
        "ء": None,
        "\u0640": None,  # tatweel
        "\u200d": None,
        "\u200e": None,
        "\u200f": None,
        "\u00ad": HALF_SPACE,
        "\u200b": HALF_SPACE,
    }
)
_ARABIC_MARKS = re.compile(
    "[\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed]"
)
_AFTER_HE = re.compile(rf"(?<=ه){HALF_SPACE}ا?ی(?!\w)")

# Latin letters that Unicode does not decompose into a base letter and an accent.
_LATIN_LETTERS = str.maketrans(
    {"đ": "d", "ð": "d", "ł": "l", "ø": "o", "ħ": "h", "ı": "i", "ß": "ss", "æ": "ae", "œ": "oe"}
)
_ACCENTS = re.compile("[\u0300-\u036f]+")


def normalise(text: str) -> str:
    """Return the normalised text.

    >>> normalise("फ़लन"), normalise("संबन्ध") == normalise("सम्बन्ध"), normalise("ﬁnite")
    ('फलन', True, 'finite')
    """
    if text.isascii():
        return text.lower()
    if "º" in text or "ª" in text:
        text = _ORDINAL.sub("", text)
    text = unicodedata.normalize("NFKC", text).lower()
    if _DEVANAGARI.search(text):
        text = text.translate(_DEVANAGARI_LETTERS)
        text = _NASAL.sub("ं", text)
        text = _DOUBLED.sub(r"\1", text)
        text = _GLIDE.sub(lambda glide: _AFTER_GLIDE[glide[0]], text)
    if _INDIC.search(text):
        text = _JOINERS.sub("", text)
    if _ARABIC.search(text):
        text = _ARABIC_MARKS.sub("", text.translate(_ARABIC_LETTERS))
        text = _AFTER_HE.sub("", text)
    return _DIGIT.sub(lambda digit: str(unicodedata.digit(digit[0])), text)


def turkish_lower_case(text: str) -> str:
    """Return Turkish text in lower case: the capital of i is İ, and I is the capital of ı.

    >>> turkish_lower_case("SINIRLI DİZİ")
    'sınırlı dizi'
    """
    return text.replace("İ", "i").replace("I\u0307", "i").replace("I", "ı").lower()


def fold(word: str) -> str:
    """Return a word without accents, half-spaces and final virama.

    >>> fold("spojitá"), fold("među"), fold("می\u200cشود"), fold("लम्बवत्")
    ('spojita', 'medu', 'میشود', 'लम्बवत')
    """
    if word.isascii():
        return word
    word = word.replace(HALF_SPACE, "").removesuffix("्").translate(_LATIN_LETTERS)
    decomposed = _ACCENTS.sub("", unicodedata.normalize("NFD", word))
    return unicodedata.normalize("NFC", decomposed)
