"""The address of a library on a cluster: ``qdrant://HOST:PORT/NAME``.

Every node answers for the whole cluster. An address may list several nodes, separated by commas, so
that searches still work when one of them is down. ``qdrants://`` is the same over TLS.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from mathsetu.errors import InputError
from mathsetu.places import SCHEMES
from mathsetu.retrieval.qdrant_address import normalised

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_]{0,59}", re.ASCII)
_SHOWN = 200


@dataclass(frozen=True)
class Address:
    """The address of a library on a cluster.

    Attributes:
        urls: The nodes that receive requests.
        name: The name of the library on the cluster.
    """

    urls: tuple[str, ...]
    name: str

    def __str__(self) -> str:
        scheme = next(s for s, web in SCHEMES.items() if self.urls[0].startswith(f"{web}:"))
        hosts = ",".join(url.partition("://")[2] for url in self.urls)
        return f"{scheme}://{hosts}/{self.name}"


def parse_address(text: str) -> Address:
    """Parse the address of a library.

    >>> str(parse_address("qdrants://a.example.org,b.example.org:7000/math"))
    'qdrants://a.example.org:6333,b.example.org:7000/math'
    >>> parse_address("qdrant://localhost")
    Traceback (most recent call last):
    mathsetu.errors.InputError: 'qdrant://localhost' is not the address of a library on a \
cluster; write it as qdrant://localhost:6333/NAME (letters, digits and _)
    """
    scheme, _, rest = text.partition("://")
    hosts, _, name = rest.partition("/")
    if scheme not in SCHEMES or not hosts or not _NAME.fullmatch(name):
        # Escaped, because the text may contain any characters.
        raise InputError(
            f"{text[:_SHOWN]!a} is not the address of a library on a cluster; write it as "
            "qdrant://localhost:6333/NAME (letters, digits and _)"
        )
    return Address(
        tuple(normalised(f"{SCHEMES[scheme]}://{host}") for host in hosts.split(",")), name
    )
