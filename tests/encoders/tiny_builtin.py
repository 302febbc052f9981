"""A small model in the format of the built-in one, made in a second and without torch."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mathsetu.training.encoder.model_files import write_model
from mathsetu.training.encoder.shape import Shape
from mathsetu.training.encoder.tokenizer import train_tokenizer

TEXTS = [
    "The sum of two even numbers is even.",
    "Every bounded sequence has a convergent subsequence.",
    "A continuous function on a compact set is bounded. It attains its maximum.",
    "The integral of an odd function over a symmetric interval is zero.",
    "दो सम संख्याओं का योग सम है।",
    "La suma de dos números pares es par.",
]
SIZES = {"width": 64, "heads": 2, "hidden": 128, "positions": 32, "dimensions": 64}


def make_builtin(folder: Path, layers: int = 2, dimensions: int = 64, reader: bool = False) -> Path:
    """Write a model into a folder; the same one every time.

    Its layers change vectors little, so that texts with common tokens are similar. A reader of
    queries has one more layer and groups of half as many tokens.
    """
    from mathsetu.training.encoder.export import export, token_table

    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = train_tokenizer(TEXTS * 3, 400)
    tokenizer.save(str(folder / "learned.json"))
    sizes = SIZES | {"layers": layers, "dimensions": dimensions}
    shape = Shape(tokenizer.get_vocab_size(), **sizes)
    shapes = {"posts": shape}
    if reader:
        shapes["queries"] = replace(
            shape, layers=layers + 1, group=shape.group // 2, positions=2 * shape.positions
        )
    networks = {
        name: (export(one, make_weights(one), make_ranges(one)), one)
        for name, one in shapes.items()
    }
    table = token_table(make_weights(shape))
    write_model(networks, table, folder / "learned.json", folder)
    return folder


def make_ranges(shape: Shape) -> Mapping[str, NDArray[np.float32]]:
    """The ranges of inputs of the layers: about those of normalised states."""
    inputs = {"joint": shape.width, "out": shape.width, "up": shape.width, "down": shape.hidden}
    return {
        f"layers.{layer}.{name}": np.full(size, 4, dtype=np.float32)
        for layer in range(shape.layers)
        for name, size in inputs.items()
    }


def make_weights(shape: Shape) -> Mapping[str, NDArray[np.float32]]:
    """The weights of a student, with the names that torch gives them."""
    draw = np.random.default_rng(1)
    width = shape.width
    weights: dict[str, NDArray[np.float32]] = {}

    def linear(name: str, inputs: int, outputs: int, spread: float = 0.02) -> None:
        weights[f"{name}.weight"] = normal(spread, outputs, inputs)
        weights[f"{name}.bias"] = normal(0.001, outputs)

    def normal(spread: float, *sizes: int) -> NDArray[np.float32]:
        return draw.normal(0, spread, sizes).astype(np.float32)

    def normalisation(name: str) -> None:
        weights[f"{name}.weight"] = np.ones(width, dtype=np.float32)
        weights[f"{name}.bias"] = np.zeros(width, dtype=np.float32)

    weights["tokens.weight"] = normal(1.0, shape.vocabulary, width)
    weights["tokens.weight"][0] = 0
    weights["places.weight"] = normal(0.01, shape.positions, width)
    linear("grouped", shape.group * width, width)
    weights["grouped.weight"] += np.tile(np.eye(width, dtype=np.float32), shape.group)
    normalisation("start")
    for layer in range(shape.layers):
        linear(f"layers.{layer}.joint", width, 3 * width)
        linear(f"layers.{layer}.out", width, width)
        linear(f"layers.{layer}.up", width, shape.hidden)
        linear(f"layers.{layer}.down", shape.hidden, width)
        normalisation(f"layers.{layer}.first")
        normalisation(f"layers.{layer}.second")
    linear("head", width, shape.dimensions, 0.1)
    return weights
