"""Builds, exports and imports graphs of collections and libraries as files.

The graphs are the same as those of an index with the same fields and graph builder. Sentences can
be written for an external parser; `import_graphs` reads its graphs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from mathsetu.collections.files import read_lines, writing
from mathsetu.collections.formats import detect
from mathsetu.collections.rows import BadRows
from mathsetu.errors import InputError, RowError
from mathsetu.graphs.build import GraphBuilder, Source
from mathsetu.graphs.imported import ImportedGraphs, Parses, parser_sentences, with_formulas
from mathsetu.graphs.penman.mathamr import mathamr_rows
from mathsetu.graphs.penman.records import Record, block_of, records_in
from mathsetu.intake.posts import PostFacts, read_post
from mathsetu.intake.question import Question
from mathsetu.library.graph_upload import graph_part
from mathsetu.library.manifest import segment_folder
from mathsetu.library.store import STORE, Store
from mathsetu.records import Formula, Post, Query
from mathsetu.retrieval.graph_search import GraphSettings, load_graph_encoder, named_formulas

#: Formats of graph files: Penman blocks or JSON lines, or a table in MathAMR's dialect.
FORMS = ("penman", "mathamr")
#: Called with the name of the current step and the number of items done.
Progress = Callable[[str, int], None]

# Texts whose sentences are parsed in one batch.
_BATCH_SIZE = 64


def read_sources(
    path: Path, fields: Sequence[str], language: str = "", bad: BadRows | None = None
) -> Iterator[tuple[str, Source]]:
    """The sources of graphs: the posts or topics of a file, with their ids.

    Args:
        path: The file, in any supported format.
        fields: The fields of posts to build a graph from, in order.
        language: The language of records that do not state theirs.
        bad: How to handle rows that cannot be read.
    """
    bad = bad or BadRows()
    form = detect(path)
    if form.holds not in ("posts", "queries"):
        raise InputError(f"{path}: holds {form.holds}; graphs are built of posts or topics")
    for record in form.read(path, bad):
        yield record.id, _source(record, fields, language)


def _source(record: Post | Query, fields: Sequence[str], language: str) -> Source:
    if isinstance(record, Post):
        return post_source(read_post(record), fields, language)
    question = Question(record)
    marked = question.marked
    given = named_formulas(record) or tuple(Formula(latex, latex) for latex in marked.formulas)
    return Source(
        marked.text, record.language or language or question.language, given, marked.spans
    )


def post_source(facts: PostFacts, fields: Sequence[str], language: str = "") -> Source:
    """The source of a post's graph, as an index with these fields reads it."""
    text = facts.joined(fields)
    formulas = [one for one in facts.all_formulas if one.where in fields]
    given = formulas or [Formula(latex, latex) for latex in text.formulas]
    return Source(text.text, facts.language or language or "en", given, text.spans)


def built_graphs(
    sources: Iterable[tuple[str, Source]], builder: GraphBuilder, progress: Progress
) -> Iterator[Record]:
    """Build the graphs of texts in batches."""
    waiting = iter(sources)
    done = 0
    while batch := list(islice(waiting, _BATCH_SIZE)):
        graphs = builder.build_many([source for _, source in batch])
        for (name, _), graph in zip(batch, graphs, strict=True):
            yield Record(name, graph)
        done += len(batch)
        progress("building graphs", done)


def library_graphs(folder: Path, progress: Progress) -> Iterator[Record]:
    """The graphs of a library's posts, built as for its graph index."""
    manifest, part = graph_part(folder)
    settings = {name: v for name, v in manifest.recipe["parts"][part].items() if name != "kind"}
    choices = GraphSettings(
        model=settings.get("model", GraphSettings.model),
        fields=tuple(settings.get("fields", GraphSettings.fields)),
        graphs=settings.get("graphs", ""),
    )
    imported = ImportedGraphs(choices.graphs) if choices.graphs else None
    builder = GraphBuilder(load_graph_encoder(choices.model).sentences)
    done = 0
    for segment in manifest.segments:
        store = Store(segment_folder(folder, segment.name) / STORE)
        try:
            removed = set(segment.removed)
            for number, stored in enumerate(store.all()):
                if number in removed:
                    continue
                facts = stored.facts()
                graph = imported.get(facts.post.id) if imported else None
                if graph is None:
                    graph = builder.build(post_source(facts, choices.fields))
                yield Record(facts.post.id, graph)
                done += 1
                progress("building graphs", done)
        finally:
            store.close()


def write_graphs(path: Path, records: Iterable[Record]) -> int:
    """Write all graphs as Penman blocks, or no file at all; returns the number of graphs."""
    count = 0
    with writing(path) as file:
        for record in records:
            file.write(f"{block_of(record)}\n\n")
            count += 1
    return count


def write_sentences(path: Path, sources: Iterable[tuple[str, Source]]) -> int:
    """Write the sentences of texts for an external parser; returns the number of sentences."""
    count = 0
    with writing(path) as file:
        for name, source in sources:
            for number, sentence in enumerate(parser_sentences(source), start=1):
                file.write(f"# ::id {' '.join(name.split())}.{number}\n# ::snt {sentence}\n\n")
                count += 1
    return count


def read_graphs(path: Path, form: str, bad: BadRows) -> Iterator[Record]:
    """Read the graphs of a file, compressed or not.

    Args:
        path: The file.
        form: ``penman`` or ``mathamr``; detected from the file name if empty.
        bad: How to handle graphs that cannot be read.
    """
    name = path.name.lower()
    form = form or ("mathamr" if ".tsv" in name else "penman")
    if form not in FORMS:
        raise InputError(f"unknown form of graphs {form!r} (known: {', '.join(FORMS)})")
    read = mathamr_rows if form == "mathamr" else records_in
    for record in read(read_lines(path, bad), path, bad.report):
        if record.graph.is_connected():
            yield record
        else:
            bad.report(RowError(path, 0, f"graph {record.id!r} is not connected"))


def import_graphs(
    target: Path,
    records: Iterable[Record],
    sources: Iterable[tuple[str, Source]] | None,
    progress: Progress,
) -> tuple[int, dict[str, int]]:
    """Import graphs into a file that indexing, search and training read.

    Args:
        target: The file.
        records: Graphs of whole texts or, if ``sources`` is given, also of single sentences.
        sources: The texts of the graphs, with their ids; the trees of formulas are taken from
            them. A text without its own graph gets the joined graphs of its sentences.
        progress: Called as the work goes on.

    Returns:
        The number of graphs, and the problems found in them (`GraphBuilder.failures`).
    """
    with ImportedGraphs(target, write=True) as store:
        if sources is None:
            return store.write(records), {}
        given = list(records)
        whole = {record.id: record for record in given}
        builder = Parses(given).builder()

        def joined() -> Iterator[Record]:
            batch: list[tuple[str, Source]] = []
            for name, source in sources:
                if name in whole:
                    yield Record(name, with_formulas(whole[name].graph, source))
                    continue
                batch.append((name, source))
                if len(batch) == _BATCH_SIZE:
                    yield from built_graphs(batch, builder, progress)
                    batch = []
            yield from built_graphs(batch, builder, progress)

        return store.write(joined()), dict(builder.failures)
