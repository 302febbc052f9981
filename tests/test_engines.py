"""The comparison with other engines: it runs on any library, with any engines installed."""

import re
from pathlib import Path

import numpy as np
import pytest

from benchmarks.engines import PARTS, Merged, compare
from mathsetu.collections import sampler
from mathsetu.errors import InputError
from mathsetu.library import add_posts, build_library
from mathsetu.retrieval.postings import Postings, PostingsBuilder, term_hashes
from tests.light import LIGHT


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library of two segments."""
    folder = tmp_path_factory.mktemp("engines") / "library"
    posts = [post for post in sampler.posts() if "$" in post.body][:24]
    build_library(folder, posts[:16], processes=1)
    add_posts(folder, posts[16:], processes=1)
    return folder


# Warnings of other packages are not our concern.
@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore")
def test_mathsetu_is_listed_first_with_perfect_results_and_no_other_engine_fails(
    library: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    compare(library, queries=2, parts=PARTS, limit=12)
    said = capsys.readouterr().out
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in said.splitlines()
            if line.startswith("| ") and "engine" not in line]  # fmt: skip
    for part in PARTS:
        ours, *others = (row for row in rows if row[0] == part)
        assert ours[1] == "mathsetu"
        assert ours[4] == "1.000 / 1.000 / 1.000"
        assert others
        for row in others:
            if "left out" in row[-1]:
                assert "not installed" in row[-1], row
            else:
                assert re.fullmatch(r"[01]\.\d{3}( / [01]\.\d{3}){2}", row[4]), row


def test_a_library_without_a_part_is_refused(tmp_path: Path) -> None:
    posts = [post for post in sampler.posts() if "$" in post.body][:3]
    build_library(tmp_path / "library", posts, LIGHT, processes=1)
    with pytest.raises(InputError, match="has no MeaningRetriever"):
        compare(tmp_path / "library", queries=1, parts=["vectors"])


def test_segments_are_merged_term_by_term(tmp_path: Path) -> None:
    for name, documents in (
        ("first", [{"sum": 2, "prime": 1}, {"prime": 3}]),
        ("second", [{"ring": 1, "prime": 4}]),
    ):
        builder = PostingsBuilder()
        for terms in documents:
            builder.add(terms)
        builder.write(tmp_path / name)
    merged = Merged([Postings(tmp_path / name) for name in ("first", "second")])
    rows = merged.rows(term_hashes(["prime", "ring", "field"]))
    assert rows[2] == -1
    (posts, counts), (others, _) = merged.lists(rows[:2])
    assert (posts.tolist(), counts.tolist()) == ([0, 1, 2], [1, 3, 4])
    assert others.tolist() == [2]
    own = np.split(merged.rows_by_document, merged.ends[1:-1])
    assert [sorted(one.tolist()) for one in own] == [
        sorted(merged.rows(term_hashes(terms)).tolist())
        for terms in (["sum", "prime"], ["prime"], ["ring", "prime"])
    ]
