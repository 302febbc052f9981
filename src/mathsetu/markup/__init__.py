r"""Text with formulas: the only package that handles delimiters and tags.

`split` cuts a source into spans of text, formulas and code; `join` is its inverse. `to_marked_text`
converts any source to *marked text*, the form used in records: plain text with LaTeX between
delimiters, in which a literal dollar is written ``\$``.

>>> [span.content for span in split("Show that $x^2$ is even.")]
['Show that ', 'x^2', ' is even.']
>>> to_marked_text("<p>Cost: $5, and <i>x</i> is $x^2$</p>", "html")
'Cost: \\$5, and x is $x^2$'
"""

from mathsetu.markup.convert import (
    FORMS,
    marked_words,
    plain,
    plain_words,
    spans_of,
    split,
    to_marked_text,
)
from mathsetu.markup.formula_writing import formula_body, formula_in_latex, formula_in_markdown
from mathsetu.markup.snippet import matched_snippet, snippet
from mathsetu.markup.spans import Span, extract, join

__all__ = [
    "FORMS", "Span", "extract", "formula_body", "formula_in_latex", "formula_in_markdown", "join",
    "marked_words", "matched_snippet", "plain", "plain_words", "snippet", "spans_of", "split",
    "to_marked_text",
]  # fmt: skip
