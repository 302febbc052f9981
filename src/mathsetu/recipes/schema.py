"""What a recipe may say, and clear errors for what it may not."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from types import UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from mathsetu.errors import InputError
from mathsetu.ranking.normalise import NORMALISATIONS

Table = TypeVar("Table")


@dataclass(frozen=True)
class Selection:
    """Which posts are indexed.

    Attributes:
        minimum_words: Posts with fewer words are left out.
        need_words: Whether posts that consist of formulas only are left out.
        kinds: Only posts of these kinds (``answer``); empty for all.
    """

    minimum_words: int = 0
    need_words: bool = False
    kinds: tuple[str, ...] = ()


@dataclass(frozen=True)
class Ranking:
    """How the parts' scores become one order.

    Attributes:
        weights: The share of each part; they add up to 1. The first part leads: it breaks ties.
        candidates: How many posts each retrieving part hands over.
        candidates_from: The parts that retrieve; the others only score. Empty: all retrieve.
        k: How many hits come out unless the caller asks for more or fewer.
        normalise: ``minmax``, ``rank`` or ``none``.
        adaptive: Whether parts without anything to go on leave their weight to the others.
    """

    weights: dict[str, float]
    candidates: int = 500
    candidates_from: tuple[str, ...] = ()
    k: int = 50
    normalise: str = "minmax"
    adaptive: bool = True


@dataclass(frozen=True)
class Recipe:
    """A search system: its parts, and how they are ranked together."""

    name: str
    description: str
    parts: dict[str, dict[str, Any]]
    ranking: Ranking
    posts: Selection = field(default_factory=Selection)


def parse_recipe(text: str, source: str) -> Recipe:
    r"""Read a recipe from TOML.

    >>> recipe = parse_recipe('''
    ... name = "tiny"
    ... description = "Words alone."
    ... [parts.words]
    ... kind = "lexical"
    ... [ranking]
    ... weights = { words = 1.0 }
    ... ''', "tiny.toml")
    >>> recipe.ranking.k
    50
    """
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{source}: is not valid TOML ({error})") from error
    return parse_table(table, source)


def parse_table(table: Mapping[str, Any], source: str) -> Recipe:
    """Make a recipe from its table, checked."""
    recipe = read_table(Recipe, table, source)
    _check(recipe, source)
    return recipe


def _check(recipe: Recipe, source: str) -> None:
    ranking = recipe.ranking
    if not recipe.parts:
        raise InputError(f"{source}: [parts] is empty; a recipe needs at least one part")
    for name, part in recipe.parts.items():
        # A part's files lie in a folder of its name.
        if not name.replace("-", "_").isidentifier():
            raise InputError(f"{source}: {name!r} cannot be the name of a part; use letters")
        if not isinstance(part.get("kind"), str):
            raise InputError(f"{source}: parts.{name} needs a kind")
    for name in (*ranking.weights, *ranking.candidates_from):
        if name not in recipe.parts:
            parts = ", ".join(recipe.parts)
            raise InputError(f"{source}: ranking names {name!r}, which is no part (parts: {parts})")
    missing = [name for name in recipe.parts if name not in ranking.weights]
    if missing:
        raise InputError(f"{source}: ranking.weights lacks {', '.join(missing)}")
    total = sum(ranking.weights.values())
    if not abs(total - 1) <= 1e-6 or min(ranking.weights.values()) < 0:
        raise InputError(
            f"{source}: ranking.weights must be positive and add up to 1, not {total:g}"
        )
    if ranking.normalise not in NORMALISATIONS:
        known = ", ".join(NORMALISATIONS)
        raise InputError(f"{source}: ranking.normalise is {ranking.normalise!r} (known: {known})")
    if ranking.k < 1 or ranking.candidates < ranking.k:
        raise InputError(f"{source}: ranking needs 1 <= k <= candidates")


def read_table(kind: type[Table], table: Mapping[str, Any], where: str) -> Table:
    """Make a dataclass from a TOML table, refusing what it does not know, by name.

    >>> read_table(Selection, {"minimum_words": 10}, "posts")
    Selection(minimum_words=10, need_words=False, kinds=())
    """
    assert is_dataclass(kind)
    known = {entry.name: entry for entry in fields(kind)}
    for name in table:
        if name not in known:
            raise InputError(f"{where}: unknown setting {name!r} (known: {', '.join(known)})")
    for name, entry in known.items():
        required = entry.default is MISSING and entry.default_factory is MISSING
        if required and name not in table:
            raise InputError(f"{where}: {name} is missing")
    hints = get_type_hints(kind)
    values = {name: _value(hints[name], table[name], f"{where}: {name}") for name in table}
    try:
        return kind(**values)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None


def _value(wanted: Any, given: Any, where: str) -> Any:
    """Check one value against a type, going into tables and lists."""
    origin = get_origin(wanted)
    if wanted is Any:
        return given
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
    if isinstance(wanted, UnionType):
        wanted = next(kind for kind in get_args(wanted) if kind is not type(None))
    if wanted is float and isinstance(given, int) and not isinstance(given, bool):
        return float(given)
    if not isinstance(given, wanted) or (wanted is not bool and isinstance(given, bool)):
        names = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}
        raise InputError(f"{where} must be {names.get(wanted, wanted)}, not {given!r}")
    return given
