"""Upgrades a library of an older format, or with vectors of another model, in place.

Every format stores the original posts in one SQLite table per segment. They are read from there and
indexed again, into new segments beside the old ones; the manifest is replaced when the new segments
are complete, as in every build. If the process dies, the old library is unchanged, and the same
command resumes where it stopped.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from mathsetu.collections.jsonl import from_json
from mathsetu.encoders.accelerator import PROCESSOR
from mathsetu.errors import DamagedLibrary, InputError
from mathsetu.intake.posts import PostFacts, split_texts, written_texts
from mathsetu.library.build import Progress, quiet
from mathsetu.library.manifest import (
    FORMAT,
    FormerManifest,
    check,
    read_former_manifest,
    read_manifest,
    segment_folder,
)
from mathsetu.library.store import STORE
from mathsetu.library.write import build_library
from mathsetu.places import is_address
from mathsetu.plain_files import is_plain_file
from mathsetu.recipes import load_recipe, recipe_names
from mathsetu.recipes.parts import check_parts, models_of
from mathsetu.recipes.schema import Recipe, parse_table
from mathsetu.records import Post

# The columns that are read; all formats have them.
_COLUMNS = ("number", "language", "collection", "record")


@dataclass(frozen=True)
class Upgrade:
    """The result of an upgrade.

    Attributes:
        former: The former format of the library.
        posts: The number of posts.
        recipe: The name of the recipe.
        note: Why the stored recipe was not used; empty if it was.
        changed: Whether the library was rebuilt.
    """

    former: int
    posts: int
    recipe: str
    note: str
    changed: bool


def upgrade_library(
    folder: str | Path,
    *,
    recipe: str = "",
    processes: int | None = None,
    device: str = PROCESSOR,
    progress: Progress = quiet,
) -> Upgrade:
    """Upgrade a library; raises `InputError` if that is not possible.

    Args:
        folder: The library.
        recipe: The recipe to build with; by default that of the library.
        processes: The number of worker processes; by default one per core.
        device: The device that encodes passages (see `build_library`).
        progress: Called as the work goes on.
    """
    if is_address(folder):
        raise InputError(
            f"{folder}: a library on a cluster is published again: upgrade its folder, then "
            "'mathsetu publish'"
        )
    library = Path(folder)
    former = _known_manifest(library)
    chosen, note = (load_recipe(recipe), "") if recipe else _recipe_of(library, former)
    if former.format == FORMAT and not recipe:
        manifest = read_manifest(library)
        check(library, manifest)
        if all(models_of(chosen).get(part) == name for part, name in manifest.models.items()):
            return Upgrade(former.format, manifest.posts, chosen.name, note, changed=False)
    build_library(
        library,
        former_posts(library, former),
        chosen,
        fingerprint=f"upgrade {former.checksum}",
        processes=processes,
        device=device,
        progress=progress,
    )
    return Upgrade(former.format, read_manifest(library).posts, chosen.name, note, changed=True)


def stored_posts(folder: Path) -> Iterator[Post]:
    """The posts of a library of this or an older format, with the formulas of their texts."""
    for post in former_posts(folder, _known_manifest(folder)):
        # The store leaves out formulas that can be extracted from the texts.
        yield replace(post, formulas=PostFacts(post, split_texts(written_texts(post))).all_formulas)


def _known_manifest(library: Path) -> FormerManifest:
    former = read_former_manifest(library)
    if former.format > FORMAT:
        raise InputError(
            f"{library}: was written in format {former.format} by a newer version of MathSetu; "
            f"this one writes format {FORMAT}; install a newer version"
        )
    return former


def _recipe_of(library: Path, former: FormerManifest) -> tuple[Recipe, str]:
    """The recipe of a library, or the shipped one of that name with a note on the reason."""
    try:
        recipe = parse_table(former.recipe, str(library))
        check_parts(recipe)
        return recipe, ""
    except InputError as error:
        name = str(former.recipe.get("name", ""))
        if name not in recipe_names():
            raise InputError(
                f"{library}: its recipe {name!r:.60} cannot be read by this version ({error}); "
                "choose one with --recipe"
            ) from error
        note = f"its recipe {name} was stored with settings that this version does not know"
        return load_recipe(name), f"{note}; it was built by the {name} of this version"


def former_posts(library: Path, former: FormerManifest) -> Iterator[Post]:
    """The posts of a library of any format, without removed posts."""
    for name, removed in former.segments:
        path = segment_folder(library, name) / STORE
        if not is_plain_file(path):
            raise DamagedLibrary(path, "is missing")
        for number, post in _stored_posts(path):
            if number not in removed:
                yield post


def _stored_posts(path: Path) -> Iterator[tuple[int, Post]]:
    address = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
    try:
        with closing(sqlite3.connect(address, uri=True)) as connection:
            # An untrusted file may contain views and triggers.
            connection.executescript("PRAGMA trusted_schema = OFF; PRAGMA query_only = ON;")
            query = "SELECT type FROM sqlite_master WHERE name = 'posts'"
            columns = {row[1] for row in connection.execute("PRAGMA table_info(posts)")}
            if connection.execute(query).fetchall() != [("table",)] or not columns >= {*_COLUMNS}:
                raise DamagedLibrary(path, "does not have the expected tables")
            rows = connection.execute(
                f"SELECT {', '.join(_COLUMNS)} FROM posts ORDER BY number"  # noqa: S608
            )
            for number, language, collection, record in rows:
                post = from_json(json.loads(record), Post)
                yield (
                    int(number),
                    replace(
                        post,
                        language=post.language or str(language),
                        collection=post.collection or str(collection),
                    ),
                )
    except (sqlite3.Error, ValueError, TypeError, LookupError, RecursionError) as error:
        raise DamagedLibrary(path, f"has a post that cannot be read ({error})") from error
