"""A library with merged segments answers as one that was built from the same posts at once."""

from pathlib import Path

import pytest

import mathsetu.library.build as building
import mathsetu.library.merge as merging
import mathsetu.library.write as writing
from mathsetu.collections import sampler
from mathsetu.library import (
    Filter,
    Library,
    add_posts,
    build_library,
    optimize_library,
    remove_posts,
)
from mathsetu.library.manifest import check, read_manifest
from mathsetu.recipes.schema import Recipe
from mathsetu.records import Hit, Post
from tests.command import Mathsetu
from tests.encoders.tiny_graph import make_graph_library
from tests.intake.test_once import SYMBOLS
from tests.light import LIGHT

POSTS = list(sampler.posts())
QUERIES = list(sampler.queries())[:12]
GONE = [post.id for post in POSTS[3:40:5]]


def in_pieces(folder: Path, recipe: Recipe | str) -> None:
    """Build a library from some posts, add the others in groups, and remove some."""
    build_library(folder, POSTS[:30], recipe, collection="sampler", processes=1)
    for start in (30, 45, 50):
        end = {30: 45, 45: 50, 50: len(POSTS)}[start]
        add_posts(folder, POSTS[start:end], collection="sampler", processes=1)
    remove_posts(folder, GONE)


def found(folder: Path) -> list[tuple[Hit, ...]]:
    with Library(folder) as library:
        return [library.search(query, 10) for query in QUERIES]


def alike(ours: tuple[Hit, ...], theirs: tuple[Hit, ...]) -> bool:
    def told(hits: tuple[Hit, ...]) -> list[object]:
        return [(hit.id, [reason.detail for reason in hit.reasons]) for hit in hits]

    scores = [hit.score for hit in theirs]
    return told(ours) == told(theirs) and [hit.score for hit in ours] == pytest.approx(scores)


@pytest.mark.thorough
@pytest.mark.parametrize("recipe", [LIGHT, SYMBOLS], ids=["light", "symbols"])
def test_a_merged_library_answers_as_one_built_at_once(tmp_path: Path, recipe: Recipe) -> None:
    in_pieces(tmp_path / "merged", recipe)
    assert optimize_library(tmp_path / "merged") == 1
    left = [post for post in POSTS if post.id not in GONE]
    build_library(tmp_path / "fresh", left, recipe, collection="sampler", processes=1)
    for ours, theirs in zip(found(tmp_path / "merged"), found(tmp_path / "fresh"), strict=True):
        assert alike(ours, theirs)
    with Library(tmp_path / "merged") as merged, Library(tmp_path / "fresh") as fresh:
        check(merged.folder, merged.manifest, thorough=True)
        assert merged.manifest.languages == fresh.manifest.languages
        assert merged.tags(50) == fresh.tags(50)
        assert [merged.post(post.id) for post in left] == left
        assert merged.present(GONE) == set()
        where = Filter(language="hi", collection="sampler")
        assert merged.search("योग", where=where) == fresh.search("योग", where=where)
    [segment] = read_manifest(tmp_path / "merged").segments
    assert [path.name for path in (tmp_path / "merged" / "segments").iterdir()] == [segment.name]


@pytest.mark.thorough
def test_several_processes_merge_to_the_same_files_as_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, many in (("one", 10**6), ("several", 1)):
        in_pieces(tmp_path / name, LIGHT)
        monkeypatch.setattr(merging, "_MANY", many)
        optimize_library(tmp_path / name)
    one, several = (read_manifest(tmp_path / name).segments[0].files for name in ("one", "several"))
    assert one == several


@pytest.mark.exhaustive
@pytest.mark.thorough
def test_passages_keep_their_vectors_when_segments_are_merged(tmp_path: Path) -> None:
    in_pieces(tmp_path / "merged", "default")
    optimize_library(tmp_path / "merged")
    left = [post for post in POSTS if post.id not in GONE]
    build_library(tmp_path / "fresh", left, "default", collection="sampler", processes=1)
    for ours, theirs in zip(found(tmp_path / "merged"), found(tmp_path / "fresh"), strict=True):
        assert alike(ours, theirs)


@pytest.mark.thorough
def test_graphs_keep_their_vectors_when_segments_are_merged(tmp_path: Path) -> None:
    library = make_graph_library(tmp_path)
    before = found(library)
    extra = Post("4", r"A prime divides $a$ or $b$ if it divides $ab$.", language="en")
    add_posts(library, [extra], processes=1)
    remove_posts(library, ["4"])
    assert optimize_library(library) == 1
    for ours, theirs in zip(found(library), before, strict=True):
        assert alike(ours, theirs)


def test_an_addition_that_merges_leaves_one_new_segment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "_MAX_SEGMENTS", 1)
    build_library(tmp_path / "l", POSTS[:2], LIGHT, processes=1)
    add_posts(tmp_path / "l", POSTS[2:3], processes=1)
    [segment] = read_manifest(tmp_path / "l").segments
    assert (segment.name, segment.posts) == ("000003", 3)
    assert [path.name for path in (tmp_path / "l" / "segments").iterdir()] == ["000003"]
    with Library(tmp_path / "l") as library:
        assert {library.post(post.id).id for post in POSTS[:3]} == {p.id for p in POSTS[:3]}


@pytest.mark.thorough
def test_many_additions_leave_few_segments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "_MAX_SEGMENTS", 3)
    build_library(tmp_path / "l", POSTS[:5], LIGHT, processes=1)
    sizes = []
    for post in POSTS[5:13]:
        add_posts(tmp_path / "l", [post], processes=1)
        sizes.append(len(read_manifest(tmp_path / "l").segments))
    assert sizes == [2, 3, 1, 2, 3, 1, 2, 3]
    with Library(tmp_path / "l") as library:
        assert len(library) == 13


@pytest.mark.thorough
def test_merged_segments_do_not_exceed_the_maximum_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(building, "SEGMENT_POSTS", 20)
    monkeypatch.setattr(merging, "MERGED_POSTS", 20)
    build_library(tmp_path / "l", POSTS[:50], LIGHT, processes=1)
    for post in POSTS[50:55]:
        add_posts(tmp_path / "l", [post], processes=1)
    assert optimize_library(tmp_path / "l") == 3
    assert [one.posts for one in read_manifest(tmp_path / "l").segments] == [20, 20, 15]


@pytest.mark.thorough
def test_an_open_library_answers_unchanged_after_a_merge(tmp_path: Path) -> None:
    in_pieces(tmp_path / "l", LIGHT)
    with Library(tmp_path / "l") as library:
        before = [library.search(query, 10) for query in QUERIES]
        optimize_library(tmp_path / "l")
        assert [library.search(query, 10) for query in QUERIES] == before


def test_nothing_is_written_if_there_is_nothing_to_merge(
    tmp_path: Path, mathsetu: Mathsetu
) -> None:
    build_library(tmp_path / "l", POSTS[:5], LIGHT, processes=1)
    before = read_manifest(tmp_path / "l")
    assert mathsetu("optimize", tmp_path / "l").out.endswith("1 segment\n")
    assert read_manifest(tmp_path / "l") == before


@pytest.mark.thorough
@pytest.mark.parametrize("recipe", [LIGHT, SYMBOLS, "meaning"], ids=["light", "symbols", "meaning"])
def test_a_merge_drops_segments_with_only_replaced_posts(
    tmp_path: Path, recipe: Recipe | str
) -> None:
    build_library(tmp_path / "l", POSTS[:4], recipe, processes=1)
    for _ in range(3):
        add_posts(tmp_path / "l", [POSTS[4]], processes=1)
    assert optimize_library(tmp_path / "l") == 1
    with Library(tmp_path / "l") as library:
        assert len(library) == library.manifest.segments[0].posts == 5
        query = f"{POSTS[4].title} $\\frac mn+\\frac pq$"
        assert POSTS[4].id in {hit.id for hit in library.search(query, 5)}


@pytest.mark.thorough
def test_small_additions_merge_into_one_segment_that_answers_as_a_fresh_build(
    tmp_path: Path,
) -> None:
    posts = [Post(id=f"p{n}", body=f"word{n} and $x^{n}+y$", language="en") for n in range(6)]
    build_library(tmp_path / "library", posts[:3], LIGHT, processes=1)
    for post in posts[3:]:
        add_posts(tmp_path / "library", [post], processes=1)
    remove_posts(tmp_path / "library", ["p1"])
    build_library(tmp_path / "whole", [posts[0], *posts[2:]], LIGHT, processes=1)
    assert optimize_library(tmp_path / "library") == 1
    merged, whole = Library(tmp_path / "library"), Library(tmp_path / "whole")
    for query in ("word0", "word1", "word5 and", "$x^4+y$"):
        ours = [(hit.id, hit.score) for hit in merged.search(query, 6)]
        assert ours == [(hit.id, hit.score) for hit in whole.search(query, 6)]
    assert {hit.id for hit in merged.search("word1", 6)} == set()
