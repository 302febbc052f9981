"""Where a library is, as an argument of a verb: a folder, or an address on a cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from mathsetu.cluster.address import is_address


class LibraryPlace(click.Path):
    """The folder of a library as a path, or its address as a text."""

    name = "library"

    def __init__(self) -> None:
        super().__init__(file_okay=False, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The place that an argument names."""
        return value if is_address(value) else super().convert(value, param, ctx)


#: The type of an argument that names a library.
LIBRARY = LibraryPlace()
