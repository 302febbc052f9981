"""Fuzz targets for small text files: graphs, recipes, learned fusions, evaluations."""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.fuzz.mutate import Mutator, as_bytes, as_text
from benchmarks.fuzz.target import Target, WrongAnswer, expect, expect_equal, expect_refusal
from mathsetu.collections import sampler
from mathsetu.collections.trec import read_qrels, read_run
from mathsetu.errors import InputError, NotationError
from mathsetu.evaluation import Judgments, Measure, compare, evaluate, parse_measures
from mathsetu.graphs import Graph, build_graph
from mathsetu.graphs.graph import COREFERENCE
from mathsetu.graphs.normalise import node_type, unknown_number
from mathsetu.graphs.penman import read_penman, read_records, write_penman
from mathsetu.graphs.penman.mathamr import read_mathamr
from mathsetu.recipes import load_recipe, recipe_names, recipe_text
from mathsetu.recipes.learned import learned_text, read_learned
from mathsetu.recipes.parts import check_parts
from mathsetu.recipes.schema import Recipe, parse_recipe


def _contents(graph: Graph) -> tuple[Any, ...]:
    """The content of a graph, independent of the numbering of its nodes."""
    return (
        Counter((graph.labels[s], name, graph.labels[t]) for s, name, t in graph.edges()),
        Counter(graph.labels),
        graph.labels[graph.root],
    )


class Penman(Target):
    """Graphs in Penman notation, as texts and in files."""

    name = "penman"
    tokens = (
        '( ) / : :ARG0 :ARG0-of :op1 :opt :slt :snt1 :math :coref :consist-of " \\" \\n ~e.4 ~ # #'
        " ::id"
        " # ::formula_map {} (a / b) (FORMULA_0 / FORMULA_0 FORMULA_ FORMULA_99 - + interrogative"
        " 2 n0"
        ' V!( M!()1x1 V!: multi-sentence {"graph": {"penman":"(a / b)"} \n \n\n FORMULA_٣'
    ).split(" ")

    def open(self, place: Path) -> None:
        """Choose a file to write to."""
        self._path = place / f"graphs-{id(self)}.txt"

    def seeds(self) -> list[bytes]:
        """Graphs of sampler texts, the published form of MathAMR, and JSON Lines."""
        graphs = [
            write_penman(build_graph(post.body, post.language, maker="terms"))
            for post in list(sampler.posts())[:60:12]
        ]
        lines = [json.dumps({"id": str(n), "graph": text}) for n, text in enumerate(graphs)]
        blocks = [f'# ::id "{n}"\n# ::formula_map {{}}\n{text}\n' for n, text in enumerate(graphs)]
        return [*map(as_bytes, [*graphs, *lines, "\n\n".join(blocks), *_GRAPHS])]

    def check(self, data: bytes) -> None:
        """Check that an invalid graph is refused with a position, and that others are written."""
        text = as_text(data)
        try:
            graph = read_penman(text)
        except NotationError as error:
            expect_refusal(error)
        else:
            self._check_graph(graph)
        try:
            dialect = read_mathamr(text)
        except (InputError, NotationError) as error:
            expect_refusal(error)
        else:
            self._check_graph(dialect)
        self._path.write_bytes(data)
        try:
            records = list(read_records(self._path))
        except InputError as error:
            expect_refusal(error)
            return
        for record in records:
            self._check_graph(record.graph)

    def _check_graph(self, graph: Graph) -> None:
        expect(bool(graph.labels), "a graph has nodes")
        try:
            written = write_penman(graph)
        except InputError as error:
            expect_refusal(error)
            bare = Graph(graph.labels)
            for source, relation, target in graph.edges():
                if relation != COREFERENCE:  # links between equal formulas connect nothing
                    bare.add_edge(source, relation, target)
            expect(not bare.is_connected(), "a graph that hangs together is written", str(error))
            return
        again = read_penman(written, graph.formula_map)
        expect_equal(_contents(again), _contents(graph), "a written graph reads as the graph")
        for label in graph.labels:
            unknown_number(node_type(label))


_GRAPHS = (
    "(f / find-01 :arg1 (s / string-entity :value MATH \n :math (U1 / eq :op0(V1 / 𝑥) "
    ":op0(W1 / ))))",
    "(s / solve-01 :ARG1 (f / FORMULA_0 :opt (x / V!x)) :polarity -)",
    "(m / multi-sentence\n    :snt1 (h / have-03\n        :ARG0 (i / i)\n        :ARG1 (s / set\n"
    "            :mod (FORMULA_0 / FORMULA_0\n                :opt (o0 / U!plus :0 (o1 / V!x)"
    " :1 (o2 / N!1))\n                :slt (s0 / V!x :n (s1 / + :n (s2 / N!1))))))\n"
    '    :snt2 (h2 / have-03~e.4 :polarity - :ARG0 s :quant 2 :op1 "Q(x)")\n'
    "    :math (FORMULA_1 / FORMULA_1 :slt (z / M!()1x1 :w (z1 / V!a:b)) :opt (z2 / V!())))\n",
    "(a / and :op1 b :op2 (c / like-01 :ARG0 (b / boy)))",
    '{"id": 7, "penman": "(a / ring :ARG1-of (b / study-01) :consist-of (c / element))"}\n',
)


class Recipes(Target):
    """Recipes as TOML, and settings that override them."""

    name = "recipes"
    tokens = (
        "name= description= [parts] [parts.words] [[parts]] [ranking] [rerank] [query] [systems.a]"
        " kind="
        ' "lexical" "formula" "dense" "meaning" weights={} weights={words=1} k= -1 0 1e400 nan inf'
        " 2026-01-01"
        ' 07:32:00 true false [] {} """ \'\'\' \' " = . , # \n based_on="default" use=[]'
        ' fuse={method="rrf"}'
        ' scheme={name="bm25+"} candidates=9 candidates_from=["words"] normalise="minmax"'
        ' "\\u0000" 0x1F'
    ).split(" ")

    def open(self, place: Path) -> None:
        """Choose a file to write to."""
        self._path = place / f"recipe-{id(self)}.toml"

    def seeds(self) -> list[bytes]:
        """The built-in recipes, and settings that override those of the default recipe."""
        shipped = [as_bytes(recipe_text(name)) for name in recipe_names()]
        return [
            *shipped[:12],
            b"=ranking.k=7",
            b"=parts.words.kind=formula",
            b"=ranking.weights.words=0.5",
        ]

    def check(self, data: bytes) -> None:
        """Check that a recipe is refused in one line, or gives the same recipe each time."""
        text = as_text(data)
        if text.startswith("="):
            self._recipe(lambda: load_recipe("default", [text[1:]]))
            return
        recipe = self._recipe(lambda: parse_recipe(text, "fuzz"))
        if recipe is not None:
            expect_equal(parse_recipe(text, "fuzz"), recipe, "the recipe is the same again")
        self._path.write_bytes(data)
        self._recipe(lambda: load_recipe(str(self._path)))

    def _recipe(self, read: Any) -> Recipe | None:
        try:
            recipe: Recipe = read()
            check_parts(recipe)
        except InputError as error:
            expect_refusal(error)
            return None
        return recipe


class LearnedFusions(Target):
    """Learned settings of a fusion, as TOML."""

    name = "learned"
    tokens = (
        'method= "rbc" "wibc" "linear" "rrf" intercept= depth= seed= normalisation= "spread" = # \n'
        " [coefficients] [weights] a= b= 0.5 [0.1,0.2,0.3] [] {} -1 0 1e400 nan inf true 0x1F ' \""
    ).split(" ")

    def open(self, place: Path) -> None:
        """Choose a file to write to."""
        self._path = place / f"learned-{id(self)}.toml"

    def seeds(self) -> list[bytes]:
        """One file for each method that learns."""
        return [as_bytes(text) for text in _LEARNED]

    def check(self, data: bytes) -> None:
        """Check that a file is refused in one line, or can be written and read back."""
        self._path.write_bytes(data)
        try:
            learned = read_learned(self._path)
        except InputError as error:
            expect_refusal(error)
            return
        names = list(learned.values)
        self._path.write_text(learned_text(learned), encoding="utf-8")
        again = read_learned(self._path).fusion(names)
        expect_equal(repr(again), repr(learned.fusion(names)), "the fusion is the same again")


_LEARNED = (
    'method = "rbc"\nintercept = 0.1\ndepth = 1000\n\n[coefficients]\na = [0.1, 0.2, 0.3]\n',
    'method = "wibc"\nseed = 3\n\n[weights]\n"a b" = 0.7\nc = 0.3\n',
    'method = "linear"\nnormalisation = "spread"\n\n[weights]\na = 2\nb = 1\n',
)


class Evaluation(Target):
    """Measures in the first line, then judgments, a line of dashes, and a run."""

    name = "evaluation"
    tokens = (
        "nDCG@10 nDCG' MAP MAP' P@10 P'(rel=2)@5 MRR R@100 bpref Judged@10 default arqmath clmir"
        " recall@5 nDCGmed'@10"
        " @0 @999999 (rel=0) ’ A.1 A.2 0 Q0 7 9 3 2 1 -1 2.5 nan inf 1e400 bm25 \t \n -----\n x٣"
        " 1_0"
    ).split(" ")

    def open(self, place: Path) -> None:
        """Choose files to write to."""
        self._place = place
        self._qrels = place / f"qrels-{id(self)}.txt"
        self._run = place / f"run-{id(self)}.txt"

    def seeds(self) -> list[bytes]:
        """Small evaluations."""
        return [as_bytes(text) for text in _EVALUATIONS]

    def make(self, mutator: Mutator) -> bytes:
        """A mutated evaluation."""
        return mutator.data()

    def check(self, data: bytes) -> None:
        """Check that every figure is between 0 and 1, or that the input is refused in one line."""
        head, _, rest = data.partition(b"\n")
        judged, _, ranked = rest.partition(b"-----\n")
        self._qrels.write_bytes(judged)
        self._run.write_bytes(ranked)
        try:
            measures = parse_measures(as_text(head).split())
            judgments = Judgments.of(read_qrels(self._qrels))
            run = read_run(self._run)
            results = evaluate(run, judgments, measures)
        except InputError as error:
            expect_refusal(error)
            return
        for measure in measures:
            expect_equal(Measure.parse(str(measure)), measure, "a measure reads as it is printed")
            for topic, value in results.values[measure].items():
                good = math.isfinite(value) and 0 <= value <= 1 + 1e-9
                expect(good, "a figure is a share", f"{measure} {topic} {value}")
        if len(data) % 4 == 0:
            compared = compare([results, results])
            if compared is None:
                raise WrongAnswer("two runs can be compared")


_EVALUATIONS = (
    "nDCG@10 MAP P@10 MRR R@100 bpref\nA.1 0 7 3\nA.1 0 8 0\nA.2 0 9 1\n-----\nA.1 Q0 7 1 2.5 a\n"
    "A.1 Q0 9 2 1.5 a\nA.2 Q0 9 1 0.5 a\n",
    "arqmath P'(rel=2)@5\nB.1\t0\tx\t2\nB.1\t0\ty\t1\nB.2\t0\tx\t-1\n-----\nB.1\tQ0\ty\t1\t-2\tr\n"
    "B.1\tQ0\tz\t2\t-3\tr\nB.3\tQ0\tz\t1\t1e3\tr\n",
    "Judged@3 nDCG'\nQ1 0 a 0\nQ1 0 b 0\n-----\n",
    "R MRR@1 bpref\nQ1 0 a 1\n-----\nQ1 Q0 a 1 0 r\nQ1 Q0 a 2 0 r\n",
)
