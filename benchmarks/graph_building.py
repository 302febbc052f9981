"""Measures graph building on the ARQMath data: ``python benchmarks/graph_building.py``.

Builds the graph of every answer, of every question with an answer, and of every CrossMath topic in
every language. Prints how many are connected, the speed, and statistics of the graphs. As in the
MathAMR+ thesis, the graph of an answer is made from its own text, and that of a question from its
title and text. Times are processor times of one process, including the first posts, which fill the
caches.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from benchmarks.shared import DATA, LANGUAGES, arqmath_posts, topics
from mathsetu.graphs import Graph, GraphBuilder, Source, TypeCounts
from mathsetu.graphs.makers import best_maker
from mathsetu.graphs.vocabulary import UNKNOWN
from mathsetu.records import Post, Query

# Posts per batch, so that a parser gets enough sentences at a time.
TOGETHER = 64
# The figures in the thesis for its 2.4 million graphs (table 4.2).
THESIS = "thesis: 98.0% of posts; answers 168.2 nodes, 6.9 formulas; questions 143.8 nodes, 5.8 \
formulas; 160.1 edges; median 101 nodes"


def answers(posts: Iterable[Post]) -> list[Source]:
    return [
        Source(
            post.body,
            post.language,
            [formula for formula in post.formulas if formula.where == "body"],
        )
        for post in posts
    ]


def questions(posts: Iterable[Post]) -> list[Source]:
    different = {post.parent_id: post for post in posts}
    return [
        Source(f"{post.title}\n\n{post.question}", post.language) for post in different.values()
    ]


def asked(queries: Iterable[Query]) -> list[Source]:
    return [Source(f"{query.title}\n\n{query.text}", query.language) for query in queries]


class Statistics:
    """Statistics of graphs, which are not kept themselves."""

    def __init__(self) -> None:
        self.nodes: list[int] = []
        self.connected = self.edges = self.sentences = self.formulas = 0
        self.seconds = 0.0

    def add(self, graph: Graph) -> None:
        self.nodes.append(len(graph.labels))
        self.connected += graph.is_connected()
        self.edges += len(graph.sources)
        self.sentences += len(graph.sentences)
        self.formulas += len(graph.formulas)

    def row(self, name: str) -> str:
        count = len(self.nodes)
        return (
            f"| {name} | {count:,} | {self.connected:,} ({self.connected / count:.2%}) "
            f"| {statistics.mean(self.nodes):.1f} | {statistics.median(self.nodes):.0f} "
            f"| {self.edges / count:.1f} | {self.sentences / count:.1f} "
            f"| {self.formulas / count:.1f} | {count / self.seconds:.0f} |"
        )


class Types:
    """The types of nodes and relations, before and after normalisation."""

    def __init__(self) -> None:
        self.counts = TypeCounts()
        self.raw: set[str] = set()

    def add(self, graph: Graph) -> None:
        self.counts.add(graph)
        self.raw.update(graph.labels)

    def report(self) -> str:
        nodes = self.counts.nodes
        vocabulary = self.counts.vocabulary()
        known = sum(count for kind, count in nodes.items() if vocabulary.node(kind) != UNKNOWN)
        return (
            f"node types: {len(self.raw):,} raw, {len(nodes):,} normalised, "
            f"{len(vocabulary.node_types):,} in the vocabulary, which covers "
            f"{known / nodes.total():.2%} of the nodes\n"
            f"relation types: {len(self.counts.relations):,} raw, "
            f"{len(vocabulary.relation_types):,} with virtual nodes and inverses"
        )


def measure(builder: GraphBuilder, sources: Sequence[Source], types: Types) -> Statistics:
    """Build the graphs, and time only this."""
    found = Statistics()
    for start in range(0, len(sources), TOGETHER):
        begun = time.process_time()
        graphs = builder.build_many(sources[start : start + TOGETHER])
        found.seconds += time.process_time() - begun
        for graph in graphs:
            found.add(graph)
            types.add(graph)
    return found


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--data", type=Path, default=DATA, help="data folder")
    arguments.add_argument("--maker", default="terms", help="terms, dependency, amr or best")
    arguments.add_argument("--every", type=int, default=1, help="take each so many-th post only")
    options = arguments.parse_args()

    posts = list(arqmath_posts(options.data))[:: options.every]
    texts = {"answers": answers(posts), "questions": questions(posts)}
    for language in LANGUAGES:
        if options.maker not in ("dependency", "amr") or best_maker(language) != "terms":
            queries = topics(language, options.data)[:: options.every]
            texts[f"topics, {language}"] = asked(queries)
    builder, types = GraphBuilder(options.maker), Types()
    print("| | texts | connected | nodes | median | edges | sentences | formulas | a second |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name, sources in texts.items():
        builder.build(Source("Loads the glossary and the parser.", sources[0].language))
        print(measure(builder, sources, types).row(name), flush=True)
    print(
        f"\n{types.report()}\n{THESIS}\nsentences whose maker failed: "
        f"{builder.failures['sentences']:,}; formulas hung on the root: "
        f"{builder.failures['formulas']:,}"
    )


if __name__ == "__main__":
    main()
