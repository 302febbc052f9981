"""``mathsetu analyze``: shows the index terms of a text."""

from __future__ import annotations

import click

from mathsetu.cli.output import LANGUAGE, json_option, print_json, say
from mathsetu.languages.analyze import analyze, words
from mathsetu.languages.detect import detect


@click.command("analyze")
@click.argument("text")
@click.option("--lang", type=LANGUAGE, default="", help="Language of the text [default: detected].")
@click.option("--stemmer", help="Another stemmer: porter, snowball or none.")
@json_option
def command(text: str, lang: str, stemmer: str | None, as_json: bool) -> None:
    r"""Show the language of TEXT and the terms that its words become.

    \b
    Example:
      mathsetu analyze 'अपरिमेय संख्याओं का योग'
    """
    found = detect(text)
    terms = analyze(words(text), lang or found.language, stemmer=stemmer)
    if as_json:
        print_json({"detected": found, "language": lang or found.language, "terms": terms})
        return
    said = "given" if lang else f"detected, confidence {found.confidence:.2f}"
    say(f"language  {lang or found.language or 'unknown'} ({said}; script {found.script})")
    say(f"terms     {' '.join(terms)}")
