"""Search by meaning: posts and queries as vectors of an encoder, compared by their cosine.

A segment holds the vectors (``vectors.npy``, mapped into memory), the texts they were made from,
and for the IVF kinds the lists that FAISS divided them into. Searching needs numpy alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mathsetu.encoders import Encoder, load_encoder
from mathsetu.errors import DamagedLibrary, InputError
from mathsetu.languages.analyze import tokenize, words
from mathsetu.languages.transliterate import romanise
from mathsetu.markup import snippet
from mathsetu.records import Post, Reason
from mathsetu.retrieval.base import Question, Scored, best
from mathsetu.retrieval.ivf import Division, Ivf, write_ivf
from mathsetu.retrieval.mapped import Mapped
from mathsetu.retrieval.texts import TextTable, write_texts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

# Posts that are encoded at once: enough to put texts of like length together.
_CHUNK = 512
# Queries whose scores are held at once.
_BATCH = 16
# Vectors of queries that are remembered; a search, its scores and its reasons all need them.
_REMEMBERED = 4096
# Sentences of a post that an explanation looks at; each costs a pass through the model.
_SENTENCES = 24


@dataclass(frozen=True)
class Dense:
    """The choices of a dense index.

    Attributes:
        model: A folder with a sentence-transformers model, or its name on the hub.
        index: ``flat`` compares all posts; ``ivf`` looks into ``nprobe`` of ``nlist`` lists;
            in ``adaptive`` both numbers grow with the collection (see `ivf.py`).
        nlist: How many lists ``ivf`` makes.
        nprobe: How many of them it looks into.
        fields: The fields of a post, in the order in which the model reads them.
        text: ``marked`` (as it stands, formulas in LaTeX) or ``words`` (formulas left out, lower
            case, no punctuation, as in the MIRaCLE paper).
        transliterate: ``itrans`` writes Devanagari in Latin letters, for models that know no
            other; empty leaves it.
        max_tokens: How much of a text is read; 0 for as much as the model was made for.
        query_prefix: What the model wants before a query (``query: `` for E5).
        post_prefix: What it wants before a post.
    """

    model: str
    index: str = "flat"
    nlist: int = 100
    nprobe: int = 10
    fields: tuple[str, ...] = ("title", "question", "body")
    text: str = "marked"
    transliterate: str = ""
    max_tokens: int = 0
    query_prefix: str = ""
    post_prefix: str = ""

    def __post_init__(self) -> None:
        for name, known in (
            ("index", ("flat", "ivf", "adaptive")),
            ("text", ("marked", "words")),
            ("transliterate", ("", "itrans")),
        ):
            if getattr(self, name) not in known:
                choices = ", ".join(repr(choice) for choice in known)
                raise InputError(f"{name} is {getattr(self, name)!r} (known: {choices})")
        for field in self.fields:
            if field not in ("title", "body", "question"):
                raise InputError(f"fields: {field!r} is not title, body or question")
        if self.nlist < 1 or self.nprobe < 1 or self.max_tokens < 0:
            raise InputError("nlist and nprobe must be at least 1, max_tokens at least 0")

    @property
    def division(self) -> Division:
        """How the IVF kinds divide the posts."""
        return Division(0, 0) if self.index == "adaptive" else Division(self.nlist, self.nprobe)


def encoder_text(text: str, choices: Dense) -> str:
    r"""A marked text as the model gets it.

    >>> encoder_text("Is $x^2$ Even?", Dense("m", text="words"))
    'is even'
    >>> encoder_text("समाकलन $x$", Dense("m", transliterate="itrans"))
    'samakalan $x$'
    """
    if choices.text == "words":
        text = words(text)
    if choices.transliterate:
        text = romanise(text)
    return " ".join(tokenize(text)) if choices.text == "words" else text.strip()


class DenseBuilder:
    """Builds one segment; posts are encoded as they come, in chunks."""

    def __init__(self, choices: Dense) -> None:
        self._choices = choices
        self._waiting: list[str] = []
        self._vectors: list[Vectors] = []
        self._texts: list[str] = []

    def prepare(self, post: Post) -> tuple[str, str]:
        """The text of a post, as it stands and as the model gets it."""
        values = (getattr(post, field) for field in self._choices.fields)
        text = "\n\n".join(value for value in values if value)
        return text, encoder_text(text, self._choices)

    def add(self, prepared: tuple[str, str]) -> None:
        """Take the next post."""
        text, ready = prepared
        self._texts.append(text)
        self._waiting.append(self._choices.post_prefix + ready if ready else "")
        if len(self._waiting) == _CHUNK:
            self._encode()

    def write(self, folder: Path) -> None:
        """Write the segment into a new folder."""
        self._encode()
        folder.mkdir(parents=True)
        vectors = np.concatenate(self._vectors)
        np.save(folder / "vectors.npy", vectors, allow_pickle=False)
        write_texts(folder / "texts", self._texts)
        if self._choices.index != "flat":
            write_ivf(folder / "lists", vectors, self._choices.division)

    def _encode(self) -> None:
        encoder = load_encoder(self._choices.model, self._choices.max_tokens)
        self._vectors.append(encoder.encode(self._waiting))
        self._waiting = []


class _Segment:
    """The files of one segment."""

    def __init__(self, folder: Path, choices: Dense) -> None:
        self._mapped = Mapped(folder / "vectors.npy", "float32", dimensions=2)
        self.dimensions = self._mapped.shape[1]
        self.texts = TextTable(folder / "texts")
        if len(self.texts) != len(self._mapped):
            raise DamagedLibrary(folder, "is damaged (its files do not belong together)")
        self.lists = (
            None
            if choices.index == "flat"
            else Ivf(folder / "lists", self._mapped.shape, choices.division)
        )

    def __len__(self) -> int:
        return len(self._mapped)

    @cached_property
    def vectors(self) -> Vectors:
        """The vectors of all posts."""
        return self._mapped.whole


class DenseRetriever:
    """Answers queries by meaning."""

    def __init__(self, folders: Sequence[Path], choices: Dense) -> None:
        self._choices = choices
        self._segments = [_Segment(folder, choices) for folder in folders]
        self._offsets = [0, *accumulate(map(len, self._segments))]
        self.posts = self._offsets[-1]
        self._known: dict[str, Vectors] = {}

    def retrieve(
        self, questions: Sequence[Question], k: int, allowed: NDArray[np.bool_] | None = None
    ) -> list[Scored]:
        """The best posts of each question; those with a cosine of zero or less are none."""
        found: list[Scored] = []
        for start in range(0, len(questions), _BATCH):
            queries = self._queries(questions[start : start + _BATCH])
            parts = [
                self._candidates(segment, offset, queries, k, allowed)
                for segment, offset in zip(self._segments, self._offsets, strict=False)
            ]
            for query, numbers in zip(queries, zip(*parts, strict=True), strict=True):
                found.append(self._ordered(query, np.concatenate(numbers), k))
        return found

    def score(self, question: Question, numbers: NDArray[np.int64]) -> Vectors:
        """The cosines of given posts, exactly, whatever the index."""
        return self._cosines(self._queries([question])[0], numbers)

    def explain(self, question: Question, number: int) -> Reason:
        """The cosine, and the sentence of the post that comes nearest to the question."""
        # Imported here, since opening a library should not wait for the translators beside it.
        from mathsetu.languages.translate.sentences import sentences

        query = self._queries([question])[0]
        cosine = float(self._cosines(query, np.array([number]))[0])
        segment, place = self._locate(number)
        pieces = sentences(self._segments[segment].texts[place])[:_SENTENCES]
        prefix = self._choices.post_prefix
        ready = [prefix + encoder_text(piece, self._choices) for piece in pieces]
        if not ready:
            return Reason("meaning", cosine)
        nearest = int(np.argmax(self._encoder.encode(ready) @ query))
        shown = " ".join(snippet(pieces[nearest], 120).split())
        return Reason("meaning", cosine, f"cosine {cosine:.2f}: {shown}")

    @cached_property
    def _encoder(self) -> Encoder:
        """Loaded with the first question, so that opening a library takes no time."""
        encoder = load_encoder(self._choices.model, self._choices.max_tokens)
        for segment in self._segments:
            stored = segment.dimensions
            if stored != encoder.dimensions:
                raise InputError(
                    f"{self._choices.model}: gives vectors of {encoder.dimensions} dimensions, the "
                    f"library holds {stored}; search with the model it was built with, or build it "
                    "again"
                )
        return encoder

    def _queries(self, questions: Sequence[Question]) -> Vectors:
        """The vectors of questions; each is made once."""
        texts = [encoder_text(question.text, self._choices) for question in questions]
        vectors = {text: self._known[text] for text in texts if text in self._known}
        new = [text for text in dict.fromkeys(texts) if text not in vectors]
        if new:
            prefix = self._choices.query_prefix
            made = self._encoder.encode([prefix + text if text else "" for text in new])
            vectors.update(zip(new, made, strict=True))
            kept = {} if len(self._known) > _REMEMBERED else self._known
            self._known = kept | vectors
        return np.stack([vectors[text] for text in texts])

    def _candidates(
        self,
        segment: _Segment,
        offset: int,
        queries: Vectors,
        k: int,
        allowed: NDArray[np.bool_] | None,
    ) -> list[NDArray[np.int64]]:
        """The numbers of a segment's best posts for each query."""
        here = None if allowed is None else allowed[offset : offset + len(segment)]
        lists = segment.lists
        # When a filter leaves fewer posts than the lists would, comparing them all loses nothing.
        narrow = here is not None and lists is not None and here.sum() <= lists.visited(k)
        if lists is not None and not narrow:
            found = lists.candidates(queries, segment.vectors, k, here)
            return [offset + numbers for numbers in found]
        if here is not None:
            numbers = np.flatnonzero(here)
            scores = queries @ segment.vectors[numbers].T
        else:
            numbers = np.arange(len(segment))
            scores = queries @ segment.vectors.T
        return [offset + numbers[best(row, k).numbers] for row in scores]

    def _ordered(self, query: Vectors, numbers: NDArray[np.int64], k: int) -> Scored:
        numbers = np.sort(numbers)
        found = best(self._cosines(query, numbers), k)
        return Scored(numbers[found.numbers], found.scores)

    def _cosines(self, query: Vectors, numbers: NDArray[np.int64]) -> Vectors:
        """Cosines that do not depend on which other posts are asked for, to the last bit."""
        cosines = np.zeros(len(numbers), dtype=np.float32)
        for segment, offset in zip(self._segments, self._offsets, strict=False):
            here = np.flatnonzero((numbers >= offset) & (numbers < offset + len(segment)))
            rows = segment.vectors[numbers[here] - offset]
            # Products of matrices group their sums by shape; einsum adds up row by row.
            cosines[here] = np.einsum("ij,j->i", rows, query)
        return cosines

    def _locate(self, number: int) -> tuple[int, int]:
        segment = int(np.searchsorted(self._offsets, number, side="right")) - 1
        return segment, number - self._offsets[segment]
