"""Changes of a library, which take effect in one step."""

from pathlib import Path

import pytest

from mathsetu.errors import InputError
from mathsetu.library import (
    Library,
    add_posts,
    build_library,
    merge,
    optimize_library,
    remove_posts,
    write,
)
from mathsetu.library.manifest import BUILDING, Segment, read_manifest
from mathsetu.library.write import _clean, _next_name
from mathsetu.places import MARK
from mathsetu.records import Post
from tests.light import LIGHT


@pytest.fixture
def library(tmp_path: Path, posts: list[Post]) -> Path:
    build_library(tmp_path / "lib", posts, LIGHT, processes=1)
    return tmp_path / "lib"


def names(library: Path) -> list[str]:
    return [segment.name for segment in read_manifest(library).segments]


def test_new_segments_get_the_next_number(library: Path) -> None:
    assert names(library) == ["000001"]
    assert add_posts(library, [Post("n", "New words.", language="en")], processes=1) == 1
    assert names(library) == ["000001", "000002"]
    assert read_manifest(library).languages == {"en": 5}
    assert optimize_library(library, processes=1) == 1
    assert names(library) == ["000003"]
    assert optimize_library(library, processes=1) == 1
    assert names(library) == ["000003"]
    assert sorted(path.name for path in (library / "segments").iterdir()) == ["000003"]


@pytest.mark.thorough
def test_answers_are_indexed_again_when_their_question_is_removed(library: Path) -> None:
    question = Post("q", "Why is it so?", title="Reasons", language="en", tags=("why",))
    answer = Post("a", "By symmetry.", parent_id="q", kind="answer")
    add_posts(library, [question], processes=1)
    # The question and the added answer are in different segments.
    add_posts(library, [answer], processes=1)
    with Library(library) as opened:
        assert (opened.post("a").title, opened.post("a").language) == ("Reasons", "en")
    assert remove_posts(library, ["q"]) == 1
    with Library(library) as opened:
        assert opened.post("a").title == ""
        assert [hit.id for hit in opened.search("symmetry")] == ["a"]
        assert len(opened) == 5
    # Ids may come from an iterator, and unknown ids do not count.
    assert remove_posts(library, iter(["a", "none"])) == 1


def test_a_post_that_is_added_again_replaces_the_old_one(library: Path, posts: list[Post]) -> None:
    assert add_posts(library, [Post("primes", "Other words.", language="en")], processes=1) == 1
    manifest = read_manifest(library)
    assert [segment.removed for segment in manifest.segments] == [(0,), ()]
    assert manifest.posts == 4


def test_a_library_on_a_cluster_cannot_be_built_or_optimized() -> None:
    address = "qdrant://localhost/library"
    with pytest.raises(InputError, match="is published from a folder"):
        build_library(address, [], LIGHT)
    with pytest.raises(InputError, match="merges segments by itself"):
        optimize_library(address)


def test_leftovers_of_builds_are_removed_and_other_folders_kept(library: Path) -> None:
    segments = library / "segments"

    def make(name: str, mark: bool = True) -> None:
        (segments / name).mkdir()
        (segments / name / (MARK if mark else "mine.txt")).write_text("{}")

    make("000002" + BUILDING)
    make("000003")
    make("000007" + BUILDING)
    make("000005", mark=False)
    assert _next_name(library, {"000001"}) == "000006"
    assert sorted(path.name for path in segments.iterdir()) == ["000001", "000005"]
    make("000006" + BUILDING)
    assert _next_name(library, {"000001"}) == "000006"
    assert (segments / ("000006" + BUILDING)).exists()
    # If the manifest cannot be read, a finished segment may be in use.
    make("000004")
    assert _next_name(library, set()) == "000006"
    assert (segments / "000004").exists()


def test_only_former_segments_are_removed(library: Path) -> None:
    segments = library / "segments"
    for name in ("000002", "000003", "000004"):
        (segments / name).mkdir()
        (segments / name / "mine.txt").write_text("x")
    (segments / "000004" / MARK).write_text("{}")
    _clean(library, {"000001", "000002"})
    assert sorted(path.name for path in segments.iterdir()) == ["000001", "000003"]


def test_recipes_are_stored_as_lists_and_tables() -> None:
    assert write._plain({"a": (1, (2,)), "b": [{"c": ("d",)}]}) == {
        "a": [1, [2]],
        "b": [{"c": ["d"]}],
    }


def test_a_merged_segment_is_synced_to_disk_before_it_gets_its_name(
    library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_posts(library, [Post("n", "New words.", language="en")], processes=1)
    done: list[str] = []
    for name in ("sync_tree", "sync_folder"):
        real = getattr(merge, name)
        monkeypatch.setattr(
            merge, name, lambda path, real=real: (done.append(path.name), real(path))
        )
    used: list[int] = []
    monkeypatch.setattr(
        merge,
        "ordered_map",
        lambda work, things, processes: (used.append(processes), list(map(work, things)))[1],
    )
    monkeypatch.setattr(merge, "_MANY", 5)
    optimize_library(library, processes=9)
    assert done == ["000003" + BUILDING, "segments"]
    # At most four processes write files at the same time.
    assert used == [4]


@pytest.mark.parametrize(
    ("sizes", "removed", "groups"),
    [
        ([3, 2], [], [[0, 1]]),
        ([3, 3], [], []),
        ([3, 3], [1], [[0, 1]]),
        ([6], [], []),
        ([6], [0], [[0]]),
        ([4, 4, 1, 5], [], [[1, 2]]),
    ],
)
def test_neighbours_that_fit_into_one_segment_are_merged(
    sizes: list[int], removed: list[int], groups: list[list[int]]
) -> None:
    segments = [
        Segment(str(number), size, {}, (0,) if number in removed else ())
        for number, size in enumerate(sizes)
    ]
    found = [[int(one.name) for one in group] for group in merge.mergeable(segments, 5)]
    assert found == groups
