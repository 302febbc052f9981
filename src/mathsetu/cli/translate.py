"""``mathsetu translate``: translates a text and preserves its formulas."""

from __future__ import annotations

import sys

import click

from mathsetu.cli.output import LanguageName, json_option, print_json, print_table, say
from mathsetu.cli.verb import Verb
from mathsetu.errors import InputError
from mathsetu.languages.detect import detect
from mathsetu.languages.translate import BACKENDS, open_translator

# Translators use the language codes of their models, such as hin_Deva.
_LANGUAGE = LanguageName(as_given=True)


@click.command("translate", cls=Verb, former={
    "--to": "--into", "--from": "--lang",
    "--backend": "--translator", "--backends": "--translators",
})  # fmt: skip
@click.argument("text", required=False)
@click.option("--into", "target", type=_LANGUAGE, default="en", show_default=True,
              help="Target language.")  # fmt: skip
@click.option("--lang", "source", type=_LANGUAGE, default="",
              help="Language of the text [default: detected].")  # fmt: skip
@click.option("--translator", "backend", default="glossary", show_default=True, metavar="NAME",
              help="The translator; --translators lists them.")  # fmt: skip
@click.option("--model", default="", help="A folder or hub name, if the translator needs a model.")
@click.option("--translators", "list_backends", is_flag=True,
              help="List the translators and exit.")  # fmt: skip
@json_option
def command(
    text: str | None,
    target: str,
    source: str,
    backend: str,
    model: str,
    list_backends: bool,
    as_json: bool,
) -> None:
    r"""Translate TEXT ("-" reads standard input); formulas are preserved.

    \b
    Examples:
      mathsetu translate --into en 'समाकल $\int_0^1 x\,dx$ का मान ज्ञात कीजिए'
      mathsetu translate --into hi --translator nllb --model ./nllb-200 'Show that $x>0$.'
    """
    if list_backends:
        rows = [(name, row.default_model, row.description) for name, row in BACKENDS.items()]
        if as_json:
            print_json([dict(zip(("name", "model", "what"), row, strict=True)) for row in rows])
        else:
            print_table(("translator", "model", "what it is"), rows)
        return
    if text is None:
        raise click.UsageError("give a TEXT, or --translators")
    text = sys.stdin.read() if text == "-" else text
    source = source or detect(text).language
    if not source:
        raise InputError("the language of the text could not be detected; name it with --lang")
    translator = open_translator(backend, model)
    [done] = translator.translate([text], source, target)
    if as_json:
        print_json(done)
        return
    say(done.text, lines=True)
    if done.lost:
        say(f"appended at the end, their positions were lost: {' '.join(done.lost)}", err=True)
