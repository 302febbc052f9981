"""Search by meaning with the built-in encoder, passage by passage.

The two texts of a post are divided into passages: what was asked (title and question) and what is
said (the body). A query is compared with each passage. Half of a post's score is its best passage
of all; the other half is the first passage of its question and the best passage of its body. So a
long answer is not reduced to one vector, and a title alone does not decide.

If there is no question, the title is also a passage of its own, once with and once without its
formulas, because queries are phrased like titles, often in words alone. The other half of the score
is then the best passage of the text. (After a question the title would count twice, which was
measured to be worse.)

The encoder is best at English. So a post in another language is read with the careful or the wide
network, as a query is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mathsetu.encoders import load_encoder
from mathsetu.encoders.accelerator import PROCESSOR
from mathsetu.encoders.builtin import FAST, NAME, BuiltinEncoder, reading_of
from mathsetu.errors import DamagedLibrary, InputError
from mathsetu.intake import PostFacts, Question
from mathsetu.plain_files import is_plain_folder
from mathsetu.records import Post, Reason
from mathsetu.retrieval import kernels
from mathsetu.retrieval.base import (
    BoundedCache,
    Kind,
    KnownScores,
    Scored,
    WrittenSegment,
    among,
    distinct,
)
from mathsetu.retrieval.mapped import InMemory, Mapped, check_rising
from mathsetu.retrieval.passages import Quotations, passages
from mathsetu.retrieval.postings import new_array, reading
from mathsetu.retrieval.query_vectors import query_glance, query_vector
from mathsetu.retrieval.segments import Numbering
from mathsetu.retrieval.sign_lists import SignLists, write_sign_lists
from mathsetu.retrieval.text_table import Texts, TextTable, write_texts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]
    _Prepared = tuple[list[bytes], tuple[int, int, int], tuple[str, str]]
    _Encoded = tuple[NDArray[np.int8], np.float32]

# Passages that are encoded together, by one of many processes and on an accelerator: enough to fill
# batches, few enough to keep all processes busy.
_BATCH_SIZE, _DEVICE_BATCH_SIZE = 64, 16_384
# Passages that are copied at a time when segments are merged.
_MERGE_BATCH_SIZE = 1 << 16
# The type in which passages are stored: first the reading, then the tokens.
_STORED_TYPE = np.dtype("<u4")
# The folder with the sign lists of a large segment.
_LISTS = "lists"
# A title without its formulas is a passage if it has at least this many tokens.
_MIN_WORDS = 5
# The shares of the best passage of all, the first of what was asked, and the best of what is said.
_BEST_SHARE, _QUESTION_SHARE, _BODY_SHARE = 0.5, 0.3, 0.2
# Passages whose sentences are cached with their vectors: good posts are found repeatedly.
_CACHED_QUOTATIONS = 2_000
#: Kinds of passages that a post has: what was asked, what is said, and the title alone.
KINDS = 3
# Below every cosine; the value for passages that a post does not have.
_NO_COSINE = -2.0
# Passages that are scored exactly after a first stage by sign bits: at least, at most, and one in
# how many of all passages.
_MIN_RESCORED, _MAX_RESCORED, _RESCORED_ONE_IN = 5_000, 20_000, 26
# Up to this many passages, all are scored exactly: a first stage would take longer.
_ALL_COMPARED = 16_000
# The nearest of these passages, whose posts are then scored as a whole.
_CANDIDATE_PASSAGES = 2_000
# Posts whose means are cached: good posts are found repeatedly.
_CACHED_MEANS = 20_000
# If a filter allows fewer posts than this share, only their passages are compared.
_FEW_ALLOWED = 1 / 16


@dataclass(frozen=True)
class MeaningSettings:
    """The settings of an index of passages.

    Attributes:
        model: ``mathsetu`` for the one that comes with the package, or the folder of another one
            that was made in the same way.
        tokens: The most tokens of a passage.
        question_passages: The most passages of title and question.
        body_passages: The most passages of the body.
        titles: Whether the title of a post without a question is also a passage of its own, once
            with its formulas and once without.
        careful: Whether posts in other languages than English are read with the careful or the wide
            network, which take three times as long.
        query_title: The weight of the title of a query that is not in English, relative to the
            whole query, if the query also has a text.
        min_cosine: The cosine at which a score is 0 (meaningless texts reach it); a post's score is
            its cosine minus this.
    """

    model: str = NAME
    tokens: int = 128
    question_passages: int = 2
    body_passages: int = 4
    titles: bool = True
    careful: bool = True
    query_title: float = 0.0
    min_cosine: float = 0.3

    def __post_init__(self) -> None:
        if (
            self.tokens < 8
            or self.question_passages < 0
            or self.body_passages < 0
            or self.question_passages + self.body_passages == 0
        ):
            raise InputError(
                "tokens must be at least 8, and question_passages or body_passages at least 1"
            )
        if not 0 <= self.query_title < float("inf"):
            raise InputError(f"query_title is {self.query_title:g}; it cannot be less than 0")
        if not -1 <= self.min_cosine < 1:
            raise InputError(
                f"min_cosine must be a cosine from -1 to below 1, not {self.min_cosine:g}"
            )


class MeaningBuilder:
    """Builds one segment; each distinct passage is encoded once, after all posts were added.

    Args:
        settings: The settings of the index.
        device: Where passages are encoded (see `BuiltinEncoder`).
    """

    merges_on_disk = True

    def __init__(self, settings: MeaningSettings, device: str = PROCESSOR) -> None:
        self._settings = settings
        self.reader = self
        alone = device != PROCESSOR
        batch = _DEVICE_BATCH_SIZE if alone else _BATCH_SIZE
        # Not shared between parts, because another model has other tokens.
        self.kind = Kind("passages", _tokens, batch, _longest_first, alone)
        self.read = partial(_encoded, settings.model, device)
        #: The tokens of each distinct passage, with the rows of its vector in the segment.
        self.wanted: dict[bytes, list[int]] = {}
        self._vectors: list[NDArray[np.int8]] = []
        self._scales: list[Vectors] = []
        self._counts: list[int] = []
        self._rows = 0
        self._texts: list[str] = []

    def prepare(self, facts: PostFacts) -> _Prepared:
        """The tokens of a post's passages, how many there are of each kind, and its texts."""
        settings, post = self._settings, facts.post
        encoder = _encoder(settings.model)
        asked, said = texts_of(post)
        texts = [asked, said, post.title, facts.texts["title"].words]
        how = reading_of(facts.language) if settings.careful else FAST
        first, second, *titles = encoder.tokens(texts, how)
        asked_passages = passages(first, settings.tokens, settings.question_passages)
        said_passages = passages(second, settings.tokens, settings.body_passages)
        alone = []
        if settings.titles and not post.question:
            alone = _titles(titles, said_passages, settings.tokens)
        rows = asked_passages + said_passages + alone
        encoder.check_room(rows)
        written = [np.array([how, *row], dtype=_STORED_TYPE).tobytes() for row in rows]
        counts = len(asked_passages), len(said_passages), len(alone)
        return written, counts, (asked, said)

    def add(self, prepared: _Prepared) -> None:
        """Add the next post."""
        rows, counts, texts = prepared
        for row in rows:
            self.wanted.setdefault(row, []).append(self._rows)
            self._rows += 1
        self._counts += counts
        self._texts += texts

    def take(self, passage: bytes, encoded: _Encoded) -> None:
        """Store the vector of a distinct passage, for all posts that have it."""
        vector, scale = encoded
        if not self._vectors:
            # All posts were added, so the number of rows is final.
            self._vectors = [np.zeros((self._rows, len(vector)), dtype=np.int8)]
            self._scales = [np.zeros(self._rows, dtype=np.float32)]
        rows = self.wanted[passage]
        self._vectors[0][rows] = vector
        self._scales[0][rows] = scale

    def write(self, folder: Path) -> None:
        """Write the segment into a new folder."""
        folder.mkdir(parents=True)
        empty = np.zeros((0, _encoder(self._settings.model).dimensions), dtype=np.int8)
        vectors = np.concatenate([empty, *self._vectors])
        scales = np.concatenate([np.zeros(0, dtype=np.float32), *self._scales])
        ends = np.array([0, *accumulate(self._counts)], dtype=np.int64)
        signs = kernels.sign_bits(vectors)
        arrays = {"vectors": vectors, "scales": scales, "ends": ends, "signs": signs}
        for name, array in arrays.items():
            np.save(folder / f"{name}.npy", array, allow_pickle=False)
        write_texts(folder / "texts", self._texts)

    def merge(self, sources: Sequence[WrittenSegment], folder: Path) -> None:
        """Merge posts of other segments into one, with their vectors."""
        folder.mkdir(parents=True)
        segments = [MeaningSegment(source.folder) for source in sources]
        found = [one.passages(source.kept) for one, source in zip(segments, sources, strict=True)]
        total = sum(len(rows) for rows, _ in found)
        dimensions = segments[0].vectors.shape[1]
        vectors = new_array(folder / "vectors.npy", np.int8, total, dimensions)
        signs = new_array(folder / "signs.npy", np.uint64, total, -(-dimensions // 64))
        scales = new_array(folder / "scales.npy", np.float32, total)
        written = 0
        for segment, (rows, _) in zip(segments, found, strict=True):
            for first in range(0, len(rows), _MERGE_BATCH_SIZE):
                own = rows[first : first + _MERGE_BATCH_SIZE]
                new = slice(written, written := written + len(own))
                vectors[new] = segment.vectors.at(own)[own]
                signs[new] = kernels.sign_bits(vectors[new])
                scales[new] = segment.scales[own]
        write_sign_lists(folder / _LISTS, vectors, signs)
        ends = np.cumsum(np.concatenate([[0], *(counts for _, counts in found)]))
        np.save(folder / "ends.npy", ends.astype(np.int64), allow_pickle=False)
        write_texts(
            folder / "texts",
            (
                segment.texts[2 * number + kind]
                for segment, source in zip(segments, sources, strict=True)
                for number in source.kept.tolist()
                for kind in range(2)
            ),
        )


def texts_of(post: Post) -> tuple[str, str]:
    """The two texts of a post: what was asked, and what is said."""
    # The title belongs to the question; without a question it belongs to the body.
    asked = f"{post.title}\n\n{post.question}" if post.question else ""
    return asked, post.body if post.question else f"{post.title}\n\n{post.body}"


def _titles(titles: Sequence[list[int]], there: list[list[int]], size: int) -> list[list[int]]:
    """The title with and without formulas, as passages, unless the post has these already.

    >>> _titles([[1, 2, 3, 4, 5, 9], [1, 2, 3, 4, 5]], [[1, 2, 3, 4, 5, 9]], 128)
    [[1, 2, 3, 4, 5]]
    >>> _titles([[1, 2, 9], [1, 2]], [[1, 2, 9, 7]], 128)
    [[1, 2, 9]]
    """
    whole, words = (passages(title, size, 1) for title in titles)
    # A title such as "Find the value of $x$" without its formula could be that of many posts.
    found = whole + (words if len(titles[1]) >= _MIN_WORDS else [])
    return [title for place, title in enumerate(found) if title not in there + found[:place]]


class MeaningSegment:
    """The files of one segment."""

    def __init__(self, folder: Path) -> None:
        self.vectors = Mapped(folder / "vectors.npy", "int8", dimensions=2)
        self._signs = Mapped(folder / "signs.npy", "uint64", dimensions=2)
        self._scales = Mapped(folder / "scales.npy", "float32")
        self._ends = Mapped(folder / "ends.npy", "int64")
        self._folder = folder
        self.texts: Texts = TextTable(folder / "texts")
        if (
            not len(self.vectors) == len(self._scales) == len(self._signs)
            or self._signs.shape[1] != -(-self.vectors.shape[1] // 64)
            or len(self.texts) % 2
            or len(self._ends) != KINDS * len(self) + 1
        ):
            raise DamagedLibrary(folder, "is damaged (its files do not belong together)")
        lists = folder / _LISTS
        self._lists = SignLists(lists, *self.vectors.shape) if is_plain_folder(lists) else None

    @classmethod
    def from_arrays(
        cls,
        place: str,
        vectors: NDArray[np.int8],
        scales: Vectors,
        ends: NDArray[np.int64],
        texts: Texts,
    ) -> MeaningSegment:
        """Make a segment in memory from its vectors, `scales`, `ends` and texts."""
        self = cls.__new__(cls)
        self.vectors, self._scales, self._ends = InMemory(vectors), InMemory(scales), InMemory(ends)
        self._signs = InMemory(kernels.sign_bits(vectors))
        self._folder, self.texts, self._lists = Path(place), texts, None
        return self

    def __len__(self) -> int:
        return len(self.texts) // 2

    @cached_property
    def scales(self) -> Vectors:
        """The scale factor of each vector."""
        return self._scales.whole

    @cached_property
    def ends(self) -> NDArray[np.int64]:
        """The bounds of passages, three kinds a post: ends[3 i] to ends[3 i + 1] is what was asked.

        There are two texts per post; the title alone is the beginning of what is said.
        """
        ends: NDArray[np.int64] = self._ends.whole
        check_rising(self._folder / "ends.npy", ends, len(self.vectors))
        return ends

    def nearest(self, number: int, query: Vectors) -> tuple[int, int]:
        """The text that a post's nearest passage belongs to, and the number of this passage in it.

        The passages of the title alone follow those of what is said.
        """
        start, middle, _, end = self.ends[KINDS * number : KINDS * (number + 1) + 1].tolist()
        if start == end:
            return 0, 0
        place = start + int(np.argmax(self.dots(np.arange(start, end), query)))
        return (0, place - start) if place < middle else (1, place - middle)

    def near_by_signs(
        self,
        query: Vectors,
        signs: NDArray[np.uint64],
        k: int,
        below: int,
        allowed: NDArray[np.bool_] | None,
    ) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """The passages nearest by sign bits, in ascending order, and their Hamming distances.

        Args:
            query: The query's vector.
            signs: Its sign bits.
            k: About how many passages to return.
            below: Only passages at a smaller distance count.
            allowed: Which posts may be found.
        """
        if allowed is None:
            return self._near_by_signs(query, signs, k, below)
        own = np.flatnonzero(allowed)
        if len(own) < len(self) * _FEW_ALLOWED:
            firsts = KINDS * own
            ranges = np.stack([self.ends[firsts], self.ends[firsts + KINDS]], axis=1)
            return kernels.nearest_signs(self._signs.whole, signs, k, ranges, below)
        # Comparing the passages of all posts is faster than so many ranges.
        rows, distances = self._near_by_signs(query, signs, k * len(self) // len(own), below)
        may = allowed[self.owners(rows)]
        return rows[may], distances[may]

    def _near_by_signs(
        self, query: Vectors, signs: NDArray[np.uint64], k: int, below: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        if self._lists is not None:
            return self._lists.near(query, signs, k, below)
        return kernels.nearest_signs(self._signs.whole, signs, k, below=below)

    def owners(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """The posts of passages."""
        return (np.searchsorted(self.ends, rows, side="right") - 1) // KINDS

    def cosines(self, posts: NDArray[np.int64], query: Vectors) -> Vectors:
        """The cosine of each post, weighted over its best, its question's and its body's passages.

        For a post without a question or a body it is the cosine of its best passage or, if its
        title is a passage, the mean of this and the best one of the text.
        """
        rows, counts = self.passages(posts)
        starts = np.cumsum(counts) - counts
        # A sentinel below every cosine, for empty ranges at the end.
        cosines = np.append(self.dots(rows, query), np.float32(_NO_COSINE))
        there = counts > 0
        best_of_kind = np.where(there, np.maximum.reduceat(cosines, starts), _NO_COSINE)
        asked, said, titled = there.reshape(-1, KINDS).T
        best_of_kind = best_of_kind.reshape(-1, KINDS)
        best_of_all, best_said = best_of_kind.max(axis=1), best_of_kind[:, 1]
        both = (
            _BEST_SHARE * best_of_all
            + _QUESTION_SHARE * cosines[starts[::KINDS]]
            + _BODY_SHARE * best_said
        )
        with_title = _BEST_SHARE * best_of_all + (1 - _BEST_SHARE) * best_said
        near = np.where(asked & said, both, np.where(said & titled, with_title, best_of_all))
        return np.where(best_of_all == _NO_COSINE, 0, near).astype(np.float32)

    def passages(self, posts: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The rows of posts' passages, grouped by post, and the number of passages of each kind.

        There are three kinds per post: what was asked, what is said, the title alone.
        """
        kinds = (KINDS * posts[:, None] + np.arange(KINDS)).reshape(-1)
        counts = self.ends[kinds + 1] - self.ends[kinds]
        before = np.cumsum(counts) - counts
        return np.repeat(self.ends[kinds] - before, counts) + np.arange(counts.sum()), counts

    def means(self, posts: NDArray[np.int64]) -> Vectors:
        """The mean vector of each post's passages, of length one; zeros for a blank post."""
        rows, counts = self.passages(posts)
        with reading(self._folder):
            vectors = self.vectors.at(rows)[rows].astype(np.float32)
        vectors *= self.scales[rows][:, None]
        means = np.zeros((len(posts), vectors.shape[1]), dtype=np.float32)
        sizes = counts.reshape(-1, KINDS).sum(axis=1)
        starts = np.cumsum(sizes) - sizes
        # Add the first passages of all posts, then the second ones: posts have few passages.
        for number in range(sizes.max(initial=0)):
            there = np.flatnonzero(sizes > number)
            means[there] += vectors[starts[there] + number]
        lengths = np.sqrt(np.einsum("ij,ij->i", means, means))
        means /= np.maximum(lengths, 1e-9)[:, None]
        return means

    def dots(self, rows: NDArray[np.int64], query: Vectors) -> Vectors:
        """The dot products of some passages with a query."""
        with reading(self._folder):
            return kernels.int8_dots(self.vectors.at(rows), self.scales, rows, query)


class MeaningRetriever:
    """Answers questions by meaning."""

    formula_finder = None
    heat_mapper = None

    def __init__(self, folders: Sequence[Path], settings: MeaningSettings) -> None:
        self.settings = settings
        self.segments = [MeaningSegment(folder) for folder in folders]
        self.numbering = Numbering(map(len, self.segments))
        self.posts = len(self.numbering)
        self.quotations = lru_cache(_CACHED_QUOTATIONS)(self._quotations)

    def ask(self, questions: Sequence[Question]) -> list[MeaningReply]:
        """Answer several questions."""
        return [MeaningReply(self, question) for question in questions]

    def near(self, query: Vectors, allowed: NDArray[np.bool_] | None) -> NDArray[np.int64]:
        """The candidate posts, in ascending order: those of the nearest passages.

        Passages are found by their sign bits, and the best of them are compared exactly.
        """
        passages = sum(len(segment.vectors) for segment in self.segments)
        wanted = min(_MAX_RESCORED, max(_MIN_RESCORED, passages // _RESCORED_ONE_IN))
        if passages <= _ALL_COMPARED:
            return np.arange(self.posts) if allowed is None else np.flatnonzero(allowed)
        [signs] = kernels.sign_bits(query[None])
        found: list[tuple[NDArray[np.int64], NDArray[np.int32]]] = []
        # The number of passages found at each distance, from 0 to the number of bits.
        counts = np.zeros(64 * len(signs) + 1, dtype=np.int64)
        below = len(counts)
        for segment, first in zip(self.segments, self.numbering.firsts, strict=True):
            may = None if allowed is None else allowed[first : first + len(segment)]
            found.append(segment.near_by_signs(query, signs, wanted, below, may))
            counts += np.bincount(found[-1][1], minlength=len(counts))
            # Later passages must be no farther than the last of those that are wanted.
            below = int(np.searchsorted(np.cumsum(counts), wanted)) + 1
        nearer = [rows[distances < below] for rows, distances in found]
        products = [
            segment.dots(rows, query) for segment, rows in zip(self.segments, nearer, strict=True)
        ]
        every = np.concatenate(products)
        least = -np.inf
        if len(every) > _CANDIDATE_PASSAGES:
            least = np.partition(every, -_CANDIDATE_PASSAGES)[-_CANDIDATE_PASSAGES]
        posts = [
            first + segment.owners(rows[dots >= least])
            for segment, first, rows, dots in zip(
                self.segments, self.numbering.firsts, nearer, products, strict=True
            )
        ]
        return distinct(np.concatenate(posts))

    def means(self, numbers: NDArray[np.int64]) -> Vectors:
        """The means of given posts' passages."""
        means = self._means.read(numbers.tolist())
        none = np.zeros((0, self.encoder.dimensions), dtype=np.float32)
        return np.stack([means[number] for number in numbers.tolist()]) if means else none

    @cached_property
    def _means(self) -> BoundedCache[Vectors]:
        return BoundedCache(self._compute_means, _CACHED_MEANS)

    def _compute_means(self, numbers: list[int]) -> dict[int, Vectors]:
        means: dict[int, Vectors] = {}
        for segment, places, own in self.numbering.by_segment(np.array(numbers, dtype=np.int64)):
            # Copies, because a view of one row would keep all rows in memory.
            found = map(np.copy, self.segments[segment].means(own))
            means |= zip((numbers[place] for place in places.tolist()), found, strict=True)
        return means

    def _quotations(self, segment: int, number: int, passage: int, language: str) -> Quotations:
        """The sentences of a passage that a reason may quote."""
        settings = self.settings
        most = settings.body_passages if number % 2 else settings.question_passages
        how = reading_of(language) if settings.careful else FAST
        text = self.segments[segment].texts[number]
        return Quotations(self.encoder, how, text, passage, settings.tokens, most)

    @cached_property
    def encoder(self) -> BuiltinEncoder:
        """The encoder, loaded with the first question so that a library opens fast."""
        encoder = _encoder(self.settings.model)
        for segment in self.segments:
            stored = segment.vectors.shape[1]
            if stored != encoder.dimensions:
                raise InputError(
                    f"{self.settings.model}: gives vectors of {encoder.dimensions} dimensions, the "
                    f"library holds {stored}; search with the model it was built with, or build it "
                    "again"
                )
        return encoder


class MeaningReply:
    """Scores posts for one question by meaning."""

    def __init__(self, retriever: MeaningRetriever, question: Question) -> None:
        self._retriever, self._question = retriever, question
        # The cosines of the posts that `best` has scored, which reasons name.
        self._known = KnownScores(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.float32))

    def best(self, k: int, allowed: NDArray[np.bool_] | None = None) -> Scored:
        """The best posts, all with a cosine above ``min_cosine``."""
        near = self._retriever.near(self._vector, allowed)
        cosines = self._compute(near)
        self._known = KnownScores(near, cosines)
        return among(near, self._above(cosines), k)

    def scores(self, numbers: NDArray[np.int64]) -> Vectors:
        """The scores of given posts."""
        return self._above(self._cosines(numbers))

    def reason(self, number: int, post: Post) -> Reason:
        """The cosine, and the nearest sentence of the nearest passage, or the text's first one."""
        cosine = float(self._cosines(np.array([number]))[0])
        place, own = self._retriever.numbering.locate(number)
        kind, passage = self._retriever.segments[place].nearest(own, self._vector)
        quotations = self._retriever.quotations(place, 2 * own + kind, passage, post.language)
        quoted = quotations.nearest(self._vector, lambda: self._glance)
        return Reason("meaning", cosine, f"cosine {cosine:.2f}: {quoted}" if quoted else "")

    def means(self, numbers: NDArray[np.int64]) -> Vectors:
        """The means of given posts' passages."""
        return self._retriever.means(numbers)

    def _above(self, cosines: Vectors) -> Vectors:
        scores: Vectors = np.maximum(cosines - np.float32(self._retriever.settings.min_cosine), 0)
        return scores

    @cached_property
    def _vector(self) -> Vectors:
        settings = self._retriever.settings
        return query_vector(
            self._retriever.encoder, self._question, settings.tokens, settings.query_title
        )

    @cached_property
    def _glance(self) -> Vectors:
        return query_glance(self._retriever.encoder, self._question)

    def _cosines(self, numbers: NDArray[np.int64]) -> Vectors:
        """The cosines of given posts."""
        return self._known.complete(numbers, self._compute)

    def _compute(self, numbers: NDArray[np.int64]) -> Vectors:
        cosines = np.zeros(len(numbers), dtype=np.float32)
        for segment, places, own in self._retriever.numbering.by_segment(numbers):
            cosines[places] = self._retriever.segments[segment].cosines(own, self._vector)
        return cosines


def quantize_int8(vectors: Vectors) -> tuple[NDArray[np.int8], Vectors]:
    """Quantise vectors to int8, each with its own scale, in a quarter of the space.

    >>> numbers, scales = quantize_int8(np.array([[0.6, -0.8]], dtype=np.float32))
    >>> (numbers * scales[:, None]).round(2).tolist()
    [[0.6000000238418579, -0.800000011920929]]
    """
    scales = np.maximum(np.abs(vectors).max(axis=1, initial=0), 1e-9) / 127
    return np.round(vectors / scales[:, None]).astype(np.int8), scales.astype(np.float32)


def _tokens(passage: bytes) -> NDArray[np.uint32]:
    """Decode a stored passage: its reading, then its tokens."""
    return np.frombuffer(passage, dtype=_STORED_TYPE)


def _longest_first(passage: bytes) -> int:
    # Passages of the same length go through the model together.
    return -len(passage)


def _encoded(model: str, device: str, passages: Sequence[NDArray[np.uint32]]) -> list[_Encoded]:
    """The int8 vector of each passage, with its scale."""
    encoder = _encoder(model, device)
    vectors = np.zeros((len(passages), encoder.dimensions), dtype=np.float32)
    for how in sorted({int(row[0]) for row in passages}):
        own = [place for place, row in enumerate(passages) if row[0] == how]
        rows = [passages[place][1:] for place in own]
        vectors[own] = encoder.encode_tokens(rows, how, steady=True)
    return list(zip(*quantize_int8(vectors), strict=True))


def _encoder(model: str, device: str = PROCESSOR) -> BuiltinEncoder:
    encoder = load_encoder(model, device=device)
    if not isinstance(encoder, BuiltinEncoder):
        raise InputError(f"{model}: is not a MathSetu model; use a part of kind dense")
    return encoder
