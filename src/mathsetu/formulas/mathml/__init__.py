"""MathML in and out: Presentation MathML is the SLT's form, Content MathML the OPT's."""

from mathsetu.formulas.mathml.read import read_content, read_presentation
from mathsetu.formulas.mathml.write import HIGHLIGHT_STYLE, write_mathml

__all__ = ["HIGHLIGHT_STYLE", "read_content", "read_presentation", "write_mathml"]
