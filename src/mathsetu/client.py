"""A client of the API, which returns the answers of a server as plain values.

It needs no other package. `AsyncClient` has the same methods as coroutines; each waits in a
thread.

>>> Client("http://127.0.0.1:8080")
Client('http://127.0.0.1:8080')
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import lru_cache
from typing import Any, TypeVar, get_args, get_origin, get_type_hints
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from mathsetu.answers.values import (
    ExplainAnswer,
    FormulaAnswer,
    LibraryAnswer,
    PostAnswer,
    SearchAnswer,
    SimilarAnswer,
)
from mathsetu.collections.jsonl import to_json
from mathsetu.errors import InputError, MathSetuError, Unavailable
from mathsetu.library.segmented_posts import Filter
from mathsetu.limits import fits_header
from mathsetu.printable import one_line
from mathsetu.records import Post, check_ids, checked_posts, shown

__all__ = ["AsyncClient", "Client", "ServerError", "Unavailable"]

Result = TypeVar("Result")
# Bytes read of an answer, at most; real answers have a few megabytes.
_MAX_BYTES = 1 << 26
_BUSY = (429, 503)


class ServerError(MathSetuError):
    """A server refused a request; the message is the error line of the server.

    Attributes:
        status: The HTTP status.
    """

    def __init__(self, status: int, line: str) -> None:
        super().__init__(one_line(line))
        self.status = status


class _NoRedirect(HTTPRedirectHandler):
    """Follows no redirects: they would forward the key, and the API sends none."""

    def redirect_request(self, *_: Any) -> None:
        """Return None, so that the opener raises the redirect as an error."""


class Client:
    """A client of one server.

    Args:
        address: The address of the server: ``https://search.example.org``.
        key: The API key, if the server requires one; surrounding white space is ignored.
        write_key: The key for writing, which is needed to add and remove posts.
        seconds: Time limit of each request.
    """

    def __init__(
        self, address: str, key: str = "", *, write_key: str = "", seconds: float = 30.0
    ) -> None:
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InputError(f"{address!r:.80}: give an address such as http://127.0.0.1:8080")
        self._address, self._seconds = address.rstrip("/"), seconds
        self._key, self._write_key = _key("key", key), _key("write_key", write_key)
        self._opener = build_opener(_NoRedirect)

    def __repr__(self) -> str:
        return f"Client({self._address!r})"

    def search(
        self,
        query: str,
        k: int = 10,
        *,
        offset: int = 0,
        language: str = "",
        where: Filter | None = None,
        weights: Mapping[str, float] | None = None,
        explain: bool = True,
        own_language: str | None = None,
        group: bool | None = None,
        min_score: float | None = None,
        facets: bool = False,
        as_words: bool = False,
    ) -> SearchAnswer:
        """The best posts for a query; arguments are as in `Library.answer`."""
        if where is not None and not isinstance(where, Filter):
            raise InputError(f"where is {shown(where)}; give a Filter")
        wanted = where or Filter()
        body = {
            "query": query,
            "k": k,
            "offset": offset,
            "language": language,
            "in": wanted.languages,
            "not_in": wanted.not_languages,
            "tags": wanted.tags,
            "any_tags": wanted.any_tags,
            "not_tags": wanted.not_tags,
            "collection": wanted.collections,
            "not_collections": wanted.not_collections,
            "weights": None if weights is None else dict(weights),
            "explain": explain,
            "own_language": own_language,
            "group": group,
            "min_score": min_score,
            "facets": facets,
            "as_words": as_words,
        }
        return read(SearchAnswer, self._ask("POST", "search", body=json.dumps(body).encode()))

    def formulas(self, latex: str, k: int = 10) -> FormulaAnswer:
        """The formulas most similar to a formula; ``?x`` stands for any sub-expression."""
        return read(FormulaAnswer, self._ask("GET", "formulas", {"latex": latex, "k": k}))

    def explain(self, query: str, post_id: str) -> ExplainAnswer:
        """Why a post is, or would be, a hit of a query."""
        return read(ExplainAnswer, self._ask("GET", "explain", {"q": query, "id": post_id}))

    def similar(self, post_id: str, k: int = 10) -> SimilarAnswer:
        """The posts most similar to a post."""
        return read(SimilarAnswer, self._ask("GET", "similar", {"id": post_id, "k": k}))

    def post(self, post_id: str) -> PostAnswer:
        """One post, by its id."""
        return read(PostAnswer, self._ask("GET", "post", {"id": post_id}))

    def library(self) -> LibraryAnswer:
        """A summary of the library that the server searches."""
        return read(LibraryAnswer, self._ask("GET", "library"))

    def add(self, posts: Iterable[Post], *, form: str = "text") -> int:
        """Add posts, replacing those with the same ids; returns how many were sent.

        Args:
            posts: The posts.
            form: The form of their texts: ``text``, ``markdown``, ``latex`` or ``html``.
        """
        body = "\n".join(json.dumps(to_json(post)) for post in checked_posts(posts)).encode()
        asked = {"form": form} if form != "text" else None
        return int(self._ask("PUT", "posts", asked, body=body, key=self._write_key)["added"])

    def remove(self, ids: Sequence[str]) -> int:
        """Remove posts; returns how many were removed.

        Args:
            ids: Their ids. A file name removes all sections or rows of the file, an archive name
                all files in the archive.
        """
        check_ids(ids)
        found = self._ask("DELETE", "posts", {"id": list(ids)}, key=self._write_key)
        return int(found["removed"])

    def _ask(
        self,
        method: str,
        path: str,
        parameters: Mapping[str, Any] | None = None,
        *,
        body: bytes | None = None,
        key: str = "",
    ) -> Any:
        address = f"{self._address}/v1/{path}"
        if parameters:
            address += "?" + urlencode(parameters, doseq=True)
        headers = {"Accept": "application/json", "Content-Type": "application/json"}
        if key or self._key:
            headers["Authorization"] = f"Bearer {key or self._key}"
        request = Request(address, body, headers, method=method)  # noqa: S310 - checked above
        try:
            with self._opener.open(request, timeout=self._seconds) as response:
                return json.loads(response.read(_MAX_BYTES))
        except HTTPError as error:
            with error:
                line = _line(error.read(_MAX_BYTES)) or f"the server answered with {error.code}"
            if error.code in _BUSY:
                raise Unavailable(one_line(line)) from None
            raise ServerError(error.code, line) from None
        except (URLError, OSError) as error:
            reason = error.reason if isinstance(error, URLError) else error
            raise Unavailable(one_line(f"{self._address}: does not answer ({reason})")) from None
        except ValueError as error:
            raise Unavailable(f"{self._address}: the answer is not JSON") from error


class AsyncClient:
    """The same methods as `Client`, as coroutines for programs that use asyncio."""

    def __init__(
        self, address: str, key: str = "", *, write_key: str = "", seconds: float = 30.0
    ) -> None:
        self._client = Client(address, key, write_key=write_key, seconds=seconds)

    def __repr__(self) -> str:
        return f"Async{self._client!r}"

    async def search(self, query: str, k: int = 10, **options: Any) -> SearchAnswer:
        """The best posts for a query; options are those of `Client.search`."""
        return await asyncio.to_thread(self._client.search, query, k, **options)

    async def formulas(self, latex: str, k: int = 10) -> FormulaAnswer:
        """The formulas most similar to a formula; ``?x`` stands for any sub-expression."""
        return await asyncio.to_thread(self._client.formulas, latex, k)

    async def explain(self, query: str, post_id: str) -> ExplainAnswer:
        """Why a post is, or would be, a hit of a query."""
        return await asyncio.to_thread(self._client.explain, query, post_id)

    async def similar(self, post_id: str, k: int = 10) -> SimilarAnswer:
        """The posts most similar to a post."""
        return await asyncio.to_thread(self._client.similar, post_id, k)

    async def post(self, post_id: str) -> PostAnswer:
        """One post, by its id."""
        return await asyncio.to_thread(self._client.post, post_id)

    async def library(self) -> LibraryAnswer:
        """A summary of the library that the server searches."""
        return await asyncio.to_thread(self._client.library)

    async def add(self, posts: Iterable[Post], *, form: str = "text") -> int:
        """Add posts, replacing those with the same ids; returns how many were sent."""
        return await asyncio.to_thread(self._client.add, posts, form=form)

    async def remove(self, ids: Sequence[str]) -> int:
        """Remove posts; returns how many were removed."""
        return await asyncio.to_thread(self._client.remove, ids)


def _key(name: str, value: str) -> str:
    """A key as it is sent, stripped: a key read from a file ends with a line break."""
    key = value.strip()
    if not fits_header(key):
        raise InputError(f"{name}: cannot be sent in a header; use only visible ASCII characters")
    return key


def read(kind: type[Result], value: Any) -> Result:
    """Parse an answer from JSON; unknown fields of a newer server are ignored.

    >>> from mathsetu.answers.values import MatchedWord
    >>> read(MatchedWord, {"asked": "a", "translation": "", "found": "b", "new": 1})
    MatchedWord(asked='a', translation='', found='b')
    """
    try:
        found: Result = _read(kind, value)
    except (TypeError, KeyError, AttributeError) as error:
        raise Unavailable(f"the answer is not a valid answer of the API ({error})") from error
    return found


def _read(kind: Any, value: Any) -> Any:
    if is_dataclass(kind) and isinstance(kind, type):
        hints = _hints(kind)
        known = {field.name for field in fields(kind)} & value.keys()
        return kind(**{name: _read(hints[name], value[name]) for name in known})
    origin, inside = get_origin(kind), get_args(kind)
    if origin is tuple:
        return tuple(_read(inside[0], item) for item in value)
    if origin is dict:
        return {name: _read(inside[1], item) for name, item in value.items()}
    return value


@lru_cache(maxsize=100)
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def _line(body: bytes) -> str:
    try:
        return str(json.loads(body)["error"])
    except (ValueError, KeyError, TypeError):
        return ""
