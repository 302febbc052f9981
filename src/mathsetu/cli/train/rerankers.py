"""``mathsetu train cross-encoder`` and ``bi-encoder``: fit a model to judgments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from mathsetu.cli.evaluation import read_records
from mathsetu.cli.output import json_option, print_json, progress_bar, say
from mathsetu.collections.formats import open_posts
from mathsetu.collections.threads import with_questions
from mathsetu.errors import InputError
from mathsetu.library import Library
from mathsetu.training.bi_encoder import train_bi_encoder
from mathsetu.training.checkpoints import State
from mathsetu.training.cross_encoder import train_cross_encoder
from mathsetu.training.epochs import Epochs
from mathsetu.training.loop import Fit
from mathsetu.training.pairs import TrainingPair, judged_pairs, split_topics, thread_pairs
from mathsetu.training.similar import similar_posts
from mathsetu.training.words import post_words, query_words

_file = click.Path(path_type=Path)
_folder = click.Path(file_okay=False, path_type=Path)
_SHARED = (
    click.argument("posts", type=_file),
    click.argument("topics", type=_file),
    click.argument("judgments", metavar="QRELS", type=_file),
    click.argument("folder", type=_folder),
    click.option("--model", required=True, help="Base model: a folder, or a name on the hub."),
    click.option("--votes", default=50, show_default=True,
                 help="Minimum votes of an answer to be a positive example for its question."),
    click.option("--accepted", is_flag=True,
                 help="Use accepted answers as positive examples, whatever their votes."),
    click.option("--relevant-from", default=2, show_default=True,
                 help="The lowest relevant grade."),
    click.option("--validation", default=0.2, show_default=True,
                 help="Share of topics held out for validation."),
    click.option("--epochs", default=10, show_default=True, help="Maximum number of epochs."),
    click.option("--batch", default=16, show_default=True),
    click.option("--learning-rate", default=2e-5, show_default=True),
    click.option("--max-tokens", default=512, show_default=True),
    click.option("--text", type=click.Choice(["marked", "words"]), default="marked",
                 show_default=True, help="Text to use: all, or words without formulas."),
    click.option("--seed", default=1, show_default=True),
    json_option,
)  # fmt: skip


def _on_judgments(function: Callable[..., None]) -> Callable[..., None]:
    for option in reversed(_SHARED):
        function = option(function)
    return function


@click.command("cross-encoder")
@_on_judgments
@click.option("--library", type=_folder,
              help="Library to find negative examples in: similar posts "
                   "without a shared tag.")  # fmt: skip
def cross_encoder(**given: Any) -> None:
    r"""Train a reranker on the judgments QRELS of POSTS for TOPICS.

    The best model is written to FOLDER/model with a model card.

    \b
    Example:
      mathsetu train cross-encoder Posts.xml topics.xml qrels.txt reranker \
        --model roberta-large --library math.library
      mathsetu train cross-encoder Posts.xml topics.xml qrels.txt words-only \
        --model roberta-large --text words
    """
    _train("cross-encoder", **given)


@click.command("bi-encoder")
@_on_judgments
def bi_encoder(**given: Any) -> None:
    r"""Train an encoder of texts on the judgments QRELS of POSTS for TOPICS.

    The best model is written to FOLDER/model with a model card.

    \b
    Example:
      mathsetu train bi-encoder posts.jsonl topics.jsonl qrels.txt encoder \
        --model all-MiniLM-L12-v2
    """
    _train("bi-encoder", library=None, **given)


def _train(
    kind: str,
    posts: Path,
    topics: Path,
    judgments: Path,
    folder: Path,
    model: str,
    library: Path | None,
    votes: int,
    accepted: bool,
    relevant_from: int,
    validation: float,
    text: str,
    as_json: bool,
    **fit: Any,
) -> None:
    settings = Fit(**fit)
    known = {post.id: post for post in with_questions(open_posts(posts))}
    queries = {query.id: query for query in read_records(topics, "queries")}
    if text == "words":
        known = {post_id: post_words(post) for post_id, post in known.items()}
        queries = {query_id: query_words(query) for query_id, query in queries.items()}
    learn, check = split_topics(
        list(read_records(judgments, "judgments")), validation, settings.seed
    )
    right = judged_pairs(queries, known.get, learn, relevant_from)
    aside = judged_pairs(queries, known.get, check, relevant_from)
    if not right:
        raise InputError(f"{judgments}: judges no post of {posts} for a topic of {topics}")
    threads = thread_pairs(known.values(), votes, accepted=accepted)
    chosen = "that askers accepted" if accepted else f"with {votes} votes or more"
    about = (
        f"{len(right):,} pairs judged in {judgments.name} and {len(threads):,} answers {chosen}; "
        f"{len(aside):,} judged pairs held out."
        + " Words alone, without formulas."
        * (text == "words")
    )
    with progress_bar() as progress:
        if kind == "bi-encoder":
            pairs: list[TrainingPair] = [*right, *threads]
            state = train_bi_encoder(model, pairs, aside, folder, settings, about, progress)
        else:
            asked = [post for post in known.values() if post.question and post.tags]
            similar = similar_posts(Library(library), known) if library else lambda post: ()
            drawn = Epochs(right, threads, asked if library else (), similar, settings.seed)
            state = train_cross_encoder(model, drawn, aside, folder, settings, about, progress)
    _report(state, folder, as_json)


def _report(state: State, folder: Path, as_json: bool) -> None:
    if as_json:
        print_json({"model": str(folder / "model"), "kept": state.best + 1,
                    "epochs": state.history})  # fmt: skip
        return
    show_epochs(state.history, state.best)
    say(f"the model is in {folder / 'model'}")


def show_epochs(history: Sequence[dict[str, float]], kept: int = -1) -> None:
    """Print the losses of each epoch."""
    for number, row in enumerate(history):
        shown = ", ".join(f"{name.replace('_', ' ')} {value:.4f}" for name, value in row.items())
        say(f"epoch {number + 1}: {shown}{' (kept)' if number == kept else ''}")
