"""Builds one connected graph from marked text: joins sentences in chunks and attaches formulas.

No failure loses a post. If the maker fails for a sentence, the sentence gets the graph of its
terms instead. If a parser drops the placeholder of a formula, the formula is attached to the root.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from mathsetu.graphs.formula_trees import attach_formula
from mathsetu.graphs.graph import COREFERENCE, PLACEHOLDER, SENTENCES, Graph, Part
from mathsetu.graphs.makers import maker_for
from mathsetu.graphs.makers.sentence_maker import SentenceGraph, SentenceMaker
from mathsetu.graphs.makers.terms import MATH, TermsMaker
from mathsetu.graphs.text import MaskedText, chunks, mask_sentences
from mathsetu.markup import Span
from mathsetu.records import Formula


@dataclass(frozen=True, slots=True)
class Source:
    """The input of a graph: marked text, its language, and its formulas with their ids.

    ``spans`` are the spans of the text, if it has already been split.
    """

    text: str
    language: str = "en"
    formulas: Sequence[Formula] = ()
    spans: Sequence[Span] | None = None


@dataclass
class GraphBuilder:
    """Builds graphs of many texts at a time, since parsers are fastest in batches.

    Attributes:
        maker: The maker of sentence graphs: a name from the table of makers, or an instance.
        failures: How many sentences got the graph of their terms because their maker failed
            (``sentences``), and how many formulas were attached to the root because their
            placeholder was missing (``formulas``).

    >>> builder = GraphBuilder("terms")
    >>> graph = builder.build(Source("Show that $2$ is prime."))
    >>> graph.labels
    ['sentence', 'show', 'FORMULA_0', 'prime-number', 'N!2', 'N!2']
    >>> graph.formula_map
    {'FORMULA_0': '0'}
    """

    maker: str | SentenceMaker = "best"
    failures: Counter[str] = field(default_factory=Counter)

    def build(self, source: Source) -> Graph:
        """Return the graph of one text."""
        return self.build_many([source])[0]

    def build_many(self, sources: Sequence[Source]) -> list[Graph]:
        """Return the graphs of many texts, in the order of the texts."""
        masked = [mask_sentences(source.text, source.formulas, source.spans) for source in sources]
        sentences: dict[str, list[str]] = {}
        for source, text in zip(sources, masked, strict=True):
            sentences.setdefault(source.language, []).extend(text.sentences)
        made = {
            language: iter(self._sentence_graphs(language, some))
            for language, some in sentences.items()
        }
        graphs: list[Graph] = []
        for source, text in zip(sources, masked, strict=True):
            some = made[source.language]
            graphs.append(self._join(text, [next(some) for _ in text.sentences]))
        return graphs

    def _sentence_graphs(self, language: str, sentences: Sequence[str]) -> list[SentenceGraph]:
        """Return one graph per sentence; the graph of its terms if the maker failed."""
        maker = maker_for(language, self.maker) if isinstance(self.maker, str) else self.maker
        made = _make_with_bisection(maker, sentences)
        failed = [place for place, graph in enumerate(made) if graph is None]
        self.failures["sentences"] += len(failed)
        instead = TermsMaker(language).make([sentences[place] for place in failed])
        for place, graph in zip(failed, instead, strict=True):
            made[place] = graph
        return [graph for graph in made if graph is not None]

    def _join(self, text: MaskedText, made: Sequence[SentenceGraph]) -> Graph:
        """Join all sentences and formulas into one graph."""
        graph = Graph()
        if len(made) != 1:
            graph.add_node(SENTENCES)
        names: dict[str, int] = {}
        groups = chunks(text.sentences)
        for number, group in enumerate(groups, start=1):
            head = graph.root
            if len(groups) > 1 and len(group) > 1:
                head = graph.add_node(SENTENCES)
                graph.add_edge(graph.root, f":snt{number}", head)
            for place, sentence in enumerate(group, start=1):
                part = _add_sentence(graph, made[sentence], names)
                graph.sentences.append(part)
                if len(made) > 1:
                    within = number if len(group) == 1 else place
                    graph.add_edge(head, f":snt{within}", part.root)
        self._hang_formulas(graph, text.formulas)
        return graph

    def _hang_formulas(self, graph: Graph, formulas: Sequence[Formula]) -> None:
        """Attach each formula to its placeholder, and join formulas with equal LaTeX."""
        places = _placeholders(graph)
        seen: dict[str, int] = {}
        for number, formula in enumerate(formulas):
            label = f"{PLACEHOLDER}{number}"
            place = places.get(label)
            if place is None:
                place = graph.add_node(label)
                graph.add_edge(graph.root, MATH, place)
                self.failures["formulas"] += 1
            attach_formula(graph, place, formula)
            spelling = "".join(formula.latex.split())
            if spelling in seen:
                graph.add_edge(place, COREFERENCE, seen[spelling])
            if spelling:
                seen[spelling] = place


def build_graph(
    text: str,
    language: str = "en",
    formulas: Sequence[Formula] = (),
    maker: str | SentenceMaker = "best",
) -> Graph:
    """Return the graph of one marked text.

    Args:
        text: Marked text of a post or query.
        language: Its language.
        formulas: Its formulas with their ids; without them, formulas are numbered from 0.
        maker: The maker of sentence graphs, by name or as an instance.

    >>> build_graph("Find the roots of $x^2-2$.", maker="terms").is_connected()
    True
    """
    return GraphBuilder(maker).build(Source(text, language, formulas))


def _make_with_bisection(
    maker: SentenceMaker, sentences: Sequence[str]
) -> list[SentenceGraph | None]:
    """Make all graphs in one call; on failure, split in half until the faulty sentence is found."""
    if not sentences:
        return []
    try:
        return list(maker.make(sentences))
    except Exception:  # a parser is third-party code and may raise anything
        if len(sentences) == 1:
            return [None]
    middle = len(sentences) // 2
    return [
        *_make_with_bisection(maker, sentences[:middle]),
        *_make_with_bisection(maker, sentences[middle:]),
    ]


def _add_sentence(graph: Graph, made: SentenceGraph, names: dict[str, int]) -> Part:
    """Copy a sentence graph into the graph; reuse the nodes of names that it already contains."""
    sentence = made.graph
    first = len(graph.labels)
    numbers: Sequence[int]
    if made.names:
        numbers = [
            _node(graph, label, names if node in made.names else None)
            for node, label in enumerate(sentence.labels)
        ]
    else:
        graph.labels += sentence.labels
        numbers = range(first, len(graph.labels))
    graph.sources += [numbers[node] for node in sentence.sources]
    graph.targets += [numbers[node] for node in sentence.targets]
    graph.relations += sentence.relations
    return Part(numbers[sentence.root], numbers)


def _node(graph: Graph, label: str, names: dict[str, int] | None) -> int:
    """Return a new node or, for a name that the graph already contains, its existing node."""
    if names is None:
        return graph.add_node(label)
    if label not in names:
        names[label] = graph.add_node(label)
    return names[label]


def _placeholders(graph: Graph) -> dict[str, int]:
    found: dict[str, int] = {}
    for node, label in enumerate(graph.labels):
        if label.startswith(PLACEHOLDER):
            found.setdefault(label, node)
    return found
