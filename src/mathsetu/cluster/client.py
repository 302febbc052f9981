"""Sends requests to a cluster, with time limits and retries when a node does not respond.

All requests are idempotent: points are replaced by equal points, marks are set again. So a request
whose answer was lost is repeated, at another node if the address lists several.
"""

from __future__ import annotations

import os
import ssl
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from threading import Lock
from typing import Any

from mathsetu.cluster.address import Address, parse_address
from mathsetu.deadline import check_time, time_left
from mathsetu.errors import InputError, Replaced, Unavailable
from mathsetu.models import require
from mathsetu.retrieval.qdrant_address import KEY, key_for

#: The environment variable with the time limit of a read request, in seconds.
SECONDS = "QDRANT_SECONDS"
#: The environment variable with the file of the CA certificate that signed those of the servers.
AUTHORITY = "QDRANT_CA"
_PURPOSE = "a library on a Qdrant cluster"
_READING, _WRITING = 5.0, 120
# The most attempts of a request, and the pause in seconds before the second one; it doubles.
_TRIES, _PAUSE = 5, 0.1
_LONGEST_REASON = 200


class Refused(Unavailable):
    """The cluster rejected a request; a retry would not help."""


class MissingCollection(Refused, Replaced):
    """A collection is missing: another build may have replaced it."""


class Cluster:
    """A client for a cluster; it sends requests to any of the nodes.

    Args:
        address: The address with the nodes.
    """

    def __init__(self, address: Address) -> None:
        self.address = address
        package = require("qdrant_client", _PURPOSE, "qdrant")
        self.models = package.models
        self._errors = require("qdrant_client.http.exceptions", _PURPOSE, "qdrant")
        self._reading = [self._client(url, _seconds()) for url in address.urls]
        self._writing = [self._client(url, _WRITING) for url in address.urls]
        # Processes start with different nodes to distribute the load.
        self._turn = os.getpid() % len(self._reading)
        self._lock = Lock()

    def close(self) -> None:
        """Close the connections."""
        for client in (*self._reading, *self._writing):
            client.close()

    def read(self, what: str, method: str, *arguments: Any, **options: Any) -> Any:
        """Send a read request.

        Args:
            what: What is requested, for error messages.
            method: The name of the client's method.
            arguments: The positional arguments of the method.
            options: The keyword arguments of the method.
        """
        return self._tried(what, self._reading, partial(_call, method, arguments, options))

    def write(self, what: str, method: str, *arguments: Any, **options: Any) -> Any:
        """Send a write request; see `read`."""
        return self._tried(what, self._writing, partial(_call, method, arguments, options))

    def _tried(self, what: str, clients: Sequence[Any], request: Callable[[Any], Any]) -> Any:
        problems: dict[str, None] = {}
        for attempt in range(_TRIES):
            check_time()
            turn = self._turn
            try:
                return request(clients[turn % len(clients)])
            except self._errors.ResponseHandlingException as error:
                problems[f"no answer: {error}"] = None
            except self._errors.UnexpectedResponse as error:
                problems[self._refused(what, error)] = None
            with self._lock:
                # Another thread may have moved on to the next node already.
                if self._turn == turn:
                    self._turn += 1
            # The first retry is immediate if there is another node.
            pause = _PAUSE * 2**attempt if attempt or len(clients) == 1 else 0.0
            if attempt + 1 < _TRIES and pause < time_left():
                time.sleep(pause)
        told = "; ".join(problem[:_LONGEST_REASON] for problem in problems)
        raise Unavailable(f"{self.address}: {what} cannot be reached ({told})")

    def _refused(self, what: str, error: Any) -> str:
        """The reason why a node gave no result; raises `Refused` if a retry would not help."""
        reason: str = error.content.decode(errors="replace").strip()[:_LONGEST_REASON]
        if error.status_code in (401, 403):
            raise Refused(
                f"{self.address}: the cluster refuses {what}: {KEY} is missing, wrong, or read-only"
            ) from None
        if error.status_code == 404:
            raise MissingCollection(f"{self.address}: {what} does not exist ({reason})") from None
        if (
            error.status_code is not None
            and 400 <= error.status_code < 500
            and (error.status_code not in (408, 429))
        ):
            raise Refused(f"{self.address}: the cluster refuses {what} ({reason})") from None
        return reason

    @staticmethod
    def _client(url: str, seconds: float) -> Any:
        package = require("qdrant_client", _PURPOSE, "qdrant")
        authority = os.environ.get(AUTHORITY)
        trusted = {"verify": _trusting(authority)} if authority and url.startswith("https:") else {}
        with warnings.catch_warnings():
            # `key_for` has decided whether the key may be sent unencrypted.
            warnings.filterwarnings("ignore", message="Api key is used with an insecure")
            return package.QdrantClient(
                url=url,
                api_key=key_for(url),
                timeout=seconds,
                check_compatibility=False,
                **trusted,
            )


def _trusting(authority: str) -> ssl.SSLContext:
    """The TLS settings that trust only the certificates of one authority."""
    try:
        return ssl.create_default_context(cafile=authority)
    except OSError as error:
        # An invalid certificate raises a subclass of OSError, too.
        raise InputError(
            f"{AUTHORITY}: {authority[:_LONGEST_REASON]!a} cannot be used "
            f"({error.strerror or error}); name a file with a certificate in PEM format"
        ) from None


def _call(method: str, arguments: Sequence[Any], options: Mapping[str, Any], client: Any) -> Any:
    return getattr(client, method)(*arguments, **options)


@contextmanager
def connected(address: str) -> Iterator[Cluster]:
    """Connect to the cluster of an address, and close the connections afterwards."""
    cluster = Cluster(parse_address(address))
    try:
        yield cluster
    finally:
        cluster.close()


def _seconds() -> float:
    text = os.environ.get(SECONDS, "")
    try:
        seconds = float(text) if text else _READING
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise InputError(f"{SECONDS} is {text[:20]!r}; it must be a number of seconds above 0")
    return seconds
