"""``mathsetu reproduce``: runs a paper's system on a collection and compares the figures."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import click
from click.core import ParameterSource

from mathsetu.cli.evaluation import read_records
from mathsetu.cli.fuse import Numbers, check_saved, save_learned
from mathsetu.cli.output import LANGUAGE, json_option, print_json, print_table, progress_bar, say
from mathsetu.cli.targets import begins, check_target
from mathsetu.collections.files import writing
from mathsetu.collections.formats import open_posts
from mathsetu.collections.rows import BadRows
from mathsetu.collections.seen_ids import SeenIds
from mathsetu.collections.trec import write_qrels
from mathsetu.errors import InputError
from mathsetu.library import Library, build_library
from mathsetu.library.manifest import has_manifest
from mathsetu.library.reproduction import (
    DEPTH,
    Figure,
    Reproduction,
    check_models,
    check_posts_wanted,
    has_paper,
    learns,
    reproduce,
    same_recipe,
    sweep,
)
from mathsetu.papers import WITHOUT_DATA, Context, is_page, page
from mathsetu.papers.context import read_models
from mathsetu.printable import counted
from mathsetu.recipes import load_recipe, recipe_names
from mathsetu.recipes.learned import read_learned

_OF_PAPERS = ("paper", "the paper's figure is in")
# Options that belong to only one of the two modes of the command, and those that exclude a sweep.
_OF_PAGE = ("only", "models", "keep", "target")
_OF_RECIPE = (
    "settings", "library", "lang", "pool", "save", "save_judgments", "learned", "sweep_k", "as_json"
)  # fmt: skip
_NOT_SWEPT = ("pool", "save", "save_judgments", "learned")
_COLUMNS = ("edition", "language", "topics", "measure", "ours", *_OF_PAPERS)


@click.command("reproduce")
@click.argument("name", required=False)
@click.argument("posts", required=False, type=click.Path(path_type=Path))
@click.argument("topics", required=False, type=click.Path(path_type=Path))
@click.argument("qrels", nargs=-1, type=click.Path(path_type=Path))
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE",
              help="Replace a setting of the recipe: rerank.model=FOLDER.")  # fmt: skip
@click.option("--library", type=click.Path(file_okay=False, path_type=Path),
              help="Keep the library here and reuse it the next time.")  # fmt: skip
@click.option("--lang", type=LANGUAGE, default="", help="Language of topics that do not state one.")
@click.option("--pool", is_flag=True,
              help="Rank only the judged posts of each topic, as CrossMath does.")  # fmt: skip
@click.option("--save", type=click.Path(path_type=Path), metavar="FILE",
              help="Write the learned settings of a fusion to FILE (TOML).")  # fmt: skip
@click.option("--save-judgments", type=click.Path(path_type=Path), metavar="FILE",
              help="Write the used judgments to FILE, for evaluating other runs.")  # fmt: skip
@click.option("--learned", type=click.Path(path_type=Path), metavar="FILE",
              help="Use the learned settings in FILE; learn nothing.")  # fmt: skip
@click.option("--sweep-k", type=Numbers(), metavar="K1,K2,…",
              help="Show reciprocal rank fusion for each k instead.")  # fmt: skip
@click.option("--all", "data", type=click.Path(file_okay=False, path_type=Path), metavar="DATA",
              help="Make the page of all papers from the data in DATA.")  # fmt: skip
@click.option("--only", multiple=True, metavar="PAPER",
              help="--all: only the section of a paper: crossmath, msm …")  # fmt: skip
@click.option("--models", type=click.Path(path_type=Path), metavar="FILE",
              help="--all: replacements for models (TOML).")  # fmt: skip
@click.option("--keep", type=click.Path(file_okay=False, path_type=Path), metavar="FOLDER",
              help="--all: keep the libraries here and reuse them the next time.")  # fmt: skip
@click.option("--write", "target", type=click.Path(path_type=Path), metavar="FILE",
              help="--all: write the page to FILE.")  # fmt: skip
@json_option
def command(
    name: str | None,
    posts: Path | None,
    topics: Path | None,
    qrels: tuple[Path, ...],
    settings: tuple[str, ...],
    library: Path | None,
    lang: str,
    pool: bool,
    save: Path | None,
    save_judgments: Path | None,
    learned: Path | None,
    sweep_k: tuple[float, ...] | None,
    data: Path | None,
    only: tuple[str, ...],
    models: Path | None,
    keep: Path | None,
    target: Path | None,
    as_json: bool,
) -> None:
    r"""Run the recipe NAME (built-in, or a .toml file) on POSTS, TOPICS and their judgments QRELS.

    Prints our figures next to those of the recipe's paper, if it has one, and the differences in
    data, models and settings.

    \b
    Examples:
      mathsetu reproduce msm-bm25 Posts.xml topics.xml qrels.txt
      mathsetu reproduce mirmu Posts.xml topics.xml qrels.txt --set rerank.model=./my-reranker/model
      mathsetu reproduce crossmath-nllb-bi Posts.xml spa_Latn.tsv qrels.txt --pool
      mathsetu reproduce msm-ens-13 Posts.xml topics.xml qrels.txt --save rbc.toml
      mathsetu reproduce msm-bm25 Posts.xml topics.xml qrels.txt --save-judgments used.txt
      mathsetu reproduce msm-ens-7 Posts.xml topics.xml qrels.txt --sweep-k 20,60,180,500
      mathsetu reproduce --all DATA --models models.toml --write page.md
    """
    if data is not None:
        if name is not None:
            raise click.UsageError("--all cannot be used with NAME, POSTS, TOPICS and QRELS")
        _refuse(_OF_RECIPE, "cannot be used with --all")
        _make_page(data, only, models, keep, target)
        return
    _refuse(_OF_PAGE, "can only be used with --all DATA")
    if sweep_k:
        _refuse(_NOT_SWEPT, "cannot be used with --sweep-k")
    if name is None or posts is None or topics is None or not qrels:
        raise click.UsageError("give NAME, POSTS, TOPICS and QRELS, or --all DATA")
    recipe = load_recipe(name, settings)
    depth = recipe.ranking.k or DEPTH
    stored = read_learned(learned) if learned else None
    if stored is not None and save is not None:
        raise click.UsageError("--save cannot be used with --learned, which learns nothing")
    if save is not None and not learns(recipe):
        raise InputError(f"{name}: has no fusion that learns; leave out --save")
    read = [Path(name), posts, topics, *qrels, library]
    check_saved(save, read)
    # Existing judgments may be a person's only copy, so they are never overwritten.
    check_target(save_judgments, read, own=lambda _: False, about="", outputs=[save])
    queries = [replace(q, language=q.language or lang) for q in read_records(topics, "queries")]
    check_posts_wanted(queries)
    judgments = [judgment for path in qrels for judgment in read_records(path, "judgments")]
    judged = {judgment.query_id for judgment in judgments}
    if not any(query.id in judged for query in queries):
        named = ", ".join(map(str, qrels))
        raise InputError(
            f"{topics}: none of its topics is judged in {named}; give topics and judgments of the "
            "same edition"
        )
    check_models(recipe, queries)
    with TemporaryDirectory() as place, progress_bar() as progress:
        folder = library or Path(place) / "library"
        report = _LeftOutIds()
        is_built = not same_recipe(folder, recipe)
        if not is_built:
            used = f"{folder}: this library is used as it is, and {posts} is not read"
            say(f"{used} (to build it from {posts}, remove it first)", err=True)
        else:
            if has_manifest(folder):
                say(f"{folder}: the library there has another recipe and is replaced", err=True)
            build_library(
                folder,
                open_posts(posts, BadRows(ids=SeenIds())),
                recipe,
                progress=progress,
                report=report,
            )
        with Library(folder) as opened:
            # A file with the name of a built-in recipe is compared with that recipe.
            shipped = load_recipe(recipe.name if recipe.name in recipe_names() else name)
            asked = opened, shipped, queries, judgments
            if sweep_k:
                _show_sweep(sweep(*asked, sweep_k, depth), as_json)
                return
            done = reproduce(
                *asked,
                depth=depth,
                pool=pool,
                stored=stored,
                left_out=report.ids if is_built else None,
            )
            members = opened.recipe.members
    if save is not None and done.fusion is not None:
        method = str(recipe.ranking.fuse["method"])
        save_learned(save, method, done.fusion, members, ", ".join(path.name for path in qrels))
    if save_judgments is not None:
        write_qrels(save_judgments, done.judgments)
        _say_how_to_evaluate(save_judgments, done)
    if as_json:
        print_json(replace(done, judgments=()))
        return
    compared = any(figure.paper is not None for figure in done.figures)
    own = len(_COLUMNS) if compared else -len(_OF_PAPERS)
    print_table(_COLUMNS[:own], [_row(figure)[:own] for figure in done.figures])
    if done.depth is not None:
        say(f"hits per topic: at most {done.depth:,}")
    if done.learned:
        say(f"learned: {done.learned}")
    if done.differences:
        say("what differs:" if has_paper(recipe.name) else "notes:")
    for difference in done.differences:
        say(f"  {difference}")


class _LeftOutIds:
    """Collects the ids of the posts that a recipe leaves out."""

    def __init__(self) -> None:
        self.ids: list[str] = []

    def add_left_out(self, post_id: str, formulas: int) -> None:
        """Add the id of a post."""
        self.ids.append(post_id)

    def add_faulty_formula(self, latex: str, message: str) -> None:
        """Ignore faulty formulas: the posts are the collection's."""


def _refuse(parameters: Collection[str], why: str) -> None:
    """Refuse options that were given but would have no effect."""
    context = click.get_current_context()
    given = [
        parameter.opts[0]
        for parameter in context.command.params
        if parameter.name in parameters
        and context.get_parameter_source(parameter.name) is ParameterSource.COMMANDLINE
    ]
    if given:
        raise click.UsageError(f"{', '.join(given)} {why}")


def _make_page(
    data: Path,
    only: tuple[str, ...],
    models: Path | None,
    keep: Path | None,
    target: Path | None,
) -> None:
    if not data.is_dir():
        raise InputError(f"{data}: no such folder (docs/reproduce.md says what it must hold)")
    about = ", and is not a page of 'reproduce --all'"
    check_target(target, [data, models, keep], own=begins(is_page), about=about)
    stand_ins = read_models(models) if models else {}
    with TemporaryDirectory() as place, progress_bar() as progress:
        context = Context(data, keep or Path(place), stand_ins, progress)
        if not context.has_data and not (only and WITHOUT_DATA.issuperset(only)):
            raise InputError(
                f"{data}: has no topics, judgments or runs, such as arqmath/topics-task1-2020.xml "
                "(docs/reproduce.md says what it must hold)"
            )
        made = page(context, only)
    if target is None:
        say(made, lines=True)
        return
    with writing(target) as file:
        file.write(made)
    say(f"the page is in {target}", err=True)


def _say_how_to_evaluate(qrels: Path, done: Reproduction) -> None:
    """Print the commands that give the same figures from a run file."""
    depth = f"--pool {qrels}" if done.depth is None else f"--k {done.depth}"
    measures = " ".join(dict.fromkeys(f'-m "{figure.measure}"' for figure in done.figures))
    say(f"{counted(len(done.judgments), 'judgment')} in {qrels}; a run gives the same figures with",
        err=True)  # fmt: skip
    say(f"  mathsetu run LIBRARY TOPICS RUN {depth}", err=True)
    say(
        f"  mathsetu evaluate {qrels} RUN {measures} --relevant-from {done.relevant_from}", err=True
    )


def _show_sweep(found: list[tuple[float, tuple[Figure, ...]]], as_json: bool) -> None:
    if as_json:
        print_json([{"k": k, "figures": [*map(asdict, figures)]} for k, figures in found])
        return
    own = -len(_OF_PAPERS)
    rows = [(f"{k:g}", *_row(figure)[:own]) for k, figures in found for figure in figures]
    print_table(("k", *_COLUMNS[:own]), rows)


def _row(figure: Figure) -> tuple[object, ...]:
    paper = "" if figure.paper is None else f"{figure.paper:.3f}"
    ours = f"{figure.ours:.3f}"
    return (figure.edition, figure.language, figure.topics, figure.measure, ours, paper,
            figure.source)  # fmt: skip
