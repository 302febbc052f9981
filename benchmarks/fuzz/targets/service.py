"""Fuzz target for the API and the pages, called in process; an input is a raw HTTP request."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlencode

import jsonschema_rs

from benchmarks.fuzz.mutate import Mutator, as_bytes, as_text
from benchmarks.fuzz.target import Target, expect, expect_equal
from benchmarks.fuzz.targets.formulas import LATEX_TOKENS
from benchmarks.fuzz.targets.languages import LANGUAGE_TOKENS
from benchmarks.fuzz.targets.sample_libraries import UNKNOWN_TAG, hostile_posts, library, some_posts
from mathsetu.formulas.mathml.document import parse_xml
from mathsetu.service.app import create_app
from mathsetu.service.settings import Settings

# A raw request for every route, separated by lines of dashes.
_REQUESTS = Path(__file__).parent.parent / "seeds" / "http" / "requests.txt"
_METHODS = ("GET", "POST", "HEAD", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "get", "X")
_NAMES = "q k id in tag language lang latex to ui by deva weight explain collection query".split()
_HEADERS = (
    "Content-Type: text/plain",
    "Content-Type: application/json; charset=utf-16",
    "Content-Length: 70000",
    "Content-Length: -1",
    "Accept: text/html",
    "Accept: application/json",
    "Accept-Language: ÿ,*;q=x",
    "Authorization: Basic ÿ",
    "Host: evil.example",
    "Transfer-Encoding: chunked",
    "Cookie: ui=<zqx>",
    "Range: bytes=0-1",
    "If-None-Match: *",
    "Accept-Encoding: gzip;q=0",
    "Expect: 100-continue",
)
# Attributes with URLs that a browser loads, or opens on a click.
_ADDRESSES = frozenset("href src action formaction xlink:href data poster srcset".split())
_HARMFUL = re.compile(r"[\x00-\x20]*(?:javascript|data|vbscript)\s*:", re.IGNORECASE)
_WORD = re.compile(rb"[A-Za-z-]+")
# Statuses with which the guard may answer before any route is called.
_GUARD = (400, 408, 413, 414, 429, 431)
_MARKUP_FIELDS = ("mathml", "asked_mathml", "layout_svg", "operators_svg")


class Http(Target):
    """All routes of the service."""

    name = "http"
    tokens = (
        *LATEX_TOKENS[:60],
        *LANGUAGE_TOKENS,
        UNKNOWN_TAG,
        *(
            "\" ' < </script> {{7*7}} $x$ ?a ../ %00 %ud800 & = javascript: hi en words:1 h1 h2 h3"
            " h4 h5/../../etc infinitely-many-primes.en"
        ).split(" "),
    )
    floor = 2.0  # long formulas are matched with several candidates, as far as a bound

    def open(self, place: Path) -> None:
        """Start the application."""
        posts = [*some_posts(64), *hostile_posts()]
        folder = library(place, "service", posts)
        # The library never changes, and checking for changes would take time.
        self._app = create_app(Settings(str(folder), refresh=3e9))
        self._loop = asyncio.new_event_loop()
        self._life = self._app.router.lifespan_context(self._app)
        self._loop.run_until_complete(self._life.__aenter__())
        self._operations = dict(_operations(self._app.openapi()))

    def close(self) -> None:
        """Stop the application."""
        self._loop.run_until_complete(self._life.__aexit__(None, None, None))
        self._loop.close()

    def seeds(self) -> list[bytes]:
        """One request for every route."""
        return _REQUESTS.read_bytes().rstrip(b"\n").split(b"\n----\n")

    def make(self, mutator: Mutator) -> bytes:
        """Mutate the parameters, the body or the headers of a request."""
        chance = mutator.chance
        if chance.random() < 0.1:
            return mutator.data()
        head, _, body = as_text(mutator.base()).partition("\n\n")
        request, *headers = head.split("\n")
        method, _, address = request.partition(" ")
        path, _, query = address.partition("?")
        pairs = parse_qsl(query, keep_blank_values=True, errors="surrogateescape")
        for _ in range(chance.randint(1, 2)):
            pairs = _changed(pairs, mutator)
        if body and chance.random() < 0.9:
            body = _changed_json(body, mutator)
        if chance.random() < 0.08:
            path = mutator.text(path)
        if chance.random() < 0.04:
            method = chance.choice(_METHODS)
        if chance.random() < 0.15:
            headers.append(chance.choice(_HEADERS))
        query = urlencode(pairs, errors="surrogatepass")
        head = "\n".join([f"{method} {path}" + (f"?{query}" if query else ""), *headers])
        return as_bytes(head + ("\n\n" + body if body else ""))

    def kind(self, data: bytes) -> str:
        """The method and the path."""
        return as_text(data).partition("?")[0].partition("\n")[0][:40]

    def check(self, data: bytes) -> None:
        """Check that there is no 5xx, no undocumented answer, and no text of others as markup."""
        scope, body = _scope(data)
        status, headers, answer = self._loop.run_until_complete(self._ask(scope, body))
        expect(100 <= status < 500, "the server has no fault of its own", answer[:300])
        route = (scope["method"], scope["path"])
        kind = headers.get("content-type", "").partition(";")[0]
        expect("content-security-policy" in headers, "every answer is guarded", route)
        if scope["method"] == "HEAD" or not answer:
            return
        if kind == "text/html":
            check_page(answer.decode("utf-8"))
        elif kind == "application/json":
            self._check_json(route, status, answer)
        elif kind == "image/svg+xml":
            parse_xml(answer.decode("utf-8"))
        if status == 200 and len(data) % 8 == 0 and kind == "application/json":
            again = self._loop.run_until_complete(self._ask(scope, body))
            if b'"unfinished":[]' in answer or b"unfinished" not in answer:
                expect_equal(again[2], answer, "the same question has the same answer")

    def _check_json(self, route: tuple[str, str], status: int, answer: bytes) -> None:
        value = json.loads(answer.decode("utf-8"))
        if status >= 400:
            expect(
                isinstance(value, dict) and set(value) == {"error"}, "a problem is one text", value
            )
            expect(len(value["error"].splitlines()) == 1, "a problem is one line", repr(value))
        answers = self._operations.get(route)
        if answers is not None:
            known = str(status) in answers or status in _GUARD
            expect(known, "the status is documented", f"{route} {status}")
            schema = answers.get(str(status))
            if schema is not None:
                problem = next(iter(schema.iter_errors(value)), None)
                expect(problem is None, "the answer is as documented", problem)
        for markup in _markup(value):
            check_page(markup)
            parse_xml(markup)

    async def _ask(self, scope: dict[str, Any], body: bytes) -> tuple[int, dict[str, str], bytes]:
        messages = [{"type": "http.request", "body": body, "more_body": False}]
        sent: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            if messages:
                return messages.pop()
            await asyncio.sleep(3600)  # the client waits for its answer
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            sent.append(message)

        await self._app({**scope, "state": {}}, receive, send)
        head = next(message for message in sent if message["type"] == "http.response.start")
        headers = {
            name.decode("latin-1").lower(): value.decode("latin-1")
            for name, value in head["headers"]
        }
        parts = [m.get("body", b"") for m in sent if m["type"] == "http.response.body"]
        return head["status"], headers, b"".join(parts)


class _Page(HTMLParser):
    """Raises an error for markup that none of our pages may have."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        expect(not tag.startswith("zq"), "no text of others is markup", self.get_starttag_text())
        for name, value in attrs:
            is_followed = name in _ADDRESSES and _HARMFUL.match(value or "")
            good = not name.startswith("on") and not is_followed
            expect(good, "no attribute runs a script", self.get_starttag_text())
        if tag == "script":
            source = dict(attrs).get("src") or ""
            expect(source.startswith("/static/"), "scripts are files of ours", attrs)
        expect(tag not in ("iframe", "object", "embed", "base"), "nothing is embedded", tag)


def check_page(page: str) -> None:
    """Check that a page contains no markup from a post or a request."""
    parser = _Page()
    parser.feed(page)
    parser.close()


def _changed(pairs: list[tuple[str, str]], mutator: Mutator) -> list[tuple[str, str]]:
    chance = mutator.chance
    if not pairs or chance.random() < 0.1:
        return [
            *pairs,
            (chance.choice(_NAMES), mutator.text(mutator.chance.choice(mutator.tokens))),
        ]
    place = chance.randrange(len(pairs))
    name, value = pairs[place]
    match chance.randrange(12):
        case 0:
            return pairs[:place] + pairs[place + 1 :]
        case 1:
            return [*pairs, pairs[place]]
        case 2:
            return [*pairs[:place], (chance.choice(_NAMES), value), *pairs[place + 1 :]]
        case 3:
            pieces = chance.choices(mutator.tokens, k=chance.randint(1, 12))
            return [
                *pairs[:place],
                (name, chance.choice(("", " ")).join(pieces)),
                *pairs[place + 1 :],
            ]
        case _:
            return [*pairs[:place], (name, mutator.text(value)[:2_500]), *pairs[place + 1 :]]


def _changed_json(body: str, mutator: Mutator) -> str:
    try:
        return json.dumps(
            mutator.value(json.loads(body)), ensure_ascii=mutator.chance.random() < 0.5
        )
    except (ValueError, RecursionError):
        return mutator.text(body)


def _scope(data: bytes) -> tuple[dict[str, Any], bytes]:
    """Convert a request as a server does for an application, which refuses malformed ones."""
    head, _, body = data.partition(b"\n\n")
    request, *lines = head.split(b"\n")
    method, _, address = request.partition(b" ")
    found = _WORD.match(method)
    path, _, query = (
        quote(part, safe="%/?:@!$&'()*+,;=-._~[]") for part in address.partition(b"?")
    )
    headers = [(b"host", b"localhost")]
    for line in lines:
        name, _, value = line.partition(b":")
        if _WORD.fullmatch(name):
            headers.append((name.lower(), value.strip(b" \t\r\0")))
    if body and not any(name == b"content-length" for name, _ in headers):
        headers.append((b"content-length", str(len(body)).encode()))
    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": found[0].decode().upper() if found else "GET",
        "scheme": "http",
        "path": unquote(path) if path.startswith("/") else "/" + unquote(path),
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": headers,
        "client": ("127.0.0.1", 50_000),
        "server": ("127.0.0.1", 8_000),
    }
    return scope, body


def _operations(openapi: dict[str, Any]) -> Iterator[tuple[tuple[str, str], dict[str, Any]]]:
    """Yield the response schemas of each documented operation, by status."""
    components = {"components": openapi["components"]}
    for path, methods in openapi["paths"].items():
        for method, operation in methods.items():
            answers = {}
            for status, answer in operation["responses"].items():
                schema = answer.get("content", {}).get("application/json", {}).get("schema")
                answers[status] = (
                    jsonschema_rs.validator_for({**schema, **components}) if schema else None
                )
            yield (method.upper(), path), answers


def _markup(value: Any) -> Iterator[str]:
    """Yield all texts in an answer that a page would insert as markup."""
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, dict):
            held = (item.get(name) for name in _MARKUP_FIELDS)
            yield from (text for text in held if text and isinstance(text, str))
            pending.extend(item.values())
        elif isinstance(item, list):
            pending.extend(item)
