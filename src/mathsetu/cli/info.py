"""``mathsetu info``: the content of a library."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from mathsetu.cli.output import LIBRARY, json_option, print_json, print_table, say
from mathsetu.library.manifest import check, read_manifest


@click.command("info")
@click.argument("library", type=LIBRARY)
@click.option(
    "--check",
    "thorough",
    is_flag=True,
    help="Verify the checksums of all files; on a cluster, count all points.",
)
@json_option
def command(library: Path | str, thorough: bool, as_json: bool) -> None:
    """Show the content of LIBRARY and how it was built."""
    if isinstance(library, str):
        facts = _on_cluster(library, thorough)
    else:
        facts = _in_folder(library, thorough)
    if as_json:
        print_json(facts)
        return
    rows = [_row(name, value) for name, value in facts.items()]
    print_table(("", str(library)), rows)
    if thorough:
        say("all checksums match" if isinstance(library, Path) else "all posts are present")


def _row(name: str, value: Any) -> tuple[str, Any]:
    """Format a fact for the table.

    >>> _row("bytes", 41_234), _row("bytes", 53_100_000)
    (('size', '41 kB'), ('size', '53.1 MB'))
    >>> _row("models", {"meaning": "mathsetu"}), _row("written_by", "MathSetu 1.0")
    (('models', 'meaning mathsetu'), ('written by', 'MathSetu 1.0'))
    """
    if name == "languages":
        return name, ", ".join(f"{code or '?'} {count:,}" for code, count in value.items())
    if name == "bytes":
        return "size", f"{value / 1e6:,.1f} MB" if value >= 1e6 else f"{value / 1e3:,.0f} kB"
    if name == "removed":
        note = " (removed or replaced posts; mathsetu optimize frees their space)" if value else ""
        return name, f"{value:,}{note}"
    if name == "models":
        return name, ", ".join(f"{part} {model}" for part, model in value.items()) or "none"
    return name.replace("_", " "), value


def _in_folder(library: Path, thorough: bool) -> dict[str, Any]:
    manifest = read_manifest(library)
    check(library, manifest, thorough=thorough)
    size = sum(size for segment in manifest.segments for size, _ in segment.files.values())
    return {
        "recipe": manifest.recipe["name"],
        "posts": manifest.posts,
        "languages": manifest.languages,
        "segments": len(manifest.segments),
        "removed": sum(len(segment.removed) for segment in manifest.segments),
        "bytes": size,
        "written_by": f"MathSetu {manifest.version}",
        "models": dict(manifest.models),
    }


def _on_cluster(address: str, thorough: bool) -> dict[str, Any]:
    from mathsetu.cluster.client import connected
    from mathsetu.cluster.facts import facts_of

    with connected(address) as cluster:
        return facts_of(cluster, thorough)
