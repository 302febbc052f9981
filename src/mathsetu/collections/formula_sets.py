"""Reads all formulas of a collection, in any format that lists them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from mathsetu.collections import columns
from mathsetu.collections.formats import detect, open_posts
from mathsetu.collections.rows import BadRows
from mathsetu.errors import InputError
from mathsetu.plain_files import is_plain_file
from mathsetu.records import Formula


def open_formulas(path: str | Path) -> Iterator[Formula]:
    r"""Yield the formulas of a table, of a folder of tables, of JSON Lines, or of posts.

    >>> from tempfile import mkdtemp
    >>> folder = Path(mkdtemp())
    >>> for name, row in (("1", "5\t70\t3\tx^2"), ("2", "6\t70\t4\ty")):
    ...     _ = (folder / f"{name}.tsv").write_text(f"id\tpost_id\tvisual_id\tformula\n{row}\n")
    >>> [(formula.id, formula.visual_id) for formula in open_formulas(folder)]
    [('5', '3'), ('6', '4')]
    """
    if Path(path).is_dir():
        tables = [file for file in sorted(Path(path).iterdir()) if _is_table(file)]
        if tables:
            for table in tables:
                yield from detect(table).read(table, BadRows())
            return
    form = detect(path)
    if form.name == "table" and columns.why_not_posts(path, {}):
        raise InputError(
            f"{path}: is neither a table of formulas (columns id, post_id, visual_id, formula) nor "
            "posts with formulas"
        )
    if form.holds == "formulas":
        yield from form.read(path, BadRows())
    elif form.holds == "posts":
        for post in open_posts(path, BadRows()):
            yield from post.formulas
    else:
        raise InputError(
            f"{path}: holds {form.holds} ({form.description}), neither formulas nor posts"
        )


def _is_table(path: Path) -> bool:
    if not is_plain_file(path):
        return False
    try:
        return detect(path).holds == "formulas"
    except InputError:
        return False
