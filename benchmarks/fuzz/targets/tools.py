"""Fuzz target for the tools for language models; an input is a call as JSON."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError

from benchmarks.fuzz.mutate import Mutator, as_bytes, as_text
from benchmarks.fuzz.target import Target, WrongAnswer, expect, expect_equal
from benchmarks.fuzz.targets.sample_libraries import hostile_posts, library, some_posts
from benchmarks.fuzz.targets.service import Http
from mathsetu.service.engine import Engine
from mathsetu.service.tools import tool_server

_CALLS = (
    {
        "name": "search",
        "arguments": {"query": "समाकल $\\int_0^\\infty e^{-t^2}dt$", "k": 2, "language": "en"},
    },
    {"name": "search", "arguments": {"query": "prime zqx", "tags": ["<b>"]}},
    {"name": "fetch_post", "arguments": {"id": "infinitely-many-primes.en"}},
    {"name": "fetch_post", "arguments": {"id": "h3"}},
    {"name": "explain_match", "arguments": {"query": "$u^2+v^2=w^2$ prime", "id": "h2"}},
    {"name": "search_formulas", "arguments": {"latex": "?a^2+?b^2=?c^2", "k": 1}},
)


class Tools(Target):
    """The four tools, called in process."""

    name = "mcp"
    tokens = Http.tokens
    floor = 2.0  # long formulas are matched with several candidates, as far as a bound

    def open(self, place: Path) -> None:
        """Open the library."""
        posts = [*some_posts(64), *hostile_posts()]
        self._engine = Engine(library(place, "service", posts))
        self._engine.warm_up()
        self._server = tool_server(self._engine)
        self._loop = asyncio.new_event_loop()

    def close(self) -> None:
        """Close the library."""
        self._engine.close()
        self._loop.close()

    def seeds(self) -> list[bytes]:
        """Valid calls of every tool."""
        return [as_bytes(json.dumps(call, ensure_ascii=False)) for call in _CALLS]

    def make(self, mutator: Mutator) -> bytes:
        """A call with mutated arguments."""
        try:
            value = mutator.value(json.loads(mutator.base()))
        except (ValueError, RecursionError):
            value = _CALLS[0]
        return as_bytes(json.dumps(value))

    def kind(self, data: bytes) -> str:
        """The name of the tool."""
        call = _call(data)
        return call[0] if call else ""

    def check(self, data: bytes) -> None:
        """Check that an answer can be sent and is the same each time, or is a readable refusal."""
        call = _call(data)
        if call is None:
            return
        first, second = self._answer(*call), self._answer(*call)
        if '"unfinished": []' in first:
            expect_equal(second, first, "the same call has the same answer")

    def _answer(self, name: str, arguments: dict[str, object]) -> str:
        try:
            result = self._loop.run_until_complete(self._server.call_tool(name, arguments))
        except UnexpectedToolError as error:
            raise (error.__cause__ or error) from None
        except ToolError as error:
            expect(bool(str(error).strip()), "a refusal says what is wrong")
            return ""
        sent = result.model_dump_json()
        try:
            sent.encode("utf-8")
        except UnicodeEncodeError as error:
            raise WrongAnswer("an answer can be sent", str(error)) from None
        return sent


def _call(data: bytes) -> tuple[str, dict[str, object]] | None:
    """Return the tool and its arguments; None if the input is not a call."""
    try:
        value = json.loads(as_text(data))
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or not isinstance(value.get("name"), str):
        return None
    arguments = value.get("arguments")
    return (value["name"], arguments) if isinstance(arguments, dict) else None
