"""Analysis of texts before ranking, done once.

Posts and queries pass through here: split into words and formulas, their language found. Every part
of the engine reads these facts, so that no two parts can understand a text differently.
"""

from mathsetu.intake.marked_text import MarkedText
from mathsetu.intake.posts import PostFacts, read_post
from mathsetu.intake.question import Question

__all__ = ["MarkedText", "PostFacts", "Question", "read_post"]
