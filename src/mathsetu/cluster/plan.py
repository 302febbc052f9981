"""Divides collections into shards that many machines build in parallel.

A plan is a folder: ``plan.json``, and a file of posts for each shard. A question and its answers
are in the same shard, because an answer is indexed with its question. A worker builds a library
from its shard and publishes it. A worker that was killed resumes where it stopped when it is
started again. There is no scheduler: a worker is one command with a shard number.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any

from mathsetu import __version__
from mathsetu.cluster.client import Cluster
from mathsetu.cluster.layout import COUNTED, FORMULA, Names, Spread, check_recipe, post_point
from mathsetu.cluster.points import FolderWeights, SegmentPoints
from mathsetu.cluster.publish import GRACE, finish, send_part
from mathsetu.cluster.sending import Progress, write_part_table
from mathsetu.cluster.state import PartState, State
from mathsetu.cluster.tables import EMPTY
from mathsetu.collections.jsonl import read_posts, to_json
from mathsetu.collections.rows import BadRows
from mathsetu.encoders.accelerator import PROCESSOR
from mathsetu.errors import InputError, reason
from mathsetu.library.manifest import check, has_manifest, read_manifest, segment_folder
from mathsetu.library.write import build_library
from mathsetu.plain_files import is_plain_file, open_plain, sync_folder
from mathsetu.pool import all_cores
from mathsetu.recipes.parts import check_parts
from mathsetu.recipes.schema import Recipe, parse_table
from mathsetu.records import Post

_PLAN, _SHARDS, _WORK = "plan.json", "shards", "work"
# The most segments of a shard's library, which numbers its segments on the cluster.
_MAX_SEGMENTS = 1_000
_MAX_SHARDS = 4_000
# Points per request.
_MARKED = 1_000
_FORMAT = 1


@dataclass(frozen=True)
class Plan:
    """The recipe and the shards of a distributed build.

    Attributes:
        recipe: The table of the recipe.
        shards: The number of posts of each shard.
        digest: Identifies the posts and the recipe.
        version: The version of MathSetu that made the plan.
    """

    recipe: dict[str, Any]
    shards: tuple[int, ...]
    digest: str
    version: str

    @property
    def filled(self) -> list[int]:
        """The numbers of the shards that have posts."""
        return [number for number, posts in enumerate(self.shards) if posts]


def make_plan(
    folder: Path, posts: Iterable[Post], recipe: Recipe, shards: int, progress: Progress
) -> Plan:
    """Divide posts into shards; ``plan.json`` is written last."""
    if not 1 <= shards <= _MAX_SHARDS:
        raise InputError(f"shards must be from 1 to {_MAX_SHARDS:,}, not {shards}")
    check_parts(recipe)
    check_recipe(recipe)
    if folder.exists() and any(folder.iterdir()) and not is_plain_file(folder / _PLAN):
        raise InputError(f"{folder}: is not a plan and not empty; choose another folder")
    shutil.rmtree(folder, ignore_errors=True)
    (folder / _SHARDS).mkdir(parents=True)
    table = json.loads(json.dumps(asdict(recipe)))
    digest = blake2b(json.dumps([table, shards], sort_keys=True).encode(), digest_size=6)
    counts = [0] * shards
    with ExitStack() as opened:
        files = [
            opened.enter_context(shard_file(folder, number).open("w", encoding="utf-8"))
            for number in range(shards)
        ]
        for total, post in enumerate(posts, start=1):
            number = shard_of(post, shards)
            line = json.dumps(to_json(post), ensure_ascii=False, separators=(",", ":"))
            files[number].write(f"{line}\n")
            digest.update(line.encode())
            counts[number] += 1
            progress("dividing", total)
    if not any(counts):
        raise InputError("there are no posts to divide")
    plan = Plan(table, tuple(counts), digest.hexdigest(), __version__)
    part = folder / f"{_PLAN}.part"
    content = {"mathsetu": "plan", "format": _FORMAT, **asdict(plan)}
    part.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    part.replace(folder / _PLAN)
    sync_folder(folder)
    return plan


def shard_of(post: Post, shards: int) -> int:
    """The shard of a post; an answer is in the shard of its question.

    >>> question, answer = Post(id="7", body="Why?"), Post(id="8", body="So.", parent_id="7")
    >>> shard_of(question, 10) == shard_of(answer, 10)
    True
    """
    family = (post.parent_id or post.id).encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(family, digest_size=8).digest(), "little") % shards


def shard_file(folder: Path, number: int) -> Path:
    """The file of a shard's posts."""
    return folder / _SHARDS / f"{number:04d}.jsonl"


def is_plan(folder: Path) -> bool:
    """Whether a folder holds a plan."""
    return is_plain_file(folder / _PLAN)


def read_plan(folder: Path) -> Plan:
    """Read a plan; the error says why it cannot be used."""
    path = folder / _PLAN
    try:
        with open_plain(path) as file:
            content = json.loads(file.read().decode())
        if content["mathsetu"] != "plan" or content["format"] != _FORMAT:
            raise ValueError("another format")
        shards = tuple(int(count) for count in content["shards"])
        recipe = dict(content["recipe"])
        digest = str(content["digest"])
        parse_table(recipe, str(path))
        if not digest.isalnum() or not digest.isascii() or len(digest) > 40:
            raise ValueError("its digest is invalid")
        return Plan(recipe, shards, digest, str(content["version"]))
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({reason(error)})") from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(
            f"{path}: is not a plan ({error}); divide the collections again"
        ) from error


def publish_shard(
    cluster: Cluster,
    folder: Path,
    number: int,
    spread: Spread,
    processes: int | None,
    progress: Progress,
    device: str = PROCESSOR,
) -> int:
    """Build a shard and publish it; returns the number of its posts.

    Args:
        cluster: The cluster to publish to.
        folder: The folder of the plan.
        number: The number of the shard.
        spread: How new collections are distributed over the nodes.
        processes: How many worker processes; one per core unless given.
        progress: Called as the work goes on.
        device: The device that encodes passages.
    """
    plan = read_plan(folder)
    if not 0 <= number < len(plan.shards):
        last = len(plan.shards) - 1
        raise InputError(f"{folder}: has shards from 0 to {last}, and no {number}")
    if not plan.shards[number]:
        return 0
    library = folder / _WORK / f"{number:04d}"
    fingerprint = f"{plan.digest} {number}"
    # The manifest is written last, so a library with one is complete.
    if not has_manifest(library):
        source = shard_file(folder, number)
        build_library(
            library,
            read_posts(source, BadRows()),
            parse_table(plan.recipe, str(folder)),
            fingerprint=fingerprint,
            processes=processes,
            device=device,
            progress=progress,
        )
    manifest = read_manifest(library)
    check(library, manifest)
    for place in range(len(manifest.segments)):
        segment = number * _MAX_SEGMENTS + place
        send_part(
            cluster,
            _names(cluster, plan),
            library,
            manifest,
            place,
            segment,
            spread,
            progress,
            processes or all_cores(),
        )
    return manifest.posts


def finish_plan(cluster: Cluster, folder: Path, grace: float = GRACE) -> State:
    """Make the library's name an alias of the build that the shards of a plan have published."""
    plan = read_plan(folder)
    segments: dict[int, Path] = {}
    for number in plan.filled:
        library = folder / _WORK / f"{number:04d}"
        if not library.is_dir():
            raise InputError(f"{folder}: shard {number} is not built yet")
        for place, segment in enumerate(read_manifest(library).segments):
            own = segment_folder(library, segment.name)
            segments[number * _MAX_SEGMENTS + place] = own
    names = _names(cluster, plan)
    recipe = parse_table(plan.recipe, str(folder))
    mend = partial(_counted_once, cluster, names, recipe, segments)
    return finish(cluster, names, plan.recipe, list(segments), grace, mend)


def _counted_once(
    cluster: Cluster,
    names: Names,
    recipe: Recipe,
    segments: Mapping[int, Path],
    parts: dict[str, PartState],
) -> dict[str, PartState]:
    """Correct the statistics: a formula in several shards counts only in the first of them.

    Args:
        cluster: The cluster with the shards.
        names: The collections.
        recipe: The recipe with the parts.
        segments: The folders of the segments, by their numbers on the cluster.
        parts: The statistics, in which formulas count once per shard.
    """
    once = dict(parts)
    for slot, name in enumerate(parts):
        if recipe.parts[name]["kind"] != FORMULA:
            continue
        known: set[int] = set()
        taken, count = EMPTY, 0
        for number, folder in segments.items():
            points = SegmentPoints(folder, recipe, FolderWeights([folder]), (), number, birth=1)
            keys = points.keys(name)
            again = [formula for formula, key in keys.items() if key in known]
            known.update(keys.values())
            for start in range(0, len(again), _MARKED):
                some = [post_point(number, one) for one in again[start : start + _MARKED]]
                cluster.write(
                    f"the part {name}",
                    "delete_payload",
                    names.part(name),
                    [COUNTED],
                    points=some,
                    wait=True,
                )
            taken, count = taken.plus(points.without(name, again)), count + len(again)
        if count:
            first = next(iter(segments))
            table = write_part_table(cluster, names, first, slot, taken, taken=True)
            once[name] = replace(
                parts[name],
                documents=parts[name].documents - count,
                tables=(*parts[name].tables, table),
                has_duplicate_formulas=True,
            )
    return once


def _names(cluster: Cluster, plan: Plan) -> Names:
    return Names(cluster.address.name, f"{plan.digest}p")
