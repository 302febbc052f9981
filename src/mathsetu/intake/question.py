"""A query as every part reads it: split once, its language found once, its formulas parsed once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING

from mathsetu.intake.texts import MarkedText
from mathsetu.records import Query, Reason

if TYPE_CHECKING:
    from mathsetu.formulas.parse import Parsed
    from mathsetu.languages.transliterate import Lexicon


@dataclass(frozen=True)
class Question:
    r"""What is known of a query before anything is searched.

    >>> question = Question(Query(id="1", text=r"निश्चित समाकल $\int_0^1 f$ का मान"))
    >>> question.words, question.formulas, question.language
    ('निश्चित समाकल   का मान', ('\\int_0^1 f',), 'hi')
    """

    query: Query
    #: What was done to the query before, told with every hit.
    notes: tuple[Reason, ...] = ()

    @property
    def text(self) -> str:
        """Title and text as one marked text."""
        return f"{self.query.title}\n{self.query.text}" if self.query.title else self.query.text

    @cached_property
    def marked(self) -> MarkedText:
        """The text, split into words and formulas."""
        return MarkedText(self.text)

    @cached_property
    def words(self) -> str:
        """The words alone; Hindi typed in Latin letters is written in its own."""
        plain = self.marked.words
        is_typed = self.language == "hi" and plain.isascii()
        return typed_hindi().to_devanagari(plain) if is_typed else plain

    @cached_property
    def readable(self) -> str:
        """The text as someone who reads the language expects it, formulas included."""
        if self.language != "hi" or not self.text.isascii():
            return self.text
        lexicon = typed_hindi()
        return "".join(
            lexicon.to_devanagari(span.content) if span.kind == "text" else span.raw
            for span in self.marked.spans
        )

    @cached_property
    def formulas(self) -> tuple[str, ...]:
        """The formulas asked for: those the query names itself, else those in its text."""
        named = tuple(formula.latex for formula in self.query.formulas)
        return named or tuple(dict.fromkeys(self.marked.formulas))

    @cached_property
    def parsed(self) -> dict[str, Parsed]:
        """The formulas asked for, read; by their LaTeX."""
        from mathsetu.formulas.parse import parse_once

        return {latex: parse_once(latex) for latex in self.formulas}

    @cached_property
    def language(self) -> str:
        """The language it is asked in, detected where the query does not say."""
        if self.query.language:
            return self.query.language
        # Detection is loaded when it is first needed, not at the start.
        from mathsetu.languages.detect import detect_in_words

        return detect_in_words(self.marked.words).language


@cache
def typed_hindi() -> Lexicon:
    """The words of the glossary, to be found by how they are typed in Latin letters."""
    from mathsetu.languages.glossary import Glossary
    from mathsetu.languages.transliterate import Lexicon

    forms = (form for concept in Glossary.load() for form in concept.forms.get("hi", ()))
    return Lexicon(word for form in forms for word in form.split())
