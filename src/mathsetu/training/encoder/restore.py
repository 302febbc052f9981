"""Restores the float networks of a finished model, to train them without their checkpoints.

This undoes `export`: matrices are dequantised, and the channel divisors that were folded into them
are removed, or left where they make no difference (between two linear maps, and around a ReLU).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from mathsetu.errors import InputError
from mathsetu.models import require
from mathsetu.training.encoder.folders import found
from mathsetu.training.encoder.shape import Shape
from mathsetu.training.encoder.student import Student

_REMEDY = "name the folder of a finished model"
_PARTS = ("joint", "out", "up", "down")
_ZERO_POINT = 128


def restore_network(folder: Path, name: str) -> tuple[Student, float]:
    """Return a network of a model as a student, and the scale of its token vectors.

    Args:
        folder: The folder of the model.
        name: ``posts`` or ``queries``.
    """
    facts = json.loads(found(folder / "model.json", _REMEDY).read_text(encoding="utf-8"))
    if name not in facts:
        raise InputError(f"{folder}: has no network for {name}; name a model with a reader")
    student = Student(Shape(**facts[name]))
    weights, scale = _weights(found(folder / f"{name}.onnx", _REMEDY))
    table = np.load(found(folder / "tokens.npy", _REMEDY), allow_pickle=False)
    weights["tokens.weight"] = (table.astype(np.float32) - _ZERO_POINT) * np.float32(scale)
    student.load_state_dict({key: torch.from_numpy(value) for key, value in weights.items()})
    return student.eval(), scale


def _weights(path: Path) -> tuple[dict[str, NDArray[np.float32]], float]:
    onnx = require("onnx", "reading a model back", "neural")
    graph = onnx.load(str(path)).graph
    constants = {one.name: onnx.numpy_helper.to_array(one) for one in graph.initializer}
    made = {name: node for node in graph.node for name in node.output}
    kinds: dict[str, list[Any]] = {}
    for node in graph.node:
        kinds.setdefault(node.op_type, []).append(node)
    products = kinds["MatMulIntegerToFloat"]
    layers = len(products) // len(_PARTS)
    names = ["grouped", *(f"layers.{n}.{part}" for n in range(layers) for part in _PARTS)]
    weights: dict[str, NDArray[Any]] = {}
    for name, node in zip(names, products, strict=True):
        weights[f"{name}.weight"] = _matrix(node, constants, made)
        weights[f"{name}.bias"] = constants[node.input[6]]
    normals = [f"layers.{n}.{part}" for n in range(layers) for part in ("first", "second")]
    for name, node in zip(normals, kinds["SkipLayerNormalization"], strict=True):
        weights[f"{name}.weight"], weights[f"{name}.bias"] = (constants[i] for i in node.input[2:4])
    for name, kind in (("start", "LayerNormalization"), ("head", "Gemm")):
        inputs = kinds[kind][0].input[1:3]
        weights[f"{name}.weight"], weights[f"{name}.bias"] = (constants[i] for i in inputs)
    weights["places.weight"] = constants[kinds["Slice"][0].input[0]]
    floats = {name: np.array(value, dtype=np.float32) for name, value in weights.items()}
    return floats, float(constants[products[0].input[2]])


def _matrix(node: Any, constants: dict[str, Any], made: dict[str, Any]) -> NDArray[np.float32]:
    """Return the float matrix of a product in the layout of torch."""
    factor, scales = constants[node.input[1]], constants[node.input[3]]
    matrix: NDArray[np.float32] = (factor.astype(np.float32) - _ZERO_POINT) * scales
    whole = made.get(node.input[0])
    divided = made.get(whole.input[0]) if whole is not None else None
    if divided is not None and divided.op_type == "Mul" and divided.input[1] in constants:
        matrix = matrix * constants[divided.input[1]][:, None]
    return matrix.T.copy()
