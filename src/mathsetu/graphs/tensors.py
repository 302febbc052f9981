"""A graph as integer arrays, the input of a model.

Each edge also has an inverse edge with a separate relation type, so that messages flow both ways.
The serialised form is a magic number, the lengths, and the compressed arrays and texts. It is
checked when read, and reading never executes code.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mathsetu.errors import InputError
from mathsetu.graphs.graph import Graph
from mathsetu.graphs.representations import FormulaTrees, with_trees
from mathsetu.graphs.virtual import DOCUMENT, FORMULA, VirtualNodes, add_virtual_nodes
from mathsetu.graphs.vocabulary import Vocabulary

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MARK = b"MSG1"
# Magic number; numbers of nodes, edges, virtual nodes; bytes of the text, of all content before
# compression.
_HEADER = struct.Struct("<4sIIIII")
# Far above the size of any post; limits the memory that a damaged file can claim.
_LARGEST = 1 << 28
# Separator of texts; it is removed from labels when they are written.
_BETWEEN = "\x1f"
# The fastest level: training waits for decoding, and it already compresses to a quarter.
_LEVEL = 1


@dataclass(frozen=True, eq=False)
class GraphTensors:
    """One graph with its virtual nodes, as arrays.

    Attributes:
        nodes: ``int32[n]``, the type of each node in the vocabulary; 1 is unknown, and 0
            (padding) does not occur.
        edges: ``int32[2, m]``, source and target of each edge, including inverse edges.
        relations: ``int32[m]``, the type of each edge in the vocabulary.
        virtual: ``int32[v]``, the nodes that represent the post, in the order formulas,
            sentences, document.
        kinds: ``int8[v]``, the kind of each of these: 0 formula, 1 sentence, 2 document.
        formulas: The formula ids of the nodes of kind formula, in their order.
        labels: The label of each node as text, so that another encoder can give it a vector.

    >>> vocabulary = Vocabulary(["solve", "V!x"], [":ARG1"])
    >>> graph = Graph(["solve-01", "V!x"], [0], [":ARG1"], [1])
    >>> arrays = tensors(graph, vocabulary, VirtualNodes(structure="global"))
    >>> arrays.edges.shape, arrays.virtual.tolist(), arrays.kinds.tolist()
    ((2, 6), [2], [2])
    >>> GraphTensors.from_bytes(arrays.to_bytes()).labels
    ('solve-01', 'V!x', 'VIRTUAL_DOCUMENT')
    """

    nodes: NDArray[np.int32]
    edges: NDArray[np.int32]
    relations: NDArray[np.int32]
    virtual: NDArray[np.int32]
    kinds: NDArray[np.int8]
    formulas: tuple[str, ...]
    labels: tuple[str, ...]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, GraphTensors):
            return NotImplemented
        return self.to_bytes() == other.to_bytes()

    def __hash__(self) -> int:
        return hash(self.to_bytes())

    def to_bytes(self) -> bytes:
        """Serialise the graph; the same graph always gives the same bytes."""
        different = dict.fromkeys(self.labels)
        numbers = {label: number for number, label in enumerate(different)}
        text = _BETWEEN.join([*self.formulas, *different]).encode()
        arrays = (
            self.nodes,
            self.edges,
            self.relations,
            self.virtual,
            np.array([numbers[label] for label in self.labels], np.int32),
        )
        content = b"".join(array.astype("<i4").tobytes() for array in arrays)
        content += self.kinds.tobytes() + text
        header = _HEADER.pack(
            _MARK, len(self.nodes), len(self.relations), len(self.virtual), len(text), len(content)
        )
        return header + zlib.compress(content, _LEVEL)

    @classmethod
    def from_bytes(cls, data: bytes) -> GraphTensors:
        """Read the serialised form.

        Raises:
            InputError: When the bytes are not a serialised graph, or are damaged.
        """
        try:
            return cls._read(data)
        except (struct.error, zlib.error, ValueError, IndexError) as error:
            raise InputError(f"a stored graph is damaged ({error}); prepare it again") from None

    @classmethod
    def _read(cls, data: bytes) -> GraphTensors:
        mark, n, m, v, text_size, size = _HEADER.unpack_from(data)
        if mark != _MARK or size > _LARGEST or size != 4 * (2 * n + 3 * m + v) + v + text_size:
            raise ValueError("its beginning is not that of a graph")
        unpacker = zlib.decompressobj()
        content = unpacker.decompress(data[_HEADER.size :], max(1, size))  # 0 means no limit
        if len(content) != size:
            raise ValueError(f"{len(content)} bytes instead of {size}")
        ends = np.cumsum([n, 2 * m, m, v, n])
        numbers = np.frombuffer(content, "<i4", int(ends[-1])).astype(np.int32)
        nodes, edges, relations, virtual, places = np.split(numbers, ends[:-1])
        kinds = np.frombuffer(content, np.int8, v, 4 * int(ends[-1])).copy()
        texts = content[size - text_size :].decode().split(_BETWEEN)
        formula_count = int(np.count_nonzero(kinds == FORMULA))
        different = texts[formula_count:]
        _check_range(nodes, np.iinfo(np.int32).max, "node type")
        _check_range(relations, np.iinfo(np.int32).max, "relation")
        _check_range(edges, n, "edge")
        _check_range(virtual, n, "virtual node")
        _check_range(places, len(different), "label")
        _check_range(kinds, DOCUMENT + 1, "kind")
        return cls(
            nodes,
            edges.reshape(2, m),
            relations,
            virtual,
            kinds,
            tuple(texts[:formula_count]),
            tuple(different[place] for place in places.tolist()),
        )


def tensors(
    graph: Graph,
    vocabulary: Vocabulary,
    virtual: VirtualNodes = VirtualNodes(),  # noqa: B008  # frozen
    trees: FormulaTrees = "both",
) -> GraphTensors:
    """Return a graph as arrays, with its virtual nodes and inverse edges.

    Args:
        graph: The graph.
        vocabulary: The types of nodes and relations; other types are unknown.
        virtual: Which virtual nodes to add, and how they are joined.
        trees: Which formula trees to keep: ``both``, ``opt``, ``slt`` or ``none``.
    """
    if trees != "both":
        graph = with_trees(graph, trees)
    added = add_virtual_nodes(graph, virtual)
    labels = [*graph.labels, *added.labels]
    sources = [*graph.sources, *(source for source, _, _ in added.edges)]
    targets = [*graph.targets, *(target for _, _, target in added.edges)]
    relations = [*graph.relations, *(relation for _, relation, _ in added.edges)]
    return GraphTensors(
        nodes=np.array(vocabulary.nodes(labels), np.int32),
        edges=np.array([sources + targets, targets + sources], np.int32),
        relations=_both_ways(vocabulary.relations(relations)),
        virtual=np.array(added.nodes, np.int32),
        kinds=np.array(added.kinds, np.int8),
        formulas=tuple(_cleaned([part.id for part in graph.formulas])),
        labels=tuple(_cleaned(labels)),
    )


def _both_ways(relations: Sequence[int]) -> NDArray[np.int32]:
    """Return the relations of the edges followed by those of their inverses."""
    forward = np.array(relations, np.int32)
    return np.concatenate([forward, forward ^ 1])


def _cleaned(texts: Sequence[str]) -> Sequence[str]:
    """Return texts without the separator of the serialised form and without lone surrogates."""
    joined = "".join(texts)
    if _BETWEEN not in joined and joined.isascii():
        return texts
    return [text.replace(_BETWEEN, "").encode(errors="replace").decode() for text in texts]


def _check_range(numbers: NDArray[np.int32] | NDArray[np.int8], end: int, what: str) -> None:
    if len(numbers) and not (int(numbers.min()) >= 0 and int(numbers.max()) < end):
        raise ValueError(f"a {what} is out of range")
