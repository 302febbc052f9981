"""Builds and publishes the shards of a plan as Ray tasks, one for each shard.

    python examples/publish_with_ray.py PLAN qdrant://HOST:6333/NAME

Ray chooses the machines. If a machine fails, Ray restarts its task on another one. The command
resumes where it stopped, provided that the plan's folder shows its progress.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import ray

from mathsetu.cluster.plan import read_plan

_CORES = 2


@ray.remote(num_cpus=_CORES, max_retries=5, retry_exceptions=True)
def publish(plan: str, address: str, shard: int) -> int:
    """Build one shard and publish it."""
    command = [sys.executable, "-m", "mathsetu", "publish", plan, address]
    command += ["--shard", str(shard), "--processes", str(_CORES)]
    subprocess.run(command, check=True)  # noqa: S603 - our own program
    return shard


def main(plan: str, address: str) -> None:
    """Publish all shards, then switch the library's name to them."""
    tasks = [publish.remote(plan, address, shard) for shard in read_plan(Path(plan)).filled]
    while tasks:
        done, tasks = ray.wait(tasks)
        print(f"shard {ray.get(done[0])} is published, {len(tasks)} to go")  # noqa: T201
    command = [sys.executable, "-m", "mathsetu", "publish", plan, address]
    subprocess.run(command, check=True)  # noqa: S603 - our own program


if __name__ == "__main__":
    main(*sys.argv[1:])
