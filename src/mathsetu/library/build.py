"""Builds segments: writes posts to stores, then indexes them for all parts in one pass."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict
from functools import partial
from itertools import chain, count, islice
from pathlib import Path
from typing import Any, NamedTuple

from mathsetu import __version__
from mathsetu.collections.seen_ids import SeenIds
from mathsetu.collections.threads import with_questions
from mathsetu.errors import InputError, NoPosts
from mathsetu.intake.documents import with_document_languages
from mathsetu.intake.posts import PostFacts, read_post
from mathsetu.languages.analyze import tokenize
from mathsetu.library.build_report import NO_REPORT, BuildReport, FaultyFormulas
from mathsetu.library.manifest import BUILDING, segment_folder, segment_folders
from mathsetu.library.store import (
    STORE,
    Questions,
    Row,
    Store,
    Stored,
    set_languages,
    to_row,
    write_store,
)
from mathsetu.places import MARK
from mathsetu.plain_files import is_plain_file, open_plain, sync_folder, sync_tree
from mathsetu.pool import ordered_map
from mathsetu.recipes.parts import check_model, join_statistics, make_builder
from mathsetu.recipes.schema import Recipe, Selection
from mathsetu.records import Post, has_question_text
from mathsetu.retrieval.base import FORMULAS, Builder, DistinctReader, Kind
from mathsetu.retrieval.mapped import seal, unseal

#: Called with the name of the current step and the number of items done.
Progress = Callable[[str, int], None]


def quiet(what: str, number: int) -> None:
    """Report no progress."""


#: Posts per segment. A segment is built in memory (1.8 GB for 60,000 short posts).
SEGMENT_POSTS = 100_000
_STATE, _READ = "state.json", "read.txt"
# Posts sent to a worker process at once.
_CHUNK = 64


def build_segments(
    library: Path,
    name: str,
    posts: Iterable[Post],
    recipe: Recipe,
    *,
    collection: str,
    fingerprint: str,
    questions: Questions,
    processes: int,
    device: str,
    progress: Progress,
    report: BuildReport,
) -> dict[str, int]:
    """Write complete segments; returns the number of posts of each, by segment name.

    The size of a segment is limited, so that memory does not grow with the collection. An answer is
    indexed with its question; ``questions`` finds questions that are not among the posts.

    Segments are built in a folder ``NAME.building``. If an earlier build of the same input (the
    same fingerprint) was interrupted, its finished steps are reused: reading the posts, and each
    finished part of a segment.

    Args:
        library: The library's folder.
        name: The name of the first segment; further segments get the next numbers.
        posts: The posts to index.
        recipe: The recipe to index them with.
        collection: The collection of posts that do not name theirs.
        fingerprint: Identifies the input; empty if the build cannot be resumed.
        questions: Finds questions by their ids.
        processes: The number of worker processes.
        device: The device that encodes passages.
        progress: Called as the work goes on.
        report: Is told what is left out or read only in part.
    """
    # Checked first: reading and encoding may take hours.
    for part, settings in recipe.parts.items():
        check_model(settings, f"parts.{part}")
    work = segment_folder(library, name + BUILDING)
    begun = {
        "fingerprint": fingerprint,
        "recipe": asdict(recipe),
        "collection": collection,
        "version": __version__,
    }
    state = json.dumps(begun)
    if not fingerprint or _state(work) != state:
        shutil.rmtree(work, ignore_errors=True)
        make_marked(work)
        (work / _STATE).write_text(state, encoding="utf-8")
        sync_tree(work)
    if not is_plain_file(work / _READ):
        # The recipe indexes answers only, but they are still completed from their questions.
        alone = "answer" in recipe.posts.kinds and "question" not in recipe.posts.kinds
        posts = with_questions(posts) if alone else posts
        read = partial(_row, selection=recipe.posts, collection=collection, alone=alone)
        try:
            known = with_document_languages(posts)
            with closing(ordered_map(read, known, processes, _CHUNK)) as rows:
                left_out: Counter[str] = Counter()
                read_rows = _counted(rows, "reading", progress)
                selected = _selected(read_rows, left_out, report)
                count = _write_stores(work, selected)
            if left_out and not count:
                raise InputError(f"{recipe.name}: {_all_left_out(left_out)}")
            if not count:
                raise NoPosts
        except BaseException:
            shutil.rmtree(work, ignore_errors=True)  # reading cannot be resumed
            raise
        _pass_languages_on(work, count, questions)
        (work / "read.part").write_text(f"{count}\n", encoding="utf-8")
        sync_tree(work)
        (work / "read.part").replace(work / _READ)
        sync_folder(work)
    else:
        # Checksums of an interrupted build may be incomplete on the disk.
        unseal(work)
    pieces = [_piece(work, number) for number in range(_stored_pieces(work))]
    with ExitStack() as opened:
        stores = [opened.enter_context(closing(Store(piece / STORE))) for piece in pieces]
        counts = [store.count for store in stores]
        find = partial(_find, stores, questions)
        expect(progress, "indexing", sum(counts))
        for number, (piece, store) in enumerate(zip(pieces, stores, strict=True)):
            done = sum(counts[:number])
            counting = _Shifted(progress, done)
            _build_parts(piece, recipe, store.all(find), processes, device, counting, report)
    if len(pieces) > 1:
        for part in recipe.parts:
            join_statistics(recipe.parts[part], [piece / part for piece in pieces])
    names = [f"{int(name) + number:06d}" for number in range(len(pieces))]
    for piece in pieces:
        seal(piece)
        sync_tree(piece)
    # The segments are complete: there is no more work to resume.
    (work / _STATE).unlink()
    sync_folder(work)
    for piece, own in zip(pieces, names, strict=True):
        piece.rename(segment_folder(library, own))
    shutil.rmtree(work)
    sync_folder(work.parent)
    return dict(zip(names, counts, strict=True))


def affected_answers(
    ids: set[str], gone: Container[str], answers_to: Callable[[str], Iterable[Post]]
) -> Iterator[Post]:
    """The answers that are completed from changed questions and must be indexed again.

    Args:
        ids: The posts that change; it may grow until the first answer is requested.
        gone: The posts that are already removed.
        answers_to: Finds the answers to a question.
    """
    for post_id in sorted(ids):
        for answer in answers_to(post_id):
            if answer.id not in ids and answer.id not in gone and not has_question_text(answer):
                yield answer


def make_marked(folder: Path) -> None:
    """Create a folder with the mark that allows a later build to remove it."""
    folder.mkdir(parents=True)
    (folder / MARK).write_text('{"mathsetu": "segment"}\n', encoding="utf-8")
    sync_tree(folder)


def _piece(work: Path, number: int) -> Path:
    return work / f"{number:06d}"


def _stored_pieces(work: Path) -> int:
    with open_plain(work / _READ) as file:
        return int(file.read())


def _write_stores(work: Path, rows: Iterator[Row]) -> int:
    """Write posts into the stores of successive segments; returns the number of segments."""
    seen = SeenIds()
    for number in count(0):
        some = islice(rows, SEGMENT_POSTS)
        first = next(some, None)
        if first is None:
            return number
        piece = _piece(work, number)
        shutil.rmtree(piece, ignore_errors=True)
        make_marked(piece)
        write_store(piece / STORE, _once(chain([first], some), seen, number))
    raise AssertionError("there is no last number")


def _once(rows: Iterable[Row], seen: SeenIds, piece: int) -> Iterator[Row]:
    """Pass rows through; refuse a row whose id occurred in an earlier segment."""
    for row in rows:
        found = seen.first_place(row.id, "", piece)
        if found is not None and found[1] != piece:
            raise InputError(f"two posts have the id {row.id!r}; ids must differ")
        yield row


def _pass_languages_on(work: Path, count: int, questions: Questions) -> None:
    """Set the language of answers without one to that of their questions."""
    paths = [_piece(work, number) / STORE for number in range(count)]
    with ExitStack() as opened:
        stores = [opened.enter_context(closing(Store(path))) for path in paths]
        missing = [store.answers_without_language() for store in stores]
        find = partial(_find, stores, questions)
        languages = [
            {number: asked.language for number, parent in some.items() if (asked := find(parent))}
            for some in missing
        ]
    for path, some in zip(paths, languages, strict=True):
        set_languages(path, some)


def _find(stores: Sequence[Store], others: Questions, post_id: str) -> PostFacts | None:
    for store in stores:
        number = store.number_of(post_id)
        if number is not None:
            return store.by_number([number])[number]
    return others(post_id)


def _build_parts(
    piece: Path,
    recipe: Recipe,
    posts: Iterable[Stored],
    processes: int,
    device: str,
    progress: Progress,
    report: BuildReport,
) -> None:
    """Build the unfinished parts of a segment in one pass over its posts."""
    missing = [part for part in recipe.parts if not (piece / part).is_dir()]
    if not missing:
        return
    builders = [make_builder(recipe.parts[part], f"parts.{part}", device) for part in missing]
    index_posts(builders, posts, processes, progress, report)
    for part, builder in zip(missing, builders, strict=True):
        _write_part(piece / part, builder)


def expect(progress: Progress, what: str, total: int) -> None:
    """Report the total of a step, if the progress callback has ``expect``."""
    tell = getattr(progress, "expect", None)
    if tell is not None:
        tell(what, total)


class _Shifted:
    """Progress of one segment, shifted by the posts of the segments before it."""

    def __init__(self, progress: Progress, done: int) -> None:
        self._progress = progress
        self._done = done

    def __call__(self, what: str, number: int) -> None:
        self._progress(what, self._done + number)

    def expect(self, what: str, total: int) -> None:
        expect(self._progress, what, self._done + total)


def is_begun(library: Path, fingerprint: str) -> bool:
    """Whether a build of this input was interrupted after reading all posts and can be resumed."""
    return bool(fingerprint) and any(
        is_plain_file(folder / _READ) and fingerprint in _state(folder)
        for folder in segment_folders(library)
    )


def _state(work: Path) -> str:
    try:
        with open_plain(work / _STATE) as file:
            return file.read().decode()
    except (OSError, ValueError):
        return ""


def index_posts(
    builders: Sequence[Builder],
    posts: Iterable[Stored],
    processes: int = 1,
    progress: Progress = quiet,
    report: BuildReport = NO_REPORT,
) -> None:
    """Feed all posts to the builders, then process each distinct formula or passage only once."""
    prepare = partial(_prepared, [builder.prepare for builder in builders])
    with closing(ordered_map(prepare, posts, processes, _CHUNK)) as results:
        for prepared in _counted(results, "indexing", progress):
            for builder, one in zip(builders, prepared, strict=True):
                builder.add(one)
    readers: dict[Kind, list[DistinctReader]] = {}
    for builder in builders:
        if builder.reader is not None:
            readers.setdefault(builder.reader.kind, []).append(builder.reader)
    if FORMULAS in readers:
        readers[FORMULAS].append(FaultyFormulas(readers[FORMULAS], report))
    for kind, own in readers.items():
        _read_distinct(kind, own, processes, progress)


def _read_distinct(
    kind: Kind, readers: Sequence[DistinctReader], processes: int, progress: Progress
) -> None:
    """Process all distinct items of one kind with the readers that want them."""
    wanted = dict.fromkeys(thing for reader in readers for thing in reader.wanted)
    things = sorted(wanted, key=kind.order) if kind.order else list(wanted)
    expect(progress, kind.name, len(things))
    batches = [things[start : start + kind.batch] for start in range(0, len(things), kind.batch)]
    read = partial(_read_batch, kind.opened, [reader.read for reader in readers])
    processes = 1 if kind.alone else min(processes, len(batches))
    with closing(ordered_map(read, batches, processes)) as results:
        each = (
            one
            for batch, made in zip(batches, results, strict=True)
            for one in zip(batch, *made, strict=True)
        )
        for thing, *read_by_each in _counted(each, kind.name, progress):
            for reader, one in zip(readers, read_by_each, strict=True):
                if thing in reader.wanted:
                    reader.take(thing, one)


def _write_part(folder: Path, builder: Builder) -> None:
    part = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    builder.write(part)
    # An existing part folder counts as finished, so all of it must be on the disk first.
    sync_tree(part)
    part.rename(folder)
    sync_folder(folder.parent)


class _LeftOut(NamedTuple):
    """A post that the recipe leaves out, the setting that excludes it, and its formula count."""

    id: str
    setting: str
    formulas: int


def _selected(
    rows: Iterable[Row | _LeftOut], left_out: Counter[str], report: BuildReport
) -> Iterator[Row]:
    """The posts to index; the others are counted by the setting that excludes them."""
    for row in rows:
        if isinstance(row, _LeftOut):
            left_out[row.setting] += 1
            report.add_left_out(row.id, row.formulas)
        else:
            yield row


def _all_left_out(left_out: Counter[str]) -> str:
    settings = ", ".join(f"{name} {number:,}" for name, number in left_out.items())
    return f"all posts are left out by the recipe ({settings})"


def _row(post: Post, selection: Selection, collection: str, alone: bool) -> Row | _LeftOut:
    """The row to store for a post, or a `_LeftOut` if the recipe excludes it.

    Args:
        post: The post.
        selection: The recipe's selection of posts.
        collection: The collection of a post that does not name one.
        alone: Whether answers are indexed without questions. An answer then has the title of its
            question, whose words do not count as its own.
    """
    if selection.kinds and post.kind not in selection.kinds:
        return _LeftOut(post.id, "posts.kinds", len(post.formulas))
    facts = read_post(post)
    if selection.minimum_words or selection.need_words:
        is_told = alone and bool(post.parent_id)
        fields = ("body",) if is_told else ("title", "body")
        count = len(tokenize(" ".join(facts.texts[field].words for field in fields)))
        if count < max(selection.minimum_words, int(selection.need_words)):
            setting = "posts.minimum_words" if selection.minimum_words else "posts.need_words"
            own = [one for one in post.formulas if one.where in fields or not is_told]
            return _LeftOut(post.id, setting, len(own))
    return to_row(facts, collection)


def _prepared(prepare: Sequence[Callable[[PostFacts], Any]], post: Stored) -> list[Any]:
    facts = post.facts()
    return [one(facts) for one in prepare]


def _read_batch(
    opened: Callable[[Any], Any],
    readers: Sequence[Callable[[Sequence[Any]], Sequence[Any]]],
    things: Sequence[Any],
) -> list[Sequence[Any]]:
    ready = [opened(thing) for thing in things]
    return [read(ready) for read in readers]


def _counted(items: Iterable[Any], what: str, progress: Progress) -> Iterator[Any]:
    for number, item in enumerate(items, start=1):
        yield item
        progress(what, number)
