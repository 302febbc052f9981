"""Analysis of posts and queries before ranking, done once.

A text is split into words and formulas, and its language is detected. All parts of the engine use
these results, so that no two parts interpret a text differently.
"""

from mathsetu.intake.marked_text import MarkedText
from mathsetu.intake.posts import PostFacts, read_post
from mathsetu.intake.question import Question

__all__ = ["MarkedText", "PostFacts", "Question", "read_post"]
