"""The functions of plain.py, compiled; see _compiled.c."""

from mathsetu.retrieval.kernels.plain import best_by_impact as best_by_impact
from mathsetu.retrieval.kernels.plain import best_by_overlap as best_by_overlap
from mathsetu.retrieval.kernels.plain import best_posts as best_posts
from mathsetu.retrieval.kernels.plain import gather as gather
from mathsetu.retrieval.kernels.plain import integer_dots as integer_dots
from mathsetu.retrieval.kernels.plain import nearest_signs as nearest_signs
from mathsetu.retrieval.kernels.plain import overlaps_of as overlaps_of

def has_faster_instructions() -> bool:
    """Whether this machine has the instructions for which the vector loops have a faster form."""
