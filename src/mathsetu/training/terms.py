"""Finds terms of the glossary in further languages, in word lists and in parallel text.

There are three sources: a list of mathematical terms, a list of general words, and parallel text.
The lists propose forms for a concept. So does the text, from what the sentences whose English side
has the concept have in common. Every proposal is then checked against all three sources. A form
with two sources is better than one with a single source, and the file names the sources. A form
that comes only from the text or only from the list of general words must be confirmed by the
learned words of the language (`confirms`): its words must translate to those of the English term.
The result is not proofread: a speaker of the language must review it (``mathsetu glossary export``
and ``import``).
"""

from __future__ import annotations

import lzma
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Final

from mathsetu.errors import InputError
from mathsetu.languages.analyze import UNSPACED, analyze, tokenize
from mathsetu.languages.glossary import Concept, Glossary
from mathsetu.languages.glossary.further import Term, further_terms, table_lines
from mathsetu.languages.glossary.tokens import joined_syllables
from mathsetu.languages.learned import LearnedWords
from mathsetu.languages.scripts import dominant_script
from mathsetu.languages.table import FURTHER
from mathsetu.languages.table import language as row_of
from mathsetu.training.encoder.sources import translations

#: The sources, by their letters in the file: list of terms, list of words, parallel text.
TERMS, WORDS, TEXT = "t", "w", "p"
# The weight of each source in the score of a proposal.
_WEIGHTS: Final = {TERMS: 0.5, WORDS: 0.25, TEXT: 1.5}
# A proposal for a synonym counts less than one for the usual English term.
_SYNONYM = 0.4
# Fewest sentences with a concept for evidence from the text, and for it to overrule a list.
_MIN_SENTENCES, _ENOUGH_SENTENCES = 4, 12
# Least Dice coefficient of a concept and a form for the text to support it, and to propose it.
_MIN_SUPPORT, _MIN_PROPOSAL = 0.1, 0.3
# Most sentences to take proposals from, least share of them with a proposal, most proposals.
_MAX_SENTENCES, _MIN_PROPOSING_SHARE, _MAX_PROPOSALS = 60, 0.2, 20
# Most words of a proposal from the text.
_LONGEST_RUN = 3
_MAX_FORMS = 4
# A form with less than this share of the best score is dropped.
_FORM_SHARE = 0.45
_LONGEST_TERM = 4
_NO_TERM = re.compile(
    r"[「」『』《》、，。？（）：；\d%&_=<>{}\[\]()/\\|:;!?\"“”„«»…*+~@#^$]|\.\.|\.$|--"
)
_ARTICLE = re.compile(r"^(?:to|the|an?) ")
#: Languages that capitalise nouns.
_CAPITALS = frozenset({"de"})
_UNSPACED = frozenset({"zh", "ja", "ko", "th"})
# Most characters of a proposal in a script without spaces. A run of characters is dropped if at
# least this share of its sentences has a longer run that contains it.
_LONGEST_CHARACTERS, _LONGER = 6, 0.8
# Chinese and Japanese particles: a term neither begins nor ends with one.
_PARTICLES = "的了是をのがにはとでもへ"
# Least probability of a learned translation that can confirm a term.
_MIN_LEARNED_CHANCE = 0.1
# Sources that need confirmation if there is no other.
_WEAK = frozenset({WORDS, TEXT})


@dataclass(frozen=True, slots=True)
class TermForms:
    """The forms of a concept, the usual one first, with the sources of that one."""

    concept: str
    forms: tuple[str, ...]
    sources: str


@dataclass(slots=True)
class _Proposal:
    """A candidate form with its evidence by source."""

    said: dict[str, float] = field(default_factory=dict)

    @property
    def score(self) -> float:
        return sum(_WEIGHTS[source] * share for source, share in self.said.items())

    @property
    def sources(self) -> str:
        return "".join(source for source in (TERMS, WORDS, TEXT) if source in self.said)


class TermFinder:
    """Finds terms of one language.

    Args:
        raw: The folder of raw material, as for ``mathsetu train encoder prepare``.
        language: The language.
    """

    def __init__(self, raw: Path, language: str) -> None:
        self._language = language
        self._lists = {
            TERMS: _read_list(raw / "dict" / f"terms-en-{language}.tsv.xz"),
            WORDS: _read_list(raw / "dict" / f"words-en-{language}.tsv.xz"),
        }
        self._text = _Text(translations_of(raw, language), language)

    def find(self, concepts: Iterable[Concept]) -> Iterator[TermForms]:
        """Yield the forms of each concept for which a term was found."""
        for concept in concepts:
            if (found := self._find_one(concept)) is not None:
                yield found

    def keeps(self, concept: Concept, term: Term) -> bool:
        """Whether to keep a term of the table.

        A term with a single weak source must be confirmed; if that source is the text, the text
        must also still support it.
        """
        if term.sources not in _WEAK:
            return True
        form, seen = term.forms[0], self._seen(concept)
        is_told = term.sources != TEXT or self._text.agreement(form, seen) >= _MIN_SUPPORT
        return is_told and self._is_confirmed(form, concept)

    def _seen(self, concept: Concept) -> list[int]:
        """Return sentences with the usual English term; if few, with any English form."""
        seen = self._text.seen(concept.forms["en"][:1])
        return seen if len(seen) >= _MIN_SENTENCES else self._text.seen(concept.forms["en"])

    def _find_one(self, concept: Concept) -> TermForms | None:
        usual, *synonyms = concept.forms["en"]
        proposals: dict[str, _Proposal] = {}
        for place, english in enumerate((usual, *synonyms)):
            for source, entries in self._lists.items():
                for form in filter(self._is_term, entries.get(_key(english), ())):
                    said = proposals.setdefault(self._cased(form), _Proposal()).said
                    said[source] = max(said.get(source, 0.0), _SYNONYM if place else 1.0)
        seen = self._seen(concept)
        if len(seen) >= _MIN_SENTENCES:
            self._score_on_text(proposals, seen)
        is_plain = concept.area == "discourse" or len(seen) >= _ENOUGH_SENTENCES
        ranked = sorted(
            (-proposal.score, form)
            for form, proposal in proposals.items()
            # With enough text, a listed form that the text does not support has another meaning.
            if proposal.said
            and (TEXT in proposal.said or not is_plain)
            and (proposal.sources not in _WEAK or self._is_confirmed(form, concept))
        )
        if not ranked:
            return None
        best, first = ranked[0]
        forms: dict[tuple[str, ...], str] = {}
        for score, form in ranked:
            if score <= _FORM_SHARE * best and len(forms) < _MAX_FORMS:
                forms.setdefault(tuple(analyze(form, self._language)), form)
        return TermForms(concept.id, tuple(forms.values()), proposals[first].sources)

    def _score_on_text(self, proposals: dict[str, _Proposal], seen: Sequence[int]) -> None:
        """Score proposals on the text; add proposals from the text if it supports none well."""
        agreed = {form: self._text.agreement(form, seen) for form in proposals}
        if max(agreed.values(), default=0.0) < _MIN_PROPOSAL:
            for form in filter(self._is_term, self._text.proposed(seen)):
                proposals.setdefault(form, _Proposal())
                agreed[form] = self._text.agreement(form, seen)
        for form, share in agreed.items():
            if share >= _MIN_SUPPORT:
                proposals[form].said[TEXT] = share

    def _is_confirmed(self, form: str, concept: Concept) -> bool:
        said = confirms(form, concept, self._language)
        # The tables have no single characters, since their terms are pairs of characters.
        return bool(said) or (said is None and self._language in _UNSPACED and len(form) == 1)

    def _is_term(self, form: str) -> bool:
        script = row_of(self._language).script
        return (
            0 < len(form.split()) <= _LONGEST_TERM
            and not _NO_TERM.search(form)
            and (dominant_script(form) == script or (script == "Jpan" and bool(form)))
            and bool(analyze(form, self._language))
        )

    def _cased(self, form: str) -> str:
        """Return a form with the capitals that it has inside a sentence."""
        if self._language in _CAPITALS:
            return self._text.cased(form)
        return form.lower() if not form[1:2].isupper() else form


def confirms(form: str, concept: Concept, language: str) -> bool | None:
    """Whether learned words confirm a form of a concept; None if they lack its words.

    Every word of the form must translate to a word of the concept's English forms, and all words of
    one English form must be covered. A form of one word needs to cover only one of them (German
    "Dezimalstelle", decimal place).

    >>> from mathsetu.languages.glossary import Glossary
    >>> smallest, triangle = Glossary.load()["smallest"], Glossary.load()["triangle"]
    >>> confirms("kleinsten Wert", smallest, "de"), confirms("Dreieck", triangle, "de")
    (False, True)
    """
    table = LearnedWords.load(language, "en")
    terms: Sequence[str] = analyze(form, language)
    if row_of(language).spaces_syllables:
        terms = joined_syllables(tokenize(form), table)
        terms = [term for term in terms if term not in row_of(language).stop_words]
    meant = [
        {
            stem
            for word, chance in table.translations(term)
            if chance >= _MIN_LEARNED_CHANCE
            for stem in analyze(word, "en")
        }
        for term in terms
    ]
    is_known = any if row_of(language).spaces_syllables else all
    if not meant or not is_known(meant):
        return None
    wanted = [set(analyze(english, "en")) for english in concept.forms["en"]]
    every, right = set().union(*meant), set().union(*wanted)
    if row_of(language).spaces_syllables:
        # Words missing from the table are looked up by syllable; these alone may mean nothing.
        return bool(every & right)
    if not all(words & right for words in meant):
        return False
    return any(one and (one <= every or (len(meant) == 1 and one & every)) for one in wanted)


def write_terms(raw: Path, code: str, folder: Path, *, revise: bool = False) -> int:
    """Write the table of one language into a folder; return the number of its terms.

    Args:
        raw: The folder of raw material.
        code: The language.
        folder: The folder for the table.
        revise: Keep the terms of the table in use that `TermFinder.keeps` accepts, and search
            only for other concepts that some further language has.
    """
    if code not in FURTHER:
        raise InputError(f"{code!r} has no table of terms (those that have: {', '.join(FURTHER)})")
    glossary = Glossary.load()
    finder = TermFinder(raw, code)
    kept: dict[str, Term] = {}
    wanted: Iterable[Concept] = glossary
    if revise:
        known = further_terms(code)
        kept = {name: term for name, term in known.items() if finder.keeps(glossary[name], term)}
        listed = {name for other in FURTHER for name in further_terms(other)}
        wanted = [concept for concept in glossary if concept.id in listed - set(kept)]
    found = {one.concept: Term(one.forms, one.sources) for one in finder.find(wanted)}
    terms = kept | found
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{code}.tsv").write_text("".join(table_lines(terms, code)), encoding="utf-8")
    return len(terms)


def translations_of(raw: Path, language: str) -> list[tuple[str, str]]:
    """Return the parallel text of English and a language as pairs."""
    return [(pair.english, pair.other) for pair in translations(raw, language)]


class _Text:
    """Parallel text, indexed by English term and by stem of the other language."""

    def __init__(self, pairs: Sequence[tuple[str, str]], language: str) -> None:
        self._language = language
        self._words = [_split(other, language) for _, other in pairs]
        self._english = [english.lower() for english, _ in pairs]
        self._by_term: defaultdict[str, list[int]] = defaultdict(list)
        for number, text in enumerate(self._english):
            for term in set(analyze(text, "en")):
                self._by_term[term].append(number)
        # Scripts without spaces are indexed by character.
        self._is_unspaced = language in _UNSPACED
        self._others = [
            " ".join(words) if self._is_unspaced else f" {' '.join(self._stems(words))} "
            for words in self._words
        ]
        self._by_stem: defaultdict[str, list[int]] = defaultdict(list)
        for number, text in enumerate(self._others):
            for stem in set(text if self._is_unspaced else text.split()):
                self._by_stem[stem].append(number)
        self._capitals = Counter(word for words in self._words for word in words[1:])

    def _stems(self, words: Sequence[str]) -> list[str]:
        return [term for word in words for term in analyze(word, self._language)]

    def seen(self, forms: Iterable[str]) -> list[int]:
        """Return the numbers of sentences whose English side has one of the forms."""
        found: dict[int, None] = {}
        for form in forms:
            if terms := analyze(form, "en"):
                rarest = min((self._by_term.get(term, []) for term in terms), key=len)
                # Match the form or its plural, not the stem: "normalizer" and "normal" share one.
                wanted = re.compile(rf"(?<!\w){re.escape(form.lower())}(?:e?s)?(?!\w)")
                found.update(
                    (number, None) for number in rarest if wanted.search(self._english[number])
                )
        return list(found)

    def proposed(self, seen: Sequence[int]) -> list[str]:
        """Return runs of words that are characteristic of these sentences."""
        if self._is_unspaced:
            return self._proposed_characters(seen)
        counts: Counter[tuple[str, ...]] = Counter()
        forms: defaultdict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
        looked_at = seen[:_MAX_SENTENCES]
        for number in looked_at:
            words = self._words[number]
            stems = [tuple(analyze(word, self._language)) for word in words]
            runs: dict[tuple[str, ...], str] = {}
            for start in range(len(words)):
                # A term begins and ends with a content word.
                if not stems[start]:
                    continue
                for end in range(start + 1, min(start + _LONGEST_RUN, len(words)) + 1):
                    if stems[end - 1]:
                        run = tuple(chain.from_iterable(stems[start:end]))
                        runs[run] = " ".join(words[start:end])
            for run, form in runs.items():
                counts[run] += 1
                forms[run][form if self._language in _CAPITALS else form.lower()] += 1
        least = max(_MIN_SENTENCES - 1, _MIN_PROPOSING_SHARE * len(looked_at))
        often = [run for run, count in counts.most_common(_MAX_PROPOSALS) if count >= least]
        usual = [forms[run].most_common(1)[0][0] for run in often]
        return [form for form in usual if self.agreement(form, seen) >= _MIN_PROPOSAL]

    def _proposed_characters(self, seen: Sequence[int]) -> list[str]:
        """Return runs of characters characteristic of these sentences, the longest only."""
        looked_at = seen[:_MAX_SENTENCES]
        counts: Counter[str] = Counter()
        for number in looked_at:
            words = self._others[number].split()
            counts.update(
                {
                    word[start:end]
                    for word in words
                    if UNSPACED.fullmatch(word)
                    for start in range(len(word))
                    for end in range(start + 1, min(start + _LONGEST_CHARACTERS, len(word)) + 1)
                    if word[start] not in _PARTICLES and word[end - 1] not in _PARTICLES
                }
            )
        least = max(_MIN_SENTENCES - 1, _MIN_PROPOSING_SHARE * len(looked_at))
        often = {run: count for run, count in counts.items() if count >= least}
        whole = [
            run
            for run, count in often.items()
            if not any(
                run != longer and run in longer and more >= _LONGER * count
                for longer, more in often.items()
            )
        ]
        whole.sort(key=lambda run: (-often[run], run))
        return [run for run in whole[:_MAX_PROPOSALS] if self.agreement(run, seen) >= _MIN_PROPOSAL]

    def agreement(self, form: str, seen: Sequence[int]) -> float:
        """Return Dice's coefficient of the sentences with a form and those with the concept."""
        stems = list(form) if self._is_unspaced else analyze(form, self._language)
        if not stems:
            return 0.0
        rarest = min((self._by_stem.get(stem, []) for stem in stems), key=len)
        wanted = form if self._is_unspaced else f" {' '.join(stems)} "
        holding = {number for number in rarest if wanted in self._others[number]}
        both = sum(number in holding for number in seen)
        return 2 * both / (len(holding) + len(seen)) if holding else 0.0

    def cased(self, form: str) -> str:
        """Return a form with its first word in the case most frequent in the sentences."""
        first, *others = form.split()
        lower, upper = first.lower(), first[:1].upper() + first[1:].lower()
        best = max((lower, upper, first), key=lambda one: self._capitals[one])
        return " ".join([best if self._capitals[best] else first, *others])


def _split(text: str, language: str) -> list[str]:
    if language in _UNSPACED:
        return [word for word in tokenize(text) if not word.isdigit()]
    return re.findall(r"[^\W\d_][^\s.,;:!?()\[\]{}\"“”„«»।،؛؟…=+*/<>|]*", text)


def _key(english: str) -> str:
    return _ARTICLE.sub("", " ".join(english.lower().split()))


def _read_list(path: Path) -> Mapping[str, list[str]]:
    """Read a word list: the translations of each English entry, in file order."""
    entries: dict[str, list[str]] = {}
    if not path.exists():
        return entries
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            english, _, other = line.rstrip("\n").partition("\t")
            forms = entries.setdefault(_key(english), [])
            form = " ".join(other.split("\t")[0].split())
            if form and form not in forms:
                forms.append(form)
    return entries
