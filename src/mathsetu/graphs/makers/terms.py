"""Sentence graphs without a parser, for every language: the concepts that a sentence speaks of.

Terms of the glossary become its concepts, which all languages share: so the graph of a Hindi
question and that of an English answer meet. Other words stay as they are. A formula hangs on the
word in front of it ("the set A"), else on the sentence.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from mathsetu.graphs.makers.sentence_maker import SentenceGraph
from mathsetu.graphs.text import NAME, placeholder
from mathsetu.languages.glossary import Glossary
from mathsetu.languages.glossary.matching import Matcher
from mathsetu.languages.glossary.tokens import Token, tokenize
from mathsetu.languages.normalise import normalise
from mathsetu.languages.table import language as row_of

SENTENCE = "sentence"
CONCEPT, WORD, MATH, NEXT = ":concept", ":word", ":math", ":next"
POLARITY, NEGATIVE = ":polarity", "-"
MODE, INTERROGATIVE = ":mode", "interrogative"
#: Words that turn a statement into its opposite, in all languages of the table.
NEGATIONS = frozenset(
    "not no never none neither nor cannot isnt doesnt arent dont cant isn't doesn't aren't don't "
    "can't नहीं नही न मत ni nunca ningún ninguna ninguno ne není nejsou nemá nikdy žádný žádná "
    "žádné nije nisu nema nikad nijedan nijedna نیست نه نمی نیستند هیچ छैन होइन छैनन्".split()
)
QUESTION_MARKS = ("?", "؟", "？")
#: The area of the glossary that holds persons and things called after them.
NAMES = "names"


class _Item(NamedTuple):
    """One thing that a sentence mentions: a concept, a word or a formula.

    ``first`` and ``after`` are its tokens.
    """

    label: str
    relation: str
    first: int
    after: int
    is_name: bool = False


class TermsMaker:
    """Makes a graph of the terms of a sentence.

    >>> (made,) = TermsMaker("hi").make(["क्या QZ1 अभाज्य संख्या है?"])
    >>> made.graph.labels
    ['sentence', 'interrogative', 'FORMULA_0', 'prime-number']
    >>> list(made.graph.edges())
    [(0, ':mode', 1), (0, ':math', 2), (0, ':concept', 3), (2, ':next', 3)]
    """

    name = "terms"

    def __init__(self, language: str) -> None:
        row = row_of(language)
        self._language = row.code
        self._has_case = row.script in ("Latn", "")

    def make(self, sentences: Sequence[str]) -> list[SentenceGraph | None]:
        """The graphs of sentences; none ever fails."""
        return [self._make(sentence) for sentence in sentences]

    def _make(self, sentence: str) -> SentenceGraph:
        made = SentenceGraph()
        graph = made.graph
        root = graph.add_node(SENTENCE)
        if is_question(sentence):
            graph.add_edge(root, MODE, graph.add_node(INTERROGATIVE))
        tokens = tokenize(sentence, self._language)
        nodes: dict[str, int] = {}
        steps: set[tuple[int, int]] = set()
        before, last = root, _Item("", MATH, 0, 0)
        for item in self._items(sentence, tokens):
            node = nodes.get(item.label)
            is_new = node is None
            if node is None:
                node = nodes[item.label] = graph.add_node(item.label)
                if item.is_name:
                    made.names.add(node)
            # What hangs on a name would hang on it in every sentence.
            belongs = (
                item.relation == MATH != last.relation
                and not last.is_name
                and all(token.follows for token in tokens[last.after : item.first + 1])
            )
            if belongs:
                graph.add_edge(before, MATH, node)
            elif is_new:
                graph.add_edge(root, item.relation, node)
            step = (before, node)
            if not belongs and before not in (root, node) and step not in steps:
                graph.add_edge(before, NEXT, node)
                steps.add(step)
            before, last = node, item
        return made

    def _items(self, sentence: str, tokens: Sequence[Token]) -> Iterator[_Item]:
        """What the sentence mentions, in its order."""
        place = 0
        for match, first, after in matcher(self._language).match_tokens(sentence, tokens):
            yield from self._words(sentence, tokens, place, first)
            concept = match.concepts[0]
            yield _Item(concept.id, CONCEPT, first, after, concept.area == NAMES)
            place = after
        yield from self._words(sentence, tokens, place, len(tokens))

    def _words(
        self, sentence: str, tokens: Sequence[Token], first: int, after: int
    ) -> Iterator[_Item]:
        """Formulas and words that are no terms; function words are skipped."""
        for place in range(first, after):
            token = tokens[place]
            word = sentence[token.start : token.end]
            label, relation = _label(word)
            if relation != WORD:
                yield _Item(label, relation, place, place + 1)
            elif not token.is_stop:
                is_name = self._has_case and place > 0 and word.istitle()
                yield _Item(label, WORD, place, place + 1, is_name)


@lru_cache(maxsize=1 << 16)
def _label(word: str) -> tuple[str, str]:
    """What the node of a word is called, and what joins it to its sentence."""
    if (formula := NAME.fullmatch(word)) is not None:
        return placeholder(formula), MATH
    plain = normalise(word)
    return (NEGATIVE, POLARITY) if plain in NEGATIONS else (plain, WORD)


def is_question(sentence: str) -> bool:
    """Whether a sentence ends with a question mark of any script.

    >>> is_question("Is QZ1 prime?)"), is_question("چرا؟"), is_question("No.")
    (True, True, False)
    """
    return sentence.rstrip("\"'»”’)] ").endswith(QUESTION_MARKS)


@cache
def matcher(language: str) -> Matcher:
    """The terms of the glossary in a language, ready to be found."""
    return Matcher(Glossary.load(), language)
