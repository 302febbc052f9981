"""Determines the script of a text, as an ISO 15924 code.

>>> dominant_script("अपरिमेय number")
'Deva'
"""

from __future__ import annotations

import re
from collections import Counter

# Letters and marks of each script: sufficient to distinguish them, but not complete.
_RANGES = {
    "Latn": "A-Za-zªºÀ-ÖØ-öø-ɏɐ-ʯ\u1e00-\u1eff",
    "Deva": "\u0900-\u0963\u0971-\u097f\ua8e0-\ua8ff",
    "Arab": "\u0620-\u064a\u066e-\u06d3\u06fa-\u06ff\u0750-\u077f\ufb50-\ufdff\ufe70-\ufefc",
    "Cyrl": "\u0400-\u052f",
    "Grek": "\u0370-\u03ff\u1f00-\u1fff",
    "Hebr": "\u05d0-\u05ea",
    "Beng": "\u0980-\u09e3",
    "Guru": "\u0a00-\u0a5e\u0a70-\u0a75",
    "Gujr": "\u0a80-\u0ae3",
    "Orya": "\u0b00-\u0b63",
    "Taml": "\u0b80-\u0be5",
    "Telu": "\u0c00-\u0c63",
    "Knda": "\u0c80-\u0ce3",
    "Mlym": "\u0d00-\u0d63",
    "Sinh": "\u0d80-\u0de5",
    "Thai": "\u0e01-\u0e3a\u0e40-\u0e4e",
    "Laoo": "\u0e80-\u0ecf",
    "Mymr": "\u1000-\u103f",
    "Geor": "\u10a0-\u10ff",
    "Ethi": "\u1200-\u137f",
    "Khmr": "\u1780-\u17d3",
    "Armn": "\u0531-\u0587",
    "Hang": "\u1100-\u11ff\uac00-\ud7a3",
    "Jpan": "\u3041-\u30ff",
    "Hani": "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff",
}
_RUN = re.compile("|".join(f"(?P<{name}>[{letters}]+)" for name, letters in _RANGES.items()))


def letters_by_script(text: str) -> Counter[str]:
    """Count the letters of each script in a text.

    >>> letters_by_script("matrix का rank")
    Counter({'Latn': 10, 'Deva': 2})
    """
    count: Counter[str] = Counter()
    for run in _RUN.finditer(text):
        count[run.lastgroup or ""] += run.end() - run.start()
    return count


def dominant_script(text: str) -> str:
    """Return the dominant script of a text, empty if it has no letters.

    Latin letters have less weight than others, because English words and variables occur in texts
    of every language. Han characters next to kana are Japanese.

    >>> dominant_script("matrix का rank"), dominant_script("行列の階数"), dominant_script("1 + 2")
    ('Deva', 'Jpan', '')
    """
    count = letters_by_script(text)
    if not count:
        return ""
    if count["Jpan"]:
        count["Jpan"] += count.pop("Hani", 0)
    count["Latn"] //= 6
    return max(count, key=lambda script: (count[script], script))
