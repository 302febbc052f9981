"""The graph encoder: vectors of formulas, sentences and whole posts from meaning graphs."""

from mathsetu.encoders.graph.encoder import Encoded, GraphEncoder, LabelVectors
from mathsetu.encoders.graph.files import ModelFiles, load_model, save_model
from mathsetu.encoders.graph.settings import GraphChoices, GraphModel

__all__ = [
    "Encoded",
    "GraphChoices",
    "GraphEncoder",
    "GraphModel",
    "LabelVectors",
    "ModelFiles",
    "load_model",
    "save_model",
]
