"""``mathsetu train weight``: chooses the weight of a reranker in a recipe."""

from __future__ import annotations

from pathlib import Path

import click

from mathsetu.cli.evaluation import read_records
from mathsetu.cli.output import LIBRARY, json_option, print_json, say, track
from mathsetu.library import Library
from mathsetu.ranking.rerank import CROSS_ENCODERS, Rerank
from mathsetu.training.reranker_weight import choose_weight


@click.command("weight")
@click.argument("library", type=LIBRARY)
@click.argument("topics", type=click.Path(path_type=Path))
@click.argument("judgments", metavar="QRELS", type=click.Path(path_type=Path))
@click.argument("model")
@click.option("--kind", type=click.Choice(list(CROSS_ENCODERS)), default="cross-encoder",
              show_default=True)  # fmt: skip
@click.option("--depth", default=50, show_default=True, help="Number of candidates to rerank.")
@click.option("--max-tokens", default=512, show_default=True)
@json_option
def command(
    library: Path | str,
    topics: Path,
    judgments: Path,
    model: str,
    kind: str,
    depth: int,
    max_tokens: int,
    as_json: bool,
) -> None:
    r"""Choose the weight of a reranker MODEL for LIBRARY, on the judgments QRELS of TOPICS.

    Put the printed settings into the recipe, or pass them to `mathsetu index --set`. Use topics
    that the model was not trained on.

    \b
    Example:
      mathsetu train weight math.library topics.xml qrels.txt reranker/model
    """
    settings = Rerank(model, kind=kind, depth=depth, max_tokens=max_tokens, tiers=())
    queries = track(list(read_records(topics, "queries")), "topics")
    with Library(library) as opened:
        found = choose_weight(opened, queries, read_records(judgments, "judgments"), settings)
    lines = [f"rerank.model={model}", f"rerank.kind={kind}", f"rerank.depth={depth}",
             "rerank.tiers=[]", f"rerank.weight={found.weight:g}"]  # fmt: skip
    if max_tokens != Rerank.max_tokens:
        lines.append(f"rerank.max_tokens={max_tokens}")
    chosen = lines if found.weight else []
    if as_json:
        print_json(
            {
                "weight": found.weight,
                "settings": chosen,
                "topics": found.topics,
                "without": found.without,
                "aside": found.aside,
                "gains": {f"{weight:g}": gain for weight, gain in found.gains.items()},
            }
        )
        return
    for weight, gain in found.gains.items():
        mark = " (chosen)" if weight == found.weight else ""
        say(f"weight {weight:g}: nDCG@10 {gain:.4f}{mark}")
    aside = f"cross-validated: {found.aside:.4f}"
    say(f"{aside}, without the model: {found.without:.4f}")
    if not chosen:
        say("the hits are better without it")
        return
    say("to use it: " + " ".join(f"--set {line}" for line in chosen))
