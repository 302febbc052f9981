"""The built-in encoder: 36 languages and LaTeX, without torch.

The model has a tokenizer, a table of token vectors, and three networks: a fast one for English
posts, a more accurate one for six other languages, and a wide one for all other languages, which
has more tokens and is loaded on first use. ``training/encoder`` has the code that made it, and
``docs/encoder.md`` its results. Everything is quantised to int8. All scales are constants, and a
batch has only texts of one length, so a vector does not depend on the other texts of its batch; if
there are none, its last bits may differ. With ``accelerator.py`` the same networks run on an
accelerator.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from importlib import resources
from itertools import count
from pathlib import Path
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from mathsetu.encoders.accelerator import PROCESSOR, TorchRuntime
from mathsetu.errors import InputError, reason
from mathsetu.models import onnx_runtime
from mathsetu.npy import read_array

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]
    Row = Sequence[int] | NDArray[np.integer[Any]]
    _Run = Callable[[NDArray[np.int64], Any], Vectors]

#: The name of this model in a recipe.
NAME = "mathsetu"
#: Tokens after which a text is truncated by default.
LENGTH = 128
# Most rows per batch: some accelerators cannot index more.
_MAX_ROWS = 4096
# The zero point of the quantised token vectors.
_ZERO = 128
_POSTS, _QUERIES, _WIDE = "posts", "queries", "wide"
#: The readings of a text: with the fast, the careful or the wide network. Rows of tokens are valid
#: only for the reading that they were made for.
FAST, CAREFUL, WIDE = 0, 1, 2
# The reading of each language: a text without language has only formulas, and languages that are
# not listed are read by the wide network.
_READINGS = {"": FAST, "en": FAST} | dict.fromkeys(("hi", "es", "cs", "hr", "fa", "ne"), CAREFUL)


def reading_of(language: str) -> int:
    """Return the reading for texts in a language.

    >>> [reading_of(code) for code in ("en", "hi", "de")] == [FAST, CAREFUL, WIDE]
    True
    """
    return _READINGS.get(language, WIDE)


class BuiltinEncoder:
    """Encodes texts with the model of a folder, by default that of the package.

    Args:
        folder: The folder with ``tokenizer.json``, ``tokens.npy``, ``posts.onnx``, ``model.json``;
            with ``queries.onnx`` if the model has a network for queries; and with ``wide.onnx``,
            ``wide.json`` and ``wide-tokens.npy`` if it has a wide network.
        max_tokens: Tokens after which a text is truncated, at most the model's limit.
        threads: The most threads per batch.
        device: ``cpu`` for onnxruntime on the CPU, or a device of torch, which gives the same
            vectors to within the quantisation.
    """

    def __init__(
        self,
        folder: Path | None = None,
        max_tokens: int = LENGTH,
        threads: int = 1,
        device: str = PROCESSOR,
    ) -> None:
        folder = folder or own_folder()
        facts = _facts(folder)
        self._runtime: _Runtime = (
            _OnnxRuntime(threads) if device == PROCESSOR else TorchRuntime(device)
        )
        networks = {
            name: _Network(folder / f"{name}.onnx", facts, shape.group, self._runtime)
            for name, shape in facts.shapes.items()
        }
        self._posts = networks[_POSTS]
        careful = networks.get(_QUERIES, self._posts)
        self._networks = {FAST: self._posts, CAREFUL: careful, WIDE: networks.get(_WIDE, careful)}
        self._is_wide = _WIDE in networks
        self._folder, self._facts = folder, facts
        # The network and the tokenizer take equally long to load, so they are loaded in parallel.
        loading = self._posts.load()
        self._dimensions = facts.shapes[_POSTS].dimensions
        self._room = min(shape.room for shape in facts.shapes.values())
        self._limit = min(max_tokens, self._room)
        self._tokenizer = _tokenizer(_checked(folder / "tokenizer.json", facts))
        self._table = self._runtime.hold(read_array(_checked(folder / "tokens.npy", facts)))
        loading.result()

    @property
    def dimensions(self) -> int:
        """The length of the vectors."""
        return self._dimensions

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return one row of length one per text; zeros for a blank text."""
        rows = [row[: self._limit] for row in self.tokens(texts)]
        return self.encode_tokens(rows, steady=True)

    def tokens(self, texts: Sequence[str], reading: int = FAST) -> list[list[int]]:
        """Return the token ids of texts, without truncation."""
        tokenizer, _ = self._tokenizer_for(reading)
        encodings = tokenizer.encode_batch_fast([_whole(text) for text in texts])
        return [encoding.ids for encoding in encodings]

    def tokens_and_places(
        self, text: str, reading: int = FAST
    ) -> tuple[list[int], list[tuple[int, int]]]:
        """Return the token ids of a text, and the start and end of each in characters."""
        tokenizer, _ = self._tokenizer_for(reading)
        encoding = tokenizer.encode(_whole(text))
        return encoding.ids, encoding.offsets

    def mean_token_vectors(self, rows: Sequence[Row], reading: int = FAST) -> Vectors:
        """Return the normalised mean of the token vectors of each row; zeros for an empty row.

        No network is run, so these vectors are very cheap but inaccurate. They are computed on the
        CPU.
        """
        _, table = self._tokenizer_for(reading)
        means = np.zeros((len(rows), table.shape[1]), dtype=np.float32)
        for mean, row in zip(means, rows, strict=True):
            if len(row):
                mean[:] = table[row].mean(axis=0, dtype=np.float32) - _ZERO
        return np.asarray(means / np.maximum(np.linalg.norm(means, axis=1, keepdims=True), 1e-9))

    def _tokenizer_for(self, reading: int) -> tuple[Any, Any]:
        """Return the tokenizer of a reading and the table of its token vectors."""
        if reading == WIDE and self._is_wide:
            return self._wider
        return self._tokenizer, self._table

    @cached_property
    def _wider(self) -> tuple[Any, Any]:
        """Tokenizer and token vectors of the wide network, which extend those of the others."""
        facts, folder = self._facts, self._folder
        spec = json.loads(_checked(folder / "tokenizer.json", facts))
        more = json.loads(_checked(folder / "wide.json", facts))
        vocabulary = spec["model"]["vocab"]
        vocabulary.update(zip(more["tokens"], count(len(vocabulary)), strict=False))
        spec["model"]["merges"] += more["merges"]
        spec["normalizer"]["normalizers"] += more["normalizers"]
        tables = [
            read_array(_checked(folder / name, facts)) for name in ("tokens.npy", "wide-tokens.npy")
        ]
        tokenizer = _tokenizer(json.dumps(spec, ensure_ascii=False).encode())
        return tokenizer, self._runtime.hold(np.concatenate(tables))

    def check_room(self, rows: Sequence[Row]) -> None:
        """Refuse rows of tokens that exceed the limit of the model."""
        longest = max(map(len, rows), default=0)
        if longest > self._room:
            raise InputError(f"{longest} tokens at once, but the model reads {self._room} at most")

    def encode_tokens(
        self, rows: Sequence[Row], careful: int = FAST, *, steady: bool = False
    ) -> Vectors:
        """Return one vector per row of token ids; zeros for an empty row.

        Args:
            rows: The tokens of texts.
            careful: The reading: `FAST`, or `CAREFUL` (also True) or `WIDE`, which take three times
                as long.
            steady: Whether vectors must be bit-identical in any batch, as is needed for an index.
                On some processors, a batch of one text is summed in another order; such a text is
                therefore encoded twice in one batch.
        """
        self.check_room(rows)
        vectors = np.zeros((len(rows), self._dimensions), dtype=np.float32)
        network = self._networks[careful]
        _, table = self._tokenizer_for(careful)
        for width, places in _batches_by_width(rows, network.group, self._runtime.batch):
            read = places * 2 if steady and len(places) == 1 else places
            batch = np.zeros((len(read), width), dtype=np.int64)
            for line, place in zip(batch, read, strict=True):
                line[: len(rows[place])] = rows[place]
            vectors[read] = network.run(batch, table)
        return vectors


def own_folder() -> Path:
    """Return the folder of the package's own model."""
    return Path(str(resources.files(__package__) / "model"))


def _batches_by_width(
    rows: Sequence[Row], group: int, tokens: int
) -> Iterator[tuple[int, list[int]]]:
    """Yield batches of rows of equal width: the width, and the indices of the rows.

    A batch has at most ``tokens`` tokens.

    Rows are not padded to a common width, because more zeros change the order of summation. A sum
    with another last bit can be rounded to another integer, and later layers amplify the error.
    """
    alike: dict[int, list[int]] = {}
    for place, row in enumerate(rows):
        if len(row):
            alike.setdefault(len(row) + -len(row) % group, []).append(place)
    for width, places in sorted(alike.items()):
        size = max(1, min(tokens // width, _MAX_ROWS))
        for start in range(0, len(places), size):
            yield width, places[start : start + size]


@dataclass(frozen=True)
class _Shape:
    """The sizes of a network: tokens per group, most tokens of a text, length of its vectors."""

    group: int
    room: int
    dimensions: int


@dataclass(frozen=True)
class _Facts:
    """The entries of ``model.json`` that the runtime needs."""

    shapes: Mapping[str, _Shape]
    sha256: Mapping[str, str]


def _facts(folder: Path) -> _Facts:
    path = folder / "model.json"
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
        names = [name for name in (_POSTS, _QUERIES, _WIDE) if name == _POSTS or name in said]
        files = ["tokenizer.json", "tokens.npy", *(f"{name}.onnx" for name in names)]
        if _WIDE in names:
            files += ["wide.json", "wide-tokens.npy"]
        return _Facts(
            shapes={name: _shape(said[name]) for name in names},
            sha256={name: said["sha256"][name] for name in files},
        )
    except OSError as error:
        problem = f"cannot be read ({reason(error)})"
    except (ValueError, TypeError, KeyError, OverflowError) as error:
        problem = f"is damaged ({error})"
    raise InputError(f"{path}: {problem}; install the package again, or name a model's folder")


def _shape(said: Mapping[str, Any]) -> _Shape:
    sizes = [int(said[name]) for name in ("group", "positions", "dimensions")]
    if min(sizes) < 1:
        raise ValueError(f"a size of {min(sizes)}")
    group, positions, dimensions = sizes
    return _Shape(group, group * positions, dimensions)


def _checked(path: Path, facts: _Facts) -> bytes:
    """Return the contents of a file after checking its checksum."""
    try:
        contents = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({reason(error)})") from None
    if sha256(contents).hexdigest() != facts.sha256[path.name]:
        raise InputError(f"{path}: is damaged (its checksum differs); install the package again")
    return contents


def _whole(text: str) -> str:
    # Replace lone surrogates, which JSON can contain but the tokenizer refuses.
    return text.encode("utf-8", "replace").decode()


def _tokenizer(contents: bytes) -> Any:
    import tokenizers

    tokenizer = tokenizers.Tokenizer.from_buffer(contents)
    # "[PAD]" in a post is plain text.
    tokenizer.encode_special_tokens = True
    return tokenizer


class _Runtime(Protocol):
    """A library and device on which networks run."""

    @property
    def batch(self) -> int:
        """Tokens per batch."""
        ...

    def hold(self, table: NDArray[np.uint8]) -> Any:
        """Put the table of token vectors where networks can read it."""
        ...

    def open(self, contents: bytes, where: str) -> _Run:
        """Open a network; return a function from token ids and the held table to vectors."""
        ...


class _OnnxRuntime:
    """Runs networks with onnxruntime on the CPU."""

    # Enough for full speed, and small enough for the CPU's cache.
    batch = 4096

    def __init__(self, threads: int) -> None:
        # Imported before networks are loaded in threads, because importing holds the interpreter
        # lock and opening a network does not.
        self._onnxruntime, self._threads = onnx_runtime(), threads

    def hold(self, table: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Return the table unchanged."""
        return table

    def open(self, contents: bytes, where: str) -> _Run:
        """Open a network with onnxruntime."""
        options = self._onnxruntime.SessionOptions()
        options.intra_op_num_threads = self._threads
        options.inter_op_num_threads = 1
        # The graph is already optimised; further optimisation only costs time.
        options.graph_optimization_level = self._onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
        session = self._onnxruntime.InferenceSession(
            contents, options, providers=["CPUExecutionProvider"]
        )

        def run(tokens: NDArray[np.int64], table: NDArray[np.uint8]) -> Vectors:
            vectors: Vectors = session.run(None, {"tokens": tokens, "bytes": table[tokens]})[0]
            return vectors

        return run


class _Network:
    """A network that is loaded in a separate thread when it is first needed."""

    def __init__(self, path: Path, facts: _Facts, group: int, runtime: _Runtime) -> None:
        self.group = group
        self._path = path
        self._facts = facts
        self._runtime = runtime
        self._opened: Future[_Run] | None = None
        self._lock = Lock()

    def load(self) -> Future[_Run]:
        """Start to load the network, unless that was done."""
        with self._lock:
            if self._opened is None:
                self._opened = Future()
                Thread(target=self._load, args=(self._opened,), daemon=True).start()
            return self._opened

    def _load(self, opened: Future[_Run]) -> None:
        try:
            contents = _checked(self._path, self._facts)
            opened.set_result(self._runtime.open(contents, str(self._path)))
        except Exception as error:  # raised in waiting threads; later calls try again
            with self._lock:
                self._opened = None
            opened.set_exception(error)

    def run(self, tokens: NDArray[np.int64], table: Any) -> Vectors:
        """Return the vectors of texts, from their token ids and the table of token vectors."""
        return self.load().result()(tokens, table)
