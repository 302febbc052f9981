"""``mathsetu graph``: builds, exports, imports and compares graphs, and uploads vectors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import click

from mathsetu.cli import VerbGroup
from mathsetu.cli.output import (
    LANGUAGE,
    json_option,
    print_json,
    progress_bar,
    report_rows,
    say,
    skipped,
)
from mathsetu.cli.targets import begins, check_target
from mathsetu.cli.verb import Verb
from mathsetu.collections.files import writing
from mathsetu.collections.rows import BadRows
from mathsetu.evaluation.heatmap import heat_map, is_heat_map
from mathsetu.graphs.build import GraphBuilder
from mathsetu.graphs.makers import MAKERS
from mathsetu.intake.posts import FIELDS
from mathsetu.library import Library
from mathsetu.library.graph_files import (
    FORMS,
    built_graphs,
    import_graphs,
    library_graphs,
    read_graphs,
    read_sources,
    write_graphs,
    write_sentences,
)
from mathsetu.library.graph_upload import searched_here, upload_library
from mathsetu.printable import counted
from mathsetu.retrieval.base import check_fields


@click.group("graph", cls=VerbGroup)
def command() -> None:
    """Work with meaning graphs: build, export, import and compare them, upload to Qdrant."""


_fields_option = click.option(
    "--fields",
    default="title,question,body",
    show_default=True,
    help="Fields of a post, in the order in which its graph is built; 'body' for answers alone.",
)
_language_option = click.option(
    "--lang", type=LANGUAGE, default="", help="Language of texts that do not state one."
)


@command.command("build")
@click.argument("posts", type=click.Path(path_type=Path))
@click.argument("target", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--sentences", type=click.Choice(MAKERS), default="best", show_default=True,
              help="Maker of sentence graphs.")  # fmt: skip
@click.option("--for-parser", is_flag=True,
              help="Write only the sentences, with formulas as FORMULA_0, …, for an external "
                   "parser.")  # fmt: skip
@_fields_option
@_language_option
@json_option
def build(
    posts: Path,
    target: Path,
    sentences: str,
    for_parser: bool,
    fields: str,
    lang: str,
    as_json: bool,
) -> None:
    r"""Build the graphs of POSTS, or of topics, and write them to TARGET in Penman notation.

    \b
    Examples:
      mathsetu graph build posts.jsonl graphs.penman --sentences terms
      mathsetu graph build Posts.xml sentences.txt.gz --for-parser
    """
    _check_graphs(target, [posts])
    sources = read_sources(posts, _fields(fields), lang)
    with progress_bar() as progress:
        if for_parser:
            count, what, failures = write_sentences(target, sources), "sentences", {}
        else:
            builder = GraphBuilder(sentences)
            count, what = write_graphs(target, built_graphs(sources, builder, progress)), "graphs"
            failures = dict(+builder.failures)
    _report(target, count, what, failures, as_json)


@command.command("export")
@click.argument("library", type=click.Path(file_okay=False, path_type=Path))
@click.argument("target", type=click.Path(dir_okay=False, path_type=Path))
@json_option
def export(library: Path, target: Path, as_json: bool) -> None:
    r"""Write the graphs of all posts of LIBRARY, as in its graph index, to TARGET.

    \b
    Example:
      mathsetu graph export math.library graphs.penman.gz
    """
    _check_graphs(target, [library])
    with progress_bar() as progress:
        count = write_graphs(target, library_graphs(library, progress))
    _report(target, count, "graphs", {}, as_json)


@command.command("import")
@click.argument("source", type=click.Path(path_type=Path))
@click.argument("target", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--from", "form", type=click.Choice(FORMS),
              help="Penman blocks or JSON lines, or MathAMR's table (.tsv).")  # fmt: skip
@click.option("--posts", type=click.Path(path_type=Path),
              help="The posts or topics of the graphs: their formulas get trees, and graphs of "
                   "sentences (# ::snt) are joined.")  # fmt: skip
@click.option("--skip-bad", is_flag=True, help="Skip and count malformed graphs.")
@_fields_option
@_language_option
@json_option
def import_(
    source: Path,
    target: Path,
    form: str | None,
    posts: Path | None,
    skip_bad: bool,
    fields: str,
    lang: str,
    as_json: bool,
) -> None:
    r"""Import the graphs of SOURCE, made by an external parser, into the file TARGET.

    Use them for an index with --set parts.graph.graphs=TARGET, for training with --graphs TARGET.

    \b
    Examples:
      mathsetu graph import parsed.penman graphs.sqlite --posts posts.jsonl
      mathsetu graph import amr-bank-struct-v3.0.txt graphs.sqlite
      mathsetu graph import mathamr-topics.tsv.xz graphs.sqlite
    """
    # Graphs are added to an existing file of graphs; opening any other file is an error.
    check_target(target, [source, posts], own=lambda path: True, about="")
    bad = BadRows(skip=skip_bad)
    records = read_graphs(source, form or "", bad)
    sources = read_sources(posts, _fields(fields), lang) if posts else None
    with progress_bar() as progress:
        count, failures = import_graphs(target, records, sources, progress)
    _report(target, count, "graphs", failures, as_json, bad)


def _check_graphs(target: Path, inputs: Iterable[Path]) -> None:
    own = begins(lambda text: text.startswith("# ::id "))
    check_target(target, inputs, own=own, about=", and is not a file of graphs or sentences")


def _fields(written: str) -> tuple[str, ...]:
    fields = tuple(field.strip() for field in written.split(",") if field.strip())
    check_fields(fields, FIELDS)
    return fields


def _report(
    target: Path,
    count: int,
    what: str,
    failures: Mapping[str, int],
    as_json: bool,
    bad: BadRows | None = None,
) -> None:
    """Report what was written, and what the sentence maker or parser could not handle."""
    if as_json:
        skipped_rows = {"skipped": bad.count} if bad else {}
        print_json({"file": str(target), what: count, **skipped_rows, "failures": dict(failures)})
        return
    say(f"{target}: {counted(count, what.removesuffix('s'))}{skipped(bad) if bad else ''}")
    if bad:
        report_rows(bad)
    if failures.get("sentences"):
        number = failures["sentences"]
        one = number == 1
        have = "has the graph of its terms" if one else "have the graph of their terms"
        say(f"{counted(number, 'sentence')} {have} instead")
    if failures.get("formulas"):
        number = failures["formulas"]
        hang = (
            "is attached to the root, because the parser lost it"
            if number == 1
            else ("are attached to the root, because the parser lost them")
        )
        say(f"{counted(number, 'formula')} {hang}")


@command.command("compare", cls=Verb, former={"--svg": "--write"})
@click.argument("library", type=click.Path(file_okay=False, path_type=Path))
@click.argument("query")
@click.argument("post")
@click.option("--write", "target", type=click.Path(dir_okay=False, path_type=Path),
              metavar="FILE", help="Also draw a heat map: FILE.svg.")  # fmt: skip
@json_option
def compare(library: Path, query: str, post: str, target: Path | None, as_json: bool) -> None:
    r"""Show which formulas and sentences of QUERY match which of a POST of LIBRARY.

    \b
    Example:
      mathsetu graph compare math.library 'Is $x^2+1$ irreducible?' 4711 --write map.svg
    """
    check_target(target, [library], own=begins(is_heat_map), about=", and is not a heat map")
    with Library(library, searched_here(library)) as opened:
        rows, columns, cosines = opened.heat_map(query, post)
    best = cosines.argmax(axis=1)
    if target:
        with writing(target) as file:
            file.write(heat_map(rows, columns, cosines.tolist()))
    if as_json:
        print_json({"query": rows, "post": columns, "cosines": cosines.tolist()})
        return
    for row, place in enumerate(best.tolist()):
        say(f"{cosines[row, place]:.2f}  {rows[row]} ~ {columns[place]}")
    say(f"MaxSim {cosines.max(axis=1).mean():.3f}")


@command.command("upload")
@click.argument("library", type=click.Path(file_okay=False, path_type=Path))
@click.argument("url")
@json_option
def upload(library: Path, url: str, as_json: bool) -> None:
    r"""Upload the vectors of LIBRARY to the Qdrant server at URL; existing ones are not sent again.

    An API key, if the server requires one, is read from QDRANT_API_KEY. It is sent only to the
    address in QDRANT_URL.

    \b
    Example:
      mathsetu graph upload math.library http://localhost:6333
    """
    with progress_bar() as progress:
        count = upload_library(library, url, progress)
    if as_json:
        print_json({"posts": count, "server": url})
    else:
        say(f"{url}: has all {counted(count, 'post')} of {library}")
