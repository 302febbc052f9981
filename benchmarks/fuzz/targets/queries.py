"""Fuzz target for typed queries: they are read in bounded time, and no character is lost."""

from __future__ import annotations

from pathlib import Path

from benchmarks.fuzz.mutate import as_bytes, as_text
from benchmarks.fuzz.target import Target, expect, expect_equal
from benchmarks.typed_queries import QUERIES, read_queries
from mathsetu.answers.describe import read_query
from mathsetu.formulas.parse import parse_latex
from mathsetu.intake.question import typed_question
from mathsetu.languages.table import LANGUAGES


class TypedQueries(Target):
    """Reads typed queries and detects the language of their words."""

    name = "typed-queries"
    tokens = (
        "x^2 a/b sqrt( ) ( [ ] { } | || $ $$ \\( \\) \\[ \\] \\frac{ \\sqrt \\left( \\right)"
        " \\text{ \\sum ∑ ∫₀^∞ √ ² ₁ π ε ∀ ∈ ≤ → = <= -> - -- – + +- * ** / , ; : ... … ! ' ’ ° %"
        " & @ ?x lim sum_ mod choose sin sinx log2 dx dy/dx f(x) [0,1) {1,2} <math> </math>"
        " <mi>x</mi> <msup> &lt; C++ 10% A/B 12/05/2024 a@b.c http://x=1 e.g. the is a y o i और का"
        " و \u200c \u0301 \n \n\n \t \0 \ud800"
    ).split(" ")
    floor = 2.0  # a query is read four times, and may be as long as a book's chapter

    def open(self, place: Path) -> None:
        """Load the models that the first query would load."""
        for query in (
            "is sqrt(2) zzyzx",
            "Zzyzx ñandú",
            "qqq क्षत्रज्ञ",
            "ژژژ zzz",
            "samikaran ka hal",
        ):
            read_query(typed_question(query))

    def seeds(self) -> list[bytes]:
        """The queries of the tests."""
        return [as_bytes(query.text) for query in read_queries(QUERIES)][::4]

    def check(self, data: bytes) -> None:
        """Check that no text is lost, every formula can be parsed, and results are reproducible."""
        text = as_text(data)
        question = typed_question(text)
        expect_equal("".join(span.raw for span in question.reading), text, "no character is lost")
        for latex in question.formulas:
            expect(bool(latex.strip()), "no formula is blank", question.formulas)
            parse_latex(latex)
        said = read_query(question)
        expect_equal(read_query(typed_question(text)), said, "the reading is the same again")
        expect_equal("".join(piece.text for piece in said.pieces), text, "all pieces are told")
        as_words = typed_question(text, as_words=True)
        expect_equal(as_words.text, text, "what is searched as words stays as it is")
        code = sorted(LANGUAGES)[len(data) % len(LANGUAGES)]
        stated = typed_question(text, code)
        expect_equal(stated.languages, (code,), "the language that is stated wins")
