"""Recipes: search systems as small TOML files, read and checked here."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from importlib import resources
from pathlib import Path
from typing import Any

from mathsetu.errors import InputError
from mathsetu.recipes.schema import Recipe, parse_recipe, parse_table

__all__ = ["Recipe", "load_recipe", "overridden", "recipe_names", "recipe_text"]


def recipe_names() -> list[str]:
    """The recipes that are shipped.

    >>> "default" in recipe_names()
    True
    """
    files = resources.files(__package__).iterdir()
    return sorted(file.name.removesuffix(".toml") for file in files if file.name.endswith(".toml"))


def recipe_text(name: str) -> str:
    """The TOML of a shipped recipe, or of a file."""
    if name in recipe_names():
        return (resources.files(__package__) / f"{name}.toml").read_text(encoding="utf-8")
    path = Path(name)
    if path.suffix == ".toml":
        try:
            return path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{path}: cannot be read ({error})") from error
    known = ", ".join(recipe_names())
    raise InputError(f"unknown recipe {name!r} (known: {known}; or give a .toml file)")


def load_recipe(name: str, overrides: Iterable[str] = ()) -> Recipe:
    """Read a recipe by name or file, with settings replaced as ``parts.text.model=folder``.

    >>> load_recipe("default", ["ranking.k=7"]).ranking.k
    7
    """
    text = recipe_text(name)
    recipe = parse_recipe(text, name)
    overrides = list(overrides)
    return overridden(tomllib.loads(text), overrides, name) if overrides else recipe


def overridden(table: dict[str, Any], overrides: Iterable[str], source: str) -> Recipe:
    """A recipe's table with settings replaced; values are TOML, or plain text."""
    for override in overrides:
        path, separator, value = override.partition("=")
        if not separator:
            raise InputError(f"{override!r}: a setting is replaced with NAME=VALUE")
        *outer, last = path.strip().split(".")
        place = table
        for name in outer:
            place = place.setdefault(name, {})
            if not isinstance(place, dict):
                raise InputError(f"{override!r}: {name} is no table")
        place[last] = _toml_value(value.strip())
    return parse_table(table, source)


def _toml_value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
