"""Starts a real Qdrant server on loopback, for tests and benchmarks."""

from __future__ import annotations

import os
import shutil
import socket
import ssl
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path

#: Names the server's program, where it is not on the path.
PROGRAM = "MATHSETU_QDRANT"


def qdrant_program() -> str:
    """The server's program; empty where there is none."""
    return os.environ.get(PROGRAM) or shutil.which("qdrant") or ""


class LocalQdrant:
    """A Qdrant server, whose data remains when it ends.

    Args:
        folder: Where its data is.
        first: The first node of its cluster; None for that node itself.
        settings: Settings of the server, as environment variables.
        certificate: The files of its certificate and its key; with these it uses TLS.
    """

    def __init__(
        self,
        folder: Path,
        first: LocalQdrant | None = None,
        settings: Mapping[str, str] | None = None,
        certificate: tuple[Path, Path] | None = None,
    ) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._port, self._second, self._third = _free_ports(3)
        self.url = f"{'https' if certificate else 'http'}://127.0.0.1:{self._port}"
        self._peers = f"http://127.0.0.1:{self._third}"
        self._first = first
        self._settings = dict(settings or {})
        if certificate:
            self._settings |= {
                "QDRANT__SERVICE__ENABLE_TLS": "true",
                "QDRANT__TLS__CERT": str(certificate[0]),
                "QDRANT__TLS__KEY": str(certificate[1]),
            }
        self._process: subprocess.Popen[bytes] | None = None

    @classmethod
    def cluster(cls, folder: Path, nodes: int) -> list[LocalQdrant]:
        """Start the nodes of a cluster."""
        enabled = {"QDRANT__CLUSTER__ENABLED": "true"}
        first = cls(folder / "0", settings=enabled)
        others = [cls(folder / str(number), first, enabled) for number in range(1, nodes)]
        for node in (first, *others):
            node.start()
        return [first, *others]

    def start(self) -> None:
        """Start it and wait until it answers."""
        settings = {
            "QDRANT__SERVICE__HOST": "127.0.0.1",
            "QDRANT__SERVICE__HTTP_PORT": str(self._port),
            "QDRANT__SERVICE__GRPC_PORT": str(self._second),
            "QDRANT__STORAGE__STORAGE_PATH": str(self._folder / "storage"),
            "QDRANT__STORAGE__SNAPSHOTS_PATH": str(self._folder / "snapshots"),
            "QDRANT__TELEMETRY_DISABLED": "true",
            "QDRANT__CLUSTER__P2P__PORT": str(self._third),
            **self._settings,
        }
        arguments = [qdrant_program()]
        if "QDRANT__CLUSTER__ENABLED" in settings:
            arguments += ["--uri", self._peers]
            if self._first is not None:
                arguments += ["--bootstrap", self._first._peers]
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                arguments,
                cwd=self._folder,
                env={**os.environ, **settings},
                stdout=log,
                stderr=log,
            )
        # The certificate is not checked: this only asks whether the server is ready.
        unchecked = ssl._create_unverified_context()
        for _ in range(600):
            try:
                with urllib.request.urlopen(f"{self.url}/readyz", timeout=1, context=unchecked):
                    return
            except (urllib.error.URLError, OSError):
                time.sleep(0.1)
        raise TimeoutError((self._folder / "log").read_text(errors="replace")[-2000:])

    @property
    def snapshots(self) -> Path:
        """Where it keeps the snapshots of its collections."""
        return self._folder / "snapshots"

    def memory(self) -> int:
        """Bytes of its private memory; 0 if the system does not report them."""
        status = Path(f"/proc/{self._process.pid if self._process else 0}/status")
        lines = status.read_text().splitlines() if status.exists() else []
        return sum(int(line.split()[1]) << 10 for line in lines if line.startswith("RssAnon:"))

    def disk(self) -> int:
        """Bytes of its files."""
        files = (self._folder / "storage").rglob("*")
        return sum(file.stat().st_blocks * 512 for file in files if file.is_file())

    def kill(self) -> None:
        """End it at once, as a crash would."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports
