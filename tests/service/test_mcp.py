"""The MCP tools, called by the client of the official SDK over standard input."""

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp")

from mcp import Client, StdioServerParameters

pytestmark = pytest.mark.thorough

START = "from mathsetu.cli import main; main()"


QUERY = r"समाकल $\int_0^\infty e^{-t^2}dt$ का मान"
GOOD = [
    ("search", {"query": QUERY, "k": 2, "language": "English"}),
    ("fetch_post", {"id": "gaussian-integral.en"}),
    ("explain_match", {"query": "$u^2+v^2=w^2$", "id": "pythagorean-theorem.en"}),
    ("search_formulas", {"latex": "?a^2+?b^2=?c^2", "k": 1}),
]
WRONG = [
    ("fetch_post", {"id": "../../etc/passwd"}),
    ("search", {"query": "the of"}),
    ("search", {"query": "x", "k": 1_000}),
    ("search", {"query": "x" * 3_000}),
    ("search", {"query": "primes", "k": 1}),
]


@pytest.fixture(scope="module")
def conversation(sampler_folder: Path) -> tuple[list[Any], list[Any]]:
    """The tools that a real client sees, and the results of its valid and invalid calls."""

    async def talk() -> tuple[list[Any], list[Any]]:
        server = StdioServerParameters(
            command=sys.executable,
            args=["-c", START, "mcp", str(sampler_folder)],
            env=dict(os.environ),  # by default the SDK does not pass on PYTHONPATH
        )
        async with Client(server, read_timeout_seconds=60) as client:
            tools = await client.list_tools()
            return tools.tools, [await client.call_tool(*asked) for asked in GOOD + WRONG]

    return asyncio.run(talk())


def test_every_argument_is_explained_in_the_documentation(
    conversation: tuple[list[Any], list[Any]],
) -> None:
    page = (Path(__file__).parents[2] / "docs" / "mcp.md").read_text(encoding="utf-8")
    for tool in conversation[0]:
        for name in tool.input_schema["properties"]:
            assert f"\n| `{name}` | " in page, f"{tool.name}: {name}"


def test_a_client_finds_fetches_and_explains_a_post(
    conversation: tuple[list[Any], list[Any]],
) -> None:
    tools, results = conversation[0], conversation[1][: len(GOOD)]
    assert {tool.name for tool in tools} == {
        "search", "search_formulas", "fetch_post", "explain_match",
    }  # fmt: skip
    assert all(tool.annotations.read_only_hint and tool.description for tool in tools)
    assert all(tool.input_schema["additionalProperties"] is False for tool in tools)
    assert [result.is_error for result in results] == [False] * 4
    found, post, explained, formulas = (result.structured_content for result in results)
    assert found["language"] == "hi"
    assert found["hits"][0]["id"] == "gaussian-integral.en"
    assert "समाकल → integral" in found["hits"][0]["reasons"]["words"]
    assert "<math" not in str(found)
    assert post["language"] == "en"
    assert "$" in post["body"]
    assert set(explained["formulas"][0]["substitution"]) == {"u", "v", "w"}
    assert explained["formulas"][0]["in_one_piece"] is True
    assert formulas["hits"][0]["match"]["substitution"]["?a"] == "x"
    assert formulas["hits"][0]["posts"]


def test_a_mistake_of_the_model_gets_a_clear_error(
    conversation: tuple[list[Any], list[Any]],
) -> None:
    results = conversation[1][len(GOOD) :]
    assert [result.is_error for result in results] == [True, True, True, True, False]
    told = [result.content[0].text for result in results]
    assert "there is no post" in told[0]
    assert "only stop words" in told[1]
    assert "at most 2,000" in told[3]
    assert not any("Traceback" in text for text in told)
