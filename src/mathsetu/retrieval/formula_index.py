"""The index files of formula search: an inverted index over structural features.

Formulas with the same LaTeX are stored once, with the posts that contain them.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mathsetu.errors import DamagedLibrary, InputError
from mathsetu.formulas.features import features, query_features
from mathsetu.formulas.parse import Parsed
from mathsetu.formulas.similarity import OPERATOR_FAMILIES, OPERATOR_WEIGHT
from mathsetu.intake.posts import PostFacts
from mathsetu.retrieval import kernels
from mathsetu.retrieval.base import FORMULAS, Scored, WrittenSegment, check_fields, one_by_one
from mathsetu.retrieval.mapped import InMemory, Mapped, check_rising
from mathsetu.retrieval.postings import Postings, PostingsBuilder, merge_postings, reading
from mathsetu.retrieval.text_table import Texts, TextTable, write_texts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float32]

_LAYOUT_WEIGHT = round(1 / OPERATOR_WEIGHT)
# Rows processed at a time, and the number of parts into which work on all of them is divided.
_BATCH_SIZE, _PARTS = 1 << 17, 16
# Bytes of the hash by which formulas are compared when segments are merged.
_DIGEST = 16


@dataclass(frozen=True)
class FormulaSettings:
    """The settings of a formula index.

    Attributes:
        fields: The fields of a post whose formulas count.
        matched: How many candidates are matched structurally for a query; several formulas of
            one query share this number.
        query_formulas: At most this many formulas of a query are searched for, the largest first.
        size_power: A query formula is weighted by the total weight of its features to this power;
            0 weights all formulas equally.
    """

    fields: tuple[str, ...] = ("title", "body", "question")
    matched: int = 20
    query_formulas: int = 6
    size_power: float = 1 / 3

    def __post_init__(self) -> None:
        check_fields(self.fields, ("title", "body", "question"))
        if self.matched < 0 or self.query_formulas < 1:
            raise InputError("matched must be at least 0, and query_formulas at least 1")
        if not 0 <= self.size_power <= 1:
            raise InputError("size_power must be from 0 to 1")


def feature_counts(parsed: Parsed, query: bool = False) -> Counter[str]:
    """The features of a formula with their weighted counts, in integers.

    Features of the operator tree have half the weight of the others
    (`mathsetu.formulas.similarity`), so the others count double: only proportions matter, and small
    integers make a small index.
    """
    counts = Counter((query_features if query else features)(parsed.slt, parsed.opt))
    for term in counts:
        if term[0] not in OPERATOR_FAMILIES:
            counts[term] *= _LAYOUT_WEIGHT
    return counts


class FormulaBuilder:
    """Builds one segment."""

    kind = FORMULAS

    merges_on_disk = True

    def __init__(self, settings: FormulaSettings) -> None:
        self._settings = settings
        #: The distinct formulas, each with its place among them.
        self.wanted: dict[str, int] = {}
        # The places of the formulas, in the order in which they were read.
        self._order: list[int] = []
        self._postings = PostingsBuilder()
        self._occurrences: list[int] = []
        self._starts = [0]
        self.read = one_by_one(feature_counts)
        self.reader = self

    def prepare(self, facts: PostFacts) -> list[str]:
        """The formulas of a post."""
        return facts.formulas(self._settings.fields)

    def add(self, prepared: list[str]) -> None:
        """Add the next post."""
        wanted = self.wanted
        self._occurrences += [wanted.setdefault(latex, len(wanted)) for latex in prepared]
        self._starts.append(len(self._occurrences))

    def take(self, latex: str, read: Counter[str]) -> None:
        """Add the features of the next formula."""
        self._order.append(self.wanted[latex])
        self._postings.add(read)

    def write(self, folder: Path) -> None:
        """Write the segment into a new folder."""
        unordered = folder.with_name(f"{folder.name}.unordered")
        shutil.rmtree(unordered, ignore_errors=True)  # left by a build that was killed
        self._postings.write(unordered)
        postings = Postings(unordered)
        [masses] = masses_of([postings])
        numbers = _numbers_by_mass(masses)
        merge_postings([postings], [numbers], len(postings), folder)
        shutil.rmtree(unordered)
        distinct = list(self.wanted)
        places = np.array(self._order, dtype=np.int64)
        write_texts(folder / "latex", (distinct[place] for place in places[np.argsort(numbers)]))
        new = np.empty(len(places), dtype=np.int32)
        new[places] = numbers
        _write_rest(folder, new[self._occurrences], np.array(self._starts, dtype=np.int64))

    def merge(self, sources: Sequence[WrittenSegment], folder: Path) -> None:
        """Merge posts of other segments into one; a formula of several segments is stored once."""
        segments = [FormulaSegment(source.folder) for source in sources]
        kept = [source.kept for source in sources]
        joined = _joined(segments, kept)
        # For a formula of several segments, take the postings of the first only.
        owned = [
            np.where(first, places, -1)
            for places, first in zip(joined.places, joined.are_first, strict=True)
        ]
        merge_postings([one.postings for one in segments], owned, joined.distinct, folder)
        _write_formulas(folder / "latex", segments, joined)
        counts = [one.counts(own) for one, own in zip(segments, kept, strict=True)]
        starts = np.cumsum(np.concatenate([[0], *counts])).astype(np.int64)
        occurrences = np.empty(starts[-1], dtype=np.int32)
        written = 0
        for segment, own, places in zip(segments, kept, joined.places, strict=True):
            found = places[segment.occurrences(own)]
            occurrences[written : (written := written + len(found))] = found
        _write_rest(folder, occurrences, starts)


def _numbers_by_mass(masses: Numbers) -> NDArray[np.int32]:
    """New numbers of formulas, in ascending order of mass.

    A search can then skip formulas that are far too light or too heavy to be similar to a query.
    """
    numbers = np.empty(len(masses), dtype=np.int32)
    numbers[np.argsort(masses, kind="stable")] = np.arange(len(masses), dtype=np.int32)
    return numbers


class _Joined(NamedTuple):
    """The distinct formulas of segments that are merged.

    Attributes:
        distinct: How many there are.
        places: For each segment, the new numbers of its formulas; -1 for those of no kept post.
        are_first: For each segment, which of its formulas no earlier segment has.
    """

    distinct: int
    places: list[NDArray[np.int32]]
    are_first: list[NDArray[np.bool_]]


def _joined(segments: Sequence[FormulaSegment], kept: Sequence[NDArray[np.int64]]) -> _Joined:
    """Number the distinct formulas of the kept posts, in ascending order of mass.

    Millions of formulas are compared by their hashes, one part of these at a time, so that memory
    holds little more than the hashes.
    """
    rows = [np.unique(one.occurrences(own)) for one, own in zip(segments, kept, strict=True)]
    ends = np.cumsum([0, *map(len, rows)])
    hashes = np.empty(ends[-1], dtype=f"V{_DIGEST}")
    masses = np.empty(ends[-1], dtype=np.float32)
    for segment, own, start, end in zip(segments, rows, ends, ends[1:], strict=False):
        texts = (segment.latex[row].encode() for row in own.tolist())
        digests = b"".join(blake2b(text, digest_size=_DIGEST).digest() for text in texts)
        hashes[start:end] = np.frombuffer(digests, dtype=hashes.dtype)
        masses[start:end] = segment.masses[own]
    parts = hashes.view(np.uint8).reshape(-1, _DIGEST)[:, 0] // (256 // _PARTS)
    distinct = np.empty(ends[-1], dtype=np.int32)
    is_first = np.zeros(ends[-1], dtype=np.bool_)
    own_masses = []
    count = 0
    for part in range(_PARTS):
        rows_of_part = np.flatnonzero(parts == part)
        found, firsts, numbers = np.unique(
            hashes[rows_of_part], return_index=True, return_inverse=True
        )
        distinct[rows_of_part] = count + numbers
        is_first[rows_of_part[firsts]] = True
        own_masses.append(masses[rows_of_part[firsts]])
        count += len(found)
    del hashes, masses, parts
    distinct = _numbers_by_mass(np.concatenate(own_masses))[distinct]
    places, are_first = [], []
    for segment, own, start, end in zip(segments, rows, ends, ends[1:], strict=False):
        places.append(np.full(len(segment), -1, dtype=np.int32))
        places[-1][own] = distinct[start:end]
        are_first.append(np.zeros(len(segment), dtype=np.bool_))
        are_first[-1][own] = is_first[start:end]
    return _Joined(count, places, are_first)


def _write_formulas(folder: Path, segments: Sequence[FormulaSegment], joined: _Joined) -> None:
    """Write the formulas of segments in the order of their new numbers."""
    owners = np.empty(joined.distinct, dtype=np.int32)
    rows = np.empty(joined.distinct, dtype=np.int32)
    for number, (places, is_first) in enumerate(zip(joined.places, joined.are_first, strict=True)):
        own = np.flatnonzero(is_first)
        owners[places[own]], rows[places[own]] = number, own
    write_texts(
        folder,
        (
            segments[owner].latex[row]
            for start in range(0, joined.distinct, _BATCH_SIZE)
            for owner, row in zip(
                owners[start : start + _BATCH_SIZE].tolist(),
                rows[start : start + _BATCH_SIZE].tolist(),
                strict=True,
            )
        ),
    )


def _write_rest(
    folder: Path, occurrences: NDArray[np.int32], post_starts: NDArray[np.int64]
) -> None:
    """Write next to the postings which posts have which formulas, and the formulas' masses."""
    postings = Postings(folder)
    posts, ends = posts_of_formulas(occurrences, post_starts, len(postings))
    [masses] = masses_of([postings])
    for name, values in (
        ("occurrences", occurrences),
        ("post_starts", post_starts),
        ("posts", posts),
        ("formula_starts", ends),
        ("masses", masses),
    ):
        np.save(folder / f"{name}.npy", values, allow_pickle=False)


def posts_of_formulas(
    occurrences: NDArray[np.int32], post_starts: NDArray[np.int64], formulas: int
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The posts of all formulas, grouped by formula, and where each group begins.

    >>> posts, starts = posts_of_formulas(np.array([1, 0, 1, 1]), np.array([0, 2, 4]), 2)
    >>> posts.tolist(), starts.tolist()
    ([0, 0, 1], [0, 1, 3])
    """
    owners = np.repeat(np.arange(len(post_starts) - 1, dtype=np.int32), np.diff(post_starts))
    found, counts = [np.empty(0, dtype=np.int32)], [np.zeros(1, dtype=np.int64)]
    # One part of the formulas at a time, so that memory holds few pairs.
    size = max(1, -(-formulas // _PARTS))
    for first in range(0, formulas, size):
        own = np.flatnonzero((occurrences >= first) & (occurrences < first + size))
        # The distinct pairs of a formula and a post, in order.
        pairs = np.unique((occurrences[own] - first).astype(np.int64) << 32 | owners[own])
        found.append((pairs & 0xFFFFFFFF).astype(np.int32))
        counts.append(np.bincount(pairs >> 32, minlength=min(size, formulas - first)))
    return np.concatenate(found), np.cumsum(np.concatenate(counts)).astype(np.int64)


def masses_of(segments: Sequence[Postings]) -> Iterator[Numbers]:
    """Yield, for each segment of a collection, the total feature weight (mass) of each formula.

    The weight of a feature depends on how many formulas of all segments have it.
    """
    rarities = [np.zeros(len(segment.terms), dtype=np.float32) for segment in segments]
    total = sum(map(len, segments))
    # One part of all features at a time, to save memory.
    limits = np.array([2**64 // _PARTS * part for part in range(1, _PARTS)], dtype=np.uint64)
    bounds = [
        np.concatenate(([0], np.searchsorted(one.terms, limits), [len(one.terms)]))
        for one in segments
    ]
    for part in range(_PARTS):
        own = [slice(int(ends[part]), int(ends[part + 1])) for ends in bounds]
        pairs = list(zip(segments, own, strict=True))
        terms = np.concatenate([segment.terms[rows] for segment, rows in pairs])
        counts = np.concatenate([np.diff(segment.starts)[rows] for segment, rows in pairs])
        _, numbers = np.unique(terms, return_inverse=True)
        containing = np.bincount(numbers, counts).astype(np.int64)
        found = np.split(rarity_of(containing, total)[numbers], _ends_of(own))
        for rarity, rows, values in zip(rarities, own, found, strict=True):
            rarity[rows] = values
    for segment, rarity in zip(segments, rarities, strict=True):
        masses = np.zeros(len(segment))
        for first in range(0, len(rarity), _BATCH_SIZE):
            starts = segment.starts[first : first + _BATCH_SIZE + 1]
            postings = slice(int(starts[0]), int(starts[-1]))
            weights = np.repeat(rarity[first : first + _BATCH_SIZE], np.diff(starts))
            weights *= segment.frequencies[postings]
            masses += np.bincount(segment.documents[postings], weights, len(segment))
        yield masses.astype(np.float32)


def _ends_of(slices: Sequence[slice]) -> list[int]:
    """Where each slice but the last ends when the rows of all slices are concatenated."""
    return list(accumulate(one.stop - one.start for one in slices))[:-1]


def join_masses(folders: Sequence[Path]) -> None:
    """Replace the masses of segments by those for a collection of all these segments."""
    for folder, masses in zip(folders, masses_of([Postings(one) for one in folders]), strict=True):
        np.save(folder / "masses.new.npy", masses, allow_pickle=False)
        (folder / "masses.new.npy").replace(folder / "masses.npy")


class FormulaSegment:
    """One segment, mapped into memory."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.postings = Postings(folder)
        self.latex: Texts = TextTable(folder / "latex")
        self._post_starts = Mapped(folder / "post_starts.npy", "int64")
        self._formula_starts = Mapped(folder / "formula_starts.npy", "int64")
        self._occurrences = Mapped(folder / "occurrences.npy", "int32", below=max(len(self), 1))
        self._posts = Mapped(folder / "posts.npy", "int32", below=max(self.posts, 1))
        self._masses = Mapped(folder / "masses.npy", "float32")
        if not len(self.latex) == len(self._masses) == len(self._formula_starts) - 1 == len(self):
            raise DamagedLibrary(folder, "is damaged (its files do not belong together)")
        if not len(self._post_starts):
            raise DamagedLibrary(folder, "is damaged (its files do not belong together)")

    @classmethod
    def from_arrays(
        cls,
        postings: Postings,
        latex: Texts,
        masses: Numbers,
        occurrences: NDArray[np.int32],
        post_starts: NDArray[np.int64],
    ) -> FormulaSegment:
        """Make a segment in memory.

        Args:
            postings: The postings of the features of its formulas.
            latex: The formulas.
            masses: The total feature weight of each formula.
            occurrences: The formulas of the posts, grouped by post.
            post_starts: Where the formulas of each post begin, and where the last ones end.
        """
        self = cls.__new__(cls)
        self.folder, self.postings, self.latex = postings.folder, postings, latex
        posts, starts = posts_of_formulas(occurrences, post_starts, len(postings))
        self._post_starts, self._formula_starts = InMemory(post_starts), InMemory(starts)
        self._occurrences, self._posts = InMemory(occurrences), InMemory(posts)
        self._masses = InMemory(masses)
        return self

    def __len__(self) -> int:
        """How many distinct formulas there are."""
        return len(self.postings)

    @property
    def posts(self) -> int:
        """How many posts there are."""
        return len(self._post_starts) - 1

    @cached_property
    def masses(self) -> Numbers:
        """The stored total feature weight of each formula; later segments may have changed it."""
        return self._masses.whole

    @cached_property
    def _checked_post_starts(self) -> NDArray[np.int64]:
        starts: NDArray[np.int64] = self._post_starts.whole
        check_rising(self.folder / "post_starts.npy", starts, len(self._occurrences))
        return starts

    @cached_property
    def _checked_formula_starts(self) -> NDArray[np.int64]:
        starts: NDArray[np.int64] = self._formula_starts.whole
        check_rising(self.folder / "formula_starts.npy", starts, len(self._posts))
        return starts

    def formulas_of(self, post: int) -> NDArray[np.int64]:
        """The distinct formulas of a post, in order of their numbers."""
        return np.unique(self.occurrences(np.array([post]))).astype(np.int64)

    def counts(self, posts: NDArray[np.int64]) -> NDArray[np.int64]:
        """The number of formulas of each post."""
        starts = self._checked_post_starts
        return np.asarray(starts[posts + 1] - starts[posts])

    def occurrences(self, posts: NDArray[np.int64]) -> NDArray[np.int32]:
        """The formulas of posts, grouped by post."""
        counts = self.counts(posts)
        before = np.cumsum(counts) - counts
        rows = np.repeat(self._checked_post_starts[posts] - before, counts)
        rows += np.arange(counts.sum())
        return np.asarray(self._occurrences.at(rows)[rows])

    def posts_with(self, formula: int) -> NDArray[np.int64]:
        """The posts that contain a formula, in order."""
        start, end = self._checked_formula_starts[formula : formula + 2]
        return self._posts[start:end].astype(np.int64)

    def best_posts(
        self,
        found: Sequence[Scored],
        weights: Sequence[float],
        k: int,
        allowed: NDArray[np.bool_] | None,
        floor: float,
    ) -> Scored:
        """The best posts, given the formulas that were found for each query formula."""
        numbers = np.concatenate([one.numbers for one in found])
        ranges = kernels.ranges_of(self._checked_formula_starts, numbers)
        groups = np.array([0, *accumulate(len(one.numbers) for one in found)], dtype=np.int64)
        with reading(self.folder):
            best_ones = kernels.best_posts(
                self._posts.with_rows(ranges),
                ranges,
                np.concatenate([one.scores for one in found]),
                groups,
                np.array(weights, dtype=np.float32),
                self.posts,
                k,
                allowed,
                floor,
            )
        return Scored(*best_ones)


def rarity_of(containing: NDArray[np.int64], total: int) -> Numbers:
    """The weights of features: the fewer formulas have a feature, the larger its weight."""
    return np.asarray(np.log1p((total - containing + 0.5) / (containing + 0.5)), dtype=np.float32)
