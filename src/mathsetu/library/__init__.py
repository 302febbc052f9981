"""The library: a searchable folder built from posts according to a recipe."""

from mathsetu.library.answer import Answer
from mathsetu.library.library import Library
from mathsetu.library.segmented_posts import Filter
from mathsetu.library.write import add_posts, build_library, optimize_library, remove_posts

__all__ = [
    "Answer",
    "Filter",
    "Library",
    "add_posts",
    "build_library",
    "optimize_library",
    "remove_posts",
]
