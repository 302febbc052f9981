"""Writes the finished model as a folder of files, in the form that the package includes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mathsetu.training.encoder.export import export, token_table
from mathsetu.training.encoder.folders import found
from mathsetu.training.encoder.packs import Pack
from mathsetu.training.encoder.shape import Shape
from mathsetu.training.encoder.tokenizer import compact

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mathsetu.training.encoder.student import Student

# Examples per work folder for calibration.
_CALIBRATION = 2000


def export_stage(
    student: Student, works: Sequence[Path], folder: Path, reader: Student | None = None
) -> None:
    """Export a student as a model with checksums, in the form that the package includes.

    Args:
        student: The student that reads posts.
        works: Work folders with examples for calibration; the first has the tokenizer.
        folder: The folder for the model.
        reader: A separate network for queries.
    """
    written = {"posts": _exported(student, works)}
    if reader is not None:
        written["queries"] = _exported(reader, works)
    table = token_table({"tokens.weight": student.tokens.weight.detach().float().cpu().numpy()})
    write_model(written, table, works[0] / "tokenizer.json", folder)


def _exported(student: Student, works: Sequence[Path]) -> tuple[Any, Shape]:
    """Return the ONNX model of a student and its sizes."""
    from mathsetu.training.encoder.calibrate import input_ranges  # needs torch

    weights = {name: value.float().cpu().numpy() for name, value in student.state_dict().items()}
    ranges = [input_ranges(student, _calibration(work)) for work in works]
    largest = {name: np.maximum.reduce([one[name] for one in ranges]) for name in ranges[0]}
    return export(student.shape, weights, largest), student.shape


def _calibration(work: Path) -> Pack:
    read = Pack.load(found(work / "other.npz", "make the examples first"))
    chosen = np.random.default_rng(1).permutation(len(read))[:_CALIBRATION]
    return read.take(np.sort(chosen))


def write_model(
    networks: Mapping[str, tuple[Any, Shape]],
    table: NDArray[np.uint8],
    tokenizer: Path,
    folder: Path,
) -> None:
    """Write the files of a model, and ``model.json`` with sizes and checksums, into a folder.

    Args:
        networks: The ONNX models for ``posts`` and, if separate, for ``queries``, with their
            sizes.
        table: The token vectors, quantised to bytes.
        tokenizer: The file of the tokenizer.
        folder: The folder for the files.
    """
    folder.mkdir(parents=True, exist_ok=True)
    contents = {f"{name}.onnx": model.SerializeToString() for name, (model, _) in networks.items()}
    contents["tokens.npy"] = as_file(table)
    contents["tokenizer.json"] = compact(found(tokenizer, "learn a tokenizer first"))
    for name, data in contents.items():
        (folder / name).write_bytes(data)
    if "queries" not in networks:
        (folder / "queries.onnx").unlink(missing_ok=True)
    facts = {name: asdict(shape) for name, (_, shape) in networks.items()}
    digests = {name: sha256(data).hexdigest() for name, data in contents.items()}
    text = json.dumps({"sha256": digests, **facts}, indent=1) + "\n"
    (folder / "model.json").write_text(text, encoding="utf-8")


def as_file(table: NDArray[np.uint8]) -> bytes:
    """Return the contents of the npy file of a table."""
    file = BytesIO()
    np.save(file, table, allow_pickle=False)
    return file.getvalue()
