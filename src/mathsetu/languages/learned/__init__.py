"""Words with their translations to and from English, learned from parallel text.

The glossary has the terms of mathematics, written by hand. The words around them ("shelf",
"apples", "how fast") are in tables that a program has made: it counted which words of a sentence
come with which words of its translation (``mathsetu train encoder words``). So they are many, and
sometimes wrong; each translation says how likely it is. Vietnamese tables hold words of several
syllables, with their tone marks.

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

    A line of a table is a term as the analyzer makes it, then words of the other language, each
    followed by its chance in per cent, all parted by tabs. Lines are in the order of their terms.

    >>> LearnedWords("ryb\tfish\t71\tfishes\t12\n").translations("ryb")
    [('fish', 0.71), ('fishes', 0.12)]
    """

    def __init__(self, table: str) -> None:
        # A query looks up a few terms; to find them in the text is faster than to take it apart.
        self._table = table

    @classmethod
    def load(cls, source: str, target: str) -> LearnedWords:
        """The table that is shipped for two languages; an empty one where there is none.

        Codes come from posts and queries, whatever they hold: only the name of a file that is there
        is ever opened.
        """
        name = f"{source}-{target}.tsv.gz"
        return _shipped(name) if name in _NAMES else _NONE

    def translations(self, term: str) -> list[tuple[str, float]]:
        """The words that a term may be, the likeliest first, with their chances.

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
        r"""The table for texts that were typed without tone marks: all that a term may be.

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
        r"""All terms that have a translation.

        >>> LearnedWords("ryb\tfish\t71\nvod\twater\t90\n").terms()
        ['ryb', 'vod']
        """
        return [line.partition("\t")[0] for line in self._table.splitlines()]


def _read_line(line: str) -> tuple[str, list[tuple[str, float]]]:
    """A term, and the words that it may be with their chances."""
    term, *cells = line.split("\t")
    chances = (int(chance) / 100 for chance in cells[1::2])
    return term, list(zip(cells[::2], chances, strict=True))


_NAMES = frozenset(path.name for path in FOLDER.glob("*.tsv.gz"))
_NONE = LearnedWords("")


@cache
def _shipped(name: str) -> LearnedWords:
    return LearnedWords(gzip.decompress((FOLDER / name).read_bytes()).decode())
