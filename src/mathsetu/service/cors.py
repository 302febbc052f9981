"""CORS: which pages of other sites may read answers, and the refusals of the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.middleware.cors import CORSMiddleware
from starlette.requests import HTTPConnection

from mathsetu.service.problems import Problems

if TYPE_CHECKING:
    from starlette.datastructures import Headers
    from starlette.responses import Response


class CrossOrigin(CORSMiddleware):
    """Starlette's middleware, with refusals in JSON, like all errors, instead of plain text."""

    def preflight_response(self, request_headers: Headers) -> Response:
        """The answer to a preflight request: whether a page may send a request."""
        response = super().preflight_response(request_headers)
        if response.status_code < 400:
            return response
        about_body = ("content-type", "content-length")
        kept = {name: value for name, value in response.headers.items() if name not in about_body}
        # Preflight requests come from scripts, so the answer is never a page.
        request = HTTPConnection({"type": "http", "headers": request_headers.raw})
        line = bytes(response.body).decode()
        return Problems().answer(request, response.status_code, line, kept)
