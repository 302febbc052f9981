"""Identifies clients by address, so that none of them can occupy the whole server."""

from __future__ import annotations

from ipaddress import IPv6Address, ip_address
from math import ceil

# The share of the server that one client may occupy; the rest stays free for others.
_SHARE = 0.75


def client_of(address: str) -> str:
    """The client behind an address; all addresses of one IPv6 network (/64) are one client.

    >>> client_of("192.0.2.7"), client_of("::ffff:192.0.2.7"), client_of("2001:db8::1:2:3:4")
    ('192.0.2.7', '192.0.2.7', '2001:db8:0:0')
    """
    if ":" not in address:
        return address
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if not isinstance(parsed, IPv6Address):
        return str(parsed)
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    # The owner of such a network can use any address in it.
    return ":".join(group.lstrip("0") or "0" for group in parsed.exploded.split(":")[:4])


def share_of_one(places: int) -> int:
    """How many places one client may take by default.

    >>> share_of_one(66), share_of_one(4), share_of_one(1)
    (50, 3, 1)
    """
    return max(1, ceil(places * _SHARE))
