"""Words with their translations to and from English, learned from parallel text.

The glossary has the terms of mathematics, written by hand. The words around them ("shelf",
"apples", "how fast") are in tables that a program has made: it counted which words of a sentence
come with which words of its translation (``mathsetu train encoder words``). So they are many, and
sometimes wrong; each translation says how likely it is.

>>> LearnedWords.load("cs", "en").translations("ryb")[0][0]
'fish'
"""

from __future__ import annotations

import gzip
from functools import cache
from pathlib import Path

#: The tables, each ``SOURCE-TARGET.tsv.gz``.
FOLDER = Path(__file__).parent


class LearnedWords:
    r"""The translations of one language's terms into words of another.

    A line of a table is a term as the analyzer makes it, then words of the other language, each
    followed by its chance in per cent, all parted by tabs.

    >>> LearnedWords("ryb\tfish\t71\tfishes\t12\n").translations("ryb")
    [('fish', 0.71), ('fishes', 0.12)]
    """

    def __init__(self, table: str) -> None:
        # A query looks up a few terms; to find them in the text is faster than to take it apart.
        self._table = f"\n{table}"

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
        start = self._table.find(f"\n{term}\t") if term else -1
        if start < 0:
            return []
        _, *cells = self._table[start + 1 : self._table.index("\n", start + 1)].split("\t")
        chances = (int(chance) / 100 for chance in cells[1::2])
        return list(zip(cells[::2], chances, strict=True))

    def terms(self) -> list[str]:
        r"""All terms that have a translation.

        >>> LearnedWords("ryb\tfish\t71\nvod\twater\t90\n").terms()
        ['ryb', 'vod']
        """
        return [line.partition("\t")[0] for line in self._table.splitlines() if line]


_NAMES = frozenset(path.name for path in FOLDER.glob("*.tsv.gz"))
_NONE = LearnedWords("")


@cache
def _shipped(name: str) -> LearnedWords:
    return LearnedWords(gzip.decompress((FOLDER / name).read_bytes()).decode())
