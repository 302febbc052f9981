r"""A formula of the query and the found formula: corresponding parts have the same colour.

Each renamed letter, and each wildcard with its match, has its own colour; all other matched parts
share one more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import cycle

from markupsafe import Markup, escape

from mathsetu.answers.values import MatchedFormula
from mathsetu.formulas.infix import infix
from mathsetu.formulas.pairs import match_latex
from mathsetu.formulas.parse import parse_once
from mathsetu.formulas.part_latex import name_text, part_latex
from mathsetu.formulas.tree import Tree
from mathsetu.intake.typed import formula_as_latex
from mathsetu.service.pages import typeset

#: Number of colours for corresponding parts; formulas.css has a rule for each.
HUES = 4


@dataclass(frozen=True)
class Letter:
    """A letter or wildcard of the question's formula, and its counterpart."""

    asked: Markup
    found: Markup
    hue: int
    is_wildcard: bool


@dataclass(frozen=True)
class FormulaPair:
    """Two formulas with matched parts in colour, and the substitutions."""

    asked: Markup
    found: Markup
    asked_latex: str
    found_latex: str
    letters: tuple[Letter, ...]


def pair_formulas(matched: MatchedFormula) -> FormulaPair:
    r"""How a formula of a question and one of a post correspond.

    >>> from mathsetu.answers.describe import matched_formula
    >>> found = pair_formulas(matched_formula(r"\int ?f\,dt", r"\int\frac{\sin x}{x}\,dx", "hit"))
    >>> [(letter.is_wildcard, letter.hue) for letter in found.letters]
    [(True, 1), (False, 2)]
    >>> found.asked.count("hue-1"), found.found.count("hue-1")
    (1, 4)
    """
    match = match_latex(matched.asked, matched.found).match
    letters: list[Letter] = []
    ours: dict[int, int] = {}
    theirs: dict[int, int] = {}
    hues = cycle(range(1, HUES + 1))
    for name, part in match.bindings.items():
        hue = next(hues)
        ours |= dict.fromkeys(_symbols(match.query_nodes, name), hue)
        theirs |= dict.fromkeys((node.symbol for node in part.walk()), hue)
        letters.append(Letter(_letter(name), _part(part, matched.found), hue, is_wildcard=True))
    for name, other in match.substitution.items():
        if name == other:
            continue
        hue = next(hues)
        ours |= dict.fromkeys(_symbols(match.query_nodes, f"V!{name}"), hue)
        inside = set(theirs)
        met = (one for one in _symbols(match.candidate_nodes, f"V!{other}") if one not in inside)
        theirs |= dict.fromkeys(met, hue)
        letters.append(Letter(_letter(name), _letter(other), hue, is_wildcard=False))
    named: dict[str, Letter] = {}
    for asked, found in match.names:
        name = name_text(asked, matched.asked)
        if name not in named:
            asked_name, found_name = _part(asked, matched.asked), _part(found, matched.found)
            named[name] = Letter(asked_name, found_name, next(hues), is_wildcard=False)
        ours |= dict.fromkeys((node.symbol for node in asked.walk()), named[name].hue)
        theirs |= dict.fromkeys((node.symbol for node in found.walk()), named[name].hue)
    return FormulaPair(
        typeset.framed(matched.asked_mathml, matched.asked, hues=ours),
        typeset.framed(matched.mathml, matched.found, hues=theirs),
        matched.asked,
        matched.found,
        (*letters, *named.values()),
    )


def _symbols(nodes: Iterable[Tree], label: str) -> Iterator[int]:
    return (node.symbol for node in nodes if node.label == label)


def _letter(name: str) -> Markup:
    """A letter as MathML; a longer name as text."""
    is_letter = len(name) == 1 or name.startswith("?")
    return Markup("<math><mi>{}</mi></math>").format(name) if is_letter else escape(name)


def _part(part: Tree, latex: str) -> Markup:
    """A part of a formula, typeset from its LaTeX; if it is not contiguous there, from its tree."""
    if written := part_latex(part, latex):
        return typeset.formula(written)
    text = infix(part)
    typed = formula_as_latex(text)
    return typeset.formula(typed) if parse_once(typed).opt == part else escape(text)
