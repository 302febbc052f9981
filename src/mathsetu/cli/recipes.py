"""``mathsetu recipes``: lists and shows the built-in search systems."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

import click

from mathsetu.cli.output import json_option, print_json, print_table, say
from mathsetu.recipes import complete_recipe_text, load_recipe, recipe_names
from mathsetu.recipes.parts import check_parts, settings_of


@click.command("recipes")
@click.argument("name", required=False)
@json_option
def command(name: str | None, as_json: bool) -> None:
    """List the recipes, or show the one called NAME (or a .toml file, checked).

    A recipe that is based on another is shown combined with it. With --json, settings that the
    recipe does not state are shown with their defaults, or null.
    """
    if name is not None:
        recipe = load_recipe(name)
        check_parts(recipe)
        if as_json:
            print_json(asdict(replace(recipe, parts=_with_defaults(recipe.parts))))
        else:
            say(complete_recipe_text(name).rstrip(), lines=True)
        return
    rows = []
    for known in recipe_names():
        recipe = load_recipe(known)
        rows.append((known, ", ".join(recipe.parts), recipe.description))
    if as_json:
        print_json([dict(zip(("name", "parts", "description"), row, strict=True)) for row in rows])
    else:
        print_table(("recipe", "parts", "what it is"), rows)


def _with_defaults(parts: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    return {
        name: {"kind": table["kind"], **asdict(settings_of(table, f"parts.{name}"))}
        for name, table in parts.items()
    }
