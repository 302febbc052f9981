"""Imported graphs: made elsewhere, stored by post id in one SQLite file.

An AMR parser takes days for a collection and seldom runs where the collection is searched. Its
graphs are imported from Penman files (`penman/records.py`) and checked once. Indexing, queries and
training then use the imported graph of an id. Graphs of sentences are first joined to graphs of
posts (`Parses`).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType

from mathsetu.errors import InputError, NotationError
from mathsetu.graphs.build import GraphBuilder, Source
from mathsetu.graphs.formula_trees import attach_formula
from mathsetu.graphs.graph import PLACEHOLDER, Graph
from mathsetu.graphs.makers.amr import AmrMaker
from mathsetu.graphs.penman.reading import read_penman
from mathsetu.graphs.penman.records import Record
from mathsetu.graphs.penman.writing import write_penman
from mathsetu.graphs.representations import LAYOUT, OPERATORS
from mathsetu.graphs.text import NAME, mask_sentences, placeholder

_TABLE = (
    "CREATE TABLE IF NOT EXISTS imported (number INTEGER PRIMARY KEY, id TEXT UNIQUE NOT NULL, "
    "penman TEXT NOT NULL)"
)
_TREES = frozenset({OPERATORS, LAYOUT})


class ImportedGraphs:
    """Imported graphs by post id, read from the file on each access.

    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "graphs.sqlite"
    >>> with ImportedGraphs(path, write=True) as graphs:
    ...     graphs.write([Record("7", read_penman("(s / solve-01 :ARG1 (e / equation))"))])
    1
    >>> with ImportedGraphs(path) as graphs:
    ...     graphs.get("7").labels, graphs.get("8"), list(graphs)
    (['solve-01', 'equation'], None, ['7'])

    Args:
        path: The file.
        write: Whether graphs can be added. The file is then created if it does not exist, and a
            new graph replaces an earlier graph of the same id.
    """

    def __init__(self, path: str | Path, write: bool = False) -> None:
        self.path = Path(path)
        mode = "rwc" if write else "ro"
        if self.path.exists() and not self.path.is_file():  # opening a pipe would wait for ever
            raise InputError(f"{path}: is not a regular file")
        try:
            self._connection = sqlite3.connect(
                f"{self.path.absolute().as_uri()}?mode={mode}", uri=True, check_same_thread=False
            )
            if write:
                self._connection.execute(_TABLE)
            self._check()
        except sqlite3.Error as error:
            raise InputError(
                f"{path}: holds no imported graphs ({error}); make it with 'mathsetu graph import'"
            ) from None

    def _check(self) -> None:
        """Refuse a foreign schema: a view or trigger could run arbitrary SQL."""
        made = self._connection.execute("SELECT type, name FROM sqlite_master").fetchall()
        known = {("table", "imported"), ("index", "sqlite_autoindex_imported_1")}
        if not {*made} <= known or ("table", "imported") not in made:
            raise sqlite3.DatabaseError("its tables are not those of imported graphs")
        self._connection.execute("SELECT id, penman FROM imported LIMIT 1").fetchone()

    def __enter__(self) -> ImportedGraphs:
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

    def write(self, records: Iterable[Record]) -> int:
        """Add graphs in one transaction; return how many were added.

        Raises:
            InputError: When a graph has no id or is not connected, or the file cannot be written.
        """
        count = 0
        statement = (
            "INSERT INTO imported (id, penman) VALUES (?, ?) "
            "ON CONFLICT (id) DO UPDATE SET penman = excluded.penman"
        )
        try:
            with self._connection:
                for record in records:
                    if not record.id:
                        raise InputError("a graph has no id; write '# ::id …' above it")
                    self._connection.execute(statement, (record.id, _stored(record.graph)))
                    count += 1
        except sqlite3.Error as error:
            raise InputError(f"{self.path}: cannot be written ({error})") from None
        return count

    def __len__(self) -> int:
        return int(self._connection.execute("SELECT count(*) FROM imported").fetchone()[0])

    def __iter__(self) -> Iterator[str]:
        """Iterate over the ids, in the order in which they were first written."""
        for row in self._connection.execute("SELECT id FROM imported ORDER BY number"):
            yield row[0]

    def get(self, post_id: str) -> Graph | None:
        """Return the graph of an id, or None if there is none."""
        query = "SELECT penman FROM imported WHERE id = ?"
        row = self._connection.execute(query, (post_id,)).fetchone()
        if row is None:
            return None
        formulas, _, text = str(row[0]).partition("\n")
        names = dict(part.split("=", 1) for part in formulas.split("\x1f") if "=" in part)
        try:
            return read_penman(text, names)
        except NotationError as error:
            raise InputError(f"{self.path}: graph {post_id!r} is damaged ({error})") from None


def _stored(graph: Graph) -> str:
    """Serialise a graph: a line with the ids of its formulas, then its Penman notation."""
    names = (f"{name}={formula}" for name, formula in graph.formula_map.items())
    line = "\x1f".join(" ".join(name.split()) for name in names)
    return f"{line}\n{write_penman(graph)}".encode(errors="replace").decode()


class Parses:
    """Graphs of sentences from an external parser; can be called like a parser.

    >>> parses = Parses([Record("7.1", read_penman("(s / stop-01)"), "Stop now .")])
    >>> parses(["Stop now.", "Then go on."])
    ['(n0 / stop-01)', None]
    """

    def __init__(self, records: Iterable[Record]) -> None:
        self._written = {
            _spelling(record.sentence): write_penman(record.graph)
            for record in records
            if record.sentence and record.graph.is_connected()
        }

    def __call__(self, sentences: Sequence[str]) -> list[str | None]:
        """Return the graph of each sentence in Penman notation, or None if there is none."""
        return [self._written.get(_spelling(sentence)) for sentence in sentences]

    def __len__(self) -> int:
        return len(self._written)

    def builder(self) -> GraphBuilder:
        """Return a builder with these graphs; other sentences get the graphs of their terms."""
        return GraphBuilder(AmrMaker(self))


def parser_sentences(source: Source) -> list[str]:
    """Return the sentences of a text as parser input, with formulas as FORMULA_0, FORMULA_1, ….

    >>> parser_sentences(Source("Let $x=1$. Is $x$ prime?"))
    ['Let FORMULA_0 .', 'Is FORMULA_1 prime?']
    """
    masked = mask_sentences(source.text, source.formulas, source.spans)
    return [NAME.sub(placeholder, sentence) for sentence in masked.sentences]


def with_formulas(graph: Graph, source: Source) -> Graph:
    """Add the missing formula trees to the graph of a whole text.

    >>> graph = read_penman("(s / solve-01 :ARG1 (f / FORMULA_0))")
    >>> with_formulas(graph, Source("Solve $x$.")).labels
    ['solve-01', 'FORMULA_0', 'V!x', 'V!x']
    """
    formulas = mask_sentences(source.text, source.formulas, source.spans).formulas
    have = {
        node
        for node, relation in zip(graph.sources, graph.relations, strict=True)
        if relation in _TREES
    }
    names: Mapping[str, int] = {label: node for node, label in enumerate(graph.labels)}
    ids = dict(graph.formula_map)
    for number, formula in enumerate(formulas):
        label = f"{PLACEHOLDER}{number}"
        ids[label] = formula.id
        place = names.get(label)
        if place is None:
            place = graph.add_node(label)
            graph.add_edge(graph.root, ":math", place)
        if place not in have:
            attach_formula(graph, place, formula)
    return read_penman(write_penman(graph), ids)


def _spelling(sentence: str) -> str:
    """Return a sentence without white space, which tokenisers change."""
    return "".join(sentence.split())
