"""Measures as value objects: parsed from text, compared, and printed as they are typed.

``P@10`` is precision among the first ten hits. ``P'@10``, the prime form, first removes all
unjudged hits. ``P(rel=2)@10`` states the lowest relevant grade. ``nDCGmed`` is nDCG with another
gain; it has its own name so that its figures are not confused with those of nDCG.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from mathsetu.errors import InputError


@dataclass(frozen=True, slots=True)
class Kind:
    """The parameters that a measure accepts, and its name in ir-measures.

    ``cutoff`` is "needed", "optional" or "none". Only binary measures use the lowest relevant
    grade. ``elsewhere`` is the name in ir-measures if it differs, and ``settings`` are further
    parameters that ir-measures needs.
    """

    name: str
    meaning: str
    cutoff: str = "optional"
    prime: bool = True
    binary: bool = True
    elsewhere: str = ""
    settings: tuple[str, ...] = ()


KINDS = {
    kind.name: kind
    for kind in (
        Kind("P", "precision: the share of relevant hits", "needed"),
        Kind("MAP", "mean average precision", elsewhere="AP"),
        Kind("nDCG", "normalised discounted cumulative gain; the gain is the grade", binary=False),
        Kind(
            "nDCGmed",
            "nDCG from the medium grade on; the gain is grade - 1, as in the CrossMath paper",
            binary=False,
            elsewhere="nDCG",
            settings=("gains={0:0,1:0,2:1,3:2}",),
        ),
        Kind("MRR", "mean reciprocal rank of the first relevant hit", elsewhere="RR"),
        Kind("R", "recall: the share of relevant posts that were found"),
        Kind("bpref", "binary preference", "none", prime=False, elsewhere="Bpref"),
        Kind("Judged", "the share of judged hits", "needed", False, False),
    )
}

#: Named sets of measures: those that a lab reports, and the default of `mathsetu evaluate`.
SETS = {
    "default": ("nDCG@10", "MAP", "P@10", "MRR", "R@100", "bpref"),
    "arqmath": ("nDCG'", "MAP'", "P'@10"),
    "clmir": ("P@10", "MAP", "nDCG"),
    "crossmath": ("nDCGmed'@10", "P'@10"),
}

_OTHER_NAMES = {"ap": "MAP", "rr": "MRR", "recall": "R", "precision": "P"}
_NAMES = {name.lower(): name for name in KINDS} | _OTHER_NAMES
# The prime may be an ASCII apostrophe, a typographic apostrophe or a prime sign.
_TEXT = re.compile(r"([A-Za-z]+)(['’′]?)(?:\(rel=([0-9]{1,4})\))?(?:@([0-9]{1,6}))?")


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure.

    ``relevant_from`` is the lowest grade that counts as relevant; None uses that of the
    evaluation.

    >>> Measure.parse("ndcg'@10")
    Measure(name='nDCG', cutoff=10, judged_only=True, relevant_from=None)
    >>> print(Measure("P", 10, judged_only=True, relevant_from=2))
    P'(rel=2)@10
    """

    name: str
    cutoff: int | None = None
    judged_only: bool = False
    relevant_from: int | None = None

    def __post_init__(self) -> None:
        kind = KINDS.get(self.name)
        if kind is None:
            raise InputError(f"unknown measure {self.name!r} (known: {', '.join(KINDS)})")
        if self.cutoff is None and kind.cutoff == "needed":
            raise InputError(f"{self}: the cut-off is missing; write for example {self.name}@10")
        if self.cutoff is not None and (kind.cutoff == "none" or self.cutoff < 1):
            remedy = "it takes no cut-off" if kind.cutoff == "none" else "the cut-off is below 1"
            raise InputError(f"{self}: {remedy}")
        if self.judged_only and not kind.prime:
            raise InputError(f"{self}: {self.name} has no prime form; write it without the prime")
        if self.relevant_from is not None and (not kind.binary or self.relevant_from < 1):
            raise InputError(f"{self}: rel= must be at least 1, and is only for binary measures")

    def __str__(self) -> str:
        prime = "'" if self.judged_only else ""
        threshold = "" if self.relevant_from is None else f"(rel={self.relevant_from})"
        cutoff = "" if self.cutoff is None else f"@{self.cutoff}"
        return f"{self.name}{prime}{threshold}{cutoff}"

    @classmethod
    def parse(cls, text: str) -> Measure:
        """Parse a measure; case is ignored, and AP, RR, recall and precision are aliases.

        >>> print(Measure.parse("recall@100"))
        R@100
        """
        found = _TEXT.fullmatch(text.strip())
        name = _NAMES.get(found[1].lower()) if found else None
        if text.strip().lower() in SETS:
            members = ", ".join(SETS[text.strip().lower()])
            raise InputError(
                f"{text!r} is a set of measures; give one measure, such as one of: {members}"
            )
        if not found or name is None:
            known = ", ".join([*KINDS, *SETS])
            raise InputError(f"unknown measure {text!r} (known: {known}; such as P'@10, nDCG@10)")
        threshold, cutoff = (int(part) if part else None for part in found.groups()[2:])
        return cls(name, cutoff, bool(found[2]), threshold)

    def in_ir_measures(self, relevant_from: int) -> str:
        """The same measure in the notation of ir-measures, to check our figures against it.

        >>> Measure.parse("P'@10").in_ir_measures(2)
        'P(judged_only=True,rel=2)@10'
        """
        kind = KINDS[self.name]
        name = kind.elsewhere or self.name
        if self.name == "R" and self.cutoff is None:
            name = "SetR"
        settings = [*kind.settings, *(["judged_only=True"] if self.judged_only else [])]
        if kind.binary:
            settings.append(f"rel={self.relevant_from or relevant_from}")
        cutoff = "" if self.cutoff is None else f"@{self.cutoff}"
        return name + (f"({','.join(settings)})" if settings else "") + cutoff


def parse_measures(texts: Iterable[str] = ()) -> tuple[Measure, ...]:
    """Parse measures and named sets, without repetitions, in the order given.

    ``Judged@k`` is added for every cut-off in use (k = 10 if there is none), because other figures
    are hard to interpret without the share of judged hits.

    >>> print(*parse_measures(["arqmath", "P'@5"]))
    nDCG' MAP' P'@10 P'@5 Judged@5 Judged@10
    """
    asked: dict[Measure, None] = {}
    for text in texts or ("default",):
        for part in SETS.get(text.strip().lower(), (text,)):
            asked[Measure.parse(part)] = None
    cutoffs = {measure.cutoff for measure in asked if measure.cutoff} or {10}
    beside = (Measure("Judged", cutoff) for cutoff in sorted(cutoffs))
    return tuple(asked | dict.fromkeys(beside))


def gain_notes(measures: Iterable[Measure]) -> list[str]:
    """Notes for figures whose gain is not the grade.

    >>> gain_notes([Measure("nDCG", 10)])
    []
    >>> print(*gain_notes([Measure("nDCGmed", 10, judged_only=True), Measure("nDCG", 10)]))
    nDCGmed has the gain grade - 1 (low 0, medium 1, high 2), nDCG the grade itself: do not \
compare them
    """
    names = {measure.name for measure in measures}
    if "nDCGmed" not in names:
        return []
    note = "nDCGmed has the gain grade - 1 (low 0, medium 1, high 2)"
    return [f"{note}, nDCG the grade itself: do not compare them" if "nDCG" in names else note]
