"""How verbs speak: tables for people, JSON for programs, progress on standard error."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, is_dataclass
from typing import Any, TypeVar

import click

Item = TypeVar("Item")
Function = TypeVar("Function", bound=Callable[..., Any])


def json_option(function: Function) -> Function:
    """Give a command the option ``--json``."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")(
        function
    )


def print_json(value: object) -> None:
    """Print a value, records included, as one JSON document."""
    click.echo(json.dumps(_plain(value), ensure_ascii=False, indent=2))


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
    """Print a table that fits the terminal; text from outside is never read as markup."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(*columns, title=title or None, box=box.SIMPLE_HEAD, title_justify="left")
    for row in rows:
        table.add_row(*(Text(_visible(str(cell))) for cell in row))
    Console(highlight=False, emoji=False).print(table)


def _visible(text: str) -> str:
    """Control characters of untrusted text must not drive the terminal."""
    return "".join(char if char >= " " or char == "\n" else "\ufffd" for char in text)


def track(items: Iterable[Item], description: str) -> Iterator[Item]:
    """Pass items through and show how many went by, when somebody is watching."""
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        yield from items
        return
    with Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        TextColumn("{task.completed:,}"),
        TimeElapsedColumn(),
        console=console,
        transient=True,
    ) as progress:
        task = progress.add_task(description, total=None)
        for item in items:
            yield item
            progress.advance(task)
