"""A light stemmer for Croatian, for search: words of one family get the same stem.

It ignores accents, which are often not typed, and has three steps: it removes one inflectional
ending, then one derivational suffix (neprekidnost, neprekidan), and then undoes alternations
before endings (zadatak and zadaci, algoritam and algoritma). A stem keeps at least three letters.
It is a key, not a word: *konačan* gives ``konacn``.

>>> [stem(word) for word in ("brojevi", "brojeva", "brojem", "broj")]
['broj', 'broj', 'broj', 'broj']
>>> [stem(word) for word in ("zadatak", "zadatku", "zadaci")]
['zadak', 'zadak', 'zadak']
"""

from __future__ import annotations

import re

from mathsetu.languages.normalise import fold

# The letters before an ending decide whether it belongs to the word:
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
# The fleeting a: konačan, konačna; logaritam, logaritma; koeficijenata, koeficijent.
_FLEETING = re.compile(r"(?<=..[^aeiou])a(?=[kmnrt]$)")
_ALTERNATION = re.compile(r"(?<=ic)[kn]$|t(?=k$)")


def stem(word: str) -> str:
    """Return the stem that a Croatian word shares with related words.

    >>> stem("neprekidnost") == stem("neprekidan") == stem("neprekidnih")
    True
    """
    root = _FORMATION.sub("", _INFLECTION.sub("", fold(word)))
    root = _ALTERNATION.sub("", _FLEETING.sub("", root))
    # Matrica, matrični and matrici; nazivnik and nazivnici.
    return root[:-1] + "k" if root.endswith("c") else root
