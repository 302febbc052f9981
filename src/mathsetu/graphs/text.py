"""The sentences of a post with masked formulas, and their grouping into chunks.

Each formula becomes a mask QZ1, QZ2, …, which parsers of every language treat as a noun. Sentences
are split after masking, so that a full stop inside a formula does not end a sentence; a formula
that ends in a full stop ends its sentence.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mathsetu.graphs.graph import PLACEHOLDER
from mathsetu.languages.sentences import sentences as cut
from mathsetu.markup import Span, split
from mathsetu.records import Formula

#: Maximum number of tokens of the sentences in a chunk.
CHUNK_TOKENS = 500
#: The mask of a formula, numbered from 1.
NAME = re.compile(r"QZ(\d+)")
# A text that itself contains such masks must not be taken for a text with formulas.
_LOOKALIKE = re.compile(r"QZ(?=\d)")
# Leftover delimiters would turn the text around the masks into formulas.
_DELIMITERS = str.maketrans("$\\", "  ")
_ENDS_SENTENCE = re.compile(r"(?<![.\\])\.\s*\Z")
_CONTENT = re.compile(r"[^\W_]")


@dataclass(frozen=True, slots=True)
class MaskedText:
    """The sentences of a text and its formulas, in the order of their masks.

    Formulas without a mask in the sentences come last.
    """

    sentences: tuple[str, ...]
    formulas: tuple[Formula, ...]


def placeholder(name: re.Match[str]) -> str:
    """Return the placeholder label of a formula, given its mask in a sentence.

    >>> [placeholder(name) for name in NAME.finditer("QZ1 divides QZ2")]
    ['FORMULA_0', 'FORMULA_1']
    """
    return f"{PLACEHOLDER}{int(name[1]) - 1}"


def mask_sentences(
    text: str, formulas: Sequence[Formula] = (), spans: Sequence[Span] | None = None
) -> MaskedText:
    r"""Mask the formulas of a marked text and split it into sentences.

    Args:
        text: Marked text.
        formulas: The formulas with their ids, matched to the text by their LaTeX. Formulas that
            do not occur in the text are kept, too. Without ids, formulas are numbered.
        spans: The spans of the text, if it has already been split.

    >>> mask_sentences("Let $x=1.$ Is $x$ prime?").sentences
    ('Let QZ1.', 'Is QZ2 prime?')
    >>> [formula.id for formula in mask_sentences("$x$", [Formula("q_3", "x")]).formulas]
    ['q_3']
    """
    spans = split(text) if spans is None else spans
    written = [span for span in spans if span.kind == "formula"]
    found = _with_ids(written, formulas)
    number = 0
    parts: list[str] = []
    for span in spans:
        if span.kind == "text":
            parts.append(_LOOKALIKE.sub("QZ ", span.content).translate(_DELIMITERS))
        elif span.kind == "formula":
            number += 1
            end = ". " if _ENDS_SENTENCE.search(span.content) else " "
            parts.append(f" QZ{number}{end}")
        else:
            parts.append(" ")
    pieces = (" ".join(piece.split()) for piece in cut("".join(parts)))
    kept = tuple(piece for piece in pieces if _CONTENT.search(piece))
    return MaskedText(kept, tuple(found))


def _with_ids(written: Sequence[Span], formulas: Sequence[Formula]) -> list[Formula]:
    """Return the formulas in text order, then those that do not occur in the text."""
    if [span.content for span in written] == [formula.latex for formula in formulas]:
        return list(formulas)
    waiting: defaultdict[str, deque[Formula]] = defaultdict(deque)
    for formula in formulas:
        waiting[_spelling(formula.latex)].append(formula)
    found: list[Formula] = []
    for number, span in enumerate(written):
        named = waiting[_spelling(span.content)]
        found.append(named.popleft() if named else Formula(span.id or str(number), span.content))
    return found + [formula for named in waiting.values() for formula in named]


def _spelling(latex: str) -> str:
    return "".join(latex.split())


def chunks(sentences: Iterable[str], longest: int = CHUNK_TOKENS) -> list[list[int]]:
    """Group the numbers of sentences into chunks of at most ``longest`` tokens.

    >>> chunks(["a b c", "d e", "f"], longest=4)
    [[0], [1, 2]]
    """
    groups: list[list[int]] = []
    length = longest
    for number, sentence in enumerate(sentences):
        tokens = len(sentence.split())
        if length + tokens > longest or not groups:
            groups.append([])
            length = 0
        groups[-1].append(number)
        length += tokens
    return groups
