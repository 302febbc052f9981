"""Formulas: LaTeX and MathML to trees, trees to features, and matches that explain themselves."""
