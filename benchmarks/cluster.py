"""Compares a library on a real Qdrant server, or a cluster of several, with the same in a folder.

    python -m benchmarks.cluster answers LIBRARY TOPICS… --nodes 3 --replicas 2
    python -m benchmarks.cluster kill LIBRARY --nodes 3 --replicas 2 --users 20
    python -m benchmarks.cluster publish LIBRARY --kills 30
    python -m benchmarks.cluster changes LIBRARY --users 4
    python -m benchmarks.cluster snapshot LIBRARY --nodes 3 --shards 3 --replicas 2
    python -m benchmarks.cluster growth LIBRARY arqmath --steps 1 4 17 --shards 8 --processes 16

The servers are started on this machine (``MATHSETU_QDRANT`` names the program) and stopped at the
end. TOPICS are files of queries, or the words ``sampler`` or ``arqmath`` (its judged topics in
seven languages, from the shared data), which have judgments; ``--qrels`` names others. ``growth``
publishes the first segments of a library, then more of them; `benchmarks.enlarged_library` makes
large libraries.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from threading import Event, Thread
from typing import Any

import numpy as np

from benchmarks import shared
from mathsetu import __version__
from mathsetu.cluster.client import connected
from mathsetu.cluster.layout import Names, Spread
from mathsetu.cluster.publish import publish_library, send_part, set_alias, summed
from mathsetu.cluster.snapshot import Newest
from mathsetu.cluster.state import State, new_token, read_mark, write_state
from mathsetu.collections import sampler, trec
from mathsetu.collections.formats import detect
from mathsetu.collections.rows import BadRows
from mathsetu.errors import MathSetuError
from mathsetu.evaluation import Judgments, evaluate, parse_measures
from mathsetu.library import Library, add_posts, build_library, remove_posts
from mathsetu.library.manifest import read_manifest
from mathsetu.pool import ordered_map
from mathsetu.records import Hit, Query, Run
from tests.retrieval.qdrant_server import LocalQdrant

_K = 10
# Scores that differ by less are equal.
_SAME = 1e-5
# The build id of the library that is published in steps.
_GROWING = "growing"


@contextmanager
def servers(nodes: int) -> Iterator[list[LocalQdrant]]:
    """Start the nodes of a cluster; stop and delete them afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="mathsetu-cluster-"))
    started: list[LocalQdrant] = []
    try:
        if nodes == 1:
            started.append(LocalQdrant(folder))
            started[0].start()
        else:
            started += LocalQdrant.cluster(folder, nodes)
        yield started
    finally:
        for node in started:
            node.kill()
        shutil.rmtree(folder, ignore_errors=True)


def address_of(nodes: Sequence[LocalQdrant], name: str = "math") -> str:
    hosts = ",".join(node.url.removeprefix("http://") for node in nodes)
    return f"qdrant://{hosts}/{name}"


def read_queries(topics: Sequence[str], most: int) -> list[Query]:
    """Read queries from files, the sampler, or ARQMath's judged topics in seven languages."""
    queries: list[Query] = []
    for topic in topics:
        if topic == "sampler":
            queries += sampler.queries()
        elif topic == "arqmath":
            queries += arqmath_queries()
        else:
            queries += detect(topic).read(topic, BadRows())
    return random.Random(1).sample(queries, most) if 0 < most < len(queries) else queries


def arqmath_queries() -> list[Query]:
    """ARQMath's topics with a relevant post; their ids are prefixed with the language."""
    wanted = set().union(*(shared.judged(year) for year in shared.YEARS))
    return [
        replace(query, id=f"{language}/{query.id}")
        for language in shared.LANGUAGES
        for query in shared.topics(language)
        if query.id in wanted
    ]


def publish(folder: Path, address: str, spread: Spread, processes: int = 1) -> float:
    begun = time.perf_counter()
    with connected(address) as cluster:
        publish_library(cluster, folder, spread, lambda what, number: None, processes=processes)
    return time.perf_counter() - begun


def wait_until_indexed(address: str, seconds: float = 300.0) -> float:
    """Wait until the servers have finished background indexing; return the seconds waited."""
    begun = time.perf_counter()
    with connected(address) as cluster:
        names = Newest(cluster).get().names
        listed = cluster.read("the list", "get_collections").collections
        own = [one.name for one in listed if one.name.startswith(names.meta)]
        while time.perf_counter() - begun < seconds:
            found = [cluster.read(name, "get_collection", name).status for name in own]
            if all(getattr(status, "value", status) == "green" for status in found):
                break
            time.sleep(0.5)
    return time.perf_counter() - begun


def percentile(seconds: Sequence[float], share: float) -> float:
    return float(np.percentile(np.array(seconds) * 1000, share)) if seconds else 0.0


@dataclass(frozen=True)
class ComparedQuery:
    """A query that was run on both: the hits and the seconds of the folder and of the cluster."""

    query: Query
    ours: tuple[Hit, ...]
    theirs: tuple[Hit, ...]
    here: float
    there: float


def ask_both(
    folder: Path, address: str, queries: Sequence[Query]
) -> tuple[list[ComparedQuery], dict[str, float]]:
    """Search a folder and a cluster; also return the seconds of each kind of request."""
    asked = []
    with Library(folder) as here, Library(address) as there:
        for library in (here, there):
            library.search(queries[0], _K)
        spent = watched(there)
        for query in queries:
            begun = time.perf_counter()
            theirs = there.search(query, _K)
            middle = time.perf_counter()
            ours = here.search(query, _K)
            end = time.perf_counter()
            asked.append(ComparedQuery(query, ours, theirs, end - middle, middle - begun))
    return asked, dict(spent)


def answers(options: argparse.Namespace) -> dict[str, Any]:
    """Compare the answers of the cluster with those of the folder, and measure latency."""
    queries = read_queries(options.topics, options.queries)
    spread = Spread(options.shards, options.replicas)
    with servers(options.nodes) as nodes:
        address = address_of(nodes)
        took = publish(options.library, address, spread, options.processes)
        waited = wait_until_indexed(address)
        print(f"published in {took:.1f} s, indexed {waited:.1f} s", file=sys.stderr, flush=True)
        shares = [queries[start :: options.askers] for start in range(options.askers)]
        ask = partial(ask_both, options.library, address)
        asked: list[ComparedQuery] = []
        spent: Counter[str] = Counter()
        for some, own in ordered_map(ask, shares, options.askers):
            asked += some
            spent.update(own)
    hits = sum(len(one.ours) for one in asked)
    explained = sum(
        (mine.id, mine.reasons) == (other.id, other.reasons)
        for one in asked
        for mine, other in zip(one.ours, one.theirs, strict=False)
    )
    scored = sum(
        mine.id == other.id and abs(mine.score - other.score) < _SAME
        for one in asked
        for mine, other in zip(one.ours, one.theirs, strict=False)
    )
    same = sum(len({hit.id for hit in one.ours} & {hit.id for hit in one.theirs}) for one in asked)
    equal = sum([hit.id for hit in one.ours] == [hit.id for hit in one.theirs] for one in asked)
    times = [one.there for one in asked]
    return {
        "nodes, shards, replicas": [options.nodes, options.shards, options.replicas],
        "posts": read_manifest(options.library).posts,
        "queries": len(asked),
        "processes that asked at once": options.askers,
        "publish s": round(took, 1),
        "then indexed s": round(waited, 1),
        "top 10 in common": round(same / max(hits, 1), 4),
        "whole lists equal": round(equal / len(asked), 4),
        "same place, same score": round(scored / max(hits, 1), 4),
        "same place, same reasons": round(explained / max(hits, 1), 4),
        "nDCG@10 of folder and cluster": by_language(asked, judged(options)),
        "p50 ms": round(percentile(times, 50)),
        "p95 ms": round(percentile(times, 95)),
        "p50 ms in the folder": round(percentile([one.here for one in asked], 50)),
        "ms per query by request": by_request(spent, len(asked)),
    }


def by_request(spent: Mapping[str, float], queries: int) -> dict[str, float]:
    """Milliseconds per query for each kind of request, the slowest first."""
    ordered = sorted(spent.items(), key=lambda entry: -entry[1])
    return {what: round(1000 * total / queries, 1) for what, total in ordered}


def judged(options: argparse.Namespace) -> Judgments | None:
    """The judgments of the sampler or of ARQMath's topics, or those of a file."""
    if options.qrels is not None:
        return Judgments.of(trec.read_qrels(options.qrels))
    if options.topics == ["arqmath"]:
        grades = {topic: own for year in shared.YEARS for topic, own in shared.judged(year).items()}
        return Judgments(
            {
                f"{language}/{topic}": own
                for language in shared.LANGUAGES
                for topic, own in grades.items()
            }
        )
    return Judgments.of(sampler.judgments()) if options.topics == ["sampler"] else None


def by_language(
    asked: Sequence[ComparedQuery], judgments: Judgments | None
) -> dict[str, list[float]]:
    """The nDCG@10 of the folder and of the cluster, by the language of the queries."""
    if judgments is None:
        return {}
    measure = parse_measures(["nDCG@10"])[0]
    groups: defaultdict[str, list[ComparedQuery]] = defaultdict(list)
    for one in asked:
        if one.query.id in judgments.grades:
            language, _, topic = one.query.id.partition("/")
            groups[language if topic else one.query.language or "?"].append(one)
    means: dict[str, list[float]] = {}
    for language, group in sorted(groups.items()):
        topics = Judgments({one.query.id: judgments.grades[one.query.id] for one in group})
        runs = (
            Run("folder", {one.query.id: one.ours for one in group}),
            Run("cluster", {one.query.id: one.theirs for one in group}),
        )
        means[language] = [
            round(
                evaluate(run, topics, [measure], relevant_from=judgments.relevant_from).mean(
                    measure
                ),
                4,
            )
            for run in runs
        ]
    return means


def watched(library: Library) -> dict[str, float]:
    """Count the seconds of a library's requests by kind, from now on."""
    spent: defaultdict[str, float] = defaultdict(float)
    cluster = library._backend._cluster  # type: ignore[attr-defined]
    plain = cluster.read

    def read(what: str, *arguments: Any, **named: Any) -> Any:
        begun = time.perf_counter()
        try:
            return plain(what, *arguments, **named)
        finally:
            spent[f"{what}: {arguments[0]}"] += time.perf_counter() - begun

    cluster.read = read
    return spent


class Users:
    """Concurrent users who compare each answer with the expected one."""

    def __init__(self, address: str, queries: Sequence[Query], count: int) -> None:
        self._library = Library(address)
        self._queries = queries
        self.expected = {query.id: self._ids(query) for query in queries}
        self.counts: Counter[str] = Counter()
        self.times: list[float] = []
        self.problems: Counter[str] = Counter()
        self._over = Event()
        self._threads = [Thread(target=self._work, args=(number,)) for number in range(count)]

    def _ids(self, query: Query) -> list[str]:
        return [hit.id for hit in self._library.search(query, _K, explain=False)]

    def _work(self, seed: int) -> None:
        chosen = random.Random(seed)
        while not self._over.is_set():
            query = chosen.choice(self._queries)
            begun = time.perf_counter()
            try:
                right = self._ids(query) == self.expected[query.id]
                self.counts["right" if right else "wrong"] += 1
            except MathSetuError as error:
                self.counts["failed"] += 1
                self.problems[str(error)[-160:]] += 1
            self.times.append(time.perf_counter() - begun)

    def __enter__(self) -> Users:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()
        self._library.close()


def kill(options: argparse.Namespace) -> dict[str, Any]:
    """What users see when a node is killed, stays down and comes back."""
    queries = read_queries(["sampler"], 40)
    with servers(options.nodes) as nodes:
        address = address_of(nodes)
        publish(options.library, address, Spread(options.shards, options.replicas))
        seconds = options.seconds
        with Users(address, queries, options.users) as users:
            time.sleep(seconds)
            before = Counter(users.counts)
            nodes[1].kill()
            time.sleep(seconds)
            during = users.counts - before
            nodes[1].start()
            time.sleep(seconds)
        with connected(address) as cluster, Library(options.library) as here:
            posts = Newest(cluster).get().state.posts
            names = Newest(cluster).get().names
            alone = address_of(nodes[1:2])
            with connected(alone) as revived:
                count = revived.read("a count", "count", names.posts, exact=True).count
            return {
                "before": dict(before),
                "while a node is away": dict(during),
                "all": dict(users.counts),
                "problems": dict(users.problems.most_common(5)),
                "p95 ms": round(percentile(users.times, 95)),
                "posts": [len(here), posts, count],
            }


def publishing(options: argparse.Namespace) -> dict[str, Any]:
    """Whether a publisher that is killed at random moments still produces the same collections."""
    with servers(1) as nodes:
        whole = address_of(nodes, "whole")
        seconds = publish(options.library, whole, Spread(), options.processes)
        expected = content(whole)
        run = [sys.executable, "-m", "mathsetu"]
        begun = time.perf_counter()
        subprocess.run([*run, "info", whole], check=True, stdout=subprocess.DEVNULL)
        start = time.perf_counter() - begun
        killed, address = 0, address_of(nodes)
        chosen = random.Random(options.seed)
        command = [*run, "publish", str(options.library), address]
        command += ["--processes", str(options.processes)]
        while killed < options.kills:
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=os.environ)
            try:
                # Each restart has less left to do.
                process.wait(start + chosen.random() * seconds / options.kills * 2)
                break
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                killed += 1
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return {
            "kills": killed,
            "points": sum(n for part, n in expected.items() if "digest" not in part),
            "same": content(address) == expected,
        }


def content(address: str) -> dict[str, int]:
    """The number of points of each collection, and a digest of their content."""
    found: dict[str, int] = {}
    with connected(address) as cluster:
        snapshot = Newest(cluster).get()
        for part in ("posts", *(f"part-{name}" for name in ("formulas", "meaning"))):
            offset: Any = None
            digest, total = 0, 0
            while True:
                points, offset = cluster.read(
                    part,
                    "scroll",
                    f"{snapshot.names.meta}-{part}",
                    limit=500,
                    offset=offset,
                    with_vectors=True,
                )
                for point in points:
                    kept = json.dumps([point.id, point.payload], sort_keys=True)
                    digest ^= hash(kept + str(point.vector))
                    total += 1
                if offset is None:
                    break
            found[part] = total
            found[f"{part} digest"] = digest
    return found


def changes(options: argparse.Namespace) -> dict[str, Any]:
    """Add and remove posts under load: readers must see all or none, and counts must be right."""
    queries = read_queries(["sampler"], 20)
    posts = list(sampler.posts())[: options.posts]
    with servers(options.nodes) as nodes, tempfile.TemporaryDirectory() as folder:
        address = address_of(nodes)
        build_library(Path(folder) / "first", posts[: len(posts) // 2], "default", processes=1)
        publish(Path(folder) / "first", address, Spread(options.shards, options.replicas))
        library = Library(address)
        batch = posts[len(posts) // 2 :]
        ids = {post.id for post in batch}
        seen: Counter[str] = Counter()
        over = Event()

        def look() -> None:
            while not over.is_set():
                for query in queries:
                    there = library.present(ids)
                    seen["all" if there == ids else "none" if not there else "half"] += 1
                    try:
                        library.search(query, _K)
                    except MathSetuError:
                        seen["failed"] += 1

        threads = [Thread(target=look) for _ in range(options.users)]
        for thread in threads:
            thread.start()
        times = []
        for _ in range(options.rounds):
            begun = time.perf_counter()
            add_posts(address, batch, processes=1)
            middle = time.perf_counter()
            remove_posts(address, ids)
            times.append((round(middle - begun, 2), round(time.perf_counter() - middle, 2)))
        add_posts(address, batch, processes=1)
        over.set()
        for thread in threads:
            thread.join()
        build_library(Path(folder) / "fresh", posts, "default", processes=1)
        fresh = address_of(nodes, "fresh")
        publish(Path(folder) / "fresh", fresh, Spread())
        return {
            "posts added and removed": len(batch),
            "s to add, to remove": times,
            "seen": dict(seen),
            "counts as in a fresh build": counts(address) == counts(fresh),
        }


def counts(address: str) -> dict[str, Any]:
    with connected(address) as cluster:
        snapshot = Newest(cluster).get()
    found = {}
    for name, part in snapshot.counts.items():
        table, state = part.together(), snapshot.state.parts[name]
        found[name] = (table.terms.tolist(), table.counts.tolist(), state.documents, state.length)
    return found


def growth(options: argparse.Namespace) -> dict[str, Any]:
    """Measure times as the collection grows: the segments of a library are published in steps."""
    queries = read_queries(options.topics, options.queries)
    manifest = read_manifest(options.library)
    rows = []
    with servers(1) as nodes:
        address = address_of(nodes)
        done = 0
        for version, segments in enumerate(options.steps, start=1):
            begun = time.perf_counter()
            send = partial(send_one, options.library, address, Spread(options.shards))
            for _ in ordered_map(send, range(done, segments), options.processes):
                pass
            done = segments
            with connected(address) as cluster:
                names = Names(cluster.address.name, _GROWING)
                marks = [read_mark(cluster, names.meta, number) for number in range(segments)]
                state = State(
                    names.build,
                    version,
                    manifest.recipe,
                    **summed([mark for mark in marks if mark]),
                    segments=segments,
                    written=__version__,
                    token=new_token(),
                )
                write_state(cluster, names.meta, state, expected=version - 1)
                set_alias(cluster, names)
            took = time.perf_counter() - begun
            waited = wait_until_indexed(address, options.seconds)
            rows.append(
                {
                    "posts": state.posts,
                    "distinct formulas": max(one.documents for one in state.parts.values()),
                    "publish s": round(took, 1),
                    "then indexed s": round(waited, 1),
                    **searched(address, queries),
                    "server MB in memory": nodes[0].memory() >> 20,
                    "server MB on disk": nodes[0].disk() >> 20,
                }
            )
            print(json.dumps(rows[-1]), file=sys.stderr, flush=True)
        if done == len(manifest.segments) and options.compared:
            some, _ = ask_both(options.library, address, queries[: options.compared])
            hits = sum(len(one.ours) for one in some)
            same = sum(
                len({hit.id for hit in one.ours} & {hit.id for hit in one.theirs}) for one in some
            )
            print(f"top 10 in common: {same / hits:.4f}", file=sys.stderr, flush=True)
            rows[-1] |= {
                "top 10 in common": round(same / hits, 4),
                "p50 ms in the folder": round(percentile([one.here for one in some], 50)),
            }
    return {"shards": options.shards, "queries": len(queries), "steps": rows}


def send_one(folder: Path, address: str, spread: Spread, number: int) -> None:
    """Publish one segment of a library, in a worker process."""
    with connected(address) as cluster:
        names = Names(cluster.address.name, _GROWING)
        manifest = read_manifest(folder)
        send_part(cluster, names, folder, manifest, number, number, spread, lambda *_: None)


def searched(address: str, queries: Sequence[Query]) -> dict[str, Any]:
    """Measure the latency of sequential searches on a cluster."""
    with Library(address) as library:
        for query in queries[:3]:
            library.search(query, _K)
        spent, times = watched(library), []
        for query in queries:
            begun = time.perf_counter()
            library.search(query, _K)
            times.append(time.perf_counter() - begun)
    return {
        "p50 ms": round(percentile(times, 50)),
        "p95 ms": round(percentile(times, 95)),
        "ms per query by request": by_request(spent, len(queries)),
    }


def snapshots(options: argparse.Namespace) -> dict[str, Any]:
    """Snapshot every node, delete the collections and restore them; answers must be the same."""
    queries = read_queries(["sampler"], 20)
    with servers(options.nodes) as nodes:
        address = address_of(nodes)
        publish(options.library, address, Spread(options.shards, options.replicas))
        with Library(address) as library:
            before = [library.search(query, _K) for query in queries]
        begun = time.perf_counter()
        with connected(address) as cluster:
            listed = cluster.read("the list", "get_collections").collections
            alias = cluster.read("aliases", "get_aliases").aliases[0]
        names = sorted(one.name for one in listed)
        saved: dict[tuple[int, str], str] = {}
        for number, node in enumerate(nodes):
            with connected(address_of([node])) as own:
                for name in names:
                    saved[number, name] = own.write(name, "create_snapshot", name).name
        middle = time.perf_counter()
        with connected(address) as cluster:
            for name in names:
                cluster.write(name, "delete_collection", name)
        for (number, name), file in saved.items():
            with connected(address_of(nodes[number : number + 1])) as own:
                own.write(
                    name,
                    "recover_snapshot",
                    name,
                    location=f"file://{nodes[number].snapshots / name / file}",
                    priority=own.models.SnapshotPriority.SNAPSHOT,
                    wait=True,
                )
        with connected(address) as cluster:
            models = cluster.models
            new = models.CreateAlias(
                collection_name=alias.collection_name, alias_name=alias.alias_name
            )
            again = models.CreateAliasOperation(create_alias=new)
            cluster.write("the name", "update_collection_aliases", [again])
        took = time.perf_counter() - middle
        wait_until_indexed(address)
        with Library(address) as library:
            after = [library.search(query, _K) for query in queries]
        return {
            "nodes": options.nodes,
            "collections": len(names),
            "snapshot s": round(middle - begun, 1),
            "wipe and restore s": round(took, 1),
            "same answers": before == after,
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    verbs = {
        "answers": answers,
        "kill": kill,
        "publish": publishing,
        "changes": changes,
        "snapshot": snapshots,
        "growth": growth,
    }
    parser.add_argument("verb", choices=verbs)
    parser.add_argument("library", type=Path, nargs="?")
    parser.add_argument("topics", nargs="*", default=["sampler"])
    parser.add_argument("--nodes", type=int, default=1)
    parser.add_argument("--shards", type=int, default=1)
    parser.add_argument("--replicas", type=int, default=1)
    parser.add_argument("--queries", type=int, default=0, help="so many of them, chosen at random")
    parser.add_argument("--qrels", type=Path, help="judgments of the topics")
    parser.add_argument("--users", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--posts", type=int, default=120)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=1, help="that publish")
    parser.add_argument("--askers", type=int, default=1, help="processes that ask at once")
    parser.add_argument("--steps", type=int, nargs="+", default=[1], help="numbers of segments")
    parser.add_argument("--compared", type=int, default=0, help="queries also asked of the folder")
    options = parser.parse_args()
    print(json.dumps({options.verb: verbs[options.verb](options)}, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main()
