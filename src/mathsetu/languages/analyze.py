"""The analyzer: turns text into the terms that are indexed and matched.

The steps: normalise (`normalise.py`), find the words (combining marks belong to them, so अपरिमेय
is one word), drop stop words, fold accents that the language does not use, stem, and fold the
other accents and half-spaces. Therefore, a query typed without accents matches most text with
accents. Scripts without spaces give overlapping pairs of characters. The steps of a language
depend only on its row in the table.

>>> analyze("Find all the integrals of Riemann's functions", "en")
['find', 'all', 'integr', 'riemann', 'function']
>>> analyze("अपरिमेय संख्याओं का योग", "hi")
['अपरिमेय', 'संख्य', 'योग']
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache, lru_cache

from mathsetu.languages.normalise import HALF_SPACE, fold, normalise, turkish_lower_case
from mathsetu.languages.stem import stemmer as stemmer_named
from mathsetu.languages.table import ROWS
from mathsetu.languages.table import language as row_of
from mathsetu.markup import split

#: Marks inside words that \w does not match: accents, vowel signs, the half-space.
MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u0610-\u061a\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u0900-\u0903\u093a-\u094f\u0951-\u0957\u0962\u0963"
    "\u0981-\u0983\u09bc-\u09d7\u09e2\u09e3\u0a01-\u0a03\u0a3c-\u0a51\u0a70-\u0a75"
    "\u0a81-\u0a83\u0abc-\u0acd\u0ae2\u0ae3\u0b01-\u0b03\u0b3c-\u0b57\u0b82\u0bbe-\u0bd7"
    "\u0c00-\u0c04\u0c3c-\u0c56\u0c81-\u0c83\u0cbc-\u0cd6\u0d00-\u0d03\u0d3b-\u0d57"
    "\u0d81-\u0d83\u0dca-\u0ddf\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece"
    "\u102b-\u103e\u1056-\u1059\u17b4-\u17d3\u200c\u200d\u20d0-\u20f0"
)
_WORD = re.compile(rf"[^\W_][\w{MARKS}]*")
#: Runs of scripts without spaces between words, and of Hangul, which attaches particles.
UNSPACED = re.compile(
    "[\u0e01-\u0e4e\u0e80-\u0ecf\u1000-\u103f\u1100-\u11ff\u1780-\u17d3"
    "\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff]+"
)
# English only: Riemann's is riemann, don't is dont, L'Hôpital is lhopital.
_APOSTROPHE = re.compile(r"['’](?:s\b)?")
_INNER_APOSTROPHE = re.compile(r"(?<=\w)['’ʼ](?=\w)")

# Persian prefixes and endings written with a half-space but often typed with a space.
_PERSIAN_PREFIX = re.compile(r"(?<![\w\u200c])(ن?م[یي]) (?=\w)")
_PERSIAN_SUFFIX = re.compile(r"(?<=\w) (ها[یي]?|ها[یي][یي])(?!\w)")

# Longer chunks are not cached: they rarely repeat and would fill the memory.
_MEMORABLE = 40


def words(text: str) -> str:
    """Return marked text without its formulas and code.

    >>> words("Is $x^2$ even?")
    'Is   even?'
    """
    return "".join(span.content if span.kind == "text" else " " for span in split(text))


def tokenize(text: str) -> list[str]:
    """Return the normalised words of a text, including stop words, without stemming.

    >>> tokenize("می‌شود ۱۲، 第二 Euler–Maclaurin")
    ['می\u200cشود', '12', '第二', 'euler', 'maclaurin']
    """
    return _WORD.findall(normalise(text))


def analyze(
    text: str, language: str = "", *, stemmer: str | None = None, stop_words: bool = True
) -> list[str]:
    """Return the terms of a text without formulas, in order.

    Args:
        text: Plain text; remove formulas first with `words`.
        language: A code from the table; any other gives the fallback of the script.
        stemmer: A name from `stem.py` that overrides the stemmer of the language:
            ``"porter"``, ``"snowball"`` or ``"none"``.
        stop_words: Whether stop words are dropped.

    >>> analyze("The generalized integrals", "en", stemmer="porter", stop_words=False)
    ['the', 'gener', 'integr']
    """
    code = row_of(language).code
    terms_of = _chain(code if code in ROWS else "", stemmer, stop_words)
    terms: list[str] = []
    if "ی" in text or "ي" in text:
        text = _PERSIAN_PREFIX.sub(rf"\1{HALF_SPACE}", text)
        text = _PERSIAN_SUFFIX.sub(rf"{HALF_SPACE}\1", text)
    for chunk in text.split():
        terms += terms_of(chunk)
    return terms


@cache
def _chain(code: str, stemmer: str | None, stop_words: bool) -> Callable[[str], tuple[str, ...]]:
    """Return the cached analyzer of a language, for one chunk of text between spaces."""
    row = row_of(code)
    stem = stemmer_named(stemmer or row.stemmer)
    # English stems without accents, and posts in other scripts contain many English terms.
    plain = code == "en" or row.script not in ("", "Latn")
    stem_plain = stem if stemmer or code == "en" else stemmer_named("english")
    written = {word for listed in row.stop_words for word in tokenize(listed)} if stop_words else ()
    stopped = frozenset(map(fold, written))
    # If tone marks distinguish words, only a word without any may be a stop word typed without
    # them: Vietnamese "chó" (dog) is not "cho" (for).
    toned = frozenset(written) if row.spaces_syllables else None

    def stem_of(token: str) -> str:
        # Foreign names are often typed without accents, and accents change the stem: otherwise,
        # Möbius and Mobius would not match in Czech, nor Gröbner and Grobner in Spanish.
        if not token.isascii():
            token = _without_foreign_accents(token, row.accented_letters)
        return fold(stem(token.replace(HALF_SPACE, "")))

    def terms_of(chunk: str) -> tuple[str, ...]:
        if code == "en":
            chunk = _APOSTROPHE.sub("", chunk)
        elif code == "tr":
            chunk = turkish_lower_case(chunk)
        elif code == "uk":  # об'єм is one word
            chunk = _INNER_APOSTROPHE.sub("", chunk)
        terms: list[str] = []
        for token in tokenize(chunk):
            if UNSPACED.search(token):
                terms += filter(None, _pairs(token))  # drop pairs that are only marks
                continue
            folded = fold(token)
            if folded in stopped and (toned is None or token.isascii() or token in toned):
                continue
            if plain and folded.isascii():
                terms.append(stem_plain(folded))
            else:
                # The stem of a word that is itself an ending is empty: keep the word.
                terms.append(stem_of(token) or folded)
        return tuple(terms)

    remembered = lru_cache(maxsize=1 << 16)(terms_of)
    return lambda chunk: remembered(chunk) if len(chunk) <= _MEMORABLE else terms_of(chunk)


def _without_foreign_accents(token: str, own: str) -> str:
    """Remove accents that the language does not use; keep all if its accents are not known."""
    return "".join(one if one in own else fold(one) for one in token) if own else token


def _pairs(token: str) -> Iterator[str]:
    """Yield overlapping pairs of characters of unspaced scripts; other parts stay whole."""
    position = 0
    for run in UNSPACED.finditer(token):
        if run.start() > position:
            yield fold(token[position : run.start()])
        characters = run[0]
        if len(characters) == 1:
            yield characters
        for first in range(len(characters) - 1):
            yield characters[first : first + 2]
        position = run.end()
    if position < len(token):
        yield fold(token[position:])
