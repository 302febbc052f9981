"""Runs the networks of the built-in model with torch, on an accelerator or any other device.

The ONNX file is interpreted node by node, so the network and its quantisation are the same. 8-bit
integers are stored as floats, which represent their products and sums exactly. Only operations on
floats (attention, normalisation) can differ in the last bit from onnxruntime, so vectors agree to
within the quantisation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mathsetu.errors import InputError, MissingExtra
from mathsetu.models import require

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

#: The CPU, with onnxruntime instead of torch.
PROCESSOR = "cpu"
# Torch's device types of accelerators; its plugins can add others.
_DEVICES = ("cuda", "mps", "xpu", "hpu", "mtia", "xla")
# Added to the attention scores of padding, as in onnxruntime.
_MASKED = -10_000.0


def check_device(device: str) -> None:
    """Refuse a device that cannot be used, before any work is done.

    >>> check_device("cpu")
    """
    if device != PROCESSOR:
        TorchRuntime(device)


class TorchRuntime:
    """Opens networks on a device of torch (``cuda``, ``cuda:1``, ``mps``).

    Attributes:
        batch: Tokens per batch: enough for a large accelerator, and at most two gigabytes of its
            memory.
    """

    batch = 131_072

    def __init__(self, device: str) -> None:
        purpose = f"encoding on {device}"
        try:
            self._torch = require("torch", purpose, "neural")
        except MissingExtra:
            # Do not ask users to install torch for a device that it does not support.
            if device.partition(":")[0] not in _DEVICES:
                raise InputError(
                    f"device {device!r} is not known; name one of {', '.join(_DEVICES)} or "
                    f"{PROCESSOR!r}"
                ) from None
            raise
        self._onnx = require("onnx", purpose, "neural")
        self.device = device
        try:
            # Some devices accept tensors, but fail when they are read.
            self._torch.zeros(1, device=device).tolist()
        except (RuntimeError, AssertionError, NotImplementedError) as error:
            raise InputError(
                f"device {device!r} cannot be used ({_first_line(error)}); name another one, or "
                f"{PROCESSOR!r}"
            ) from None

    def hold(self, table: NDArray[np.uint8]) -> Any:
        """Copy the table of token vectors to the device."""
        return self._torch.from_numpy(table.copy()).to(self.device)  # torch wants to write to it

    def open(self, contents: bytes, where: str) -> Callable[[NDArray[np.int64], Any], Vectors]:
        """Open an ONNX file; return a function from token ids and the held table to vectors."""
        try:
            graph = self._onnx.load_from_string(contents).graph
            constants = {one.name: self._constant(one) for one in graph.initializer}
            steps = _steps(self._onnx, graph, _operators(self._torch))
        except Exception as error:  # the reader can fail in any way on a wrong file
            raise InputError(
                f"{where}: cannot be run on {self.device} ({_first_line(error)}); encode on "
                f"{PROCESSOR!r}"
            ) from None
        return _TorchNetwork(self._torch, self.device, constants, steps, graph.output[0].name)

    def _constant(self, tensor: Any) -> Any:
        """Convert int64 values (sizes and indices) to a list, others to a tensor of floats."""
        # Tensors stored in external files are refused.
        if tensor.data_location == self._onnx.TensorProto.EXTERNAL:
            raise ValueError("its numbers are in another file")
        values = self._onnx.numpy_helper.to_array(tensor)
        if values.dtype == np.int64:
            return values.tolist()
        return self._torch.from_numpy(values.astype(np.float32)).to(self.device)


@dataclass(frozen=True)
class _Step:
    """One node: its operator, its inputs and outputs, and the values that are unused after it."""

    work: Callable[..., Any]
    options: dict[str, Any]
    inputs: list[str]
    outputs: list[str]
    spent: list[str]


class _TorchNetwork:
    """A network on a device of torch."""

    def __init__(
        self, torch: Any, device: str, constants: dict[str, Any], steps: list[_Step], output: str
    ) -> None:
        self._torch, self._device = torch, device
        self._constants, self._steps, self._output = constants, steps, output

    def __call__(self, tokens: NDArray[np.int64], table: Any) -> Vectors:
        """Return the vectors of rows of tokens."""
        torch = self._torch
        try:
            with torch.inference_mode():
                numbers = torch.from_numpy(tokens).to(self._device)
                values = {**self._constants, "": None, "tokens": numbers}
                values["bytes"] = table[numbers].float()
                for step in self._steps:
                    given = [values[name] for name in step.inputs]
                    made = step.work(*given, **step.options)
                    several = made if len(step.outputs) > 1 else [made]
                    values |= zip(step.outputs, several, strict=True)
                    # Free unused values, or the states of all layers would stay in memory.
                    for name in step.spent:
                        del values[name]
                vectors: Vectors = values[self._output].cpu().numpy()
        except (RuntimeError, TypeError, KeyError, IndexError, ValueError) as error:
            raise InputError(
                f"encoding on {self._device} failed ({_first_line(error)}); encode on {PROCESSOR!r}"
            ) from None
        return vectors


def _steps(onnx: Any, graph: Any, operators: dict[str, Callable[..., Any]]) -> list[_Step]:
    last_use = {name: number for number, node in enumerate(graph.node) for name in node.input}
    made = {name for node in graph.node for name in node.output} | {"tokens", "bytes"}
    steps = []
    for number, node in enumerate(graph.node):
        if node.op_type not in operators:
            raise ValueError(f"its operator {node.op_type} is not known")
        options = {one.name: onnx.helper.get_attribute_value(one) for one in node.attribute}
        spent = [name for name in {*node.input} & made if last_use[name] == number]
        inputs, outputs = list(node.input), list(node.output)
        steps.append(_Step(operators[node.op_type], options, inputs, outputs, spent))
    return steps


def _operators(torch: Any) -> dict[str, Callable[..., Any]]:
    """Return the operators that `mathsetu.training.encoder.export` writes.

    Attributes of a node are keyword arguments. Sizes and indices are lists of integers.
    """
    functional = torch.nn.functional
    types = {1: torch.float32, 6: torch.int32}

    def product(
        left: Any, right: Any, scale: Any, scales: Any, zero: Any, middle: Any, bias: Any
    ) -> Any:
        return torch.addcmul(bias, (left - zero) @ (right - middle), scale * scales)

    def attention(
        query: Any, key: Any, value: Any, bias: None, mask: Any, *, num_heads: int
    ) -> Any:
        rows, length, width = query.shape
        by_head = (rows, length, num_heads, width // num_heads)
        heads = [part.reshape(by_head).transpose(1, 2) for part in (query, key, value)]
        blocked = torch.where(mask > 0, 0.0, _MASKED)[:, None, None, :]
        seen = functional.scaled_dot_product_attention(*heads, attn_mask=blocked)
        return seen.transpose(1, 2).reshape(rows, length, width)

    def normalised(states: Any, gain: Any, shift: Any, *, epsilon: float) -> Any:
        return functional.layer_norm(states, gain.shape, gain, shift, epsilon)

    def cut(states: Any, starts: list[int], ends: list[int], axes: list[int]) -> Any:
        for start, end, axis in zip(starts, ends, axes, strict=True):
            states = states.narrow(axis, start, end - start)
        return states

    def reshaped(states: Any, sizes: list[int]) -> Any:
        # A size of 0 keeps the current size.
        return states.reshape([size or states.shape[axis] for axis, size in enumerate(sizes)])

    return {
        "Add": torch.add,
        "Cast": lambda states, *, to: states.to(types[to]),
        "Div": torch.div,
        "Gather": lambda sizes, places: [sizes[place] for place in places],
        "Gemm": lambda left, right, bias, *, transB: torch.addmm(bias, left, right.T),  # noqa: N803
        "Greater": lambda states, least: states > (least[0] if isinstance(least, list) else least),
        "LayerNormalization": normalised,
        "MatMulIntegerToFloat": product,
        "Max": torch.maximum,
        "Mul": torch.mul,
        "MultiHeadAttention": attention,
        "QuantizeLinear": lambda states, scale, zero: (
            states.div(scale).round_().add_(zero).clamp_(0, 255)
        ),
        "ReduceL2": lambda states, *, axes, keepdims: torch.linalg.vector_norm(
            states, dim=list(axes), keepdim=bool(keepdims)
        ),
        "ReduceSum": lambda states, axes, *, keepdims=1: states.sum(axes, keepdim=bool(keepdims)),
        "Reshape": reshaped,
        "Shape": lambda states: list(states.shape),
        "SkipLayerNormalization": lambda states, skipped, gain, shift, *, epsilon: normalised(
            states + skipped, gain, shift, epsilon=epsilon
        ),
        "Slice": cut,
        "Split": lambda states, sizes, *, axis: states.split(sizes, dim=axis),
        "Unsqueeze": lambda states, axes: states.unsqueeze(axes[0]),
    }


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0][:200] or type(error).__name__
