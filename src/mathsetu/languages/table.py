"""The one table of languages: what each has, and which parts serve it.

Adding a language is one row here, a file of stop words beside it where it has one, and a stemmer in
`stem.py` where Snowball has none. A language without a row still works: its script decides how its
words are found, and nothing is stemmed.

>>> language("hi").name, language("hi").stemmer
('Hindi', 'hindi')
>>> language("fr").stemmer
'none'
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Literal


@dataclass(frozen=True, slots=True)
class Language:
    """One row: the facts about a language and the names of the parts that serve it.

    Attributes:
        code: ISO 639-1, as everywhere in MathSetu.
        name: Its English name.
        own_name: What its speakers call it.
        script: ISO 15924 code of its usual script ("" when not known).
        direction: Which way it is written.
        stemmer: A name from `stem.py`; "none" leaves words as they are.
        has_stop_words: Whether ``stopwords/<code>.txt`` exists.
        romanised: Whether people also type it in Latin letters, so that `transliterate` serves it
            and ``stopwords/<code>-Latn.txt`` exists.
        nllb: Its code in NLLB-200 ("" when it has none).
        mbart: Its code in mBART-50 ("" when it has none).
    """

    code: str
    name: str
    own_name: str
    script: str = ""
    direction: Literal["ltr", "rtl"] = "ltr"
    stemmer: str = "none"
    has_stop_words: bool = False
    romanised: bool = False
    nllb: str = ""
    mbart: str = ""

    @property
    def stop_words(self) -> frozenset[str]:
        """Its function words as they are written in its own script.

        >>> "है" in language("hi").stop_words
        True
        """
        return _stop_words(self.code) if self.has_stop_words else frozenset()


# fmt: off
LANGUAGES: dict[str, Language] = {
    row.code: row
    for row in (
        Language("en", "English", "English", "Latn", "ltr", "english", True, False,
                 "eng_Latn", "en_XX"),
        Language("hi", "Hindi", "हिन्दी", "Deva", "ltr", "hindi", True, True,
                 "hin_Deva", "hi_IN"),
        Language("es", "Spanish", "español", "Latn", "ltr", "spanish", True, False,
                 "spa_Latn", "es_XX"),
        Language("cs", "Czech", "čeština", "Latn", "ltr", "czech", True, False,
                 "ces_Latn", "cs_CZ"),
        Language("hr", "Croatian", "hrvatski", "Latn", "ltr", "croatian", True, False,
                 "hrv_Latn", "hr_HR"),
        Language("fa", "Persian", "فارسی", "Arab", "rtl", "persian", True, False,
                 "pes_Arab", "fa_IR"),
        Language("ne", "Nepali", "नेपाली", "Deva", "ltr", "nepali", True, False,
                 "npi_Deva", "ne_NP"),
    )
}
# fmt: on

_NAMES = {
    name.casefold(): row
    for row in LANGUAGES.values()
    for name in (row.code, row.nllb.partition("_")[0], row.name, row.own_name)
}
_SUBTAG = re.compile(r"[-_]")


def language(name: str) -> Language:
    """The row of a language, or a bare row for one that has none.

    Understands a code, a longer tag, the codes of translation models, and the names.

    >>> [language(name).code for name in ("cs", "fa-IR", "npi_Deva", "Hindi", "español")]
    ['cs', 'fa', 'ne', 'hi', 'es']
    >>> language("de-AT")
    Language(code='de', name='de', own_name='de', script='', direction='ltr', stemmer='none', \
has_stop_words=False, romanised=False, nllb='', mbart='')
    """
    folded = name.strip().casefold()
    row = _NAMES.get(folded)
    if row is not None:
        return row
    code = _SUBTAG.split(folded, maxsplit=1)[0]
    return _NAMES.get(code) or Language(code, code, code)


def language_name(code: str) -> str:
    """The English name of a language, whether it has a row or not.

    >>> language_name("cs"), language_name("de"), language_name("xx")
    ('Czech', 'German', 'xx')
    """
    return LANGUAGES[code].name if code in LANGUAGES else _OTHER_NAMES.get(code, code)


# Languages that detection may find and that have no row.
_OTHER_NAMES = dict(
    pair.split(":")
    for pair in (
        "af:Afrikaans am:Amharic ar:Arabic as:Assamese az:Azerbaijani be:Belarusian bg:Bulgarian "
        "bn:Bengali bs:Bosnian ca:Catalan cy:Welsh da:Danish de:German el:Greek eo:Esperanto "
        "et:Estonian eu:Basque fi:Finnish fr:French ga:Irish gl:Galician gu:Gujarati he:Hebrew "
        "hu:Hungarian hy:Armenian id:Indonesian is:Icelandic it:Italian ja:Japanese ka:Georgian "
        "kk:Kazakh km:Khmer kn:Kannada ko:Korean lo:Lao lt:Lithuanian lv:Latvian mk:Macedonian "
        "ml:Malayalam mn:Mongolian mr:Marathi ms:Malay my:Burmese nb:Norwegian nl:Dutch "
        "no:Norwegian or:Odia pa:Punjabi pl:Polish ps:Pashto pt:Portuguese ro:Romanian ru:Russian "
        "si:Sinhala sk:Slovak sl:Slovenian sq:Albanian sr:Serbian sv:Swedish sw:Swahili ta:Tamil "
        "te:Telugu th:Thai tl:Tagalog tr:Turkish uk:Ukrainian ur:Urdu uz:Uzbek vi:Vietnamese "
        "zh:Chinese zu:Zulu"
    ).split()
)


def romanised_words(code: str) -> frozenset[str]:
    """Function words of a language as they are typed in Latin letters.

    >>> "karo" in romanised_words("hi"), romanised_words("cs")
    (True, frozenset())
    """
    return _stop_words(f"{code}-Latn") if language(code).romanised else frozenset()


@cache
def _stop_words(name: str) -> frozenset[str]:
    """The words of a file: any number a line, ``#`` starts a comment."""
    from importlib import resources  # here, because a library opens without them

    file = resources.files(__package__) / "stopwords" / f"{name}.txt"
    lines = file.read_text(encoding="utf-8").splitlines()
    return frozenset(word for line in lines for word in line.partition("#")[0].split())
