"""Measures sentence retrieval with the built-in encoder: English to each language, and back.

    python -m benchmarks.sentences [--model FOLDER] [--languages de fr]

Prints recall@1 among the thousand lines of each file of ``training/validation`` (NTREX and FLORES),
which are not used for training. The first languages have no such file; for them, 500 lines of each
source are taken from their parallel text, where these lines are marked and not used for training.
Each language is encoded with the network that the engine uses for it.
"""

from __future__ import annotations

import argparse
import lzma
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.encoder import ask
from benchmarks.shared import DATA
from mathsetu.encoders.builtin import BuiltinEncoder
from mathsetu.training.encoder.sources import PARALLEL, VALIDATION

if TYPE_CHECKING:
    from numpy.typing import NDArray


def lines(path: Path) -> tuple[list[str], list[str]]:
    """Read the English and the other lines of a file."""
    with lzma.open(path, "rt", encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file]
    return [row[0] for row in rows], [row[1] for row in rows]


def marked_lines(path: Path, each: int = 500) -> tuple[list[str], list[str]]:
    """Read the first lines of each validation source in a parallel text, English and other."""
    rows: list[list[str]] = []
    left = dict.fromkeys(VALIDATION, each)
    with lzma.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            english, other, source = line.rstrip("\n").split("\t")
            if left.get(source):
                left[source] -= 1
                rows.append([english, other])
    return [row[0] for row in rows], [row[1] for row in rows]


def found_first(scores: NDArray[np.float32]) -> float:
    """The share of rows whose diagonal element is the largest.

    >>> found_first(np.array([[0.9, 0.1], [0.8, 0.2]], dtype=np.float32))
    0.5
    """
    return float((scores.argmax(axis=1) == np.arange(len(scores))).mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", type=Path, help="Another folder than the package's own.")
    parser.add_argument("--languages", nargs="+", default=[])
    parser.add_argument("--data", type=Path, default=DATA)
    arguments = parser.parse_args()
    encoder = BuiltinEncoder(arguments.model)
    training = arguments.data / "training"
    files = sorted((training / "validation").glob("en-*.tsv.xz"))
    files += [training / f"parallel.en-{language}.tsv.xz" for language in PARALLEL]
    print("language, recall@1 from English, back")
    read: dict[tuple[str, ...], NDArray[np.float32]] = {}
    ways: list[tuple[float, float]] = []
    for path in files:
        language = path.name.removesuffix(".tsv.xz").rpartition("en-")[2]
        if arguments.languages and language not in arguments.languages:
            continue
        english, other = (marked_lines if language in PARALLEL else lines)(path)
        # Most files have the same English lines.
        known = tuple(english)
        if known not in read:
            read[known] = ask(encoder, english, "en")
        scores = read[known] @ ask(encoder, other, language).T
        ways.append((found_first(scores), found_first(scores.T)))
        print("  {}  {:.3f}  {:.3f}".format(language, *ways[-1]), flush=True)
    means = np.array(ways).mean(axis=0).tolist()
    print("  mean of {}  {:.3f}  {:.3f}".format(len(ways), *means))


if __name__ == "__main__":
    main()
