"""The posts of several segments as one sequence."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from mathsetu.errors import DamagedLibrary, InputError, UnknownPost
from mathsetu.intake.posts import read_post
from mathsetu.library import segmented_posts
from mathsetu.library.manifest import Segment
from mathsetu.library.segmented_posts import Filter, SegmentedPosts
from mathsetu.library.store import STORE, to_row, write_store
from mathsetu.records import Post

FIRST = [
    Post("a", "one", title="A", language="en", tags=("t",), collection="x"),
    Post("b", "two", title="B", language="hi", tags=("u",), thread_id="n.md", url="n.md#b"),
    Post("c", "three", language="en", parent_id="d", tags=("t", "u")),
]
SECOND = [
    Post("d", "four", title="D", language="en", thread_id="n.md", url="n.md#d"),
    Post("a", "five", title="E", language="cs", tags=("u",), collection="y"),
    Post("f", "six", language="en", parent_id="d", title="F"),
]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    made = []
    for posts in (FIRST, SECOND):
        folder = tmp_path_factory.mktemp("segment")
        write_store(folder / STORE, [to_row(read_post(post), "") for post in posts])
        made.append(folder)
    return made


@pytest.fixture
def posts(folders: list[Path]) -> Iterator[SegmentedPosts]:
    # The first "a" was replaced by the second, and "f" was removed.
    segments = [Segment("000001", 3, {}, removed=(0,)), Segment("000002", 3, {}, removed=(2,))]
    opened = SegmentedPosts(folders, segments)
    yield opened
    opened.close()


def test_posts_are_numbered_across_segments(posts: SegmentedPosts) -> None:
    assert posts.count == 6
    assert [posts.number_of(name) for name in "abcd"] == [4, 1, 2, 3]
    assert [name in posts for name in "abcdfg"] == [True, True, True, True, False, False]
    assert posts.post("a").body == "five"
    with pytest.raises(UnknownPost):
        posts.number_of("f")
    assert posts.find("f") is None
    found = posts.find("d")
    assert found is not None
    assert found.post.title == "D"
    assert posts.ids([5, 1]) == {5: "f", 1: "b"}
    assert posts.number_of("b") == 1
    assert posts.present is not None
    assert posts.present.tolist() == [False, True, True, True, True, False]
    assert posts.not_removed(np.array([0, 1, 5, 3])).tolist() == [1, 3]


def test_answers_are_shown_with_questions_of_other_segments(posts: SegmentedPosts) -> None:
    (answer,) = posts.posts([2]).values()
    assert (answer.title, answer.question) == ("D", "four")
    assert posts.lazy_posts([2])[2].post.title == ""
    assert [one.id for one in posts.answers_to("d")] == ["c"]
    assert posts.headings([2, 3])[2].is_answer


def test_collections_threads_and_places_of_posts_are_found(posts: SegmentedPosts) -> None:
    assert posts.collections(["a", "b", "f", "g"]) == {"a": "y", "b": ""}
    assert [posts.has_collection(name) for name in ("x", "y", "z")] == [False, True, False]
    assert posts.threads(["n.md", "n.md", "m.md"]) == {"n.md": {1: "hi", 3: "en"}}
    assert posts.threads_below("n") == ["n.md"]
    assert posts.places(["a", "b", "f"]) == {"000001": {"b": 1}, "000002": {"a": 1}}


def test_removed_posts_are_not_counted(posts: SegmentedPosts) -> None:
    assert posts.tags(9) == {"u": 3, "t": 1}
    assert posts.tags(1) == {"u": 3}
    assert list(posts.titles(9)) == [(1, "B"), (3, "D"), (4, "E")]
    assert list(posts.titles(2)) == [(1, "B"), (3, "D")]
    assert posts.facets([1, 2, 4]) == {
        "language": {"cs": 1, "en": 1, "hi": 1},
        "tag": {"u": 3, "t": 1},
        "collection": {"": 2, "y": 1},
    }


def test_a_filter_leaves_out_removed_posts_too(posts: SegmentedPosts) -> None:
    def allowed(where: Filter | None) -> list[int]:
        found = posts.allowed(where)
        assert found is not None
        return np.flatnonzero(found).tolist()

    assert allowed(None) == allowed(Filter()) == [1, 2, 3, 4]
    assert allowed(Filter("en")) == [2, 3]
    assert allowed(Filter(not_languages=["English"], tags=["u"])) == [1, 4]
    assert allowed(Filter(tags=["t", "u"])) == [2]
    assert allowed(Filter(any_tags=["t", "u"], not_tags=["t"])) == [1, 4]
    assert allowed(Filter(not_collections=["y"])) == [1, 2, 3]


def test_without_removed_posts_all_posts_are_allowed(folders: list[Path]) -> None:
    opened = SegmentedPosts(folders, [Segment("1", 3, {}), Segment("2", 3, {})])
    assert opened.present is None
    assert opened.allowed(None) is None
    assert not opened.has_collection("z")
    assert opened.not_removed(np.array([0])).tolist() == [0]
    found = opened.allowed(Filter("cs"))
    assert found is not None
    assert found.tolist() == [False] * 4 + [True, False]
    opened.close()
    with pytest.raises(DamagedLibrary, match="has 3 posts instead of 4"):
        SegmentedPosts(folders, [Segment("1", 3, {}), Segment("2", 4, {})])


def test_the_size_of_the_cache_of_ids_is_limited(
    posts: SegmentedPosts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segmented_posts, "_CACHE_SIZE", 2)
    posts.ids([1, 2])
    posts.ids([3])
    assert posts._numbers == {"b": 1, "c": 2, "d": 3}
    posts.ids([4])
    assert posts._numbers == {"a": 4}


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"tags": "calculus"}, "tags is a text; give a list of texts"),
        ({"tags": 7}, "tags is 7; give texts"),
        ({"any_tags": ["a", 7]}, r"any_tags is \('a', 7\); give texts"),
        ({"collection": 7}, "collection is 7; give texts"),
    ],
)
def test_a_filter_with_values_of_a_wrong_type_is_refused(
    values: dict[str, object], problem: str
) -> None:
    with pytest.raises(InputError, match=f"^Filter: {problem}$"):
        Filter(**values)  # type: ignore[arg-type]


def test_a_filter_takes_one_value_or_several() -> None:
    assert Filter("Hindi").languages == ("hi",)
    assert Filter(["Hindi", "en"]).language == ("hi", "en")
    assert (Filter(()).language, Filter("").language) == ((), "")
    assert Filter(collection="a").collections == ("a",)
    assert Filter(collection=["a", ""]).collections == ("a",)
