"""The networks and training settings of the MathAMR+ thesis (J. Yoon, RIT, 2026), by table.

``experiments`` is table 4.5, the settings of all its comparisons; ``benchmark`` is table 4.18, the
settings of its results on ARQMath-3. Both have R-GCN layers that take the mean of the messages of
each relation, and neither has a loss for formulas.
"""

from __future__ import annotations

from mathsetu.encoders.graph.settings import GraphModel
from mathsetu.training.graph.fit import GraphFit

#: Network and training settings by name.
PRESETS: dict[str, tuple[GraphModel, GraphFit]] = {
    "experiments": (
        GraphModel(hidden=64, projection=32, layers=4, bases=64, aggregation="mean"),
        GraphFit(epochs=7, batch=32, learning_rate=1e-4, warmup=0.0, beta=1.0, formulas=0.0),
    ),
    "benchmark": (
        GraphModel(hidden=64, projection=32, layers=4, bases=256, aggregation="mean"),
        GraphFit(epochs=7, batch=16, learning_rate=5e-4, warmup=0.0, beta=0.3, formulas=0.0),
    ),
}
