"""The page: server-rendered, works without scripts, and loads nothing from other sites."""

from mathsetu.service.pages.problems import problem_page
from mathsetu.service.pages.routes import router

__all__ = ["problem_page", "router"]
