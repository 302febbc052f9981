"""Read and write MathML: Presentation MathML corresponds to the SLT, Content MathML to the OPT."""

from mathsetu.formulas.mathml.read import read_content, read_presentation
from mathsetu.formulas.mathml.write import HIGHLIGHT_STYLE, write_mathml

__all__ = ["HIGHLIGHT_STYLE", "read_content", "read_presentation", "write_mathml"]
