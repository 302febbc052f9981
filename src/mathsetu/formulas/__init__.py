"""Formulas: parse LaTeX and MathML into trees, extract index features, match and explain."""

from mathsetu.formulas.parse import Parsed, parse_latex
from mathsetu.formulas.tree import Tree

__all__ = ["Parsed", "Tree", "parse_latex"]
