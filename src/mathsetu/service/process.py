"""Starts the processes of a server, and defines what each of them runs."""

from __future__ import annotations

import errno
import logging
import os
import shutil
import signal
import socket
import sys
import threading
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from ipaddress import ip_address
from multiprocessing import parent_process
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import uvicorn
from uvicorn.config import STARTUP_FAILURE
from uvicorn.supervisors import Multiprocess

from mathsetu.errors import InputError, MathSetuError, shortage
from mathsetu.parent import end_with_parent
from mathsetu.service.app import create_app
from mathsetu.service.connection import Connection
from mathsetu.service.settings import Settings

if TYPE_CHECKING:
    from fastapi import FastAPI

#: The environment variable with a worker's settings; every user could read arguments.
VARIABLE = "MATHSETU_SETTINGS"
# Seconds that requests in progress get when the server is stopped.
_GRACE = 10
# Seconds between two checks whether a started server accepts connections.
_POLL_SECONDS = 0.05
# Seconds that requests in progress get when the server was killed: a new server may wait for the
# address.
_ORPHAN_GRACE = 1.0
# The option to share an address; other systems do not distribute connections evenly.
_DEALING: int = socket.SO_REUSEPORT if sys.platform == "linux" else 0
# The signal of a closed terminal; Windows has none.
_HANGUP = getattr(signal, "SIGHUP", None)


def app() -> FastAPI:
    """The application of one worker."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    # Removed from the environment, so that programs started by a worker do not get the key.
    settings = Settings.from_json(os.environ.pop(VARIABLE))
    end_with_parent(partial(_stop_orphan, settings.shared), _ORPHAN_GRACE)
    try:
        application = create_app(settings)
        application.state.engine.warm_up()
    except Exception as error:
        problem = str(error) if isinstance(error, MathSetuError) else shortage(error)
        if not problem or parent_process() is None:  # without workers, the command line reports it
            raise
        logging.getLogger("mathsetu.service").error(problem)
        sys.exit(STARTUP_FAILURE)  # with another status, the supervisor would start a new worker
    return application


def _stop_orphan(shared: str) -> None:
    """Stop a worker whose server was killed, so that the address becomes free."""
    shutil.rmtree(shared, ignore_errors=True)
    os.kill(os.getpid(), signal.SIGTERM)


def serve(
    settings: Settings,
    listener: socket.socket,
    workers: int,
    ready: Callable[[], None] = lambda: None,
) -> None:
    """Run a server until it is stopped; requests in progress are finished first.

    Args:
        settings: The settings of the server.
        listener: The listening socket, from `open_listener`.
        workers: How many processes.
        ready: Called once, in a separate thread, when the server accepts connections.
    """
    # A stopped server raises the signal again when it is done; exit as at Ctrl-C, so that temporary
    # folders are removed.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(0))
    config = uvicorn.Config(
        "mathsetu.service.process:app",
        factory=True,
        workers=workers,
        # A fixed parser, instead of the one that is installed: strict, and the same everywhere.
        http=Connection,
        ws="none",
        proxy_headers=bool(settings.proxies),
        forwarded_allow_ips=list(settings.proxies),
        # The guard writes the log, by default without queries.
        access_log=False,
        log_config=None,
        log_level="warning",
        server_header=False,
        date_header=False,
        timeout_graceful_shutdown=_GRACE,
    )
    hangup_ignored = _HANGUP is not None and signal.getsignal(_HANGUP) is signal.SIG_IGN
    with TemporaryDirectory(prefix="mathsetu-") as shared, suppress(KeyboardInterrupt):
        os.environ[VARIABLE] = replace(settings, shared=shared).to_json()
        ended = threading.Event()
        look = partial(_when_open, listener.family, listener.getsockname(), ended, ready)
        threading.Thread(target=look, daemon=True).start()
        try:
            if workers == 1:
                _stop_with_terminal(hangup_ignored)
                uvicorn.Server(config).run(sockets=[listener])
            else:
                supervisor = Multiprocess(config, sockets=[listener])  # sets its own handlers
                _stop_with_terminal(hangup_ignored)
                supervisor.run()
                if any(each.exitcode == STARTUP_FAILURE for each in supervisor.processes):
                    raise InputError("a worker process cannot start; see the line above")
        finally:
            ended.set()
            os.environ.pop(VARIABLE, None)


def _stop(number: int, frame: object) -> None:
    os.kill(os.getpid(), signal.SIGTERM)


def _stop_with_terminal(ignored: bool) -> None:
    """Stop in the usual way when the terminal is closed, unless started with ``nohup``."""
    if _HANGUP is not None:
        signal.signal(_HANGUP, signal.SIG_IGN if ignored else _stop)


def _when_open(
    family: int, address: Any, ended: threading.Event, ready: Callable[[], None]
) -> None:
    """Call ``ready`` when the address accepts connections, unless the server ends before."""
    if ip_address(address[0].partition("%")[0]).is_unspecified:
        address = "::1" if family == socket.AF_INET6 else "127.0.0.1", *address[1:]
    while not ended.wait(_POLL_SECONDS):
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.settimeout(1)
            if probe.connect_ex(address) == 0:
                ready()
                return


class Listener(socket.socket):
    """A listening socket that each worker opens again, on the same address.

    The system then distributes connections evenly. With a shared socket, the first worker to wake
    would take all waiting connections and leave the others idle.
    """

    def __reduce__(self) -> tuple[Any, ...]:
        return _opened_again, (self.family, self.type, self.proto, self.getsockname())


def _opened_again(family: int, kind: int, protocol: int, address: Any) -> Listener:
    listener = Listener(family, kind, protocol)
    # Otherwise recently closed connections would block the address for the next server.
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.setsockopt(socket.SOL_SOCKET, _DEALING, 1)
    listener.bind(address)
    return listener


def open_listener(host: str, port: int) -> socket.socket:
    """Listen on a port, or raise an error of one line.

    If the system does not distribute connections evenly, workers share a plain socket, which
    uvicorn passes to them.
    """
    opening = Listener if _DEALING else socket.socket
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        with opening(family, kind, protocol) as probe:
            # Bind first without sharing: the port of another MathSetu server could be shared.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
        with ExitStack() as opened:
            listener = opened.enter_context(opening(family, kind, protocol))
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if _DEALING:
                listener.setsockopt(socket.SOL_SOCKET, _DEALING, 1)
            listener.bind(address)
            opened.pop_all()
            return listener
    except (OSError, UnicodeError) as error:  # UnicodeError for an invalid host name
        problem = (getattr(error, "strerror", "") or str(error)).lower()
        is_port = getattr(error, "errno", None) in (errno.EADDRINUSE, errno.EACCES)
        remedy = "--port" if is_port else "--host"
        raise InputError(f"cannot listen on {host}:{port} ({problem}); try {remedy}") from error
