"""The vocabulary of a graph model: types of nodes and relations, and their numbers.

Labels are first normalised to types (`normalise.py`). Node types are the most frequent types of
the training graphs. A number needs five occurrences for its own type; rarer numbers have one of
three types of unknown numbers. Relations come in pairs with their inverses: ``relation ^ 1`` is
the other direction.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from mathsetu.errors import InputError
from mathsetu.graphs.graph import Graph
from mathsetu.graphs.normalise import UNKNOWN_NUMBERS, URL, node_type, unknown_number
from mathsetu.graphs.virtual import AUXILIARY_RELATION, VIRTUAL_LABELS, VIRTUAL_RELATIONS

PADDING, UNKNOWN, MASK = 0, 1, 2
#: The first types of every vocabulary, before the types of its graphs.
RESERVED = ("[PAD]", "[UNK]", "[MASK]", URL, *UNKNOWN_NUMBERS, *VIRTUAL_LABELS)
UNKNOWN_RELATION = "[UNK]"
_RESERVED_RELATIONS = (UNKNOWN_RELATION, *VIRTUAL_RELATIONS, AUXILIARY_RELATION)
#: The suffix of inverse relations.
INVERSE = "*"
LARGEST = 20_000
SEEN_NUMBERS = 5
# Limits the cache of labels, so that the memory of a server does not grow forever.
_CACHE_SIZE = 1 << 20


class TypeCounts:
    """Frequencies of types; counts of parts of a collection can be added.

    >>> counts = TypeCounts()
    >>> counts.add(Graph(["solves", "x"], [0], [":ARG1"], [1]))
    >>> counts.add(Graph(["solve-01"]))
    >>> counts.nodes.most_common(1), counts.relations
    ([('solv', 2)], Counter({':ARG1': 1}))
    """

    def __init__(self) -> None:
        self.nodes: Counter[str] = Counter()
        self.relations: Counter[str] = Counter()

    def add(self, graph: Graph) -> None:
        """Count the nodes and edges of a graph."""
        self.nodes.update(map(node_type, graph.labels))
        self.relations.update(graph.relations)

    def update(self, other: TypeCounts) -> None:
        """Add the counts of another part of the collection."""
        self.nodes.update(other.nodes)
        self.relations.update(other.relations)

    def vocabulary(self, largest: int = LARGEST, seen_numbers: int = SEEN_NUMBERS) -> Vocabulary:
        """Return the vocabulary of the most frequent types; ties are broken alphabetically.

        Args:
            largest: The maximum number of node types, including reserved types.
            seen_numbers: The minimum count for a number to get its own type.
        """
        ranked = sorted(self.nodes.items(), key=lambda item: (-item[1], item[0]))
        nodes = [
            label
            for label, count in ranked
            if label not in RESERVED and (count >= seen_numbers or not unknown_number(label))
        ]
        return Vocabulary(nodes[: max(0, largest - len(RESERVED))], sorted(self.relations))


class Vocabulary:
    """Numbers for node types and relations.

    >>> vocabulary = Vocabulary(["solv", "V!x", "N!2"], [":ARG1"])
    >>> vocabulary.node("solves") == vocabulary.node("solve-01"), vocabulary.node("banana")
    (True, 1)
    >>> vocabulary.node("N!1729") == vocabulary.node("[UNKNUM_INT]")
    True
    >>> vocabulary.relation(":ARG1") ^ 1 == vocabulary.relation(":ARG1*")
    True

    ``node_types`` and ``relation_types`` list all types in the order of their numbers.
    """

    def __init__(self, nodes: Iterable[str], relations: Iterable[str]) -> None:
        self.node_types = tuple(dict.fromkeys([*RESERVED, *nodes]))
        names = dict.fromkeys([*_RESERVED_RELATIONS, *relations])
        self.relation_types = tuple(name for base in names for name in (base, base + INVERSE))
        self._nodes = {label: number for number, label in enumerate(self.node_types)}
        self._relations = {name: number for number, name in enumerate(self.relation_types)}
        # Cache of labels, so that each is normalised only once.
        self._met: dict[str, int] = {}

    def node(self, label: str) -> int:
        """Return the number of the type of a node; 1 if it is unknown."""
        number = self._met.get(label)
        if number is None:
            kind = label if label in RESERVED else node_type(label)
            number = self._nodes.get(kind)
            if number is None:
                number = self._nodes.get(unknown_number(kind), UNKNOWN)
            if len(self._met) < _CACHE_SIZE:
                self._met[label] = number
        return number

    def nodes(self, labels: Sequence[str]) -> list[int]:
        """Return the numbers of the types of many nodes."""
        return [self.node(label) for label in labels]

    def relation(self, name: str) -> int:
        """Return the number of a relation, or of its inverse if the name ends with ``*``."""
        return self._relations.get(name, int(name.endswith(INVERSE)))

    def relations(self, names: Sequence[str]) -> list[int]:
        """Return the numbers of many relations."""
        return [self.relation(name) for name in names]

    def save(self, path: str | Path) -> None:
        """Write the types as JSON."""
        content = {
            "nodes": self.node_types[len(RESERVED) :],
            "relations": self.relation_types[2 * len(_RESERVED_RELATIONS) :: 2],
        }
        Path(path).write_text(json.dumps(content, ensure_ascii=False, indent=0), encoding="utf-8")

    @classmethod
    def load(cls, path: str | Path) -> Vocabulary:
        """Read a file written by `save`.

        Raises:
            InputError: When the file cannot be read or is not a vocabulary.
        """
        try:
            content = json.loads(Path(path).read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            raise InputError(f"{path}: is not a graph vocabulary ({error})") from None
        return cls(*(_names(content, key, path) for key in ("nodes", "relations")))


def _names(content: object, key: str, path: str | Path) -> list[str]:
    """Return a list of names from the content of a file, checked because it may be edited."""
    names = content.get(key) if isinstance(content, dict) else None
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise InputError(f'{path}: is not a graph vocabulary ("{key}" must list names)')
    return names
