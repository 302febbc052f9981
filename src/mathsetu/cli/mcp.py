"""``mathsetu mcp``: tools for language models, over standard input and output."""

from __future__ import annotations

from pathlib import Path

import click

from mathsetu.cli.output import LIBRARY
from mathsetu.cli.serve import opened
from mathsetu.errors import MissingExtra
from mathsetu.service.engine import Engine
from mathsetu.service.limits import Limits


@click.command("mcp")
@click.argument("library", required=False, type=LIBRARY)
@click.option("--seconds", type=click.FloatRange(0.1, 600), default=10.0, show_default=True,
              help="Time limit of one search in seconds; unfinished "
                   "parts are left out.")  # fmt: skip
def command(library: Path | str | None, seconds: float) -> None:
    r"""Offer LIBRARY to language models (MCP on stdio); without LIBRARY, the built-in sampler.

    \b
    Tools: search, search_formulas, fetch_post, explain_match. A client starts it by itself:
      {"mcpServers": {"mathsetu": {"command": "mathsetu", "args": ["mcp", "my-library"]}}}
    """
    try:
        import anyio

        from mathsetu.service.stdio import serve_stdio
        from mathsetu.service.tools import tool_server
    except ModuleNotFoundError as missing:
        raise MissingExtra("mathsetu mcp", "mcp") from missing
    with opened(library) as folder:
        anyio.run(serve_stdio, tool_server(Engine(folder, Limits(seconds=seconds))))
