"""The inverted index: what was gathered is written, however much of it is sorted at once."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathsetu.retrieval import postings
from mathsetu.retrieval.mapped import seal
from mathsetu.retrieval.postings import Postings, PostingsBuilder

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


def test_documents_of_two_indexes_share_their_terms(tmp_path: Path) -> None:
    first = built(tmp_path / "first", [{"a": 1, "b": 2}, {"c": 1}])
    second = built(tmp_path / "second", [{"b": 3}, {"a": 1, "d": 4}])
    builder = PostingsBuilder()
    builder.take_over(first, np.array([1, 0]))
    builder.take_over(second, np.array([1]))
    builder.add({"a": 7.0})
    builder.write(tmp_path / "joined")
    seal(tmp_path / "joined")
    joined = Postings(tmp_path / "joined")
    found = {
        term: dict(zip(numbers.tolist(), frequencies.tolist(), strict=True))
        for term, (numbers, frequencies) in zip("abcd", joined.postings(list("abcd")), strict=True)
    }
    assert found == {"a": {1: 1, 2: 1, 3: 7}, "b": {1: 2}, "c": {0: 1}, "d": {2: 4}}
    assert Counter(map(len, found.values())) == {1: 3, 3: 1}
