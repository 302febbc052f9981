"""``mathsetu info``: what a library holds."""

from __future__ import annotations

from pathlib import Path

import click

from mathsetu.cli.output import json_option, print_json, print_table, say
from mathsetu.library.manifest import check, read_manifest


@click.command("info")
@click.argument("library", type=click.Path(file_okay=False, path_type=Path))
@click.option("--check", "thorough", is_flag=True, help="Read every byte and compare checksums.")
@json_option
def command(library: Path, thorough: bool, as_json: bool) -> None:
    """Show what LIBRARY holds and how it was built."""
    manifest = read_manifest(library)
    check(library, manifest, thorough=thorough)
    size = sum(size for segment in manifest.segments for size, _ in segment.files.values())
    facts = {
        "recipe": manifest.recipe["name"],
        "posts": manifest.posts,
        "languages": manifest.languages,
        "segments": len(manifest.segments),
        "removed": sum(len(segment.removed) for segment in manifest.segments),
        "megabytes": round(size / 1e6, 1),
        "written by": f"MathSetu {manifest.version}",
    }
    if as_json:
        print_json(facts)
        return
    languages = ", ".join(f"{code or '?'} {n:,}" for code, n in manifest.languages.items())
    rows = [(name, languages if name == "languages" else value) for name, value in facts.items()]
    print_table(("", str(library)), rows)
    if thorough:
        say("every file is as it was written")
