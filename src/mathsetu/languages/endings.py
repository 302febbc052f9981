"""Normalises endings that Snowball's stemmers do not conflate, before stemming.

Snowball stems *funções* to ``funçõ`` and *função* to ``funçã``, because its rules for such endings
apply only to longer words. Other rules need accents: *multiplicação* becomes ``multiplic``, but
*multiplicacao* does not. Therefore, plurals of these kinds first become singulars, and endings
typed without accents get them. The result is an intermediate form, not always a word.

>>> [normalise_ending(word, "english") for word in ("factorisation", "neighbourhood", "centre")]
['factorization', 'neighborhood', 'center']
>>> [normalise_ending(word, "portuguese") for word in ("funções", "funcao", "integrais", "ordens")]
['função', 'função', 'integral', 'ordem']
>>> normalise_ending("equacions", "catalan"), normalise_ending("egalites", "french")
('equació', 'egalités')
>>> [normalise_ending(word, "spanish") for word in ("unidades", "unidad", "matriz", "simetria")]
['unidade', 'unidade', 'matrice', 'simetría']
"""

from __future__ import annotations

import re
from typing import Final

#: Endings and their replacements, by stemmer; the first match applies.
ENDINGS: Final[dict[str, dict[str, str]]] = {
    # British spelling to American.
    "english": {
        # factorise, but not promise, compromise, treatise, surmise, advertise, expertise
        "(?<=..)(al|an|ar|as|at|en|er|es|et|gn|ic|id|il|im|in|it|iv|ll|nt|og|om|on|or|ot|rd|rm|rt|tr|ur)"
        "(?<!prom)(?<!^treat)(?<!^surm)(?<!advert)(?<!^expert)"
        "is(e[drs]?|ers|ing|able|ability|ations?|ational)": r"\1iz\2",
        "((?:^|an|at|ar)al)ys(e[drs]?|ers|ing)": r"\1yz\2",  # analyse, catalyse, paralyse
        "^((?:dis)?(?:arm|behavi|col|endeav|fav|flav|harb|hon|hum|lab|neighb|od|rig|rum|vap|vig))our"
        "(s|ed|ing|able|hood|hoods|ite|ites|ful|less|ly)?": r"\1or\2",
        "(calib|cent|fib|lit|theat|(?:^|kilo|centi|milli)met)re(s?)": r"\1er\2",
        "(cent|fib)red": r"\1ered",
        "^(sub)?programme(s?)": r"\1program\2",
        "^artefact(s?)": r"artifact\1",
    },
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
        "(?<=^m[aá]xim|^m[ií]nim|^[uú]ltim|^d[eé]cim)os": "o",  # -imos is often a verb ending
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
        "(?<=[bct]r|[rt]m)es?": "a",  # nombres, termes: Snowball removes -re and -me
        "(?<=..[bcdfglmnprtu])s": "",  # símbols, graus
    },
    "spanish": {
        "^(prim|terc)er": r"\1ero",
        "^gran": "grande",
        "^interes": "interés",
        "^radian": "radián",
        "^vac[ií]as?": "vacio",  # as vacío
        # Snowball removes -idad from long words, but only -ad, as in verbs, from unidad, igualdad.
        "(^[^aeiou]*[aeiou]+(?:[^aeiou]+[aeiou]*)?i)dad(?:es)?": r"\1dade",
        "(?<=[^i]d|.t)ad(?:es)?": "ade",
        "(?<=..[cprt])ed": "ede",  # pared, which is not par
        "(?<=..)ares": "ar",
        "(?<=..[^i])eres": "er",
        "(?<=..)andos": "ando",
        "([aáiír]gen|[aáiíruú]men|[oó]ven)es": r"\1",  # imágenes, but almacenes, Eratóstenes
        "(?<=[^h][aou]|[adlmprt][ií])z": "ce",  # luz, matriz, but Leibniz
        "^(.{1,2}e)z": r"\1ce",  # vez, but Fernández
        # -imos, -emos and -amos are often verb endings.
        "([áéíóú][^aeiou]{1,3}im|[áéíóú][^aeioubr]{1,3}am)os": r"\1o",
        "(maxim|minim|optim|ultim|roxim|[eé]sim|oprim|xtrem|uprem)os": r"\1o",
        "((?:^|[aciot]|[ei]lo)gram)os": r"\1o",
        "(cuad|mod)ernos": r"\1erno",
        "(?<=[eo])([ae])s": r"\1",  # líneas
        "(?<=..)osas": "osa",
        "(^[aeiouáéíóú][^aeiouáéíóú]+[aeo])s": r"\1",  # arcos, ejes
        "(^(?:[^aeiouáéíóú]+(?:[ií]a|ío)|pie))s": r"\1",  # días, ríos
        "(?<=..[bcdgkmpt])s": "",  # bits
        "(metr|log|graf|nom|sof|tr?op|noton|morf|nerg|rqu|teg?or|ayor|inor|nier)ia(s?)": r"\1ía\2",
    },
}


def normalise_ending(word: str, stemmer: str) -> str:
    """Return a lower-case word with its ending normalised for a stemmer.

    Args:
        word: The word; most words stay unchanged.
        stemmer: The stemmer, as `stem.py` names it.

    >>> normalise_ending("números", "portuguese"), normalise_ending("funciones", "spanish")
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
