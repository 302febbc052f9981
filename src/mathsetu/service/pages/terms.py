"""Annotates the terms of a post with their names in another language, from the glossary."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup, escape

from mathsetu.answers.values import PostAnswer
from mathsetu.languages.glossary import Glossary
from mathsetu.languages.table import ROWS, Language
from mathsetu.service.pages import typeset
from mathsetu.service.pages.typeset import Coloured


@dataclass(frozen=True)
class TermsView:
    """A post in its own language, with its known terms annotated in another language."""

    language: Language
    title: Markup
    question: Markup
    body: Markup
    has_any: bool


def terms(post: PostAnswer, target: str) -> TermsView:
    """Annotate the terms of a post in a language of the glossary."""
    row = ROWS[target]

    def named(text: str) -> Markup:
        glossary = Glossary.load()
        parts: list[Markup] = []
        place = 0
        for match in glossary.match(text, post.language):
            name = next((term for one in match.concepts if (term := one.term(target))), "")
            if not name:
                continue
            parts.append(escape(text[place : match.start]))
            parts.append(
                Markup('<ruby class="term">{}<rt lang="{}" dir="{}">{}</rt></ruby>').format(
                    text[match.start : match.end], row.code, row.direction, name
                )
            )
            place = match.end
        return Markup("").join([*parts, escape(text[place:])])

    if post.language not in ROWS:
        return TermsView(row, Markup(""), Markup(""), Markup(""), has_any=False)
    title = typeset.line(post.title_pieces, Coloured(words_as=named))
    question = typeset.paragraphs(post.question, Coloured(words_as=named))
    body = typeset.paragraphs(post.body, Coloured(words_as=named))
    return TermsView(row, title, question, body, has_any="<ruby" in title + question + body)
