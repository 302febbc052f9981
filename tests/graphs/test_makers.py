"""Makers of sentence graphs: terms, dependency parses, AMR."""

import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import pytest

from mathsetu.errors import InputError, MissingExtra
from mathsetu.graphs import Graph, GraphBuilder, Source
from mathsetu.graphs.makers import best_maker, maker_for
from mathsetu.graphs.makers.amr import AmrMaker, amrlib_parser
from mathsetu.graphs.makers.dependency import meaning
from mathsetu.graphs.makers.parses import Word, model_of
from mathsetu.graphs.makers.terms import TermsMaker
from mathsetu.graphs.normalise import node_type, unknown_number
from tests.timing import assert_within


def triples(graph: Graph) -> set[tuple[str, str, str]]:
    return {(graph.labels[s], relation, graph.labels[t]) for s, relation, t in graph.edges()}


def terms_of(sentence: str, language: str) -> Graph:
    (made,) = TermsMaker(language).make([sentence])
    assert made is not None
    return made.graph


@pytest.mark.thorough
def test_the_same_question_has_the_same_concepts_in_every_language() -> None:
    questions = {
        "en": "Prove that the square root of QZ1 is an irrational number.",
        "hi": "सिद्ध करें कि QZ1 का वर्गमूल अपरिमेय संख्या है।",
        "es": "Demuestra que la raíz cuadrada de QZ1 es un número irracional.",
        "cs": "Dokažte, že druhá odmocnina z QZ1 je iracionální číslo.",
        "hr": "Dokažite da je kvadratni korijen iz QZ1 iracionalan broj.",
        "fa": "ثابت کنید که ریشه دوم QZ1 عدد گنگ است.",
        "ne": "प्रमाणित गर्नुहोस् कि QZ1 को वर्गमूल अपरिमेय संख्या हो।",
    }
    for language, question in questions.items():
        labels = set(terms_of(question, language).labels)
        assert labels >= {"prove", "square-root", "irrational-number", "FORMULA_0"}, language


def test_a_formula_is_attached_to_the_word_before_it_or_else_to_the_sentence() -> None:
    found = triples(terms_of("The ring QZ1, QZ2 and QZ3 are given", "en"))
    assert ("ring", ":math", "FORMULA_0") in found
    assert ("sentence", ":math", "FORMULA_1") in found
    assert ("sentence", ":math", "FORMULA_2") in found


@pytest.mark.parametrize(
    ("sentence", "language"),
    [("QZ1 is not prime", "en"), ("QZ1 अभाज्य नहीं है", "hi"), ("QZ1 nije prost", "hr")],
)
def test_negation_is_a_polarity(sentence: str, language: str) -> None:
    assert ("sentence", ":polarity", "-") in triples(terms_of(sentence, language))


def test_a_question_is_marked_as_interrogative() -> None:
    assert ("sentence", ":mode", "interrogative") in triples(terms_of("آیا QZ1 زوج است؟", "fa"))


def parsed(*rows: tuple[str, int, str, str]) -> list[Word]:
    """Words as a parser would give them: label, head, dependency, part of speech."""
    return [
        Word(label, label, head, dependency, part, label.startswith("FORMULA_"))
        for label, head, dependency, part in rows
    ]


def test_subjects_objects_and_passive_subjects_are_arguments_of_frames() -> None:
    verb = ("map", 1, "ROOT", "VERB")
    made = meaning(parsed(("f", 1, "nsubj", "NOUN"), verb, ("x", 1, "obj", "NOUN")))
    assert made is not None
    assert triples(made.graph) == {("map-01", ":ARG0", "f"), ("map-01", ":ARG1", "x")}
    made = meaning(parsed(("x", 1, "nsubjpass", "NOUN"), ("give", 1, "ROOT", "VERB")))
    assert made is not None
    assert triples(made.graph) == {("give-01", ":ARG1", "x")}


def test_members_of_an_enumeration_are_operands_of_their_conjunction() -> None:
    made = meaning(
        parsed(
            ("find", 0, "ROOT", "VERB"),
            ("FORMULA_0", 0, "dobj", "PROPN"),
            ("or", 1, "cc", "CCONJ"),
            ("FORMULA_1", 1, "conj", "PROPN"),
        )
    )
    assert made is not None
    assert triples(made.graph) == {
        ("find-01", ":ARG1", "or"),
        ("or", ":op1", "FORMULA_0"),
        ("or", ":op2", "FORMULA_1"),
    }


def test_function_words_become_relations() -> None:
    made = meaning(
        parsed(
            ("root", 0, "ROOT", "NOUN"),
            ("in", 0, "prep", "ADP"),
            ("the", 3, "det", "DET"),
            ("interval", 1, "pobj", "NOUN"),
            ("FORMULA_0", 3, "appos", "PROPN"),
        )
    )
    assert made is not None
    assert triples(made.graph) == {
        ("root", ":location", "interval"),
        ("interval", ":math", "FORMULA_0"),
    }


needs_models = pytest.mark.skipif(
    not all(model_of(language) for language in ("en", "es", "cs")),
    reason="spaCy models of English, Spanish and Czech are not installed",
)


@needs_models
def test_parsed_sentences_of_three_languages_have_the_same_relations() -> None:
    questions = {
        "en": "Prove that QZ1 is irrational if QZ2 is not a perfect square.",
        "es": "Demuestra que QZ1 es irracional si QZ2 no es un cuadrado perfecto.",
        "cs": "Dokažte, že QZ1 je iracionální, pokud QZ2 není úplný čtverec.",
    }
    for language, question in questions.items():
        (made,) = maker_for(language, "dependency").make([question])
        assert made is not None
        found = triples(made.graph)
        assert made.graph.is_connected()
        assert ("prove-01", ":ARG1", "irrational-number") in found, language
        assert ("irrational-number", ":domain", "FORMULA_0") in found, language
        condition = next(target for _, relation, target in found if relation == ":condition")
        assert (condition, ":domain", "FORMULA_1") in found, language
        assert (condition, ":polarity", "-") in found, language


@needs_models
def test_parsed_posts_are_connected_with_any_content() -> None:
    texts = [
        "What is it? It is. No! $x$ $y$ $z$, and so on; e.g. this (or that). 1. 2. 3.",
        "Let\n\n- $a$\n- $b$ and $c$ be rings, which we, following Zorn, call good.",
        "???",
        "and or but",
        "The Riemann hypothesis, if true, implies this. Riemann knew.",
    ]
    builder = GraphBuilder("dependency")
    for graph in builder.build_many([Source(text) for text in texts]):
        assert graph.is_connected()
    assert builder.failures["sentences"] == 0


@needs_models
def test_the_best_maker_is_the_parser_if_there_is_one() -> None:
    assert best_maker("es") == "dependency"
    assert best_maker("hi") == "terms"


def small_parser(sentences: Sequence[str]) -> list[str | None]:
    """A stand-in for an AMR parser: the first word is the frame, the last its argument."""
    graphs: list[str | None] = []
    for sentence in sentences:
        first, *_, last = sentence.rstrip(".?").lower().split()
        graphs.append(f"# ::snt {sentence}\n(a / {first}-01 :ARG1 (b / {last}))")
    return graphs


def test_placeholders_in_the_graph_of_an_amr_parser_get_their_formulas() -> None:
    graph = GraphBuilder(AmrMaker(small_parser)).build(Source("Solve the equation $x=1$."))
    assert ("solve-01", ":ARG1", "FORMULA_0") in triples(graph)
    assert ("FORMULA_0", ":opt", "U!eq") in triples(graph)


def test_a_placeholder_that_the_parser_lost_is_attached_to_the_root() -> None:
    builder = GraphBuilder(AmrMaker(small_parser))
    graph = builder.build(Source("Take $x$ twice. Solve the equation $y$."))
    assert ("multi-sentence", ":math", "FORMULA_0") in triples(graph)
    assert builder.failures["formulas"] == 1


@pytest.mark.parametrize(
    "answer",
    [
        None,
        "",
        "(a / broken",
        "(a / b) (c / d)",
    ],
)
def test_a_sentence_that_was_not_parsed_gets_the_graph_of_its_terms(answer: str | None) -> None:
    builder = GraphBuilder(AmrMaker(lambda sentences: [answer for _ in sentences]))
    graph = builder.build(Source("Every prime $p$ is odd."))
    assert "prime-number" in graph.labels
    assert graph.is_connected()
    assert builder.failures["sentences"] == 1


def test_placeholders_that_parsers_changed_are_recognised() -> None:
    written = (
        '(s / see-01 :ARG0 (p / person :name (n / name :op1 "FORMULA_2"))'
        " :ARG1 (f / formula-1) :ARG2 (g / Formula_1))"
    )
    (made,) = AmrMaker(lambda sentences: [written]).make(["QZ3 sees QZ2 and QZ2"])
    assert made is not None
    assert {"FORMULA_1", "FORMULA_2", "FORMULA"} <= set(made.graph.labels)
    assert ("FORMULA", ":coref", "FORMULA_1") in triples(made.graph)


def test_the_error_without_amrlib_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "amrlib", None)
    amrlib_parser.cache_clear()
    with pytest.raises(MissingExtra, match=r"\[amr\]"):
        amrlib_parser("here")


def test_amrlib_is_loaded_from_the_given_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    class Model:
        def parse_sents(self, sents: list[str], add_metadata: bool = True) -> list[str | None]:
            assert isinstance(sents, list)
            assert not add_metadata
            return small_parser(sents)

    stand_in = ModuleType("amrlib")
    folders: list[str] = []

    def load_stog_model(model_dir: str | None = None, **settings: int) -> Model:
        folders.append(str(model_dir))
        return Model()

    stand_in.load_stog_model = load_stog_model  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "amrlib", stand_in)
    amrlib_parser.cache_clear()
    graph = GraphBuilder(AmrMaker(amrlib_parser(str(tmp_path)))).build(Source("Solve $x$."))
    amrlib_parser.cache_clear()
    assert folders == [str(tmp_path)]
    assert ("solve-01", ":ARG1", "FORMULA_0") in triples(graph)
    with pytest.raises(InputError, match="there is no AMR parser"):
        amrlib_parser(str(tmp_path / "nowhere"))


def test_amr_is_only_for_english() -> None:
    with pytest.raises(InputError, match="AMR parsers read English"):
        maker_for("hi", "amr")


def test_a_frame_of_a_parser_and_a_concept_of_the_glossary_have_the_same_type() -> None:
    assert node_type("prove-01") == node_type("prove") == node_type("proves")
    assert node_type("go-02") != node_type("go-01")


@pytest.mark.parametrize("label", ["\udbffb", "V!\ud800", "FORMULA_0\udc00", "अ\udfff"])
def test_a_label_with_an_unpaired_surrogate_has_a_type(label: str) -> None:
    assert "?" in node_type(label)


def test_a_long_text_that_is_not_a_number_is_recognised_quickly() -> None:
    assert_within(0.05, lambda: unknown_number("9" * 5_000 + "a"))
    assert unknown_number("1,2.5") == unknown_number(".5") == unknown_number("N!2.718")
    assert unknown_number("1.") == "[UNKNUM_DEC]"
    assert unknown_number(",.") == unknown_number("1e") == ""
