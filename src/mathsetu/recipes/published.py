"""Figures that papers report for the systems that recipes rebuild (``published.tsv``)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib import resources

from mathsetu.evaluation import Measure


@dataclass(frozen=True, slots=True)
class Edition:
    """A year of a lab, with the size of its collection and its topics.

    Attributes:
        name: The lab and its year.
        posts: How many posts were searched.
        topics: How many topics were judged.
        without_relevant: The judged topics without a relevant post; None if unknown.
        with_additional: How many topics have any judgments; CrossMath averages over all of them.
    """

    name: str
    posts: int
    topics: int
    without_relevant: frozenset[str] | None = frozenset()
    with_additional: int = 0


# Some of the additional topics of ARQMath 2021, which CrossMath uses. The official judgments have
# only topics with a relevant post.
_WITHOUT_RELEVANT = "A.208 A.215 A.216 A.230 A.236 A.243 A.266 A.277 A.280"
#: The editions that were measured. ARQMath's posts are the answers from 2010 to 2018.
EDITIONS = {
    "2020": Edition("ARQMath 2020", 1_445_495, 77),
    "2021": Edition("ARQMath 2021", 1_445_495, 71, frozenset(_WITHOUT_RELEVANT.split()), 89),
    "2022": Edition("ARQMath 2022", 1_445_495, 78),
    "CLMIR": Edition("CLMIR 2025", 39_862, 50, without_relevant=None),
}
# The numbers of the topics of an edition.
_ARQMATH = {"2020": range(1, 101), "2021": range(201, 301), "2022": range(301, 401)}
_TOPIC = re.compile(r"A\.([0-9]{1,4})")
_CLMIR_TOPIC = re.compile(r"q_\d+")


@dataclass(frozen=True, slots=True)
class Published:
    """One figure of a paper, and its place there."""

    recipe: str
    edition: str
    language: str
    measure: Measure
    value: float
    source: str


def published_figures(recipe: str) -> list[Published]:
    """The figures that a paper reports for the system that a recipe rebuilds.

    >>> found = published_figures("msm-ens-8")
    >>> [(str(one.measure), one.value) for one in found if one.edition == "2022"]
    [("nDCG'", 0.576), ("MAP'", 0.214), ("P'@10", 0.309)]
    """
    text = (resources.files(__package__) / "published.tsv").read_text(encoding="utf-8")
    rows = (line.split("\t") for line in text.splitlines()[1:])
    return [
        Published(name, edition, language, Measure.parse(measure), float(value), source)
        for name, edition, language, measure, value, source in rows
        if name == recipe
    ]


def edition_of(topic: str) -> str:
    """The edition of a topic, from its name; empty if the topic is of no known edition.

    >>> edition_of("A.4"), edition_of("A.242"), edition_of("q_17"), edition_of("limits")
    ('2020', '2021', 'CLMIR', '')
    """
    if _CLMIR_TOPIC.fullmatch(topic):
        return "CLMIR"
    found = _TOPIC.fullmatch(topic)
    number = int(found[1]) if found else 0
    return next((year for year, numbers in _ARQMATH.items() if number in numbers), "")
