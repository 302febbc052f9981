"""Converts romanised queries to the script of their language.

Bengali, Marathi, Urdu, Arabic and Russian are often typed phonetically in Latin letters:
*uravnenie*, *shomikoron*, *muadala*. A conversion letter by letter is not possible, since spellings
vary and two of the scripts do not write short vowels. Therefore, known words, from the glossary and
from parallel text, are looked up by their sound, as for Hindi (`transliterate.Lexicon`). Russian
has a letter for nearly every sound, so its unknown words are converted by rule.

>>> lexicon = SoundLexicon("ru", ["уравнение", "число"])
>>> lexicon.to_script("reshit uravnenie $x^2=2$")
'решит уравнение $x^2=2$'
>>> SoundLexicon("ar", ["معادلة"]).to_script("mu3adala")
'معادلة'
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from difflib import SequenceMatcher
from typing import Final

from mathsetu.languages.normalise import normalise
from mathsetu.languages.table import language
from mathsetu.languages.transliterate import change_text, itrans, roman_key

# Bonus of a function word, and of a term, over other words with the same sound key.
_FUNCTION_WORD, _TERM = 0.3, 0.2

Rules = Sequence[tuple[re.Pattern[str], str]]
_LATIN_WORD = re.compile(r"[A-Za-z](?:['’`]?[A-Za-z])*['’`]?")
# Arabic letters without a Latin equivalent are typed as digits of similar shape.
_ARABIC_WORD = re.compile(r"(?<![\w$\\])(?=[\d'’`]*[A-Za-z])[A-Za-z2356789'’`-]+(?!\w)")


def _rules(*pairs: tuple[str, str]) -> Rules:
    return tuple((re.compile(pattern), sound) for pattern, sound in pairs)


def _apply(rules: Rules, text: str) -> str:
    for pattern, sound in rules:
        text = pattern.sub(sound, text)
    return text


# Bengali letters have the same order as Devanagari letters; exceptions follow.
_BENGALI_TO_DEVANAGARI = {
    place: chr(place - 0x80) for place in range(0x0981, 0x09E4)
} | {ord("য"): "ज", ord("\u09df"): "य", ord("ৎ"): "त", ord("ব"): "ब"}  # fmt: skip
_BENGALI_SOUNDS = _rules(
    (r"ks", "k"), (r"[vw]", "b"), (r"ng(?=[kg]|$)", "n"), (r"(?<=[^aeiou])y(?=.)", ""),
    (r"(?<=[^aeiou])y$", ""), (r"(?<=.)o", ""), (r"^o", "a"), (r"([^aeiou])\1+", r"\1"),
)  # fmt: skip

_URDU_LETTERS: Final = dict(
    zip(
        "ابپتٹثجچحخدڈذرڑزژسشصضطظعغفقکگلمنںوہھیےۓئؤءآ",
        "a b p t t s j ch h kh d d z r r z zh s sh s z t z a gh f q k g l m n n w h h y e e y w a "
        "a".split(),
        strict=False,
    )
)
_ARABIC_LETTERS: Final = dict(
    zip(
        "ابتثجحخدذرزسشصضطظعغفقكلمنهويىةأإآئؤء",
        "a b t th j h kh d dh r z s sh s d t z a gh f q k l m n h w y a a a i a y w a".split(),
        strict=True,
    )
)
# Short vowels are not written and long ones vary, so only consonants are compared.
_CONSONANTS = _rules(
    (r"ph", "f"), (r"ch", "c"), (r"zh", "z"), (r"kh", "k"), (r"([gtdsbj])h", r"\1"),
    (r"q", "k"), (r"[aeiouywv]", ""), (r"(.)\1+", r"\1"), (r"(?<=.)h$", ""),
)  # fmt: skip
_URDU_SOUNDS = _rules((r"j(?=.)", "j"), *((r.pattern, s) for r, s in _CONSONANTS))
_ARABIC_SOUNDS = _rules(
    (r"^(?:wa)?[ae]l-?(?=[^aeiou-]{1,2}[a-z])", ""), (r"[a'’`23-]", ""), (r"7", "h"), (r"5", "kh"),
    (r"6", "t"), (r"8", "q"), (r"9", "s"), *((r.pattern, s) for r, s in _CONSONANTS),
)  # fmt: skip

_RUSSIAN_LETTERS: Final = dict(
    zip(
        "абвгдеёжзийклмнопрстуфхцчшщъыьэюя",
        "a b v g d e e zh z i i k l m n o p r s t u f h ts ch sh sh _ i _ e yu ya".split(),
        strict=True,
    )
)
_RUSSIAN_SOUNDS = _rules(
    (r"['’`_]", ""), (r"shch|sch|shh|w", "sh"), (r"kh|x", "h"), (r"tz|c(?!h)", "ts"),
    (r"[jyi]+a", "A"), (r"[jyi]+u", "U"), (r"[jyi]+[oe]", "e"), (r"[jyi]+", "i"),
    (r"(.)\1+", r"\1"),
)  # fmt: skip
_BY_RULE = (
    "shch:щ sch:щ zh:ж kh:х ts:ц ch:ч sh:ш ya:я ja:я yu:ю ju:ю yo:ё jo:ё ye:е je:е "
    "a:а b:б v:в g:г d:д e:е z:з i:и j:й k:к l:л m:м n:н o:о p:п r:р s:с t:т u:у f:ф h:х x:х c:ц "
    "w:в q:к y:ы ':ь ’:ь `:ь"
)
_RUSSIAN_RULE: Final = dict(pair.split(":") for pair in _BY_RULE.split())
_RUSSIAN_PIECE = re.compile("|".join(_RUSSIAN_RULE))
_AFTER_VOWEL = re.compile(r"(?<=[аеёиоуыэюя])ы")


def _russian_by_rule(word: str) -> str:
    """Convert a word to Cyrillic, sound by sound.

    >>> _russian_by_rule("dokazhite"), _russian_by_rule("kakoy")
    ('докажите', 'какой')
    """
    written = _RUSSIAN_PIECE.sub(lambda piece: _RUSSIAN_RULE[piece[0]], word.lower())
    return _AFTER_VOWEL.sub("й", written)


def _bengali(word: str) -> str:
    # The letter ya below another consonant is hardly pronounced.
    return itrans(word.replace("্য", "").translate(_BENGALI_TO_DEVANAGARI)).lower()


def _letters(table: dict[str, str]) -> Callable[[str], str]:
    return lambda word: "".join(table.get(letter, "") for letter in word.lower())


def _bengali_key(latin: str) -> str:
    return _apply(_BENGALI_SOUNDS, roman_key(latin))


#: For each language: the romanisation of a word, and the sound key of a romanised word.
_SOUNDS: Final[dict[str, tuple[Callable[[str], str], Callable[[str], str]]]] = {
    "bn": (_bengali, _bengali_key),
    "mr": (lambda word: itrans(word).lower(), roman_key),
    "ur": (_letters(_URDU_LETTERS), lambda latin: _apply(_URDU_SOUNDS, latin.lower())),
    "ar": (_letters(_ARABIC_LETTERS), lambda latin: _apply(_ARABIC_SOUNDS, latin.lower())),
    "ru": (_letters(_RUSSIAN_LETTERS), lambda latin: _apply(_RUSSIAN_SOUNDS, latin.lower())),
}
# Languages that do not write all vowels: consonants get more weight.
_WITHOUT_VOWELS = ("ar", "ur")
_VOWELS_AND_DOUBLES = _rules((r"[aeiou]", ""), (r"(.)\1+", r"\1"))
#: The languages converted here; for Hindi, see `transliterate`.
SOUNDED: Final = tuple(_SOUNDS)


def _consonants(latin: str) -> str:
    """Return a word without vowels and doubled letters.

    >>> _consonants("muthallath") == _consonants("mthlth")
    True
    """
    return _apply(_VOWELS_AND_DOUBLES, latin)


def _ratio(one: str, other: str) -> float:
    return SequenceMatcher(None, one, other, autojunk=False).ratio()


class SoundLexicon:
    """Words of a language, indexed by their sound in Latin letters.

    Args:
        code: The language.
        terms: Its terms of mathematics; function words are always included.
        others: Further words, which are less likely.
    """

    def __init__(self, code: str, terms: Iterable[str], others: Iterable[str] = ()) -> None:
        self._code = code
        self._in_latin, self._key = _SOUNDS[code]
        self._by_key: dict[str, list[tuple[str, str, float]]] = {}
        weights = dict.fromkeys(others, 0.0)
        weights |= dict.fromkeys(terms, _TERM)
        weights |= dict.fromkeys(sorted(language(code).stop_words), _FUNCTION_WORD)
        for word, weight in weights.items():
            spelling = self._in_latin(word)
            key = self._key(spelling)
            if key:
                self._by_key.setdefault(key, []).append((spelling, word, weight))

    def candidates(self, typed: str) -> list[str]:
        """Return the words with the sound of a typed word, nearest spelling first.

        >>> SoundLexicon("ur", ["مساوات", "مست"]).candidates("musawat")
        ['مساوات', 'مست']
        """
        typed = typed.lower()

        def nearness(entry: tuple[str, str, float]) -> float:
            spelling, _, weight = entry
            near = _ratio(typed, spelling)
            if self._code in _WITHOUT_VOWELS:
                near = (near + _ratio(_consonants(typed), _consonants(spelling))) / 2
            return weight + near

        found = self._by_key.get(self._key(typed), [])
        return [word for _, word, _ in sorted(found, key=nearness, reverse=True)]

    def to_script(self, text: str) -> str:
        """Convert the known words of a marked text to the script of the language.

        Formulas, masks of formulas and unknown words stay unchanged; unknown Russian words are
        converted by rule.
        """
        pattern = _ARABIC_WORD if self._code == "ar" else _LATIN_WORD
        return change_text(text, lambda piece: pattern.sub(self._nearest, piece))

    def _nearest(self, typed: re.Match[str]) -> str:
        found = self.candidates(typed[0])
        if found:
            return normalise(found[0]) if self._code in ("bn", "mr") else found[0]
        return _russian_by_rule(typed[0]) if self._code == "ru" else typed[0]
