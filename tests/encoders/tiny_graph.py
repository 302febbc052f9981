"""A graph model with random weights, made without torch, and libraries to search with it."""

from pathlib import Path

import numpy as np

from mathsetu.encoders.graph import GraphModel, ModelFiles, save_model
from mathsetu.graphs import Source, TypeCounts
from mathsetu.graphs.build import GraphBuilder
from mathsetu.graphs.vocabulary import Vocabulary
from mathsetu.library import build_library
from mathsetu.recipes import load_recipe
from mathsetu.records import Post

#: Posts with and without formulas, with distinct words and symbols.
POSTS = [
    Post("1", r"The integral $\int_0^1 x^2 dx$ is $\frac13$.", title="An integral", language="en"),
    Post("2", "Every even number is the sum of two odd ones.", language="en"),
    Post("3", r"Roots of $x^2-2$ are irrational, as $\sqrt2$ is.", language="en"),
]


def vocabulary_of(texts) -> Vocabulary:
    counts = TypeCounts()
    for graph in GraphBuilder("terms").build_many([Source(text) for text in texts]):
        counts.add(graph)
    return counts.vocabulary()


def random_weights(choices: GraphModel, vocabulary: Vocabulary, seed=1):
    """Random weights by the names of the parts of the network."""
    random = np.random.default_rng(seed)
    hidden, relations = choices.hidden, len(vocabulary.relation_types)
    shapes = {
        "embedding": (len(vocabulary.node_types), hidden),
        "start": (3, hidden),
        "first.weight": (hidden, hidden),
        "first.bias": (hidden,),
        "second.weight": (choices.projection, hidden),
        "second.bias": (choices.projection,),
    }
    norms = {"first_norm": hidden, "second_norm": choices.projection}
    for layer in range(choices.layers):
        name = f"layers.{layer}"
        norms[f"{name}.norm"] = hidden
        shapes[f"{name}.own.weight"] = (hidden, hidden)
        shapes[f"{name}.own.bias"] = (hidden,)
        shapes[f"{name}.bases"] = (choices.bases, hidden, hidden)
        shapes[f"{name}.mixture"] = (relations, choices.bases)
        shapes[f"{name}.edges"] = (relations, hidden)
    weights = {
        name: (0.3 * random.standard_normal(shape)).astype(np.float32)
        for name, shape in shapes.items()
    }
    for name, size in norms.items():
        weights[f"{name}.weight"] = np.ones(size, dtype=np.float32)
        weights[f"{name}.bias"] = np.zeros(size, dtype=np.float32)
    return weights


def make_graph_model(folder: Path, texts, **choices) -> Path:
    """Write a small model that knows the types of some texts."""
    model = GraphModel(**{"hidden": 16, "layers": 2, "bases": 3, **choices})
    vocabulary = vocabulary_of(texts)
    save_model(folder, ModelFiles(model, vocabulary, random_weights(model, vocabulary)))
    return folder


def make_graph_library(folder: Path, posts=POSTS, strategy="exact") -> Path:
    """Build a library of graphs alone, with a model that knows the types of its posts."""
    model = make_graph_model(folder / "model", [f"{post.title} {post.body}" for post in posts])
    settings = [f"parts.graph.model='{model}'", f"parts.graph.strategy='{strategy}'"]
    build_library(folder / "library", posts, load_recipe("mathamr-plus", settings), processes=1)
    return folder / "library"
