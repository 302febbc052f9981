"""``mathsetu train graph``: trains a model of meaning graphs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mathsetu.cli.output import json_option, print_json, progress_bar, say
from mathsetu.cli.train.rerankers import show_epochs
from mathsetu.collections.formats import detect, open_posts
from mathsetu.collections.rows import BadRows
from mathsetu.collections.threads import with_questions
from mathsetu.encoders.graph import GraphChoices, GraphModel
from mathsetu.errors import InputError
from mathsetu.graphs.virtual import VirtualNodes
from mathsetu.models import require
from mathsetu.training.graph.text_pairs import (
    TextPair,
    across_languages,
    read_text_pairs,
    split_pairs,
    thread_text_pairs,
)

if TYPE_CHECKING:  # it imports torch
    from mathsetu.training.graph.train import TrainingResult

# The options for the size of the network, and those for its training.
_NETWORK = ("hidden", "layers", "bases", "aggregation")
_FIT = ("beta", "formulas", "epochs", "batch", "learning_rate", "seed")


def _given(sizes: Mapping[str, Any]) -> dict[str, Any]:
    """The options that the user gave; the preset determines the others."""
    context = click.get_current_context()
    default = click.core.ParameterSource.DEFAULT
    return {
        name: value
        for name, value in sizes.items()
        if context.get_parameter_source(name) is not default
    }


@click.command("graph")
@click.argument("data", type=click.Path(exists=True, path_type=Path))
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option("--unseen", multiple=True, type=click.Path(path_type=Path),
              help="Topics whose texts must not be trained on (repeatable).")  # fmt: skip
@click.option("--threads", type=click.Path(exists=True, dir_okay=False, path_type=Path),
              help="Posts whose answers are paired with their own questions, in addition to the "
                   "pairs of DATA.")  # fmt: skip
@click.option("--accepted", is_flag=True, help="Use only accepted answers of posts.")
@click.option("--limit", default=0, help="Maximum number of pairs.")
@click.option("--preset", type=click.Choice(["experiments", "benchmark"]),
              help="The network and training of the MathAMR+ thesis, table 4.5 or 4.18; other "
                   "options override its values.")  # fmt: skip
@click.option("--hidden", default=96, show_default=True, help="Size of a node's vector.")
@click.option("--layers", default=4, show_default=True)
@click.option("--bases", default=16, show_default=True)
@click.option("--aggregation", type=click.Choice(["mean", "attention"]), default="mean")
@click.option("--sentences", type=click.Choice(["terms", "dependency", "amr"]), default="terms",
              help="Maker of sentence graphs.")  # fmt: skip
@click.option("--trees", type=click.Choice(["both", "opt", "slt", "none"]), default="both")
@click.option(
    "--structure", default="full", show_default=True, help="Structure of the virtual nodes."
)
@click.option(
    "--auxiliary", default="none", show_default=True, help="Auxiliary edges between virtual nodes."
)
@click.option("--initialisation", default="zero-embedding", show_default=True,
              help="Initialisation of the vectors of virtual nodes.")  # fmt: skip
@click.option("--features", default="", help="An encoder whose vectors initialise the nodes.")
@click.option("--negatives", default=0, help="Hard negatives for each pair.")
@click.option("--same-tag", is_flag=True, help="Negatives must share a tag with their pair.")
@click.option("--graphs", type=click.Path(exists=True, dir_okay=False, path_type=Path),
              help="Graphs from 'mathsetu graph import'; DATA is then a file with the ids of a "
                   "question and its answer in each line, separated by a tab.")  # fmt: skip
@click.option("--beta", default=0.5, show_default=True, help="Share of MaxSim in the loss.")
@click.option("--formulas", default=0.2, show_default=True, help="Weight of formula pairs.")
@click.option("--epochs", default=7, show_default=True, help="Maximum number of epochs.")
@click.option("--batch", default=32, show_default=True)
@click.option("--learning-rate", default=5e-4, show_default=True)
@click.option("--seed", default=1, show_default=True)
@click.option("--processes", default=0, help="Worker processes (default: one per core).")
@json_option
def command(
    data: Path,
    folder: Path,
    unseen: tuple[Path, ...],
    threads: Path | None,
    accepted: bool,
    limit: int,
    preset: str | None,
    sentences: str,
    trees: str,
    structure: str,
    auxiliary: str,
    initialisation: str,
    features: str,
    negatives: int,
    same_tag: bool,
    graphs: Path | None,
    processes: int,
    as_json: bool,
    **sizes: Any,
) -> None:
    r"""Train a graph model on the question-answer pairs of DATA into FOLDER.

    DATA is a folder with pairs (qa.jsonl.xz), or a file of posts (Posts.xml of a dump, JSON
    Lines) whose answers are paired with their own questions.

    The best model is written to FOLDER/model with a model card. Graphs are stored in FOLDER; run
    the same command again to resume an interrupted training.

    \b
    Examples:
      mathsetu train graph data/training models/graph --unseen topics.xml --epochs 10
      mathsetu train graph Posts.xml models/graph --accepted --unseen topics.xml
    """
    require("torch", "training a graph model", "neural")
    from mathsetu.training.graph.fit import GraphFit
    from mathsetu.training.graph.thesis import PRESETS
    from mathsetu.training.graph.train import (
        read_id_pairs,
        train_from_imported,
        train_from_texts,
    )

    model, settings = PRESETS[preset] if preset else (GraphModel(), GraphFit())
    wanted = _given(sizes) if preset else sizes
    settings = replace(settings, **{name: wanted[name] for name in _FIT if name in wanted})
    choices = replace(
        model,
        **{name: wanted[name] for name in _NETWORK if name in wanted},
        features_from=features,
        graphs=GraphChoices(
            sentences,
            trees,  # type: ignore[arg-type]  # click has checked it
            VirtualNodes(structure, auxiliary, initialisation),  # type: ignore[arg-type]  # checks
        ),
    )
    if graphs is not None:
        with progress_bar() as progress:
            named = read_id_pairs(data)[: limit or None]
            found = train_from_imported(named, graphs, choices, settings, folder, progress=progress)
        _show(found, folder, as_json)
        return
    pairs = _pairs(data, unseen, threads, accepted)
    if 0 < limit < len(pairs):
        pairs = split_pairs(pairs, limit, settings.seed)[1]
    with progress_bar() as progress:
        found = train_from_texts(
            pairs,
            choices,
            settings,
            folder,
            negatives,
            same_tag=same_tag,
            processes=processes,
            progress=progress,
        )
    _show(found, folder, as_json)


def _show(found: TrainingResult, folder: Path, as_json: bool) -> None:
    if as_json:
        print_json({"model": str(folder / "model"), "reciprocal_rank": found.trained,
                    "untrained": found.untrained, "epochs": found.history})  # fmt: skip
        return
    show_epochs(found.history)
    say(
        f"mean reciprocal rank of held-out answers: {found.trained:.3f} "
        f"({found.untrained:.3f} before training)"
    )
    say(f"the model is in {folder / 'model'}")


def _pairs(
    data: Path, unseen: tuple[Path, ...], threads: Path | None, accepted: bool
) -> list[TextPair]:
    texts = [
        f"{query.title}\n{query.text}"
        for path in unseen
        for query in detect(path).read(path, BadRows())
    ]
    pairs: list[TextPair] = []
    if data.is_dir():
        pairs = read_text_pairs(data, texts)
        pairs += across_languages(pairs)
    for posts in filter(None, (threads, None if data.is_dir() else data)):
        found = thread_text_pairs(with_questions(open_posts(posts)), texts, accepted=accepted)
        if not found:
            which = "accepted answers" if accepted else "answers"
            raise InputError(f"{posts}: has no {which} with their questions to learn from")
        pairs += found
    return pairs
