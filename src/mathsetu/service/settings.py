"""The settings of a server, as one value that its worker processes share."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any

from mathsetu.service.limits import Limits


@dataclass(frozen=True)
class Settings:
    """The choices of a server.

    Attributes:
        library: The folder that is searched.
        limits: What one request may ask for.
        body: Bytes that a request may send.
        receiving: Seconds within which a request must come, first its head, then its body.
        sending: Seconds that a client may leave an answer unread.
        connections: Connections that a process keeps open; one client may have three quarters.
        running: Requests that a process works on at once.
        waiting: Requests that may wait for their turn; those beyond are sent away with 429.
        per_client: How many of both one client may have; 0 for three quarters.
        proxies: Addresses of proxies that say in ``X-Forwarded-For`` for whom they ask.
        key: What clients must know; empty for a server that is open to all who reach it.
        write_key: What clients must know that change the library; empty for a server that never
            changes it.
        write_body: Bytes that such a request may send.
        origins: Web sites whose pages may ask (CORS): ``https://example.org``.
        hosts: Names under which the server may be addressed; empty for any.
        log_queries: Whether the log tells what was asked.
        translator: The backend that translates, from `mathsetu translate --translators`.
        model: Its model, where it has one.
        files_at: Where the files of posts can be read: ``https://example.org/notes``.
        refresh: Seconds between two looks whether the library was rebuilt.
        shared: A folder in which the workers of a server tell each other their counts.
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
