"""Removes English glosses: English terms in brackets that repeat the term before them.

Queries in Hindi often have such glosses, as in सारणिक (determinant). Unless the gloss is removed,
this term has double weight in the query.
"""

from __future__ import annotations

import re

from mathsetu.languages.glossary import Glossary

_BRACKETS = re.compile(r" ?\(([^()]{2,60})\)")


def without_glosses(text: str, language: str) -> str:
    """Return a text without English terms in brackets that translate the term before them.

    Args:
        text: The text.
        language: Its language.

    >>> without_glosses("सारणिक (determinant) का मान (n x n)", "hi")
    'सारणिक का मान (n x n)'
    >>> without_glosses("spojitá funkce (inverse function)", "cs")
    'spojitá funkce (inverse function)'
    """
    if language in ("", "en") or not _BRACKETS.search(text):
        return text
    glossary = Glossary.load()
    terms = {match.end: match.concepts for match in glossary.match(text, language)}

    def kept(brackets: re.Match[str]) -> str:
        inside = brackets[1].strip()
        before = {concept.id for concept in terms.get(brackets.start(), ())}
        is_gloss = before and any(
            match.start == 0
            and match.end == len(inside)
            and before.intersection(concept.id for concept in match.concepts)
            for match in glossary.match(inside, "en")
        )
        return "" if is_gloss else brackets[0]

    return _BRACKETS.sub(kept, text)
