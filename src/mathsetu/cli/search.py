"""``mathsetu search``: searches a library."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import click

from mathsetu.answers.describe import languages_note, pieces, read_query, readable, search_answer
from mathsetu.answers.values import QueryReading, to_json
from mathsetu.cli.output import (
    LANGUAGE,
    LIBRARY,
    check_library_first,
    json_option,
    named_language,
    print_json,
    say,
)
from mathsetu.intake.question import Question
from mathsetu.languages.table import language, language_name
from mathsetu.library import Filter, Library
from mathsetu.library.query_translation import check_asks
from mathsetu.library.suggestions import Suggestions
from mathsetu.printable import counted
from mathsetu.ranking.hybrid import PREFERENCES
from mathsetu.records import Hit, Post

_MAX_HITS = 10_000
_VALUES_SHOWN = 10
# Maximum number of characters of the words, and of the formulas, in the echo of the query.
_LONGEST_ECHO = 300
# A part with a smaller share of the score is only explained if it has something to quote.
_MIN_SHARE = 0.01


@click.command("search")
@click.argument("library", type=LIBRARY)
@click.argument("words", metavar="QUERY", nargs=-1)
@click.option("-k", "--k", type=click.IntRange(1, _MAX_HITS), default=5, show_default=True,
              help="Hits to show.")  # fmt: skip
@click.option("--lang", type=LANGUAGE, default="",
              help="Language of the query [default: detected].")  # fmt: skip
@click.option("--offset", type=click.IntRange(0, _MAX_HITS), default=0,
              help="Skip this many hits.")  # fmt: skip
@click.option("--in", "languages", multiple=True, metavar="LANG",
              help="Only posts in a language, or in one of several (repeatable).")  # fmt: skip
@click.option("--not-in", "not_languages", multiple=True, metavar="LANG",
              help="No posts in a language (repeatable).")  # fmt: skip
@click.option("--tag", "tags", multiple=True, help="Only posts with this tag (repeatable).")
@click.option("--any-tag", "any_tags", multiple=True,
              help="Only posts with at least one of these tags (repeatable).")  # fmt: skip
@click.option("--not-tag", "not_tags", multiple=True, help="No posts with this tag (repeatable).")
@click.option("--collection", "collections", multiple=True,
              help="Only posts of this collection, or of one of several (repeatable).")  # fmt: skip
@click.option("--not-collection", "not_collections", multiple=True,
              help="No posts of this collection (repeatable).")  # fmt: skip
@click.option("--min-score", type=float, help="Leave out posts with a lower score.")
@click.option("--facets", is_flag=True,
              help="Count the found posts by language, tag and collection.")  # fmt: skip
@click.option("--own-language", type=click.Choice(list(PREFERENCES)), default=None,
              help="Preference for posts in the query's language [default: "
                   "that of the recipe].")  # fmt: skip
@click.option("--group", is_flag=True, default=None,
              help="Show versions of a post in several languages as one hit.")  # fmt: skip
@click.option("--as-words", is_flag=True,
              help="Read only delimited text as formulas.")  # fmt: skip
@click.option("--explain", is_flag=True, help="Show the reasons for each hit.")
@json_option
def command(
    library: Path | str,
    words: tuple[str, ...],
    k: int,
    lang: str,
    offset: int,
    languages: tuple[str, ...],
    not_languages: tuple[str, ...],
    tags: tuple[str, ...],
    any_tags: tuple[str, ...],
    not_tags: tuple[str, ...],
    collections: tuple[str, ...],
    not_collections: tuple[str, ...],
    min_score: float | None,
    facets: bool,
    own_language: str | None,
    group: bool | None,
    as_words: bool,
    explain: bool,
    as_json: bool,
) -> None:
    r"""Search LIBRARY for QUERY: words in any language, and formulas as you type them.

    Standard error shows how the query was read. In a formula, ?x stands for any sub-expression.
    Put a query with formulas in single quotes: the shell would interpret $, \, ( and *.

    \b
    Examples:
      mathsetu search my-library 'why is sqrt(2) irrational'
      mathsetu search my-library 'समाकल $\int_0^\infty \frac{\sin x}{x}dx$ का मान' --in en
      mathsetu search my-library '$a^2+b^2=c^2$' --explain
    """
    if not words:
        raise click.UsageError("Give a library and a query: mathsetu search LIBRARY QUERY")
    check_library_first(library, words)
    with Library(library) as opened:
        where = Filter(
            _codes(languages, "--in", opened),
            tags,
            collections,
            any_tags,
            _codes(not_languages, "--not-in", opened),
            not_tags,
            not_collections,
        )
        question = opened.question(" ".join(words), lang, as_words=as_words)
        check_asks(question)
        answer = opened.answer(
            question,
            k,
            where=where,
            explain=True,  # the snippet shows what matched, too
            own_language=own_language,
            group=group,
            offset=offset,
            min_score=min_score,
            facets=facets,
        )
        corrected = Suggestions(opened).corrected(question)
        note = languages_note(where, opened.languages)
        hints = [] if answer.total else list(_ways_out(opened, question, where, min_score))
    if as_json:
        print_json(to_json(search_answer(answer, typeset=True, note=note)))
        if not answer.hits:
            raise click.exceptions.Exit(1)
        return
    _print_reading(read_query(question))
    if not answer.hits:
        found = f"nothing more; found: {counted(answer.total, 'post')}"
        say(found if answer.total else "nothing found")
        for one in filter(None, (note, *hints)):
            say(one, err=True)
    else:
        if not answer.is_close:
            say("nothing close; the nearest are:")
        for rank, hit in enumerate(answer.hits, start=offset + 1):
            _print_hit(rank, hit, answer.posts, explain)
    if corrected:
        say(f"did you mean: {corrected}", err=True)
    for name, counts in answer.facets.items():
        shown = ", ".join(f"{value or 'unknown'} {n:,}" for value, n in list(counts.items())[:20])
        if shown:
            say(f"{name}: {shown}")
    for part, problem in answer.missing.items():
        say(f"{part} is missing from this answer: {problem}", err=True)
    if not answer.hits:
        raise click.exceptions.Exit(1)


def _ways_out(
    library: Library, question: Question, where: Filter, min_score: float | None
) -> Iterator[str]:
    """Suggest changes to a person who has found nothing."""
    kinds = {part["kind"] for part in library.recipe.parts.values()}
    if kinds == {"formula"} and not any(question.formulas):
        yield f"the recipe {library.recipe.name} searches formulas only, and the query has none"
    limits = {"filters": bool(where.conditions), "--min-score": min_score is not None}
    if any(limits.values()):
        without = library.answer(question, 1, explain=False, facets=True)
        if without.total:
            named = " and ".join(name for name, is_given in limits.items() if is_given)
            yield f"without {named}: {counted(without.total, 'post')} found"
        if limits["--min-score"] and without.hits:
            yield f"the best score among them: {without.hits[0].score:.3f}"
        # Only a field with a filter can be the cause.
        filtered = {name for name, _, _ in where.conditions}
        for name in ("language", "tag", "collection"):
            values = list(filter(None, without.facets.get(name, ())))
            if name in filtered and values:
                yield f"{name}s among them: {', '.join(values[:_VALUES_SHOWN])}"


def _codes(names: tuple[str, ...], option: str, library: Library) -> tuple[str, ...]:
    """The codes of languages; a library may have codes that are not in the table of languages."""
    codes = ((name, language(name).code) for name in names)
    return tuple(
        code if code in library.languages else named_language(name, option) for name, code in codes
    )


def _print_reading(read: QueryReading) -> None:
    """Print how the query was understood, to explain unexpected hits."""
    formulas = _beginning(" ".join(f"${latex}$" for latex in read.formulas)) or "none"
    words = _beginning(" ".join(read.words.split()))
    words = words if any(map(str.isalnum, words)) else "none"
    languages = " or ".join(map(language_name, read.languages)) or "none"
    say(f"read as: formulas {formulas} · words {words} · language {languages}", err=True)
    if read.note:
        say(f"note: {read.note}", err=True)


def _beginning(text: str) -> str:
    return text if len(text) <= _LONGEST_ECHO else f"{text[:_LONGEST_ECHO]}…"


def _print_hit(rank: int, hit: Hit, posts: Mapping[str, Post], explain: bool) -> None:
    post = posts[hit.id]
    code = f"[{post.language}] " if post.language else ""
    text = " ".join(readable(pieces(hit.snippet_of(post))).split())
    title = readable(pieces(post.title)) or text
    # Other commands take the id; the address says where the post is.
    place = f"{hit.id}  {post.url}" if post.url not in ("", hit.id) else hit.id
    say(f"{rank}. ", bold=title, then=f"  {code}{hit.score:.3f}  {place}")
    if post.title and text:
        say(f"   {text}")
    if hit.versions:
        also = ", ".join(f"{posts[other].language} ({other})" for other in hit.versions)
        say(f"   also in: {also}")
    for reason in hit.reasons if explain else ():
        if reason.detail or reason.score > _MIN_SHARE * hit.score:
            detail = readable(pieces(reason.detail)) if reason.detail else "nothing to quote"
            say(f"   {reason.part} {reason.score:.2f}: {detail}")
