"""Which Qdrant server is contacted, and which one gets the key.

A library names the server that has its vectors, and a library may come from someone else. So a
server is contacted only if the user of this machine names it, too (``QDRANT_URL``): no library can
make this process contact an address of its choice, on this machine or behind its firewall. The key
belongs to the user's address, and is sent nowhere else.
"""

from __future__ import annotations

import os
import re
from ipaddress import ip_address
from urllib.parse import urlsplit

from mathsetu.errors import InputError

#: The environment variable with the address of the server that the user trusts; the nodes of one
#: cluster are separated by commas.
URL = "QDRANT_URL"
#: The environment variable with the API key of that server, if it requires one.
KEY = "QDRANT_API_KEY"
#: The environment variable with the names of hosts that may get the key unencrypted.
PLAIN = "QDRANT_PLAIN_HTTP"

_DEFAULT_PORT = 6333
# Nothing that two URL parsers may read differently: no user, no query, no escapes.
_ADDRESS = re.compile(r"https?://(\[[0-9a-fA-F:.]+\]|[\w.-]+)(:[0-9]{1,5})?(/[\w./-]*)?", re.ASCII)
_SHOWN = 200


def normalised(address: str) -> str:
    """Normalise an address, with its port.

    >>> normalised("http://Localhost/")
    'http://localhost:6333'
    >>> normalised("localhost:6333")
    Traceback (most recent call last):
        ...
    mathsetu.errors.InputError: 'localhost:6333' is not the address of a server; write it as \
http://localhost:6333
    """
    problem = InputError(
        f"{_shown(address)} is not the address of a server; write it as http://localhost:6333"
    )
    if not _ADDRESS.fullmatch(address):
        raise problem
    try:
        parts = urlsplit(address)
        port = _DEFAULT_PORT if parts.port is None else parts.port
    except ValueError:
        raise problem from None
    host = (parts.hostname or "").lower()
    shown = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{shown}:{port}{parts.path.rstrip('/')}"


def confirmed(address: str) -> str:
    """Return the address that a library names; refuse it unless the user names it, too."""
    named = os.environ.get(URL, "")
    if not named:
        raise InputError(
            f"the library names the Qdrant server {_shown(address)}, which is not contacted "
            f"unless you name it, too; if you trust it, set {URL} to this address"
        )
    trusted = [normalised(one) for one in named.split(",")]
    if normalised(address) not in trusted:
        raise InputError(
            f"the library names the Qdrant server {_shown(address)}, which is not contacted: "
            f"{URL} is {','.join(trusted)}; if you trust the library's, set {URL} to it"
        )
    return normalised(address)


def key_for(address: str) -> str | None:
    """Return the key for a server that the user named; None if no key is set."""
    key = os.environ.get(KEY)
    if not key:
        return None
    owner = os.environ.get(URL, "")
    if not owner or normalised(address) not in map(normalised, owner.split(",")):
        raise InputError(
            f"{KEY} is not sent to {normalised(address)}, because it belongs to "
            f"{_shown(owner) if owner else 'no address'}; set {URL} to the address of its server, "
            f"or unset {KEY}"
        )
    parts = urlsplit(normalised(address))
    host = parts.hostname or ""
    allowed = _is_here(host) or host in os.environ.get(PLAIN, "").lower().split(",")
    if parts.scheme == "http" and not allowed:
        raise InputError(
            f"{KEY} is not sent to {normalised(address)} unencrypted; use an https address, or set "
            f"{PLAIN}={host} where you trust the network"
        )
    return key


def _is_here(host: str) -> bool:
    """Whether a host name or address always means this machine itself."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _shown(address: str) -> str:
    # Escaped, because it may come from someone else's library.
    return ascii(address[:_SHOWN])
