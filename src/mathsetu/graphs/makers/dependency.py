"""Sentence graphs from a dependency parse: predicates with frames, and their arguments.

A verb becomes a frame (``prove-01``), its subject ``:ARG0`` and its object ``:ARG1``. The
complement of "be" becomes a predicate whose ``:domain`` is the subject. Negation is
``:polarity -``. A term of the glossary is one node, labelled with its concept, which is the same
in all languages. Function words become no nodes; some of them determine a relation.
"""

from __future__ import annotations

from collections.abc import Sequence

from mathsetu.graphs.makers import roles
from mathsetu.graphs.makers.parses import Parser, Word
from mathsetu.graphs.makers.sentence_maker import SentenceGraph
from mathsetu.graphs.makers.terms import (
    INTERROGATIVE,
    MATH,
    MODE,
    NEGATIVE,
    POLARITY,
    is_question,
)

IMPERATIVE = "imperative"
_FRAME = "-01"
_BE = frozenset({"be", "is", "are", "was", "were", "been", "being"})


class DependencyMaker:
    """Makes sentence graphs in a language for which a spaCy model is installed.

    Args:
        language: The language of the sentences.
        model: The spaCy model; if empty, the smallest one installed for the language.
    """

    name = "dependency"

    def __init__(self, language: str, model: str = "") -> None:
        self._parser = Parser(language, model)

    def make(self, sentences: Sequence[str]) -> list[SentenceGraph | None]:
        """Return one graph per sentence, or None if its parse has no words."""
        parses = self._parser.parse(sentences)
        return [
            meaning(words, is_question(sentence))
            for sentence, words in zip(sentences, parses, strict=True)
        ]


def meaning(words: Sequence[Word], asks: bool = False) -> SentenceGraph | None:
    """Return the graph of a parsed sentence, or None if it has no words.

    >>> verb, noun = Word("prove", "prove", 0, "ROOT", "VERB"), Word("x", "x", 0, "dobj", "NOUN")
    >>> made = meaning([verb, noun])
    >>> made.graph.labels, list(made.graph.edges())
    (['prove-01', 'x'], [(0, ':ARG1', 1)])
    """
    return _Analysis(words, asks).make() if words else None


class _Analysis:
    """The conversion of one parsed sentence into a graph."""

    def __init__(self, words: Sequence[Word], asks: bool) -> None:
        self._words = words
        self._asks = asks
        self._made = SentenceGraph()
        self._root = next(at for at, word in enumerate(words) if word.head == at)
        self._dependents: list[list[int]] = [[] for _ in words]
        for at, word in enumerate(words):
            if word.head != at:
                self._dependents[word.head].append(at)
        self._is_content = [self._becomes_node(at) for at in range(len(words))]
        self._complements = self._find_complements()
        self._groups = self._find_groups()
        self._nodes: dict[int, int] = {}
        self._joints: dict[int, int] = {}

    def make(self) -> SentenceGraph:
        """Return the graph, rooted at the root of the parse."""
        graph = self._made.graph
        for at, content in enumerate(self._is_content):
            if content and at not in self._complements:
                self._nodes[at] = graph.add_node(self._label(at))
        for first, others in self._groups.items():
            self._joints[first] = joint = graph.add_node(self._joint_label(first, others))
            for number, at in enumerate([first, *others], start=1):
                graph.add_edge(joint, f":op{number}", self._own_node(at))
        graph.root = self._node(self._root)
        for at in range(len(self._words)):
            self._add_edges(at)
        if self._asks:
            graph.add_edge(graph.root, MODE, graph.add_node(INTERROGATIVE))
        elif self._is_command():
            graph.add_edge(graph.root, MODE, graph.add_node(IMPERATIVE))
        self._find_names()
        return self._made

    def _becomes_node(self, at: int) -> bool:
        """Whether a word becomes a node."""
        word = self._words[at]
        if at == self._root or word.is_formula or word.is_term:
            return True
        if word.text in roles.QUESTION_WORDS:
            return self._asks
        is_empty = word.dependency in roles.FUNCTION or word.part in roles.EMPTY_PARTS
        return not is_empty and not self._is_negation(at)

    def _is_negation(self, at: int) -> bool:
        word = self._words[at]
        return word.dependency == "neg" or (word.is_negated and word.part not in ("VERB", "ADJ"))

    def _find_complements(self) -> dict[int, int]:
        """Map each form of "be" to its complement."""
        found: dict[int, int] = {}
        for at, word in enumerate(self._words):
            if self._is_content[at] and not word.is_term and word.text in _BE:
                for other in self._dependents[at]:
                    if self._words[other].dependency in roles.COMPLEMENTS:
                        found.setdefault(at, other)
        return {at: other for at, other in found.items() if self._is_content[other]}

    def _find_groups(self) -> dict[int, list[int]]:
        """Map the first word of each enumeration to its other members, in order."""
        groups: dict[int, list[int]] = {}
        for at, word in enumerate(self._words):
            if word.dependency == roles.CONJUNCT and self._is_content[at]:
                first = word.head
                while self._words[first].dependency == roles.CONJUNCT:
                    first = self._words[first].head
                if self._is_content[first]:
                    groups.setdefault(first, []).append(at)
        return groups

    def _label(self, at: int) -> str:
        word = self._words[at]
        if word.text in roles.QUESTION_WORDS and self._asks:
            return roles.UNKNOWN
        is_frame = word.part == "VERB" and not word.is_formula
        return word.label + _FRAME if is_frame else word.label

    def _joint_label(self, first: int, others: Sequence[int]) -> str:
        for at in (first, *others):
            for other in self._dependents[at]:
                if self._words[other].dependency == "cc":
                    return roles.conjunction(self._words[other].text)
        return roles.conjunction("")

    def _own_node(self, at: int) -> int:
        """Return the node of a word or, for a form of "be", the node of its complement."""
        while at in self._complements:
            at = self._complements[at]
        return self._nodes[at]

    def _node(self, at: int) -> int:
        """Return the node of the enumeration that begins with a word, else the node of the word."""
        while at in self._complements and at not in self._joints:
            at = self._complements[at]
        return self._joints[at] if at in self._joints else self._nodes[at]

    def _head(self, at: int) -> tuple[int, int]:
        """Return the nearest content word above a word, and the function word between, or -1."""
        between = -1
        head = self._words[at].head
        while not self._is_content[head]:
            between, head = head, self._words[head].head
        return head, between

    def _add_edges(self, at: int) -> None:
        """Add the edges between a word and its head."""
        graph, word = self._made.graph, self._words[at]
        head, between = self._head(at) if at != self._root else (at, -1)
        if word.is_negated or word.dependency == "neg":
            negated = at if self._is_content[at] and not self._is_negation(at) else head
            graph.add_edge(self._own_node(negated), POLARITY, graph.add_node(NEGATIVE))
        is_member = word.dependency == roles.CONJUNCT and self._groups.get(self._first(at))
        if at == self._root or not self._is_content[at] or is_member:
            return
        if self._complements.get(head) == at:
            return  # it shares the node of its head
        if word.dependency in roles.RELATIVE:
            graph.add_edge(self._node(at), self._missing_argument(at), self._own_node(head))
            return
        stands_with = word.dependency in roles.NOMINAL and between < 0
        if stands_with and self._words[head].is_formula and not word.is_formula:
            graph.add_edge(self._node(at), MATH, self._own_node(head))
            return
        relation = self._relation(at, head, between)
        graph.add_edge(self._own_node(head), relation, self._node(at))

    def _first(self, at: int) -> int:
        while self._words[at].dependency == roles.CONJUNCT:
            at = self._words[at].head
        return at

    def _relation(self, at: int, head: int, between: int) -> str:
        """Return the relation between a word and its head."""
        word = self._words[at]
        if word.dependency in roles.SUBJECTS:
            is_action = self._words[head].part == "VERB" and head not in self._complements
            return roles.ARG0 if is_action else roles.DOMAIN
        if word.dependency in roles.PASSIVE_SUBJECTS:
            return roles.ARG1
        if between >= 0 and self._words[between].dependency == "agent":
            return roles.ARG0
        if word.is_formula and between < 0 and word.dependency in roles.NOMINAL:
            return MATH
        return roles.role(word.dependency, self._linking_word(at, between))

    def _linking_word(self, at: int, between: int) -> str:
        """Return the preposition or conjunction that links a word to its head, empty if none."""
        if between >= 0:
            return self._words[between].text
        for other in self._dependents[at]:
            if self._words[other].dependency in ("case", "mark"):
                return self._words[other].text
        return ""

    def _missing_argument(self, at: int) -> str:
        """Return the role of a noun in a clause about it: the subject, unless it has one."""
        if self._words[at].dependency == "acl":
            return roles.ARG1
        subjects = (
            other
            for other in self._dependents[at]
            if self._words[other].dependency in roles.SUBJECTS and self._is_content[other]
        )
        return roles.ARG0 if next(subjects, None) is None else roles.ARG1

    def _is_command(self) -> bool:
        word = self._words[self._root]
        subjects = roles.SUBJECTS | roles.PASSIVE_SUBJECTS | {"aux"}
        dependents = (self._words[other].dependency for other in self._dependents[self._root])
        return word.part == "VERB" and word.is_imperative and not subjects.intersection(dependents)

    def _find_names(self) -> None:
        """Mark the names without outgoing edges: a post has one node for each of them."""
        heads = set(self._made.graph.sources)
        for at, node in self._nodes.items():
            if self._words[at].is_name and not self._words[at].is_formula and node not in heads:
                self._made.names.add(node)
