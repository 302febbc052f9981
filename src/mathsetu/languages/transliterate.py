"""Transliterates Devanagari to Latin letters and back.

There are two romanisations. `itrans` writes every sign in the ITRANS scheme. `romanise` is the
method of the MIRaCLE paper: it also converts to lower case, removes the punctuation of ITRANS, and
drops the silent final vowel of Hindi: समाकलन is ``samAkalana``, then ``samakalan``.

The inverse is ambiguous, since spellings vary (samikaran, sameekaran). A `Lexicon` of Devanagari
words finds those that sound like a typed word.

>>> itrans("समाकलन"), romanise("समाकलन का मान $x$ है")
('samAkalana', 'samakalan ka man $x$ hai')
>>> lexicon = Lexicon(["समीकरण", "समाकलन", "का", "हल"])
>>> lexicon.to_devanagari("sameekaran ka hal $x$ QZ1 Newton")
'समीकरण का हल $x$ QZ1 Newton'
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from difflib import SequenceMatcher

from mathsetu.languages.normalise import fold
from mathsetu.languages.table import language
from mathsetu.markup import split

_CONSONANTS = dict(
    zip(
        "क ख ग घ ङ च छ ज झ ञ ट ठ ड ढ ण त थ द ध न ऩ प फ ब भ म य र ऱ ल ळ ऴ व श ष स ह".split(),
        "k kh g gh ~N ch Ch j jh ~n T Th D Dh N t th d dh n n p ph b bh m y r R l L zh v sh Sh s "
        "h".split(),
        strict=True,
    )
)
_NUKTA = "\u093c"
_WITH_NUKTA = dict(zip("कखगजडढफय", "q K G z .D .Dh f Y".split(), strict=True))
_VIRAMA = "्"
_VOWELS = dict(
    zip(
        "अ आ इ ई उ ऊ ऋ ॠ ऌ ॡ ऎ ए ऐ ऒ ओ औ".split(),
        "a A i I u U RRi RRI LLi LLI è e ai ò o au".split(),
        strict=True,
    )
)
_VOWEL_SIGNS = dict(
    zip(
        "ा ि ी ु ू ृ ॄ ॢ ॣ ॆ े ै ॊ ो ौ".split(),
        "A i I u U RRi RRI LLi LLI è e ai ò o au".split(),
        strict=True,
    )
)
_VOWEL_SIGNS |= {"ॅ": "a.c", "ॉ": "A.c"}
_SIGNS = {"ं": "M", "ः": "H", "ँ": ".N", "ऽ": ".a", "ॐ": "OM", "।": "|", "॥": "||"}
_SIGNS |= {"ऍ": "a.c", "ॲ": "a.c", "ऑ": "A.c", _VIRAMA: ""} | _VOWELS | _VOWEL_SIGNS
_SIGNS |= {chr(ord("०") + digit): str(digit) for digit in range(10)}
_SYLLABLE = re.compile(
    f"(?P<consonant>[क-ह])(?P<nukta>{_NUKTA}?)(?P<after>[ा-ौॢॣ{_VIRAMA}]?)|(?P<sign>[ऀ-ॿ])"
)
_DEVANAGARI_WORD = re.compile("[ऀ-ॣॱ-ॿ\u200c\u200d]+")
_LATIN_WORD = re.compile("[A-Za-zÀ-ɏ]+")
# In Hindi, the vowel of a final consonant is silent, unless the consonant is the whole word, or is
# y, r, l or v after another consonant: mulya, sutra.
_SILENT_VOWEL = re.compile("(?<=.)(?<!्)[क-ह]़?$|्[कखगघचछजझटठडढणतथदधनपफबभमशषसह]़?$")
# Special spellings of ITRANS and how they are usually typed. The order matters.
_NASAL = re.compile(r"(?:M|\.N|~N)(?![pbm])")
_TYPED = (("j~n", "gy"), ("RRi", "ri"), ("RRI", "ri"), ("LLi", "li"), ("LLI", "li"), ("A.c", "o"),
          ("a.c", "e"), (".a", ""))  # fmt: skip
_NOT_A_LETTER = re.compile("[^a-z]")
# Spelling variants of a sound and its key, applied in this order.
_SOUNDS = tuple(
    (re.compile(pattern), sound)
    for pattern, sound in (
        (r"[^a-z]", ""),
        (r"ee|ii", "i"),
        (r"oo|uu", "u"),
        (r"ai|ei|ay(?![aeiou])", "e"),
        (r"au|ou", "o"),
        (r"(?<=i)y(?=[aeou])", ""),
        (r"ksh|kch|x", "ks"),
        (r"jn|gn", "gy"),
        (r"ph", "f"),
        (r"([kgcjtdbs])h+", r"\1"),
        (r"w", "v"),
        (r"z", "j"),
        (r"q", "k"),
        (r"m(?=[bcdfgjkpstv])", "n"),
        (r"([^aeiou])\1+", r"\1"),
        (r"(?<=.)a+", ""),
    )
)
# Masks of formulas stay unchanged.
_NAME = re.compile(r"(\bQZ ?\d+)")


def itrans(text: str) -> str:
    """Convert Devanagari to ITRANS; everything else stays unchanged.

    >>> itrans("ज्ञात क्षेत्रफल १२"), itrans("सड़क पर हूँ।")
    ('j~nAta kShetraphala 12', 'sa.Daka para hU.N|')
    """
    return _SYLLABLE.sub(_itrans_syllable, unicodedata.normalize("NFC", text))


def _itrans_syllable(syllable: re.Match[str]) -> str:
    consonant, nukta, after, sign = syllable.group("consonant", "nukta", "after", "sign")
    if sign:
        return _SIGNS.get(sign, sign)
    latin = _WITH_NUKTA.get(consonant, _CONSONANTS[consonant]) if nukta else _CONSONANTS[consonant]
    if after == _VIRAMA:
        return latin
    return latin + (_VOWEL_SIGNS[after] if after else "a")


def romanise(text: str) -> str:
    """Romanise a marked text with the method of MIRaCLE: Latin letters, lower case, one spelling.

    Formulas and masks of formulas stay unchanged.

    >>> romanise("संख्या ज्ञात करें: $X$, QZ1 और Matrix")
    'sankhya gyat karen: $X$, QZ1 aur matrix'
    """
    return change_text(text, _romanise_text)


def change_text(text: str, change: Callable[[str], str]) -> str:
    """Apply a function to the text between formulas and masks of formulas."""
    parts: list[str] = []
    for span in split(text):
        if span.kind != "text":
            parts.append(span.raw)
            continue
        pieces = _NAME.split(span.raw)
        pieces[::2] = (_changed(piece, change) for piece in pieces[::2])
        # Keep a space between two formulas, so that their dollars do not merge.
        changed = "".join(pieces) or " "
        # A digit directly after a formula would turn it into an amount of money.
        becomes_price = parts and changed[:1].isdigit() and not span.raw[:1].isdigit()
        parts.append(f" {changed}" if becomes_price else changed)
    return "".join(parts)


def _changed(piece: str, change: Callable[[str], str]) -> str:
    """Apply a function to a piece of text, and keep what follows a backslash out of a command.

    If the character after a backslash were removed, the backslash could escape the next dollar.
    """
    first, *others = piece.split("\\")
    parts = [change(first)]
    for other in others:
        changed = change(other)
        parts.append(" " + changed if changed[:1] != other[:1] else changed)
    return "\\".join(parts)


def _romanise_text(text: str) -> str:
    text = unicodedata.normalize("NFC", text)
    text = _DEVANAGARI_WORD.sub(lambda word: _romanise_word(word[0]), text)
    return itrans(text).lower()


def _romanise_word(word: str) -> str:
    if _SILENT_VOWEL.search(word):
        word += _VIRAMA
    latin = _NASAL.sub("n", itrans(word))
    for scheme, typed in _TYPED:
        latin = latin.replace(scheme, typed)
    return _NOT_A_LETTER.sub("", fold(latin).lower())


def roman_key(word: str) -> str:
    """Return a rough sound key, equal for a Devanagari word and its romanised spellings.

    Vowels are shortened, aspiration is removed, and *a* is kept only at the beginning.

    >>> {roman_key(word) for word in ("समीकरण", "samikaran", "sameekaran", "Samikarana")}
    {'smikrn'}
    """
    latin = _romanise_text(word)
    for pattern, sound in _SOUNDS:
        latin = pattern.sub(sound, latin)
    return latin


class Lexicon:
    """Devanagari words, indexed by their sound in Latin letters.

    Function words of Hindi are always included.

    >>> Lexicon(["मान", "मन"]).candidates("maan")
    ['मान', 'मन']
    """

    def __init__(self, words: Iterable[str]) -> None:
        self._by_key: dict[str, list[tuple[str, str]]] = {}
        self._function_words = language("hi").stop_words
        for word in dict.fromkeys([*words, *sorted(self._function_words)]):
            self._by_key.setdefault(roman_key(word), []).append((_romanise_text(word), word))

    def candidates(self, typed: str) -> list[str]:
        """Return the words with the sound of a typed word, nearest spelling first.

        A function word with exactly this romanisation comes first: "hain" does not mean Heine.

        >>> Lexicon(["हाइन"]).candidates("hain")
        ['हैं', 'हाइन']
        """
        typed = typed.lower()
        found = self._by_key.get(roman_key(typed), [])

        def distance(pair: tuple[str, str]) -> tuple[bool, float]:
            spelling, word = pair
            is_meant = word in self._function_words and _romanise_word(word) == typed
            return not is_meant, -SequenceMatcher(None, typed, spelling).ratio()

        return [word for _, word in sorted(found, key=distance)]

    def to_devanagari(self, text: str) -> str:
        """Convert the known words of a marked text to Devanagari.

        Unknown words, formulas and masks of formulas stay unchanged.
        """
        return change_text(text, lambda piece: _LATIN_WORD.sub(self._nearest, piece))

    def _nearest(self, typed: re.Match[str]) -> str:
        return next(iter(self.candidates(typed[0])), typed[0])
