r"""Reads Penman notation, including slightly malformed text.

A node is ``(variable / concept :relation value …)``; a value is a node, a variable of another
node, or a constant. ``:ARG0-of`` is the inverse of ``:ARG0``. Symbols of formulas contain
brackets, colons and slashes that strict readers reject. Here, a concept extends to the next white
space, without the final brackets that close nodes: those that were not opened inside the concept
or, if the brackets then do not balance, all final brackets. Alignments (``~e.4``) are skipped.
Deep formulas nest deeply, so the reader does not use recursion.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from mathsetu.errors import NotationError
from mathsetu.graphs.graph import COREFERENCE, PLACEHOLDER, SENTENCES, Graph, Part
from mathsetu.graphs.penman.writing import ENDS_IN_OF, ESCAPES
from mathsetu.graphs.representations import LAYOUT, OPERATORS

_SPACE = re.compile(r"(?:\s+|^#.*$)+", re.MULTILINE)
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_RELATION = re.compile(r":[^\s()\"]*")
_SYMBOL = re.compile(r"[^\s()\"]+")
_VARIABLE = re.compile(r"[^\s()/\"]+")
_CONCEPT = re.compile(r"\S+")
_CLOSING = re.compile(r"(?<!\))\)++\Z")
_ALIGNMENT = re.compile(r"(?<=.)~(?:e\.)?\d+(?:,\d+)*\Z")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED = {code: letter for letter, code in ESCAPES.items()}
_SENTENCE = re.compile(r":snt\d+")
_FORMULA = re.compile(rf"{PLACEHOLDER}[0-9]{{1,9}}")
_TREES = frozenset({OPERATORS, LAYOUT})


def read_penman(text: str, formula_map: Mapping[str, str] | None = None) -> Graph:
    """Read one graph.

    Args:
        text: The graph; lines that begin with ``#`` are skipped.
        formula_map: The formula id of each placeholder; a placeholder that it lacks is its own id.

    >>> graph = read_penman("(s / solve-01 :ARG1 (f / FORMULA_0 :opt (x / V!x)) :polarity -)")
    >>> graph.labels, graph.formula_map
    (['solve-01', 'FORMULA_0', 'V!x', '-'], {'FORMULA_0': 'FORMULA_0'})

    Raises:
        NotationError: When the text is malformed; the message gives the position.
    """
    reader = _Reader(text)
    try:
        reader.read()
    except NotationError:
        # A symbol may be an opening bracket that is not closed inside the symbol.
        reader = _Reader(text, closes_inside=False)
        reader.read()
    graph = reader.finish()
    _find_parts(graph, reader.parents, dict(formula_map or {}))
    return graph


@dataclass(slots=True)
class _Open:
    """A node whose end has not been read yet."""

    node: int
    relation: str = ""


@dataclass(slots=True)
class _Parent:
    """The node under which a node was written, and the relation."""

    node: int
    relation: str


@dataclass(slots=True)
class _Reader:
    """One pass over the text; variables are resolved at the end, as they may be defined later."""

    text: str
    closes_inside: bool = True
    place: int = 0
    graph: Graph = field(default_factory=Graph)
    variables: dict[str, int] = field(default_factory=dict)
    parents: dict[int, list[_Parent]] = field(default_factory=dict)
    unresolved: list[tuple[int, str, str]] = field(default_factory=list)

    def read(self) -> None:
        """Read the whole text into nodes, edges, and values that may be variables."""
        self._pass_space()
        opened: list[_Open] = []
        if not self.text.startswith("(", self.place):
            raise self._problem("a graph begins with '('")
        while True:
            self._pass_space()
            letter = self.text[self.place : self.place + 1]
            if letter == "(":
                self._open_node(opened)
            elif letter == ")":
                self.place += 1
                opened.pop()
                if not opened:
                    break
            elif letter == "":
                raise self._problem("')' expected")
            elif letter == ":" and not opened[-1].relation:
                opened[-1].relation = self._take(_RELATION)
            else:
                self._take_value(opened[-1])
        self._pass_space()
        if self.place < len(self.text):
            raise self._problem("nothing may follow the last ')'")

    def finish(self) -> Graph:
        """Resolve variables to their nodes; every other value is a constant."""
        for source, relation, value in self.unresolved:
            node = self.variables.get(value)
            if node is None:
                node = self.graph.add_node(value)
            self._add_edge(source, relation, node)
        return self.graph

    def _open_node(self, opened: list[_Open]) -> None:
        if opened and not opened[-1].relation:
            raise self._problem("a relation ':…' expected before '('")
        self.place += 1
        self._pass_space()
        variable = self._take(_VARIABLE)
        self._pass_space()
        concept = variable
        if self.text.startswith("/", self.place):
            self.place += 1
            self._pass_space()
            concept = self._take_concept()
        node = self.graph.add_node(concept)
        self.variables[variable] = node
        if opened:
            self._add_edge(opened[-1].node, opened[-1].relation, node)
            opened[-1].relation = ""
        opened.append(_Open(node))

    def _take_concept(self) -> str:
        if self.text.startswith('"', self.place):
            return self._take_string()
        found = _CONCEPT.match(self.text, self.place)
        if found is None:
            raise self._problem("a concept expected after '/'")
        word = found[0]
        closing = _CLOSING.search(word)
        if closing is not None:
            # Brackets that were opened inside the concept are closed inside it.
            inside = word[: closing.start()]
            own = inside.count("(") - inside.count(")") if self.closes_inside else 0
            word = word[: closing.start() + min(max(0, own), len(closing[0]))]
        if not word:
            raise self._problem("a concept expected after '/'")
        self.place += len(word)
        return _without_alignment(word)

    def _take_value(self, parent: _Open) -> None:
        if not parent.relation:
            raise self._problem("a relation ':…' expected")
        if self.text.startswith('"', self.place):
            node = self.graph.add_node(self._take_string())
            self._add_edge(parent.node, parent.relation, node)
        else:
            value = _without_alignment(self._take(_SYMBOL))
            self.unresolved.append((parent.node, parent.relation, value))
        parent.relation = ""

    def _add_edge(self, parent: int, relation: str, node: int) -> None:
        relation = _without_alignment(relation)
        self.parents.setdefault(node, []).append(_Parent(parent, relation))
        if relation.endswith("-of") and relation not in ENDS_IN_OF:
            self.graph.add_edge(node, relation.removesuffix("-of"), parent)
        else:
            self.graph.add_edge(parent, relation, node)

    def _take_string(self) -> str:
        written = self._take(_STRING)[1:-1]
        return _ESCAPE.sub(lambda escape: _ESCAPED.get(escape[0], escape[1]), written)

    def _take(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self.text, self.place)
        if found is None:
            raise self._problem("a name expected")
        self.place = found.end()
        return found[0]

    def _pass_space(self) -> None:
        found = _SPACE.match(self.text, self.place)
        if found is not None:
            self.place = found.end()

    def _problem(self, problem: str) -> NotationError:
        return NotationError(self.text, self.place, problem)


def _without_alignment(written: str) -> str:
    return _ALIGNMENT.sub("", written) if "~" in written else written


def _find_parts(
    graph: Graph, parents: Mapping[int, list[_Parent]], formula_map: Mapping[str, str]
) -> None:
    """Assign nodes to formulas and sentences by their position in the text.

    A node is written out under its first parent, and parents come before their children. Further
    parents only mention it, and it belongs to their sentences as well.
    """
    formula_of: dict[int, int] = {}
    sentence_of: dict[int, int] = {}
    for node, label in enumerate(graph.labels):
        parent = parents[node][0] if node in parents else _Parent(-1, "")
        if parent.node in formula_of:
            formula_of[node] = formula_of[parent.node]
        elif parent.relation in _TREES and _FORMULA.fullmatch(graph.labels[parent.node]):
            formula_of[node] = parent.node
        elif parent.node in sentence_of:
            sentence_of[node] = sentence_of[parent.node]
        elif label != SENTENCES and (parent.node < 0 or _SENTENCE.fullmatch(parent.relation)):
            sentence_of[node] = node
    formulas = {
        node: list[int]() for node, label in enumerate(graph.labels) if _FORMULA.fullmatch(label)
    }
    for node, formula in formula_of.items():
        formulas[formula].append(node)
    graph.sentences = _sentences(sentence_of, parents)
    graph.formulas = [
        Part(root, nodes, formula_map.get(graph.labels[root], graph.labels[root]))
        for root, nodes in sorted(formulas.items(), key=lambda item: _number(graph, item[0]))
    ]


def _sentences(sentence_of: Mapping[int, int], parents: Mapping[int, list[_Parent]]) -> list[Part]:
    """Return the sentences, each with the nodes of other sentences that it mentions.

    Mentions by a node that several sentences share are ignored, because they may come from any
    of these sentences.
    """
    mentions = [
        (sentence_of[parent.node], parent.node, node)
        for node, sentence in sentence_of.items()
        for parent in parents.get(node, ())[1:]
        if parent.relation != COREFERENCE and sentence_of.get(parent.node, sentence) != sentence
    ]
    shared = {node for _, _, node in mentions}
    sentences: dict[int, set[int]] = {}
    for node, sentence in sentence_of.items():
        sentences.setdefault(sentence, set()).add(node)
    for sentence, parent_node, node in mentions:
        if parent_node not in shared:
            sentences[sentence].add(node)
    return [Part(root, sorted(nodes)) for root, nodes in sorted(sentences.items())]


def _number(graph: Graph, placeholder: int) -> int:
    return int(graph.labels[placeholder].removeprefix(PLACEHOLDER))
