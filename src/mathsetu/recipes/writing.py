"""Writes recipes and their values as TOML; Python's standard library only reads TOML."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from mathsetu.recipes.schema import MEMBERS

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def recipe_toml(table: Mapping[str, Any]) -> str:
    """The TOML of a recipe's table, formatted as people write it.

    >>> parts = {"words": {"kind": "lexical", "fields": {"title": 2}}}
    >>> print(recipe_toml({"name": "mine", "parts": parts, "ranking": {"k": 5}}), end="")
    name = "mine"
    <BLANKLINE>
    [parts.words]
    kind = "lexical"
    fields = { title = 2 }
    <BLANKLINE>
    [ranking]
    k = 5
    """
    sections = {name: value for name, value in table.items() if isinstance(value, dict)}
    blocks = [_settings({name: table[name] for name in table if name not in sections})]
    for section, inner in sections.items():
        headed = {name: value for name, value in inner.items() if _has_header(section, value)}
        others = {name: inner[name] for name in inner if name not in headed}
        if others or not headed:
            blocks.append(f"[{_key(section)}]\n{_settings(others)}")
        for name, settings in headed.items():
            blocks.append(f"[{_key(section)}.{_key(name)}]\n{_settings(settings)}")
    return "\n".join(filter(None, blocks))


def toml_value(value: Any) -> str:
    r"""One value as TOML.

    >>> toml_value({"name": "bm25+", "matched_only": False, "a b": [1, 0.5, "\\"]})
    '{ name = "bm25+", matched_only = false, "a b" = [1, 0.5, "\\\\"] }'
    """
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(toml_value, value))}]"
    if isinstance(value, Mapping):
        pairs = ", ".join(f"{_key(name)} = {toml_value(inner)}" for name, inner in value.items())
        return f"{{ {pairs} }}" if pairs else "{}"
    return repr(value)


def _has_header(section: str, value: Any) -> bool:
    """Whether a value gets its own header: parts, systems and tables of tables are long."""
    if not isinstance(value, dict):
        return False
    return section in MEMBERS or any(isinstance(inner, dict) for inner in value.values())


def _settings(table: Mapping[str, Any]) -> str:
    return "".join(f"{_key(name)} = {toml_value(value)}\n" for name, value in table.items())


def _key(name: str) -> str:
    return name if _BARE_KEY.fullmatch(name) else _quoted(name)


def _quoted(text: str) -> str:
    escaped = (
        f"\\u{ord(sign):04x}" if sign < " " or sign == "\x7f" else sign
        for sign in text.replace("\\", "\\\\").replace('"', '\\"')
    )
    return f'"{"".join(escaped)}"'
