"""MathSetu: search for mathematics across languages.

Public names are those listed here; everything else may change between versions.
"""

from mathsetu.errors import InputError, MathSetuError
from mathsetu.records import Formula, Hit, Judgment, Post, Query, Reason, Run

__version__ = "0.1.0"

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
