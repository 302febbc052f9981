"""Term weighting: BM25+ and TF-IDF in SMART notation, over any number of index segments.

The best documents are found in two stages. The impact of each posting, which is what it adds to a
score before the multiplication by the term's idf, is stored in 256 steps with the postings. The
first stage adds up impacts in the compiled loops. The best documents of this stage, and some more,
are scored exactly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from math import log
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from mathsetu.errors import DamagedLibrary, InputError
from mathsetu.retrieval import kernels
from mathsetu.retrieval.base import Best, KnownScores, Scored, among, best
from mathsetu.retrieval.mapped import Mapped
from mathsetu.retrieval.postings import Postings, new_array, reading, term_hashes
from mathsetu.retrieval.segments import Numbering

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float32]
    Count = int | NDArray[np.int64]
    _LookedUp = tuple[NDArray[np.int64], NDArray[np.bool_], Numbers]

#: The terms of a query, with the weight of each.
Wanted = Mapping[str, float]
#: For each term of a translation, the query's words, as terms, that it may translate.
Translated = Mapping[str, Sequence[tuple[str, ...]]]
NOTHING_TRANSLATED: Translated = {}
# Additional documents that are scored exactly, because the order by coarse steps is approximate.
_EXTRA_CANDIDATES = 100
_STEPS = 255
# Postings that are weighted at a time.
_BATCH_SIZE = 1 << 22
# The norm of a document whose terms all have weight 0, to avoid a division by zero.
_NO_NORM = np.float32(1e-9)


@dataclass(frozen=True)
class Statistics:
    """Statistics of the collection, on which weights may depend."""

    documents: int
    average_length: float


class Scheme(Protocol):
    """A weighting scheme: how frequencies become scores."""

    def weigh(
        self, frequencies: Numbers, lengths: Numbers, containing: Count, collection: Statistics
    ) -> Numbers:
        """The weights of terms in the documents that contain them."""
        ...

    def impact(self, frequencies: Numbers, lengths: Numbers, collection: Statistics) -> Numbers:
        """What terms add to scores, without their idf and without what all documents get."""
        ...

    def rarity(self, containing: Count, collection: Statistics) -> Any:
        """The factor of the impacts, such as an idf."""
        ...

    def ask(self, frequency: float, containing: int, collection: Statistics) -> float:
        """The weight of one term in the query."""
        ...

    def floor(self, containing: int, collection: Statistics) -> float:
        """The score that a document without the term gets for it."""
        ...

    @property
    def cosine(self) -> bool:
        """Whether document and query vectors are normalised to length one."""
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
        """The weights of terms in the documents that contain them."""
        weights = self.delta + self._saturated(frequencies, lengths, collection)
        return np.asarray(weights * self.rarity(containing, collection))

    def impact(self, frequencies: Numbers, lengths: Numbers, collection: Statistics) -> Numbers:
        """What terms add to scores, without their idf and without what all documents get."""
        own = self.delta if self.matched_only else 0.0
        return own + self._saturated(frequencies, lengths, collection)

    def _saturated(self, frequencies: Numbers, lengths: Numbers, collection: Statistics) -> Numbers:
        saturation = self.k1 * (1 - self.b + self.b * lengths / collection.average_length)
        return np.asarray(frequencies * (self.k1 + 1) / (saturation + frequencies))

    def ask(self, frequency: float, containing: int, collection: Statistics) -> float:
        """The weight of one term in the query: its frequency there."""
        return frequency

    def floor(self, containing: int, collection: Statistics) -> float:
        """The score that a document without the term gets for it."""
        if self.matched_only or not containing:
            return 0.0
        return float(self.delta * self.rarity(containing, collection))

    def rarity(self, containing: Count, collection: Statistics) -> Any:
        """The idf of a term that a number of documents contain."""
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
                f"unknown scheme {self.notation!r} (known: bm25+, and TF-IDF as three letters: "
                "l or n, t or n, c or n)"
            )

    @property
    def cosine(self) -> bool:
        """Whether document and query vectors are normalised to length one."""
        return self.notation[2] == "c"

    def weigh(
        self, frequencies: Numbers, lengths: Numbers, containing: Count, collection: Statistics
    ) -> Numbers:
        """The weights of terms in the documents that contain them."""
        impact = self.impact(frequencies, lengths, collection)
        return np.asarray(impact * self.rarity(containing, collection))

    def impact(self, frequencies: Numbers, lengths: Numbers, collection: Statistics) -> Numbers:
        """What terms add to scores, without their idf."""
        return 1 + np.log2(frequencies) if self.notation[0] == "l" else frequencies

    def ask(self, frequency: float, containing: int, collection: Statistics) -> float:
        """The weight of one term in the query, by the same scheme.

        A translation may have a frequency below 1, where the logarithm could make it negative.
        """
        is_log = self.notation[0] == "l" and frequency > 1
        weight = 1 + log(frequency, 2) if is_log else frequency
        return float(weight * self.rarity(containing, collection))

    def floor(self, containing: int, collection: Statistics) -> float:
        """The score that a document without the term gets for it."""
        return 0.0

    def rarity(self, containing: Count, collection: Statistics) -> Any:
        """The idf of a term that a number of documents contain."""
        if self.notation[1] == "n":
            return 1.0
        return np.log2((collection.documents + 1) / np.maximum(containing, 1))


@dataclass(frozen=True)
class WithoutExtremes:
    """A scheme that ignores terms that are too rare or too frequent.

    As Gensim's ``filter_extremes``. Document frequencies are read at query time, so additions and
    removals take effect at once. Lengths of documents still include all terms.

    Attributes:
        scheme: The scheme for the other terms.
        min_documents: Terms in fewer documents are left out.
        max_share: Terms in a larger share of the documents are left out.
    """

    scheme: Scheme
    min_documents: int = 0
    max_share: float = 1.0

    @property
    def cosine(self) -> bool:
        """Whether document and query vectors are normalised to length one."""
        return self.scheme.cosine

    def weigh(
        self, frequencies: Numbers, lengths: Numbers, containing: Count, collection: Statistics
    ) -> Numbers:
        """The weights of terms in the documents that contain them."""
        weights = self.scheme.weigh(frequencies, lengths, containing, collection)
        return np.asarray(np.where(self._kept(containing, collection), weights, np.float32(0)))

    def impact(self, frequencies: Numbers, lengths: Numbers, collection: Statistics) -> Numbers:
        """What terms add to scores, without their idf and without what all documents get."""
        return self.scheme.impact(frequencies, lengths, collection)

    def rarity(self, containing: Count, collection: Statistics) -> Any:
        """The factor of the impacts, such as an idf."""
        kept = self._kept(containing, collection)
        return np.where(kept, self.scheme.rarity(containing, collection), 0.0)

    def ask(self, frequency: float, containing: int, collection: Statistics) -> float:
        """The weight of one term in the query."""
        if not self._kept(containing, collection):
            return 0.0
        return self.scheme.ask(frequency, containing, collection)

    def floor(self, containing: int, collection: Statistics) -> float:
        """The score that a document without the term gets for it."""
        return self.scheme.floor(containing, collection)

    def _kept(self, containing: Count, collection: Statistics) -> Any:
        most = self.max_share * collection.documents
        return (self.min_documents <= np.asarray(containing)) & (np.asarray(containing) <= most)


def make_scheme(settings: Mapping[str, Any]) -> Scheme:
    """Make a scheme from its settings: a name, and the parameters of the scheme.

    >>> make_scheme({"name": "bm25+", "k1": 1.8}).k1
    1.8
    """
    parameters = dict(settings)
    name = parameters.pop("name", "bm25+")
    if not isinstance(name, str):
        raise InputError(f"the name of a scheme must be text, not {name!r}")
    if name != "bm25+":
        scheme = Smart(name)
        if parameters:
            raise InputError(f"the TF-IDF scheme {name!r} takes no {', '.join(parameters)}")
        return scheme
    known = ("k1", "b", "delta", "matched_only")
    for parameter, value in parameters.items():
        if parameter not in known:
            raise InputError(f"bm25+ takes no {parameter!r} (known: {', '.join(known)})")
        if parameter == "matched_only":
            if not isinstance(value, bool):
                raise InputError(f"matched_only must be true or false, not {value!r}")
        elif not isinstance(value, int | float) or not 0 <= value < float("inf"):
            raise InputError(f"{parameter} must be a number of at least 0, not {value!r}")
        elif parameter == "b" and value > 1:
            raise InputError(f"b must be a number from 0 to 1, not {value!r}")
    return Bm25Plus(**parameters)


def write_impacts(folder: Path, scheme: Scheme) -> None:
    """Write the impact of each posting of a segment, in 256 steps."""
    segment = Postings(folder)
    index = WeightedIndex([segment], scheme)

    def impacts(part: slice) -> Numbers:
        documents = segment.documents[part]
        frequencies = segment.frequencies[part].astype(np.float32)
        values = scheme.impact(frequencies, segment.lengths[documents], index.collection)
        if not scheme.cosine:
            return values
        # In a small segment all terms of a document may be ignored as rare; its norm is then 0.
        norms = index.norms[documents]
        return np.where(norms > _NO_NORM, values / norms, values)

    # One part at a time, and each twice, so that memory does not grow with the index.
    parts = [slice(first, first + _BATCH_SIZE) for first in range(0, segment.size, _BATCH_SIZE)]
    largest = max((float(impacts(part).max()) for part in parts), default=1e-9)
    scale = np.float32(largest / _STEPS)
    steps = new_array(folder / "impacts.npy", np.uint8, segment.size)
    for part in parts:
        # At least one step, so that a document with a query term can always be found.
        steps[part] = np.clip(np.rint(impacts(part) / scale), 1, _STEPS)
    np.save(folder / "step.npy", np.array([scale]), allow_pickle=False)


class WeightedIndex:
    """The segments of an index as one collection, under a weighting scheme.

    >>> from tempfile import mkdtemp
    >>> from mathsetu.retrieval.postings import PostingsBuilder
    >>> builder, folder = PostingsBuilder(), Path(mkdtemp()) / "index"
    >>> for terms in ({"sum": 2, "prime": 1}, {"prime": 1}, {"ring": 1}):
    ...     builder.add(terms)
    >>> builder.write(folder)
    >>> scheme = Bm25Plus(matched_only=True)
    >>> write_impacts(folder, scheme)
    >>> index = WeightedIndex([Postings(folder)], scheme)
    >>> index.weigh({"sum": 1, "prime": 1}).best(5).numbers.tolist()
    [0, 1]
    """

    def __init__(self, segments: Sequence[Postings], scheme: Scheme) -> None:
        self.segments = segments
        self.scheme = scheme
        self.numbering = Numbering(map(len, segments))
        documents = len(self.numbering)
        length = sum(float(segment.lengths.sum()) for segment in segments)
        self.collection = Statistics(documents, length / documents if documents else 1.0)

    def weigh(self, query: Wanted, translated: Translated = NOTHING_TRANSLATED) -> WeighedQuery:
        """Weight a query by the statistics of this collection."""
        return WeighedQuery(self, query, translated)

    @cached_property
    def impacts(self) -> list[tuple[Mapped, float]]:
        """For each segment, the impacts of its postings, in steps, and the size of a step."""
        found = []
        for segment in self.segments:
            impacts = Mapped(segment.folder / "impacts.npy", "uint8")
            step = Mapped(segment.folder / "step.npy", "float32")
            if len(step) != 1 or len(impacts) != segment.size:
                raise DamagedLibrary(
                    segment.folder, "is damaged (its files do not belong together)"
                )
            found.append((impacts, float(step.whole[0])))
        return found

    @cached_property
    def norms(self) -> Numbers:
        """The length of every document's weight vector."""
        norms = []
        for segment in self.segments:
            counts = np.asarray(sum(other.counts_of(segment.terms) for other in self.segments))
            squares = np.zeros(len(segment))
            for first in range(0, segment.size, _BATCH_SIZE):
                part = slice(first, first + _BATCH_SIZE)
                documents = segment.documents[part]
                rows = np.arange(first, first + len(documents))
                containing = counts[np.searchsorted(segment.starts, rows, side="right") - 1]
                weights = self.scheme.weigh(
                    segment.frequencies[part].astype(np.float32),
                    segment.lengths[documents],
                    containing,
                    self.collection,
                )
                squares += np.bincount(documents, weights**2, len(segment))
            norms.append(np.sqrt(squares))
        return np.asarray(np.maximum(np.concatenate(norms), _NO_NORM), dtype=np.float32)


def adjusted_document_frequencies(
    counts: NDArray[np.int64], wanted: Wanted, translated: Translated
) -> NDArray[np.int64]:
    """The document frequencies of terms; that of a translation is no lower than its original's.

    A library may have few posts in one language and many in another. That does not make a word more
    specific: if it is frequent in the language of the query, so is its translation.

    Args:
        counts: The number of documents that have each of the wanted terms.
        wanted: The terms.
        translated: The terms that they translate.

    >>> wanted = {"theorem": 1.0, "teorema": 1.0}
    >>> translated = {"teorema": [("theorem",)]}
    >>> adjusted_document_frequencies(np.array([30, 1]), wanted, translated).tolist()
    [30, 30]
    """
    counted = dict(zip(wanted, counts.tolist(), strict=True))
    raised = counted.copy()
    for term, originals in translated.items():
        if counted.get(term):  # a term of no document stays at 0
            # Of several words, and of several terms that it translates, the rarest counts.
            own = min((counted.get(one, 0) for one in chain.from_iterable(originals)), default=0)
            raised[term] = max(own, counted[term])
    return np.array(list(raised.values()), dtype=np.int64)


class WeighedQuery:
    """The weighted terms of a query, looked up once."""

    def __init__(
        self, index: WeightedIndex, wanted: Wanted, translated: Translated = NOTHING_TRANSLATED
    ) -> None:
        self._index, self._scheme, self._collection = index, index.scheme, index.collection
        hashes = term_hashes(list(wanted))
        #: The ranges of the terms' postings in each segment.
        self._ranges = [segment.ranges(hashes) for segment in index.segments]
        counts = sum((np.diff(ranges)[:, 0] for ranges in self._ranges), np.zeros(len(wanted), int))
        #: The document frequency of each term, adjusted for translations.
        self._counts = adjusted_document_frequencies(
            np.asarray(counts, dtype=np.int64), wanted, translated
        )
        #: The weight of each term in the query.
        self._asked = [
            self._scheme.ask(strength, count, self._collection)
            for strength, count in zip(wanted.values(), self._counts.tolist(), strict=True)
        ]
        #: The documents that were scored in each segment, with their term weights; these include
        #: the best ones, which will be explained.
        self._looked_up: dict[int, list[_LookedUp]] = {}
        self._known = KnownScores(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.float32))

    def best(self, k: int, allowed: NDArray[np.bool_] | None = None) -> Scored:
        """The best documents that contain any of the terms."""
        if not self._asked or not k:
            return best(np.zeros(0, dtype=np.float32), 0)
        rarities = self._scheme.rarity(self._counts, self._collection) * np.array(self._asked)
        # Rare terms first: most documents can be skipped before common terms are read.
        order = np.argsort(-rarities, kind="stable")
        nearly = Best(k + _EXTRA_CANDIDATES)
        for segment, (impacts, step), ranges, first in zip(
            self._index.segments,
            self._index.impacts,
            self._ranges,
            self._index.numbering.firsts,
            strict=True,
        ):
            with reading(segment.folder):
                found = kernels.best_by_impact(
                    segment.documents_in(ranges),
                    impacts.with_rows(ranges),
                    ranges[order],
                    np.asarray(rarities[order] * step, dtype=np.float32),
                    len(segment),
                    nearly.wanted,
                    None if allowed is None else allowed[first : first + len(segment)],
                    nearly.floor,
                )
            nearly.add(first, Scored(*found))
        numbers = np.sort(nearly.result.numbers)
        self._known = KnownScores(numbers, self._compute(numbers))
        return among(numbers, self.scores(numbers), k)

    def scores(self, numbers: NDArray[np.int64]) -> Numbers:
        """The exact scores of some documents."""
        return self._known.complete(numbers, self._compute)

    def _compute(self, numbers: NDArray[np.int64]) -> Numbers:
        scores = np.zeros(len(numbers), dtype=np.float32)
        if not self._asked:
            return scores
        floors, asked = self._floors, np.array(self._asked)
        for segment, places, own in self._index.numbering.by_segment(numbers):
            order = np.argsort(own, kind="stable")
            there, weights = self._weights(segment, own[order])
            self._looked_up.setdefault(segment, []).append((own[order], there, weights))
            added = np.where(there, asked[:, None] * (weights - floors[:, None]), 0)
            scores[places[order]] = added.sum(axis=0) + asked @ floors
        if self._scheme.cosine:
            length = sum(asked**2 for asked in self._asked) ** 0.5 or 1.0
            scores /= self._index.norms[numbers] * np.float32(length)
        return scores

    @cached_property
    def _floors(self) -> Numbers:
        """The score that a document gets for each term that it lacks."""
        return np.array([self._scheme.floor(count, self._collection) for count in self._counts])

    def parts(self, document: int) -> list[float]:
        """What each term adds to the score of one document, without floors and norms."""
        there, weights = self._looked_up_or_found(*self._index.numbering.locate(document))
        added: list[float] = np.where(there, weights * self._asked, 0).tolist()
        return added

    def _looked_up_or_found(self, segment: int, own: int) -> tuple[NDArray[np.bool_], Numbers]:
        """Which terms one document of a segment has, and their weights."""
        for numbers, there, weights in self._looked_up.get(segment, ()):
            column = int(np.searchsorted(numbers, own))
            if column < len(numbers) and numbers[column] == own:
                return there[:, column], weights[:, column]
        there, weights = self._weights(segment, np.array([own]))
        return there[:, 0], weights[:, 0]

    def _weights(self, number: int, wanted: NDArray[np.int64]) -> tuple[NDArray[np.bool_], Numbers]:
        """Which terms some documents of a segment have, and the weights; a row for each term."""
        segment = self._index.segments[number]
        frequencies = segment.gather(self._ranges[number], wanted).astype(np.float32)
        there = frequencies > 0
        return there, self._scheme.weigh(
            np.where(there, frequencies, 1),
            segment.lengths[wanted],
            self._counts[:, None],
            self._collection,
        )
