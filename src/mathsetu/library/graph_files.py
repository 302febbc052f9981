"""Graphs of collections and libraries as files: built, written out for others, and taken in.

What is built here is what an index with the same fields and maker would build. Sentences can be
written out for a parser that runs elsewhere; its graphs come back by `import_graphs`.
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

#: How graphs can be written: Penman blocks or JSON lines, or the dialect of MathAMR in a table.
FORMS = ("penman", "mathamr")
#: Called with what is being done and how far it is.
Progress = Callable[[str, int], None]

# Texts whose sentences a maker gets together.
_TOGETHER = 64


def read_sources(
    path: Path, fields: Sequence[str], language: str = "", bad: BadRows | None = None
) -> Iterator[tuple[str, Source]]:
    """What graphs are built of: the posts or topics of a file, with their ids.

    Args:
        path: The file, in any format of the table.
        fields: The fields of posts, in the order in which a graph is built of them.
        language: The language of those that do not say theirs.
        bad: What is done about rows that cannot be read.
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
    """A post as an index with these fields reads it."""
    text = facts.joined(fields)
    formulas = [one for one in facts.all_formulas if one.where in fields]
    given = formulas or [Formula(latex, latex) for latex in text.formulas]
    return Source(text.text, facts.language or language or "en", given, text.spans)


def built_graphs(
    sources: Iterable[tuple[str, Source]], builder: GraphBuilder, progress: Progress
) -> Iterator[Record]:
    """The graphs of texts, a batch at a time."""
    waiting = iter(sources)
    done = 0
    while batch := list(islice(waiting, _TOGETHER)):
        graphs = builder.build_many([source for _, source in batch])
        for (name, _), graph in zip(batch, graphs, strict=True):
            yield Record(name, graph)
        done += len(batch)
        progress("building graphs", done)


def library_graphs(folder: Path, progress: Progress) -> Iterator[Record]:
    """The graphs of a library's posts, as its graph index has read them."""
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
    """Write graphs as Penman blocks, whole or not at all; returns how many there were."""
    count = 0
    with writing(path) as file:
        for record in records:
            file.write(f"{block_of(record)}\n\n")
            count += 1
    return count


def write_sentences(path: Path, sources: Iterable[tuple[str, Source]]) -> int:
    """Write the sentences of texts for a parser that runs elsewhere; returns how many there are."""
    count = 0
    with writing(path) as file:
        for name, source in sources:
            for number, sentence in enumerate(parser_sentences(source), start=1):
                file.write(f"# ::id {' '.join(name.split())}.{number}\n# ::snt {sentence}\n\n")
                count += 1
    return count


def read_graphs(path: Path, form: str, bad: BadRows) -> Iterator[Record]:
    """The graphs of a file, compressed or not.

    Args:
        path: The file.
        form: ``penman`` or ``mathamr``; empty for what its name says.
        bad: What is done about graphs that cannot be read.
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
    """Take graphs into a file that indexes, queries and training read.

    Args:
        target: The file.
        records: Graphs of whole texts or, where the texts are given, of their sentences.
        sources: The texts that the graphs are of, with their ids: formulas get their trees from
            them. A text without a graph of its own gets those of its sentences joined.
        progress: Called as the work goes on.

    Returns:
        How many graphs there were, and what went wrong inside them (`GraphBuilder.troubles`).
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
                if len(batch) == _TOGETHER:
                    yield from built_graphs(batch, builder, progress)
                    batch = []
            yield from built_graphs(batch, builder, progress)

        return store.write(joined()), dict(builder.troubles)
