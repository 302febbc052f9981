"""``mathsetu inspect``: a text or a post as spans and formulas."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from mathsetu.cli.output import json_option, print_json, print_table, say
from mathsetu.errors import InputError
from mathsetu.markup import FORMS, Span, plain, split, to_text
from mathsetu.markup.pages import with_containers
from mathsetu.printable import counted

_BY_ENDING = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".html": "html",
    ".htm": "html",
    ".tex": "latex",
}


@click.command("inspect")
@click.argument("text", required=False)
@click.option("--file", "path", type=click.Path(path_type=Path), help="Read a file instead.")
@click.option("--id", "post_id", help="Show this post of the collection given with --file.")
@click.option("--form", type=click.Choice(FORMS), help="Format of the text.")
@json_option
def command(
    text: str | None, path: Path | None, post_id: str | None, form: str | None, as_json: bool
) -> None:
    r"""Show a text or a post as spans and formulas.

    TEXT is marked text, or in the format of --form; "-" reads standard input.

    \b
    Examples:
      mathsetu inspect 'It costs $5, and $x^2$ is even'
      mathsetu inspect --file notes.md
      mathsetu inspect --file posts.jsonl --id 7
    """
    if (text is None) == (path is None):
        raise click.UsageError("give either a TEXT or --file")
    if post_id is not None:
        if path is None:
            raise click.UsageError("--id needs --file with a collection")
        source, form = _post_text(path, post_id), "text"
    elif path is not None:
        source, form = _read(path), form or _BY_ENDING.get(path.suffix.lower(), "text")
    else:
        source, form = sys.stdin.read() if text == "-" else text or "", form or "text"
    spans = split(with_containers(source) if form == "html" else source, form)
    if as_json:
        told = [span._asdict() for span in spans]
        print_json({"form": form, "text": to_text(source, form), "spans": told})
        return
    rows = [
        (number, f"{span.kind}{' (display)' * span.display}", _content(span), span.id)
        for number, span in enumerate(spans, start=1)
    ]
    print_table(("", "kind", "content", "id"), rows)
    formulas = sum(span.kind == "formula" for span in spans)
    say(f"{counted(len(spans), 'span')}, {counted(formulas, 'formula')}")


def _content(span: Span) -> str:
    """What a span says to people."""
    return (plain(span.content) if span.kind == "text" else span.content).strip()


def _read(path: Path) -> str:
    from mathsetu.collections.files import read_lines

    return "\n".join(line for _, line in read_lines(path))


def _post_text(path: Path, post_id: str) -> str:
    from mathsetu.collections.formats import detect
    from mathsetu.collections.rows import BadRows

    form = detect(path)
    if form.holds != "posts":
        raise InputError(f"{path}: holds {form.holds}, and --id needs posts")
    for post in form.read(path, BadRows()):
        if post.id == post_id:
            return f"{post.title}\n\n{post.body}" if post.title else str(post.body)
    raise InputError(f"{path}: there is no post with the id {post_id!r}")
