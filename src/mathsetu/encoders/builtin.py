"""The encoder that comes with the package: seven languages and LaTeX, without torch.

The model is an ONNX file in whole numbers of eight bits with its tokenizer; how it was made is told
in ``training/encoder``, and what it can do in ``docs/encoder.md``. All scales are constants,
and only texts of one length go through the model together, so a vector does not depend, to the last
bit, on the texts that are encoded beside it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib import resources
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

import numpy as np

from mathsetu.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

#: The name under which a recipe asks for it.
NAME = "mathsetu"
#: How many tokens of a text are read.
LENGTH = 128
# Tokens that go through the model together: enough to keep a processor busy, and in its cache.
_BATCH = 4096
_FILES = ("encoder.onnx", "tokenizer.json")


class BuiltinEncoder:
    """Encodes texts with the model of a folder, which is the package's own unless said otherwise.

    Args:
        folder: Where ``encoder.onnx``, ``tokenizer.json`` and ``model.json`` lie.
        max_tokens: How much of a text is read, up to what the model has room for.
        threads: How many processors one batch may use.
    """

    def __init__(self, folder: Path | None = None, max_tokens: int = LENGTH, threads: int = 1):
        folder = folder or Path(str(resources.files(__package__) / "model"))
        facts = _facts(folder)
        self._group = facts.group
        self._dimensions = facts.dimensions
        self._room = facts.group * facts.positions
        self._limit = min(max_tokens, self._room)
        session = _Loading(folder, facts, threads)
        self._tokenizer = _tokenizer(_checked(folder / "tokenizer.json", facts))
        self._session = session.result()

    @property
    def dimensions(self) -> int:
        """How long the vectors are."""
        return self._dimensions

    def encode(self, texts: Sequence[str]) -> Vectors:
        """One row of length one for each text, zeros for a blank one."""
        return self.encode_tokens([row[: self._limit] for row in self.tokens(texts)])

    def tokens(self, texts: Sequence[str]) -> list[list[int]]:
        """The token numbers of texts, however long they are."""
        encodings = self._tokenizer.encode_batch_fast([_whole(text) for text in texts])
        return [encoding.ids for encoding in encodings]

    def places(self, text: str) -> list[tuple[int, int]]:
        """Where the tokens of a text stand: the first character of each, and the one after it."""
        places: list[tuple[int, int]] = self._tokenizer.encode(_whole(text)).offsets
        return places

    def encode_tokens(self, rows: Sequence[Sequence[int]]) -> Vectors:
        """One vector for each row of token numbers, zeros for an empty one."""
        longest = max(map(len, rows), default=0)
        if longest > self._room:
            raise InputError(f"{longest} tokens at once, but the model reads {self._room} at most")
        vectors = np.zeros((len(rows), self._dimensions), dtype=np.float32)
        for places in self._batches(rows):
            width = self._width(rows[places[0]])
            batch = np.zeros((len(places), width), dtype=np.int64)
            for line, place in zip(batch, places, strict=True):
                line[: len(rows[place])] = rows[place]
            vectors[places] = self._session.run(None, {"tokens": batch})[0]
        return vectors

    def _batches(self, rows: Sequence[Sequence[int]]) -> Iterator[list[int]]:
        """The places of rows that are equally wide; a wider batch would add zeros in other orders.

        A sum that differs in its last bit can round to another whole number, which the layers
        after it make larger.
        """
        alike: dict[int, list[int]] = {}
        for place, row in enumerate(rows):
            if row:
                alike.setdefault(self._width(row), []).append(place)
        for width, places in sorted(alike.items()):
            size = max(1, _BATCH // width)
            yield from (places[start : start + size] for start in range(0, len(places), size))

    def _width(self, row: Sequence[int]) -> int:
        return len(row) + -len(row) % self._group


@dataclass(frozen=True)
class _Facts:
    """What ``model.json`` says of the model that the runtime must know."""

    group: int
    positions: int
    dimensions: int
    sha256: Mapping[str, str]


def _facts(folder: Path) -> _Facts:
    path = folder / "model.json"
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
        return _Facts(
            group=int(said["group"]),
            positions=int(said["positions"]),
            dimensions=int(said["dimensions"]),
            sha256={name: said["sha256"][name] for name in _FILES},
        )
    except OSError as error:
        problem = f"cannot be read ({error.strerror})"
    except (ValueError, TypeError, KeyError) as error:
        problem = f"is damaged ({error})"
    raise InputError(f"{path}: {problem}; install the package again, or name a model's folder")


def _checked(path: Path, facts: _Facts) -> bytes:
    """The contents of a file, if they are what they were when the model was made."""
    try:
        contents = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None
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


class _Loading(Thread):
    """Loads the network beside the tokenizer: each takes as long as the other."""

    def __init__(self, folder: Path, facts: _Facts, threads: int) -> None:
        # Importing needs the interpreter, loading does not: so the import comes first.
        import onnxruntime

        super().__init__(daemon=True)
        self._runtime = onnxruntime
        self._contents = _checked(folder / "encoder.onnx", facts)
        self._threads = threads
        self._session: Any = None
        self._error: Exception | None = None
        self.start()

    def run(self) -> None:
        options = self._runtime.SessionOptions()
        options.intra_op_num_threads = self._threads
        options.inter_op_num_threads = 1
        # The graph was written as it should run; searching for improvements only costs time.
        options.graph_optimization_level = self._runtime.GraphOptimizationLevel.ORT_ENABLE_BASIC
        try:
            self._session = self._runtime.InferenceSession(
                self._contents, options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # handed to the thread that waits
            self._error = error

    def result(self) -> Any:
        """The session, once it is loaded."""
        self.join()
        if self._error is not None:
            raise self._error
        return self._session
