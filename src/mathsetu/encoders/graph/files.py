"""Saves and loads a graph model: settings, vocabulary and weights, in files without code."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mathsetu.encoders.graph.settings import GraphChoices, GraphModel
from mathsetu.errors import InputError
from mathsetu.graphs.virtual import VirtualNodes
from mathsetu.graphs.vocabulary import Vocabulary
from mathsetu.npy import read_array

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SETTINGS, _VOCABULARY, _WEIGHTS = "model.json", "vocabulary.json", "weights.npz"


@dataclass(frozen=True)
class ModelFiles:
    """The contents of a graph model's folder; weights are by their names in the network."""

    choices: GraphModel
    vocabulary: Vocabulary
    weights: Mapping[str, NDArray[np.float32]]


def save_model(folder: Path, files: ModelFiles) -> None:
    """Write a model into a folder, with weights in half precision."""
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(asdict(files.choices), indent=1)
    (folder / _SETTINGS).write_text(text + "\n", encoding="utf-8")
    files.vocabulary.save(folder / _VOCABULARY)
    small: dict[str, Any] = {
        name: weight.astype(np.float16) for name, weight in files.weights.items()
    }
    np.savez(folder / _WEIGHTS, **small)


def load_model(folder: Path) -> ModelFiles:
    """Read a model that `save_model` wrote.

    >>> load_model(Path("no-such-folder"))
    Traceback (most recent call last):
    mathsetu.errors.InputError: no-such-folder: holds no graph model (model.json is missing)
    """
    for name in (_SETTINGS, _VOCABULARY, _WEIGHTS):
        if not (folder / name).is_file():
            raise InputError(f"{folder}: holds no graph model ({name} is missing)")
    try:
        table = json.loads((folder / _SETTINGS).read_text(encoding="utf-8"))
        graphs = table.pop("graphs")
        virtual = VirtualNodes(**graphs.pop("virtual"))
        choices = GraphModel(**table, graphs=GraphChoices(**graphs, virtual=virtual))
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise InputError(f"{folder / _SETTINGS}: is damaged ({error})") from None
    try:
        with zipfile.ZipFile(folder / _WEIGHTS) as stored:
            weights = {
                name.removesuffix(".npy"): read_array(stored.read(name)).astype(np.float32)
                for name in stored.namelist()
            }
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise InputError(f"{folder / _WEIGHTS}: is damaged ({error})") from None
    files = ModelFiles(choices, Vocabulary.load(folder / _VOCABULARY), weights)
    _check(folder, files)
    return files


def _check(folder: Path, files: ModelFiles) -> None:
    """Refuse weights whose shape differs from the settings and the vocabulary."""
    choices, weights = files.choices, files.weights
    hidden = choices.hidden
    relations = len(files.vocabulary.relation_types)
    wanted: dict[str, tuple[int, ...]] = {
        "embedding": (len(files.vocabulary.node_types), hidden),
        "second.weight": (choices.projection, hidden),
    }
    for number in range(choices.layers):
        wanted[f"layers.{number}.bases"] = (choices.bases, hidden, hidden)
        wanted[f"layers.{number}.mixture"] = (relations, choices.bases)
    if choices.features:
        wanted["features.weight"] = (hidden, choices.features)
    for name, shape in wanted.items():
        found = weights[name].shape if name in weights else None
        if found != shape:
            raise InputError(
                f"{folder / _WEIGHTS}: {name} has the shape {found}, the settings say {shape}"
            )
