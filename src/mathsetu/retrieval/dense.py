"""Search by meaning: posts and queries as vectors of an encoder, compared by their cosine.

A segment holds the vectors (``vectors.npy``, mapped into memory), the texts they were made from,
and for the IVF kinds the lists that FAISS divided them into. Searching needs numpy alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mathsetu.encoders import Encoder, check_encoder, load_encoder
from mathsetu.errors import DamagedLibrary, InputError
from mathsetu.intake import MarkedText, PostFacts, Question
from mathsetu.languages.analyze import analyze, tokenize
from mathsetu.languages.transliterate import romanise
from mathsetu.markup import snippet
from mathsetu.records import Post, Reason
from mathsetu.retrieval.base import Scored, WrittenSegment, best
from mathsetu.retrieval.ivf import Division, Ivf, check_faiss, write_ivf
from mathsetu.retrieval.mapped import Mapped
from mathsetu.retrieval.passages import marked_sentences
from mathsetu.retrieval.postings import new_array
from mathsetu.retrieval.segments import Numbering
from mathsetu.retrieval.text_table import TextTable, write_texts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

# Posts encoded at once: enough to group texts of similar length.
_CHUNK = 512
# The most sentences of a post compared for an explanation; each costs a pass through the model.
_SENTENCES = 24


@dataclass(frozen=True)
class DenseSettings:
    """The settings of a dense index.

    Attributes:
        model: A folder with a sentence-transformers model, or its name on the hub.
        index: ``flat`` compares all posts; ``ivf`` searches ``nprobe`` of ``nlist`` lists;
            with ``adaptive`` both numbers grow with the collection (see `ivf.py`).
        nlist: The number of lists of ``ivf``.
        nprobe: The number of lists that a search visits.
        fields: The fields of a post, in the order in which the model reads them.
        text: ``marked`` (the text as written, formulas in LaTeX) or ``words`` (without formulas,
            lower case, no punctuation, as in the MIRaCLE paper).
        stop_words: ``keep``, or ``drop`` them from ``words``.
        stem: Whether the model reads the stems of ``words``.
        transliterate: ``itrans`` converts Devanagari to Latin letters, for models that support
            no other script; empty converts nothing.
        max_tokens: The most tokens of a text that are read; 0 for the model's own limit.
        query_prefix: The prefix that the model expects before a query (``query: `` for E5).
        post_prefix: The prefix that it expects before a post.
    """

    model: str
    index: str = "flat"
    nlist: int = 100
    nprobe: int = 10
    fields: tuple[str, ...] = ("title", "question", "body")
    text: str = "marked"
    stop_words: str = "keep"
    stem: bool = False
    transliterate: str = ""
    max_tokens: int = 0
    query_prefix: str = ""
    post_prefix: str = ""

    def __post_init__(self) -> None:
        for name, known in (
            ("index", ("flat", "ivf", "adaptive")),
            ("text", ("marked", "words")),
            ("stop_words", ("keep", "drop")),
            ("transliterate", ("", "itrans")),
        ):
            if getattr(self, name) not in known:
                settings = ", ".join(repr(choice) for choice in known)
                raise InputError(f"{name} is {getattr(self, name)!r} (known: {settings})")
        for field in self.fields:
            if field not in ("title", "body", "question"):
                raise InputError(f"fields: {field!r} is not title, body or question")
        if self.text != "words" and (self.stop_words != "keep" or self.stem):
            raise InputError("stop_words and stem need text = 'words'; formulas have neither")
        if self.nlist < 1 or self.nprobe < 1 or self.max_tokens < 0:
            raise InputError("nlist and nprobe must be at least 1, max_tokens at least 0")

    @property
    def division(self) -> Division:
        """How an IVF index divides the posts into lists."""
        return Division(0, 0) if self.index == "adaptive" else Division(self.nlist, self.nprobe)


def encoder_text(marked: MarkedText, settings: DenseSettings, language: str = "") -> str:
    r"""Return a marked text in the form that the model reads.

    Args:
        marked: The text.
        settings: The settings of the index.
        language: The language of the text, for stop words and stems.

    >>> encoder_text(MarkedText("Is $x^2$ Even?"), DenseSettings("m", text="words"))
    'is even'
    >>> encoder_text(MarkedText("समाकलन $x$"), DenseSettings("m", transliterate="itrans"))
    'samakalan $x$'
    >>> bare = DenseSettings("m", text="words", stop_words="drop", stem=True)
    >>> encoder_text(MarkedText("Is the integral of $x^2$ rational?"), bare, "en")
    'integr ration'
    """
    text = marked.words if settings.text == "words" else marked.text
    drops = settings.stop_words == "drop"
    if drops or settings.stem:
        stemmer = None if settings.stem else "none"
        text = " ".join(analyze(text, language, stemmer=stemmer, stop_words=drops))
    if settings.transliterate:
        text = romanise(text)
    return " ".join(tokenize(text)) if settings.text == "words" else text.strip()


def check_dense(settings: DenseSettings, where: str) -> None:
    """Raise an error for a missing model or package, before posts are read.

    Args:
        settings: The settings of the index.
        where: Its table in the recipe, for errors.
    """
    if settings.index != "flat":
        check_faiss()
    check_encoder(settings.model, f"{where}.model")


class DenseBuilder:
    """Builds one segment; posts are encoded in chunks as they are added."""

    reader = None

    merges_on_disk = True

    def __init__(self, settings: DenseSettings) -> None:
        self._settings = settings
        self._waiting: list[str] = []
        self._vectors: list[Vectors] = []
        self._texts: list[str] = []

    def prepare(self, facts: PostFacts) -> tuple[str, str]:
        """Return the text of a post, as written and as the model reads it."""
        text = facts.joined(self._settings.fields)
        return text.text, encoder_text(text, self._settings, facts.language)

    def add(self, prepared: tuple[str, str]) -> None:
        """Add the next post."""
        text, ready = prepared
        self._texts.append(text)
        self._waiting.append(self._settings.post_prefix + ready if ready else "")
        if len(self._waiting) == _CHUNK:
            self._encode()

    def write(self, folder: Path) -> None:
        """Write the segment into a new folder."""
        if self._waiting or not self._vectors:  # an empty segment needs the model's dimensions, too
            self._encode()
        folder.mkdir(parents=True)
        vectors = np.concatenate(self._vectors)
        np.save(folder / "vectors.npy", vectors, allow_pickle=False)
        self._finish(folder, vectors, self._texts)

    def merge(self, sources: Sequence[WrittenSegment], folder: Path) -> None:
        """Merge posts of other segments into one, with their vectors."""
        folder.mkdir(parents=True)
        segments = [_Segment(source.folder, self._settings) for source in sources]
        total = sum(len(source.kept) for source in sources)
        vectors = new_array(folder / "vectors.npy", np.float32, total, segments[0].dimensions)
        written = 0
        for segment, source in zip(segments, sources, strict=True):
            vectors[written : written + len(source.kept)] = segment.vectors[source.kept]
            written += len(source.kept)
        texts = (
            segment.texts[number]
            for segment, source in zip(segments, sources, strict=True)
            for number in source.kept.tolist()
        )
        self._finish(folder, vectors, texts)

    def _finish(self, folder: Path, vectors: Vectors, texts: Iterable[str]) -> None:
        write_texts(folder / "texts", texts)
        if self._settings.index != "flat":
            write_ivf(folder / "lists", vectors, self._settings.division)

    def _encode(self) -> None:
        encoder = load_encoder(self._settings.model, self._settings.max_tokens)
        self._vectors.append(encoder.encode(self._waiting))
        self._waiting = []


class _Segment:
    """The files of one segment."""

    def __init__(self, folder: Path, settings: DenseSettings) -> None:
        self._mapped = Mapped(folder / "vectors.npy", "float32", dimensions=2)
        self.dimensions = self._mapped.shape[1]
        self.texts = TextTable(folder / "texts")
        if len(self.texts) != len(self._mapped):
            raise DamagedLibrary(folder, "is damaged (its files do not belong together)")
        self.lists = (
            None
            if settings.index == "flat"
            else Ivf(folder / "lists", self._mapped.shape, settings.division)
        )

    def __len__(self) -> int:
        return len(self._mapped)

    @cached_property
    def vectors(self) -> Vectors:
        """The vectors of all posts."""
        return self._mapped.whole


class DenseRetriever:
    """Answers questions by comparing vectors of a model."""

    formula_finder = None
    heat_mapper = None

    def __init__(self, folders: Sequence[Path], settings: DenseSettings) -> None:
        self.settings = settings
        self.segments = [_Segment(folder, settings) for folder in folders]
        self.numbering = Numbering(map(len, self.segments))
        self.posts = len(self.numbering)

    def ask(self, questions: Sequence[Question]) -> list[DenseReply]:
        """Answer several questions; their distinct texts are encoded in one batch."""
        texts = [encoder_text(one.marked, self.settings, one.language) for one in questions]
        distinct = list(dict.fromkeys(texts))
        prefix = self.settings.query_prefix
        made = self.encoder.encode([prefix + text if text else "" for text in distinct])
        vectors = dict(zip(distinct, made, strict=True))
        return [DenseReply(self, vectors[text]) for text in texts]

    @cached_property
    def encoder(self) -> Encoder:
        """The encoder, loaded with the first question so that a library opens fast."""
        encoder = load_encoder(self.settings.model, self.settings.max_tokens)
        for segment in self.segments:
            stored = segment.dimensions
            if stored != encoder.dimensions:
                raise InputError(
                    f"{self.settings.model}: gives vectors of {encoder.dimensions} dimensions, the "
                    f"library holds {stored}; search with the model it was built with, or build it "
                    "again"
                )
        return encoder


class DenseReply:
    """Scores posts for one question by the cosines of their vectors."""

    def __init__(self, retriever: DenseRetriever, vector: Vectors) -> None:
        self._retriever, self._vector = retriever, vector

    def best(self, k: int, allowed: NDArray[np.bool_] | None = None) -> Scored:
        """The best posts, all with a cosine above zero."""
        segments = zip(self._retriever.segments, self._retriever.numbering.firsts, strict=True)
        parts = [self._candidates(segment, first, k, allowed) for segment, first in segments]
        numbers = np.sort(np.concatenate([np.zeros(0, dtype=np.int64), *parts]))
        found = best(self.scores(numbers), k)
        return Scored(numbers[found.numbers], found.scores)

    def scores(self, numbers: NDArray[np.int64]) -> Vectors:
        """The exact cosines of given posts, whatever the index.

        A cosine is bit-identical whichever other posts it is computed with.
        """
        cosines = np.zeros(len(numbers), dtype=np.float32)
        for segment, places, own in self._retriever.numbering.by_segment(numbers):
            rows = self._retriever.segments[segment].vectors[own]
            # A matrix product's summation order depends on its shape; einsum sums each row alone.
            cosines[places] = np.einsum("ij,j->i", rows, self._vector)
        return cosines

    def reason(self, number: int, post: Post) -> Reason:
        """The cosine, and the sentence of the post that is nearest to the question."""
        retriever = self._retriever
        cosine = float(self.scores(np.array([number]))[0])
        segment, place = retriever.numbering.locate(number)
        pieces = marked_sentences(retriever.segments[segment].texts[place])[:_SENTENCES]
        prefix = retriever.settings.post_prefix
        ready = [prefix + encoder_text(MarkedText(piece), retriever.settings) for piece in pieces]
        if not ready:
            return Reason("meaning", cosine)
        nearest = int(np.argmax(retriever.encoder.encode(ready) @ self._vector))
        shown = " ".join(snippet(pieces[nearest], 120).split())
        return Reason("meaning", cosine, f"cosine {cosine:.2f}: {shown}")

    def _candidates(
        self, segment: _Segment, first: int, k: int, allowed: NDArray[np.bool_] | None
    ) -> NDArray[np.int64]:
        """The numbers of a segment's best posts."""
        here = None if allowed is None else allowed[first : first + len(segment)]
        lists = segment.lists
        # If a filter leaves no more posts than the lists would visit, compare them all.
        narrow = here is not None and lists is not None and here.sum() <= lists.visited(k)
        if lists is not None and not narrow:
            [found] = lists.candidates(self._vector[None], segment.vectors, k, here)
            return first + found
        numbers = np.arange(len(segment)) if here is None else np.flatnonzero(here)
        rows = segment.vectors if here is None else segment.vectors[numbers]
        return first + numbers[best(rows @ self._vector, k).numbers]
