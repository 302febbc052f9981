"""Shows records and answers as HTML in a notebook, after ``%load_ext mathsetu``.

The records themselves stay plain values; their HTML displays are registered here. All text from
posts and queries is escaped; formulas are MathML from our own writer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from html import escape
from io import BytesIO
from itertools import count
from typing import Any

from mathsetu.answers.describe import matched_formula, pieces, search_answer
from mathsetu.answers.values import (
    ExplainAnswer,
    FormulaAnswer,
    FoundPost,
    MatchedFormula,
    Piece,
    PostAnswer,
    SearchAnswer,
    SimilarAnswer,
)
from mathsetu.formulas.mathml import HIGHLIGHT_STYLE, write_mathml
from mathsetu.formulas.parse import parse_latex
from mathsetu.languages.table import language
from mathsetu.library import Answer
from mathsetu.records import Formula, Hit, Post
from mathsetu.retrieval.base import FormulaMatch

_STYLE = f"<style>{HIGHLIGHT_STYLE}</style>"
# Ids of symbols must differ between all outputs of a notebook.
_numbers = count(1)


def formula_html(formula: Formula) -> str:
    """A formula as MathML.

    >>> formula_html(Formula(id="1", latex="x^2")).startswith("<math")
    True
    """
    return _mathml(formula.latex)


def hit_html(hit: Hit) -> str:
    """A hit with its reasons; formulas in them are typeset.

    >>> hit_html(Hit("7", 1.5))
    '<p><b>7</b> · 1.500</p>'
    """
    reasons = "".join(
        f"<li>{escape(reason.part)} {reason.score:.2f}: {_text(pieces(reason.detail))}</li>"
        for reason in hit.reasons
    )
    name = f"<p><b>{escape(hit.id)}</b> · {hit.score:.3f}</p>"
    shown = ""
    if hit.post is not None:
        title = _title(pieces(hit.title), hit.language, hit.url)
        shown = _box(f"{title}<p>{_text(pieces(hit.snippet))}</p>", hit.language)
    return shown + name + (f"<ul>{reasons}</ul>" if reasons else "")


def post_html(post: Post | PostAnswer) -> str:
    """A post with its formulas."""
    body = pieces(post.body) if isinstance(post.body, str) else post.body
    return _box(_title(pieces(post.title), post.language, post.url) + _text(body), post.language)


def found_html(found: FoundPost) -> str:
    """A post that was found, with its matches."""
    matched = "".join(matched_html(formula) for formula in found.formulas)
    words = ", ".join(
        " → ".join(escape(text) for text in (word.asked, word.translation, word.found) if text)
        for word in found.words
    )
    shares = " · ".join(f"{escape(r.part)} {r.share:.0%}" for r in found.reasons)
    title = _title(found.title_pieces, found.language, found.url)
    inside = f"{title}<p>{_text(found.snippet)}</p>"
    facts = f"<small>{found.score:.3f} · {escape(found.id)} · {shares}<br>{words}</small>"
    return _box(inside, found.language) + matched + facts


def matched_html(formula: MatchedFormula) -> str:
    """Two formulas side by side, with coloured matches and the substitution."""
    renamed = ", ".join(
        f"{escape(letter.asked)} → {escape(letter.found)}"
        for letter in (*formula.substitution, *formula.wildcards)
    )
    under = f" ({renamed})" if renamed else ""
    return f"<p>{formula.asked_mathml} ~ {formula.mathml}{under}</p>"


def answer_html(answer: SearchAnswer | SimilarAnswer) -> str:
    """The hits of an answer, in order."""
    items = "".join(f"<li>{found_html(found)}</li>" for found in answer.hits)
    missing = ", ".join(map(escape, answer.unfinished))
    cut = f"<p>Time limit reached before: {missing}</p>" if missing else ""
    is_close = not isinstance(answer, SearchAnswer) or answer.close
    near = "" if is_close else "<p>nothing close; the nearest are:</p>"
    return f"{_STYLE}{near}<ol>{items}</ol>{cut}" if items else f"<p>nothing found</p>{cut}"


def formulas_html(answer: FormulaAnswer) -> str:
    """The formulas that were found, and the posts that contain them."""
    items = "".join(
        f"<li>{matched_html(hit.match)}<small>{escape(', '.join(hit.posts))}</small></li>"
        for hit in answer.hits
    )
    return f"{_STYLE}<ol>{items}</ol>"


def explain_html(answer: ExplainAnswer) -> str:
    """One post as a hit."""
    return _STYLE + found_html(answer.hit)


#: The display of each type.
DISPLAYS: dict[type, Callable[[Any], str]] = {
    Answer: lambda answer: answer_html(search_answer(answer, typeset=True)),
    FormulaMatch: lambda found: _STYLE + _formula_match(found),
    Formula: formula_html,
    Hit: hit_html,
    Post: post_html,
    PostAnswer: post_html,
    FoundPost: lambda found: _STYLE + found_html(found),
    MatchedFormula: lambda formula: _STYLE + matched_html(formula),
    SearchAnswer: answer_html,
    SimilarAnswer: answer_html,
    FormulaAnswer: formulas_html,
    ExplainAnswer: explain_html,
}


def _formula_match(found: FormulaMatch) -> str:
    prefix = f"mathsetu-{next(_numbers)}"
    return matched_html(matched_formula(found.asked, found.latex, prefix))


def register(shell: Any) -> None:
    """Register the displays of records and answers in a running IPython."""
    formatter = shell.display_formatter.formatters["text/html"]
    for kind, display in DISPLAYS.items():
        formatter.for_type(kind, display)
    # Figures of mathsetu.plot_means and the like; by name, so that matplotlib is not imported here.
    pictures = shell.display_formatter.formatters["image/svg+xml"]
    pictures.for_type_by_name("matplotlib.figure", "Figure", _figure_svg)


def _figure_svg(figure: Any) -> str:
    from mathsetu.evaluation.plots import write_figure

    target = BytesIO()
    write_figure(figure, target, ".svg")
    return target.getvalue().decode()


def _mathml(latex: str, display: bool = False) -> str:
    prefix = f"mathsetu-{next(_numbers)}"
    return write_mathml(parse_latex(latex).layout, prefix=prefix, display=display)


def _text(parts: Iterable[Piece]) -> str:
    shown = []
    for piece in parts:
        if piece.kind == "formula":
            shown.append(_mathml(piece.text, piece.display))
        elif piece.kind == "code":
            shown.append(f"<code>{escape(piece.text)}</code>")
        else:
            shown.append(escape(piece.text).replace("\n\n", "<br><br>"))
    return "".join(shown)


def _title(parts: Iterable[Piece], code: str, url: str) -> str:
    title = _text(parts) or "untitled"
    if url.startswith(("http://", "https://")):
        title = f'<a href="{escape(url)}" rel="noreferrer">{title}</a>'
    return f"<b>{title}</b> <small>{escape(code)}</small>"


def _box(inside: str, code: str) -> str:
    direction = language(code).direction if code else "auto"
    return f'<div dir="{direction}" lang="{escape(code)}">{inside}</div>'
