"""An inverted index of weighted terms: small, memory-mapped, the same bytes for the same input.

Words and formula features share it. A term is identified by a 64-bit hash, so that looking up the
terms of a query is one binary search over numbers and no dictionary has to be loaded; among a
hundred million distinct terms, the probability that any two share a hash is one in three thousand.
Raw frequencies are stored and weighted at query time, because weights depend on the whole
collection while an index may consist of several segments.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property, lru_cache, partial
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mathsetu.errors import DamagedLibrary
from mathsetu.pool import ordered_threads
from mathsetu.retrieval import kernels
from mathsetu.retrieval.base import WrittenSegment
from mathsetu.retrieval.mapped import InMemory, Mapped, check_rising

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FILES = ("terms", "starts", "documents", "frequencies", "lengths")
# Postings that are sorted at a time.
_BATCH_SIZE = 1 << 22
# Parts of the terms that are merged at a time.
_THREADS = 4


# Cached, because the formulas of a query share most terms with each other and with the next query.
@lru_cache(maxsize=1 << 15)
def term_hash(term: str) -> int:
    """The hash of a term, the same on every machine.

    >>> term_hash("integral") == term_hash("integral") != term_hash("integrals")
    True
    """
    return int.from_bytes(blake2b(term.encode(), digest_size=8).digest(), "little")


class PostingsBuilder:
    """Collects the terms of documents, one after the other, and writes the index.

    >>> from tempfile import mkdtemp
    >>> builder, folder = PostingsBuilder(), Path(mkdtemp()) / "index"
    >>> builder.add({"sum": 2, "prime": 1})
    >>> builder.add({"prime": 1})
    >>> builder.write(folder)
    >>> Postings(folder).document_counts(["prime", "sum", "ring"]).tolist()
    [2, 1, 0]
    """

    def __init__(self) -> None:
        # Terms are numbered in order of appearance; a number takes half the space of a hash.
        self._numbers: dict[str, int] = {}
        self._hashes = array("Q")
        self._terms = array("I")
        self._frequencies = array("f")
        self._sizes = array("L")
        self._lengths = array("d")

    def add(self, terms: Mapping[str, float], length: float | None = None) -> None:
        """Add the next document: its terms with their frequencies."""
        numbers = self._numbers
        for term, frequency in terms.items():
            number = numbers.get(term)
            if number is None:
                number = numbers[term] = len(self._hashes)
                self._hashes.append(term_hash(term))
            self._terms.append(number)
            self._frequencies.append(frequency)
        self._sizes.append(len(terms))
        self._lengths.append(sum(terms.values()) if length is None else length)

    def write(self, folder: Path) -> None:
        """Write the postings, sorted by term, into a new folder.

        They are sorted and written in parts: sorting all at once would take several times their
        memory.
        """
        folder.mkdir(parents=True)
        hashes = np.frombuffer(self._hashes, dtype=np.uint64)
        vocabulary, ranks = np.unique(hashes, return_inverse=True)
        terms = np.frombuffer(self._terms, dtype=np.uint32)
        frequencies = np.frombuffer(self._frequencies, dtype=np.float32)
        sizes = np.frombuffer(self._sizes, dtype=f"u{self._sizes.itemsize}").astype(np.int64)
        ends = np.cumsum(sizes)
        parts = [slice(start, start + _BATCH_SIZE) for start in range(0, len(terms), _BATCH_SIZE)]
        counts = np.zeros(len(vocabulary), dtype=np.int64)
        for part in parts:
            counts += np.bincount(ranks[terms[part]], minlength=len(vocabulary))
        starts = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
        kind = np.uint8 if all(_is_small(frequencies[part]) for part in parts) else np.float32
        lengths = np.frombuffer(self._lengths, dtype=np.float64).astype(np.float32)
        for name, values in (("terms", vocabulary), ("starts", starts), ("lengths", lengths)):
            np.save(folder / f"{name}.npy", values, allow_pickle=False)
        documents_file = new_array(folder / "documents.npy", np.int32, len(terms))
        frequencies_file = new_array(folder / "frequencies.npy", kind, len(terms))
        free = starts[:-1].copy()
        for part in parts:
            own = ranks[terms[part]]
            # A stable sort keeps the documents of each term in their order.
            order = np.argsort(own, kind="stable")
            own = own[order]
            firsts = np.flatnonzero(np.append(True, own[1:] != own[:-1]))
            run = np.diff(np.append(firsts, len(own)))
            places = free[own] + np.arange(len(own)) - np.repeat(firsts, run)
            owners = np.searchsorted(ends, np.arange(part.start, part.start + len(own)), "right")
            documents_file[places] = owners[order]
            frequencies_file[places] = frequencies[part][order]
            free[own[firsts]] += run


def merge_postings(
    segments: Sequence[Postings],
    places: Sequence[NDArray[np.integer[Any]]],
    count: int,
    folder: Path,
) -> None:
    """Merge indexes into one in a new folder, one part of the terms at a time.

    Args:
        segments: The indexes.
        places: For each index, the new numbers of its documents; -1 for one that is left out.
        count: The number of documents in the new index.
        folder: The new folder.
    """
    folder.mkdir(parents=True)
    lengths = np.zeros(count, dtype=np.float32)
    total = 0
    for segment, numbers in zip(segments, places, strict=True):
        there = numbers >= 0
        lengths[numbers[there]] = segment.lengths[there]
        total += segment.size if there.all() else int(there[segment.documents].sum())
    small = all(segment.frequencies.dtype == np.uint8 for segment in segments)
    documents_file = new_array(folder / "documents.npy", np.int32, total)
    frequencies_file = new_array(
        folder / "frequencies.npy", np.uint8 if small else np.float32, total
    )
    # Hashes are distributed evenly, so that all parts have about the same number of postings.
    parts = max(1, sum(segment.size for segment in segments) // _BATCH_SIZE)
    limits = [np.uint64(2**64 * part // parts) for part in range(1, parts)]
    rows = [[0, *np.searchsorted(one.terms, limits).tolist(), len(one.terms)] for one in segments]
    terms, counts, written = [], [], 0
    pieces = (
        [
            (segment, slice(*ends[part : part + 2]), numbers)
            for segment, ends, numbers in zip(segments, rows, places, strict=True)
        ]
        for part in range(parts)
    )
    for merged in ordered_threads(partial(_merged_part, count=count), pieces, _THREADS):
        own = slice(written, written := written + len(merged.documents))
        documents_file[own], frequencies_file[own] = merged.documents, merged.frequencies
        terms.append(merged.terms)
        counts.append(merged.counts)
    starts = np.concatenate(([0], np.cumsum(np.concatenate(counts)))).astype(np.int64)
    for name, values in (
        ("terms", np.concatenate(terms)),
        ("starts", starts),
        ("lengths", lengths),
    ):
        np.save(folder / f"{name}.npy", values, allow_pickle=False)


class _Part(NamedTuple):
    """The postings of some terms, in order, and how many each has."""

    terms: NDArray[np.uint64]
    counts: NDArray[np.int64]
    documents: NDArray[np.integer[Any]]
    frequencies: NDArray[Any]


def _merged_part(
    pieces: Sequence[tuple[Postings, slice, NDArray[np.integer[Any]]]], count: int
) -> _Part:
    """Merge postings of several indexes: some terms of each, with new document numbers."""
    terms, sizes, documents, frequencies = [], [], [], []
    for segment, rows, numbers in pieces:
        starts = segment.starts[rows.start : rows.stop + 1]
        own = slice(int(starts[0]), int(starts[-1]))
        terms.append(segment.terms[rows])
        sizes.append(np.diff(starts))
        documents.append(numbers[segment.documents[own]])
        frequencies.append(segment.frequencies[own])
    distinct, ranks_of_terms = np.unique(np.concatenate(terms), return_inverse=True)
    ranks, numbers = np.repeat(ranks_of_terms, np.concatenate(sizes)), np.concatenate(documents)
    # Sort by term, then by document. Postings of each index are mostly in order already, and a
    # stable sort merges sorted runs.
    order = np.argsort(ranks * count + numbers, kind="stable")
    order = order[numbers[order] >= 0]
    counts = np.bincount(ranks[order], minlength=len(distinct))
    there = counts > 0
    return _Part(distinct[there], counts[there], numbers[order], np.concatenate(frequencies)[order])


def new_array(path: Path, kind: Any, length: int, *row: int) -> NDArray[Any]:
    """Create an array on disk, to be filled in; an empty one is not mapped, as it cannot be."""
    if not length:
        empty = np.zeros((0, *row), dtype=kind)
        np.save(path, empty, allow_pickle=False)
        return empty
    return np.lib.format.open_memmap(path, mode="w+", dtype=kind, shape=(length, *row))


def new_numbers(sources: Sequence[WrittenSegment], sizes: Iterable[int]) -> list[NDArray[np.int64]]:
    """The numbers of each segment's posts after the segments are merged; -1 for those left out.

    Args:
        sources: The segments.
        sizes: How many posts each has.
    """
    numbers, first = [], 0
    for source, size in zip(sources, sizes, strict=True):
        own = np.full(size, -1, dtype=np.int64)
        own[source.kept] = first + np.arange(len(source.kept))
        numbers.append(own)
        first += len(source.kept)
    return numbers


def merge_posts(sources: Sequence[WrittenSegment], folder: Path) -> None:
    """Merge the indexes of segments whose documents are posts."""
    segments = [Postings(source.folder) for source in sources]
    numbers = new_numbers(sources, map(len, segments))
    merge_postings(segments, numbers, sum(len(source.kept) for source in sources), folder)


@contextmanager
def reading(folder: Path) -> Iterator[None]:
    """Turn a ValueError of the inner loops into a `DamagedLibrary` that names the folder."""
    try:
        yield
    except ValueError as error:
        raise DamagedLibrary(folder, f"is damaged ({error})") from error


def _is_small(frequencies: NDArray[np.float32]) -> bool:
    """Whether all frequencies are integers that fit into a byte, as nearly all are."""
    with np.errstate(invalid="ignore"):
        return np.array_equal(frequencies.astype(np.uint8), frequencies)


class Postings:
    """An index on disk, opened without reading it: the files are mapped into memory."""

    def __init__(self, folder: Path) -> None:
        terms, starts, documents, frequencies, lengths = (folder / f"{name}.npy" for name in _FILES)
        self._terms, self._starts = Mapped(terms, "uint64"), Mapped(starts, "int64")
        self._lengths = Mapped(lengths, "float32")
        self._documents = Mapped(documents, "int32", below=len(self._lengths))
        self._frequencies = Mapped(frequencies, "uint8", "float32")
        self.folder = folder
        if (len(self._starts), len(self._frequencies)) != (
            len(self._terms) + 1,
            len(self._documents),
        ):
            raise DamagedLibrary(folder, "is damaged (its files do not belong together)")

    @classmethod
    def from_arrays(
        cls,
        place: str,
        owners: NDArray[np.int32],
        terms: NDArray[np.uint64],
        frequencies: NDArray[np.float32],
        lengths: NDArray[np.float32],
    ) -> Postings:
        """Make an index in memory.

        Args:
            place: Where its content comes from.
            owners: The document of each posting, in ascending order.
            terms: The hash of the term of each posting.
            frequencies: The frequency of each posting.
            lengths: The length of each document.

        >>> terms = np.array([7, 9, 7], dtype=np.uint64)
        >>> ones, lengths = np.ones(3, dtype=np.float32), np.array([2, 1], dtype=np.float32)
        >>> owners = np.array([0, 0, 1], dtype=np.int32)
        >>> held = Postings.from_arrays("here", owners, terms, ones, lengths)
        >>> held.counts_of(np.array([7, 8], dtype=np.uint64)).tolist()
        [2, 0]
        """
        self = cls.__new__(cls)
        # A stable sort keeps the documents of each term in their order.
        order = np.argsort(terms, kind="stable")
        distinct, starts = np.unique(terms[order], return_index=True)
        ends = np.append(starts, len(terms)).astype(np.int64)
        self._terms, self._starts = InMemory(distinct), InMemory(ends)
        self._documents, self._frequencies = InMemory(owners[order]), InMemory(frequencies[order])
        self._lengths, self.folder = InMemory(lengths), Path(place)
        return self

    def __len__(self) -> int:
        """How many documents there are."""
        return len(self._lengths)

    @cached_property
    def terms(self) -> NDArray[np.uint64]:
        """The hashes of all terms, in order."""
        return self._terms.whole

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """Where the postings of each term begin, and where the last ones end."""
        starts: NDArray[np.int64] = self._starts.whole
        check_rising(self.folder / "starts.npy", starts, len(self._documents))
        return starts

    @cached_property
    def lengths(self) -> NDArray[np.float32]:
        """The length of each document."""
        return self._lengths.whole

    @property
    def documents(self) -> NDArray[np.int32]:
        """The documents of all terms, grouped by term."""
        return self._documents.whole

    @property
    def frequencies(self) -> NDArray[np.float32] | NDArray[np.uint8]:
        """The frequencies of all terms in their documents."""
        return self._frequencies.whole

    @property
    def size(self) -> int:
        """How many postings there are."""
        return len(self._documents)

    def ranges(self, hashes: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Where the postings of terms, given by their hashes, begin and end; one row per term."""
        return kernels.ranges_of(self.starts, self._rows(hashes))

    def documents_in(self, ranges: NDArray[np.int64]) -> NDArray[np.int32]:
        """The documents of all terms, of which only those in these ranges may be read."""
        return self._documents.with_rows(ranges)

    def frequencies_in(self, ranges: NDArray[np.int64]) -> NDArray[Any]:
        """The frequencies of all terms, of which only those in these ranges may be read."""
        return self._frequencies.with_rows(ranges)

    def gather(self, ranges: NDArray[np.int64], wanted: NDArray[np.int64]) -> NDArray[Any]:
        """The frequencies of terms in documents with ascending numbers; one row per term."""
        with reading(self.folder):
            documents, frequencies = self.documents_in(ranges), self.frequencies_in(ranges)
            return kernels.gather(documents, frequencies, ranges, wanted)

    def document_counts(self, terms: Sequence[str]) -> NDArray[np.int64]:
        """In how many documents each term occurs."""
        return self.counts_of(term_hashes(terms))

    def counts_of(self, hashes: NDArray[np.uint64]) -> NDArray[np.int64]:
        """In how many documents each term occurs, terms given by their hashes."""
        rows = self._rows(hashes)
        return np.where(rows >= 0, self.starts[rows + 1] - self.starts[rows], 0)

    def postings(
        self, terms: Sequence[str]
    ) -> Iterator[tuple[NDArray[np.int32], NDArray[np.float32]]]:
        """The documents of each term, in order, with the term's frequencies there."""
        for row in self._rows(term_hashes(terms)).tolist():
            start, end = (self.starts[row], self.starts[row + 1]) if row >= 0 else (0, 0)
            frequencies = self._frequencies[start:end].astype(np.float32)
            yield self._documents[start:end], frequencies

    def _rows(self, hashes: NDArray[np.uint64]) -> NDArray[np.int64]:
        """The row of each term, -1 for one that no document has."""
        if not len(self.terms):
            return np.full(len(hashes), -1)
        rows = np.searchsorted(self.terms, hashes)
        return np.where(np.take(self.terms, rows, mode="clip") == hashes, rows, -1)


def term_hashes(terms: Sequence[str]) -> NDArray[np.uint64]:
    """The hashes of terms."""
    return np.array([term_hash(term) for term in terms], dtype=np.uint64)
