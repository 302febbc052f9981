"""Building segments: selection of posts, shared reading, progress, merging, and syncing to disk."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mathsetu.errors import InputError
from mathsetu.formulas.parse import parse_latex
from mathsetu.intake.posts import PostFacts
from mathsetu.library import Library, build, build_library, write
from mathsetu.library.build import (
    affected_answers,
    expect,
    index_posts,
    is_begun,
    make_marked,
)
from mathsetu.library.build_report import FaultyFormulas, LeftOutCount
from mathsetu.library.manifest import BUILDING, read_manifest, segment_folder
from mathsetu.library.store import Stored
from mathsetu.recipes.schema import Selection
from mathsetu.records import Formula, Post
from mathsetu.retrieval.base import Kind
from tests.light import LIGHT


def test_answers_that_inherit_fields_of_changed_questions_are_indexed_again() -> None:
    plain = [Post(name, "x", parent_id="q") for name in ("a", "b", "c")]
    told = Post("d", "x", title="Why?", parent_id="q", question="what?", tags=("t",))
    answers = {"q": [*plain, told], "a": []}
    found = affected_answers({"q", "a"}, {"b"}, lambda post_id: answers.get(post_id, []))
    assert [answer.id for answer in found] == ["c"]


class Report:
    """Collects what a build reports."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, int | str]] = []

    def add_left_out(self, post_id: str, formulas: int) -> None:
        self.seen.append((post_id, formulas))

    def add_faulty_formula(self, latex: str, message: str) -> None:
        self.seen.append((latex, message))


def test_left_out_posts_are_counted_and_reported() -> None:
    report = Report()
    count = LeftOutCount(report)
    count.add_left_out("a", 2)
    count.add_left_out("b", 0)
    count.add_faulty_formula("{", "{ is not closed")
    assert count.posts == 2
    assert report.seen == [("a", 2), ("b", 0), ("{", "{ is not closed")]


def test_a_build_reports_each_post_that_it_leaves_out(tmp_path: Path) -> None:
    recipe = replace(LIGHT, posts=Selection(minimum_words=2))
    circle = Post("2", "circle $x$", formulas=(Formula("f", "x", where="body"),))
    posts = [Post("1", "a circle"), circle, Post("3", "square")]
    report = Report()
    build_library(tmp_path / "library", posts, recipe, processes=1, report=report)
    assert report.seen == [("2", 1), ("3", 0)]


def test_a_formula_with_a_warning_is_reported_once_for_all_builders() -> None:
    report = Report()
    one, other = (
        SimpleNamespace(wanted={"{x": 0, "y": 1}),
        SimpleNamespace(wanted={"y": 0, "{z": 1}),
    )
    alone = FaultyFormulas([one], report)  # type: ignore[list-item]
    assert alone.wanted is one.wanted
    both = FaultyFormulas([one, other], report)  # type: ignore[list-item]
    assert set(both.wanted) == {"{x", "y", "{z"}
    for latex, read in zip("y", both.read([parse_latex("y")]), strict=True):
        both.take(latex, read)
    assert report.seen == []
    both.take("{x", *both.read([parse_latex("{x")]))
    assert report.seen == [("{x", "{ is not closed")]


def test_a_build_of_the_same_input_can_be_resumed_after_reading_all_posts(tmp_path: Path) -> None:
    work = segment_folder(tmp_path, "000001" + BUILDING)
    make_marked(work)
    assert not is_begun(tmp_path, "input")
    (work / "state.json").write_text('{"fingerprint": "input"}')
    assert not is_begun(tmp_path, "input")
    (work / "read.txt").write_text("1\n")
    assert is_begun(tmp_path, "input")
    assert not is_begun(tmp_path, "other")
    assert not is_begun(tmp_path, "")


def test_a_finished_build_leaves_no_work_behind(tmp_path: Path) -> None:
    posts = [Post(str(number), f"Prime {number}.") for number in range(3)]
    build_library(tmp_path / "library", posts, LIGHT, processes=1)
    assert [path for path in tmp_path.rglob("*") if path.name.endswith(BUILDING)] == []


def test_a_piece_of_an_interrupted_build_is_written_anew(tmp_path: Path) -> None:
    piece = build._piece(tmp_path, 0)
    piece.mkdir(parents=True)
    (piece / "rest").write_text("of an interrupted build")
    rows = [row(Post("1", "A prime."))]
    assert build._write_stores(tmp_path, iter(rows)) == 1  # type: ignore[arg-type]
    assert not (piece / "rest").exists()


def row(post: Post, alone: bool = False, **selection: Any) -> object:
    return build._row(post, Selection(**selection), "own", alone)


def test_a_recipe_leaves_out_posts_by_kind_and_by_words() -> None:
    formulas = (Formula("1", "a", where="title"), Formula("2", "b", where="body"))
    post = Post("7", "two words $b$", title="one $a$", kind="answer", formulas=formulas)
    assert row(post, kinds=("question",)) == ("7", "posts.kinds", 2)
    assert getattr(row(post, kinds=("answer",)), "collection", "") == "own"
    assert getattr(row(post, minimum_words=3), "id", "") == "7"
    assert row(post, minimum_words=4) == ("7", "posts.minimum_words", 2)
    assert getattr(row(post, need_words=True), "id", "") == "7"
    assert row(Post("8", "$x$"), need_words=True) == ("8", "posts.need_words", 0)
    # A title that an answer has from its question does not count as its own.
    told = Post("9", "$b$", title="one $a$", parent_id="7", formulas=formulas)
    assert row(told, alone=True, need_words=True) == ("9", "posts.need_words", 1)
    assert getattr(row(told, alone=False, need_words=True), "id", "") == "9"
    assert getattr(row(Post("9", "$b$", title="one"), alone=True, need_words=True), "id", "") == "9"


def test_the_error_for_a_recipe_that_leaves_out_all_posts_names_the_settings() -> None:
    said = build._all_left_out(Counter({"posts.kinds": 1200, "posts.need_words": 1}))
    assert said == ("all posts are left out by the recipe (posts.kinds 1,200, posts.need_words 1)")


class Words:
    """A builder that keeps words; each is read once for all builders."""

    def __init__(self, kind: Kind, words: Sequence[str]) -> None:
        self.kind, self.wanted = kind, dict.fromkeys(words)
        self.added: list[str] = []
        self.taken: list[tuple[str, str]] = []
        self.reader = self

    def prepare(self, facts: PostFacts) -> str:
        return facts.post.id

    def add(self, prepared: str) -> None:
        self.added.append(prepared)

    def read(self, things: Sequence[str]) -> list[str]:
        return [f"{len(things)}:{thing}" for thing in things]

    def take(self, thing: str, read: str) -> None:
        self.taken.append((thing, read))


@pytest.mark.parametrize(
    ("order", "things"), [(None, ["c", "a", "b"]), (lambda word: word, ["a", "b", "c"])]
)
def test_items_that_several_builders_need_are_read_once(
    order: Callable[[Any], Any] | None, things: list[str]
) -> None:
    kind = Kind("words", str.upper, batch=2, order=order)
    first, second = Words(kind, ["c", "a"]), Words(kind, ["a", "b"])
    seen: list[tuple[str, int]] = []
    posts = [Stored.of(Post(name, "x")) for name in "de"]
    index_posts([first, second], posts, 1, lambda what, number: seen.append((what, number)))  # type: ignore[list-item]
    assert first.added == second.added == ["d", "e"]
    read = dict(zip(things, [f"2:{things[0].upper()}", f"2:{things[1].upper()}",
                             f"1:{things[2].upper()}"], strict=True))  # fmt: skip
    assert first.taken == [(thing, read[thing]) for thing in things if thing in "ca"]
    assert second.taken == [(thing, read[thing]) for thing in things if thing in "ab"]
    assert seen == [("indexing", 1), ("indexing", 2), ("words", 1), ("words", 2), ("words", 3)]


class Watching:
    def __init__(self) -> None:
        self.seen: list[tuple[str, int]] = []
        self.expected: list[tuple[str, int]] = []

    def __call__(self, what: str, number: int) -> None:
        self.seen.append((what, number))

    def expect(self, what: str, total: int) -> None:
        self.expected.append((what, total))


def test_progress_continues_from_the_count_of_earlier_segments() -> None:
    watching = Watching()
    shifted = build._Shifted(watching, 10)
    shifted("indexing", 1)
    shifted.expect("formulas", 5)
    expect(build.quiet, "anything", 1)
    assert (watching.seen, watching.expected) == ([("indexing", 11)], [("formulas", 15)])


@pytest.mark.thorough
def test_a_large_build_writes_several_segments_and_merges_them(
    tmp_path: Path, posts: list[Post], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "SEGMENT_POSTS", 3)
    joined: list[list[str]] = []
    real = build.join_statistics
    monkeypatch.setattr(
        build,
        "join_statistics",
        lambda part, folders: (joined.append([one.parent.name for one in folders]),
                               real(part, folders)),
    )  # fmt: skip
    watching = Watching()
    answer = Post("why", "So it is.", parent_id="primes", kind="answer")
    build_library(tmp_path / "lib", [answer, *posts], LIGHT, processes=1, progress=watching)
    assert joined == [["000000", "000001"]] * 2
    assert watching.expected[0] == ("indexing", 5)
    assert [number for what, number in watching.seen if what == "reading"] == [1, 2, 3, 4, 5]
    assert [number for what, number in watching.seen if what == "indexing"] == [1, 2, 3, 4, 5]
    assert watching.seen[-1] == ("merging", 0)
    (segment,) = read_manifest(tmp_path / "lib").segments
    assert segment.posts == 5
    with Library(tmp_path / "lib") as library:
        # The question is in the other segment.
        assert library.post("why").language == "en"
        assert library.post("why").title == "Primes"


def test_ids_must_differ_across_segments(
    tmp_path: Path, posts: list[Post], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "SEGMENT_POSTS", 3)
    with pytest.raises(InputError, match=r"^two posts have the id 'primes'; ids must differ$"):
        build_library(tmp_path / "lib", [*posts, posts[0]], LIGHT, processes=1)
    assert not (tmp_path / "lib").exists()


def test_all_files_are_synced_to_disk_before_the_manifest_is_written(
    tmp_path: Path, posts: list[Post], monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    for module, name in ((build, "sync_tree"), (build, "sync_folder"), (write, "sync_folder")):
        real = getattr(module, name)
        monkeypatch.setattr(
            module, name, lambda path, real=real: (done.append(path.name), real(path))
        )
    named = write.write_manifest
    monkeypatch.setattr(
        write, "write_manifest", lambda *parts: (done.append("MANIFEST"), named(*parts))
    )
    build_library(tmp_path / "lib", posts, LIGHT, processes=1)
    work = "000001" + BUILDING
    assert done == [
        work, work, "000000", work, work,  # marked, begun, a store, read
        "words.part", "000000", "formulas.part", "000000",  # each part of the segment
        "000000", work, "segments", "lib", "MANIFEST",
    ]  # fmt: skip
