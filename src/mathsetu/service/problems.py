"""What a client is told when a request fails: a page for a browser, else JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse, Response

from mathsetu.printable import one_line

#: Makes the page about a problem: for a request, with a status, and the line that says what it is.
ProblemPage = Callable[[HTTPConnection, int, str], Response]
#: What a fault of ours is called; details are for the log.
FAULT = "server error; see the server log"
#: What is said when a file of the library is damaged; details are for the log.
DAMAGED = "the library of this server is damaged and must be built again; see the server log"

#: What is said when the cluster that holds the library gives no answer; details are for the log.
AWAY = "the cluster of the library does not respond; retry in a few seconds"


class Problems:
    """Answers requests that failed.

    >>> request = HTTPConnection({"type": "http", "headers": []})
    >>> Problems().answer(request, 429, "the server is busy").body
    b'{"error":"the server is busy"}'
    """

    def __init__(self, page: ProblemPage | None = None) -> None:
        """Answer with JSON, and with a page where there is one and it is wanted."""
        self._page = page

    def answer(
        self,
        request: HTTPConnection,
        status: int,
        line: str,
        headers: Mapping[str, str] | None = None,
    ) -> Response:
        """The response for a request that failed, and ``line`` for the person behind it."""
        clean = one_line(line)
        if self._page is not None and wants_page(request.headers):
            response = self._page(request, status, clean)
        else:
            response = JSONResponse({"error": clean}, status)
        response.headers.update(headers or {})
        return response


def wants_page(headers: Headers) -> bool:
    """Whether a browser asks, to show the answer to a person: only they name HTML first.

    >>> wants_page(Headers({"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}))
    True
    >>> wants_page(Headers({"accept": "application/json, text/html;q=0.5"})), wants_page(Headers())
    (False, False)
    """
    first = headers.get("accept", "").partition(",")[0].partition(";")[0]
    return first.strip().lower() in ("text/html", "application/xhtml+xml")
