"""Labels without names: every variable alike, every number alike."""

from __future__ import annotations


class _Abstraction(dict[str, str]):
    """Looks labels up, and fills itself: a look-up is the fastest call there is."""

    def __missing__(self, label: str) -> str:
        abstracted = label[0] if label.startswith(("V!", "N!")) else label
        if len(self) < 100_000:
            self[label] = abstracted
        return abstracted


#: The kind of a variable or number; any other label as it is.
#:
#: >>> ABSTRACT["V!x"], ABSTRACT["N!42"], ABSTRACT["U!plus"]
#: ('V', 'N', 'U!plus')
ABSTRACT = _Abstraction()
