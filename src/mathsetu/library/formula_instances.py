"""Formulas as hits: the occurrences of the formulas that were found (ARQMath task 2).

An index finds distinct formulas by their LaTeX. The task expects the ids that the collection gives
to their occurrences, and only the best of those that look the same. If the query has text besides
its formula, the text around an occurrence may count, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from mathsetu.formulas.notation import write_tree
from mathsetu.formulas.parse import parse_once
from mathsetu.intake.posts import LazyPost, spelling
from mathsetu.intake.question import Question
from mathsetu.markup import extract
from mathsetu.records import Formula, Hit
from mathsetu.retrieval.base import FormulaFinder, FormulaMatch

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mathsetu.library.backend import Posts

    #: Scores the texts of posts, given by number, for the question.
    Context = Callable[[NDArray[np.int64]], NDArray[np.float64]]

# Punctuation and spaces that end a formula because its sentence ends there.
_ENDINGS, _SPACES = " \t\n~.,;", ("\\:", "\\!", "\\quad", "\\qquad")
# The number of top formulas whose context is scored.
_CONTEXTS_SCORED = 200


@dataclass(frozen=True, slots=True)
class FormulaInstance:
    """An occurrence of a formula, and its similarity to the query formula."""

    formula: Formula
    score: float

    @property
    def hit(self) -> Hit:
        """The formula as a hit of a run."""
        return Hit(self.formula.id, self.score, self.formula.post_id)


def found_instances(
    finder: FormulaFinder,
    stored_posts: Posts,
    question: Question,
    depth: int,
    allowed: NDArray[np.bool_] | None,
    *,
    every: bool,
    context: Context | None = None,
) -> Iterator[FormulaInstance]:
    """The occurrences of the formulas that an index finds, best first, each id once.

    With a context, the context score of a post is added to the similarity of its formulas; of
    occurrences with the same LaTeX, the one with the best context is returned.

    Args:
        finder: The formula index.
        stored_posts: The posts.
        question: The question.
        depth: How many formulas to retrieve from the index.
        allowed: The posts that may be found; None for all.
        every: Whether to return all occurrences of a formula instead of one.
        context: Scores the text around formulas.
    """
    matches = finder.formulas_for(question, depth, allowed)
    looked_into = _CONTEXTS_SCORED if context else 0
    first = [
        one
        for match in matches[:looked_into]
        for one in _instances(match, finder, stored_posts, allowed, every=every, context=context)
    ]
    # A context only raises scores, so the formulas without one follow.
    first.sort(key=lambda one: -one.score)
    seen: set[str] = set()
    for one in first:
        if one.formula.id not in seen:
            seen.add(one.formula.id)
            yield one
    for match in matches[looked_into:]:
        for one in _instances(match, finder, stored_posts, allowed, every=every):
            if one.formula.id not in seen:
                seen.add(one.formula.id)
                yield one


def distinct_instances(
    found: Iterable[FormulaInstance], k: int, visual_ids: Mapping[str, str] | None = None
) -> list[FormulaInstance]:
    r"""The best ``k`` formulas, only the first of those that look the same.

    Formulas look the same if they share a visual id, from a table or else from the collection.
    Formulas without one look the same if their layout trees are equal, which is ARQMath's rule.

    Args:
        found: Formulas, best first.
        k: How many to return.
        visual_ids: Visual ids by formula id.

    >>> formulas = [Formula("1", "x^2"), Formula("2", "x^{2}"), Formula("3", "x^3")]
    >>> found = [FormulaInstance(formula, 1.0) for formula in formulas]
    >>> [one.formula.id for one in distinct_instances(found, 9)]
    ['1', '3']
    >>> [one.formula.id for one in distinct_instances(found, 9, {"2": "v7", "3": "v7"})]
    ['1', '2']
    """
    known = visual_ids or {}
    first: dict[tuple[str, str], FormulaInstance] = {}
    for one in found:
        visual_id = known.get(one.formula.id) or one.formula.visual_id
        key = ("id", visual_id) if visual_id else ("layout", _layout(one.formula.latex))
        if key not in first:
            first[key] = one
            if len(first) == k:
                break
    return list(first.values())


def grouped_matches(found: Iterable[FormulaMatch]) -> list[FormulaMatch]:
    r"""One match for all formulas that look the same, up to punctuation at their end.

    >>> found = [FormulaMatch(n, "", latex, 1.0) for n, latex in enumerate(("x^2", "x^{2}.", "x"))]
    >>> [(one.latex, one.alike) for one in grouped_matches(found)]
    [('x^2', (1,)), ('x', ())]
    """
    groups: dict[str, list[FormulaMatch]] = {}
    for one in found:
        groups.setdefault(_layout(_without_end(one.latex)), []).append(one)
    return [
        replace(first, alike=tuple(one.number for one in others))
        for first, *others in groups.values()
    ]


def _without_end(latex: str) -> str:
    r"""Return LaTeX without punctuation and spaces at its end.

    >>> _without_end(r"x^2\,. \quad"), _without_end(r"a\\,")
    ('x^2', 'a\\\\')
    """
    while True:
        plain = latex.rstrip(_ENDINGS)
        # What was stripped may have belonged to a command: \, or \; or a backslash and a blank.
        slashes = len(plain) - len(plain.rstrip("\\"))
        if len(plain) < len(latex) and slashes % 2:
            plain = plain[:-1]
        for space in _SPACES:
            plain = plain.removesuffix(space)
        if plain == latex:
            return plain
        latex = plain


def _layout(latex: str) -> str:
    parsed = parse_once(latex)
    # Compare the LaTeX of a formula that was not parsed completely.
    return spelling(latex) if parsed.warnings else write_tree(parsed.slt)


def _instances(
    match: FormulaMatch,
    finder: FormulaFinder,
    stored_posts: Posts,
    allowed: NDArray[np.bool_] | None,
    *,
    every: bool,
    context: Context | None = None,
) -> Iterator[FormulaInstance]:
    """The occurrences of a found formula, in the order of the posts or by their context scores.

    An answer is indexed with its question, but the formulas of the question are not occurrences in
    the answer: they are found in the question itself.
    """
    wanted = spelling(match.latex)
    numbers = stored_posts.not_removed(finder.posts_with(match.number))
    if allowed is not None:
        numbers = numbers[allowed[numbers]]
    added = context(numbers) if context else np.zeros(len(numbers))
    order = np.argsort(-added, kind="stable")
    for number, more in zip(numbers[order].tolist(), added[order].tolist(), strict=True):
        own = stored_posts.lazy_posts([number])[number]
        for formula in _own_formulas(own):
            if formula.id == match.id if match.id else spelling(formula.latex) == wanted:
                placed = replace(formula, post_id=formula.post_id or own.post.id)
                yield FormulaInstance(placed, match.score + more)
                if not every:
                    return


def _own_formulas(post: LazyPost) -> Iterable[Formula]:
    """The formulas that a post lists or, if it lists none, those in its texts."""
    if post.post.formulas:
        return post.post.formulas
    title, body, question = post.texts
    texts = (("title", title), ("question", question), ("body", body))
    return [one for name, text in texts for one in extract(text.spans, post.post.id, name)]
