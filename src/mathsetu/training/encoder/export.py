"""Stage 6, second half: export the student as an ONNX file quantised to int8.

The scales of activations are constants, calibrated on examples (see `calibrate`). So the vector of
a text does not depend on the other texts of its batch, and no time is spent on dynamic scales. Both
factors of a product are unsigned bytes, which every processor multiplies without overflow: the same
text gives the same vector on every machine.

Channels of the states have very different ranges. Each input channel of a product is therefore
divided by a power of its range, and the matrix is multiplied by the same factor. If the preceding
operation is linear or a ReLU, the division is folded into it at no cost.

The token vectors are a separate file, since the reader of queries has the same ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mathsetu.models import require
from mathsetu.training.encoder.shape import Shape

Table = NDArray[np.float32]
Weights = Mapping[str, Table]

_OPSET = 17
# Codes of ONNX data types.
_FLOAT, _INT32 = 1, 6
_MICROSOFT = "com.microsoft"
_ZERO_POINT = 128
_TINY = 1e-6
_EPSILON = 1e-12
#: Exponent of a channel's range in its divisor (1: channels are equalised); 0.75 measured best.
_EQUALISATION = 0.75


def export(shape: Shape, weights: Weights, ranges: Weights, scale: float | None = None) -> Any:
    """Return the ONNX model from ``tokens`` (rows of token ids, 0 is padding) to ``vectors``.

    Its second input, ``bytes``, has the rows of these tokens in `token_table`.

    Args:
        shape: The sizes of the student.
        weights: Its weights by name.
        ranges: For every product the largest absolute value of each input channel.
        scale: The scale of the token table, if it was not made by `token_table`.
    """
    onnx = require("onnx", "exporting the encoder", "neural")
    graph = _Graph(onnx)
    if scale is None:
        _, scale = quantise_table(weights["tokens.weight"])
    _student(graph, shape, _Model(weights, ranges), scale)
    helper, types = onnx.helper, onnx.TensorProto
    made = helper.make_graph(
        graph.nodes,
        "encoder",
        [
            helper.make_tensor_value_info("tokens", types.INT64, ["texts", "length"]),
            helper.make_tensor_value_info("bytes", types.UINT8, ["texts", "length", shape.width]),
        ],
        [helper.make_tensor_value_info("vectors", types.FLOAT, ["texts", shape.dimensions])],
        graph.constants,
    )
    opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid(_MICROSOFT, 1)]
    model = helper.make_model(made, opset_imports=opsets, producer_name="mathsetu")
    # The oldest format version with these operators is supported by the most runtimes.
    model.ir_version = 8
    onnx.checker.check_model(model)
    return model


def token_table(weights: Weights) -> NDArray[np.uint8]:
    """Return the vectors of all tokens, quantised to bytes."""
    table, _ = quantise_table(weights["tokens.weight"])
    return table


class _Graph:
    """Collects the nodes and constants of an ONNX graph under short names."""

    def __init__(self, onnx: Any) -> None:
        self._onnx = onnx
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self._made = 0

    def constant(self, value: NDArray[Any]) -> str:
        """Add a constant and return its name."""
        self._made += 1
        name = f"c{self._made}"
        self.constants.append(self._onnx.numpy_helper.from_array(value, name))
        return name

    def __call__(
        self, kind: str, *inputs: str, name: str = "", outputs: int = 1, **more: Any
    ) -> str:
        """Add a node and return its name; several outputs are called ``name.0``, ``name.1`` …."""
        self._made += 1
        output = name or f"x{self._made}"
        named = [output] if outputs == 1 else [f"{output}.{part}" for part in range(outputs)]
        self.nodes.append(self._onnx.helper.make_node(kind, inputs, named, **more))
        return output

    def integers(self, *values: int) -> str:
        """Add a constant of integers and return its name."""
        return self.constant(np.array(values, dtype=np.int64))

    def byte(self, value: int) -> str:
        """Add a byte as a constant and return its name."""
        return self.constant(np.array(value, dtype=np.uint8))

    def number(self, value: float) -> str:
        """Add a float as a constant and return its name."""
        return self.constant(np.array(value, dtype=np.float32))


class _Model:
    """The weights of a student and the calibrated ranges of their inputs."""

    def __init__(self, weights: Weights, ranges: Weights) -> None:
        self._weights = weights
        self._ranges = ranges

    def __getitem__(self, name: str) -> Table:
        return self._weights[name]

    def sizes(self, name: str) -> Table:
        """Return the divisors of the input channels of a product."""
        ranges = np.maximum(self._ranges[name], _TINY)
        divisors: Table = (ranges / ranges.max()) ** np.float32(_EQUALISATION)
        return divisors

    def largest(self, name: str) -> float:
        """Return the largest input of a product after the division."""
        return float((np.maximum(self._ranges[name], _TINY) / self.sizes(name)).max())


def _student(graph: _Graph, shape: Shape, model: _Model, scale: float) -> None:
    by_group = graph.integers(0, -1, shape.group)
    present = graph("Cast", graph("Greater", "tokens", graph.integers(0)), to=_FLOAT)
    counts = graph("ReduceSum", graph("Reshape", present, by_group), graph.integers(2), keepdims=0)
    mask = graph("Cast", graph("Greater", counts, graph.number(0)), to=_INT32)
    states = _positions(graph, shape, model, scale)
    for number in range(shape.layers):
        states = _layer(graph, shape, model, f"layers.{number}.", states, mask)
    shares = graph("Unsqueeze", counts, graph.integers(2))
    total = graph("ReduceSum", graph("Mul", states, shares), graph.integers(1), keepdims=0)
    tokens = graph("Max", graph("ReduceSum", counts, graph.integers(1)), graph.number(1))
    mean = graph("Div", total, tokens)
    vectors = graph("Gemm", mean, *_linear(graph, model, "head"), transB=1)
    length = graph("ReduceL2", vectors, axes=[1], keepdims=1)
    graph("Div", vectors, graph("Max", length, graph.number(_TINY)), name="vectors")


def _positions(graph: _Graph, shape: Shape, model: _Model, scale: float) -> str:
    """Build the first states: projected groups of token vectors plus position embeddings."""
    joined = graph("Reshape", "bytes", graph.integers(0, -1, shape.group * shape.width))
    positions = _product(
        graph, joined, (scale, _ZERO_POINT), model["grouped.weight"], model["grouped.bias"]
    )
    count = graph("Gather", graph("Shape", positions), graph.integers(1))
    places = graph(
        "Slice", graph.constant(model["places.weight"]), graph.integers(0), count, graph.integers(0)
    )
    gain, shift = _linear(graph, model, "start")
    return graph(
        "LayerNormalization", graph("Add", positions, places), gain, shift, epsilon=_EPSILON
    )


def _layer(graph: _Graph, shape: Shape, model: _Model, prefix: str, states: str, mask: str) -> str:
    joint, out, up, down = (f"{prefix}{name}" for name in ("joint", "out", "up", "down"))
    # Attention does not mix channels, so the values can be divided before it.
    divided = np.concatenate([np.ones(2 * shape.width, np.float32), model.sizes(out)])
    parts = graph(
        "Split",
        _from_states(graph, model, joint, states, divided),
        graph.integers(*[shape.width] * 3),
        outputs=3,
        axis=2,
    )
    seen = graph(
        "MultiHeadAttention",
        *(f"{parts}.{part}" for part in range(3)),
        *("", mask),
        domain=_MICROSOFT,
        num_heads=shape.heads,
    )
    scale = model.largest(out) / 127
    seen = graph("QuantizeLinear", seen, graph.number(scale), graph.byte(_ZERO_POINT))
    states = _added(graph, model, states, out, seen, (scale, _ZERO_POINT), f"{prefix}first")
    inner = _from_states(graph, model, up, states, model.sizes(down))
    # Bytes with zero point 0 clip negative numbers, so this is also the ReLU.
    scale = model.largest(down) / 255
    inner = graph("QuantizeLinear", inner, graph.number(scale), graph.byte(0))
    return _added(graph, model, states, down, inner, (scale, 0), f"{prefix}second")


def _from_states(graph: _Graph, model: _Model, name: str, states: str, divided: Table) -> str:
    """Build a product of the states and divide its output channels by ``divided``."""
    sizes, scale = model.sizes(name), model.largest(name) / 127
    even = graph("Mul", states, graph.constant(1 / sizes))
    whole = graph("QuantizeLinear", even, graph.number(scale), graph.byte(_ZERO_POINT))
    matrix = model[f"{name}.weight"] * sizes / divided[:, None]
    return _product(graph, whole, (scale, _ZERO_POINT), matrix, model[f"{name}.bias"] / divided)


def _added(
    graph: _Graph,
    model: _Model,
    states: str,
    name: str,
    whole: str,
    meaning: tuple[float, int],
    normal: str,
) -> str:
    """Build the layer normalisation of the states plus a product."""
    matrix = model[f"{name}.weight"] * model.sizes(name)
    product = _product(graph, whole, meaning, matrix, model[f"{name}.bias"])
    gain, shift = _linear(graph, model, normal)
    return graph(
        "SkipLayerNormalization",
        *(product, states, gain, shift),
        domain=_MICROSOFT,
        epsilon=_EPSILON,
    )


def _linear(graph: _Graph, model: _Model, name: str) -> tuple[str, str]:
    return graph.constant(model[f"{name}.weight"]), graph.constant(model[f"{name}.bias"])


def _product(
    graph: _Graph, whole: str, meaning: tuple[float, int], matrix: Table, bias: Table
) -> str:
    """Build bytes times a matrix plus a bias; ``meaning`` is the bytes' scale and zero point."""
    scale, zero = meaning
    # The factor is the transpose of torch's matrix.
    table, scales = quantise_rows(matrix)
    factor = (table.astype(np.int16) + _ZERO_POINT).astype(np.uint8).T.copy()
    return graph(
        "MatMulIntegerToFloat",
        *(whole, graph.constant(factor)),
        *(graph.number(scale), graph.constant(scales[:, 0].copy())),
        *(graph.byte(zero), graph.byte(_ZERO_POINT)),
        graph.constant(bias.astype(np.float32)),
        domain=_MICROSOFT,
    )


def quantise_table(table: Table) -> tuple[NDArray[np.uint8], float]:
    """Quantise a table to bytes with zero point 128 and one scale; clip the largest 0.01%.

    >>> quantise_table(np.array([[0.5, -1.0]], dtype=np.float32))[0].tolist()
    [[192, 1]]
    """
    scale = max(float(np.quantile(np.abs(table), 0.9999)), _TINY) / 127
    whole = np.clip(np.round(table / scale), -127, 127) + _ZERO_POINT
    return whole.astype(np.uint8), scale


def quantise_rows(table: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Quantise a matrix to integers from -127 to 127, with one scale per row.

    >>> table, scales = quantise_rows(np.array([[0.5, -1.0]], dtype=np.float32))
    >>> table.tolist()
    [[64, -127]]
    """
    scales = np.maximum(np.abs(table).max(axis=1, keepdims=True), _TINY) / 127
    return np.round(table / scales).astype(np.int8), scales.astype(np.float32)
