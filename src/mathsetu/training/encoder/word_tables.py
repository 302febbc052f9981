"""Tables of words that translate each other, for search by words (`mathsetu.languages.learned`).

The terms of one language (stems, as the analyzer makes them) are aligned with the words of the
other, to English and from it. Learned on the pairs that the encoder learns from, so nothing of a
topic is in it.

Tables of further languages (`term_table`) are aligned stem with stem: "walk", "walks" and "walked"
are one translation then, not three unlikely ones. Where a space stands after every syllable, as in
Vietnamese, the terms are words of one to four syllables with their tone marks.
"""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from math import log
from pathlib import Path

from mathsetu.languages.analyze import analyze, tokenize
from mathsetu.languages.glossary.tokens import LONGEST_WORD, joined_syllables
from mathsetu.languages.table import language as row_of
from mathsetu.training.encoder.alignment import align_terms, align_words, without_formulas, words_of
from mathsetu.training.encoder.examples import read_parallel
from mathsetu.training.encoder.overlap import Overlap
from mathsetu.training.encoder.sources import dictionary, translations

Pair = tuple[str, str]

# What a word most likely is; more alternatives bring no more answers.
_MOST = 3
# How likely a translation must be, and the word as one of the translation: most others are wrong.
_LEAST = (0.2, 0.03)
# The same of stems, which gather the chances of their forms, and how often one must be seen: an
# entry of a word list says as much as two sentences.
_LEAST_CHANCE, _LEAST_COUNT, _LISTED = 0.05, 2.0, 2.0
# Two syllables are a word where they are seen together so often, and so much more often than by
# chance (normalised pointwise mutual information).
_TOGETHER, _BOUND = 8, 0.5
# Languages whose words are not parted by blanks, or hardly: their terms are pairs of characters.
_UNSPACED = frozenset({"zh", "ja", "ko", "th"})


def write_word_tables(prepared: Path, folder: Path) -> dict[str, int]:
    """Write all tables into a folder; returns how many terms each has.

    Args:
        prepared: The folder that ``mathsetu train encoder prepare`` has written.
        folder: Where ``SOURCE-TARGET.tsv.gz`` go.
    """
    texts: dict[str, list[Pair]] = {}
    for language, _, english, other in read_parallel(prepared):
        texts.setdefault(language, []).append((english, other))
    counts: dict[str, int] = {}
    for language, pairs in texts.items():
        counts |= _write_both(language, pairs, folder)
    return counts


def write_raw_word_tables(
    raw: Path, languages: Iterable[str], avoid: Iterable[str], folder: Path
) -> dict[str, int]:
    """Write the tables to English of languages whose raw material needs no more than cleaning.

    Args:
        raw: The folder of texts and word lists, as for `prepare`.
        languages: Whose tables are written.
        avoid: Topics and queries: what shares ten words in a row with them is dropped.
        folder: Where the tables go.
    """
    unseen = Overlap(avoid)
    counts: dict[str, int] = {}
    for language in languages:
        pairs = [
            (pair.english, pair.other)
            for pair in translations(raw, language)
            if not unseen.touches(pair.english) and not unseen.touches(pair.other)
        ]
        table = term_table(pairs, list(dictionary(raw, language)), language)
        counts |= _write(table, f"{language}-en", folder)
    return counts


def _write_both(language: str, pairs: Sequence[Pair], folder: Path) -> dict[str, int]:
    """Write the tables from English and to it."""
    back = [(other, english) for english, other in pairs]
    counts: dict[str, int] = {}
    for source, target, rows in (("en", language, pairs), (language, "en", back)):
        counts |= _write(word_table(rows, source, target), f"{source}-{target}", folder)
    return counts


def _write(table: Sequence[str], name: str, folder: Path) -> dict[str, int]:
    folder.mkdir(parents=True, exist_ok=True)
    # Without a date, so that the same texts give the same file.
    data = gzip.compress("".join(table).encode(), mtime=0)
    (folder / f"{name}.tsv.gz").write_bytes(data)
    return {name: len(table)}


def word_table(pairs: Iterable[Pair], source: str, target: str) -> list[str]:
    r"""The lines of a table, in the order of the terms.

    >>> pairs = [("dvě ryby", "two fish"), ("dva domy", "two houses"), ("ryba", "fish")]
    >>> word_table(pairs * 3, "cs", "en")[-1]
    'ryb\tfish\t96\n'
    """
    terms = ((_spaced(text, source), _spaced(other, target, stems=False)) for text, other in pairs)
    learned = align_words(terms, _LEAST)
    lines = []
    for term, forms in sorted(learned.items()):
        # Stop words are in no index.
        said = [form for form in forms if analyze(form[0], target)][:_MOST]
        if said:
            lines.append(_line(term, said))
    return lines


def term_table(pairs: Sequence[Pair], listed: Sequence[Pair], source: str) -> list[str]:
    r"""The lines of a table from a further language to English, in the order of the terms.

    Args:
        pairs: English texts with their translations.
        listed: Entries of word lists, English first.
        source: The further language.

    >>> pairs = [("two dogs walk", "zwei Hunde gehen"), ("a dog walked", "ein Hund ging")]
    >>> [line.split()[:2] for line in term_table(pairs * 3, [("dog", "Hund")], "de")][-2:]
    [['ging', 'walk'], ['hund', 'dog']]
    """
    terms_of = _reader(source, pairs, listed)
    forms: dict[str, Counter[str]] = {}

    def english_terms(text: str) -> list[str]:
        terms = []
        for word in words_of(text):
            for term in analyze(word, "en"):
                forms.setdefault(term, Counter())[word] += 1
                terms.append(term)
        return terms

    rows = (
        (terms_of(without_formulas(other)), english_terms(english), times)
        for texts, times in ((pairs, 1.0), (listed, _LISTED))
        for english, other in texts
    )
    learned = align_terms(rows, _LEAST_CHANCE, _LEAST_COUNT)
    # A stem is written as the form of it that is met most, which is what people are shown.
    usual = {term: min(own, key=lambda form: (-own[form], form)) for term, own in forms.items()}
    return [
        _line(term, [(usual[stem], chance) for stem, chance in stems[:_MOST]])
        for term, stems in sorted(learned.items())
    ]


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
    for _, entry in listed:
        syllables = tokenize(entry)
        if 1 < len(syllables) <= LONGEST_WORD:
            yield " ".join(syllables)
    single: Counter[str] = Counter()
    double: Counter[tuple[str, str]] = Counter()
    for _, text in pairs:
        syllables = tokenize(text)
        single.update(syllables)
        double.update(pairwise(syllables))
    total = single.total()
    for (first, second), count in double.items():
        if count >= _TOGETHER:
            surprise = log(count * total / (single[first] * single[second]))
            if surprise / -log(count / total) > _BOUND:
                yield f"{first} {second}"


def _spaced(text: str, language: str, *, stems: bool = True) -> str:
    """A text with blanks between its terms; pairs of characters where its script has no blanks."""
    if not stems and language not in _UNSPACED:
        return text
    return " ".join(analyze(" ".join(words_of(text)), language))
