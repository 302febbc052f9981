"""A light stemmer for Croatian, for search: words of one family get the same stem.

Works without accents, as many people type, in three steps: one ending of inflection goes, then one
ending of word formation (neprekidnost, neprekidan), then the alternations that endings leave behind
(zadatak and zadaci, algoritam and algoritma). A stem keeps at least three letters. It is a key,
not a word: *konačan* gives ``konacn``.

>>> [stem(word) for word in ("brojevi", "brojeva", "brojem", "broj")]
['broj', 'broj', 'broj', 'broj']
>>> [stem(word) for word in ("zadatak", "zadatku", "zadaci")]
['zadak', 'zadak', 'zadak']
"""

from __future__ import annotations

import re

from mathsetu.languages.normalise import fold

# What looks like an ending but belongs to the word is kept by what stands before it:
# dijagrama, algoritama, mehanizama; broj, razvoj; polinom, binom, aksiom, atom; teorem, problem.
_INFLECTION = re.compile(
    r"""(?<=...)(?:
      (?<!gr)(?<!it)(?<!iz) ama | ima
    | (?<=[bcdfghjklmnprstvz]) (?: oga | omu | ome | ih | im )
    | (?<=[cjklntv]) og
    | (?<=[cjz]) (?: ega | eg | emu )
    | (?<![rv]) oj
    | (?<!lin)(?<!bin)(?<!mon)(?<!rin)(?<!ksi)(?<!at) om
    | (?: (?<=[cdjsz]) | (?<=st) ) em
    | imo
    | [aeiou]
    )$""",
    re.VERBOSE,
)
_FORMATION = re.compile(
    r"""(?<=...)(?:
      ost(?:im)? | osc                                            # neprekidnost, neprekidnošću
    | sk                                                          # geometrijski
    | ov | ev                                                     # brojevi, Eulerova
    | ir(?: at | an | anj | am | aj[mt]? | ajuc )?                # deriviramo, deriviranje
    | (?: ov | iv | av ) (?: at | anj ) | uj(?: em? | uc | t )?   # prikazivanje, dokazujemo
    | (?: (?<=az) | (?<=un) ) at | (?<!lim)(?<!okom) it           # dokazati, računati, riješiti
    | aj[mt]? | anj | enj                                         # računajte, računanje, rješenje
    )$""",
    re.VERBOSE,
)
# The a that comes and goes: konačan, konačna; logaritam, logaritma; koeficijenata, koeficijent.
_FLEETING = re.compile(r"(?<=..[^aeiou])a(?=[kmnrt]$)")
_ALTERNATION = re.compile(r"(?<=ic)[kn]$|t(?=k$)")


def stem(word: str) -> str:
    """The key under which a Croatian word and its relatives meet.

    >>> stem("neprekidnost") == stem("neprekidan") == stem("neprekidnih")
    True
    """
    root = _FORMATION.sub("", _INFLECTION.sub("", fold(word)))
    root = _ALTERNATION.sub("", _FLEETING.sub("", root))
    # Matrica, matrični and matrici; nazivnik and nazivnici.
    return root[:-1] + "k" if root.endswith("c") else root
