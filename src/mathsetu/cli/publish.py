"""``mathsetu publish``: publishes a library, or a shard of a plan, on a Qdrant cluster."""

from __future__ import annotations

import time
from pathlib import Path

import click

from mathsetu.cli.output import (
    device_option,
    json_option,
    print_json,
    progress_bar,
    say,
)
from mathsetu.cluster.client import connected
from mathsetu.cluster.layout import Spread
from mathsetu.cluster.plan import finish_plan, is_plan, publish_shard
from mathsetu.cluster.publish import GRACE, publish_library
from mathsetu.errors import InputError
from mathsetu.pool import all_cores
from mathsetu.printable import counted


@click.command("publish")
@click.argument("source", type=click.Path(file_okay=False, path_type=Path))
@click.argument("address")
@click.option("--shard", type=click.IntRange(0), metavar="NUMBER",
              help="Build and publish this shard of a plan.")  # fmt: skip
@click.option("--shards", type=click.IntRange(1, 1000), default=1, show_default=True,
              help="Shards of each new collection on the cluster.")  # fmt: skip
@click.option("--replicas", type=click.IntRange(1, 100), default=1, show_default=True,
              help="Copies of each shard, on different nodes.")  # fmt: skip
@click.option("--grace", type=click.FloatRange(0), default=GRACE, show_default=True,
              help="Seconds for which the old collections are kept.")  # fmt: skip
@click.option("--processes", type=click.IntRange(1),
              help="Worker processes (default: one per core).")  # fmt: skip
@device_option
@json_option
def command(
    source: Path,
    address: str,
    shard: int | None,
    shards: int,
    replicas: int,
    grace: float,
    processes: int | None,
    device: str,
    as_json: bool,
) -> None:
    r"""Publish the library or plan SOURCE on the cluster at ADDRESS (qdrant://HOST:PORT/NAME).

    The library becomes visible when it is complete. If the command is interrupted, run it again to
    resume. With --shard, one shard of a plan is built and published; without it, all shards must be
    published, and the library's name is switched to them.

    An API key, if the cluster requires one, is read from QDRANT_API_KEY. It is sent only to the
    addresses in QDRANT_URL.

    \b
    Examples:
      mathsetu publish math.library qdrant://localhost:6333/math
      mathsetu publish math.library qdrants://a,b,c/math --shards 6 --replicas 2
      mathsetu publish /shared/plan qdrant://db:6333/math --shard 7
    """
    started = time.perf_counter()
    spread = Spread(shards, replicas)
    with progress_bar() as progress, connected(address) as cluster:
        if not is_plan(source):
            if shard is not None:
                raise InputError(f"{source}: is not a plan, so it has no shards (mathsetu plan)")
            workers = processes or all_cores()
            posts = publish_library(cluster, source, spread, progress, grace, workers).posts
        elif shard is None:
            posts = finish_plan(cluster, source, grace).posts
        else:
            posts = publish_shard(cluster, source, shard, spread, processes, progress, device)
    seconds = time.perf_counter() - started
    if as_json:
        print_json({"address": address, "posts": posts, "seconds": round(seconds, 2)})
    else:
        what = f"shard {shard}: " if shard is not None else ""
        say(f"{address}: {what}{counted(posts, 'post')} published in {seconds:.1f} s")
