"""Which models made the vectors of a library; vectors of two models cannot be compared."""

from __future__ import annotations

from pathlib import Path

from mathsetu.errors import InputError
from mathsetu.library.manifest import Manifest
from mathsetu.recipes.parts import model_of
from mathsetu.recipes.schema import Recipe


def models_of(recipe: Recipe) -> dict[str, str]:
    """The fingerprint of the model of each part that has one."""
    found = {name: model_of(part, f"parts.{name}") for name, part in recipe.parts.items()}
    return {name: fingerprint for name, fingerprint in found.items() if fingerprint}


def check_models(library: Path, manifest: Manifest, recipe: Recipe) -> None:
    """Refuse to search, or to add to, vectors that another model made.

    Args:
        library: The folder, for the error.
        manifest: Names the models that made the vectors.
        recipe: Names the models that would read the query, or further posts.
    """
    for name in recipe.parts.keys() & manifest.models.keys():
        present, recorded = model_of(recipe.parts[name], f"parts.{name}"), manifest.models[name]
        if present and present != recorded:
            raise InputError(
                f"{library}: the vectors of its part {name!r} were made by another model "
                f"({recorded}, here is {present}); encode its posts again with: mathsetu upgrade "
                f"{library}"
            )
