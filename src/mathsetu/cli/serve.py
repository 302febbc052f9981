"""``mathsetu serve``: the page and the API over a library."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import ip_address, ip_network
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
from click.core import ParameterSource

from mathsetu.cli.output import LIBRARY, say
from mathsetu.collections import sampler
from mathsetu.errors import InputError, MissingExtra, reason
from mathsetu.languages.translate import BACKENDS
from mathsetu.library import Library, build_library
from mathsetu.limits import fits_header
from mathsetu.printable import counted
from mathsetu.service.limits import Limits
from mathsetu.service.settings import Settings

# Shorter keys can be found by trial and error.
_GUESSED = 16
_KEY, _WRITE_KEY = "MATHSETU_KEY", "MATHSETU_WRITE_KEY"
# An environment variable, so that the health check of a container can read the port too.
_PORT = "MATHSETU_PORT"
# A host name as in a Host header, without the port; *.example.org stands for all subdomains.
_HOST_NAME = re.compile(r"\*|(\*\.)?[\w.-]+|\[[0-9A-Fa-f:.]+\]", re.ASCII)

# The host of an origin, with its port; browsers send other scripts in ASCII (xn--…).
_HOST = re.compile(r"(?:[\w.-]+|\[[0-9a-f:.]+\])(?::\d+)?", re.ASCII)
_IMPLIED_PORTS = {"http": ":80", "https": ":443"}


class _Port(click.IntRange):
    """A port; an error names the environment variable if the value came from it."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the port number."""
        try:
            return int(super().convert(value, param, ctx))
        except click.BadParameter:
            is_variable = ctx and ctx.get_parameter_source("port") is ParameterSource.ENVIRONMENT
            given = f"{_PORT}={value}" if is_variable else f"--port {value}"
            raise InputError(
                f"{given}: must be an integer from {self.min} to {self.max:,}"
            ) from None


@click.command("serve")
@click.argument("library", required=False, type=LIBRARY)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=_Port(1, 65_535), default=8080, show_default=True,
              envvar=_PORT, help=f"Port to listen on; or set {_PORT}.")  # fmt: skip
@click.option("--workers", type=click.IntRange(1, 64), default=1, show_default=True,
              help="Worker processes; use one for each core.")  # fmt: skip
@click.option("--seconds", type=click.FloatRange(0.1, 600), default=5.0, show_default=True,
              help="Time limit of one search in seconds; unfinished "
                   "parts are left out.")  # fmt: skip
@click.option("--waiting", type=click.IntRange(0, 10_000), default=64, show_default=True,
              help="Requests that may wait in each process; further "
                   "ones get status 429.")  # fmt: skip
@click.option("--per-client", type=click.IntRange(1, 10_000), metavar="NUMBER",
              help="Concurrent requests of one client in each process [default: three quarters of "
                   "all].")  # fmt: skip
@click.option("--proxy", "proxies", multiple=True, metavar="ADDRESS",
              help="A trusted proxy that sends X-Forwarded-For (repeatable): "
                   "an address, or a network such as 10.0.0.0/8.")  # fmt: skip
@click.option("--origin", "origins", multiple=True, metavar="URL",
              help="A web site whose pages may call the API (repeatable): "
                   "https://example.org")  # fmt: skip
@click.option("--name", "names", multiple=True, metavar="HOST",
              help="A host name of the server (repeatable) [default: on a loopback address its own "
                   "names, elsewhere any].")  # fmt: skip
@click.option("--key-file", type=click.Path(path_type=Path), metavar="FILE",
              help=f"A file with the key that clients must send; or set {_KEY}.")  # fmt: skip
@click.option("--write-key-file", type=click.Path(path_type=Path), metavar="FILE",
              help="A file with a second key, which allows adding and removing posts over HTTP; "
                   f"or set {_WRITE_KEY}. Without it, the server is read-only.")  # fmt: skip
@click.option("--log-queries", is_flag=True, help="Write queries to the log.")
@click.option("--translator", default="glossary", show_default=True, metavar="NAME",
              type=click.Choice(list(BACKENDS)), help="Translator of posts.")  # fmt: skip
@click.option("--files-at", default="", metavar="URL",
              help="Base URL of the source files, for links on the page.")  # fmt: skip
@click.option("--model", default="", help="The translator's model, if it needs one.")
def command(
    library: Path | str | None,
    host: str,
    port: int,
    workers: int,
    seconds: float,
    waiting: int,
    per_client: int | None,
    proxies: tuple[str, ...],
    origins: tuple[str, ...],
    names: tuple[str, ...],
    key_file: Path | None,
    write_key_file: Path | None,
    log_queries: bool,
    translator: str,
    files_at: str,
    model: str,
) -> None:
    r"""Serve LIBRARY as a page and an API; without LIBRARY, the built-in sampler.

    If the library is rebuilt while the server runs, it is reloaded without dropping requests.

    \b
    Examples:
      mathsetu serve
      mathsetu serve my-library --port 9000 --workers 4
      MATHSETU_KEY=secret mathsetu serve my-library --host 0.0.0.0 --name search.example.org
    """
    try:
        from mathsetu.service.process import open_listener, serve
    except ModuleNotFoundError as missing:
        raise MissingExtra("mathsetu serve", "web") from missing
    with opened(library) as folder:
        settings = Settings(
            library=str(folder),
            limits=Limits(seconds=seconds),
            waiting=waiting,
            per_client=per_client or 0,
            proxies=tuple(map(_proxy, proxies)),
            key=_key(key_file, _KEY),
            write_key=_key(write_key_file, _WRITE_KEY),
            origins=tuple(map(_origin, origins)),
            hosts=tuple(map(_host_name, names)) or _own_names(host),
            log_queries=log_queries,
            translator=translator,
            model=model,
            files_at=_files_at(files_at),
        )
        if settings.write_key and settings.write_key == settings.key:
            raise InputError(
                "the key for writing must differ from the key for reading; choose another"
            )
        for file, variable, key in (
            (key_file, _KEY, settings.key),
            (write_key_file, _WRITE_KEY, settings.write_key),
        ):
            name = f"the key in {file}" if file else variable
            if key and (warning := _of_a_weak_key(name, key)):
                say(warning, err=True)
        listener = open_listener(host, port)
        if not (settings.key or _is_loopback(host)):
            say(
                f"no API key is set: everyone who can reach the server can search; set {_KEY}",
                err=True,
            )
        line = f"MathSetu is running at {_address(host, port)} (stop with Ctrl-C)"
        with listener:
            serve(settings, listener, workers, lambda: say(line))


def _of_a_weak_key(name: str, key: str) -> str:
    """The warning about a key that can be guessed; empty for other keys.

    >>> _of_a_weak_key("MATHSETU_KEY", "abc"), _of_a_weak_key("MATHSETU_KEY", 16 * "k")
    ('MATHSETU_KEY has 3 characters and can be guessed; use 16 or more', '')
    """
    if len(key) >= _GUESSED:
        return ""
    length = counted(len(key), "character")
    return f"{name} has {length} and can be guessed; use {_GUESSED} or more"


@contextmanager
def opened(library: Path | str | None) -> Iterator[Path | str]:
    """Provide the library to serve, after checking that it can be opened."""
    if library is not None:
        Library(library).close()
        yield library.absolute() if isinstance(library, Path) else library
        return
    with TemporaryDirectory(prefix="mathsetu-sampler-") as folder:
        build_library(folder, sampler.posts(), "default", collection="sampler", processes=1)
        yield Path(folder)


def _key(file: Path | None, variable: str) -> str:
    """Read the key from a file or from an environment variable; empty if neither is given."""
    if file is None and variable not in os.environ:
        return ""
    source = str(file or variable)
    try:
        key = (file.read_text(encoding="utf-8") if file else os.environ[variable]).strip()
    except OSError as error:
        raise InputError(f"{source}: the key cannot be read ({reason(error)})") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{source}: the key cannot be read (it is not UTF-8)") from error
    if not key:
        remedy = "write the key into it" if file else "set it to the key, or unset it"
        raise InputError(f"{source}: is empty; {remedy}")
    if not fits_header(key):
        raise InputError(
            f"{source}: the key cannot be sent in a header; use only visible ASCII characters"
        )
    return key


def _host_name(name: str) -> str:
    if not _HOST_NAME.fullmatch(name):
        example = "search.example.org"
        raise InputError(f"--name {name}: give a host without scheme and port, such as {example}")
    return name


def _origin(url: str) -> str:
    """Normalise an origin as browsers send it: lower case, without the default port of the scheme.

    >>> _origin("https://My.Site:443/"), _origin("HTTP://127.0.0.1:18090")
    ('https://my.site', 'http://127.0.0.1:18090')
    """
    scheme, separator, rest = url.rstrip("/").lower().partition("://")
    if scheme not in _IMPLIED_PORTS or not separator or not _HOST.fullmatch(rest):
        raise InputError(
            f"--origin {url}: give a scheme and a host, such as https://example.org (no wildcards; "
            "the option may be repeated)"
        )
    return f"{scheme}://{rest.removesuffix(_IMPLIED_PORTS[scheme])}"


def _files_at(url: str) -> str:
    scheme, separator, rest = url.partition("://")
    if url and (scheme not in ("http", "https") or not separator or not rest):
        raise InputError(f"--files-at {url}: give an address such as https://example.org/notes")
    return url


def _proxy(address: str) -> str:
    try:
        return str(ip_network(address))
    except ValueError:
        example = "192.0.2.7 or 192.0.2.0/24"
        raise InputError(f"--proxy {address}: give an address or a network: {example}") from None


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _own_names(host: str) -> tuple[str, ...]:
    """The allowed host names of a loopback address: its own, to prevent DNS rebinding."""
    return ("localhost", "127.0.0.1", "[::1]", host) if _is_loopback(host) else ()


def _address(host: str, port: int) -> str:
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
