"""The settings of a server, as one value that its worker processes share."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any

from mathsetu.service.limits import Limits


@dataclass(frozen=True)
class Settings:
    """The settings of a server.

    Attributes:
        library: The folder of the library, or its address on a cluster.
        limits: The limits of one request.
        body: Bytes of the body of a request, at most.
        receiving: Seconds within which the head of a request must arrive, and then its body.
        sending: Seconds within which a client must read an answer.
        connections: Connections that a process keeps open; one client may have three quarters.
        running: Requests that a process handles at once.
        waiting: Requests that may wait for their turn; further ones are refused with 429.
        per_client: Running and waiting requests that one client may have; 0 for three quarters.
        proxies: Addresses of proxies that name the client in ``X-Forwarded-For``.
        key: The API key that clients need; empty if none is required.
        write_key: The key that clients need to change the library; empty for a read-only server.
        write_body: Bytes of the body of a request that changes the library, at most.
        origins: Web sites whose pages may send requests (CORS): ``https://example.org``.
        hosts: Accepted names in the Host header; empty for any.
        log_queries: Whether the log contains queries.
        translator: The translation backend, from `mathsetu translate --translators`.
        model: Its model, if it has one.
        files_at: The address of the files of posts on the web: ``https://example.org/notes``.
        refresh: Seconds between two checks whether the library was rebuilt.
        shared: The folder where the workers of a server share their metrics.
    """

    library: str
    limits: Limits = field(default_factory=Limits)
    body: int = 1 << 16
    receiving: float = 10.0
    sending: float = 60.0
    connections: int = 900
    running: int = 2
    waiting: int = 64
    per_client: int = 0
    proxies: tuple[str, ...] = ()
    key: str = ""
    write_key: str = ""
    write_body: int = 1 << 23
    origins: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    log_queries: bool = False
    translator: str = "glossary"
    model: str = ""
    files_at: str = ""
    refresh: float = 2.0
    shared: str = ""

    def to_json(self) -> str:
        """The settings as text, for another process."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Settings:
        """The settings that `to_json` wrote.

        >>> settings = Settings("my-library", limits=Limits(hits=20), origins=("https://a.org",))
        >>> Settings.from_json(settings.to_json()) == settings
        True
        """
        values: dict[str, Any] = json.loads(text)
        values["limits"] = Limits(**values["limits"])
        for name in ("origins", "hosts", "proxies"):
            values[name] = tuple(values[name])
        return cls(**values)
