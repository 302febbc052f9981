"""The table of languages: their properties, and the components that support each.

To add a language, add a row here, a file of stop words if needed, and a stemmer in `stem.py` if
Snowball has none. `LANGUAGES` have full support, `FURTHER` have less; the grade of a row states the
level (`Grade`). A language without a row still works: its script determines tokenisation, and words
are not stemmed.

>>> language("hi").name, language("hi").stemmer, language("hi").grade
('Hindi', 'hindi', 'full')
>>> language("fr").stemmer, language("fr").grade
('french', 'good')
>>> language("fi").stemmer, language("fi").grade
('none', 'formulas only')
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal

from mathsetu.errors import InputError

#: The level of support for a language.
#:
#: - full: the whole glossary, learned words, the encoder, stemming, and the page support it.
#: - good: the encoder supports it and a program has found its most frequent terms, so that words
#:   match posts in other languages; no speaker of the language has reviewed the terms.
#: - basic: words are tokenised, stemmed and matched in posts of the same language; posts in other
#:   languages match through few terms, formulas, names and words with equal spelling.
#: - formulas only: words are not analysed further.
Grade = Literal["full", "good", "basic", "formulas only"]


@dataclass(frozen=True, slots=True)
class Language:
    """One row: the properties of a language and the names of its components.

    Attributes:
        code: ISO 639-1 code, as everywhere in MathSetu.
        name: Its English name.
        own_name: Its name in the language itself.
        script: ISO 15924 code of its usual script ("" if unknown).
        direction: The direction of writing.
        stemmer: A name from `stem.py`; "none" leaves words unchanged.
        has_stop_words: Whether ``stopwords/<code>.txt`` exists.
        romanised: Whether it is also typed in Latin letters; `transliterate` or `romanised` then
            supports it, and ``stopwords/<code>-Latn.txt`` exists.
        nllb: Its code in NLLB-200 ("" if it has none).
        mbart: Its code in mBART-50 ("" if it has none).
        grade: The level of support.
        spaces_syllables: Whether syllables are separated by spaces, so that a word may have several
            syllables, distinguished by tone marks.
        joins_words: Whether compounds are written as one word, so that they can be split.
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
    grade: Grade = "formulas only"
    spaces_syllables: bool = False
    joins_words: bool = False

    @property
    def stop_words(self) -> frozenset[str]:
        """Its function words, in its own script.

        >>> "है" in language("hi").stop_words
        True
        """
        return _stop_words(self.code) if self.has_stop_words else frozenset()

    @property
    def has_decimal_comma(self) -> bool:
        """Whether it writes numbers with a decimal comma, as in 3,14.

        >>> language("de").has_decimal_comma, language("en").has_decimal_comma
        (True, False)
        """
        return self.code in _DECIMAL_COMMA

    @property
    def accented_letters(self) -> str:
        """The accented letters of its own words; "" if unknown.

        >>> language("de").accented_letters
        'äöü'
        """
        return _ACCENTED_LETTERS.get(self.code, "")


_DECIMAL_COMMA = frozenset("es cs hr de fr pt it nl pl ru uk tr id vi el ro hu sv bg sk ca".split())
# For the languages in Latin letters whose stemmers depend on accents.
_ACCENTED_LETTERS = {
    "es": "áéíóúüñ", "cs": "áčďéěíňóřšťúůýž", "hr": "čćđšž", "de": "äöü",
    "fr": "àâçéèêëîïôùû", "pt": "áàâãçéêíóôõú", "it": "àèéìíòóùú", "nl": "ëïöü",
    "pl": "ąćęłńóśźż", "tr": "âçğıîöşüû", "ro": "ăâîșşțţ", "hu": "áéíóöőúüű", "sv": "åäö",
    "ca": "àçéèíïóòúü",
}  # fmt: skip

# fmt: off
#: The languages with full support.
LANGUAGES: dict[str, Language] = {
    row.code: row
    for row in (
        Language("en", "English", "English", "Latn", "ltr", "english", True, False,
                 "eng_Latn", "en_XX", "full"),
        Language("hi", "Hindi", "हिन्दी", "Deva", "ltr", "hindi", True, True,
                 "hin_Deva", "hi_IN", "full"),
        Language("es", "Spanish", "español", "Latn", "ltr", "spanish", True, False,
                 "spa_Latn", "es_XX", "full"),
        Language("cs", "Czech", "čeština", "Latn", "ltr", "czech", True, False,
                 "ces_Latn", "cs_CZ", "full"),
        Language("hr", "Croatian", "hrvatski", "Latn", "ltr", "croatian", True, False,
                 "hrv_Latn", "hr_HR", "full"),
        Language("fa", "Persian", "فارسی", "Arab", "rtl", "persian", True, False,
                 "pes_Arab", "fa_IR", "full"),
        Language("ne", "Nepali", "नेपाली", "Deva", "ltr", "nepali", True, False,
                 "npi_Deva", "ne_NP", "full"),
    )
}
#: Languages with less support; the row states the grade.
FURTHER: dict[str, Language] = {
    row.code: row
    for row in (
        Language("de", "German", "Deutsch", "Latn", "ltr", "german", True, False,
                 "deu_Latn", "de_DE", "good", joins_words=True),
        Language("fr", "French", "français", "Latn", "ltr", "french", True, False,
                 "fra_Latn", "fr_XX", "good"),
        Language("pt", "Portuguese", "português", "Latn", "ltr", "portuguese", True, False,
                 "por_Latn", "pt_XX", "good"),
        Language("it", "Italian", "italiano", "Latn", "ltr", "italian", True, False,
                 "ita_Latn", "it_IT", "good"),
        Language("nl", "Dutch", "Nederlands", "Latn", "ltr", "dutch", True, False,
                 "nld_Latn", "nl_XX", "good", joins_words=True),
        Language("pl", "Polish", "polski", "Latn", "ltr", "polish", True, False,
                 "pol_Latn", "pl_PL", "good"),
        Language("ru", "Russian", "русский", "Cyrl", "ltr", "russian", True, True,
                 "rus_Cyrl", "ru_RU", "good"),
        Language("uk", "Ukrainian", "українська", "Cyrl", "ltr", "none", True, False,
                 "ukr_Cyrl", "uk_UA", "good"),
        Language("tr", "Turkish", "Türkçe", "Latn", "ltr", "turkish", True, False,
                 "tur_Latn", "tr_TR", "good"),
        Language("ar", "Arabic", "العربية", "Arab", "rtl", "arabic", True, True,
                 "arb_Arab", "ar_AR", "good"),
        Language("bn", "Bengali", "বাংলা", "Beng", "ltr", "none", True, True,
                 "ben_Beng", "bn_IN", "good"),
        Language("mr", "Marathi", "मराठी", "Deva", "ltr", "none", True, True,
                 "mar_Deva", "mr_IN", "good"),
        Language("ta", "Tamil", "தமிழ்", "Taml", "ltr", "tamil", True, False,
                 "tam_Taml", "ta_IN", "good"),
        Language("te", "Telugu", "తెలుగు", "Telu", "ltr", "none", True, False,
                 "tel_Telu", "te_IN", "good"),
        Language("ur", "Urdu", "اردو", "Arab", "rtl", "none", True, True,
                 "urd_Arab", "ur_PK", "good"),
        Language("gu", "Gujarati", "ગુજરાતી", "Gujr", "ltr", "none", True, False,
                 "guj_Gujr", "gu_IN", "good"),
        Language("pa", "Punjabi", "ਪੰਜਾਬੀ", "Guru", "ltr", "none", True, False,
                 "pan_Guru", "", "good"),
        Language("zh", "Chinese", "中文", "Hani", "ltr", "none", False, False,
                 "zho_Hans", "zh_CN", "good"),
        Language("ja", "Japanese", "日本語", "Jpan", "ltr", "none", False, False,
                 "jpn_Jpan", "ja_XX", "good"),
        Language("ko", "Korean", "한국어", "Hang", "ltr", "none", False, False,
                 "kor_Hang", "ko_KR", "good"),
        Language("id", "Indonesian", "Bahasa Indonesia", "Latn", "ltr", "indonesian", True, False,
                 "ind_Latn", "id_ID", "good"),
        Language("vi", "Vietnamese", "Tiếng Việt", "Latn", "ltr", "none", True, False,
                 "vie_Latn", "vi_VN", "good", spaces_syllables=True),
        Language("el", "Greek", "ελληνικά", "Grek", "ltr", "greek", True, False,
                 "ell_Grek", "", "good"),
        Language("ro", "Romanian", "română", "Latn", "ltr", "romanian", True, False,
                 "ron_Latn", "ro_RO", "good"),
        Language("hu", "Hungarian", "magyar", "Latn", "ltr", "hungarian", True, False,
                 "hun_Latn", "", "good"),
        Language("sv", "Swedish", "svenska", "Latn", "ltr", "swedish", True, False,
                 "swe_Latn", "sv_SE", "good", joins_words=True),
        Language("bg", "Bulgarian", "български", "Cyrl", "ltr", "none", True, False,
                 "bul_Cyrl", "", "good"),
        Language("sk", "Slovak", "slovenčina", "Latn", "ltr", "none", True, False,
                 "slk_Latn", "", "good"),
        Language("ca", "Catalan", "català", "Latn", "ltr", "catalan", True, False,
                 "cat_Latn", "", "good"),
        Language("th", "Thai", "ไทย", "Thai", "ltr", "none", False, False,
                 "tha_Thai", "th_TH", "basic"),
    )
}
#: All rows.
ROWS: Final = LANGUAGES | FURTHER
# fmt: on

# Codes of ISO 639-2 that differ from those of NLLB.
_LONG_CODES = {
    "fa": ("fas", "per"), "ne": ("nep",), "ar": ("ara",), "cs": ("cze",), "de": ("ger",),
    "el": ("gre",), "fr": ("fre",), "nl": ("dut",), "ro": ("rum",), "sk": ("slo",), "zh": ("chi",),
}  # fmt: skip
_NAMES = {
    name.casefold(): row
    for row in ROWS.values()
    for name in (
        *(row.code, row.nllb.partition("_")[0], row.name, row.own_name),
        *_LONG_CODES.get(row.code, ()),
    )
}
#: The pattern of a language code (ISO 639).
LANGUAGE_CODE: Final = re.compile(r"[a-z]{2,3}")
_SUBTAG = re.compile(r"[-_]")
_UNKNOWN = "unknown language; give a code such as en or a name such as German"
# Including withdrawn codes that still occur (Serbo-Croatian, Moldavian).
_ISO_639_1 = frozenset(
    (
        "aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv "
        "cy da de dv dz ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr "
        "ht hu hy hz ia id ie ig ii ik io is it iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw "
        "ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mo mr ms mt my na nb nd ne ng nl nn no nr "
        "nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg sh si sk sl sm sn so "
        "sq sr ss st su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo "
        "xh yi yo za zh zu"
    ).split()
)


def language(name: str) -> Language:
    """Return the row of a language, or a default row if it has none.

    Accepts a code of two or three letters, a longer tag, the codes of translation models, and
    names.

    >>> [language(name).code for name in ("cs", "ces", "fa-IR", "npi_Deva", "Hindi", "español")]
    ['cs', 'cs', 'fa', 'ne', 'hi', 'es']
    >>> language("de-AT").own_name
    'Deutsch'
    >>> language("fi")
    Language(code='fi', name='fi', own_name='fi', script='', direction='ltr', stemmer='none', \
has_stop_words=False, romanised=False, nllb='', mbart='', grade='formulas only', \
spaces_syllables=False, joins_words=False)
    """
    folded = name.strip().casefold()
    row = _NAMES.get(folded)
    if row is not None:
        return row
    code = _SUBTAG.split(folded, maxsplit=1)[0].strip()
    return _NAMES.get(code) or Language(code, code, code)


def language_code(name: str) -> str:
    """Return the code of a language named by a user; refuse what cannot be a code.

    Posts may state other values, which are not refused.

    >>> language_code("German"), language_code("fi"), language_code("kas_Deva")
    ('de', 'fi', 'kas')
    >>> language_code("elvish")
    Traceback (most recent call last):
    mathsetu.errors.InputError: unknown language; give a code such as en or a name such as German
    """
    code = language(name).code
    if not LANGUAGE_CODE.fullmatch(code):
        raise InputError(_UNKNOWN)
    return code


def existing_language(name: str) -> str:
    """Return the code as `language_code` does; two letters must be a code of ISO 639-1.

    >>> existing_language("German"), existing_language("fi"), existing_language("kas")
    ('de', 'fi', 'kas')
    >>> existing_language("qq")
    Traceback (most recent call last):
    mathsetu.errors.InputError: unknown language; give a code such as en or a name such as German
    """
    code = language_code(name)
    if len(code) == 2 and code not in _ISO_639_1:
        raise InputError(_UNKNOWN)
    return code


def language_name(code: str) -> str:
    """Return the English name of a language, or its code if the name is unknown.

    >>> language_name("cs"), language_name("fi"), language_name("xx")
    ('Czech', 'Finnish', 'xx')
    """
    return ROWS[code].name if code in ROWS else _OTHER_NAMES.get(code, code)


# Languages without a row that detection may return.
_OTHER_NAMES = dict(
    pair.split(":")
    for pair in (
        "af:Afrikaans am:Amharic as:Assamese az:Azerbaijani be:Belarusian bs:Bosnian cy:Welsh "
        "da:Danish eo:Esperanto et:Estonian eu:Basque fi:Finnish ga:Irish gl:Galician he:Hebrew "
        "hy:Armenian is:Icelandic ka:Georgian kk:Kazakh km:Khmer kn:Kannada lo:Lao "
        "lt:Lithuanian lv:Latvian mk:Macedonian ml:Malayalam mn:Mongolian ms:Malay my:Burmese "
        "nb:Norwegian no:Norwegian or:Odia ps:Pashto si:Sinhala sl:Slovenian sq:Albanian "
        "sr:Serbian sw:Swahili tl:Tagalog uz:Uzbek zu:Zulu"
    ).split()
)


def romanised_words(code: str) -> frozenset[str]:
    """Return the romanised function words of a language.

    >>> "karo" in romanised_words("hi"), romanised_words("cs")
    (True, frozenset())
    """
    return _stop_words(f"{code}-Latn") if language(code).romanised else frozenset()


@cache
def _stop_words(name: str) -> frozenset[str]:
    """Read the words of a file: any number per line, ``#`` starts a comment."""
    from importlib import resources  # lazy: opening a library does not need it

    file = resources.files(__package__) / "stopwords" / f"{name}.txt"
    lines = file.read_text(encoding="utf-8").splitlines()
    return frozenset(word for line in lines for word in line.partition("#")[0].split())
