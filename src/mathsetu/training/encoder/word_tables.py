"""Tables of words that translate each other, for search by words (`mathsetu.languages.learned`).

The terms of two languages (stems, as the analyzer makes them) are aligned with each other in
parallel text and word lists: "walk", "walks" and "walked" are one translation then, not three
unlikely ones. Where a space stands after every syllable, as in Vietnamese, the terms are words of
one to four syllables with their tone marks.

Most parallel text is about other things than mathematics: a Croatian "znak" is a character of a
keyboard there, and "dobiti" is to make a profit. So a translation counts as much more (or less) as
it is more (or less) frequent in mathematical texts than in the parallel text.
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
from mathsetu.training.encoder.prepare import nearly_nepali
from mathsetu.training.encoder.sources import LANGUAGES, answered, dictionary, translations

Pair = tuple[str, str]

# What a word most likely is; more alternatives bring no more answers.
_MOST = 3
# How likely a translation must be, before its frequency in mathematics is known and after, and how
# often it must be seen: an entry of a word list says as much as two sentences.
_CANDIDATE, _LEAST_CHANCE, _LEAST_COUNT, _LISTED = 0.004, 0.05, 2.0, 2.0
# Added to both frequencies, so that a rare word is not judged by chance. From 5e-6 to 1e-4 the
# tables say the same.
_SMOOTHING = 2e-5
# Two syllables are a word where they are seen together so often, and so much more often than by
# chance (normalised pointwise mutual information).
_TOGETHER, _BOUND = 8, 0.5


def write_word_tables(
    raw: Path, languages: Iterable[str], avoid: Iterable[str], folder: Path
) -> dict[str, int]:
    """Write the tables to English, and from it for the first languages; returns their sizes.

    Args:
        raw: The folder of texts and word lists, as for `prepare`.
        languages: Whose tables are written.
        avoid: Topics and queries: what shares ten words in a row with them is dropped.
        folder: Where ``SOURCE-TARGET.tsv.gz`` go.
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
                # An English question in many languages reads all of these tables: half of the words
                # are in no mathematical text.
                table = [line for line in table if line.partition("\t")[0] in met]
            counts |= _write(table, f"en-{language}", folder)
    return counts


def _pairs(raw: Path, language: str, unseen: Overlap) -> Iterator[Pair]:
    """Texts of a language with their English ones; Nepali has also what was made of Hindi."""
    for source in (language, "hi") if language == "ne" else (language,):
        for pair in translations(raw, source):
            meant = pair if source == language else nearly_nepali(pair)
            if meant and not unseen.touches(meant.english) and not unseen.touches(meant.other):
                yield meant.other, meant.english


def _said_in_mathematics(raw: Path, unseen: Overlap) -> dict[str, Counter[str]]:
    """How often terms are met in questions and answers, by language; nothing without such texts."""
    if not (raw / "qa.jsonl.xz").exists():
        return {}
    words: dict[str, Counter[str]] = {}
    for row in answered(raw):
        if not unseen.touches(row.question):
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
    # Without a date, so that the same texts give the same file.
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
    r"""The lines of a table, in the order of the terms.

    Args:
        pairs: Texts with their translations.
        listed: Entries of word lists, in the same order.
        source: The language whose terms are looked up.
        target: The language of the translations.
        said: How often terms of the target are met in mathematics, where that is known.

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

    learned = align_terms(rows(), _CANDIDATE, _LEAST_COUNT)
    # A stem is written as the form of it that is met most, which is what people are shown.
    usual = {term: min(own, key=lambda form: (-own[form], form)) for term, own in forms.items()}
    lines = []
    for term, candidates in sorted(learned.items()):
        likely = [one for one in _in_mathematics(candidates, seen, said) if one[1] >= _LEAST_CHANCE]
        if likely:
            lines.append(_line(term, [(usual[stem], chance) for stem, chance in likely[:_MOST]]))
    return lines


def _terms_of(word: str, language: str) -> list[str]:
    """The terms of a word; one with the stem of another is not said in its place."""
    return [word] if is_stem_collision(word, language) else analyze(word, language)


def _in_mathematics(
    candidates: Sequence[tuple[str, float]], seen: Counter[str], said: Mapping[str, int] | None
) -> list[tuple[str, float]]:
    """The translations of a term with their chances in mathematical texts, the likeliest first."""
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
    """What makes terms of a text: the analyzer, or words of several syllables."""
    row = row_of(language)
    if not row.spaces_syllables:
        return lambda text: [term for term in analyze(text, language) if not term.isdigit()]
    words = frozenset(_words_of_syllables(pairs, listed))

    def terms_of(text: str) -> list[str]:
        read = joined_syllables(tokenize(text), words)
        return [word for word in read if word not in row.stop_words and not word.isdigit()]

    return terms_of


def _words_of_syllables(pairs: Iterable[Pair], listed: Iterable[Pair]) -> Iterator[str]:
    """Words of several syllables: what the lists have, and syllables that keep together."""
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
        if count >= _TOGETHER:
            surprise = log(count * total / (single[first] * single[second]))
            if surprise / -log(count / total) > _BOUND:
                yield f"{first} {second}"
