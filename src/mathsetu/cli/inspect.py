"""``mathsetu inspect``: a text, a file or a post as spans and formulas, as the index reads it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import click

from mathsetu.cli.intake import field_option, report_of, say_ignored
from mathsetu.cli.output import json_option, print_json, print_table, report_rows, say
from mathsetu.collections.files import read_lines
from mathsetu.collections.formats import detect
from mathsetu.collections.rows import BadRows
from mathsetu.collections.source_text import to_text
from mathsetu.collections.tally import Tally
from mathsetu.errors import InputError
from mathsetu.intake.documents import with_document_languages
from mathsetu.intake.posts import read_post
from mathsetu.intake.problems import problems_of
from mathsetu.library.upgrade import stored_posts
from mathsetu.markup import FORMS, Span, plain_words, split
from mathsetu.markup.pages import with_containers
from mathsetu.places import is_library
from mathsetu.printable import counted
from mathsetu.records import Post

# Posts of one file that are shown; a post may be long.
_MAX_POSTS = 10


@click.command("inspect")
@click.argument("text", required=False)
@click.option("--file", "path", type=click.Path(path_type=Path), help="Read a file instead.")
@click.option("--id", "post_id", help="Show this post of the file or library given with --file.")
@click.option("--form", type=click.Choice(FORMS), help="Format of the text, or of the whole file.")
@click.option(
    "--problems",
    is_flag=True,
    help="Only list the formulas of --file that are read in part, such as invalid LaTeX.",
)
@field_option
@json_option
def command(
    text: str | None,
    path: Path | None,
    post_id: str | None,
    form: str | None,
    problems: bool,
    fields: dict[str, str],
    as_json: bool,
) -> None:
    r"""Show a text or posts as spans and formulas, as the index reads them.

    TEXT is marked text, or in the format of --form; "-" reads standard input. A file is read as
    mathsetu index reads it, section by section; with --form, as one text. With --problems, --file
    may be a folder or a library, and the exit code is 1 if there are problems.

    \b
    Examples:
      mathsetu inspect 'It costs $5, and $x^2$ is even'
      mathsetu inspect --file notes.md
      mathsetu inspect --file posts.jsonl --id 7
      mathsetu inspect --file my.library --id 'notes/series.md#sums'
      mathsetu inspect --file exercises.csv --field body=Solution
      mathsetu inspect --problems --file notes
    """
    if (text is None) == (path is None):
        raise click.UsageError("give either a TEXT or --file")
    if post_id is not None and path is None:
        raise click.UsageError("--id needs --file with a collection")
    if post_id is not None and form is not None:
        raise click.UsageError("--form reads all of a file as one text; give either --id or --form")
    if problems:
        if path is None or post_id is not None or form is not None:
            raise click.UsageError("--problems needs --file, and neither --id nor --form")
        _list_problems(path, fields, as_json)
        return
    if fields and (path is None or form is not None or is_library(path)):
        raise click.UsageError("--field needs --file with a table")
    if path is not None and post_id is None and is_library(path):
        raise InputError(
            f"{path}: is a library; --id ID shows one of its posts (all of them: mathsetu convert "
            f"{path} posts.jsonl)"
        )
    bad = BadRows(notes=[], tally=Tally(), fields=fields)
    if path is not None and post_id is not None:
        _show_post(_found(path, post_id, bad), as_json)
    elif path is not None and form is None and (posts := _posts(path, bad)) is not None:
        _show_posts(posts, as_json, bad)
    elif path is not None:
        _show(_read(path), form or "text", as_json)
    else:
        _show(sys.stdin.read() if text == "-" else text or "", form or "text", as_json)
        if text and _names_file(text):
            say(f"{text} is also a file; --file {text} reads it", err=True)


def _names_file(text: str) -> bool:
    try:
        return Path(text).exists()
    except (OSError, ValueError):  # too long for a file name, or not a valid one
        return False


def _show(source: str, form: str, as_json: bool) -> None:
    if as_json:
        print_json(_described(source, form))
    else:
        _print_spans(_spans(source, form))


def _spans(source: str, form: str) -> list[Span]:
    return split(with_containers(source) if form == "html" else source, form)


def _show_post(post: Post, as_json: bool) -> None:
    if as_json:
        print_json(_described_post(post))
    else:
        _print_spans(split(_text_of(post)))


def _show_posts(posts: Iterator[Post], as_json: bool, bad: BadRows) -> None:
    shown = list(islice(posts, _MAX_POSTS))
    is_more = next(posts, None) is not None
    if as_json:
        print_json({"posts": [_described_post(post) for post in shown], "more": is_more})
        return
    for post in shown:
        facts = (read_post(post).language, *post.tags)
        say("", bold=post.id, then=f"  {', '.join(filter(None, facts))}".rstrip())
        _print_spans(split(_text_of(post)))
    if not shown:
        _say_why_nothing(bad)
    if is_more:
        say(f"the first {counted(len(shown), 'post')}; --id ID shows any other")


def _list_problems(path: Path, fields: dict[str, str], as_json: bool) -> None:
    """Print all problems and the files that are not read; exit with 1 if there are problems."""
    bad = BadRows(skip=True, notes=[], tally=Tally(), fields=fields)
    form = None if is_library(path) else detect(path, fields=fields)
    if form is not None and form.holds != "posts":
        raise InputError(f"{path}: holds {form.holds}, and --problems needs posts")
    found: list[dict[str, Any]] = []
    tally = bad.tally or Tally()
    for post in tally.count(form.read(path, bad) if form else stored_posts(path)):
        found += [{"id": post.id} | one._asdict() for one in problems_of(post)]
    if as_json:
        ignored = tally.ignored.to_json()
        told = {"posts": tally.posts, "problems": found, "ignored": ignored}
        print_json(told | {"errors": bad.messages})
    else:
        for one in found:
            where = f" at character {one['position']}: {one['latex']}" if one["latex"] else ""
            say("", bold=one["id"], then=f"  {one['message']}{where}")
        say_ignored(tally)
        report_rows(bad)
        posts = len({one["id"] for one in found})
        say(f"{counted(len(found), 'problem')} in {posts:,} of {counted(tally.posts, 'post')}")
    if found or bad.count:
        raise click.exceptions.Exit(1)


def _say_why_nothing(bad: BadRows) -> None:
    """Report which files have no posts, and why."""
    for one in report_of(bad, {})["ignored"]:
        more = ", …" if one["count"] > len(one["first"]) else ""
        say(f"{', '.join(one['first'])}{more}: {one['reason']}")


def _described_post(post: Post) -> dict[str, Any]:
    known = {"id": post.id, "language": read_post(post).language, "tags": list(post.tags)}
    return known | _described(_text_of(post), "text")


def _described(source: str, form: str) -> dict[str, Any]:
    spans = [span._asdict() for span in _spans(source, form)]
    return {"form": form, "text": to_text(source, form), "spans": spans}


def _print_spans(spans: list[Span]) -> None:
    rows = [
        (number, f"{span.kind}{' (display)' * span.display}", _content(span), span.id)
        for number, span in enumerate(spans, start=1)
    ]
    # Only some HTML has ids of formulas.
    count = 4 if any(span.id for span in spans) else 3
    print_table(("", "kind", "content", "id")[:count], [row[:count] for row in rows])
    formulas = sum(span.kind == "formula" for span in spans)
    say(f"{counted(len(spans), 'span')}, {counted(formulas, 'formula')}")


def _content(span: Span) -> str:
    """The content of a span as it is shown to people."""
    return (plain_words(span.content) if span.kind == "text" else span.content).strip()


def _text_of(post: Post) -> str:
    """All searched fields of a post, in order."""
    return "\n\n".join(filter(None, (post.title, post.question, post.body)))


def _read(path: Path) -> str:
    return "\n".join(line for _, line in read_lines(path))


def _posts(path: Path, bad: BadRows) -> Iterator[Post] | None:
    """The posts of a file as an index reads them; None if the file is a text in another format."""
    try:
        form = detect(path, fields=bad.fields)
    except InputError:
        if _is_text(path):
            return None
        raise
    return with_document_languages(form.read(path, bad)) if form.holds == "posts" else None


def _is_text(path: Path) -> bool:
    try:
        return all(True for _ in read_lines(path))
    except InputError:
        return False


def _found(path: Path, post_id: str, bad: BadRows) -> Post:
    if is_library(path):
        from mathsetu.library import Library  # most calls need no library

        with Library(path) as library:
            if library.present([post_id]):
                return library.post(post_id)
    else:
        form = detect(path, fields=bad.fields)
        if form.holds != "posts":
            raise InputError(f"{path}: holds {form.holds}, and --id needs posts")
        posts = with_document_languages(form.read(path, bad))
        for post in posts:
            if post.id == post_id:
                return post
    raise InputError(f"{path}: there is no post with the id {post_id!r}")
