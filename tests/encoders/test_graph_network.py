"""The graph network in torch, and the one in numpy, which must give the same vectors."""

import numpy as np
import pytest

from mathsetu.encoders.graph import GraphChoices, GraphModel
from mathsetu.encoders.graph.batch import Features, GraphBatch, ReadyGraph
from mathsetu.encoders.graph.runtime import NumpyNetwork
from mathsetu.graphs import Source, VirtualNodes, tensors
from mathsetu.graphs.build import GraphBuilder
from tests.encoders.test_graph import TEXTS
from tests.encoders.tiny_graph import vocabulary_of

torch = pytest.importorskip("torch", reason="the extra 'neural' is not installed")


def batch_of(choices, vocabulary, features=0):
    random = np.random.default_rng(1)
    graphs = GraphBuilder("terms").build_many([Source(text) for text in TEXTS])
    made = [tensors(graph, vocabulary, choices.graphs.virtual, choices.graphs.trees)
            for graph in graphs]  # fmt: skip
    if not features:
        return GraphBatch.of([ReadyGraph.of(one) for one in made])
    # Some nodes share a vector, and some have none.
    table = list(random.standard_normal((5, features)).astype(np.float16))
    starts = [Features(random.integers(-1, 5, len(one.nodes)), table) for one in made]
    return GraphBatch.of([ReadyGraph.of(*both) for both in zip(made, starts, strict=True)])


def network_of(choices, vocabulary, **settings):
    from mathsetu.encoders.graph.network import GraphNetwork

    torch.manual_seed(1)
    network = GraphNetwork(
        choices, len(vocabulary.node_types), len(vocabulary.relation_types), **settings
    )
    # Random weights: some initial weights are zero and would hide differences.
    for weight in network.parameters():
        if weight.dim():
            torch.nn.init.normal_(weight, std=0.3)
    return network


STARTS = ["zero", "zero-embedding", "random", "mean-pooled", "projected", "typed-projected"]


@pytest.mark.parametrize("initialisation", STARTS)
@pytest.mark.parametrize("structure", ["full", "global", "none"])
@pytest.mark.parametrize("aggregation", ["mean", "attention"])
def test_numpy_gives_the_same_vectors_as_torch(initialisation, structure, aggregation):
    virtual = VirtualNodes(structure, initialisation=initialisation)
    choices = GraphModel(
        24, layers=3, bases=4, aggregation=aggregation, features=5,
        graphs=GraphChoices(virtual=virtual),
    )  # fmt: skip
    vocabulary = vocabulary_of(TEXTS)
    batch = batch_of(choices, vocabulary, features=5)
    network = network_of(choices, vocabulary).eval()
    with torch.no_grad():
        wanted = network(batch).numpy()
    weights = {name: weight.numpy() for name, weight in network.state_dict().items()}
    found = NumpyNetwork(choices, weights)(batch)
    np.testing.assert_allclose(found, wanted, atol=1e-4)


def test_graphs_with_features_from_two_tables_are_not_put_in_one_batch():
    graph = tensors(GraphBuilder("terms").build(Source("A prime number.")), vocabulary_of(TEXTS))
    nothing = np.full(len(graph.nodes), -1, dtype=np.int32)
    apart = [ReadyGraph.of(graph, Features(nothing, [])) for _ in range(2)]
    with pytest.raises(ValueError, match="one table"):
        GraphBatch.of(apart)
    assert GraphBatch.of(apart[:1]).feature_rows.tolist() == nothing.tolist()


def test_masking_and_dropout_are_applied_only_in_training():
    choices, vocabulary = GraphModel(16, layers=2, bases=2), vocabulary_of(TEXTS)
    batch = batch_of(choices, vocabulary)
    network = network_of(choices, vocabulary, node_masking=0.3, edge_dropout=0.3)
    with torch.no_grad():
        first, second = network(batch), network(batch)
        assert not torch.allclose(first, second)
        network.eval()
        assert torch.equal(network(batch), network(batch))


def test_nothing_is_masked_or_dropped_if_both_rates_are_zero():
    choices, vocabulary = GraphModel(16, layers=2, bases=2), vocabulary_of(TEXTS)
    batch = batch_of(choices, vocabulary)
    network = network_of(choices, vocabulary, node_masking=0.0, edge_dropout=0.0)
    with torch.no_grad():
        trained = network(batch)
        assert torch.allclose(trained, network.eval()(batch), atol=1e-6)


def test_every_weight_has_a_gradient():
    choices = GraphModel(
        16, layers=2, bases=2, aggregation="attention", features=3,
        graphs=GraphChoices(virtual=VirtualNodes(initialisation="typed-projected")),
    )  # fmt: skip
    vocabulary = vocabulary_of(TEXTS)
    network = network_of(choices, vocabulary)
    network(batch_of(choices, vocabulary, features=3)).square().sum(dim=0)[0].backward()
    silent = [name for name, weight in network.named_parameters() if weight.grad is None]
    # Learned starts are for other initialisations, and the temperature belongs to the loss.
    assert silent == ["start", "log_temperature"]
