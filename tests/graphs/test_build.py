"""From marked text to one connected graph."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathsetu.collections import sampler
from mathsetu.graphs import Graph, GraphBuilder, Source, build_graph
from mathsetu.graphs.makers.sentence_maker import SentenceGraph
from mathsetu.graphs.makers.terms import TermsMaker
from mathsetu.graphs.text import chunks, mask_sentences
from mathsetu.records import Formula


def relations_to(graph: Graph, label: str) -> set[str]:
    return {relation for _, relation, target in graph.edges() if graph.labels[target] == label}


def test_each_sentence_is_attached_to_the_root_by_its_number() -> None:
    graph = build_graph("Let $n$ be even. Is $n^2$ even? Prove it.", maker="terms")
    assert graph.labels[graph.root] == "multi-sentence"
    from_root = [relation for source, relation, _ in graph.edges() if source == graph.root]
    assert from_root == [":snt1", ":snt2", ":snt3"]
    assert len(graph.sentences) == 3


def test_a_single_sentence_is_the_root() -> None:
    graph = build_graph("Is $n^2$ even?", maker="terms")
    assert graph.labels[graph.root] == "sentence"
    assert [part.root for part in graph.sentences] == [graph.root]


def test_a_formula_has_an_operator_tree_and_a_layout_tree() -> None:
    graph = build_graph("Solve $a+b$.", maker="terms")
    (formula,) = graph.formulas
    below = {
        relation: graph.labels[target]
        for source, relation, target in graph.edges()
        if source == formula.root
    }
    assert below == {":opt": "U!plus", ":slt": "V!a"}
    assert [graph.labels[node] for node in formula.nodes].count("V!b") == 2


def test_commutative_operands_share_a_relation_and_ordered_operands_do_not() -> None:
    graph = build_graph("$a+b-c$", maker="terms")
    assert relations_to(graph, "V!b") >= {":0"}
    ordered = build_graph(r"$\frac{a}{b}$", maker="terms")
    assert ":1" in relations_to(ordered, "V!b")


def test_formulas_keep_their_ids_in_any_order() -> None:
    formulas = [Formula("q_2", "y"), Formula("q_1", "x ^ 2"), Formula("q_9", "z")]
    graph = build_graph("Let $x^2$ and $y$ be given.", formulas=formulas, maker="terms")
    assert graph.formula_map == {"FORMULA_0": "q_1", "FORMULA_1": "q_2", "FORMULA_2": "q_9"}


def test_a_formula_that_is_not_in_the_text_is_attached_to_the_root() -> None:
    builder = GraphBuilder("terms")
    graph = builder.build(Source("Even numbers.", "en", [Formula("q_1", "2n")]))
    assert (graph.root, ":math", graph.formulas[0].root) in list(graph.edges())
    assert builder.failures["formulas"] == 1
    assert graph.is_connected()


def test_a_formula_without_latex_is_built_from_its_given_trees() -> None:
    formula = Formula("q_1", "", slt="[V!x,a[N!2]]", opt="[O!SUP,0[V!x],1[N!2]]")
    graph = build_graph("", formulas=[formula], maker="terms")
    assert [graph.labels[node] for node in graph.formulas[0].nodes] == [
        *("O!SUP", "V!x", "N!2"),
        *("V!x", "N!2"),
    ]


def test_a_repeated_formula_refers_to_the_previous_one() -> None:
    graph = build_graph("Let $n$ be prime. Then $m$ and $n$ divide $ n $.", maker="terms")
    pairs = [
        (graph.labels[source], graph.labels[target])
        for source, relation, target in graph.edges()
        if relation == ":coref"
    ]
    assert pairs == [("FORMULA_2", "FORMULA_0"), ("FORMULA_3", "FORMULA_2")]


def test_a_repeated_name_is_one_node_and_a_repeated_word_is_not() -> None:
    graph = build_graph("The lemma of Zagier is old. I like Zagier and lemmas.", maker="terms")
    assert graph.labels.count("zagier") == 1
    assert graph.labels.count("lemma") == 2
    zagier = graph.labels.index("zagier")
    assert all(zagier in part.nodes for part in graph.sentences)


def test_long_texts_are_joined_in_chunks() -> None:
    sentence = " ".join(["number"] * 80) + ". "
    graph = build_graph(sentence * 14, maker="terms")
    heads = [
        graph.labels[target]
        for source, relation, target in graph.edges()
        if source == graph.root and relation.startswith(":snt")
    ]
    assert heads == ["multi-sentence"] * 3
    assert len(graph.sentences) == 14
    assert graph.is_connected()


@given(st.lists(st.integers(1, 30), max_size=30), st.integers(30, 60))
def test_chunks_keep_every_sentence_in_order_and_within_the_length(
    lengths: list[int], longest: int
) -> None:
    sentences = [" ".join("a" * length) for length in lengths]
    groups = chunks(sentences, longest)
    assert [place for group in groups for place in group] == list(range(len(sentences)))
    assert all(sum(lengths[place] for place in group) <= longest for group in groups)


class Failing:
    """A maker that fails on all sentences if one of them contains a certain word."""

    name = "failing"

    def __init__(self) -> None:
        self.calls = 0

    def make(self, sentences: Sequence[str]) -> list[SentenceGraph | None]:
        self.calls += 1
        if any("poison" in sentence for sentence in sentences):
            raise RuntimeError("out of memory")
        return TermsMaker("en").make(sentences)


def test_a_sentence_on_which_a_maker_fails_does_not_affect_other_sentences() -> None:
    maker = Failing()
    builder = GraphBuilder(maker)
    sources = [Source("Good. Also good. Fine."), Source("Good. A poison of $x$. Good.")]
    graphs = builder.build_many(sources)
    assert [len(graph.sentences) for graph in graphs] == [3, 3]
    assert "poison" in graphs[1].labels
    assert graphs[1].formulas
    assert builder.failures["sentences"] == 1
    assert maker.calls < 12  # found by halving, not one by one


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("text", "language", "count"),
    [
        ("We know $a.b=1.$ So what? It is e.g. prime.", "en", 3),
        ("मान लें $x=1$। क्या $x$ सम है?", "hi", 2),
        ("Sea $x=1$. ¿Es par?", "es", 2),
        ("Nechť $x=1$. Je to např. sudé?", "cs", 2),
        ("Neka je $x=1$. Je li paran?", "hr", 2),
        ("فرض کنید $x=1$. آیا زوج است؟ بله.", "fa", 3),
        ("मानौँ $x=1$। के यो जोर हो?", "ne", 2),
    ],
)
def test_texts_are_split_into_sentences_in_every_language(
    text: str, language: str, count: int
) -> None:
    assert len(mask_sentences(text).sentences) == count
    graph = build_graph(text, language, maker="terms")
    assert len(graph.sentences) == count
    assert graph.is_connected()


def test_a_text_may_contain_the_name_of_a_masked_formula() -> None:
    masked = mask_sentences("Is QZ1 a ring? Is $x$?")
    assert len(masked.formulas) == 1
    assert build_graph("Is QZ1 a ring? Is $x$?", maker="terms").labels.count("FORMULA_0") == 1


def test_escaped_dollars_hide_no_formula() -> None:
    builder = GraphBuilder("terms")
    graph = builder.build(Source(r"It costs \$5 or $x$ or \$6, i.e. \\(y$z$\\)."))
    assert len(graph.formulas) == graph.labels.count("V!x") // 2 + graph.labels.count("V!z") // 2
    assert builder.failures["formulas"] == 0


@pytest.mark.parametrize("text", ["", "   ", "...", "$$", "`code`", "$x$", "\\$5"])
def test_even_an_empty_text_gives_a_connected_graph(text: str) -> None:
    assert build_graph(text, maker="terms").is_connected()


@given(st.text(alphabet='ab$\\^{}_. ?()\n:/"Zअ।', max_size=60))
def test_any_text_gives_one_connected_graph_with_all_its_formulas(text: str) -> None:
    graph = build_graph(text, maker="terms")
    assert graph.is_connected()
    assert len(graph.formulas) == len(mask_sentences(text).formulas)


def test_a_deeply_nested_formula_gives_a_connected_graph() -> None:
    deep = "$" + "x^{" * 3000 + "1" + "}" * 3000 + "$"
    assert build_graph(deep, maker="terms").is_connected()


@pytest.mark.parametrize("step", [5, pytest.param(1, marks=pytest.mark.thorough)])
def test_every_post_of_the_sampler_becomes_a_connected_graph(step: int) -> None:
    posts = list(sampler.posts())[::step]
    sources = [Source(f"{post.title}\n\n{post.body}", post.language) for post in posts]
    graphs = GraphBuilder("terms").build_many(sources)
    assert all(graph.is_connected() for graph in graphs)
    assert {post.language for post in posts} >= {"en", "hi", "es", "cs", "hr", "fa"}
