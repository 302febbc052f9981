"""MathSetu: search for mathematics across languages.

Public names are those listed here; everything else may change between versions.
"""

from importlib.metadata import version

from mathsetu.errors import InputError, MathSetuError
from mathsetu.records import Formula, Hit, Judgment, Post, Query, Reason, Run

__version__ = version("mathsetu")

__all__ = [
    "Formula",
    "Hit",
    "InputError",
    "Judgment",
    "MathSetuError",
    "Post",
    "Query",
    "Reason",
    "Run",
    "__version__",
]
