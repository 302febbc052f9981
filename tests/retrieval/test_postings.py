"""The inverted index: what was gathered is written, however much of it is sorted at once."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathsetu.retrieval import postings
from mathsetu.retrieval.mapped import seal
from mathsetu.retrieval.postings import Postings, PostingsBuilder, merge_postings

documents = st.lists(
    st.dictionaries(st.sampled_from("abcdefgh"), st.sampled_from([1, 2, 3, 0.5, 300]), max_size=6),
    max_size=12,
)


def built(folder: Path, texts: list[dict[str, float]]) -> Postings:
    builder = PostingsBuilder()
    for terms in texts:
        builder.add(terms)
    builder.write(folder)
    seal(folder)
    return Postings(folder)


@given(documents, st.integers(1, 5))
def test_every_posting_is_found_whatever_is_sorted_at_once(
    tmp_path_factory: pytest.TempPathFactory, texts: list[dict[str, float]], together: int
) -> None:
    before = postings._TOGETHER
    postings._TOGETHER = together
    try:
        index = built(tmp_path_factory.mktemp("index") / "index", texts)
    finally:
        postings._TOGETHER = before
    terms = sorted({term for text in texts for term in text})
    for term, (numbers, frequencies) in zip(terms, index.postings(terms), strict=True):
        expected = [(number, text[term]) for number, text in enumerate(texts) if term in text]
        assert list(zip(numbers.tolist(), frequencies.tolist(), strict=True)) == expected
    assert len(index) == len(texts)


@pytest.mark.parametrize(("frequency", "kind"), [(255, np.uint8), (256, np.float32)])
def test_small_whole_numbers_take_a_byte(tmp_path: Path, frequency: int, kind: type) -> None:
    index = built(tmp_path / "index", [{"a": frequency}])
    assert index.frequencies.dtype == kind
    assert index.frequencies.tolist() == [frequency]


@pytest.mark.parametrize("together", [1, 3, 1000])
def test_documents_of_two_indexes_share_their_terms(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, together: int
) -> None:
    first = built(tmp_path / "first", [{"a": 1, "b": 2}, {"c": 1}])
    second = built(tmp_path / "second", [{"b": 3}, {"a": 1, "d": 4}, {"a": 7.0}])
    monkeypatch.setattr(postings, "_TOGETHER", together)
    numbers = [np.array([1, 0]), np.array([-1, 2, 3])]
    merge_postings([first, second], numbers, 4, tmp_path / "joined")
    seal(tmp_path / "joined")
    joined = Postings(tmp_path / "joined")
    found = {
        term: dict(zip(numbers.tolist(), frequencies.tolist(), strict=True))
        for term, (numbers, frequencies) in zip("abcd", joined.postings(list("abcd")), strict=True)
    }
    assert found == {"a": {1: 1, 2: 1, 3: 7}, "b": {1: 2}, "c": {0: 1}, "d": {2: 4}}
    assert [list(one) for one in found.values()] == [[1, 2, 3], [1], [0], [2]]
    assert joined.lengths.tolist() == [1, 3, 5, 7]


@given(st.lists(documents, min_size=1, max_size=3), st.data())
def test_merged_indexes_are_those_of_all_documents(
    tmp_path_factory: pytest.TempPathFactory,
    texts: list[list[dict[str, float]]],
    data: st.DataObject,
) -> None:
    """Whatever is left out, and in whatever order the others come."""
    folder = tmp_path_factory.mktemp("index")
    segments = [built(folder / str(number), own) for number, own in enumerate(texts)]
    everything = [one for own in texts for one in own]
    kept = [number for number in range(len(everything)) if data.draw(st.booleans())]
    order = data.draw(st.permutations(kept))
    new = np.full(len(everything), -1, dtype=np.int64)
    new[order] = np.arange(len(order))
    numbers = np.split(new, np.cumsum([len(own) for own in texts])[:-1])
    merge_postings(segments, numbers, len(order), folder / "merged")
    seal(folder / "merged")
    merged = Postings(folder / "merged")
    expected = built(folder / "expected", [everything[number] for number in order])
    for name in ("terms", "starts", "documents", "frequencies", "lengths"):
        assert getattr(merged, name).tolist() == getattr(expected, name).tolist()
