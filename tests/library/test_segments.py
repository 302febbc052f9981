"""A build of many posts uses segments of limited size, which do not change the results."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import mathsetu.library.build as building
import mathsetu.library.merge as merging
from mathsetu.collections import sampler
from mathsetu.errors import InputError
from mathsetu.library import Filter, Library, add_posts, build_library
from mathsetu.library.manifest import read_manifest
from mathsetu.records import Post, Run
from tests.light import LIGHT

QUERIES = list(sampler.queries())
SMALL = 25


@pytest.fixture
def small_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building, "SEGMENT_POSTS", SMALL)
    monkeypatch.setattr(merging, "MERGED_POSTS", SMALL)


def run_of(folder: Path) -> Run:
    with Library(folder) as library:
        return library.run(QUERIES, 10)


@pytest.mark.thorough
def test_a_build_merges_its_segments_into_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    posts = list(sampler.posts())
    build_library(tmp_path / "at once", posts, LIGHT, processes=1)
    monkeypatch.setattr(building, "SEGMENT_POSTS", SMALL)
    build_library(tmp_path / "in pieces", posts, LIGHT, processes=1)
    [segment] = read_manifest(tmp_path / "in pieces").segments
    assert segment.posts == len(posts)
    ids = [
        {
            topic: [hit.id for hit in hits]
            for topic, hits in run_of(tmp_path / name).rankings.items()
        }
        for name in ("in pieces", "at once")
    ]
    assert ids[0] == ids[1]


@pytest.mark.thorough
def test_many_segments_rank_as_one_segment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    posts = list(sampler.posts())
    build_library(tmp_path / "one", posts, LIGHT, processes=1)
    monkeypatch.setattr(building, "SEGMENT_POSTS", SMALL)
    monkeypatch.setattr(merging, "MERGED_POSTS", SMALL)
    build_library(tmp_path / "many", posts, LIGHT, processes=2)
    assert len(read_manifest(tmp_path / "one").segments) == 1
    segments = read_manifest(tmp_path / "many").segments
    assert [segment.posts for segment in segments[:-1]] == [SMALL] * (len(segments) - 1)
    assert len(segments) == -(-len(posts) // SMALL)
    with Library(tmp_path / "one") as one, Library(tmp_path / "many") as many:
        assert many.manifest.languages == one.manifest.languages
        for query in QUERIES[:20]:
            # A formula that occurs in two segments counts twice, which changes scores a little.
            words = {"words": 1.0, "formulas": 0.0}
            for where in (None, Filter(language="en")):
                alike = [
                    library.answer(query, 10, weights=words, where=where, explain=False).hits
                    for library in (one, many)
                ]
                assert [hit.id for hit in alike[0]] == [hit.id for hit in alike[1]]
                assert [hit.score for hit in alike[0]] == pytest.approx(
                    [hit.score for hit in alike[1]], rel=1e-4
                )
        found = [{hit.id for hit in run_of(tmp_path / name).rankings[QUERIES[0].id]}
                 for name in ("one", "many")]  # fmt: skip
        assert len(found[0] & found[1]) >= 8


def threads() -> Iterator[Post]:
    """Questions come long after their answers."""
    for number in range(60):
        yield Post(id=f"a{number}", kind="answer", parent_id=f"q{number}", body=f"$x_{{{number}}}$")
    for number in range(60):
        yield Post(id=f"q{number}", kind="question", body="Why is every such number prime?",
                   title=f"A riddle called wolpertinger{number}")  # fmt: skip


@pytest.mark.thorough
@pytest.mark.usefixtures("small_segments")
def test_an_answer_is_found_by_its_question_in_another_segment(tmp_path: Path) -> None:
    build_library(tmp_path / "library", threads(), LIGHT, processes=1)
    with Library(tmp_path / "library") as library:
        found = {hit.id for hit in library.search("wolpertinger7", k=3)}
        assert found == {"q7", "a7"}
        assert library.post("a7").language == "en"


@pytest.mark.usefixtures("small_segments")
def test_an_id_that_is_repeated_in_another_segment_is_refused(tmp_path: Path) -> None:
    posts = [Post(id=str(number % 40), body="A circle.", language="en") for number in range(41)]
    with pytest.raises(InputError, match="two posts have the id '0'"):
        build_library(tmp_path / "library", posts, LIGHT, processes=1)


class Stopped(Exception):
    pass


@pytest.mark.exhaustive
@pytest.mark.thorough
@pytest.mark.usefixtures("small_segments")
@pytest.mark.parametrize("at", [("reading", 70), ("indexing", 60), ("formulas", 30)])
def test_finished_segments_are_kept_when_a_build_is_resumed(
    tmp_path: Path, at: tuple[str, int]
) -> None:
    posts = list(sampler.posts())

    def stop(what: str, number: int) -> None:
        if (what, number) == at:
            raise Stopped

    with pytest.raises(Stopped):
        build_library(tmp_path / "l", posts, LIGHT, fingerprint="x", processes=1, progress=stop)
    seen: list[tuple[str, int]] = []
    build_library(
        tmp_path / "l", posts, LIGHT, fingerprint="x", processes=1,
        progress=lambda what, number: seen.append((what, number)),
    )  # fmt: skip
    indexed = [number for what, number in seen if what == "indexing"]
    # Segments that were finished are not indexed again.
    assert min(indexed) == {"reading": 1, "indexing": 51, "formulas": 1}[at[0]]
    build_library(tmp_path / "fresh", posts, LIGHT, processes=1)
    assert run_of(tmp_path / "l").rankings == run_of(tmp_path / "fresh").rankings


@pytest.mark.thorough
@pytest.mark.usefixtures("small_segments")
def test_more_posts_than_a_segment_holds_can_be_added(tmp_path: Path) -> None:
    posts = list(threads())
    build_library(tmp_path / "library", posts[:10], LIGHT, processes=1)
    assert add_posts(tmp_path / "library", posts[5:], processes=1) == len(posts) - 5
    with Library(tmp_path / "library") as library:
        assert len(library) == len(posts)
        assert {hit.id for hit in library.search("wolpertinger7", k=3)} == {"q7", "a7"}
