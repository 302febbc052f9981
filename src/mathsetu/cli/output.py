"""Output of verbs: tables for people, JSON for programs, progress on standard error."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from mathsetu.errors import InputError
from mathsetu.places import is_address, is_library
from mathsetu.printable import counted, one_line, visible, visible_json

if TYPE_CHECKING:
    from pathlib import Path

    from rich.progress import Progress, Task, TaskID
    from rich.text import Text

    from mathsetu.collections.meter import Meter
    from mathsetu.collections.rows import BadRows
    from mathsetu.formulas.tree import Tree as FormulaTree

Item = TypeVar("Item")
Function = TypeVar("Function", bound=Callable[..., Any])
_MAX_NOTES = 5
# Output to a file or a pipe has no terminal width, so lines are not wrapped.
_FILE_WIDTH = 1000
# The minimum width of a column of texts.
_NARROWEST = 12
#: The name of the step of reading sources in progress bars.
READING = "reading"


def json_option(function: Function) -> Function:
    """Give a command the option ``--json``."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")(
        function
    )


def device_option(function: Function) -> Function:
    """Give a command the option ``--device``."""
    return click.option(
        "--device",
        default="cpu",
        show_default=True,
        help="Device for encoding passages; cuda for a GPU (needs torch).",
    )(function)


class LibraryPlace(click.Path):
    """The folder of a library as a path, or its address as a text."""

    name = "library"

    def __init__(self) -> None:
        super().__init__(path_type=Path)  # the function that opens it checks that it exists

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the place that an argument names."""
        return value if is_address(value) else super().convert(value, param, ctx)


#: The type of an argument that names a library.
LIBRARY = LibraryPlace()


def check_library_first(library: Path | str, others: Sequence[str]) -> None:
    """Refuse arguments in which the library is last instead of first."""
    if isinstance(library, Path) and not is_library(library) and is_library(Path(others[-1])):
        raise InputError(f"{library} is not a library; write the library first: {others[-1]}")


class LanguageName(click.ParamType[str]):
    """A language by its name or code; the verb gets its code, or "" if none is named.

    Args:
        as_given: Whether the verb gets the text as given, since models have longer codes.
    """

    name = "lang"

    def __init__(self, *, as_given: bool = False) -> None:
        self._as_given = as_given

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the language that an option names."""
        code = named_language(value, param.opts[0] if param else "")
        return value if self._as_given else code


#: The type of an option that names a language.
LANGUAGE = LanguageName()


def named_language(name: str, option: str) -> str:
    """Return the code of the language that an option names.

    >>> named_language("", "--lang"), named_language("German", "--lang")
    ('', 'de')
    >>> named_language("elvish", "--in")
    Traceback (most recent call last):
    mathsetu.errors.InputError: --in elvish: unknown language; give a code such as en or a name \
such as German
    """
    from mathsetu.languages.table import existing_language  # not for mathsetu --help

    try:
        return existing_language(name) if name else ""
    except InputError as error:
        raise InputError(f"{option} {name}: {error}") from None


def say(
    text: str, *, bold: str = "", then: str = "", err: bool = False, lines: bool = False
) -> None:
    """Print a text safely, even if it quotes untrusted input; all verbs print through this module.

    Args:
        text: The text to print.
        bold: Text after it, in bold.
        then: Text after that.
        err: Whether to print to standard error.
        lines: Whether the text may have several lines; otherwise line breaks are replaced, so that
            quoted input cannot fake a line of output.
    """
    safe = visible if lines else one_line
    heading = click.style(safe(bold), bold=True) if bold else ""
    click.echo(f"{safe(text)}{heading}{safe(then)}", err=err)


def print_json(value: object) -> None:
    """Print a value, records included, as one JSON document."""
    click.echo(visible_json(json.dumps(_plain(value), ensure_ascii=False, indent=2)))


def _plain(value: object) -> object:
    """Records become objects without their empty fields."""
    if is_dataclass(value) and not isinstance(value, type):
        return {k: _plain(v) for k, v in asdict(value).items() if v not in ("", (), None)}
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def print_table(columns: Sequence[str], rows: Iterable[Sequence[object]], title: str = "") -> None:
    """Print a table that fits the terminal; cells are never interpreted as markup.

    Nothing is cut: texts are wrapped, figures are not. If the figures are too wide for a table,
    each row is printed as a list.
    """
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    heading = Text(visible(title), style="table.title") if title else None
    console = Console(highlight=False, emoji=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console = Console(highlight=False, emoji=False, width=_FILE_WIDTH)
    cells = [[visible(str(cell)) for cell in row] for row in rows]
    wholes = [_least_width(column, [row[at] for row in cells]) for at, column in enumerate(columns)]
    if sum(wholes) + 3 * len(columns) > console.width:
        if heading is not None:
            console.print(heading)
        _print_lists(columns, cells)
        return
    table = Table(title=heading, box=box.SIMPLE_HEAD, title_justify="left")
    for column, least in zip(columns, wholes, strict=True):
        table.add_column(Text(visible(column)), min_width=least, overflow="fold")
    for row in cells:
        table.add_row(*(Text(cell) for cell in row))
    console.print(table)


def _least_width(column: str, cells: Sequence[str]) -> int:
    """The minimum width of a column: figures are never broken, texts may be wrapped anywhere."""
    figures = any(cells) and all(_is_figure(cell) for cell in cells)
    longest = max((len(word) for text in (column, *cells) for word in text.split()), default=1)
    return longest if figures else min(longest, _NARROWEST)


def _is_figure(cell: str) -> bool:
    return not cell or (" " not in cell and any(character.isdigit() for character in cell))


def _print_lists(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    width = max(len(column) for column in columns)
    for row in rows:
        for column, cell in zip(columns, row, strict=True):
            if cell:
                say(f"  {column:{width}}  {cell}")
        say("")


def report_rows(bad: BadRows) -> None:
    """Report skipped rows and other notes on standard error, the first few of each."""
    for message in bad.messages:
        say(f"skipped: {message}", err=True)
    notes = bad.notes or []
    for note in notes[:_MAX_NOTES]:
        say(f"note: {note}", err=True)
    if len(notes) > _MAX_NOTES:
        say(f"note: {len(notes) - _MAX_NOTES:,} more like these", err=True)


def skipped(bad: BadRows) -> str:
    """The number of skipped rows or files, to append to a sentence."""
    number = counted(bad.count, "bad row or file", "bad rows or files")
    return f", {number} skipped" if bad.count else ""


class ProgressBar:
    """Shows the current step and its progress, and the remaining time if the total is known.

    A meter gives the number of bytes read from the sources, because the number of posts is not
    known in advance.
    """

    def __init__(self, progress: Progress, meter: Meter | None) -> None:
        self._progress = progress
        self._meter = meter
        self._tasks: dict[str, TaskID] = {}

    def __call__(self, what: str, number: int) -> None:
        """Show that this many items are done."""
        task = self._task(what)
        is_read = what == READING and self._meter is not None and self._meter.total
        done = self._meter.done if is_read and self._meter else number
        self._progress.update(task, completed=done, number=number)

    def expect(self, what: str, total: int) -> None:
        """Set the total number of items."""
        self._progress.update(self._task(what), total=total)

    def _task(self, what: str) -> TaskID:
        if what not in self._tasks:
            total = self._meter.total or None if self._meter and what == READING else None
            self._tasks[what] = self._progress.add_task(visible(what), total=total, number=0)
        return self._tasks[what]


@contextmanager
def progress_bar(sources: Sequence[Path] = ()) -> Iterator[ProgressBar]:
    """Provide a function that shows the progress of steps; it prints only to a terminal.

    Args:
        sources: The sources that are files or folders.
    """
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    from mathsetu.collections.meter import metered

    class Remaining(TextColumn):
        """The percentage done and the remaining time, if known."""

        def __init__(self) -> None:
            super().__init__("")

        def render(self, task: Task) -> Text:
            from rich.text import Text

            if task.total is None:
                return Text("")
            left = task.time_remaining
            wait = "" if left is None else f", {int(left) // 60}:{int(left) % 60:02d} left"
            return Text(f"{task.percentage:.0f}%{wait}")

    console = Console(stderr=True)
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        TextColumn("{task.fields[number]:,}"),
        Remaining(),
        TimeElapsedColumn(),
    )
    with (
        metered(sources) as meter,
        Progress(
            *columns, console=console, transient=True, disable=not console.is_terminal
        ) as progress,
    ):
        yield ProgressBar(progress, meter)


def track(items: Iterable[Item], description: str, sources: Sequence[Path] = ()) -> Iterator[Item]:
    """Yield the items and show their number on a terminal."""
    with progress_bar(sources) as progress:
        for number, item in enumerate(items, start=1):
            yield item
            progress(READING if sources else description, number)


def print_tree(title: str, tree: FormulaTree, matched: Sequence[FormulaTree] = ()) -> None:
    """Print a formula tree with its edges, and mark the matched nodes."""
    from rich.console import Console
    from rich.text import Text
    from rich.tree import Tree as Drawn

    marked = {id(node) for node in matched}

    def label(edge: str, node: FormulaTree) -> Text:
        text = Text(visible(f"{edge} ") if edge else "", style="dim")
        found = id(node) in marked
        text.append(visible(node.label) or "(empty)", style="bold green" if found else "not dim")
        return text.append(" ✓", style="green") if found else text

    root = Drawn(label("", tree))
    pending = [(tree, root)]
    while pending:
        node, drawn = pending.pop()
        for edge, child in zip(node.edges, node.children, strict=True):
            pending.append((child, drawn.add(label(edge, child))))
    console = Console(highlight=False, emoji=False)
    console.print(Text(visible(f"\n{title}"), style="bold"))
    console.print(root)
