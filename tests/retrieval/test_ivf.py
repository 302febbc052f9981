"""Inverted lists that were written by hand: which lists a search visits, and what it finds."""

import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from mathsetu.errors import DamagedLibrary, MissingExtra
from mathsetu.retrieval.ivf import Division, Ivf, check_faiss, write_ivf

# Twelve posts in three lists, one direction each; the last post of a list is the longest vector.
LISTS = [[0, 3, 6, 9], [1, 4, 7, 10], [2, 5, 8, 11]]
STRENGTHS = [0.5, 0.6, 0.7, 0.8]
VECTORS = np.zeros((12, 4), dtype=np.float32)
for direction, posts in enumerate(LISTS):
    VECTORS[posts, direction] = STRENGTHS
QUERY = np.array([0.6, 0.8, 0.1, 0.0], dtype=np.float32)


def write(folder: Path, **others: object) -> Path:
    """Lists of the twelve posts, with other arrays in place of some."""
    folder.mkdir()
    arrays = {
        "centres": np.eye(3, 4, dtype=np.float32),
        "posts": np.array(LISTS, dtype=np.int32).reshape(-1),
        "ends": np.array([0, 4, 8, 12]),
    }
    for name, values in (arrays | others).items():
        np.save(folder / f"{name}.npy", values)
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(tmp_path / "lists")


def found(lists: Ivf, k: int, allowed: list[int] | None = None) -> list[int]:
    may = None if allowed is None else np.isin(np.arange(12), allowed)
    [numbers] = lists.candidates(QUERY[None], VECTORS, k, may)
    return sorted(numbers.tolist())


@pytest.mark.parametrize(
    ("probes", "k", "expected"),
    [
        # The second list is the nearest, then the first.
        (1, 12, [1, 4, 7, 10]),
        (1, 4, [1, 4, 7, 10]),
        (1, 3, [4, 7, 10]),
        (1, 1, [10]),
        (2, 12, [0, 1, 3, 4, 6, 7, 9, 10]),
        # 0.8 * 0.8 and 0.8 * 0.7 before 0.6 * 0.8 and 0.8 * 0.6, which are equal.
        (2, 2, [7, 10]),
        (3, 12, [*range(12)]),
        (9, 12, [*range(12)]),
    ],
)
def test_the_best_posts_of_the_nearest_lists_are_found(
    folder: Path, probes: int, k: int, expected: list[int]
) -> None:
    assert found(Ivf(folder, VECTORS.shape, Division(3, probes)), k) == expected


def test_only_allowed_posts_are_found_and_no_more_than_requested(folder: Path) -> None:
    lists = Ivf(folder, VECTORS.shape, Division(3, 2))
    assert found(lists, 12, [0, 2, 4, 7]) == [0, 4, 7]
    assert found(lists, 2, [0, 2, 4, 7]) == [4, 7]
    assert found(lists, 2, []) == []


def test_each_query_gets_its_own_posts(folder: Path) -> None:
    lists = Ivf(folder, VECTORS.shape, Division(3, 1))
    both = np.array([QUERY, [0, 0, 1, 0]], dtype=np.float32)
    first, second = lists.candidates(both, VECTORS, 12, None)
    assert (sorted(first.tolist()), sorted(second.tolist())) == (LISTS[1], LISTS[2])


@pytest.mark.parametrize(("probes", "expected"), [(1, 4), (2, 8), (3, 12), (50, 12)])
def test_the_number_of_visited_posts_is_that_of_the_visited_lists(
    folder: Path, probes: int, expected: int
) -> None:
    assert Ivf(folder, VECTORS.shape, Division(3, probes)).visited(1) == expected


def test_all_posts_of_a_single_list_are_visited(tmp_path: Path) -> None:
    one = write(tmp_path / "lists", centres=np.eye(1, 4, dtype=np.float32), ends=np.array([0, 12]))
    assert Ivf(one, VECTORS.shape, Division(1, 1)).visited(1) == 12


def test_an_eighth_of_the_lists_or_those_with_six_times_the_requested_posts_are_visited() -> None:
    adaptive = Division(0, 0)
    assert [adaptive.probes(lists, 1000, 1) for lists in (8, 9, 16, 17, 100)] == [1, 2, 2, 3, 13]
    assert [adaptive.probes(100, 1000, wanted) for wanted in (21, 22, 30, 31)] == [13, 14, 18, 19]
    assert adaptive.probes(100, 1000, 900) == 100
    assert adaptive.probes(1, 0, 5) == 1


def test_a_list_has_at_least_ten_posts_on_average() -> None:
    assert [Division(0, 0).lists(count) for count in (0, 9, 19, 20, 1600, 2500)] == [
        1, 1, 1, 2, 160, 200,
    ]  # fmt: skip
    assert [Division(7, 1).lists(count) for count in (59, 60, 69, 70, 10_000)] == [5, 6, 6, 7, 7]


@pytest.mark.parametrize(
    "others",
    [
        {"centres": np.eye(3, 5, dtype=np.float32)},
        {"centres": np.eye(4, 4, dtype=np.float32)},
        {"ends": np.array([0, 4, 12])},
    ],
)
def test_files_that_do_not_belong_together_are_refused(
    tmp_path: Path, others: dict[str, object]
) -> None:
    with pytest.raises(DamagedLibrary, match="do not belong together"):
        Ivf(write(tmp_path / "lists", **others), VECTORS.shape, Division(3, 1))


@pytest.mark.parametrize(
    ("others", "message"),
    [
        ({"posts": np.full(12, 12, dtype=np.int32)}, "out of range"),
        ({"ends": np.array([0, 8, 4, 12])}, "does not match"),
        ({"ends": np.array([0, 4, 8, 13])}, "does not match"),
    ],
)
def test_invalid_values_are_refused_when_they_are_read(
    tmp_path: Path, others: dict[str, object], message: str
) -> None:
    lists = Ivf(write(tmp_path / "lists", **others), VECTORS.shape, Division(3, 3))
    with pytest.raises(DamagedLibrary, match=message):
        found(lists, 3)


class Kmeans:
    """Replaces FAISS: the centres are the axes, and each vector belongs to the nearest."""

    made: tuple[object, ...] = ()

    def __init__(self, dimensions: int, lists: int, **options: object) -> None:
        Kmeans.made = (dimensions, lists, options)
        self.centroids = np.zeros((lists, dimensions))
        self.index = self

    def train(self, vectors: np.ndarray) -> None:
        self.centroids = np.eye(*self.centroids.shape)

    def search(self, vectors: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        assert k == 1
        near = vectors @ self.centroids.T
        assert near.any()
        order = np.argsort(-near, axis=1, kind="stable")
        # As FAISS does: as many columns as were requested.
        return np.take_along_axis(near, order, 1)[:, :k], order[:, :k]


@pytest.fixture
def faiss(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "faiss", SimpleNamespace(Kmeans=Kmeans))


@pytest.mark.usefixtures("faiss")
def test_vectors_are_divided_into_lists_without_rows_of_zeros(tmp_path: Path) -> None:
    vectors = np.concatenate([VECTORS, np.zeros((3, 4), dtype=np.float32)] * 4)
    folder = tmp_path / "deep" / "lists"
    write_ivf(folder, vectors, Division(3, 1))
    assert Kmeans.made[:2] == (4, 3)
    assert Kmeans.made[2] == {"seed": 20250, "spherical": True, "min_points_per_centroid": 1}
    assert np.load(folder / "centres.npy").tolist() == np.eye(3, 4).tolist()
    assert np.load(folder / "ends.npy").tolist() == [0, 16, 32, 48]
    filled = np.flatnonzero(vectors.any(axis=1))
    wanted = [number for direction in range(3) for number in filled if vectors[number, direction]]
    assert np.load(folder / "posts.npy").tolist() == wanted


@pytest.mark.usefixtures("faiss")
def test_without_vectors_there_is_one_empty_list(tmp_path: Path) -> None:
    write_ivf(tmp_path / "lists", np.zeros((2, 4), dtype=np.float32), Division(0, 0))
    assert np.load(tmp_path / "lists" / "centres.npy").shape == (1, 4)
    assert np.load(tmp_path / "lists" / "ends.npy").tolist() == [0, 0]
    assert len(np.load(tmp_path / "lists" / "posts.npy")) == 0
    with pytest.raises(FileExistsError):
        write_ivf(tmp_path / "lists", np.zeros((2, 4), dtype=np.float32), Division(0, 0))


def test_missing_faiss_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(MissingExtra, match="an IVF index"):
        check_faiss()
