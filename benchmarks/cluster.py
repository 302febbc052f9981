"""Measures a library on a real Qdrant server, or on a cluster of several, against its folder.

    python -m benchmarks.cluster answers LIBRARY TOPICS… --nodes 3 --replicas 2
    python -m benchmarks.cluster kill LIBRARY --nodes 3 --replicas 2 --users 20
    python -m benchmarks.cluster publish LIBRARY --kills 30
    python -m benchmarks.cluster changes LIBRARY --users 4
    python -m benchmarks.cluster snapshot LIBRARY

The servers are started on this machine (``MATHSETU_QDRANT`` names the program) and ended. TOPICS
are files of queries, or the word ``sampler``, which has judgments; ``--qrels`` names others.
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
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any

import numpy as np

from mathsetu.cluster.client import connected
from mathsetu.cluster.layout import Spread
from mathsetu.cluster.publish import publish_library
from mathsetu.cluster.snapshot import Newest
from mathsetu.collections import sampler, trec
from mathsetu.collections.formats import detect
from mathsetu.collections.rows import BadRows
from mathsetu.errors import MathSetuError
from mathsetu.evaluation import Judgments, evaluate, parse_measures
from mathsetu.library import Library, add_posts, build_library, remove_posts
from mathsetu.records import Hit, Query, Run
from tests.retrieval.qdrant_server import LocalQdrant

_K = 10


@contextmanager
def servers(nodes: int) -> Iterator[list[LocalQdrant]]:
    """Nodes of a cluster, ended and cleared away afterwards."""
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
    queries: list[Query] = []
    for topic in topics:
        if topic == "sampler":
            queries += sampler.queries()
        else:
            queries += detect(topic).read(topic, BadRows())
    return random.Random(1).sample(queries, most) if 0 < most < len(queries) else queries


def publish(folder: Path, address: str, spread: Spread) -> float:
    begun = time.perf_counter()
    with connected(address) as cluster:
        publish_library(cluster, folder, spread, lambda what, number: None)
    return time.perf_counter() - begun


def percentile(seconds: Sequence[float], share: float) -> float:
    return float(np.percentile(np.array(seconds) * 1000, share)) if seconds else 0.0


def answers(options: argparse.Namespace) -> dict[str, Any]:
    """Whether the answers are the same, and how long they take."""
    queries = read_queries(options.topics, options.queries)
    with servers(options.nodes) as nodes, Library(options.library) as here:
        address = address_of(nodes)
        took = publish(options.library, address, Spread(options.shards, options.replicas))
        print(f"published in {took:.1f} s", file=sys.stderr, flush=True)
        with Library(address) as there:
            there.search(queries[0], _K)
            spent, times, times_here = watched(there), [], []
            same, hits, equal, explained = 0, 0, 0, 0
            found: dict[str, dict[str, tuple[Hit, ...]]] = {"folder": {}, "cluster": {}}
            for query in queries:
                begun = time.perf_counter()
                theirs = there.search(query, _K)
                middle = time.perf_counter()
                ours = here.search(query, _K)
                times.append(middle - begun)
                times_here.append(time.perf_counter() - middle)
                own = {hit.id for hit in ours}
                hits += len(ours)
                same += sum(hit.id in own for hit in theirs)
                equal += [hit.id for hit in ours] == [hit.id for hit in theirs]
                explained += sum(
                    (one.id, one.reasons) == (other.id, other.reasons)
                    for one, other in zip(ours, theirs, strict=False)
                )
                found["folder"][query.id], found["cluster"][query.id] = ours, theirs
        parts = {what: round(1000 * total / len(queries), 1) for what, total in spent.items()}
        return {
            "nodes": options.nodes,
            "posts": len(here),
            "queries": len(queries),
            "publish s": round(took, 1),
            "top 10 in common": round(same / max(hits, 1), 4),
            "whole lists equal": round(equal / len(queries), 4),
            "same place, same reasons": round(explained / max(hits, 1), 4),
            "nDCG@10": by_language(queries, found, judged(options)),
            "p50 ms": round(percentile(times, 50)),
            "p95 ms": round(percentile(times, 95)),
            "p50 ms in the folder": round(percentile(times_here, 50)),
            "ms per query by request": parts,
        }


def judged(options: argparse.Namespace) -> Judgments | None:
    """The judgments of the sampler, or those of a file."""
    if options.qrels is not None:
        return Judgments.of(trec.read_qrels(options.qrels))
    return Judgments.of(sampler.judgments()) if options.topics == ["sampler"] else None


def by_language(
    queries: Sequence[Query],
    found: dict[str, dict[str, tuple[Hit, ...]]],
    judgments: Judgments | None,
) -> dict[str, list[float]]:
    """For each language of queries: nDCG@10 of the folder, and of the cluster."""
    if judgments is None:
        return {}
    measure = parse_measures(["nDCG@10"])[0]
    means: dict[str, list[float]] = {}
    for language in sorted({query.language for query in queries}):
        own = {query.id for query in queries if query.language == language}
        topics = {name: grades for name, grades in judgments.grades.items() if name in own}
        if topics:
            results = [
                evaluate(
                    Run(place, {name: run[name] for name in topics}),
                    Judgments(topics),
                    [measure],
                    relevant_from=judgments.relevant_from,
                )
                for place, run in found.items()
            ]
            means[language or "?"] = [round(one.mean(measure), 4) for one in results]
    return means


def watched(library: Library) -> dict[str, float]:
    """Seconds that a library's requests take, by what they ask for; counted from now on."""
    spent: defaultdict[str, float] = defaultdict(float)
    cluster = library._holdings._cluster  # type: ignore[attr-defined]
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
    """Users who search at once, and compare what they get with what they should get."""

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
    """What users notice when a node is killed, stays away and comes back."""
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
    """Whether a publisher that is killed at random moments ends with the same collections."""
    with servers(1) as nodes:
        whole = address_of(nodes, "whole")
        seconds = publish(options.library, whole, Spread())
        expected = content(whole)
        killed, address = 0, address_of(nodes)
        chosen = random.Random(options.seed)
        command = [sys.executable, "-m", "mathsetu", "publish", str(options.library), address]
        while killed < options.kills:
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=os.environ)
            try:
                # Starting takes a second or two; the work gets less each time.
                process.wait(2.0 + chosen.random() * seconds / options.kills * 2)
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
    """How many points each collection has, and a digest of all that they hold."""
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
    """Additions and removals under load: nobody sees half of one, and counts are right then."""
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


def snapshots(options: argparse.Namespace) -> dict[str, Any]:
    """Snapshot, wipe, restore: the same answers."""
    queries = read_queries(["sampler"], 20)
    with servers(1) as nodes:
        address = address_of(nodes)
        publish(options.library, address, Spread())
        with Library(address) as library:
            before = [library.search(query, _K) for query in queries]
        begun = time.perf_counter()
        with connected(address) as cluster:
            names = sorted(
                one.name for one in cluster.read("the list", "get_collections").collections
            )
            saved = {name: cluster.write(name, "create_snapshot", name).name for name in names}
            alias = cluster.read("aliases", "get_aliases").aliases[0]
            middle = time.perf_counter()
            for name in names:
                cluster.write(name, "delete_collection", name)
            place = nodes[0].snapshots
            for name, file in saved.items():
                where = f"file://{place / name / file}"
                cluster.write(name, "recover_snapshot", name, location=where, wait=True)
            models = cluster.models
            new = models.CreateAlias(
                collection_name=alias.collection_name, alias_name=alias.alias_name
            )
            again = models.CreateAliasOperation(create_alias=new)
            cluster.write("the name", "update_collection_aliases", [again])
        took = time.perf_counter() - middle
        with Library(address) as library:
            after = [library.search(query, _K) for query in queries]
        return {
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
    options = parser.parse_args()
    print(json.dumps({options.verb: verbs[options.verb](options)}, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main()
