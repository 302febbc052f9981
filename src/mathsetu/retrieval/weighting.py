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
    >>> weighted.scores([{"sum": 1}, {"prime": 1}]).argsort().tolist()
    [2, 1, 0]
    """

    def __init__(self, segments: Sequence[Postings], scheme: Scheme) -> None:
        self.segments = segments
        self.scheme = scheme
        documents = sum(len(segment) for segment in segments)
        length = sum(float(segment.lengths.sum()) for segment in segments)
        self.collection = Statistics(documents, length / documents if documents else 1.0)

    def scores(self, query: Iterable[Wanted]) -> Numbers:
        """The score of every document, segment after segment."""
        wanted = [dict(terms) for terms in query]
        if not wanted:
            return np.zeros(self.collection.documents, dtype=np.float32)
        counts = self._containing(wanted)
        total = np.concatenate(
            [self._segment_scores(segment, wanted, counts) for segment in self.segments]
        )
        if self.scheme.cosine:
            asked = [
                self.scheme.ask(_strength(terms), count, self.collection)
                for terms, count in zip(wanted, counts, strict=True)
            ]
            total = total / (self._norms * (sum(weight**2 for weight in asked) ** 0.5 or 1.0))
        return total

    def parts(self, query: Sequence[Wanted], document: int) -> list[float]:
        """What each wanted thing adds to the score of one document, floors and norms aside."""
        counts = self._containing(query)
        shares: list[float] = []
        segment, place = self._locate(document)
        for terms, count in zip(query, counts, strict=True):
            documents, frequencies = _together(segment, terms)
            found = np.searchsorted(documents, place)
            if found == len(documents) or documents[found] != place:
                shares.append(0.0)
                continue
            weight = self.scheme.weigh(
                frequencies[found : found + 1],
                segment.lengths[place : place + 1],
                count,
                self.collection,
            )
            shares.append(
                float(weight[0]) * self.scheme.ask(_strength(terms), count, self.collection)
            )
        return shares

    def _locate(self, document: int) -> tuple[Postings, int]:
        for segment in self.segments:
            if document < len(segment):
                return segment, document
            document -= len(segment)
        raise IndexError(document)

    def _containing(self, wanted: Sequence[Wanted]) -> list[int]:
        """In how many documents each wanted thing occurs; of a group, its most frequent term.

        Any document with one of the terms contains the thing, so the true number lies between
        the most frequent term's and the sum; the former keeps rare synonyms from making a
        common word look rare, at no cost.
        """
        terms = [term for group in wanted for term in group]
        counts = sum(segment.document_counts(terms) for segment in self.segments)
        numbers = iter(np.asarray(counts).tolist())
        return [max(next(numbers) for _ in group) for group in wanted]

    def _segment_scores(
        self, segment: Postings, wanted: Sequence[Wanted], counts: Sequence[int]
    ) -> Numbers:
        scores = np.zeros(len(segment), dtype=np.float32)
        everywhere = 0.0
        for terms, count in zip(wanted, counts, strict=True):
            asked = self.scheme.ask(_strength(terms), count, self.collection)
            floor = self.scheme.floor(count, self.collection)
            everywhere += asked * floor
            documents, frequencies = _together(segment, terms)
            if len(documents):
                weights = self.scheme.weigh(
                    frequencies, segment.lengths[documents], count, self.collection
                )
                scores[documents] += asked * (weights - floor)
        return scores + np.float32(everywhere)

    @cached_property
    def _norms(self) -> Numbers:
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
