"""``mathsetu glossary``: mathematical terms in seven languages."""

from __future__ import annotations

from collections import Counter

import click

from mathsetu.cli.output import json_option, print_json, print_table
from mathsetu.cli.verb import Verb
from mathsetu.languages.detect import detect
from mathsetu.languages.glossary import Concept, Glossary
from mathsetu.languages.table import LANGUAGES


@click.group("glossary", invoke_without_command=True)
@json_option
@click.pass_context
def command(context: click.Context, as_json: bool) -> None:
    """Show how many terms there are, search them, or find them in a text."""
    if context.invoked_subcommand is not None:
        return
    glossary = Glossary.load()
    forms = {code: sum(len(c.forms.get(code, ())) for c in glossary) for code in LANGUAGES}
    areas = Counter(concept.area for concept in glossary)
    if as_json:
        print_json({"concepts": len(glossary), "areas": areas, "forms": forms})
        return
    print_table(("area", "concepts"), [*sorted(areas.items()), ("all", len(glossary))])
    rows = [(LANGUAGES[code].name, count, f"{count / len(glossary):.1f}")
            for code, count in forms.items()]  # fmt: skip
    print_table(("language", "forms", "a concept"), rows)


@command.command("search")
@click.argument("words")
@click.option("--k", type=click.IntRange(1), default=10, show_default=True,
              help="Concepts to show.")  # fmt: skip
@json_option
def search(words: str, k: int, as_json: bool) -> None:
    """Find concepts by a form in any language, or the beginning of one."""
    found = Glossary.load().search(words)[:k]
    if as_json:
        print_json([_described(concept) for concept in found])
    else:
        rows = [[concept.term(code) for code in LANGUAGES] for concept in found]
        print_table(tuple(LANGUAGES), rows)
    if not found:
        raise click.exceptions.Exit(1)


@command.command("match", cls=Verb, former={"--to": "--into"})
@click.argument("text")
@click.option("--lang", default="", help="Language of the text; detected unless given.")
@click.option("--into", "target", default="en", show_default=True, help="Language wanted.")
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


def _described(concept: Concept) -> dict[str, object]:
    return {"id": concept.id, "area": concept.area, "forms": dict(concept.forms)}
