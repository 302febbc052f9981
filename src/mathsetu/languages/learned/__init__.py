"""Translations of words to and from English, learned from parallel text.

The glossary has the terms of mathematics, written by hand. Other words ("shelf", "apples", "how
fast") are in tables made by a program from co-occurrences of words in sentences and their
translations (``mathsetu train encoder words``). The tables are large and contain errors, so each
translation has a probability. Vietnamese tables have words of several syllables, with tone marks.

>>> LearnedWords.load("cs", "en").translations("ryb")[0][0]
'fish'
"""

from __future__ import annotations

import gzip
from functools import cache, cached_property
from pathlib import Path

from mathsetu.languages.normalise import fold

#: The tables, each ``SOURCE-TARGET.tsv.gz``.
FOLDER = Path(__file__).parent


class LearnedWords:
    r"""The translations of one language's terms into words of another.

    A line of a table is an analysed term, then words of the other language, each followed by its
    probability in per cent, separated by tabs. Lines are sorted by their terms.

    >>> LearnedWords("ryb\tfish\t71\tfishes\t12\n").translations("ryb")
    [('fish', 0.71), ('fishes', 0.12)]
    """

    def __init__(self, table: str) -> None:
        # A query looks up a few terms: binary search in the text is faster than parsing it.
        self._table = table

    @classmethod
    def load(cls, source: str, target: str) -> LearnedWords:
        """Return the shipped table of two languages; an empty table if there is none.

        Codes from posts and queries are untrusted, so only known file names are opened.
        """
        name = f"{source}-{target}.tsv.gz"
        return _shipped(name) if name in _NAMES else _NONE

    def translations(self, term: str) -> list[tuple[str, float]]:
        """Return the translations of a term with their probabilities, most likely first.

        >>> LearnedWords.load("cs", "hi").translations("ryb")
        []
        """
        table = self._table
        low, high = 0, len(table)
        while low < high:
            start = table.rfind("\n", low, (low + high) // 2) + 1 or low
            end = table.index("\t", start)
            own = table[start:end]
            if own == term:
                return _read_line(table[start : table.index("\n", end)])[1]
            if own < term:
                low = table.index("\n", end) + 1
            else:
                high = start
        return []

    def __contains__(self, term: object) -> bool:
        return term in self._terms

    @cached_property
    def _terms(self) -> frozenset[str]:
        return frozenset(self.terms())

    @cached_property
    def toneless(self) -> LearnedWords:
        r"""The table for texts typed without tone marks, with merged translations.

        >>> table = LearnedWords("chó\tdog\t90\nchợ\tmarket\t80\tfair\t10\n")
        >>> table.toneless.translations("cho")
        [('dog', 0.45), ('market', 0.4), ('fair', 0.05)]
        """
        gathered: dict[str, list[list[tuple[str, float]]]] = {}
        for line in self._table.splitlines():
            term, said = _read_line(line)
            gathered.setdefault(fold(term), []).append(said)
        lines = []
        for plain, meanings in sorted(gathered.items()):
            chances: dict[str, float] = {}
            for word, chance in (said for meaning in meanings for said in meaning):
                chances[word] = chances.get(word, 0.0) + chance / len(meanings)
            ranked = sorted(chances.items(), key=lambda pair: (-pair[1], pair[0]))
            cells = (f"{word}\t{round(100 * chance)}" for word, chance in ranked)
            lines.append("\t".join([plain, *cells]) + "\n")
        return LearnedWords("".join(lines))

    def terms(self) -> list[str]:
        r"""Return all terms that have a translation.

        >>> LearnedWords("ryb\tfish\t71\nvod\twater\t90\n").terms()
        ['ryb', 'vod']
        """
        return [line.partition("\t")[0] for line in self._table.splitlines()]


def _read_line(line: str) -> tuple[str, list[tuple[str, float]]]:
    """Return the term of a line and its translations with their probabilities."""
    term, *cells = line.split("\t")
    chances = (int(chance) / 100 for chance in cells[1::2])
    return term, list(zip(cells[::2], chances, strict=True))


_NAMES = frozenset(path.name for path in FOLDER.glob("*.tsv.gz"))
_NONE = LearnedWords("")


@cache
def _shipped(name: str) -> LearnedWords:
    return LearnedWords(gzip.decompress((FOLDER / name).read_bytes()).decode())
