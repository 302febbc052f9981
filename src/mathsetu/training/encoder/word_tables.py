"""Tables of words that translate each other, for search by words (`mathsetu.languages.learned`).

The terms of one language (stems, as the analyzer makes them) are aligned with the words of the
other, to English and from it. Learned on the pairs that the encoder learns from, so nothing of a
topic is in it.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path

from mathsetu.languages.analyze import analyze
from mathsetu.languages.glossary.expansion import PAIR, PAIRED
from mathsetu.training.encoder.alignment import align_words, words_of
from mathsetu.training.encoder.examples import read_parallel
from mathsetu.training.encoder.overlap import Overlap
from mathsetu.training.encoder.sources import dictionary, translations

Pair = tuple[str, str]

# What a word most likely is; more alternatives bring no more answers.
_MOST = 3
# How likely a translation must be, and the word as one of the translation: most others are wrong.
_LEAST = (0.2, 0.03)
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
    """As `write_word_tables`, for languages whose raw material needs no more than cleaning.

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
        counts |= _write_both(language, [*pairs, *dictionary(raw, language)], folder)
    return counts


def _write_both(language: str, pairs: Sequence[Pair], folder: Path) -> dict[str, int]:
    """Write the tables from English and to it."""
    folder.mkdir(parents=True, exist_ok=True)
    back = [(other, english) for english, other in pairs]
    counts = {}
    for source, target, rows in (("en", language, pairs), (language, "en", back)):
        table = word_table(rows, source, target)
        name = f"{source}-{target}.tsv.gz"
        # Without a date, so that the same texts give the same file.
        (folder / name).write_bytes(gzip.compress("".join(table).encode(), mtime=0))
        counts[f"{source}-{target}"] = len(table)
    return counts


def word_table(pairs: Iterable[Pair], source: str, target: str) -> list[str]:
    r"""The lines of a table, in the order of the terms.

    >>> pairs = [("dvě ryby", "two fish"), ("dva domy", "two houses"), ("ryba", "fish")]
    >>> word_table(pairs * 3, "cs", "en")[-1]
    'ryb\tfish\t96\n'
    """
    terms = ((_terms(text, source), _spaced(other, target)) for text, other in pairs)
    learned = align_words(terms, _LEAST)
    lines = []
    for term, forms in sorted(learned.items()):
        # Stop words are in no index.
        said = [form for form in forms if analyze(form[0], target)][:_MOST]
        if said:
            cells = (f"{word}\t{round(100 * chance)}" for word, chance in said)
            lines.append("\t".join([term, *cells]) + "\n")
    return lines


def _terms(text: str, language: str) -> str:
    terms = analyze(" ".join(words_of(text)), language)
    if language in PAIRED:
        terms += [PAIR.join(pair) for pair in pairwise(terms)]
    return " ".join(terms)


def _spaced(text: str, language: str) -> str:
    """A text with blanks between its words; pairs of characters where its script has none."""
    if language not in _UNSPACED:
        return text
    return " ".join(analyze(" ".join(words_of(text)), language))
