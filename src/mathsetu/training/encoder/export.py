"""Stage 6: the student as an ONNX file in whole numbers of eight bits.

Every row of activations gets a scale of its own, so that the vector of a text does not depend on
the texts beside it, and both factors of a product are unsigned, which every processor multiplies
without overflow: the same text gives the same vector on every machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from mathsetu.models import require

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mathsetu.training.encoder.shape import Shape

    Weights = Mapping[str, NDArray[np.float32]]

_OPSET = 17
# Types of numbers, as ONNX counts them.
_FLOAT, _UINT8, _INT32 = 1, 2, 6
_MICROSOFT = "com.microsoft"
_MIDDLE = 128
_TINY = 1e-6
_EPSILON = 1e-12


def export(shape: Shape, weights: Weights) -> Any:
    """The ONNX model: ``tokens`` (rows of token numbers, zero fills up) to ``vectors``."""
    onnx = require("onnx", "exporting the encoder", "neural")
    graph = _Graph(onnx)
    _student(graph, shape, weights)
    helper, types = onnx.helper, onnx.TensorProto
    made = helper.make_graph(
        graph.nodes,
        "encoder",
        [helper.make_tensor_value_info("tokens", types.INT64, ["texts", "length"])],
        [helper.make_tensor_value_info("vectors", types.FLOAT, ["texts", shape.dimensions])],
        graph.constants,
    )
    opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid(_MICROSOFT, 1)]
    model = helper.make_model(made, opset_imports=opsets, producer_name="mathsetu")
    # The oldest version of the format that knows these operators is read by the most runtimes.
    model.ir_version = 8
    onnx.checker.check_model(model)
    return model


class _Graph:
    """Collects nodes and constants under short names."""

    def __init__(self, onnx: Any) -> None:
        self._onnx = onnx
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self._made = 0

    def constant(self, value: NDArray[Any]) -> str:
        """A constant of the graph."""
        self._made += 1
        name = f"c{self._made}"
        self.constants.append(self._onnx.numpy_helper.from_array(value, name))
        return name

    def __call__(self, kind: str, *inputs: str, name: str = "", **more: Any) -> str:
        """A node with one output, whose name it returns."""
        self._made += 1
        output = name or f"x{self._made}"
        self.nodes.append(self._onnx.helper.make_node(kind, inputs, [output], **more))
        return output

    def whole(self, *values: int) -> str:
        """Whole numbers as a constant."""
        return self.constant(np.array(values, dtype=np.int64))

    def number(self, value: float) -> str:
        """A number as a constant."""
        return self.constant(np.array(value, dtype=np.float32))


def _student(graph: _Graph, shape: Shape, weights: Weights) -> None:
    by_group = graph.whole(0, -1, shape.group)
    present = graph("Cast", graph("Greater", "tokens", graph.whole(0)), to=_FLOAT)
    counts = graph("ReduceSum", graph("Reshape", present, by_group), graph.whole(2), keepdims=0)
    mask = graph("Cast", graph("Greater", counts, graph.number(0)), to=_INT32)
    states = _positions(graph, shape, weights)
    for number in range(shape.layers):
        states = _layer(graph, shape, weights, f"layers.{number}.", states, mask)
    shares = graph("Unsqueeze", counts, graph.whole(2))
    total = graph("ReduceSum", graph("Mul", states, shares), graph.whole(1), keepdims=0)
    tokens = graph("Max", graph("ReduceSum", counts, graph.whole(1)), graph.number(1))
    mean = graph("Div", total, tokens)
    vectors = graph("Gemm", mean, *_linear(graph, weights, "head"), transB=1)
    length = graph("ReduceL2", vectors, axes=[1], keepdims=1)
    graph("Div", vectors, graph("Max", length, graph.number(_TINY)), name="vectors")


def _positions(graph: _Graph, shape: Shape, weights: Weights) -> str:
    """Token vectors, a group at a time, with the place of the group."""
    table, scales = whole_rows(weights["tokens.weight"])
    looked_up = graph("Cast", graph("Gather", graph.constant(table), "tokens"), to=_FLOAT)
    scaled = graph("Mul", looked_up, graph("Gather", graph.constant(scales), "tokens"))
    joined = graph("Reshape", scaled, graph.whole(0, -1, shape.group * shape.width))
    positions = _product(graph, weights, "grouped", joined)
    positions = graph("Add", positions, graph.constant(weights["grouped.bias"]))
    count = graph("Gather", graph("Shape", positions), graph.whole(1))
    places = graph(
        "Slice", graph.constant(weights["places.weight"]), graph.whole(0), count, graph.whole(0)
    )
    scale, shift = _linear(graph, weights, "start")
    return graph(
        "LayerNormalization", graph("Add", positions, places), scale, shift, epsilon=_EPSILON
    )


def _layer(
    graph: _Graph, shape: Shape, weights: Weights, prefix: str, states: str, mask: str
) -> str:
    joint = _product(graph, weights, f"{prefix}joint", states)
    parts = [
        graph("Slice", joint, graph.whole(start), graph.whole(start + shape.width), graph.whole(2))
        for start in range(0, 3 * shape.width, shape.width)
    ]
    bias = graph.constant(weights[f"{prefix}joint.bias"])
    seen = graph("MultiHeadAttention", *parts, bias, mask, domain=_MICROSOFT, num_heads=shape.heads)
    states = _added(graph, weights, states, f"{prefix}out", seen, f"{prefix}first")
    inner = _product(graph, weights, f"{prefix}up", states)
    inner = graph("BiasGelu", inner, graph.constant(weights[f"{prefix}up.bias"]), domain=_MICROSOFT)
    return _added(graph, weights, states, f"{prefix}down", inner, f"{prefix}second")


def _added(graph: _Graph, weights: Weights, states: str, name: str, inner: str, normal: str) -> str:
    """States plus a product, normalised."""
    product = _product(graph, weights, name, inner)
    scale, shift = _linear(graph, weights, normal)
    bias = graph.constant(weights[f"{name}.bias"])
    return graph(
        "SkipLayerNormalization",
        *(product, states, scale, shift, bias),
        domain=_MICROSOFT,
        epsilon=_EPSILON,
    )


def _linear(graph: _Graph, weights: Weights, name: str) -> tuple[str, str]:
    return graph.constant(weights[f"{name}.weight"]), graph.constant(weights[f"{name}.bias"])


def _product(graph: _Graph, weights: Weights, name: str, states: str) -> str:
    """Rows times a matrix in whole numbers, scaled back; the bias is left to what comes next."""
    # A column of the factor is a row of what torch keeps.
    table, scales = whole_rows(weights[f"{name}.weight"])
    factor = graph.constant((table.astype(np.int16) + _MIDDLE).astype(np.uint8).T.copy())
    middle = graph.constant(np.array(_MIDDLE, dtype=np.uint8))
    largest = graph("ReduceMax", graph("Abs", states), axes=[-1])
    scale = graph("Mul", graph("Max", largest, graph.number(_TINY)), graph.number(1 / 127))
    rounded = graph("Round", graph("Div", states, scale))
    whole = graph("Cast", graph("Add", rounded, graph.number(_MIDDLE)), to=_UINT8)
    product = graph("Cast", graph("MatMulInteger", whole, factor, middle, middle), to=_FLOAT)
    return graph("Mul", graph("Mul", product, scale), graph.constant(scales[:, 0].copy()))


def whole_rows(table: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """A matrix in whole numbers from -127 to 127, and the scale of each row.

    >>> table, scales = whole_rows(np.array([[0.5, -1.0]], dtype=np.float32))
    >>> table.tolist()
    [[64, -127]]
    """
    scales = np.maximum(np.abs(table).max(axis=1, keepdims=True), _TINY) / 127
    return np.round(table / scales).astype(np.int8), scales.astype(np.float32)
