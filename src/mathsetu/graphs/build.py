"""From marked text to one connected graph: sentences joined in chunks, formulas hung in.

Nothing loses a post. A sentence whose maker fails gets the graph of its terms instead, and a
formula whose placeholder a parser has lost is hung on the root.
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
    """What a graph is made of: marked text, its language, and its formulas with their ids.

    ``spans`` are those of the text, where somebody has split it before.
    """

    text: str
    language: str = "en"
    formulas: Sequence[Formula] = ()
    spans: Sequence[Span] | None = None


@dataclass
class GraphBuilder:
    """Builds graphs of many texts at a time, since parsers are fastest so.

    Attributes:
        maker: Which maker of sentence graphs is taken: a name, or one of your own.
        troubles: How many sentences got the graph of their terms because their maker failed
            (``sentences``), and how many formulas were hung on the root (``formulas``).

    >>> builder = GraphBuilder("terms")
    >>> graph = builder.build(Source("Show that $2$ is prime."))
    >>> graph.labels
    ['sentence', 'show', 'FORMULA_0', 'prime-number', 'N!2', 'N!2']
    >>> graph.formula_map
    {'FORMULA_0': '0'}
    """

    maker: str | SentenceMaker = "best"
    troubles: Counter[str] = field(default_factory=Counter)

    def build(self, source: Source) -> Graph:
        """The graph of one text."""
        return self.build_many([source])[0]

    def build_many(self, sources: Sequence[Source]) -> list[Graph]:
        """The graphs of many texts, in their order."""
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
        """A graph for each sentence; where the maker has failed, that of its terms."""
        maker = maker_for(language, self.maker) if isinstance(self.maker, str) else self.maker
        made = _make_by_halves(maker, sentences)
        failed = [place for place, graph in enumerate(made) if graph is None]
        self.troubles["sentences"] += len(failed)
        instead = TermsMaker(language).make([sentences[place] for place in failed])
        for place, graph in zip(failed, instead, strict=True):
            made[place] = graph
        return [graph for graph in made if graph is not None]

    def _join(self, text: MaskedText, made: Sequence[SentenceGraph]) -> Graph:
        """One graph of all sentences and formulas."""
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
        """Hang each formula on its placeholder, and join those that are written alike."""
        places = _placeholders(graph)
        seen: dict[str, int] = {}
        for number, formula in enumerate(formulas):
            label = f"{PLACEHOLDER}{number}"
            place = places.get(label)
            if place is None:
                place = graph.add_node(label)
                graph.add_edge(graph.root, MATH, place)
                self.troubles["formulas"] += 1
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
    """The graph of one marked text.

    Args:
        text: Marked text of a post or query.
        language: Its language.
        formulas: Its formulas with their ids; without them, formulas are numbered from 0.
        maker: Which maker of sentence graphs is taken.

    >>> build_graph("Find the roots of $x^2-2$.", maker="terms").is_connected()
    True
    """
    return GraphBuilder(maker).build(Source(text, language, formulas))


def _make_by_halves(maker: SentenceMaker, sentences: Sequence[str]) -> list[SentenceGraph | None]:
    """Make all at once; when that fails, each half, down to the sentence that is at fault."""
    if not sentences:
        return []
    try:
        return list(maker.make(sentences))
    except Exception:  # parsers are other people's code, and any error of theirs is one sentence's
        if len(sentences) == 1:
            return [None]
    middle = len(sentences) // 2
    return [
        *_make_by_halves(maker, sentences[:middle]),
        *_make_by_halves(maker, sentences[middle:]),
    ]


def _add_sentence(graph: Graph, made: SentenceGraph, names: dict[str, int]) -> Part:
    """Copy a sentence into the graph; a name that is there already is not added again."""
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
    """A new node or, for a name, the one that it has already."""
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
