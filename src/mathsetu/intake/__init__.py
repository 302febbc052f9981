"""What is known of a text before anybody ranks it, worked out once.

Posts and queries pass through here: split into words and formulas, their language found. Every part
of the engine reads these facts, so that no two parts can understand a text differently.
"""

from mathsetu.intake.posts import PostFacts, read_post
from mathsetu.intake.question import Question
from mathsetu.intake.texts import MarkedText

__all__ = ["MarkedText", "PostFacts", "Question", "read_post"]
