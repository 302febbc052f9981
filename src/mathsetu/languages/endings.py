"""Endings that Snowball's stemmers leave apart, written alike before they get the word.

Snowball takes *funções* to ``funçõ`` and *função* to ``funçã``: its rules for such endings apply
only far inside a word. Other rules need accents: *multiplicação* is ``multiplic``, and
*multiplicacao* is not. So plurals of these kinds become singulars first, and endings that are
typed without accents get them. What comes out is a step to a stem, not always a word.

>>> [usual_ending(word, "portuguese") for word in ("funções", "funcao", "integrais", "ordens")]
['função', 'função', 'integral', 'ordem']
>>> usual_ending("equacions", "catalan"), usual_ending("egalites", "french")
('equació', 'egalités')
"""

from __future__ import annotations

import re
from typing import Final

#: Endings and what is written instead, by stemmer; the first one that fits counts.
ENDINGS: Final[dict[str, dict[str, str]]] = {
    "portuguese": {
        r"(?<=.)c(?:ao|[oõ]es)": "ção",
        r"(?<=.)(?:ao|[oõ]es|ães)": "ão",
        "(?<=..)ais": "al",
        "(?<=.)uis": "ul",
        "(?<=..)[aá]ve(?:l|is)": "ável",
        "(?<=.)[ií]ve(?:l|is)": "ível",
        "(?<=.)([oóu])veis": r"\1vel",  # móveis
        "(?<=.)n[eé]is": "nel",  # anéis, túneis
        "(?<=.)([bcgt])eis": r"\1il",  # difíceis, úteis
        "(?<=.)éis": "el",
        "(?<=..[bcdfglmnprstv])is": "il",  # percentis
        "(?<=.)([eiu])ns": r"\1m",
        "(?<=..)ons": "on",
        "(?<=.)aus": "au",
        "(?<=^[lr]ei)s": "",
        "(?<=^m[aá]xim|^m[ií]nim|^[uú]ltim|^d[eé]cim)os": "o",  # -imos is often of a verb
        "(?<=pr[oó]xim)os": "o",
        "(?<=^[aeiou][bcdflmnprst][bcdflmnprst][aeo])s": "",  # arcos, ondas
        "(?<=..)encia(s?)": r"ência\1",
    },
    "french": {
        "(?<=..)(ier|xion|it|o|u)s": r"\1",  # entiers, connexions, petits, zéros, résidus
        "(?<=.)(al|ar|bil|iv|nt)ite(s?)": r"\1ité\2",  # egalite, but limite
        "(?<=..)ee(s?)": r"ée\1",
        "(lieu|yau)x": r"\1",  # milieux, noyaux
    },
    "catalan": {
        "(?<=.[cst])io(?:ns)?": "ió",
        "(?<=[^g])ons": "ó",  # but polígons
        "(?<=[^r])ans": "à",  # but grans
        "(?<=.)ins": "í",
        "(?<=..)ques": "ca",
        "(?<=..)gues": "ga",
        "(?<=[bct]r|[rt]m)es?": "a",  # nombres, termes: Snowball takes -re and -me off
        "(?<=..[bcdfglmnprtu])s": "",  # símbols, graus
    },
}


def usual_ending(word: str, stemmer: str) -> str:
    """A word in lower case with the ending that its stemmer gets; mostly the word itself.

    Args:
        word: The word.
        stemmer: The stemmer, as `stem.py` names it.

    >>> usual_ending("números", "portuguese"), usual_ending("funciones", "spanish")
    ('números', 'funciones')
    """
    for ending, usual in _PATTERNS.get(stemmer, ()):
        if found := ending.search(word):
            return word[: found.start()] + found.expand(usual)
    return word


_PATTERNS: Final = {
    stemmer: [(re.compile(f"(?:{ending})$"), usual) for ending, usual in endings.items()]
    for stemmer, endings in ENDINGS.items()
}
