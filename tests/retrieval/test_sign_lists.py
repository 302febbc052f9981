"""Lists of passages: a search of the nearest lists finds nearly what a search of all finds."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from mathsetu.errors import DamagedLibrary
from mathsetu.retrieval import kernels, meaning, sign_lists
from mathsetu.retrieval.base import WrittenSegment
from mathsetu.retrieval.mapped import seal
from mathsetu.retrieval.meaning import MeaningBuilder, MeaningRetriever, quantize_int8
from mathsetu.retrieval.sign_lists import SignLists, write_sign_lists
from tests.encoders.tiny_builtin import TEXTS
from tests.retrieval.test_meaning import asked, built, choose, model, of_bodies  # noqa: F401

if TYPE_CHECKING:
    from numpy.typing import NDArray

COUNT, DIMENSIONS, GROUPS = 6_000, 64, 40


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make lists even for few passages."""
    monkeypatch.setattr(sign_lists, "_SMALLEST", 10)
    monkeypatch.setattr(sign_lists, "_LIST", 100)


@pytest.fixture(scope="module")
def floats() -> "NDArray[np.float32]":
    """Vectors in clusters around some directions."""
    random = np.random.default_rng(1)
    middles = random.normal(size=(GROUPS, DIMENSIONS))
    return (
        middles[random.integers(0, GROUPS, COUNT)] + random.normal(size=(COUNT, DIMENSIONS)) * 0.7
    ).astype(np.float32)


@pytest.fixture(scope="module")
def vectors(floats: "NDArray[np.float32]") -> "NDArray[np.int8]":
    return quantize_int8(floats)[0]


def lists_of(folder: Path, vectors: "NDArray[np.int8]") -> SignLists:
    write_sign_lists(folder, vectors, kernels.sign_bits(vectors))
    return SignLists(folder, *vectors.shape)


def near(lists: SignLists, query: "NDArray[np.float32]", k: int) -> tuple[Any, Any]:
    [signs] = kernels.sign_bits(query[None])
    return lists.near(query, signs, k, DIMENSIONS + 1)


def test_a_search_of_all_lists_gives_the_same_distances_as_one_of_all_passages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, floats: Any, vectors: Any
) -> None:
    lists = lists_of(tmp_path / "lists", vectors)
    monkeypatch.setattr(sign_lists, "_SHARE_COMPARED", 1.0)
    signs = kernels.sign_bits(vectors)
    for query in floats[:5] + 0.3:
        rows, distances = near(lists, query, 50)
        _, farthest = kernels.nearest_signs(signs, kernels.sign_bits(query[None])[0], 50)
        assert sorted(distances) == sorted(farthest)
        assert (np.diff(rows) > 0).all()
        differing = np.unpackbits(
            (signs[rows] ^ kernels.sign_bits(query[None])).view(np.uint8), axis=1
        )
        assert differing.sum(axis=1).tolist() == distances.tolist()


@pytest.mark.thorough
def test_an_eighth_of_the_passages_contains_nearly_all_of_the_nearest(
    tmp_path: Path, floats: Any, vectors: Any
) -> None:
    lists = lists_of(tmp_path / "lists", vectors)
    found = 0
    for query in floats[:40]:
        cosines = vectors @ query / np.linalg.norm(vectors, axis=1)
        best = set(np.argsort(-cosines)[:10].tolist())
        found += len(best & set(near(lists, query, 300)[0].tolist()))
    assert found / 400 > 0.97


def test_only_the_nearest_lists_are_searched(tmp_path: Path, floats: Any, vectors: Any) -> None:
    lists = lists_of(tmp_path / "lists", vectors)
    rows, _ = near(lists, floats[0], COUNT // 10)
    assert len(rows) == COUNT // 10
    rows, _ = near(lists, floats[0], 3)
    assert len(rows) == 3
    centres, ends, order = (
        np.load(tmp_path / "lists" / f"{name}.npy") for name in ("centres", "ends", "rows")
    )
    farthest = int(np.argmin(centres @ floats[0]))
    outside = set(order[ends[farthest] : ends[farthest + 1]].tolist())
    assert not outside & set(near(lists, floats[0], COUNT // 10)[0].tolist())


@pytest.mark.thorough
def test_every_passage_is_in_the_list_of_its_nearest_centre(tmp_path: Path, vectors: Any) -> None:
    lists_of(tmp_path / "lists", vectors)
    centres, ends, rows, signs = (
        np.load(tmp_path / "lists" / f"{name}.npy") for name in ("centres", "ends", "rows", "signs")
    )
    assert sorted(rows.tolist()) == list(range(COUNT))
    assert len(centres) == COUNT // 100
    assert (signs == kernels.sign_bits(vectors)[rows]).all()
    belongs = np.repeat(np.arange(len(centres)), np.diff(ends))
    products = vectors[rows].astype(np.float32) @ centres.T
    best = products.max(axis=1)
    assert products[np.arange(COUNT), belongs] == pytest.approx(best, rel=1e-4)


def test_the_same_vectors_give_the_same_bytes(tmp_path: Path, vectors: Any) -> None:
    for name in "ab":
        lists_of(tmp_path / name, vectors)
    for file in (tmp_path / "a").iterdir():
        assert file.read_bytes() == (tmp_path / "b" / file.name).read_bytes()


def test_few_passages_are_not_divided_into_lists(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, vectors: Any
) -> None:
    monkeypatch.setattr(sign_lists, "_SMALLEST", COUNT + 1)
    write_sign_lists(tmp_path / "lists", vectors, kernels.sign_bits(vectors))
    assert not (tmp_path / "lists").exists()


@pytest.mark.parametrize("name", ["centres", "rows", "signs", "ends"])
def test_files_that_do_not_belong_together_are_refused(
    tmp_path: Path, vectors: Any, name: str
) -> None:
    lists_of(tmp_path / "lists", vectors)
    file = tmp_path / "lists" / f"{name}.npy"
    np.save(file, np.load(file)[:-1])
    with pytest.raises(DamagedLibrary, match="do not belong together"):
        SignLists(tmp_path / "lists", *vectors.shape)


def test_a_row_that_is_out_of_range_is_refused(tmp_path: Path, floats: Any, vectors: Any) -> None:
    lists_of(tmp_path / "lists", vectors)
    rows = np.load(tmp_path / "lists" / "rows.npy")
    np.save(tmp_path / "lists" / "rows.npy", np.full_like(rows, COUNT))
    seal(tmp_path / "lists")
    with pytest.raises(DamagedLibrary, match="out of range"):
        near(SignLists(tmp_path / "lists", *vectors.shape), floats[0], 5)


@pytest.mark.thorough
def test_a_merged_segment_with_lists_gives_the_same_scores_as_its_segments(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    model: str,  # noqa: F811
) -> None:
    monkeypatch.setattr(sign_lists, "_LIST", 8)
    # Fewer than the passages, so that sign bits are compared.
    monkeypatch.setattr(meaning, "_ALL_COMPARED", 0)
    monkeypatch.setattr(meaning, "_MIN_RESCORED", 20)
    monkeypatch.setattr(meaning, "_RESCORED_ONE_IN", 10**6)
    choices = choose(model)
    folders = [
        built(tmp_path / str(part), of_bodies(*(f"{text} {n}" for text in TEXTS)), choices)
        for part, n in enumerate(range(6))
    ]
    kept = [np.arange(len(TEXTS)) for _ in folders]
    sources = [
        WrittenSegment(folder, own, ["en"] * len(own))
        for folder, own in zip(folders, kept, strict=True)
    ]
    MeaningBuilder(choices).merge(sources, tmp_path / "merged")
    assert (tmp_path / "merged" / "lists" / "signs.npy").exists()
    apart, merged = (
        MeaningRetriever(folders, choices),
        MeaningRetriever([tmp_path / "merged"], choices),
    )
    for text in TEXTS:
        one, other = (which.ask([asked(text)])[0].best(3) for which in (apart, merged))
        assert other.scores == pytest.approx(one.scores)
        allowed = np.arange(len(TEXTS) * 6) % 2 == 0
        one, other = (which.ask([asked(text)])[0].best(3, allowed) for which in (apart, merged))
        assert other.scores == pytest.approx(one.scores)


def test_centres_are_learned_from_all_vectors() -> None:
    """With a list for each vector, each is a centre, so the sample must contain all of them."""
    vectors = np.eye(6, 64, dtype=np.int8) * 100
    centres = sign_lists._centres(vectors, len(vectors))
    assert sorted(centres.argmax(axis=1).tolist()) == [0, 1, 2, 3, 4, 5]
    assert np.allclose(centres.max(axis=1), 1)


def test_a_centre_is_the_mean_direction_of_its_vectors_and_has_length_one() -> None:
    vectors = np.array([[100, 0], [-60, 80]], dtype=np.int8)
    [centre] = sign_lists._centres(vectors, 1)
    assert centre.tolist() == pytest.approx([0.2**0.5, 0.8**0.5])


def test_exactly_the_smallest_number_of_passages_is_divided_into_lists(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, vectors: Any
) -> None:
    monkeypatch.setattr(sign_lists, "_SMALLEST", 20)
    assert len(lists_of(tmp_path / "lists", vectors[:20])._rows) == 20


@pytest.mark.parametrize(
    ("sizes", "k", "expected"),
    [
        # The first list has an eighth of all passages.
        ([9, 27, 36], 1, [0]),
        # The first list has one passage less than an eighth.
        ([8, 28, 36], 1, [8]),
        # The first list has fewer passages than requested.
        ([9, 27, 36], 10, [*range(9, 19)]),
    ],
)
def test_lists_are_searched_until_an_eighth_of_the_passages_was_compared(
    tmp_path: Path, sizes: list[int], k: int, expected: list[int]
) -> None:
    """By sign bits each list is nearer than the one before: the last one searched has the hits."""
    query = np.zeros(65, dtype=np.float32)
    query[:3] = 3, 2, 1
    signs = np.repeat(np.array([[0b001, 0], [0b011, 0], [0b111, 0]], dtype=np.uint64), sizes, 0)
    for name, values in (
        ("centres", np.eye(3, 65, dtype=np.float32)),
        ("rows", np.arange(72, dtype=np.int32)),
        ("ends", np.cumsum([0, *sizes])),
        ("signs", signs),
    ):
        np.save(tmp_path / f"{name}.npy", values)
    lists = SignLists(tmp_path, 72, 65)
    found, _ = lists.near(query, np.array([0b111, 0], dtype=np.uint64), k, 66)
    assert found.tolist() == expected


def test_lists_whose_ends_do_not_rise_are_refused(
    tmp_path: Path, floats: Any, vectors: Any
) -> None:
    lists_of(tmp_path / "lists", vectors[:300])
    ends = np.load(tmp_path / "lists" / "ends.npy")
    ends[1] = ends[2] + 1
    np.save(tmp_path / "lists" / "ends.npy", ends)
    with pytest.raises(DamagedLibrary, match="does not match"):
        near(SignLists(tmp_path / "lists", 300, DIMENSIONS), floats[0], 5)
