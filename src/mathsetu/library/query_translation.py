"""Checks and translates a query before the parts search for it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from mathsetu.errors import InputError
from mathsetu.intake.question import Question
from mathsetu.languages.analyze import analyze
from mathsetu.languages.table import language
from mathsetu.limits import has_lone_surrogate
from mathsetu.recipes.schema import Preparation
from mathsetu.records import Reason

if TYPE_CHECKING:
    from mathsetu.languages.translate import Translator

#: The longest query, in characters; longer ones are files sent by mistake, or attacks.
LONGEST_QUERY = 100_000


def check_readable(question: Question) -> None:
    """Refuse a query that is too long or contains invalid characters."""
    size = len(question.written)
    name = f"query {question.query.id}" if question.query.id else "the query"
    if has_lone_surrogate(question.written):
        raise InputError(f"{name} contains an invalid character (lone surrogate)")
    if size > LONGEST_QUERY:
        raise InputError(
            f"{name} has {size:,} characters; at most {LONGEST_QUERY:,} can be searched for"
        )


def check_asks(question: Question) -> None:
    """Refuse a blank query or one of stop words only, which a search by meaning would accept."""
    if not question.written.strip():
        raise InputError("the query is empty")
    if not any(question.formulas) and not any(
        analyze(question.words, language) for language in question.languages
    ):
        if not any(map(str.isalnum, question.words)):
            raise InputError("the query has neither words nor a formula")
        raise InputError("the query has no formula and only stop words")


def prepare(questions: Sequence[Question], choices: Preparation) -> list[Question]:
    """Translate the questions that are not in the target language of the recipe.

    >>> from mathsetu.records import Query
    >>> asked = Question(Query("1", "समाकल $x^2$", language="hi"))
    >>> [done] = prepare([asked], Preparation(translate="en"))
    >>> done.text, done.language, done.notes[0].detail
    ('integral $x^2$', 'en', 'translated from hi by glossary: integral $x^2$')
    """
    prepared = list(questions)
    if not choices.translate:
        return prepared
    target = language(choices.translate).code
    for source, places in _foreign(questions, target).items():
        queries = [questions[place].marked_query for place in places]
        texts = _texts(questions[place] for place in places)
        done = _translator(choices.backend, choices.model).translate(texts, source, target)
        for number, place in enumerate(places):
            title, text = done[2 * number].text, done[2 * number + 1].text
            translated = replace(queries[number], title=title, text=text, language=target)
            shown = " ".join(f"{title}\n{text}".split())
            detail = f"translated from {source} by {choices.backend}: {shown}"
            prepared[place] = Question(translated, (Reason("query", 0.0, detail),))
    return prepared


def check_translation(questions: Sequence[Question], choices: Preparation) -> None:
    """Raise if a program, package, model or language pair for the translation is missing.

    None is needed for questions in the target language, or for those translated before.
    """
    if not choices.translate:
        return
    target = language(choices.translate).code
    translator = _translator(choices.backend, choices.model)
    new = [
        source
        for source, places in _foreign(questions, target).items()
        if not translator.remembers(_texts(questions[place] for place in places), source, target)
    ]
    if new:
        from mathsetu.languages.translate import check_translator

        check_translator(choices.backend, choices.model, new, target, "query.model")


def _texts(questions: Iterable[Question]) -> list[str]:
    """The texts to translate: the title and the text of each question, in turn."""
    queries = [question.marked_query for question in questions]
    return [text for query in queries for text in (query.title, query.text)]


def _foreign(questions: Sequence[Question], target: str) -> dict[str, list[int]]:
    """For each language the places of the questions to translate from it."""
    foreign: dict[str, list[int]] = defaultdict(list)
    for place, question in enumerate(questions):
        # A question without a detected language may consist of formulas only.
        if question.language and language(question.language).code != target:
            foreign[question.language].append(place)
    return foreign


@cache
def _translator(backend: str, model: str) -> Translator:
    """The translator, shared by all libraries with the same settings."""
    from mathsetu.languages.translate import open_translator

    return open_translator(backend, model)
