"""Responses to requests that failed: a page for a browser, else JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse, Response

from mathsetu.printable import one_line

#: Makes an error page from a request, a status and a message of one line.
ProblemPage = Callable[[HTTPConnection, int, str], Response]
#: The message for an internal error; details are in the log.
INTERNAL_ERROR = "server error; see the server log"
#: The message if a file of the library is damaged; details are in the log.
DAMAGED = "the library of this server is damaged and must be built again; see the server log"

#: The message if the cluster of the library does not answer; details are in the log.
CLUSTER_UNAVAILABLE = "the cluster of the library does not respond; retry in a few seconds"


class Problems:
    """Answers requests that failed.

    >>> request = HTTPConnection({"type": "http", "headers": []})
    >>> Problems().answer(request, 429, "the server is busy").body
    b'{"error":"the server is busy"}'
    """

    def __init__(self, page: ProblemPage | None = None) -> None:
        """Answer with JSON, or with ``page`` if it is given and the client is a browser."""
        self._page = page

    def answer(
        self,
        request: HTTPConnection,
        status: int,
        line: str,
        headers: Mapping[str, str] | None = None,
    ) -> Response:
        """The response to a request that failed, with ``line`` as the message."""
        clean = one_line(line)
        if self._page is not None and wants_page(request.headers):
            response = self._page(request, status, clean)
        else:
            response = JSONResponse({"error": clean}, status)
        response.headers.update(headers or {})
        return response


def wants_page(headers: Headers) -> bool:
    """Whether the client is a browser that shows a page: only browsers list HTML first.

    >>> wants_page(Headers({"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}))
    True
    >>> wants_page(Headers({"accept": "application/json, text/html;q=0.5"})), wants_page(Headers())
    (False, False)
    """
    first = headers.get("accept", "").partition(",")[0].partition(";")[0]
    return first.strip().lower() in ("text/html", "application/xhtml+xml")
