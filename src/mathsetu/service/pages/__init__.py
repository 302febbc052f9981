"""The page: server-rendered, works without scripts, and fetches nothing from outside."""

from mathsetu.service.pages.routes import router

__all__ = ["router"]
