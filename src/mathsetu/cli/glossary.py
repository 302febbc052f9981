"""``mathsetu glossary``: mathematical terms in all languages of the glossary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import partial
from pathlib import Path

import click

from mathsetu.cli import VerbGroup
from mathsetu.cli.output import LANGUAGE, json_option, print_json, print_table, say
from mathsetu.cli.targets import can_be_read, check_target
from mathsetu.cli.verb import Verb
from mathsetu.collections.files import writing
from mathsetu.errors import InputError
from mathsetu.languages.detect import detect
from mathsetu.languages.glossary import Concept, Glossary
from mathsetu.languages.glossary.further import (
    FOLDER_VARIABLE,
    check_concepts,
    further_terms,
    read_table,
    table_lines,
)
from mathsetu.languages.table import FURTHER, LANGUAGES, ROWS, language


@click.group("glossary", cls=VerbGroup, invoke_without_command=True)
@json_option
@click.pass_context
def command(context: click.Context, as_json: bool) -> None:
    """Show how many terms there are, search them, find them in a text, or correct them."""
    if context.invoked_subcommand is not None:
        return
    glossary = Glossary.load()
    forms = {code: sum(len(c.forms.get(code, ())) for c in glossary) for code in ROWS}
    concepts = {code: sum(code in c.forms for c in glossary) for code in ROWS}
    read = {
        code: sum(term.is_reviewed for term in further_terms(code).values()) for code in FURTHER
    }
    areas = Counter(concept.area for concept in glossary)
    if as_json:
        print_json(
            {"concepts": len(glossary), "areas": areas, "forms": forms,
             "languages": concepts, "reviewed": read}
        )  # fmt: skip
        return
    print_table(("area", "concepts"), [*sorted(areas.items()), ("all", len(glossary))])
    rows = [
        (ROWS[code].name, concepts[code], count, "" if code in LANGUAGES else read[code])
        for code, count in forms.items()
    ]
    print_table(("language", "concepts", "forms", "reviewed"), rows)


@command.command("search")
@click.argument("words")
@click.option("-k", "--k", type=click.IntRange(1), default=10, show_default=True,
              help="Concepts to show.")  # fmt: skip
@click.option("--lang", "languages", type=LANGUAGE, multiple=True,
              help="Languages to show in addition to the first seven.")  # fmt: skip
@json_option
def search(words: str, k: int, languages: tuple[str, ...], as_json: bool) -> None:
    """Find concepts by a term in any language, or by its beginning."""
    found = Glossary.load().search(words)[:k]
    shown = dict.fromkeys([*LANGUAGES, *languages])
    if as_json:
        print_json([_described(concept, shown) for concept in found])
    elif not found:
        say(f"no term begins with or contains {words!r}; look for one of its words", err=True)
    else:
        rows = [[concept.term(code) for code in shown] for concept in found]
        print_table(tuple(shown), rows)
    if not found:
        raise click.exceptions.Exit(1)


@command.command("match", cls=Verb, former={"--to": "--into"})
@click.argument("text")
@click.option("--lang", type=LANGUAGE, default="", help="Language of the text [default: detected].")
@click.option("--into", "target", type=LANGUAGE, default="en", show_default=True,
              help="Target language.")  # fmt: skip
@json_option
def match(text: str, lang: str, target: str, as_json: bool) -> None:
    """Find the terms in a TEXT and translate each."""
    lang = lang or detect(text).language
    rows = [
        (text[found.start : found.end], found.concepts[0].id, found.concepts[0].term(target))
        for found in Glossary.load().match(text, lang)
    ]
    if as_json:
        print_json([dict(zip(("text", "concept", "term"), row, strict=True)) for row in rows])
    else:
        print_table(("in the text", "concept", target), rows)


@command.command("export")
@click.argument("lang")
@click.option("--all", "every", is_flag=True, help="Include concepts that have no term yet.")
def export(lang: str, every: bool) -> None:
    """Write the terms of a language as a table, so that a speaker can correct them.

    The first seven languages are tables of the source (languages/glossary/terms).
    """
    code = _further(lang)
    terms = further_terms(code)
    glossary = Glossary.load()
    english = {c.id: c.term("en") for c in glossary if every or c.id in terms}
    say("".join(table_lines(terms, code, english)).rstrip("\n"), lines=True)


@command.command("import")
@click.argument("table", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option("--lang", type=LANGUAGE, default="",
              help="Language of the table [default: the file name].")  # fmt: skip
def import_(table: Path, folder: Path, lang: str) -> None:
    """Check a corrected TABLE and copy it to your own FOLDER.

    Terms of that folder replace the built-in ones if the environment variable MATHSETU_GLOSSARY
    names it.
    """
    code = _further(lang or table.stem)
    terms = read_table(table, code)
    check_concepts(terms, (concept.id for concept in Glossary.load()), table)
    folder.mkdir(parents=True, exist_ok=True)
    place = folder / f"{code}.tsv"
    check_target(
        place,
        [table],
        own=can_be_read(partial(read_table, code=code)),
        about=", and is not a table of terms",
    )
    with writing(place) as file:
        file.write("".join(table_lines(terms, code)))
    read = sum(term.is_reviewed for term in terms.values())
    say(f"{place}: {len(terms)} terms, {read} reviewed; used with {FOLDER_VARIABLE}={folder}")


def _further(name: str) -> str:
    """The code of a language that has its own table of terms."""
    code = language(name).code
    if code not in FURTHER:
        raise InputError(
            f"{name!r} has no table of its own (those that have: {', '.join(FURTHER)})"
        )
    return code


def _described(concept: Concept, languages: Iterable[str]) -> dict[str, object]:
    forms = {code: concept.forms.get(code, ()) for code in languages}
    return {"id": concept.id, "area": concept.area, "forms": forms}
