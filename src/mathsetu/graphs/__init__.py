"""Meaning graphs of posts: sentence graphs, formula trees, and the arrays that a model reads."""

from mathsetu.graphs.build import GraphBuilder, Source, build_graph
from mathsetu.graphs.graph import Graph, Part
from mathsetu.graphs.representations import FormulaTrees
from mathsetu.graphs.store import TensorStore
from mathsetu.graphs.tensors import GraphTensors, tensors
from mathsetu.graphs.virtual import DOCUMENT, FORMULA, SENTENCE, VirtualNodes
from mathsetu.graphs.vocabulary import TypeCounts, Vocabulary

__all__ = [
    "DOCUMENT",
    "FORMULA",
    "SENTENCE",
    "FormulaTrees",
    "Graph",
    "GraphBuilder",
    "GraphTensors",
    "Part",
    "Source",
    "TensorStore",
    "TypeCounts",
    "VirtualNodes",
    "Vocabulary",
    "build_graph",
    "tensors",
]
