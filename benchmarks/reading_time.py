"""Finds the slowest files to read: for each kind, the pieces that are slowest when repeated.

    python -m benchmarks.reading_time [--pieces 3]

Each file repeats one token of the fuzzer, to a size of 1, 10 or 100 kB. Reading is linear if the
time grows tenfold with the size.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from benchmarks.fuzz.targets.documents import Documents, Tables, Wikis
from mathsetu.collections.formats import find
from mathsetu.collections.rows import BadRows
from mathsetu.errors import MathSetuError

_SIZES = (1_000, 10_000, 100_000)
_WIKI = "<mediawiki><page><title>T</title><ns>0</ns><revision><text>{}</text></revision></page></mediawiki>"  # noqa: E501


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--pieces", type=int, default=3, help="slowest pieces shown for each kind")
    shown: int = parser.parse_args().pieces
    documents = Documents().tokens
    kinds: dict[str, tuple[str, Sequence[str]]] = {
        "LaTeX": ("a.tex", documents),
        "HTML": ("a.html", documents),
        "Markdown": ("a.qmd", documents),
        "text": ("a.txt", documents),
        "wiki": ("a.xml", Wikis().tokens),
        "table": ("a.csv", Tables().tokens),
    }
    print("| kind | piece | 1 kB | 10 kB | 100 kB |\n|---|---|---|---|---|")
    with TemporaryDirectory() as folder:
        for kind, (name, pieces) in kinds.items():
            path = Path(folder) / name
            middle = {piece: seconds(path, piece, _SIZES[1]) for piece in dict.fromkeys(pieces)}
            for piece in sorted(middle, key=lambda one: -middle[one])[:shown]:
                times = (seconds(path, piece, size) for size in _SIZES)
                cells = " | ".join(f"{1000 * time:.0f} ms" for time in times)
                print(f"| {kind} | `{piece!r}` | {cells} |", flush=True)


def seconds(path: Path, piece: str, size: int) -> float:
    """The time to read a file that repeats one piece."""
    text = (piece + " ") * (size // (len(piece) + 1))
    if path.suffix == ".xml":
        text = _WIKI.format(escape(text.replace("\0", "")))
    elif path.suffix == ".csv":
        text = f"Title,Content\n{text}"
    path.write_bytes(text.encode("utf-8", "replace"))
    form = find({".xml": "wikipedia", ".csv": "table"}.get(path.suffix, "document"))
    started = perf_counter()
    try:
        for _ in form.read(path, BadRows(skip=True)):
            pass
    except MathSetuError:
        pass  # a refusal takes time, too
    return perf_counter() - started


if __name__ == "__main__":
    main()
