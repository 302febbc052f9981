"""``mathsetu convert``: converts between the supported formats."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import click

from mathsetu.cli.intake import field_option, form_option, note_unused, report_of, say_report
from mathsetu.cli.output import (
    json_option,
    print_json,
    print_table,
    report_rows,
    say,
    skipped,
    track,
)
from mathsetu.cli.targets import check_target
from mathsetu.collections.formats import FORMATS, Format, detect, find
from mathsetu.collections.rows import BadRows
from mathsetu.collections.tally import Tally
from mathsetu.errors import InputError
from mathsetu.library.upgrade import stored_posts
from mathsetu.places import is_library
from mathsetu.printable import counted

#: The singular of each kind of record.
_ONE = {"posts": "post", "queries": "query", "judgments": "judgment", "runs": "run"}
# Extensions of formats other than TREC runs; with any other extension, a run is written for TREC.
_NOT_TREC = tuple(
    {ending for form in FORMATS.values() for ending in form.endings}
    - {"", ".tsv", ".txt", ".run", ".res"}
)
_ARQMATH_RUNS = ("arqmath-answer-run", "arqmath-formula-run")
# Not in the table of formats, because collections must not depend on libraries.
_LIBRARY = Format(
    "library", "posts", "a library: its posts", lambda path, bad: stored_posts(Path(path))
)


@click.command("convert")
@click.argument("source", required=False, type=click.Path(path_type=Path, allow_dash=True))
@click.argument("target", required=False, type=click.Path(path_type=Path, allow_dash=True))
@click.option("--from", "source_format", metavar="FORMAT", help="Format of SOURCE.")
@click.option("--to", "target_format", metavar="FORMAT", help="Format of TARGET.")
@field_option
@form_option
@click.option("--overwrite", is_flag=True, help="Overwrite TARGET, whatever it contains.")
@click.option("--skip-bad", is_flag=True, help="Skip and count bad rows instead of stopping.")
@click.option("--formats", "list_formats", is_flag=True, help="List the formats and exit.")
@json_option
def command(
    source: Path | None,
    target: Path | None,
    source_format: str | None,
    target_format: str | None,
    fields: dict[str, str],
    form: str | None,
    overwrite: bool,
    skip_bad: bool,
    list_formats: bool,
    as_json: bool,
) -> None:
    r"""Convert SOURCE to TARGET.

    Formats are recognised automatically if possible; TARGET is created only when it is complete.
    If SOURCE is a library, its posts are exported.

    \b
    Examples:
      mathsetu convert Posts.xml posts.jsonl.gz
      mathsetu convert notes/ notes.jsonl
      mathsetu convert my-library posts.jsonl
      mathsetu convert run.tsv run.trec
      mathsetu convert run.trec submission.csv --to clmir-submission
    """
    if list_formats:
        _show_formats(as_json)
        return
    if source is None or target is None:
        raise click.UsageError("give SOURCE and TARGET, or --formats")
    if source_format is None and is_library(source):
        reading = _LIBRARY
    else:
        reading = find(source_format) if source_format else detect(source, fields=fields)
    writing = find(target_format) if target_format else _fitting(target, reading)
    if writing.holds != reading.holds:
        raise InputError(
            f"{reading.name} holds {reading.holds}, {writing.name} holds {writing.holds}: "
            f"choose a target format that holds {reading.holds}"
        )
    if writing.write is None:
        raise InputError(f"{writing.name} can only be read; {_writable(reading)}")
    check_target(
        target,
        [source],
        own=partial(_holds, form=writing),
        about="" if writing.holds == "judgments" else f", and does not hold {writing.holds}",
        overwrite=overwrite,
    )
    tally = Tally()
    bad = BadRows(skip=skip_bad, notes=[], tally=tally, fields=fields, form=form or "")
    counter = _Counter()
    records = reading.read(source, bad)
    if reading.holds == "posts":
        records = tally.count(records)
    sources = [] if str(source) == "-" or reading is _LIBRARY else [source]
    writing.write(target, counter.count(track(records, reading.holds, sources)))
    note_unused(bad)
    summary = {
        "from": reading.name,
        "to": writing.name,
        reading.holds: counter.total,
    }
    if as_json:
        print_json(summary | report_of(bad, tally.languages))
        return
    what = counted(counter.total, _ONE[reading.holds], reading.holds)
    done = f"{what} from {reading.name} to {writing.name}"
    say(f"{done}{skipped(bad)}", err=True)
    if reading.holds == "posts":
        say_report(bad, tally.languages, err=True)
    else:
        report_rows(bad)


class _Counter:
    def __init__(self) -> None:
        self.total = 0

    def count(self, items: Iterable[Any]) -> Iterator[Any]:
        for item in items:
            self.total += 1
            yield item


def _fitting(target: Path, reading: Format) -> Format:
    """The format to write if only the file name is given: the first that fits its extension.

    Run files have many extensions. Most are TREC runs; an ARQMath run (.tsv) keeps its format.
    """
    name = target.name.lower().removesuffix(".gz").removesuffix(".xz").removesuffix(".bz2")
    if reading.holds == "runs" and name != "-" and not name.endswith(_NOT_TREC):
        is_kept = name.endswith(".tsv") and reading.name in _ARQMATH_RUNS
        return reading if is_kept else find("trec-run")
    for form in FORMATS.values():
        specific = [ending for ending in form.endings if ending and name.endswith(ending)]
        if form.holds == reading.holds and form.write is not None and specific:
            return form
    raise InputError(f"{target}: its extension names no format; {_writable(reading)}")


def _holds(path: Path, form: Format) -> bool:
    """Whether a file holds the same kind of records as a format, or records of that format.

    Judgments are never replaced without --overwrite, because human work cannot be made again.
    """
    if form.holds == "judgments":
        return False
    with suppress(InputError):
        return detect(path).holds == form.holds
    with suppress(InputError):
        return next(iter(form.read(path, BadRows())), None) is not None
    return False


def _writable(reading: Format) -> str:
    names = [f.name for f in FORMATS.values() if f.write and f.holds == reading.holds]
    return f"say --to one of {', '.join(names)}"


def _show_formats(as_json: bool) -> None:
    rows = [
        (form.name, form.holds, "read and write" if form.write else "read", form.description)
        for form in FORMATS.values()
    ]
    columns = ("format", "holds", "can", "what it is")
    if as_json:
        print_json([dict(zip(columns, row, strict=True)) for row in rows])
    else:
        print_table(columns, rows)
