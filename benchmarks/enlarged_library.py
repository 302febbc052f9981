"""Makes a library of any size from an existing one without indexing text, to measure speed.

    python -m benchmarks.enlarged_library LIBRARY LARGER --posts 2500000 [--processes 16]

The new library has the segments of the old one (recipe ``default``), and modified copies with the
same distributions: documents and formulas are shuffled, one posting of seven is dropped, most rare
terms are replaced, so that the vocabulary grows with the collection, and vectors are perturbed (to
a cosine of about 0.8). So every formula and every post differs from the old one. Use the result to
measure speed and memory only: its texts are those of the old posts, and do not match the index.
"""

from __future__ import annotations

import argparse
import shutil
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mathsetu.library.build import make_marked
from mathsetu.library.manifest import (
    Segment,
    describe,
    read_manifest,
    segment_folder,
    write_manifest,
)
from mathsetu.library.store import STORE, Store, write_store
from mathsetu.pool import all_cores, ordered_map
from mathsetu.recipes.parts import join_statistics
from mathsetu.recipes.schema import parse_table
from mathsetu.retrieval import kernels
from mathsetu.retrieval.formula_index import posts_of_formulas
from mathsetu.retrieval.mapped import seal, unseal
from mathsetu.retrieval.meaning import quantize_int8
from mathsetu.retrieval.text_table import TextTable, write_texts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

# The share of postings that are kept in a copy, and of rare terms that are replaced.
_KEPT, _OTHER_TERMS = 6 / 7, 0.7
# A term with at most this number of documents is rare.
_RARE = 3
# The size of the perturbation of vectors, as a share of their length.
_MOVED = 0.75


def postings_anew(source: Path, target: Path, rng: np.random.Generator) -> Array:
    """Write modified postings of a folder; return the new number of each document."""
    terms, starts, documents, frequencies, lengths = (
        np.load(source / f"{name}.npy")
        for name in ("terms", "starts", "documents", "frequencies", "lengths")
    )
    places = rng.permutation(len(lengths))
    counts = np.diff(starts)
    others = rng.integers(0, 2**64, len(terms), dtype=np.uint64)
    changed = (counts <= _RARE) & (rng.random(len(terms)) < _OTHER_TERMS)
    terms = np.where(changed, others, terms)
    ranks = np.argsort(np.argsort(terms))
    kept = rng.random(len(documents)) < _KEPT
    keys = np.repeat(ranks, counts)[kept] * np.int64(len(lengths)) + places[documents[kept]]
    order = np.argsort(keys)
    owners, found = np.divmod(keys[order], len(lengths))
    vocabulary = np.unique(owners)
    values = {
        "terms": np.sort(terms)[vocabulary],
        "starts": np.append(np.searchsorted(owners, vocabulary), len(owners)).astype(np.int64),
        "documents": found.astype(np.int32),
        "frequencies": frequencies[kept][order],
        "lengths": lengths[np.argsort(places)],
    }
    for name, array in values.items():
        np.save(target / f"{name}.npy", array)
    if (source / "impacts.npy").exists():
        np.save(target / "impacts.npy", np.load(source / "impacts.npy")[kept][order])
        shutil.copy(source / "step.npy", target)
        shutil.copy(source / "languages.json", target)
    return places


def formulas_anew(source: Path, target: Path, rng: np.random.Generator) -> None:
    """Write a modified formula index of a folder."""
    places = postings_anew(source, target, rng)
    came_from = np.argsort(places)
    latex = TextTable(source / "latex")
    # A comment makes each formula distinct from the old one, so that merging keeps both.
    mark = f"%{target.parent.name}"
    write_texts(target / "latex", (latex[number] + mark for number in came_from.tolist()))
    starts = np.load(source / "post_starts.npy")
    occurrences = places[np.load(source / "occurrences.npy")].astype(np.int32)
    posts, ends = posts_of_formulas(occurrences, starts, len(places))
    for name, array in {
        "post_starts": starts,
        "occurrences": occurrences,
        "posts": posts,
        "formula_starts": ends,
        "masses": np.load(source / "masses.npy")[came_from],
    }.items():
        np.save(target / f"{name}.npy", array)


def meaning_anew(source: Path, target: Path, rng: np.random.Generator) -> None:
    """Write perturbed vectors of a folder."""
    stored = np.load(source / "vectors.npy") * np.load(source / "scales.npy")[:, None]
    step = np.float32(_MOVED / np.sqrt(stored.shape[1]))
    moved = stored + step * rng.standard_normal(stored.shape, dtype=np.float32)
    moved /= np.linalg.norm(moved, axis=1, keepdims=True)
    vectors, scales = quantize_int8(moved)
    np.save(target / "vectors.npy", vectors)
    np.save(target / "scales.npy", scales)
    np.save(target / "signs.npy", kernels.sign_bits(vectors))
    for name in ("ends.npy", "texts.npy", "texts.txt"):
        shutil.copy(source / name, target)


def copy_anew(library: Path, copy: tuple[str, str, int]) -> tuple[str, int]:
    """Write a modified copy of a segment; return its name and number of posts."""
    source, name, seed = copy
    rng = np.random.default_rng(seed)
    old, new = segment_folder(library, source), segment_folder(library, name)
    make_marked(new)
    with closing(Store(old / STORE)) as store:
        rows = (replace(row, id=f"{row.id}-{name}") for row in store.rows(range(store.count)))
        count = write_store(new / STORE, rows)
    for part, draw in (
        ("words", postings_anew),
        ("formulas", formulas_anew),
        ("meaning", meaning_anew),
    ):
        (new / part).mkdir()
        draw(old / part, new / part, rng)
    return name, count


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("library", type=Path)
    parser.add_argument("larger", type=Path)
    parser.add_argument("--posts", type=int, required=True)
    parser.add_argument("--processes", type=int, default=all_cores())
    options = parser.parse_args()
    shutil.copytree(options.library, options.larger, copy_function=_link)
    manifest = read_manifest(options.larger)
    old = manifest.segments
    number, total = int(old[-1].name), manifest.posts
    wanted: list[tuple[str, str, int]] = []
    while total < options.posts:
        source = old[len(wanted) % len(old)]
        number += 1
        wanted.append((source.name, f"{number:06d}", number))
        total += source.posts
    work = partial(copy_anew, options.larger)
    made = dict(ordered_map(work, wanted, options.processes))
    counts = {segment.name: segment.posts for segment in old} | made
    folders = [segment_folder(options.larger, name) for name in counts]
    for folder in folders[: len(old)]:
        unseal(folder)
    for part, settings in parse_table(manifest.recipe, "the library").parts.items():
        join_statistics(settings, [folder / part for folder in folders])
    list(ordered_map(seal, folders, options.processes))
    files = ordered_map(describe, folders, options.processes)
    segments = tuple(
        Segment(name, count, listed)
        for (name, count), listed in zip(counts.items(), files, strict=True)
    )
    write_manifest(options.larger, replace(manifest, segments=segments))


def _link(source: str, target: str) -> None:
    # Hard links are safe: the large files are never modified in place, only replaced.
    Path(target).hardlink_to(source)


if __name__ == "__main__":
    main()
