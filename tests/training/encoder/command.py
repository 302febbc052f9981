"""``mathsetu train encoder`` in this process, with sizes that take seconds."""

from pathlib import Path

import pytest

from mathsetu.cli import main

#: Few examples.
FEW = ["--vocabulary", "400", "--scale", "0.0003", "--processes", "2"]
#: A small student with a short training.
SMALL = ["--width", "32", "--layers", "2", "--group", "2", "--steps", "12", "--batch", "16"]


def call(*arguments: str | Path) -> int:
    """Run the command and return its exit code."""
    with pytest.raises(SystemExit) as ended:
        main(["train", "encoder", *map(str, arguments)])
    assert isinstance(ended.value.code, int)
    return ended.value.code
