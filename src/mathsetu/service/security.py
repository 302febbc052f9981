"""The security headers of all responses: browsers must not execute untrusted posts and queries."""

from __future__ import annotations

from base64 import b64decode
from binascii import Error
from hmac import compare_digest

#: For pages: scripts, styles and pictures from this server and nowhere else, nothing inline.
PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; "
    "connect-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
#: For pictures: our drawings contain their styles.
PICTURE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'"
#: For everything else: nothing is allowed.
DATA_POLICY = "default-src 'none'; frame-ancestors 'none'"
_POLICIES = {"text/html": PAGE_POLICY, "image/svg+xml": PICTURE_POLICY}

_ALWAYS = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # Addresses contain queries, which other sites must not see.
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}


def security_headers(content_type: str, is_shared: bool) -> dict[str, str]:
    """The headers for a response; ``is_shared`` when pages of other sites may read it.

    >>> security_headers("application/json", False)["cross-origin-resource-policy"]
    'same-origin'
    """
    kind = content_type.partition(";")[0].strip().lower()
    return {
        **_ALWAYS,
        "content-security-policy": _POLICIES.get(kind, DATA_POLICY),
        "cross-origin-resource-policy": "cross-origin" if is_shared else "same-origin",
    }


def knows_key(authorization: str, key: str) -> bool:
    """Whether a header contains the key: ``Bearer KEY``, or the password that a browser sends.

    >>> knows_key("Bearer open sesame", "open sesame"), knows_key("Bearer guess", "open sesame")
    (True, False)
    """
    scheme, _, value = authorization.partition(" ")
    if scheme.lower() == "basic":
        try:
            value = b64decode(value, validate=True).decode("utf-8").partition(":")[2]
        except (Error, UnicodeDecodeError):
            return False
    elif scheme.lower() != "bearer":
        return False
    # In constant time, so that the time does not reveal letters of the key.
    return compare_digest(value.encode("utf-8", "replace"), key.encode())


def is_named(host: str, names: tuple[str, ...]) -> bool:
    """Whether a ``Host`` header is one of ``names``; ``*.example.org`` matches all subdomains.

    >>> is_named("Search.Example.org:8080", ("search.example.org",))
    True
    >>> is_named("[::1]:8080", ("[::1]",))
    True
    >>> is_named("a.example.org", ("*.example.org",)), is_named("example.com", ("example.org",))
    (True, False)
    """
    end = host.find("]") + 1 if host.startswith("[") else host.find(":")
    name = (host[:end] if end > 0 else host).lower()
    return any(
        name.endswith(known[1:].lower()) if known.startswith("*") else name == known.lower()
        for known in names
    )
