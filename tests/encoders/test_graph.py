"""The graph encoder without torch: batches, files, and vectors of texts."""

import json
from pathlib import Path

import numpy as np
import pytest

from mathsetu.encoders import graph
from mathsetu.encoders.graph import GraphEncoder, GraphModel, LabelVectors, load_model
from mathsetu.encoders.graph.batch import GraphBatch, ReadyGraph
from mathsetu.errors import InputError
from mathsetu.graphs import DOCUMENT, FORMULA, SENTENCE, GraphTensors, Source
from mathsetu.graphs.normalise import node_type
from mathsetu.languages.glossary import Glossary
from tests.encoders.tiny_graph import make_graph_model

TEXTS = [
    r"Show that $x^2+1$ is prime for $x=2$. Is it true for all $n$?",
    r"Find the integral $\int_0^1 \frac{\sin x}{x} dx$ and prove that it converges.",
    "The sum of two even numbers is even.",
]


@pytest.fixture
def encoder(tmp_path):
    return GraphEncoder.load(make_graph_model(tmp_path / "model", TEXTS))


def ready(edges, relations, nodes=4):
    arrays = np.array(edges, np.int32).reshape(-1, 2).T
    virtual, kinds = np.array([nodes - 1], np.int32), np.array([2], np.int8)
    types = np.full(nodes, 20, np.int32)
    return ReadyGraph.of(
        GraphTensors(types, arrays, np.array(relations, np.int32), virtual, kinds, (), ())
    )


def test_a_text_has_a_vector_for_each_formula_each_sentence_and_the_document(encoder):
    [found] = encoder.encode([Source(TEXTS[0])])
    assert found.kinds.tolist() == [FORMULA] * 3 + [SENTENCE] * 2 + [DOCUMENT]
    assert found.vectors.shape == (6, 32)
    np.testing.assert_allclose(np.linalg.norm(found.vectors, axis=1), 1, atol=1e-5)
    assert len(found.formulas) == 3


def test_vectors_do_not_depend_on_the_other_texts_of_a_batch(encoder):
    alone = [encoder.encode([Source(text)])[0].vectors for text in TEXTS]
    together = [one.vectors for one in encoder.encode([Source(text) for text in TEXTS])]
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)


def test_a_blank_text_has_a_vector_for_the_document(encoder):
    [found] = encoder.encode([Source("")])
    assert found.kinds.tolist() == [DOCUMENT]


def test_the_edges_of_one_relation_into_a_node_have_weights_that_sum_to_1():
    graph = ready([(0, 3), (1, 3), (2, 3), (0, 1)], [5, 5, 7, 5])
    assert graph.weights.tolist() == [0.5, 0.5, 1.0, 1.0]


def test_blocks_contain_every_edge_once_and_have_one_relation_each():
    random = np.random.default_rng(1)
    graph = ready(random.integers(0, 4, (50, 2)), random.integers(0, 6, 50))
    batch = GraphBatch.of([graph, graph])
    places, relations = batch.blocks(8)
    assert sorted(places[places >= 0].tolist()) == list(range(100))
    for row, relation in zip(places, relations, strict=True):
        assert (batch.relations[row[row >= 0]] == relation).all()


def test_labels_that_are_words_have_start_vectors_and_symbols_have_none():
    asked = []

    class Lengths:
        def encode(self, texts):
            asked.extend(texts)
            return np.array([[len(text), 1.0] for text in texts], dtype=np.float32)

    vectors = LabelVectors(Lengths())
    labels = ["prime-number", "V!x", "FORMULA_0", "VIRTUAL_DOCUMENT", "prime-number"]
    found = vectors(labels)
    assert found.rows.tolist() == [0, -1, -1, -1, 0]
    assert [row.tolist() for row in found.table] == [[12, 1]]
    # The same labels have the same table, and a result keeps it after `forget`.
    assert vectors(labels).table is found.table
    vectors.forget()
    assert len(vectors) == 0
    assert len(found.table) == 1
    assert asked == ["prime number"]


def test_damaged_models_are_refused(tmp_path):
    folder = make_graph_model(tmp_path / "model", TEXTS)
    settings = json.loads((folder / "model.json").read_text())
    for change, message in (
        ({**settings, "hidden": 8}, "embedding has the shape"),
        ({**settings, "colour": 1}, "is damaged"),
        ({**settings, "layers": 0}, "layers is 0"),
    ):
        (folder / "model.json").write_text(json.dumps(change))
        with pytest.raises(InputError, match=message):
            load_model(folder)
    (folder / "model.json").write_text(json.dumps(settings))
    (folder / "weights.npz").write_bytes(b"PK nonsense")
    with pytest.raises(InputError, match=r"weights\.npz: is damaged"):
        load_model(folder)
    (folder / "weights.npz").unlink()
    with pytest.raises(InputError, match=r"weights\.npz is missing"):
        load_model(folder)


def test_pickled_weights_are_not_read(tmp_path):
    folder = make_graph_model(tmp_path / "model", TEXTS)
    np.savez(folder / "weights.npz", embedding=np.array([object()], dtype=object))
    with pytest.raises(InputError, match="damaged"):
        load_model(folder)


def test_invalid_settings_are_refused():
    with pytest.raises(InputError, match="aggregation is 'sum'"):
        GraphModel(aggregation="sum")


SHIPPED = Path(graph.__file__).parent / "model"
TOLD = {
    "es": r"The integral $\int_0^1 x^2 dx$ is found with a primitive function.",
    "hi": "A graph is bipartite if and only if it has no cycle of odd length.",
    "cs": "Every continuous function on a compact set attains its maximum.",
    "hr": "The determinant of an invertible matrix is not zero.",
}
ASKED = {
    "es": r"¿Cuánto vale la integral $\int_0^1 t^2 dt$?",
    "hi": "क्या हर द्विपक्षीय ग्राफ में विषम चक्र नहीं होता?",
    "cs": "Je spojitá funkce na kompaktní množině omezená?",
    "hr": "Kolika je determinanta invertibilne matrice?",
}


def test_the_shipped_model_is_small():
    assert sum(file.stat().st_size for file in SHIPPED.iterdir()) <= 15_000_000


def test_the_shipped_model_has_vectors_for_90_percent_of_the_concepts():
    known = set(load_model(SHIPPED).vocabulary.node_types)
    concepts = [node_type(concept.id) for concept in Glossary.load()]
    # The rarest concepts were not in the training data.
    assert sum(concept in known for concept in concepts) > 0.9 * len(concepts)


@pytest.mark.parametrize(
    # The glossary of each language takes a while to open.
    "language",
    ["es", *(pytest.param(name, marks=pytest.mark.thorough) for name in ("hi", "cs", "hr"))],
)
def test_the_shipped_model_finds_the_english_answer_to_a_question(language):
    encoder = GraphEncoder.load(SHIPPED)
    [asked] = encoder.encode([Source(ASKED[language], language)])
    answers = encoder.encode([Source(text, "en") for text in TOLD.values()])
    scores = {
        name: float((asked.vectors @ answer.vectors.T).max(axis=1).mean())
        for name, answer in zip(TOLD, answers, strict=True)
    }
    assert max(scores, key=scores.__getitem__) == language
