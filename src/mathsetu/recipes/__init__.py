"""Recipes: search systems as small TOML files, read and checked here."""

from __future__ import annotations

import reprlib
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from difflib import get_close_matches
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mathsetu.errors import InputError, reason
from mathsetu.plain_files import open_plain
from mathsetu.recipes.parts import check_built_with, check_parts
from mathsetu.recipes.schema import BASED_ON, MEMBERS, USE, Recipe, parse_table
from mathsetu.recipes.tables import parse_toml
from mathsetu.recipes.writing import recipe_toml

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

__all__ = [
    "Recipe",
    "complete_recipe_text",
    "load_recipe",
    "recipe_names",
    "recipe_table",
    "recipe_text",
    "searched_with",
]

_LONGEST_RECIPE = 1_000_000
# A value that begins with one of these is TOML, not plain text.
_TOML_SIGNS = ("{", "[", '"', "'")


def recipe_names() -> list[str]:
    """The names of the shipped recipes.

    >>> "default" in recipe_names()
    True
    """
    files = _shipped().iterdir()
    names = (file.name.removesuffix(".toml") for file in files if file.name.endswith(".toml"))
    return sorted(names, key=_by_number)


def _by_number(name: str) -> list[tuple[int, str]]:
    """A sort key in natural order: msm-ens-2 before msm-ens-10."""
    return [(int(part), "") if part.isdigit() else (0, part) for part in name.split("-")]


def recipe_text(name: str) -> str:
    """The TOML of a shipped recipe, or of a file."""
    if name in recipe_names():
        return (_shipped() / f"{name}.toml").read_text(encoding="utf-8")
    path = Path(name)
    if path.suffix == ".toml":
        try:
            with open_plain(path, follow_links=True) as file:
                content = file.read(_LONGEST_RECIPE + 1)
            if len(content) > _LONGEST_RECIPE:
                raise InputError(f"{path}: is longer than {_LONGEST_RECIPE:,} bytes")
            return content.decode("utf-8")
        except UnicodeDecodeError as error:
            raise InputError(f"{path}: is not UTF-8 ({error.reason})") from error
        except OSError as error:
            raise InputError(f"{path}: cannot be read ({reason(error)})") from error
    near = get_close_matches(name, recipe_names(), n=3)
    meant = f"did you mean {', '.join(near)}?" if near else f"known: {', '.join(recipe_names())}"
    raise InputError(f"unknown recipe {name!r} ({meant}; or give a .toml file)")


def complete_recipe_text(name: str) -> str:
    """The TOML of a recipe by name or file, combined with the recipe that it is based on.

    >>> print(complete_recipe_text("mirmu-tuned").splitlines()[0])
    # Combined with mirmu, which this recipe is based on.
    """
    text = recipe_text(name)
    base = parse_toml(text, name).get(BASED_ON)
    if base is None:
        return text
    about = "".join(takewhile(lambda line: line.startswith("#"), text.splitlines(keepends=True)))
    combined = recipe_toml(recipe_table(name))
    return f"{about}# Combined with {base}, which this recipe is based on.\n{combined}"


def _shipped() -> Traversable:
    from importlib import resources  # imported here: opening a library does not need it

    return resources.files(__package__)


def load_recipe(name: str, overrides: Iterable[str] = ()) -> Recipe:
    """Read a recipe by name or file, with settings replaced as ``parts.text.model=folder``.

    >>> load_recipe("default", ["ranking.k=7"]).ranking.k
    7
    """
    recipe = overridden(recipe_table(name), overrides, name)
    check_parts(recipe, name)
    return recipe


def recipe_table(name: str) -> dict[str, Any]:
    """The table of a recipe, combined with that of the recipe it is based on.

    ``based_on`` names the base. A setting replaces that of the base, and so does a part of another
    kind. Such a recipe without a name is named after its file. ``use`` names the systems to keep;
    parts that none of them needs are left out.
    """
    table = parse_toml(recipe_text(name), name)
    base = table.pop(BASED_ON, None)
    if base is not None:
        if not isinstance(base, str) or base not in recipe_names() or base == name:
            raise InputError(f"{name}: based_on must name another shipped recipe, not {base!r}")
        unnamed = {"name": Path(name).stem, "description": f"Based on {base}"}
        table = _merged(recipe_table(base), unnamed | table, base, name)
    wanted = table.pop(USE, None)
    return table if wanted is None else _with_systems(table, wanted, name)


def _merged(
    base: dict[str, Any], own: dict[str, Any], base_name: str, source: str
) -> dict[str, Any]:
    both = base | own
    for section, value in own.items():
        before = base.get(section)
        if isinstance(value, dict) and isinstance(before, dict):
            if section in MEMBERS:
                value = _merged_members(before, value, section, base_name, source)
            both[section] = before | value
    return both


def _merged_members(
    base: dict[str, Any], own: dict[str, Any], section: str, base_name: str, source: str
) -> dict[str, Any]:
    """Combine the parts or systems of a recipe with those of the same name in its base."""
    needed = MEMBERS[section]
    merged = dict(own)
    for name, settings in own.items():
        if not isinstance(settings, dict):  # the check of the recipe reports it by name
            continue
        before = base.get(name)
        if before is None and needed not in settings:
            raise InputError(
                f"{source}: {section}.{name}: {needed} is missing, and {base_name} has nothing of "
                f"this name ({section}: {', '.join(base)})"
            )
        # The settings of one kind are invalid for another.
        if before is not None and settings.get("kind", before.get("kind")) == before.get("kind"):
            merged[name] = before | settings
    return merged


def _with_systems(table: dict[str, Any], wanted: Any, source: str) -> dict[str, Any]:
    systems = _inner_table(table, "systems", source)
    known = f"(systems: {', '.join(systems)})" if systems else "(the recipe has no systems)"
    if not isinstance(wanted, list):
        raise InputError(
            f"{source}: use must be a list of systems, not {reprlib.repr(wanted)} {known}"
        )
    for name in wanted:
        if not isinstance(name, str) or name not in systems:
            raise InputError(
                f"{source}: use names {reprlib.repr(name)}, which is not a system {known}"
            )
    kept = {name: _inner_table(systems, name, source) for name in wanted}
    needed = {part for system in kept.values() for part in _inner_table(system, "weights", source)}
    inner = _inner_table(table, "parts", source)
    parts = {name: part for name, part in inner.items() if name in needed}
    ranking = dict(_inner_table(table, "ranking", source))
    weights = list(_inner_table(ranking, "weights", source).values())
    if all(weight == weights[0] for weight in weights):
        ranking.pop("weights", None)  # equal weights, as in a manifest, are the default
    return table | {"systems": kept, "parts": parts, "ranking": ranking}


def _inner_table(table: dict[str, Any], name: str, source: str) -> dict[str, Any]:
    inner = table.get(name, {})
    if not isinstance(inner, dict):
        raise InputError(f"{source}: {name} must be a table")
    return inner


def overridden(table: Mapping[str, Any], overrides: Iterable[str], source: str) -> Recipe:
    """A recipe's table with settings replaced; values are TOML, or plain text."""
    return parse_table(_changed(table, overrides, source), source)


def _changed(table: Mapping[str, Any], overrides: Iterable[str], source: str) -> dict[str, Any]:
    changed = deepcopy(dict(table))
    for override in overrides:
        path, separator, value = override.partition("=")
        if not separator:
            raise InputError(f"{override!r}: write a setting as NAME=VALUE")
        *outer, last = path.strip().split(".")
        place = changed
        for name in outer:
            if place.get(name) is None:  # a recipe without a reranker has none to replace
                if place is changed.get("parts") and last != "kind":
                    known = ", ".join(place)
                    raise InputError(f"{override!r}: there is no part {name!r} (parts: {known})")
                place[name] = {}
            place = place[name]
            if not isinstance(place, dict):
                raise InputError(f"{override!r}: {name} is not a table")
        place[last] = _toml_value(value.strip())
    if BASED_ON in changed:
        raise InputError(f"{BASED_ON} stands in the file of a recipe; --set cannot replace it")
    wanted = changed.pop(USE, None)
    return changed if wanted is None else _with_systems(changed, wanted, source)


def searched_with(table: Mapping[str, Any], overrides: Sequence[str], source: str) -> Recipe:
    """The recipe that a library was built with, with settings overridden for searching."""
    chosen = overridden(table, overrides, source)
    if overrides:
        check_built_with(parse_table(table, source), chosen)
    return chosen


def _toml_value(text: str) -> Any:
    try:
        return parse_toml(f"value = {text}", text)["value"]
    except InputError:
        if text.startswith(_TOML_SIGNS):
            raise
        return text
