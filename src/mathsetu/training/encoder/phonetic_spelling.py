"""Spells English words phonetically, roughly, in Devanagari and Persian script.

Names, and terms without a translation, are spelled phonetically, and not always in the same way:
Dirichlet is डिरिचलेट in one text and डायरिचलेट in the next. A list cannot be complete, so
the examples have many such spellings, from which the encoder learns to read them.
"""

from __future__ import annotations

import random
import re

#: Languages that transliterate foreign words, with their scripts.
SCRIPTS = {"hi": "devanagari", "ne": "devanagari", "fa": "persian"}


def _table(text: str) -> dict[str, str]:
    return dict(pair.split("=") for pair in text.split())


# The longest matching letters are replaced by one of the alternatives between the bars. A vowel has
# one spelling after a consonant and, after the comma, another elsewhere.
_DEVANAGARI_CONSONANTS = _table(
    "tion=शन sion=शन sch=श tch=च ck=क sh=श ch=च|क|श ph=फ th=थ kh=ख gh=घ qu=क्व wh=व rh=र "
    "ng=ंग x=क्स b=ब c=क d=ड f=फ g=ग|ज h=ह j=ज k=क l=ल m=म n=न p=प q=क r=र s=स t=ट|त v=व w=व "
    "y=य z=ज"
)
_DEVANAGARI_VOWELS = _table(
    "ee=ी,ई ea=ी,ई ie=ी,ई oo=ू,ऊ ou=ाउ,आउ au=ौ,औ ai=ै,ऐ ei=े,ए ey=ी,ई igh=ाइ,आइ oi=ॉइ,ऑइ "
    "a=ा|ा|ै|े|,ए|अ|आ e=े|े|,ए i=ि|ि|ी|ाय,इ|इ|आय o=ो|ॉ,ओ|ऑ u=ु|यू|,यू|अ y=ी|ि,य"
)
_PERSIAN_CONSONANTS = _table(
    "tion=شن sion=شن sch=ش tch=چ ck=ک sh=ش ch=چ|ک|ش ph=ف th=ت kh=خ gh=گ qu=کو wh=و x=کس "
    "b=ب c=ک d=د f=ف g=گ|ژ h=ه j=ج k=ک l=ل m=م n=ن p=پ q=ک r=ر s=س t=ت v=و w=و y=ی z=ز"
)
_PERSIAN_VOWELS = _table(
    "ee=ی,ای ea=ی,ای ie=ی,ای oo=و,او ou=و,او au=و,او ai=ی,ای ei=ی,ای "
    "a=ا|,آ|ا e=|,ا i=ی,ای o=و|,او|ا u=و|,او|ا y=ی,ی"
)
_LETTERS = {
    "devanagari": (_DEVANAGARI_CONSONANTS, _DEVANAGARI_VOWELS, "्"),
    "persian": (_PERSIAN_CONSONANTS, _PERSIAN_VOWELS, ""),
}
# A c before these letters sounds like s.
_SOFTENING = frozenset("eiy")
_PLAIN_VOWELS = frozenset("aeiou")
_SOFT = {"devanagari": "स", "persian": "س"}
_SILENT = re.compile(r"(?<=[^aeiouy])e$")
_DOUBLED = re.compile(r"([b-df-hj-np-tv-z])\1")
# Pairs of consonants that are joined; other pairs are written separately.
_JOINS = frozenset("pr tr kr br dr gr fr pl kl bl gl fl sl st sp sk sm sn sw tw".split())


def spell_phonetically(word: str, script: str, chance: random.Random) -> str:
    """Spell an English word in another script, in one of several plausible ways.

    >>> spell_phonetically("matrix", "devanagari", random.Random(5))
    'मैट्रिक्स'
    >>> spell_phonetically("Cantor", "persian", random.Random(1))
    'کانتر'
    """
    consonants, vowels, join = _LETTERS[script]
    rest = _DOUBLED.sub(r"\1", _SILENT.sub("", word.lower()))
    written: list[str] = []
    place = 0
    after_consonant = False
    while place < len(rest):
        ahead = (rest[place : place + size] for size in (4, 3, 2, 1))
        part = next((part for part in ahead if part in consonants or part in vowels), rest[place])
        following = rest[place + len(part) :]
        vowel = part in vowels and not (
            part == "y" and (not place or following[:1] in _PLAIN_VOWELS)
        )
        if vowel:
            inside, beginning = vowels[part].split(",")
            written.append(chance.choice((inside if after_consonant else beginning).split("|")))
        elif part == "c" and following[:1] in _SOFTENING:
            written.append(_SOFT[script])
        elif part in consonants:
            nasal = part == "n" and following[:1] in consonants and join
            written.append("ं" if nasal else chance.choice(consonants[part].split("|")))
            if part + following[:1] in _JOINS:
                written.append(join)
        after_consonant = not vowel
        place += len(part)
    return "".join(written)
