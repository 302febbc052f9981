"""Shared code of the verbs that write runs: formats, which files are runs, and visual ids."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path

import click

from mathsetu.cli.evaluation import read_records
from mathsetu.cli.output import track
from mathsetu.collections.formats import FORMATS, Writer, find
from mathsetu.collections.formula_sets import open_formulas
from mathsetu.errors import InputError

VISUAL_IDS = click.Path(exists=True, path_type=Path)


def run_writer(name: str) -> Writer:
    """Return the function that writes runs in a format."""
    form = find(name)
    if form.holds != "runs" or form.write is None:
        known = ", ".join(f.name for f in FORMATS.values() if f.holds == "runs" and f.write)
        raise InputError(f"{name} is not a run format (known: {known})")
    return form.write


def holds_runs(path: Path) -> bool:
    """Whether a file holds runs only."""
    with suppress(InputError):
        for _ in read_records(path, "runs"):
            pass
        return True
    return False


def check_visual_ids(tables: Sequence[Path]) -> None:
    """Refuse formulas without any visual id."""
    for table in tables:
        if not any(formula.visual_id for formula in open_formulas(table)):
            raise InputError(f"{table}: no formula in it has a visual id")


def read_visual_ids(tables: Sequence[Path], found: Collection[str]) -> dict[str, str]:
    """The visual ids of the formulas found; those of a whole collection would need much memory."""
    known = {
        formula.id: formula.visual_id
        for table in tables
        for formula in track(open_formulas(table), "formulas")
        if formula.id in found and formula.visual_id
    }
    if found and not known:
        named = ", ".join(map(str, tables))
        raise InputError(f"{named}: has no visual id for any of the formulas that were found")
    return known
