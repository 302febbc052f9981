"""Runs a server in a thread, for tests, screenshots and measurements of its pages."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread
from time import sleep

import uvicorn

from mathsetu.service.app import create_app
from mathsetu.service.settings import Settings


@contextmanager
def serving(settings: Settings) -> Iterator[str]:
    """Run a server in its own thread; yield its address."""
    server = uvicorn.Server(
        uvicorn.Config(create_app(settings), port=0, log_level="warning", ws="none")
    )
    thread = Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive(), "the server did not start"
        sleep(0.02)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(timeout=10)
