"""Sentence graphs without a parser, for every language: the concepts that a sentence mentions.

Terms of the glossary become concepts, which all languages share, so that the graphs of a Hindi
question and of an English answer have common nodes. Other words keep their form. A formula is
attached to the word before it ("the set A"), else to the sentence.
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
#: Negations, in one set for all languages.
NEGATIONS = frozenset(
    "not no never none neither nor cannot isnt doesnt arent dont cant isn't doesn't aren't don't "
    "can't नहीं नही न मत ni nunca ningún ninguna ninguno ne není nejsou nemá nikdy žádný žádná "
    "žádné nije nisu nema nikad nijedan nijedna نیست نه نمی نیستند هیچ छैन होइन छैनन्".split()
)
QUESTION_MARKS = ("?", "؟", "？")
#: The area of the glossary with persons and the terms named after them.
NAMES = "names"


class _Item(NamedTuple):
    """A concept, a word or a formula in a sentence.

    Its tokens are those from ``first`` up to, but not including, ``after``.
    """

    label: str
    relation: str
    first: int
    after: int
    is_name: bool = False


class TermsMaker:
    """Makes sentence graphs from the terms of a sentence.

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
        """Return one graph per sentence; this never fails."""
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
            # A name is one node in the whole post: its formula would be in every sentence.
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
        """Yield the concepts, words and formulas of a sentence, in order."""
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
        """Yield the formulas and words between terms; skip stop words."""
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
    """Return the label of the node of a word, and its relation to the sentence."""
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
    """Return the matcher of the glossary terms of a language."""
    return Matcher(Glossary.load(), language)
