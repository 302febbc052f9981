"""Shared code of the verbs that read posts: options, sources, and the final report."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from mathsetu.cli.output import report_rows, say
from mathsetu.cli.verb import SAMPLER, STANDARD_INPUT
from mathsetu.collections import sampler
from mathsetu.collections.formats import detect, find
from mathsetu.collections.header import FIELDS
from mathsetu.collections.rows import BadRows
from mathsetu.collections.seen_ids import SeenIds
from mathsetu.collections.tally import Tally
from mathsetu.errors import HeaderError, InputError, NoPosts, RowError
from mathsetu.markup import FORMS
from mathsetu.printable import one_line
from mathsetu.records import Post

if TYPE_CHECKING:
    from mathsetu.library import Library

_MAX_LINES = 8
# Characters of a formula in a list.
_WIDTH = 60
# Maximum number of errors shown in one line when all sources are invalid.
_MAX_ERRORS = 3
# Posts per lookup of collections.
_BATCH = 256

Function = TypeVar("Function", bound=Callable[..., Any])


def field_option(function: Function) -> Function:
    """Give a command the option ``--field``."""
    return click.option(
        "--field", "fields", multiple=True, metavar="FIELD=COLUMN", callback=_fields,
        help="Column of a table to use for a field of posts: body=Content, title=Subject.",
    )(function)  # fmt: skip


def form_option(function: Function) -> Function:
    """Give a command the option ``--form``."""
    return click.option(
        "--form", type=click.Choice(FORMS),
        help="Form of the texts in JSON Lines, Parquet and tables "
             "[default: text with formulas; in tables, HTML is recognised].",
    )(function)  # fmt: skip


def _fields(
    _context: click.Context, _option: click.Parameter, given: tuple[str, ...]
) -> dict[str, str]:
    fields: dict[str, str] = {}
    for pair in given:
        name, sign, column = pair.partition("=")
        if not sign or not column or name not in FIELDS:
            raise InputError(
                f"--field {pair}: use FIELD=COLUMN with a field of {', '.join(FIELDS)}"
            )
        fields[name] = column
    return fields


def policy(skip_bad: bool, fields: Mapping[str, str], form: str | None = None) -> BadRows:
    """The settings for reading sources, and the place for notes about them."""
    return BadRows(
        skip=skip_bad, notes=[], ids=SeenIds(), tally=Tally(), fields=fields, form=form or ""
    )


def read_sources(
    sources: tuple[str, ...],
    format_name: str | None,
    lang: str,
    bad: BadRows,
    library: Library | None = None,
) -> Iterator[Post]:
    """The posts of several sources, one after the other.

    Args:
        sources: Files and folders.
        format_name: Their format, if the user names it.
        lang: The language of posts that do not state one.
        bad: The settings for reading, and the place for notes.
        library: The library to which posts are added, if any. Posts whose ids or files are
            already in it keep their collections. Other posts get the name of their source as
            collection, unless they state another.
    """
    named: set[str] = set()
    for source in sources:
        place = Path(os.path.abspath(source))  # . and .. have names, too
        if source == SAMPLER:
            posts: Iterator[Post] = sampler.posts(bad)
        else:
            form = find(format_name) if format_name else detect(source, fields=bad.fields)
            if form.holds != "posts":
                raise InputError(
                    f"{source}: holds {form.holds}, and an index needs posts (if it is a table of "
                    "posts, say which column is the body: --field body=COLUMN)"
                )
            posts = form.read(source, bad)
            if form.name == "document":
                place = place.parent  # the collection is that of its folder
        # A file name may not be valid UTF-8, but the name of a collection must be.
        name = os.fsencode(place.name).decode("utf-8", "replace")
        counted = iter(bad.tally.count(posts) if bad.tally is not None else posts)
        try:
            while batch := list(islice(counted, _BATCH)):
                kept = library.kept_collections(batch) if library is not None else {}
                for post in batch:
                    own = post.collection or kept.get(post.id, "")
                    if not own and library is not None and name not in named:
                        named.add(name)
                        if bad.tally is not None and not library.has_collection(name):
                            bad.tally.new_collections.append(name)
                    if library is not None and bad.tally is not None:
                        bad.tally.add_source(post)
                    yield replace(post, language=post.language or lang, collection=own or name)
        except RowError as error:
            if bad.skip or isinstance(error, HeaderError):
                raise
            raise InputError(f"{error} (--skip-bad leaves out what is wrong)") from None
    note_unused(bad)


def note_unused(bad: BadRows) -> None:
    """Note a ``--form`` that was never used, and columns of ``--field`` that no table has."""
    if bad.form and bad.tally is not None and not bad.tally.has_forms:
        bad.note(f"--form {bad.form}: no JSON Lines, Parquet file or table of posts was read")
    used = bad.tally.fields if bad.tally is not None else bad.fields
    for field, column in bad.fields.items():
        if field not in used:
            bad.note(f"--field {field}={column}: no table that was read has such a column")


def files_of(sources: tuple[str, ...]) -> list[Path]:
    """The sources that are files or folders."""
    return [Path(source) for source in sources if source not in (SAMPLER, STANDARD_INPUT)]


@contextmanager
def explain_no_posts(bad: BadRows) -> Iterator[None]:
    """If there are no posts, raise an error that lists what was skipped and what was wrong."""
    try:
        yield
    except NoPosts:
        ignored = report_of(bad, {})["ignored"]
        why = [f"{one['reason']}: {', '.join(one['first'])}" for one in ignored]
        why += bad.messages[:_MAX_ERRORS]
        more = bad.count - _MAX_ERRORS
        why += [f"{more:,} more like these"] if more > 0 else []
        raise NoPosts("; ".join(why)) from None


def report_of(bad: BadRows, languages: Mapping[str, int]) -> dict[str, Any]:
    """The report of an intake, for programs.

    Args:
        bad: The notes made while reading.
        languages: The number of posts of each language; the empty code means unknown.
    """
    tally = bad.tally or Tally()
    counted = tally.to_json()
    return {
        "files": counted["files"],
        "kinds": counted["kinds"],
        # A resumed build reads no posts again, so it has counted no formulas.
        "formulas": tally.formulas if tally.posts else None,
        "languages": {code or "unknown": count for code, count in languages.items()},
        "skipped": bad.count,
        "errors": bad.messages,
        "notes": list(bad.notes or ()),
        "ignored": counted["ignored"],
        "faulty_formulas": counted["faulty_formulas"],
        "read": counted["read"],
        "columns": counted["columns"],
    }


def say_report(
    bad: BadRows, languages: Mapping[str, int], *, languages_of: str = "", err: bool = False
) -> None:
    """Print the report of an intake for people, below the line that gives the result.

    The first errors go to standard error, like all error messages.

    Args:
        bad: The notes made while reading.
        languages: The number of posts of each language.
        languages_of: What the languages belong to, if not to the posts that were read.
        err: Whether to print to standard error.
    """
    report = report_of(bad, languages)
    kinds = ", ".join(f"{kind} {count:,}" for kind, count in report["kinds"].items())
    if report["files"]:
        say(f"  files: {report['files']:,} ({kinds})", err=err)
    if report["formulas"] is not None:
        say(f"  formulas: {report['formulas']:,}", err=err)
    named = sorted(report["languages"].items(), key=lambda pair: -pair[1])
    if named:
        whose = f" of {languages_of}" if languages_of else ""
        counts = ", ".join(f"{code} {count:,}" for code, count in named)
        say(f"  languages{whose}: {counts}", err=err)
    say_lines([f"{one['file']}: {one['got']}" for one in report["read"]], "files", err=err)
    say_lines(report["columns"], "tables", err=err)
    say_ignored(bad.tally or Tally(), err=err)
    for faulty in report["faulty_formulas"][:_MAX_LINES]:
        first = ", ".join(one_line(item)[:_WIDTH] for item in faulty["first"])
        more = ", …" if faulty["count"] > len(faulty["first"]) else ""
        why = one_line(faulty["reason"])[:_WIDTH]
        say(f"  read in part: {faulty['count']:,} × {why} ({first}{more})", err=err)
    if report["faulty_formulas"]:
        say("  (mathsetu inspect --problems --file SOURCE names all of them, with posts)", err=err)
    report_rows(bad)


def say_ignored(tally: Tally, *, err: bool = False) -> None:
    """Print what was skipped, by reason."""
    for ignored in tally.ignored.to_json():
        first = ", ".join(ignored["first"])
        more = ", …" if ignored["count"] > len(ignored["first"]) else ""
        say(f"  skipped: {ignored['count']:,} × {ignored['reason']} ({first}{more})", err=err)


def say_lines(lines: list[str], what: str, *, err: bool = False) -> None:
    """Print the first lines of a list, and the number of the others."""
    for line in lines[:_MAX_LINES]:
        say(f"  {line}", err=err)
    if len(lines) > _MAX_LINES:
        say(f"  … and {len(lines) - _MAX_LINES:,} more {what} (--json lists them)", err=err)
