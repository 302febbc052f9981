"""Formulas: LaTeX and MathML to trees, trees to features, and matches that explain themselves."""

from mathsetu.formulas.parse import Parsed, parse_latex
from mathsetu.formulas.tree import Tree

__all__ = ["Parsed", "Tree", "parse_latex"]
