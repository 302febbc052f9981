"""Splits a post into sentences, in any script, without losing a character.

Translation models are trained on sentences and fail on whole pages. A wrong split costs more than
a missing one, so there is no split at doubtful places (abbreviations, initials, a lower-case letter
after the full stop).
"""

from __future__ import annotations

import re

# Longer sentences are split at commas or spaces: models accept about 1,000 tokens, and a token is
# rarely shorter than a letter.
LONGEST = 600

# Possible ends of a sentence: a stop with closing quotes and white space after it, a stop of a
# script without spaces, a blank line, or the beginning of a list item.
_END = re.compile(
    r"(?<![.?!…؟۔])(?P<stop>[.?!…؟۔]++)[\"'»”’)\]]*+\s++"
    r"|[।॥]++[\"'»”’)\]]*+\s*+"
    r"|[。！？]++[」』”）]*+\s*+"
    r"|\n[^\S\n]*+\n\s*+"
    r"|\n(?=[^\S\n]*+(?:[-*+•#>|]|\d{1,3}[.)])\s)"
)
_LAST_WORD = re.compile(r"[\w.]+\Z")
_LINE_START = re.compile(r"(?:\A|\n)\s*\Z")
# Maximum length of an abbreviation; this limit keeps the time linear.
_LOOK_BACK = 30
_SHORT = frozenset(
    # English, and abbreviations common in mathematics
    "al approx cf ch chap cor defn dr ed eds e.g eg eq eqn eqns eqs fig figs i.e ie lem mr mrs ms "
    "p pp prof prop props ref refs resp sec sect st thm thms viz vol vs w.l.o.g wlog w.r.t wrt "
    # Spanish, Czech, Croatian
    "aprox ec ecs ej p.ej pág págs sr sra ud uds "
    "čl kap např obr popř příp rov str tab tj tzn tzv "
    "npr odn primj sl usp "
    # Hindi, Nepali, Persian
    "डॉ प्रो श्री उदा सं डा دکتر ص".split()
)
_CLAUSE_END = re.compile(r"[,;:،؛、，—–]\s*")
# Ends of a clause that may not be the end of a sentence.
_PAUSE = re.compile(r"(?:(?P<stop>[.?!…؟۔])|[;:؛])[\"'»”’)\]]*+\s++|[；：]\s*+")
_RUN = re.compile(r"[A-Za-z0-9]+\s*")


def sentences(text: str, longest: int = LONGEST) -> list[str]:
    """Return the sentences of a text, each with the white space that follows it.

    >>> sentences("Is 2.5 prime, e.g. in Z? No. क्या π अपरिमेय है? हाँ। बस।")
    ['Is 2.5 prime, e.g. in Z? ', 'No. ', 'क्या π अपरिमेय है? ', 'हाँ। ', 'बस।']
    """
    found: list[str] = []
    start = 0
    for end in _END.finditer(text):
        if end.start() >= start and _is_end(text, start, end):
            found += _shortened(text[start : end.end()], longest)
            start = end.end()
    return found + _shortened(text[start:], longest)


def clauses(text: str) -> list[str]:
    """Return the clauses of a text, each with the white space that follows it.

    Clauses are sentences, split also at semicolons and colons, and at stops before a lower-case
    letter.

    >>> clauses("All are primes. the number 3.5, i.e. 7/2, of Prof. Smith: none.")
    ['All are primes. ', 'the number 3.5, i.e. 7/2, of Prof. Smith: ', 'none.']
    """
    found: list[str] = []
    for sentence in sentences(text, longest=len(text)):
        start = 0
        for pause in _PAUSE.finditer(sentence):
            if pause["stop"] is None or not _is_short(_word_before(sentence, start, pause.start())):
                found.append(sentence[start : pause.end()])
                start = pause.end()
        found.append(sentence[start:])
    return [clause for clause in found if clause]


def _is_end(text: str, start: int, end: re.Match[str]) -> bool:
    """Whether a sentence that began at ``start`` really ends here."""
    stop = end["stop"]
    if stop is None or end[0].count("\n") > 1:
        return True
    if text[end.end() : end.end() + 1].islower():
        return False
    word = _word_before(text, start, end.start())
    if stop == "!":
        return len(word) != 1 and not word.isdigit()  # 5! and n! are factorials
    if stop != ".":
        return True
    before = text[max(start, end.start() - _LOOK_BACK) : end.start() - len(word)]
    if (word.isdigit() or len(word) == 1) and _LINE_START.search(before):
        return False  # "1. Show that"
    is_initial = len(word) == 1 and word.isupper()
    return not is_initial and word.lower() not in _SHORT


def _word_before(text: str, start: int, end: int) -> str:
    """Return the word that ends at a position and begins at ``start`` or later, else ''."""
    word = _LAST_WORD.search(text[max(start, end - _LOOK_BACK) : end])
    return word[0] if word is not None else ""


def _is_short(word: str) -> bool:
    """Whether a stop may belong to a word, as in 2. and n! and i.e. and Prof."""
    return word.isdigit() or len(word) == 1 or "." in word or word.lower() in _SHORT


def _shortened(sentence: str, longest: int) -> list[str]:
    """Split a sentence that is too long at a comma, else at a space, else between letters.

    Runs of ASCII letters and digits are never split, because masks of formulas are such runs.
    """
    pieces: list[str] = []
    start, end = 0, len(sentence.rstrip())
    while end - start > longest:
        cut = start + _cut(sentence[start : start + longest])
        if cut == start:
            run = _RUN.match(sentence, start)
            assert run is not None
            cut = run.end()
        pieces.append(sentence[start:cut])
        start = cut
    return [*pieces, sentence[start:]] if start < len(sentence) else pieces


def _cut(head: str) -> int:
    """Return the position of a split; zero for a single run of ASCII letters and digits."""
    clauses = [end.end() for end in _CLAUSE_END.finditer(head)]
    if clauses and clauses[-1] > len(head) // 3:
        return clauses[-1]
    for can_cut in (str.isspace, lambda letter: not (letter.isascii() and letter.isalnum())):
        for place in range(len(head), 0, -1):
            if can_cut(head[place - 1]):
                return place
    return 0
