"""Term weighting: BM25+ and TF-IDF in SMART notation, over any number of index segments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from mathsetu.errors import InputError
from mathsetu.retrieval.postings import Postings
from mathsetu.retrieval.segments import Numbering

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float32]
    Count = int | NDArray[np.int64]

#: One thing that a query asks for, as terms with the weight of each: a word alone, or a word
#: with its translations and synonyms, which together count as one.
Wanted = Mapping[str, float]


@dataclass(frozen=True)
class Statistics:
    """What a weight may depend on beside the document: the collection as a whole."""

    documents: int
    average_length: float


class Scheme(Protocol):
    """How frequencies become scores."""

    def weigh(
        self, frequencies: Numbers, lengths: Numbers, containing: Count, collection: Statistics
    ) -> Numbers:
        """The weights of one term in the documents that contain it."""
        ...

    def ask(self, frequency: float, containing: int, collection: Statistics) -> float:
        """The weight of one term in the query."""
        ...

    def floor(self, containing: int, collection: Statistics) -> float:
        """What a document without the term gets for it."""
        ...

    @property
    def cosine(self) -> bool:
        """Whether document and query vectors are brought to length one."""
        ...


@dataclass(frozen=True)
class Bm25Plus:
    """BM25+ (Lv and Zhai, 2011): every matching term counts at least ``delta``.

    As in the rank_bm25 library that the MSM systems used, a document without the term gets
    ``delta`` times the term's idf as well, so ``delta`` moves all scores alike; with
    ``matched_only`` it goes to matching documents alone, as the paper defines it.
    """

    k1: float = 1.5
    b: float = 0.75
    delta: float = 1.0
    matched_only: bool = False
    cosine: bool = False

    def weigh(
        self, frequencies: Numbers, lengths: Numbers, containing: Count, collection: Statistics
    ) -> Numbers:
        """The weights of one term in the documents that contain it."""
        saturation = self.k1 * (1 - self.b + self.b * lengths / collection.average_length)
        weights = self.delta + frequencies * (self.k1 + 1) / (saturation + frequencies)
        return np.asarray(weights * self._idf(containing, collection))

    def ask(self, frequency: float, containing: int, collection: Statistics) -> float:
        """The weight of one term in the query: how often it is asked for."""
        return frequency

    def floor(self, containing: int, collection: Statistics) -> float:
        """What a document without the term gets for it."""
        if self.matched_only or not containing:
            return 0.0
        return float(self.delta * self._idf(containing, collection))

    @staticmethod
    def _idf(containing: Count, collection: Statistics) -> Any:
        return np.log((collection.documents + 1) / np.maximum(containing, 1))


@dataclass(frozen=True)
class Smart:
    """TF-IDF in SMART notation, one triple for documents and queries, as Gensim weighs.

    First letter: ``l`` logarithm of the frequency, ``n`` the frequency itself. Second: ``t``
    zero-corrected idf, ``n`` none. Third: ``c`` cosine normalisation, ``n`` none.
    """

    notation: str = "ltn"

    def __post_init__(self) -> None:
        known = len(self.notation) == 3 and all(
            letter in allowed
            for letter, allowed in zip(self.notation, ("ln", "tn", "cn"), strict=True)
        )
        if not known:
            raise InputError(
                f"unknown TF-IDF scheme {self.notation!r} (three letters: l or n, t or n, c or n)"
            )

    @property
    def cosine(self) -> bool:
        """Whether document and query vectors are brought to length one."""
        return self.notation[2] == "c"

    def weigh(
        self, frequencies: Numbers, lengths: Numbers, containing: Count, collection: Statistics
    ) -> Numbers:
        """The weights of one term in the documents that contain it."""
        weights = 1 + np.log2(frequencies) if self.notation[0] == "l" else frequencies
        return np.asarray(weights * self._idf(containing, collection))

    def ask(self, frequency: float, containing: int, collection: Statistics) -> float:
        """The weight of one term in the query, by the same scheme."""
        weight = 1 + log(frequency, 2) if self.notation[0] == "l" else frequency
        return float(weight * self._idf(containing, collection))

    def floor(self, containing: int, collection: Statistics) -> float:
        """What a document without the term gets for it."""
        return 0.0

    def _idf(self, containing: Count, collection: Statistics) -> Any:
        if self.notation[1] == "n":
            return 1.0
        return np.log2((collection.documents + 1) / np.maximum(containing, 1))


def make_scheme(settings: Mapping[str, Any]) -> Scheme:
    """A scheme from its settings: a name, and the parameters that it takes.

    >>> make_scheme({"name": "bm25+", "k1": 1.8}).k1
    1.8
    """
    parameters = dict(settings)
    name = parameters.pop("name", "bm25+")
    if not isinstance(name, str):
        raise InputError(f"the name of a scheme must be text, not {name!r}")
    if name != "bm25+":
        if parameters:
            raise InputError(f"the TF-IDF scheme {name!r} takes no {', '.join(parameters)}")
        return Smart(name)
    known = ("k1", "b", "delta", "matched_only")
    for parameter, value in parameters.items():
        if parameter not in known:
            raise InputError(f"bm25+ takes no {parameter!r} (known: {', '.join(known)})")
        if parameter == "matched_only":
            if not isinstance(value, bool):
                raise InputError(f"matched_only must be true or false, not {value!r}")
        elif not isinstance(value, int | float) or not 0 <= value < float("inf"):
            raise InputError(f"{parameter} must be a number from 0 on, not {value!r}")
    return Bm25Plus(**parameters)


class Weighted:
    """Segments of an index seen as one collection, under a scheme.

    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> from mathsetu.retrieval.postings import PostingsBuilder
    >>> builder, folder = PostingsBuilder(), Path(mkdtemp()) / "index"
    >>> for terms in ({"sum": 2, "prime": 1}, {"prime": 1}, {"ring": 1}):
    ...     builder.add(terms)
    >>> builder.write(folder)
    >>> weighted = Weighted([Postings(folder)], Bm25Plus(matched_only=True))
    >>> weighted.weigh([{"sum": 1}, {"prime": 1}]).scores().argsort().tolist()
    [2, 1, 0]
    """

    def __init__(self, segments: Sequence[Postings], scheme: Scheme) -> None:
        self.segments = segments
        self.scheme = scheme
        self.numbering = Numbering(map(len, segments))
        documents = len(self.numbering)
        length = sum(float(segment.lengths.sum()) for segment in segments)
        self.collection = Statistics(documents, length / documents if documents else 1.0)

    def weigh(self, query: Iterable[Wanted]) -> WeighedQuery:
        """A query, weighed by this collection."""
        return WeighedQuery(self, [dict(terms) for terms in query])

    @cached_property
    def norms(self) -> Numbers:
        """The length of every document's weight vector."""
        norms = []
        for segment in self.segments:
            counts = sum(other.counts_of(segment.terms) for other in self.segments)
            containing = np.repeat(np.asarray(counts), np.diff(segment.starts))
            frequencies = segment.frequencies.astype(np.float32)
            weights = self.scheme.weigh(
                frequencies, segment.lengths[segment.documents], containing, self.collection
            )
            norms.append(np.sqrt(np.bincount(segment.documents, weights**2, len(segment))))
        return np.asarray(np.maximum(np.concatenate(norms), 1e-9), dtype=np.float32)


class WeighedQuery:
    """What a query asks for, with the postings of its terms, which are looked up once."""

    def __init__(self, index: Weighted, wanted: Sequence[Wanted]) -> None:
        self._index, self._wanted = index, wanted
        self._scheme, self._collection = index.scheme, index.collection
        counts = self._containing()
        asked = (
            self._scheme.ask(_strength(terms), count, self._collection)
            for terms, count in zip(wanted, counts, strict=True)
        )
        #: In how many documents each wanted thing occurs, and what it weighs in the query.
        self._weights = list(zip(counts, asked, strict=True))
        self._found: dict[int, list[tuple[NDArray[np.int32], Numbers]]] = {}

    def scores(self) -> Numbers:
        """The score of every document, segment after segment."""
        if not self._wanted:
            return np.zeros(self._collection.documents, dtype=np.float32)
        total = np.concatenate([self._segment_scores(n) for n in range(len(self._index.segments))])
        if self._scheme.cosine:
            length = sum(asked**2 for _, asked in self._weights) ** 0.5 or 1.0
            total = total / (self._index.norms * length)
        return total

    def parts(self, document: int) -> list[float]:
        """What each wanted thing adds to the score of one document, floors and norms aside."""
        shares: list[float] = []
        number, place = self._index.numbering.locate(document)
        length = self._index.segments[number].lengths[place : place + 1]
        for (documents, frequencies), (count, asked) in zip(
            self._postings(number), self._weights, strict=True
        ):
            at = int(np.searchsorted(documents, place))
            if at == len(documents) or documents[at] != place:
                shares.append(0.0)
                continue
            weight = self._scheme.weigh(frequencies[at : at + 1], length, count, self._collection)
            shares.append(float(weight[0]) * asked)
        return shares

    def _containing(self) -> list[int]:
        """In how many documents each wanted thing occurs; of a group, its most frequent term.

        Any document with one of the terms contains the thing, so the true number lies between
        the most frequent term's and the sum; the former keeps rare synonyms from making a
        common word look rare, at no cost.
        """
        terms = [term for group in self._wanted for term in group]
        counts = sum(segment.document_counts(terms) for segment in self._index.segments)
        numbers = iter(np.asarray(counts).tolist())
        return [max(next(numbers) for _ in group) for group in self._wanted]

    def _segment_scores(self, number: int) -> Numbers:
        segment = self._index.segments[number]
        scores = np.zeros(len(segment), dtype=np.float32)
        everywhere = 0.0
        for (documents, frequencies), (count, asked) in zip(
            self._postings(number), self._weights, strict=True
        ):
            floor = self._scheme.floor(count, self._collection)
            everywhere += asked * floor
            if len(documents):
                weights = self._scheme.weigh(
                    frequencies, segment.lengths[documents], count, self._collection
                )
                scores[documents] += asked * (weights - floor)
        return scores + np.float32(everywhere)

    def _postings(self, number: int) -> list[tuple[NDArray[np.int32], Numbers]]:
        """The documents of each wanted thing in a segment, with its frequencies there."""
        if number not in self._found:
            segment = self._index.segments[number]
            self._found[number] = [_together(segment, terms) for terms in self._wanted]
        return self._found[number]


def _strength(terms: Wanted) -> float:
    """How strongly a thing is wanted: as strongly as the strongest of its terms."""
    return max(terms.values())


def _together(segment: Postings, terms: Wanted) -> tuple[NDArray[np.int32], Numbers]:
    """The documents of any of the terms, with the frequencies added up by relative weight."""
    found = list(segment.postings(list(terms)))
    if len(found) == 1:
        return found[0]
    strongest = _strength(terms)
    documents = np.concatenate([documents for documents, _ in found])
    frequencies = np.concatenate(
        [
            frequencies * np.float32(weight / strongest)
            for (_, frequencies), weight in zip(found, terms.values(), strict=True)
        ]
    )
    distinct, places = np.unique(documents, return_inverse=True)
    return distinct, np.bincount(places, frequencies, minlength=len(distinct)).astype(np.float32)
