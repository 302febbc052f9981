"""Training of graph models: pairs of texts, the loss, the fit, and the trained model."""

import json
import lzma
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner

from mathsetu.cli.train.graph import command
from mathsetu.errors import InputError
from mathsetu.records import Post

torch = pytest.importorskip("torch", reason="the extra 'neural' is not installed")

from benchmarks.graph_variants import experiments, train_variant  # noqa: E402
from mathsetu.encoders.graph import GraphEncoder, GraphModel, load_model  # noqa: E402
from mathsetu.encoders.graph.runtime import NumpyNetwork  # noqa: E402
from mathsetu.graphs import GraphBuilder, Source  # noqa: E402
from mathsetu.graphs.imported import ImportedGraphs  # noqa: E402
from mathsetu.graphs.penman import Record  # noqa: E402
from mathsetu.training.graph.fit import (  # noqa: E402
    GraphFit,
    new_network,
    reading,
    train_graph_model,
)
from mathsetu.training.graph.graphs import (  # noqa: E402
    PairGraphSettings,
    graph_pairs,
    vocabulary_of,
    with_features,
)
from mathsetu.training.graph.loss import Weights, maxsim, padded, pair_loss  # noqa: E402
from mathsetu.training.graph.negatives import hard_negatives  # noqa: E402
from mathsetu.training.graph.text_pairs import (  # noqa: E402
    TextPair,
    read_text_pairs,
    split_pairs,
    thread_text_pairs,
)
from mathsetu.training.graph.thesis import PRESETS  # noqa: E402
from mathsetu.training.graph.train import train_from_texts  # noqa: E402
from mathsetu.training.graph.validation import found_answers  # noqa: E402

THINGS = ["prime number", "even number", "triangle", "matrix", "integral", "limit", "circle",
          "polynomial", "vector", "probability", "group", "series"]  # fmt: skip
MODEL = GraphModel(24, layers=2, bases=3)
FIT = GraphFit(epochs=6, batch=8, learning_rate=1e-2, device="cpu", beta=0.5)


def some_pairs(count=48):
    random = np.random.default_rng(1)
    pairs = []
    for number in range(count):
        thing, formula = THINGS[number % 12], f"x^{number % 7}+{number}"
        filler = " ".join(random.choice(["now", "then", "here", "so"], 3))
        pairs.append(
            TextPair(
                f"What is known of the {thing} with ${formula}=0$?",
                f"{filler} the {thing} has the property that ${formula}=0$, as shown.",
                tags=(thing,),
            )
        )
    return pairs


@pytest.fixture(scope="module")
def graphs(tmp_path_factory):
    pairs = some_pairs()
    vocabulary = vocabulary_of(pairs, MODEL.graphs, processes=1)
    making = PairGraphSettings(MODEL.graphs, vocabulary, processes=1)
    store = tmp_path_factory.mktemp("graphs") / "pairs.sqlite"
    return vocabulary, graph_pairs(pairs, making, store)


def test_training_lowers_the_loss_and_raises_the_ranks_of_answers(graphs, tmp_path):
    vocabulary, pairs = graphs
    torch.manual_seed(FIT.seed)
    before = found_answers(reading(new_network(MODEL, vocabulary, FIT)), pairs[:12])
    state = train_graph_model(MODEL, vocabulary, pairs[12:], pairs[:12], tmp_path, FIT)
    files = load_model(tmp_path / "model")
    after = found_answers(NumpyNetwork(files.choices, files.weights), pairs[:12])
    losses = [row["training_loss"] for row in state.history]
    assert losses[-1] < 0.8 * losses[0]
    assert after.reciprocal_rank > before.reciprocal_rank


def test_a_stopped_training_is_resumed_and_gives_the_same_model(graphs, tmp_path):
    vocabulary, pairs = graphs
    settings = GraphFit(epochs=2, batch=8, device="cpu", checkpoint_every=2, formulas=0.2)

    class Stopped(Exception):
        pass

    def stop(what, done):
        if done == 3:
            raise Stopped

    train_graph_model(MODEL, vocabulary, pairs, pairs[:8], tmp_path / "whole", settings)
    with pytest.raises(Stopped):
        train_graph_model(MODEL, vocabulary, pairs, pairs[:8], tmp_path / "cut", settings, stop)
    train_graph_model(MODEL, vocabulary, pairs, pairs[:8], tmp_path / "cut", settings)
    whole, cut = load_model(tmp_path / "whole" / "model"), load_model(tmp_path / "cut" / "model")
    for name, weight in whole.weights.items():
        np.testing.assert_array_equal(weight, cut.weights[name])


def test_a_different_training_is_not_resumed(graphs, tmp_path):
    vocabulary, pairs = graphs
    settings = GraphFit(epochs=1, batch=8, device="cpu")
    train_graph_model(MODEL, vocabulary, pairs, pairs[:8], tmp_path, settings)
    with pytest.raises(InputError, match="another model"):
        train_graph_model(MODEL, vocabulary, pairs[1:], pairs[:8], tmp_path, settings)


def test_maxsim_with_masks_equals_maxsim_without_padding():
    random = torch.Generator().manual_seed(1)
    counts = [3, 1, 4]
    vectors = torch.nn.functional.normalize(torch.randn(8, 5, generator=random), dim=1)
    scores = maxsim(padded(vectors, counts), padded(vectors, counts))
    parts = vectors.split(counts)
    for row, asked in enumerate(parts):
        for column, told in enumerate(parts):
            plain = (asked @ told.T).amax(dim=1).mean()
            assert scores[row, column] == pytest.approx(float(plain), abs=1e-6)


def test_each_part_of_the_loss_counts_by_its_weight(graphs):
    vocabulary, pairs = graphs
    torch.manual_seed(1)
    network = new_network(MODEL, vocabulary, FIT).eval()
    batch = pairs[:8]
    maxsim_alone = pair_loss(network, batch, Weights(1.0)).item()
    documents_alone = pair_loss(network, batch, Weights(0.0)).item()
    mixed = pair_loss(network, batch, Weights(0.3)).item()
    assert mixed == pytest.approx(0.3 * maxsim_alone + 0.7 * documents_alone, abs=1e-5)
    assert pair_loss(network, batch, Weights(1.0, 0.5)).item() > maxsim_alone


def test_hard_negatives_raise_the_loss(graphs, tmp_path):
    vocabulary, _ = graphs
    texts = some_pairs()
    wrong = hard_negatives(texts, 2)
    assert all(number not in others for number, others in enumerate(wrong))
    making = PairGraphSettings(MODEL.graphs, vocabulary, processes=1)
    pairs = graph_pairs(texts, making, tmp_path / "pairs.sqlite", wrong)
    plain = graph_pairs(texts, making, tmp_path / "pairs.sqlite")
    torch.manual_seed(1)
    network = new_network(MODEL, vocabulary, FIT).eval()
    harder = pair_loss(network, pairs[:8], Weights(1.0)).item()
    assert harder > pair_loss(network, plain[:8], Weights(1.0)).item()


def test_negatives_of_the_same_tag_have_the_tags_of_the_question():
    pairs = some_pairs()
    for number, others in enumerate(hard_negatives(pairs, 2, same_tag=True)):
        assert others
        assert all(pairs[other].tags == pairs[number].tags for other in others)


def test_pairs_that_overlap_a_topic_are_dropped(tmp_path):
    topic = "How many ways are there to put seven different balls into three boxes at all?"
    rows = [
        {"q": f"Tell me: {topic}", "a": "There are three to the power of seven ways to do that."},
        {
            "q": "What is the sum of all angles?",
            "a": "Two right angles, as Euclid shows in book I.",
        },
        {"q": "What is the sum of all angles here?", "a": "180"},
    ]
    with lzma.open(tmp_path / "qa.jsonl.xz", "wt", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps({**row, "src": "own", "lang": "en", "kind": "qa"}) + "\n")
    assert [pair.question for pair in read_text_pairs(tmp_path, [topic])] == [rows[1]["q"]]
    post = Post("1", rows[0]["a"], question=topic, title="Balls")
    assert thread_text_pairs([post], [topic]) == []


def test_too_few_pairs_are_refused():
    with pytest.raises(InputError, match="3 of 3 pairs"):
        split_pairs(some_pairs(3), 3, seed=1)


def test_wrong_settings_are_refused():
    for settings, message in (
        ({"beta": 2.0}, "beta must be"),
        ({"node_masking": 1.0}, "node_masking is 1"),
        ({"temperature": 0.0}, "temperature is 0"),
    ):
        with pytest.raises(InputError, match=message):
            GraphFit(**settings)


def test_variants_of_an_experiment_have_distinct_names_and_the_last_can_be_trained(tmp_path):
    pairs = some_pairs(16)
    settings = GraphFit(epochs=1, batch=8, device="cpu")
    vocabulary = vocabulary_of(pairs, MODEL.graphs, processes=1)
    for name, variants in experiments(MODEL, settings).items():
        assert len({variant.name for variant in variants}) == len(variants)
        last = variants[-1]
        model, features = with_features(last.model)
        making = PairGraphSettings(model.graphs, vocabulary, features, processes=1)
        wrong = hard_negatives(pairs, last.negatives) if last.negatives else ()
        graphs = graph_pairs(pairs, making, tmp_path / f"{name}.sqlite", wrong)
        last = replace(last, model=model)
        trained = train_variant(last, vocabulary, graphs, graphs[:8], seed=2)
        assert 0 < found_answers(reading(trained.network), graphs).reciprocal_rank <= 1


def test_training_from_texts_gives_a_model_with_a_card(tmp_path):
    found = train_from_texts(some_pairs(), MODEL, FIT, tmp_path, processes=1)
    card = (tmp_path / "model" / "README.md").read_text(encoding="utf-8")
    assert "graph encoder" in card
    assert f"MRR {found.trained:.3f}" in card
    [encoded] = GraphEncoder.load(tmp_path / "model").encode([Source("Is $x$ a prime number?")])
    assert encoded.vectors.shape == (3, 32)


@pytest.mark.thorough
def test_the_command_trains_on_a_file_and_on_threads(tmp_path):
    pairs = some_pairs(40)
    with lzma.open(tmp_path / "qa.jsonl.xz", "wt", encoding="utf-8") as file:
        for pair in pairs[:30]:
            row = {"q": pair.question, "a": pair.answer, "src": "own", "lang": "en", "kind": "qa"}
            file.write(json.dumps(row) + "\n")
    with (tmp_path / "posts.jsonl").open("w", encoding="utf-8") as file:
        for number, pair in enumerate(pairs[30:]):
            post = {"id": str(number), "question": pair.question, "body": pair.answer}
            file.write(json.dumps({**post, "language": "en"}) + "\n")
    size = ["--hidden", "8", "--layers", "1", "--bases", "2", "--epochs", "1", "--processes", "1"]
    threads = ["--threads", str(tmp_path / "posts.jsonl")]
    kind = ["--aggregation", "attention", "--structure", "full", "--auxiliary", "circular",
            "--initialisation", "projected", "--negatives", "1", "--same-tag"]  # fmt: skip
    words = [str(tmp_path), str(tmp_path / "out"), *threads, *size, *kind]
    found = CliRunner().invoke(command, words)
    assert found.exit_code == 0, found.output
    # Four of forty pairs are held out.
    card = (tmp_path / "out" / "model" / "README.md").read_text(encoding="utf-8")
    assert "36 pairs in an epoch" in card
    choices = load_model(tmp_path / "out" / "model").choices
    assert choices.aggregation == "attention"
    assert choices.graphs.virtual.auxiliary == "circular"


@pytest.mark.thorough
def test_the_command_uses_a_preset_of_the_thesis_with_the_given_options(tmp_path):
    with lzma.open(tmp_path / "qa.jsonl.xz", "wt", encoding="utf-8") as file:
        for pair in some_pairs(40):
            row = {"q": pair.question, "a": pair.answer, "src": "own", "lang": "en", "kind": "qa"}
            file.write(json.dumps(row) + "\n")
    size = ["--preset", "experiments", "--epochs", "1", "--processes", "1"]
    found = CliRunner().invoke(command, [str(tmp_path), str(tmp_path / "out"), *size])
    assert found.exit_code == 0, found.output
    choices = load_model(tmp_path / "out" / "model").choices
    model, fit = PRESETS["experiments"]
    assert choices == model
    assert (choices.hidden, choices.bases, choices.aggregation) == (64, 64, "mean")
    assert (fit.epochs, fit.batch, fit.learning_rate, fit.beta) == (7, 32, 1e-4, 1.0)
    card = (tmp_path / "out" / "model" / "README.md").read_text(encoding="utf-8")
    assert "0.0001" in card  # the rate of the preset
    assert "epochs 1" in card.replace(": ", " ").replace("| ", "").replace("`", "")


@pytest.mark.thorough
def test_the_command_trains_on_imported_graphs(tmp_path):
    records = []
    for number, pair in enumerate(some_pairs(40)):
        for name, text in ((f"q{number}", pair.question), (f"a{number}", pair.answer)):
            records.append(Record(name, GraphBuilder("terms").build(Source(text))))
    with ImportedGraphs(tmp_path / "graphs.sqlite", write=True) as graphs:
        graphs.write(records)
    lines = [f"q{number}\ta{number}" for number in range(40)] + ["q1\tmissing"]
    (tmp_path / "pairs.tsv").write_text("\n".join(lines))
    size = ["--hidden", "8", "--layers", "1", "--bases", "2", "--epochs", "1"]
    words = [str(tmp_path / "pairs.tsv"), str(tmp_path / "out"), *size]
    found = CliRunner().invoke(command, [*words, "--graphs", str(tmp_path / "graphs.sqlite")])
    assert found.exit_code == 0, found.output
    card = (tmp_path / "out" / "model" / "README.md").read_text(encoding="utf-8")
    assert "Pairs of graphs that were imported: 40." in card
    [encoded] = GraphEncoder.load(tmp_path / "out" / "model").encode_made([records[0].graph])
    assert encoded.vectors.shape[1] == 32
    (tmp_path / "pairs.tsv").write_text("q1 a1\n")
    found = CliRunner().invoke(command, [*words, "--graphs", str(tmp_path / "graphs.sqlite")])
    assert "pairs.tsv line 1: the id of a question, a tab" in str(found.exception)
    assert isinstance(CliRunner().invoke(command, words).exception, InputError)


def test_the_command_refuses_an_unknown_structure(tmp_path):
    words = [str(tmp_path), str(tmp_path / "out"), "--structure", "hierarchy"]
    found = CliRunner().invoke(command, words)
    assert isinstance(found.exception, InputError)
    assert "structure 'hierarchy' is not known" in str(found.exception)
