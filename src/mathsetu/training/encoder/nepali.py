"""Converts Hindi to near-Nepali, because there is no parallel text for Nepali.

The two languages share their script, word order and most mathematical terms. They differ most in
postpositions, pronouns, connectives and verb endings, which a table can convert. Each entry of
``hindi-nepali.tsv`` has a kind:

- ``word``: is replaced; so is a ``noun``, after which "is" is the copula हो, not the existential छ;
- ``ending``: is joined to the word before it;
- ``opening``: is replaced only at the beginning of a sentence;
- ``verb``: Hindi stem and past, Nepali stem (and past stem if different), from which all forms are
  made.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib import resources

from mathsetu.training.encoder.nepali_verbs import polite_form, verb_forms

# Formulas are matched so that they stay unchanged. Words are letters and signs, without the danda
# and the digits in the same Unicode range. A visarga after a vowel sign is a mistyped colon.
_TOKEN = re.compile(
    r"\$\$.*?\$\$|\$[^$]*\$"
    r"|(?P<word>(?:[\u0900-\u0902\u0904-\u0963\u0970-\u097f\u200c\u200d]|(?<=[क-ह])ः)+)",
    re.DOTALL,
)
_SENTENCE_END = re.compile(r"(?:[।?!]|[.:](?=\s))\s*$")
# Nepali has no dotted letters, and Hindi texts contain invisible joiners.
_DOTTED = dict(zip(map(chr, range(0x0958, 0x0960)), "कखगजडढफय", strict=True))
_UNDOTTED = str.maketrans({**_DOTTED, "\u093c": "", "\u200c": "", "\u200d": ""})
# Hindi writes the same sound with either nasal sign.
_SAME = _UNDOTTED | str.maketrans("ँ", "ं")
# Subjects: "we" and polite "you" have their own verb forms; the others reset the subject.
_SUBJECTS = {"हम": "we", "आप": "you", "वह": "", "वे": "", "ये": "", "जो": "", "कोई": ""}
_SPELLING = (
    # Plurals: the nominative and the oblique case of Hindi have one ending in Nepali.
    (re.compile("(?<=[ाुू])ओं$"), "हरू"),
    (re.compile("िय(?:ों|ा[ंँ])$"), "िहरू"),
    (re.compile("(?<=.[क-ह])ों$"), "हरू"),
    # A nasal sign before a consonant is written as the nasal consonant of its class.
    (re.compile("ं(?=[तथदधन])"), "न्"),
    (re.compile("ं(?=[टठडढण])"), "ण्"),
    (re.compile("ं(?=[पफबभम])"), "म्"),
)


def near_nepali(hindi: str) -> str:
    """Convert Hindi text to near-Nepali; formulas and Latin letters do not change.

    >>> near_nepali("दो सम संख्याओं का योग ज्ञात कीजिए।")
    'दुई सम संख्याहरूको योग पत्ता लगाउनुहोस्।'
    >>> near_nepali("यदि $n$ से 12 बड़ा है, तो $n$ के कितने मान हो सकते हैं?")
    'यदि $n$ बाट 12 ठूलो छ, भने $n$ को कति मान हुन सक्छन्?'
    """
    rules = _rules()
    words = [token for token in _TOKEN.finditer(hindi) if token["word"]]
    keys = [word[0].translate(_SAME) for word in words]
    pieces: list[str] = []
    end = place = 0
    subject = ""
    while place < len(words):
        gap = hindi[end : words[place].start()]
        opens = bool(_SENTENCE_END.search(gap)) or not (place or gap.strip())
        subject = _SUBJECTS.get(keys[place], "" if opens else subject)
        size = _longest(rules, hindi, words, keys, place)
        phrase = " ".join(keys[place : place + size])
        if opens and phrase in rules.openings:
            pieces += gap, rules.openings[phrase]
        elif phrase in rules.endings:
            pieces += "" if place and gap.isspace() else gap, rules.endings[phrase]
        else:
            form = rules.words.get(phrase) or _spelled(words[place][0])
            pieces += gap, _agreeing(form, subject)
        place += size
        end = words[place - 1].end()
    return "".join(pieces) + hindi[end:]


def _longest(
    rules: _Rules, hindi: str, words: list[re.Match[str]], keys: list[str], place: int
) -> int:
    """Return the number of words of the longest entry at this place, or one."""
    most = min(rules.longest.get(keys[place], 1), len(words) - place)
    together = 1
    while together < most:
        gap = hindi[words[place + together - 1].end() : words[place + together].start()]
        if gap not in (" ", "-"):
            break
        together += 1
    for size in range(together, 1, -1):
        phrase = " ".join(keys[place : place + size])
        if phrase in rules.words or phrase in rules.endings:
            return size
    return 1


def _agreeing(form: str, subject: str) -> str:
    """Change a third-person plural verb to agree with "we" or "you"; keep other forms."""
    if not subject or not form.endswith("छन्"):
        return form
    if subject == "we":
        return form.removesuffix("न्") + "ौं"
    before, space, last = form.rpartition(" ")
    return before + space + _rules().polite.get(last, last)


@lru_cache(100_000)
def _spelled(word: str) -> str:
    """Convert plural and spelling of a word without an entry to Nepali."""
    word = word.translate(_UNDOTTED)
    for pattern, replacement in _SPELLING:
        word = pattern.sub(replacement, word)
    return word


@dataclass(frozen=True)
class _Rules:
    """The entries of the table with all verb forms, by normalised Hindi."""

    words: dict[str, str] = field(default_factory=dict)
    endings: dict[str, str] = field(default_factory=dict)
    openings: dict[str, str] = field(default_factory=dict)
    #: The polite "you" form of each third-person plural verb form.
    polite: dict[str, str] = field(default_factory=lambda: {"छन्": "हुनुहुन्छ"})
    #: The number of words of the longest entry that begins with a word.
    longest: dict[str, int] = field(default_factory=dict)


@cache
def _rules() -> _Rules:
    rules = _Rules()
    kinds = {"ending": rules.endings, "opening": rules.openings}
    # Entries of the table take precedence over generated forms, which are added last.
    made: list[tuple[str, str]] = []
    for hindi, nepali, kind in _table():
        if kind == "verb":
            made += verb_forms(hindi.translate(_SAME), nepali)
            they, you = polite_form(nepali)
            rules.polite[they] = you
            continue
        kinds.get(kind, rules.words)[hindi.translate(_SAME)] = nepali
        if kind == "noun":
            made += (
                (f"{hindi} है", f"{nepali} हो"),
                (f"{hindi} हैं", f"{nepali} हुन्"),
                (f"{hindi} नहीं है", f"{nepali} होइन"),
                (f"{hindi} नहीं हैं", f"{nepali} होइनन्"),
            )
    made += _with_pronouns(rules)
    for hindi, nepali in made:
        rules.words.setdefault(hindi.translate(_SAME), nepali)
    for phrase in (*rules.words, *rules.endings):
        first, *others = phrase.split()
        rules.longest[first] = max(rules.longest.get(first, 1), 1 + len(others))
    return rules


def _with_pronouns(rules: _Rules) -> Iterator[tuple[str, str]]:
    """Yield endings joined with a pronoun in the genitive: "with you", "for it"."""
    longer = [(e[3:], nepali) for e, nepali in rules.endings.items() if e.startswith("के ")]
    for pronoun, genitive in rules.words.items():
        if pronoun.endswith("के") and genitive.endswith("को"):
            for rest, nepali in longer:
                yield f"{pronoun} {rest}", genitive.removesuffix("को") + nepali


def _table() -> list[tuple[str, str, str]]:
    table = resources.files(__package__) / "hindi-nepali.tsv"
    _, *rows = table.read_text(encoding="utf-8").splitlines()
    return [(hindi, nepali, kind) for hindi, nepali, kind in (row.split("\t") for row in rows)]
