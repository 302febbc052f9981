"""The built-in encoder: 36 languages and LaTeX, without torch.

The model is a tokenizer, a table of token vectors, and networks that read them: a fast one for
English posts, a careful one for six more languages, and a wide one for all others, which has more
tokens and is loaded when a text needs it. How it was made is told in ``training/encoder``,
and what it can do in ``docs/encoder.md``. Everything is quantised to int8. All scales
are constants, and only texts of one length go through a network together, so a vector does not
depend, to the last bit, on the texts that are encoded beside it, as long as there are any. With
``accelerator.py`` the same networks run on an accelerator.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from importlib import resources
from io import BytesIO
from itertools import count
from pathlib import Path
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from mathsetu.encoders.accelerator import PROCESSOR, TorchRuntime
from mathsetu.errors import InputError, reason
from mathsetu.models import onnx_runtime

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]
    Row = Sequence[int] | NDArray[np.integer[Any]]
    _Run = Callable[[NDArray[np.int64], Any], Vectors]

#: The name under which a recipe asks for it.
NAME = "mathsetu"
#: How many tokens of a text are read.
LENGTH = 128
# Rows that go through a network together at most: some accelerators have no room to count more.
_MOST_ROWS = 4096
# The byte that stands for zero in the vectors of tokens.
_ZERO = 128
_POSTS, _QUERIES, _WIDE = "posts", "queries", "wide"
#: Ways to read a text: with the fast network, with the careful one, and with the wide one. Rows of
#: tokens are for the reading that they were made for.
FAST, CAREFUL, WIDE = 0, 1, 2
# Who reads what: a text in no language is formulas alone, and languages that are not named here are
# read by the wide network.
_READINGS = {"": FAST, "en": FAST} | dict.fromkeys(("hi", "es", "cs", "hr", "fa", "ne"), CAREFUL)


def reading_of(language: str) -> int:
    """How texts in a language are read.

    >>> [reading_of(code) for code in ("en", "hi", "de")] == [FAST, CAREFUL, WIDE]
    True
    """
    return _READINGS.get(language, WIDE)


class BuiltinEncoder:
    """Encodes texts with the model of a folder, which is the package's own unless said otherwise.

    Args:
        folder: Where ``tokenizer.json``, ``tokens.npy``, ``posts.onnx``, ``model.json`` and, unless
            the model reads queries as posts, ``queries.onnx`` lie; and, where it reads more
            languages, ``wide.onnx``, ``wide.json`` and ``wide-tokens.npy``.
        max_tokens: How much of a text is read, up to what the model has room for.
        threads: How many processors one batch may use.
        device: Where the networks run: ``cpu`` for onnxruntime on the processor, or a device of
            torch, which gives the same vectors to within the quantisation.
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
        # The network and the tokenizer take equally long, and are loaded side by side.
        loading = self._posts.load()
        self._dimensions = facts.shapes[_POSTS].dimensions
        self._room = min(shape.room for shape in facts.shapes.values())
        self._limit = min(max_tokens, self._room)
        self._tokenizer = _tokenizer(_checked(folder / "tokenizer.json", facts))
        table = BytesIO(_checked(folder / "tokens.npy", facts))
        self._table = self._runtime.hold(np.load(table, allow_pickle=False))
        loading.result()

    @property
    def dimensions(self) -> int:
        """How long the vectors are."""
        return self._dimensions

    def encode(self, texts: Sequence[str]) -> Vectors:
        """One row of length one for each text, zeros for a blank one."""
        rows = [row[: self._limit] for row in self.tokens(texts)]
        return self.encode_tokens(rows, steady=True)

    def tokens(self, texts: Sequence[str], reading: int = FAST) -> list[list[int]]:
        """The token numbers of texts, however long they are."""
        tokenizer, _ = self._cut_for(reading)
        encodings = tokenizer.encode_batch_fast([_whole(text) for text in texts])
        return [encoding.ids for encoding in encodings]

    def tokens_and_places(
        self, text: str, reading: int = FAST
    ) -> tuple[list[int], list[tuple[int, int]]]:
        """The token numbers of a text, and where each stands: its first character, and its end."""
        tokenizer, _ = self._cut_for(reading)
        encoding = tokenizer.encode(_whole(text))
        return encoding.ids, encoding.offsets

    def glances(self, rows: Sequence[Row], reading: int = FAST) -> Vectors:
        """The mean of the tokens' vectors of each row, of length one; zeros for an empty row.

        No network reads them, so that they cost nothing and tell little. They are made on the
        processor.
        """
        _, table = self._cut_for(reading)
        means = np.zeros((len(rows), table.shape[1]), dtype=np.float32)
        for mean, row in zip(means, rows, strict=True):
            if len(row):
                mean[:] = table[row].mean(axis=0, dtype=np.float32) - _ZERO
        return np.asarray(means / np.maximum(np.linalg.norm(means, axis=1, keepdims=True), 1e-9))

    def _cut_for(self, reading: int) -> tuple[Any, Any]:
        """The tokenizer of a reading, and the table of its token vectors."""
        if reading == WIDE and self._is_wide:
            return self._wider
        return self._tokenizer, self._table

    @cached_property
    def _wider(self) -> tuple[Any, Any]:
        """Tokenizer and token vectors of the wide network: the old ones, and more."""
        facts, folder = self._facts, self._folder
        spec = json.loads(_checked(folder / "tokenizer.json", facts))
        more = json.loads(_checked(folder / "wide.json", facts))
        vocabulary = spec["model"]["vocab"]
        vocabulary.update(zip(more["tokens"], count(len(vocabulary)), strict=False))
        spec["model"]["merges"] += more["merges"]
        spec["normalizer"]["normalizers"] += more["normalizers"]
        tables = [
            np.load(BytesIO(_checked(folder / name, facts)), allow_pickle=False)
            for name in ("tokens.npy", "wide-tokens.npy")
        ]
        tokenizer = _tokenizer(json.dumps(spec, ensure_ascii=False).encode())
        return tokenizer, self._runtime.hold(np.concatenate(tables))

    def check_room(self, rows: Sequence[Row]) -> None:
        """Refuse rows of tokens that are longer than the model reads."""
        longest = max(map(len, rows), default=0)
        if longest > self._room:
            raise InputError(f"{longest} tokens at once, but the model reads {self._room} at most")

    def encode_tokens(
        self, rows: Sequence[Row], careful: int = FAST, *, steady: bool = False
    ) -> Vectors:
        """One vector for each row of token numbers, zeros for an empty one.

        Args:
            rows: The tokens of texts.
            careful: How they are read: `FAST`, or `CAREFUL` (also True) or `WIDE`, which take three
                times as long.
            steady: Whether a vector must be the same to the last bit whatever is encoded beside it,
                as what an index keeps must be. On some processors a network that reads a single
                text adds up its tokens in another order; so such a text is read twice.
        """
        self.check_room(rows)
        vectors = np.zeros((len(rows), self._dimensions), dtype=np.float32)
        network = self._networks[careful]
        _, table = self._cut_for(careful)
        for width, places in _alike(rows, network.group, self._runtime.batch):
            read = places * 2 if steady and len(places) == 1 else places
            batch = np.zeros((len(read), width), dtype=np.int64)
            for line, place in zip(batch, read, strict=True):
                line[: len(rows[place])] = rows[place]
            vectors[read] = network.run(batch, table)
        return vectors


def own_folder() -> Path:
    """Where the package's own model lies."""
    return Path(str(resources.files(__package__) / "model"))


def _alike(rows: Sequence[Row], group: int, tokens: int) -> Iterator[tuple[int, list[int]]]:
    """Batches of rows that are equally wide: the width, and the places of the rows.

    A batch has as many tokens as given, or a little fewer.

    A wider batch would add zeros in other orders. A sum that differs in its last bit can round to
    another whole number, which the layers after it make larger.
    """
    alike: dict[int, list[int]] = {}
    for place, row in enumerate(rows):
        if len(row):
            alike.setdefault(len(row) + -len(row) % group, []).append(place)
    for width, places in sorted(alike.items()):
        size = max(1, min(tokens // width, _MOST_ROWS))
        for start in range(0, len(places), size):
            yield width, places[start : start + size]


@dataclass(frozen=True)
class _Shape:
    """What must be known of a network: its group, how many tokens it has room for, its vectors."""

    group: int
    room: int
    dimensions: int


@dataclass(frozen=True)
class _Facts:
    """What ``model.json`` says of the model that the runtime must know."""

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
    """The contents of a file, if they are what they were when the model was made."""
    try:
        contents = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({reason(error)})") from None
    if sha256(contents).hexdigest() != facts.sha256[path.name]:
        raise InputError(f"{path}: is damaged (its checksum differs); install the package again")
    return contents


def _whole(text: str) -> str:
    # Half a character, which JSON can carry, is no text for the tokenizer.
    return text.encode("utf-8", "replace").decode()


def _tokenizer(contents: bytes) -> Any:
    import tokenizers

    tokenizer = tokenizers.Tokenizer.from_buffer(contents)
    # A post that says "[PAD]" means these letters.
    tokenizer.encode_special_tokens = True
    return tokenizer


class _Runtime(Protocol):
    """What networks run on."""

    @property
    def batch(self) -> int:
        """How many tokens go through a network together."""
        ...

    def hold(self, table: NDArray[np.uint8]) -> Any:
        """The table of token vectors, where networks find it."""
        ...

    def open(self, contents: bytes, where: str) -> _Run:
        """The network of a file: gives vectors for token numbers and the table held."""
        ...


class _OnnxRuntime:
    """Runs networks on the processor."""

    # Enough to keep a processor busy, and in its cache.
    batch = 4096

    def __init__(self, threads: int) -> None:
        # Importing needs the interpreter, opening does not: so the import comes first.
        self._onnxruntime, self._threads = onnx_runtime(), threads

    def hold(self, table: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """The table as it is."""
        return table

    def open(self, contents: bytes, where: str) -> _Run:
        """The network of a file."""
        options = self._onnxruntime.SessionOptions()
        options.intra_op_num_threads = self._threads
        options.inter_op_num_threads = 1
        # The graph was written as it should run; searching for improvements only costs time.
        options.graph_optimization_level = self._onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
        session = self._onnxruntime.InferenceSession(
            contents, options, providers=["CPUExecutionProvider"]
        )

        def run(tokens: NDArray[np.int64], table: NDArray[np.uint8]) -> Vectors:
            vectors: Vectors = session.run(None, {"tokens": tokens, "bytes": table[tokens]})[0]
            return vectors

        return run


class _Network:
    """A network that is loaded in a thread of its own, once it is needed."""

    def __init__(self, path: Path, facts: _Facts, group: int, runtime: _Runtime) -> None:
        self.group = group
        self._path = path
        self._facts = facts
        self._runtime = runtime
        self._opened: Future[_Run] | None = None
        self._lock = Lock()

    def load(self) -> Future[_Run]:
        """Begin to load the network, unless that was done."""
        with self._lock:
            if self._opened is None:
                self._opened = Future()
                Thread(target=self._load, args=(self._opened,), daemon=True).start()
            return self._opened

    def _load(self, opened: Future[_Run]) -> None:
        try:
            contents = _checked(self._path, self._facts)
            opened.set_result(self._runtime.open(contents, str(self._path)))
        except Exception as error:  # handed to whoever waits; who comes later tries again
            with self._lock:
                self._opened = None
            opened.set_exception(error)

    def run(self, tokens: NDArray[np.int64], table: Any) -> Vectors:
        """The vectors of texts, given as token numbers; the table has the vectors of tokens."""
        return self.load().result()(tokens, table)
