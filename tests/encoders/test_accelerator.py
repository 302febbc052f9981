"""The built-in model on torch: the same vectors as on the processor, up to quantisation.

In these tests torch runs on the processor (``cpu:0``), with the code for accelerators.
"""

import sys
from pathlib import Path
from shutil import copytree
from typing import Any

import numpy as np
import pytest

from mathsetu.collections import sampler
from mathsetu.encoders import load_encoder
from mathsetu.encoders.accelerator import TorchRuntime, check_device
from mathsetu.encoders.builtin import BuiltinEncoder
from mathsetu.errors import InputError, MissingExtra
from mathsetu.retrieval.meaning import quantize_int8
from tests.encoders.tiny_builtin import TEXTS, make_builtin

TORCH = "cpu:0"


@pytest.fixture(scope="module")
def on_torch() -> BuiltinEncoder:
    """The shipped model."""
    for package in ("torch", "onnx"):
        pytest.importorskip(package)
    return BuiltinEncoder(device=TORCH)


def passages(encoder: BuiltinEncoder) -> list[list[int]]:
    """Passages of all lengths up to the longest, in all languages of the sampler."""
    posts = list(sampler.posts())[::4]
    rows = encoder.tokens([f"{post.title} {post.body}" for post in posts])
    joined = [token for row in rows for token in row]
    long = [joined[start : start + 128] for start in range(0, 128 * 6, 128)]
    return [row[: 3 + 5 * place] for place, row in enumerate(rows[:20])] + long


@pytest.mark.parametrize("careful", [False, True])
def test_vectors_equal_those_of_the_processor_up_to_quantisation(
    on_torch: BuiltinEncoder, careful: bool
) -> None:
    processor = load_encoder("mathsetu")
    assert isinstance(processor, BuiltinEncoder)
    rows = passages(processor)
    assert {len(row) for row in rows} >= {3, 8, 128}
    expected, vectors = (one.encode_tokens(rows, careful) for one in (processor, on_torch))
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)
    assert (expected * vectors).sum(axis=1).min() >= 0.9995
    steps = np.abs(quantize_int8(expected)[0].astype(int) - quantize_int8(vectors)[0])
    assert steps.max() <= 3
    assert (steps <= 1).mean() >= 0.998
    assert np.median(steps.max(axis=1)) <= 1


def test_the_other_texts_of_a_batch_do_not_change_a_vector(on_torch: BuiltinEncoder) -> None:
    rows = passages(on_torch)[:12]
    together = on_torch.encode_tokens([*rows, []])
    assert not together[-1].any()
    for row, vector in zip(rows, together, strict=False):
        [alone] = on_torch.encode_tokens([row])
        assert alone @ vector >= 0.9995


def test_another_model_runs_on_torch(tmp_path: Path) -> None:
    for package in ("torch", "onnx"):
        pytest.importorskip(package)
    folder = make_builtin(tmp_path / "model", layers=3, dimensions=32, reader=True)
    here, there = BuiltinEncoder(folder), BuiltinEncoder(folder, device=TORCH)
    rows = here.tokens([*TEXTS, "", "sum"])
    for careful in (False, True):
        expected, vectors = (one.encode_tokens(rows, careful) for one in (here, there))
        assert vectors == pytest.approx(expected, abs=0.02)


def test_a_changed_model_file_is_refused(tmp_path: Path) -> None:
    for package in ("torch", "onnx"):
        pytest.importorskip(package)
    damaged = copytree(make_builtin(tmp_path / "sound"), tmp_path / "damaged")
    (damaged / "posts.onnx").write_bytes(b"something else")
    with pytest.raises(InputError, match=r"posts\.onnx: is damaged \(its checksum differs\)"):
        BuiltinEncoder(damaged, device=TORCH)


@pytest.mark.parametrize("device", ["nonsense", "cuda:99", "meta", "", "cuda\nx"])
def test_the_error_for_an_unavailable_device_has_one_line(device: str) -> None:
    for package in ("torch", "onnx"):
        pytest.importorskip(package)
    with pytest.raises(InputError, match="cannot be used") as caught:
        check_device(device)
    assert "\n" not in str(caught.value)
    assert "'cpu'" in str(caught.value)


@pytest.mark.parametrize("package", ["torch", "onnx"])
def test_the_error_for_a_missing_package_names_the_extra(
    monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    if package == "onnx":
        pytest.importorskip("torch")
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match=r"encoding on cuda needs .*\[neural\]"):
        check_device("cuda")


def test_an_unknown_device_is_refused_even_if_torch_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(InputError, match=r"'gpu' is not known; name one of cuda, mps, .* or 'cpu'"):
        check_device("gpu")
    for device in ("cuda:1", "mps"):
        with pytest.raises(MissingExtra):
            check_device(device)


def graph_of(onnx: Any, operator: str, constant: Any) -> bytes:
    """A file with one node."""
    helper, types = onnx.helper, onnx.TensorProto
    graph = helper.make_graph(
        [helper.make_node(operator, ["tokens", "c"], ["vectors"])],
        "other",
        [helper.make_tensor_value_info("tokens", types.INT64, ["texts", "length"])],
        [helper.make_tensor_value_info("vectors", types.FLOAT, ["texts", "length"])],
        [constant],
    )
    contents: bytes = helper.make_model(graph).SerializeToString()
    return contents


def test_an_unsupported_network_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    onnx = pytest.importorskip("onnx")
    runtime = TorchRuntime(TORCH)
    sound = onnx.numpy_helper.from_array(np.ones(1, dtype=np.float32), "c")
    for contents in (b"no network", graph_of(onnx, "Pow", sound)):
        with pytest.raises(InputError, match=r"own\.onnx: cannot be run on cpu:0 \("):
            runtime.open(contents, "own.onnx")
    with pytest.raises(InputError, match="encoding on cpu:0 failed"):
        runtime.open(graph_of(onnx, "Gemm", sound), "own.onnx")(
            np.ones((1, 4), dtype=np.int64), runtime.hold(np.ones((2, 8), dtype=np.uint8))
        )


def test_a_network_with_data_in_another_file_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch")
    onnx = pytest.importorskip("onnx")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "secret").write_bytes(np.ones(1, dtype=np.float32).tobytes())
    outside = onnx.TensorProto(name="c", data_type=onnx.TensorProto.FLOAT, dims=[1])
    outside.data_location = onnx.TensorProto.EXTERNAL
    outside.external_data.add(key="location", value="secret")
    with pytest.raises(InputError, match="its numbers are in another file"):
        TorchRuntime(TORCH).open(graph_of(onnx, "Mul", outside), "own.onnx")
