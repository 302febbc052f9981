"""Times our formula parser against others: ``python benchmarks/formula_speed.py``.

Each formula is parsed into its layout tree and its operator tree, and again with all features.
``pya0`` and ``latex2mathml``, if installed, parse the same formulas in the same run, alternating
with ours, so that the load of the machine affects all; the best round counts. Times are processor
times on one core.
"""

from __future__ import annotations

import argparse
import gzip
import importlib
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.shared import DATA
from mathsetu.formulas import parse_latex
from mathsetu.formulas.features import features

Reader = Callable[[str], object]


def ours(latex: str) -> object:
    parsed = parse_latex(latex)
    return parsed.slt, parsed.opt


def ours_with_features(latex: str) -> object:
    parsed = parse_latex(latex)
    return features(parsed.slt, parsed.opt)


def readers() -> dict[str, Reader]:
    """Our parser, and the others that are installed."""
    found: dict[str, Reader] = {"mathsetu": ours, "and features": ours_with_features}
    for name, module in (("pya0", "pya0"), ("latex2mathml", "latex2mathml.converter")):
        try:
            library = importlib.import_module(module)
        except ImportError:
            print(f"{name} is not installed: pip install {name}")
            continue
        found[name] = strict(library.parse) if name == "pya0" else library.convert
    return found


def strict(parse: Callable[[str], tuple[str, object]]) -> Reader:
    """Wrap pya0's parser, which returns an error status, so that it raises an exception."""

    def read(latex: str) -> object:
        status, tree = parse(latex)
        if status != "OK":
            raise ValueError(status)
        return tree

    return read


def seconds(reader: Reader, formulas: Sequence[str]) -> tuple[float, int]:
    """The time to parse all formulas, and the number of refused ones."""
    refused = 0
    begun = time.process_time()
    for latex in formulas:
        try:
            reader(latex)
        except Exception:  # whatever another parser raises, it has refused the formula
            refused += 1
    return time.process_time() - begun, refused


def read_formulas(data: Path) -> dict[str, list[str]]:
    with gzip.open(data / "latex" / "formulas.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    with gzip.open(data / "latex" / "formulas-normalised.txt.gz", "rt", encoding="utf-8") as lines:
        normalised = [json.loads(line) for line in lines]
    return {
        "as written": [row["latex"] for row in rows if row["source"] != "hard"],
        "hard": [row["latex"] for row in rows if row["source"] == "hard"],
        "normalised": normalised[::20],
    }


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--data", type=Path, default=DATA, help="data folder")
    arguments.add_argument("--rounds", type=int, default=5)
    options = arguments.parse_args()

    parsers = readers()
    for kind, formulas in read_formulas(options.data).items():
        best = dict.fromkeys(parsers, float("inf"))
        refused = dict.fromkeys(parsers, 0)
        for _ in range(options.rounds):
            for name, reader in parsers.items():
                taken, refused[name] = seconds(reader, formulas)
                best[name] = min(best[name], taken)
        print(f"{kind}: {len(formulas)} formulas")
        for name, taken in best.items():
            rate = len(formulas) / taken
            ratio = taken / best["mathsetu"]
            print(f"  {name:14} {rate:8.0f}/s  refused {refused[name]:4}  ours is {ratio:.2f}x")


if __name__ == "__main__":
    main()
