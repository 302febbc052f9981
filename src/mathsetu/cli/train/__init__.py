"""``mathsetu train``: everything that can be trained."""

from __future__ import annotations

import click

from mathsetu.cli import VerbGroup
from mathsetu.cli.train import encoder, graph, rerankers, weight


@click.group("train", cls=VerbGroup)
def command() -> None:
    """Train a reranker, an encoder or a graph model.

    Run the same command again to resume an interrupted training.
    """


_VERBS = (
    *(rerankers.cross_encoder, rerankers.bi_encoder, graph.command, encoder.command),
    weight.command,
)
for _trained in _VERBS:
    command.add_command(_trained)
