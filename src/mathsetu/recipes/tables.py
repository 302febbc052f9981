"""Reads TOML tables into dataclasses; errors name unknown, missing and wrong settings."""

from __future__ import annotations

import re
import reprlib
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from mathsetu.errors import InputError

Table = TypeVar("Table")
# Levels of nested tables and lists, at most; recipes have four.
_DEEPEST = 20
_DEEP_KEY = re.compile(r"""(?<![\w"'-])(?:[\w"'-]++\s*+\.\s*+){50}""")


def parse_toml(text: str, source: str) -> dict[str, Any]:
    """Read TOML; an error names its source."""
    import tomllib  # imported here: opening a library does not need it

    # The time to parse a dotted key is quadratic in the number of its parts.
    if _DEEP_KEY.search(text):
        raise InputError(f"{source}: is nested too deeply")
    try:
        table = tomllib.loads(text)
        _check_depth(table)
        return table
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{source}: is not valid TOML ({error})") from error
    except RecursionError:
        raise InputError(f"{source}: is nested too deeply") from None
    except ValueError:  # Python refuses numbers of thousands of digits
        raise InputError(f"{source}: a number in it is too long") from None


def _check_depth(table: dict[str, Any]) -> None:
    """Raise RecursionError for a table so deep that recursive functions would fail on it."""
    level: list[Any] = [table]
    for _ in range(_DEEPEST):
        level = [
            value
            for outer in level
            for value in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(value, dict | list)
        ]
    if level:
        raise RecursionError


def read_table(
    kind: type[Table], table: Mapping[str, Any], where: str, *, also_known: Iterable[str] = ()
) -> Table:
    """Make a dataclass from a TOML table, and refuse unknown settings by name.

    ``also_known`` are settings that the caller reads itself; the message lists them, too.

    >>> from mathsetu.ranking.fusion import RRF
    >>> read_table(RRF, {"k": 180}, "ranking.fuse")
    RRF(k=180.0)
    >>> read_table(RRF, {"n": 180}, "ranking.fuse")
    Traceback (most recent call last):
    mathsetu.errors.InputError: ranking.fuse: unknown setting 'n' (known: k)
    """
    assert is_dataclass(kind)
    known = {entry.name: entry for entry in fields(kind)}
    for name in table:
        if name not in known:
            every = ", ".join([*known, *also_known])
            raise InputError(f"{where}: unknown setting {name!r} (known: {every})")
    for name, entry in known.items():
        required = entry.default is MISSING and entry.default_factory is MISSING
        if required and name not in table:
            raise InputError(f"{where}: {name} is missing")
    hints = _hints(kind)
    values = {name: _value(hints[name], table[name], f"{where}: {name}") for name in table}
    try:
        return kind(**values)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None


@cache
def _hints(kind: type) -> dict[str, Any]:
    """The types of a dataclass's fields, cached because computing them is slow."""
    return get_type_hints(kind)


def _value(wanted: Any, given: Any, where: str) -> Any:
    """Check one value against a type, including tables and lists inside it."""
    origin = get_origin(wanted)
    if wanted is Any:
        return given
    if isinstance(wanted, UnionType):
        if given is None:  # a library's manifest also contains the unset settings
            return None
        return _value(next(k for k in get_args(wanted) if k is not NoneType), given, where)
    if is_dataclass(wanted) and isinstance(wanted, type):
        if not isinstance(given, dict):
            raise InputError(f"{where} must be a table")
        return read_table(wanted, given, where)
    if origin is dict:
        if not isinstance(given, dict):
            raise InputError(f"{where} must be a table")
        inner = get_args(wanted)[1]
        return {name: _value(inner, value, f"{where}.{name}") for name, value in given.items()}
    if origin is tuple:
        if not isinstance(given, list):
            raise InputError(f"{where} must be a list")
        return tuple(_value(get_args(wanted)[0], value, where) for value in given)
    if wanted is float and isinstance(given, int) and not isinstance(given, bool):
        try:
            return float(given)
        except OverflowError:
            raise InputError(f"{where} is too large") from None
    if not isinstance(given, wanted) or (wanted is not bool and isinstance(given, bool)):
        names = {str: "text", int: "an integer", float: "a number", bool: "true or false"}
        raise InputError(f"{where} must be {names.get(wanted, wanted)}, not {reprlib.repr(given)}")
    return given
