"""The names of collections on a Qdrant server, and the order of its hits."""

from pathlib import Path

import numpy as np
import pytest

from mathsetu.retrieval import qdrant
from mathsetu.retrieval.multivectors import write_multivectors
from mathsetu.retrieval.qdrant import _ranked, collections_of


def test_the_name_of_a_collection_depends_on_its_vectors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Earlier uploads are found again, and never confused with those of another build."""
    unit = np.eye(4, dtype=np.float32)
    for name, posts in (("a", [unit[:2], unit[2:]]), ("b", [unit[:1], unit[1:]])):
        write_multivectors(tmp_path / name, posts, "float16")
    first, second = (collections_of(tmp_path / name) for name in "ab")
    assert first.posts == "mathsetu-eb5408edd1331542-posts"
    assert first.formulas == "mathsetu-eb5408edd1331542-formulas"
    assert second.posts != first.posts
    monkeypatch.setattr(qdrant, "_CHUNK", 7)
    assert collections_of(tmp_path / "a") == first


def test_the_best_hits_above_zero_come_first_and_ties_go_to_the_earlier_post() -> None:
    hits = [(0.5, 9), (0.0, 1), (0.75, 4), (0.5, 3), (-0.25, 2)]
    found = _ranked(hits, 9)
    assert (found.numbers.tolist(), found.scores.tolist()) == ([4, 3, 9], [0.75, 0.5, 0.5])
    assert _ranked(hits, 2).numbers.tolist() == [4, 3]
    assert _ranked([], 2).numbers.tolist() == []
