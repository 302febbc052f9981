"""The content of a library on a cluster, for `mathsetu info`."""

from __future__ import annotations

from typing import Any

from mathsetu.cluster.client import Cluster, connected
from mathsetu.cluster.layout import COUNTED, FORMULA, MEANING
from mathsetu.cluster.snapshot import Newest, Snapshot
from mathsetu.cluster.state import read_state
from mathsetu.errors import InputError


def facts_of(cluster: Cluster, thorough: bool = False) -> dict[str, Any]:
    """The facts about a library.

    Args:
        cluster: The cluster with the library.
        thorough: Whether to count all points and compare the counts with the state.
    """
    snapshot = Newest(cluster).get()
    state = snapshot.state
    shape = cluster.read("the collections", "get_collection", snapshot.names.posts)
    facts = {
        "recipe": state.recipe["name"],
        "posts": state.posts,
        "languages": dict(state.languages),
        "version": state.version,
        "build": state.build,
        "shards": shape.config.params.shard_number,
        "replicas": shape.config.params.replication_factor,
        "health": str(getattr(shape.status, "value", shape.status)),
        "terms": {name: len(counts) for name, counts in snapshot.counts.items() if len(counts)},
        "written_by": f"MathSetu {state.written}",
    }
    if thorough:
        _check_counts(snapshot)
    return facts


def languages_of(address: str) -> dict[str, int]:
    """The number of posts in each language."""
    with connected(address) as cluster:
        state = read_state(cluster, cluster.address.name)
        return {} if state is None else state.languages


def _check_counts(snapshot: Snapshot) -> None:
    state, models = snapshot.state, snapshot.cluster.models
    # Of formulas with the same LaTeX, one counts.
    once = models.FieldCondition(key=COUNTED, range=models.Range(lte=state.version))
    wanted = {snapshot.names.posts: (state.posts, snapshot.visible())}
    for name, part in state.recipe["parts"].items():
        if part["kind"] == FORMULA:
            counting = snapshot.visible(None, once)
            wanted[snapshot.names.part(name)] = (state.parts[name].documents, counting)
        elif part["kind"] == MEANING:
            # The number of passages is stored with the posts only, so it is not compared.
            wanted[snapshot.names.part(name)] = (-1, snapshot.visible())
    for collection, (count, chosen) in wanted.items():
        found = snapshot.cluster.read(
            collection,
            "count",
            collection,
            count_filter=chosen,
            exact=True,
        ).count
        if count not in (-1, found):
            raise InputError(
                f"{snapshot.cluster.address}: {collection} has {found:,} points instead of "
                f"{count:,}; publish the library again"
            )
