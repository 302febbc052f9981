"""Learns tables of word translations for keyword search (`mathsetu.languages.learned`).

The terms of two languages (stems from the analyzer) are aligned in parallel text and word lists, so
that "walk", "walks" and "walked" are one likely translation instead of three unlikely ones. In
languages with a space after every syllable, such as Vietnamese, the terms are words of one to four
syllables with their tone marks.

Most parallel text is not about mathematics: there, a Croatian "znak" is a character on a keyboard,
and "dobiti" is to make a profit. So each translation is weighted by its frequency in mathematical
texts relative to its frequency in the parallel text.
"""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from math import log
from pathlib import Path

from mathsetu.languages.analyze import analyze, tokenize
from mathsetu.languages.glossary.tokens import LONGEST_WORD, joined_syllables
from mathsetu.languages.stem_collisions import is_stem_collision
from mathsetu.languages.table import language as row_of
from mathsetu.training.encoder.alignment import align_terms, without_formulas, words_of
from mathsetu.training.encoder.overlap import Overlap
from mathsetu.training.encoder.prepare import to_near_nepali
from mathsetu.training.encoder.sources import LANGUAGES, answered, dictionary, translations

Pair = tuple[str, str]

# Most translations of a term; more of them find no more answers.
_MAX_TRANSLATIONS = 3
# Least probability of a translation before and after weighting by mathematical texts, least total
# weight of its links, and the weight of an entry of a word list in sentences.
_CANDIDATE, _MIN_CHANCE, _MIN_COUNT, _LISTED = 0.004, 0.05, 2.0, 2.0
# Added to both frequencies, since those of rare words are unreliable. From 5e-6 to 1e-4 the tables
# agree.
_SMOOTHING = 2e-5
# Least co-occurrences and least normalised pointwise mutual information of two syllables that form
# a word.
_MIN_PAIR_COUNT, _MIN_PAIR_INFORMATION = 8, 0.5


def write_word_tables(
    raw: Path, languages: Iterable[str], avoid: Iterable[str], folder: Path
) -> dict[str, int]:
    """Write tables to English, and for `LANGUAGES` also from English; return their sizes.

    Args:
        raw: The folder of texts and word lists, as for `prepare`.
        languages: The languages of the tables.
        avoid: Topics and queries; texts that share ten words in a row with them are dropped.
        folder: The folder for ``SOURCE-TARGET.tsv.gz``.
    """
    unseen = Overlap(avoid)
    said = _said_in_mathematics(raw, unseen)
    counts: dict[str, int] = {}
    for language in languages:
        pairs = list(_pairs(raw, language, unseen))
        listed = [(own, english) for english, own in dictionary(raw, language)]
        table = term_table(pairs, listed, language, "en", said.get("en"))
        counts |= _write(table, f"{language}-en", folder)
        if language in LANGUAGES:
            back, listed_back = ([(own, other) for other, own in row] for row in (pairs, listed))
            table = term_table(back, listed_back, "en", language, said.get(language))
            if met := said.get("en"):
                # An English query across languages reads all of these tables, and half of the words
                # occur in no mathematical text.
                table = [line for line in table if line.partition("\t")[0] in met]
            counts |= _write(table, f"en-{language}", folder)
    return counts


def _pairs(raw: Path, language: str, unseen: Overlap) -> Iterator[Pair]:
    """Yield texts with their English originals; for Nepali also those converted from Hindi."""
    for source in (language, "hi") if language == "ne" else (language,):
        for pair in translations(raw, source):
            meant = pair if source == language else to_near_nepali(pair)
            if meant and not unseen.overlaps(meant.english) and not unseen.overlaps(meant.other):
                yield meant.other, meant.english


def _said_in_mathematics(raw: Path, unseen: Overlap) -> dict[str, Counter[str]]:
    """Count terms in mathematical questions and answers by language; empty without such texts."""
    if not (raw / "qa.jsonl.xz").exists():
        return {}
    words: dict[str, Counter[str]] = {}
    for row in answered(raw):
        if not unseen.overlaps(row.question):
            met = words.setdefault(row.language, Counter())
            met.update(words_of(row.question))
            met.update(words_of(row.answer))
    said: dict[str, Counter[str]] = {}
    for language, met in words.items():
        terms = said[language] = Counter()
        for word, count in met.items():
            for term in _terms_of(word, language):
                terms[term] += count
    return said


def _write(table: Sequence[str], name: str, folder: Path) -> dict[str, int]:
    folder.mkdir(parents=True, exist_ok=True)
    # Without a time stamp, so that the same texts give the same file.
    data = gzip.compress("".join(table).encode(), mtime=0)
    (folder / f"{name}.tsv.gz").write_bytes(data)
    return {name: len(table)}


def term_table(
    pairs: Sequence[Pair],
    listed: Sequence[Pair],
    source: str,
    target: str,
    said: Mapping[str, int] | None = None,
) -> list[str]:
    r"""Return the lines of a table, sorted by term.

    Args:
        pairs: Texts with their translations.
        listed: Entries of word lists with their translations.
        source: The language of the terms to look up.
        target: The language of the translations.
        said: Counts of the target's terms in mathematical texts, if known.

    >>> pairs = [("zwei Hunde gehen", "two dogs walk"), ("ein Hund ging", "a dog walked")]
    >>> [line.split()[:2] for line in term_table(pairs * 3, [("Hund", "dog")], "de", "en")][-2:]
    [['ging', 'walk'], ['hund', 'dog']]
    """
    terms_of = _reader(source, pairs, listed)
    forms: dict[str, Counter[str]] = {}
    seen: Counter[str] = Counter()

    def target_terms(text: str) -> list[str]:
        terms = []
        for word in words_of(text):
            for term in _terms_of(word, target):
                forms.setdefault(term, Counter())[word] += 1
                terms.append(term)
        return terms

    def rows() -> Iterator[tuple[list[str], list[str], float]]:
        for own, other in pairs:
            terms = target_terms(other)
            seen.update(terms)
            yield terms_of(without_formulas(own)), terms, 1.0
        for own, other in listed:
            yield terms_of(without_formulas(own)), target_terms(other), _LISTED

    learned = align_terms(rows(), _CANDIDATE, _MIN_COUNT)
    # A stem is written as its most frequent form, because users see it.
    usual = {term: min(own, key=lambda form: (-own[form], form)) for term, own in forms.items()}
    lines = []
    for term, candidates in sorted(learned.items()):
        likely = [one for one in _in_mathematics(candidates, seen, said) if one[1] >= _MIN_CHANCE]
        if likely:
            lines.append(
                _line(term, [(usual[stem], chance) for stem, chance in likely[:_MAX_TRANSLATIONS]])
            )
    return lines


def _terms_of(word: str, language: str) -> list[str]:
    """Return the terms of a word; a word with a colliding stem stays unstemmed."""
    return [word] if is_stem_collision(word, language) else analyze(word, language)


def _in_mathematics(
    candidates: Sequence[tuple[str, float]], seen: Counter[str], said: Mapping[str, int] | None
) -> list[tuple[str, float]]:
    """Weight the translations of a term by mathematical texts; return them best first."""
    if not said:
        return list(candidates)
    here, there = sum(said.values()), seen.total()
    weighed = [
        (term, chance * (said.get(term, 0) / here + _SMOOTHING) / (seen[term] / there + _SMOOTHING))
        for term, chance in candidates
    ]
    scale = sum(chance for _, chance in candidates) / sum(chance for _, chance in weighed)
    return sorted(
        ((term, scale * chance) for term, chance in weighed), key=lambda one: (-one[1], one[0])
    )


def _line(term: str, said: Iterable[tuple[str, float]]) -> str:
    cells = (f"{word}\t{round(100 * chance)}" for word, chance in said)
    return "\t".join([term, *cells]) + "\n"


def _reader(
    language: str, pairs: Sequence[Pair], listed: Sequence[Pair]
) -> Callable[[str], list[str]]:
    """Return the function from text to terms: the analyzer, or words of several syllables."""
    row = row_of(language)
    if not row.spaces_syllables:
        return lambda text: [term for term in analyze(text, language) if not term.isdigit()]
    words = frozenset(_words_of_syllables(pairs, listed))

    def terms_of(text: str) -> list[str]:
        read = joined_syllables(tokenize(text), words)
        return [word for word in read if word not in row.stop_words and not word.isdigit()]

    return terms_of


def _words_of_syllables(pairs: Iterable[Pair], listed: Iterable[Pair]) -> Iterator[str]:
    """Yield words of several syllables: from the lists, and from frequent pairs of syllables."""
    for entry, _ in listed:
        syllables = tokenize(entry)
        if 1 < len(syllables) <= LONGEST_WORD:
            yield " ".join(syllables)
    single: Counter[str] = Counter()
    double: Counter[tuple[str, str]] = Counter()
    for text, _ in pairs:
        syllables = tokenize(text)
        single.update(syllables)
        double.update(pairwise(syllables))
    total = single.total()
    for (first, second), count in double.items():
        if count >= _MIN_PAIR_COUNT:
            surprise = log(count * total / (single[first] * single[second]))
            if surprise / -log(count / total) > _MIN_PAIR_INFORMATION:
                yield f"{first} {second}"
