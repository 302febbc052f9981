"""Graphs of many posts in one SQLite file, read on demand."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType

from mathsetu.errors import InputError
from mathsetu.graphs.tensors import GraphTensors

_TABLE = (
    "CREATE TABLE IF NOT EXISTS graphs (number INTEGER PRIMARY KEY, id TEXT UNIQUE NOT NULL, "
    "tensors BLOB NOT NULL)"
)
# A number of parameters per query that every SQLite build accepts.
_BATCH = 500


class TensorStore:
    """Tensors by post id, read from the file on each access.

    >>> from tempfile import mkdtemp
    >>> from mathsetu.graphs.graph import Graph
    >>> from mathsetu.graphs.tensors import tensors
    >>> from mathsetu.graphs.vocabulary import Vocabulary
    >>> arrays = tensors(Graph(["solve-01"]), Vocabulary(["solv"], []))
    >>> path = Path(mkdtemp()) / "graphs.sqlite"
    >>> with TensorStore(path, write=True) as store:
    ...     store.write([("7", arrays), ("9", arrays)])
    >>> store = TensorStore(path)
    >>> len(store), "7" in store, store["9"] == arrays, [post_id for post_id in store]
    (2, True, True, ['7', '9'])
    >>> store.close()

    Args:
        path: The file.
        write: Whether graphs can be added. The file is then created if it does not exist, and a
            new graph replaces an earlier graph of the same post.
    """

    def __init__(self, path: str | Path, write: bool = False) -> None:
        self.path = Path(path)
        mode = "rwc" if write else "ro"
        try:
            # Data loaders read from other threads.
            self._connection = sqlite3.connect(
                f"{self.path.absolute().as_uri()}?mode={mode}", uri=True, check_same_thread=False
            )
            if write:
                self._connection.execute(_TABLE)
            self._connection.execute("SELECT id, tensors FROM graphs LIMIT 1").fetchone()
        except sqlite3.Error as error:
            raise InputError(f"{path}: is not a graph store ({error})") from None

    def __enter__(self) -> TensorStore:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def write(self, graphs: Iterable[tuple[str, GraphTensors]]) -> None:
        """Add graphs in one transaction."""
        rows = ((post_id, arrays.to_bytes()) for post_id, arrays in graphs)
        self.write_bytes(rows)

    def write_bytes(self, rows: Iterable[tuple[str, bytes]]) -> None:
        """Add graphs that are already serialised, for example by other processes."""
        statement = (
            "INSERT INTO graphs (id, tensors) VALUES (?, ?) "
            "ON CONFLICT (id) DO UPDATE SET tensors = excluded.tensors"
        )
        try:
            with self._connection:
                self._connection.executemany(statement, rows)
        except sqlite3.Error as error:
            raise InputError(f"{self.path}: cannot be written ({error})") from None

    def __len__(self) -> int:
        return int(self._connection.execute("SELECT count(*) FROM graphs").fetchone()[0])

    def __contains__(self, post_id: object) -> bool:
        query = "SELECT 1 FROM graphs WHERE id = ?"
        return self._connection.execute(query, (post_id,)).fetchone() is not None

    def __getitem__(self, post_id: str) -> GraphTensors:
        """Return the graph of a post; raise `KeyError` if it is missing."""
        query = "SELECT tensors FROM graphs WHERE id = ?"
        row = self._connection.execute(query, (post_id,)).fetchone()
        if row is None:
            raise KeyError(post_id)
        return self._tensors(post_id, row[0])

    def many(self, post_ids: Sequence[str]) -> list[GraphTensors]:
        """Return the graphs of several posts, in the given order; `KeyError` if one is missing."""
        found: dict[str, GraphTensors] = {}
        wanted = list(dict.fromkeys(post_ids))
        for start in range(0, len(wanted), _BATCH):
            batch = wanted[start : start + _BATCH]
            marks = ",".join("?" * len(batch))
            query = f"SELECT id, tensors FROM graphs WHERE id IN ({marks})"  # noqa: S608
            for post_id, data in self._connection.execute(query, batch):
                found[post_id] = self._tensors(post_id, data)
        return [found[post_id] for post_id in post_ids]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the post ids, in the order in which they were first written."""
        for row in self._connection.execute("SELECT id FROM graphs ORDER BY number"):
            yield row[0]

    def items(self) -> Iterator[tuple[str, GraphTensors]]:
        """Yield each post id with its graph, in the order in which they were first written."""
        query = "SELECT id, tensors FROM graphs ORDER BY number"
        for post_id, data in self._connection.execute(query):
            yield post_id, self._tensors(post_id, data)

    def _tensors(self, post_id: str, data: object) -> GraphTensors:
        if not isinstance(data, bytes):
            raise InputError(f"{self.path}: graph {post_id!r} is damaged; prepare it again")
        try:
            return GraphTensors.from_bytes(data)
        except InputError as error:
            raise InputError(f"{self.path}: graph {post_id!r}: {error}") from None
