"""``mathsetu recipes``: lists and shows the built-in search systems."""

from __future__ import annotations

import click

from mathsetu.cli.output import json_option, print_json, print_table, say
from mathsetu.recipes import complete_recipe_text, load_recipe, recipe_names
from mathsetu.recipes.parts import check_parts


@click.command("recipes")
@click.argument("name", required=False)
@json_option
def command(name: str | None, as_json: bool) -> None:
    """List the recipes, or show the one called NAME (or a .toml file, checked).

    A recipe that is based on another is shown combined with it.
    """
    if name is not None:
        recipe = load_recipe(name)
        check_parts(recipe)
        if as_json:
            print_json(recipe)
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
