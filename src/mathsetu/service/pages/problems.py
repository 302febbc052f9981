"""The error page for browsers: what happened, and what can be done."""

from __future__ import annotations

from dataclasses import replace
from http import HTTPStatus
from typing import TYPE_CHECKING

from starlette.responses import HTMLResponse

from mathsetu.service.pages.interface_language import Interface, interface, wanted_language
from mathsetu.service.pages.rendering import page
from mathsetu.service.pages.views import has_typing
from mathsetu.service.pages.visit import Visit

if TYPE_CHECKING:
    from starlette.requests import HTTPConnection

    from mathsetu.service.limits import Limits
    from mathsetu.service.problems import ProblemPage

# The key of each status in the texts of the page.
_NAMES = {401: "key", 404: "missing", 413: "large", 429: "busy", 503: "busy"}
# Problems for which a retry may help.
_LATER = ("busy", "broken", "key")
# Paths that may be written into a link; any other path comes from the client.
_OWN = ("/", "/search", "/post", "/docs")


def problem_page(limits: Limits) -> ProblemPage:
    """A function that makes error pages."""

    def make(request: HTTPConnection, status: int, line: str) -> HTMLResponse:
        visit, ui = visited(request, limits)
        if visit.path not in _OWN:
            visit = replace(visit, path="/")
        return about(status, line, visit, ui, limits)

    return make


def visited(request: HTTPConnection, limits: Limits) -> tuple[Visit, Interface]:
    """The visit that the address of a request describes, and the language of its page."""
    visit = Visit.read(request.scope["path"], request.query_params, limits)
    accepted = request.headers.get("accept-language", "")
    return visit, interface(wanted_language(visit.ui, accepted))


def about(status: int, line: str, visit: Visit, ui: Interface, limits: Limits) -> HTMLResponse:
    """The page about one problem, without data of the library, which may require a key."""
    name = _NAMES.get(status, "broken" if status >= 500 else "wrong")
    says_more = line != _phrase(status) and name not in _LATER
    return page(
        "problem.html",
        visit,
        ui,
        status,
        name=name,
        problem=line if says_more else "",
        is_for_later=name in _LATER,
        home=False,
        summary=None,
        longest=limits.query,
        preview=None,
        has_typing=has_typing(visit, ui),
    )


def _phrase(status: int) -> str:
    """The standard phrase of an HTTP status, which does not help a user."""
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""
