"""Search by meaning with vectors written by hand: which posts are near, and their cosines."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from mathsetu.errors import DamagedLibrary
from mathsetu.retrieval import kernels, meaning
from mathsetu.retrieval.meaning import MeaningRetriever, MeaningSegment, MeaningSettings
from mathsetu.retrieval.segments import Numbering

#: The cosines of a post's passages: of the question, of the body and of the title.
Post = tuple[list[float], list[float], list[float]]
QUERY = np.array([1, 0], dtype=np.float32)
BOTH: Post = ([0.2, 0.6], [0.4, 0.1], [])
ASKED: Post = ([0.3, 0.5], [], [])
SAID: Post = ([], [-0.5], [])
TITLED: Post = ([], [0.2, 0.4], [0.8, 0.1])
TITLE: Post = ([], [], [0.7])
BLANK: Post = ([], [], [])


def segment_of(
    vectors: Any, counts: Sequence[int], scales: Sequence[float] | float = 0.01
) -> MeaningSegment:
    """A segment of some passages; the counts are those of the three kinds, post by post."""
    rows = np.array(vectors, dtype=np.int8)
    return MeaningSegment.from_arrays(
        "here",
        rows,
        np.broadcast_to(np.asarray(scales, dtype=np.float32), len(rows)).copy(),
        np.cumsum([0, *counts]),
        [""] * (len(counts) // 3 * 2),
    )


def with_cosines(*posts: Post) -> MeaningSegment:
    cosines = [cosine for post in posts for kind in post for cosine in kind]
    vectors = [[round(100 * cosine), 7] for cosine in cosines]
    return segment_of(vectors, [len(kind) for post in posts for kind in post])


def retriever_of(*segments: MeaningSegment) -> MeaningRetriever:
    retriever = MeaningRetriever([], MeaningSettings())
    retriever.segments = list(segments)
    retriever.numbering = Numbering(map(len, segments))
    retriever.posts = len(retriever.numbering)
    return retriever


@pytest.mark.parametrize(
    ("post", "expected"),
    [
        (BOTH, 0.5 * 0.6 + 0.3 * 0.2 + 0.2 * 0.4),
        (ASKED, 0.5),
        (SAID, -0.5),
        (TITLED, 0.5 * 0.8 + 0.5 * 0.4),
        (TITLE, 0.7),
        (BLANK, 0),
    ],
)
@pytest.mark.parametrize("number", [0, 1, 2])
def test_the_cosine_of_a_post_is_weighted_over_its_passages(
    post: Post, expected: float, number: int
) -> None:
    posts = [BOTH, TITLED]
    posts.insert(number, post)
    found = with_cosines(*posts).cosines(np.array([number, number]), QUERY)
    assert found.tolist() == pytest.approx([expected, expected], abs=1e-4)


def test_several_posts_get_the_cosines_that_each_gets_alone() -> None:
    segment = with_cosines(BOTH, BLANK, TITLED, ASKED, SAID, TITLE)
    found = segment.cosines(np.array([5, 1, 0, 3]), QUERY)
    assert found.tolist() == pytest.approx([0.7, 0, 0.44, 0.5], abs=1e-4)


@pytest.mark.parametrize(
    ("post", "expected"),
    [
        (BOTH, (0, 1)),
        (([0.2], [0.4, 0.7], []), (1, 1)),
        # A title counts as a passage after those of the text.
        (TITLED, (1, 2)),
        (TITLE, (1, 0)),
        (BLANK, (0, 0)),
    ],
)
def test_the_nearest_passage_is_given_by_its_text_and_its_number(
    post: Post, expected: tuple[int, int]
) -> None:
    assert with_cosines(ASKED, post, TITLED).nearest(1, QUERY) == expected


def test_each_passage_is_assigned_to_its_post() -> None:
    segment = with_cosines(BOTH, BLANK, TITLED, TITLE)
    assert segment.owners(np.arange(9)).tolist() == [0, 0, 0, 0, 2, 2, 2, 2, 3]
    rows, counts = segment.passages(np.array([2, 0]))
    assert rows.tolist() == [4, 5, 6, 7, 0, 1, 2, 3]
    assert counts.tolist() == [0, 2, 2, 2, 2, 0]


def test_the_mean_of_a_post_is_that_of_its_passages_and_has_length_one() -> None:
    vectors = [[100, 0], [0, 100], [50, 0], [0, 0], [0, 100], [0, 100], [0, 20]]
    scales = [0.01, 0.03, 0.01, 0.01, 0.01, 0.01, 0.01]
    segment = segment_of(vectors, [1, 1, 0, 0, 0, 0, 0, 2, 2, 1, 0, 0], scales)
    found = segment.means(np.array([2, 1, 0, 3]))
    expected = [[0.5, 2], [0, 0], [1, 3], [0, 0.2]]
    lengths = [4.25**0.5, 1, 10**0.5, 0.2]
    assert found == pytest.approx(np.array(expected) / np.array(lengths)[:, None], abs=1e-6)
    assert segment.means(np.zeros(0, dtype=np.int64)).shape == (0, 2)


def test_ends_that_do_not_rise_are_refused() -> None:
    segment = segment_of([[1, 0], [2, 0]], [0, 2, -1])
    with pytest.raises(DamagedLibrary, match="does not match"):
        segment.cosines(np.array([0]), QUERY)


# The first n of the 64 values of post n are negative: it differs from the query in n signs.
ONES = np.ones(64, dtype=np.float32)
[SIGNS] = kernels.sign_bits(ONES[None])


def with_signs(numbers: Sequence[int]) -> MeaningSegment:
    vectors = [[-1] * number + [1] * (64 - number) for number in numbers]
    return segment_of(vectors, [0, 1, 0] * len(numbers))


@pytest.mark.parametrize(
    ("k", "below", "allowed", "expected"),
    [
        (3, 65, None, [0, 1, 2]),
        (3, 2, None, [0, 1]),
        # Few posts are allowed, or many.
        (1, 65, [30], [30]),
        (1, 30, [30], []),
        (1, 31, [30], [30]),
        (6, 65, [*range(0, 32, 2)], [0, 2, 4, 6, 8, 10]),
    ],
)
def test_the_allowed_passages_nearest_by_sign_bits_are_found(
    k: int, below: int, allowed: list[int] | None, expected: list[int]
) -> None:
    may = None if allowed is None else np.isin(np.arange(32), allowed)
    rows, distances = with_signs(range(32)).near_by_signs(ONES, SIGNS, k, below, may)
    assert rows.tolist() == distances.tolist() == expected


def choose(
    monkeypatch: pytest.MonkeyPatch, rescored: int, most: int, share: int, compared: int = 0
) -> None:
    for name, value in (
        ("_MIN_RESCORED", rescored),
        ("_MAX_RESCORED", most),
        ("_RESCORED_ONE_IN", share),
        ("_ALL_COMPARED", compared),
    ):
        monkeypatch.setattr(meaning, name, value)


@pytest.mark.parametrize(
    ("rescored", "most", "share", "expected"),
    [
        # A share of the 32 passages, within its limits.
        (2, 20, 8, 4),
        (6, 20, 8, 6),
        (2, 3, 8, 3),
    ],
)
def test_a_share_of_the_passages_is_scored_exactly(
    monkeypatch: pytest.MonkeyPatch, rescored: int, most: int, share: int, expected: int
) -> None:
    choose(monkeypatch, rescored, most, share)
    found = retriever_of(with_signs(range(32))).near(ONES, None)
    assert found.tolist() == list(range(expected))


@pytest.mark.parametrize(("compared", "expected"), [(31, [0, 1]), (32, [*range(32)])])
def test_few_passages_are_all_scored_exactly(
    monkeypatch: pytest.MonkeyPatch, compared: int, expected: list[int]
) -> None:
    choose(monkeypatch, 2, 2, 100, compared)
    retriever = retriever_of(with_signs(range(32)))
    assert retriever.near(ONES, None).tolist() == expected
    allowed = np.arange(32) % 2 == 0
    found = retriever.near(ONES, allowed).tolist()
    assert found == ([0, 2] if compared < 32 else [*range(0, 32, 2)])


def test_the_nearest_posts_of_all_segments_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    choose(monkeypatch, 4, 4, 100)
    retriever = retriever_of(with_signs(range(0, 32, 2)), with_signs(range(1, 32, 2)))
    assert retriever.near(ONES, None).tolist() == [0, 1, 16, 17]
    allowed = np.ones(32, dtype=np.bool_)
    allowed[[1, 17]] = False
    assert retriever.near(ONES, allowed).tolist() == [0, 2, 16, 18]


@pytest.mark.parametrize(
    ("kept", "expected"), [(2, [0, 1]), (5, [0, 1, 2, 3, 4]), (9, [*range(6)])]
)
def test_the_posts_of_the_nearest_passages_are_candidates(
    monkeypatch: pytest.MonkeyPatch, kept: int, expected: list[int]
) -> None:
    choose(monkeypatch, 6, 6, 100)
    monkeypatch.setattr(meaning, "_CANDIDATE_PASSAGES", kept)
    assert retriever_of(with_signs(range(32))).near(ONES, None).tolist() == expected


def test_a_post_that_differs_in_every_sign_can_be_a_candidate(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    choose(monkeypatch, 3, 3, 100)
    assert retriever_of(with_signs([64, 0])).near(ONES, None).tolist() == [0, 1]


def test_a_post_with_several_near_passages_is_found_once(monkeypatch: pytest.MonkeyPatch) -> None:
    choose(monkeypatch, 3, 3, 100)
    vectors = [[-1] * number + [1] * (64 - number) for number in (0, 9, 1, 2, 8)]
    retriever = retriever_of(segment_of(vectors, [1, 1, 0, 0, 2, 0, 0, 1, 0]))
    assert retriever.near(ONES, None).tolist() == [0, 1]


def test_an_accelerator_reads_larger_batches_in_a_single_process() -> None:
    here, there = (
        meaning.MeaningBuilder(MeaningSettings(), device).kind for device in ("cpu", "cuda")
    )
    assert (here.alone, there.alone) == (False, True)
    assert here.batch < there.batch


def test_settings_have_these_defaults() -> None:
    choices = MeaningSettings()
    assert (choices.tokens, choices.question_passages, choices.body_passages) == (128, 2, 4)
    assert (choices.titles, choices.careful) == (True, True)
    assert (choices.query_title, choices.min_cosine) == (0.0, 0.3)
