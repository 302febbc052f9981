"""Changes a library on a cluster: additions, replacements and removals.

Every change creates one version. Its points have the number of that version and are invisible until
the state names it. Removed points are marked and stay for searches of older versions. Counts are
updated by the added and removed points. The next writer removes what a crashed writer has left.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from mathsetu.cluster.client import Cluster
from mathsetu.cluster.layout import (
    BIRTH,
    COUNTED,
    DEATH,
    FORMULA,
    ID,
    KEY,
    LANGUAGE,
    LEXICAL,
    MEANING,
    Names,
    check_segment,
    first_in_segment,
    passage_point,
    visible_at,
)
from mathsetu.cluster.payloads import unpack
from mathsetu.cluster.points import SegmentPoints
from mathsetu.cluster.posts import ClusterPosts
from mathsetu.cluster.publish import GRACE, sweep_builds
from mathsetu.cluster.sending import Progress, send_segment, write_part_table
from mathsetu.cluster.snapshot import Snapshot
from mathsetu.cluster.state import (
    Lease,
    PartState,
    State,
    new_token,
    read_state,
    write_state,
    writing_alone,
)
from mathsetu.cluster.tables import Counts, Table, TableName, drop_tables
from mathsetu.encoders.accelerator import PROCESSOR
from mathsetu.errors import InputError
from mathsetu.intake.posts import PostFacts
from mathsetu.library.build import (
    affected_answers,
    build_segments,
)
from mathsetu.library.build_report import NO_REPORT, BuildReport, LeftOutCount
from mathsetu.library.manifest import segment_folder
from mathsetu.recipes.schema import parse_table
from mathsetu.records import Post

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Points or posts per request.
_BATCH = 256
_PAGE = 1_000
# With more tables than this, the tables of a part are merged.
_MAX_TABLES = 16


def add_to_cluster(
    cluster: Cluster,
    posts: Iterable[Post],
    *,
    collection: str,
    processes: int,
    progress: Progress,
    device: str = PROCESSOR,
    grace: float = GRACE,
    report: BuildReport = NO_REPORT,
) -> int:
    """Add posts, replacing those with the same ids; returns how many were added."""
    left_out = LeftOutCount(report)
    with _changing(cluster, grace) as change:
        new: set[str] = set()
        everything = chain(_noted(posts, new), change.answers_to(new))
        change.add(everything, collection, processes, device, progress, left_out)
        change.commit()
        return len(new) - left_out.posts


def remove_from_cluster(cluster: Cluster, ids: Iterable[str], grace: float = GRACE) -> int:
    """Remove posts and index answers again without them; returns how many were removed."""
    with _changing(cluster, grace) as change:
        gone = change.remove(set(ids))
        if not gone:
            return 0
        if len(gone) == change.state.posts:
            raise InputError(
                f"{cluster.address}: this would remove all of its posts; publish another "
                "library instead"
            )
        answers = list(change.answers_to(gone))
        if answers:
            change.add(answers, "", 1, PROCESSOR, _quiet)
        change.commit()
        return len(gone)


@contextmanager
def _changing(cluster: Cluster, grace: float) -> Iterator[_Change]:
    state = read_state(cluster, cluster.address.name)
    if state is None:
        raise InputError(f"{cluster.address}: there is no such library on the cluster")
    names = Names(cluster.address.name, state.build)
    with writing_alone(cluster, names.meta) as lease:
        state = read_state(cluster, names.meta)
        assert state is not None
        _clear(cluster, names, state)
        state = sweep_builds(cluster, names, _delete_expired(cluster, names, state, grace), grace)
        yield _Change(Snapshot(cluster, state), lease)


class _Change:
    """A change of a library; it takes effect with `commit`."""

    def __init__(self, snapshot: Snapshot, lease: Lease) -> None:
        self.state = snapshot.state
        self._snapshot, self._cluster, self._names = snapshot, snapshot.cluster, snapshot.names
        self._posts = ClusterPosts(snapshot)
        self._lease = lease
        self._version = self.state.version + 1
        self._segment = self.state.segments
        self._recipe = parse_table(self.state.recipe, str(self._cluster.address))
        self._parts = dict(self.state.parts)
        self._languages = Counter(self.state.languages)
        self._gone: dict[str, int] = {}

    def remove(self, ids: set[str]) -> set[str]:
        """Remove posts; returns the ids that existed."""
        found = self._posts.numbers(ids - set(self._gone))
        self._gone |= found
        return set(found)

    def add(
        self,
        posts: Iterable[Post],
        collection: str,
        processes: int,
        device: str,
        progress: Progress,
        report: BuildReport = NO_REPORT,
    ) -> None:
        """Index posts as new segments; older posts with the same ids are removed."""

        def show(what: str, number: int) -> None:
            self._lease.renew()
            progress(what, number)

        with TemporaryDirectory(prefix="mathsetu-") as place:
            folder = Path(place)
            built = build_segments(
                folder,
                "000001",
                posts,
                self._recipe,
                collection=collection,
                fingerprint="",
                questions=self._question,
                processes=processes,
                device=device,
                progress=show,
                report=report,
            )
            for name in built:
                points = SegmentPoints(
                    segment_folder(folder, name),
                    self._recipe,
                    self._snapshot,
                    (),
                    check_segment(self._segment),
                    self._version,
                )
                for part in points.formula_parts:
                    keys = points.keys(part)
                    known = self._points_with_keys(part, sorted(set(keys.values())), counted=True)
                    points.mark_counted(part, (n for n, key in keys.items() if key in known))
                    if known:
                        self._parts[part] = replace(self._parts[part], has_duplicate_formulas=True)
                mark = send_segment(self._cluster, self._names, points, show)
                self._segment += 1
                for part, own in mark.parts.items():
                    self._count(part, own)
                self._languages.update(mark.languages)
                for ids in _batches(points.ids()):
                    self.remove(set(ids))

    def answers_to(self, ids: set[str]) -> Iterator[Post]:
        """The answers that must be indexed again when their questions change.

        ``ids`` may grow until the first answer is requested.
        """
        yield from affected_answers(ids, self._gone, self._posts.answers_to)

    def commit(self) -> None:
        """Make the change take effect."""
        self._subtract_removed()
        self._lease.renew()
        merged, former = self._with_merged_tables()
        state = self.state
        now = time.time()
        fresh = replace(
            state,
            version=self._version,
            posts=state.posts + self._posts_added,
            languages={code: count for code, count in sorted(self._languages.items()) if count},
            segments=self._segment,
            parts=merged,
            former=(*state.former, (self._version, now)) if self._gone else state.former,
            # Searches with the previous state may still read them.
            old_tables=(*state.old_tables, *((table, now) for table in former)),
            token=new_token(),
        )
        write_state(self._cluster, self._names.meta, fresh, expected=state.version)
        self.state = fresh

    @property
    def _posts_added(self) -> int:
        return sum(self._languages.values()) - sum(self.state.languages.values())

    def _count(self, part: str, own: PartState, sign: int = 1) -> None:
        known = self._parts[part]
        self._parts[part] = replace(
            known,
            documents=known.documents + sign * own.documents,
            length=known.length + sign * own.length,
            tables=(*known.tables, *own.tables),
        )

    def _subtract_removed(self) -> None:
        """Mark the removed points, and subtract them from the statistics."""
        numbers = sorted(self._gone.values())
        if not numbers:
            return
        slot = self._segment
        self._segment += 1
        removed = set(numbers)
        taken: dict[str, list[NDArray[np.uint64]]] = {name: [] for name in self._parts}
        counted = {name: PartState() for name in self._parts}
        formulas: dict[str, set[int]] = {name: set() for name in self._kinds(FORMULA)}
        passages: dict[str, list[int]] = {name: [] for name in self._kinds(MEANING)}
        for batch in _batches(numbers):
            self._lease.renew()
            for number, payload in self._fetched(batch).items():
                self._languages[str(payload[LANGUAGE])] -= 1
                for name in self._kinds(LEXICAL):
                    taken[name].append(unpack(payload.get(f"{name}_terms"), "uint64"))
                    known = counted[name]
                    length = known.length + float(payload[f"{name}_length"])
                    counted[name] = PartState(known.documents + 1, length)
                for name, held in formulas.items():
                    own = unpack(payload.get(f"{name}_formulas"), "uint32")
                    held.update(first_in_segment(number) + one for one in own.tolist())
                for name, places in passages.items():
                    total = sum(payload[f"{name}_passages"])
                    places += [passage_point(number, place) for place in range(total)]
        for name, held in formulas.items():
            dead = self._dead_formulas(name, sorted(held), removed)
            self._mark(self._names.part(name), list(dead))
            gone = self._uncounted_features(name, dead)
            taken[name] += gone
            counted[name] = PartState(len(gone))
        for name, places in passages.items():
            self._mark(self._names.part(name), places)
        self._mark(self._names.posts, numbers)
        for place, (name, pieces) in enumerate(taken.items()):
            if pieces:
                table = Table.counted(np.concatenate(pieces), sign=-1)
                written = write_part_table(
                    self._cluster, self._names, slot, place, table, taken=True
                )
                self._count(name, replace(counted[name], tables=()), sign=-1)
                self._parts[name] = replace(
                    self._parts[name], tables=(*self._parts[name].tables, written)
                )

    def _fetched(self, numbers: Sequence[int]) -> dict[int, dict[str, Any]]:
        fields = [ID, LANGUAGE]
        for name in self._kinds(LEXICAL):
            fields += [f"{name}_terms", f"{name}_length"]
        fields += [f"{name}_formulas" for name in self._kinds(FORMULA)]
        fields += [f"{name}_passages" for name in self._kinds(MEANING)]
        return self._snapshot.fetch(self._names.posts, numbers, fields, "the posts")

    def _dead_formulas(
        self, name: str, numbers: Sequence[int], removed: set[int]
    ) -> dict[int, dict[str, Any]]:
        """The given formulas that no remaining post has, with their payloads."""
        dead: dict[int, dict[str, Any]] = {}
        fields = ("features", "posts", KEY, COUNTED)
        for batch in _batches(numbers):
            self._lease.renew()
            found = self._snapshot.fetch(self._names.part(name), batch, fields, f"the part {name}")
            for number, payload in found.items():
                named = unpack(payload.get("posts"), "uint32").tolist()
                posts = (first_in_segment(number) + one for one in named)
                others = [post for post in posts if post not in removed]
                if not any(self._posts.among(some) for some in _batches(others)):
                    dead[number] = payload
        return dead

    def _uncounted_features(
        self, name: str, dead: Mapping[int, Mapping[str, Any]]
    ) -> list[NDArray[np.uint64]]:
        """The features of removed formulas that no longer count in the statistics.

        If another formula with the same LaTeX remains, it counts instead.
        """
        counting = [one for one in dead.values() if COUNTED in one]
        heirs: dict[int, int] = {}
        for batch in _batches(sorted({int(one[KEY]) for one in counting})):
            heirs |= self._points_with_keys(name, batch, counted=False)
        for batch in _batches(sorted(heirs.values())):
            self._set(self._names.part(name), {COUNTED: self._version}, batch)
        # An heir replaces one formula only.
        gone = [one for one in counting if heirs.pop(int(one[KEY]), None) is None]
        return [unpack(one.get("features"), "uint64") for one in gone]

    def _points_with_keys(self, name: str, keys: Sequence[int], counted: bool) -> dict[int, int]:
        """Formulas that remain after the change: one point number for each key.

        Args:
            name: The part.
            keys: Hashes of the LaTeX of the formulas.
            counted: Whether to find formulas that count in the statistics, or others.
        """
        models = self._cluster.models
        empty = models.IsEmptyCondition(is_empty=models.PayloadField(key=COUNTED))
        hidden = visible_at(models, self._version)
        found: dict[int, int] = {}
        for batch in _batches(keys):
            self._lease.renew()
            alike = models.FieldCondition(key=KEY, match=models.MatchAny(any=list(batch)))
            must = [alike] if counted else [alike, empty]
            chosen = models.Filter(must=must, must_not=[*hidden, empty] if counted else hidden)
            offset: Any = None
            while True:
                points, offset = self._cluster.read(
                    f"the part {name}",
                    "scroll",
                    self._names.part(name),
                    scroll_filter=chosen,
                    limit=_PAGE,
                    offset=offset,
                    with_payload=[KEY],
                )
                for point in points:
                    found.setdefault(int(point.payload[KEY]), int(point.id))
                if offset is None:
                    break
        return found

    def _mark(self, collection: str, numbers: Sequence[int]) -> None:
        """Mark points as removed from the new version on."""
        for batch in _batches(numbers):
            self._set(collection, {DEATH: self._version}, batch)

    def _set(self, collection: str, payload: dict[str, int], numbers: Sequence[int]) -> None:
        self._lease.renew()
        self._cluster.write(
            "what is removed", "set_payload", collection, payload, points=list(numbers), wait=True
        )

    def _with_merged_tables(self) -> tuple[dict[str, PartState], list[TableName]]:
        """The parts, with many tables merged into one, and the tables that were replaced."""
        merged = dict(self._parts)
        former: list[TableName] = []
        for place, (name, part) in enumerate(self._parts.items()):
            if len(part.tables) > _MAX_TABLES:
                snapshot = Snapshot(self._cluster, replace(self.state, parts={name: part}))
                counts: Counts = snapshot.counts[name]
                table = write_part_table(
                    self._cluster, self._names, self._segment, place, counts.together()
                )
                merged[name] = replace(part, tables=(table,))
                former += part.tables
        if former:
            self._segment += 1
        return merged, former

    def _kinds(self, kind: str) -> list[str]:
        return [name for name, part in self._recipe.parts.items() if part["kind"] == kind]

    def _question(self, post_id: str) -> PostFacts | None:
        return None if post_id in self._gone else self._posts.find(post_id)


def _clear(cluster: Cluster, names: Names, state: State) -> None:
    """Undo the writes of a crashed writer whose change did not take effect."""
    models = cluster.models
    for collection in _collections(names, state):
        unborn = _chosen(models, _range(models, BIRTH, gt=state.version))
        cluster.write("leftovers", "delete", collection, unborn)
        for mark in (DEATH, COUNTED):
            later = _range(models, mark, gt=state.version)
            cluster.write("leftovers", "delete_payload", collection, [mark], points=later)


def _delete_expired(cluster: Cluster, names: Names, state: State, grace: float) -> State:
    """Remove points and tables that were replaced at least ``grace`` seconds ago."""
    now = time.time()
    old = [version for version, when in state.former if now - when >= grace]
    tables = [table for table, when in state.old_tables if now - when >= grace]
    if not old and not tables:
        return state
    models = cluster.models
    if old:
        gone = _chosen(models, _range(models, DEATH, lte=max(old)))
        for collection in _collections(names, state):
            cluster.write("old points", "delete", collection, gone)
    drop_tables(cluster, names.meta, tables)
    fresh = replace(
        state,
        former=tuple(entry for entry in state.former if entry[0] not in old),
        old_tables=tuple(entry for entry in state.old_tables if entry[0] not in tables),
        token=new_token(),
    )
    write_state(cluster, names.meta, fresh, expected=state.version)
    return fresh


def _collections(names: Names, state: State) -> list[str]:
    parts = state.recipe["parts"].items()
    own = [names.part(name) for name, part in parts if part["kind"] in (FORMULA, MEANING)]
    return [names.posts, *own]


def _range(models: Any, key: str, **limits: int) -> Any:
    return models.Filter(must=[models.FieldCondition(key=key, range=models.Range(**limits))])


def _chosen(models: Any, chosen: Any) -> Any:
    return models.FilterSelector(filter=chosen)


def _batches(items: Sequence[Any]) -> Iterator[Sequence[Any]]:
    for start in range(0, len(items), _BATCH):
        yield items[start : start + _BATCH]


def _noted(posts: Iterable[Post], ids: set[str]) -> Iterator[Post]:
    """Pass posts through and record their ids."""
    for post in posts:
        ids.add(post.id)
        yield post


def _quiet(what: str, number: int) -> None:
    """Report no progress."""
