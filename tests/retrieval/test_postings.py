"""The inverted index: all postings are written and merged, whatever the batch size."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathsetu.errors import DamagedLibrary
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
def test_every_posting_is_found_for_any_batch_size(
    tmp_path_factory: pytest.TempPathFactory, texts: list[dict[str, float]], together: int
) -> None:
    before = postings._BATCH_SIZE
    postings._BATCH_SIZE = together
    try:
        index = built(tmp_path_factory.mktemp("index") / "index", texts)
    finally:
        postings._BATCH_SIZE = before
    terms = sorted({term for text in texts for term in text})
    for term, (numbers, frequencies) in zip(terms, index.postings(terms), strict=True):
        expected = [(number, text[term]) for number, text in enumerate(texts) if term in text]
        assert list(zip(numbers.tolist(), frequencies.tolist(), strict=True)) == expected
    assert len(index) == len(texts)


@pytest.mark.parametrize(("frequency", "kind"), [(255, np.uint8), (256, np.float32)])
def test_small_integer_frequencies_take_one_byte(
    tmp_path: Path, frequency: int, kind: type
) -> None:
    index = built(tmp_path / "index", [{"a": frequency}])
    assert index.frequencies.dtype == kind
    assert index.frequencies.tolist() == [frequency]


@pytest.mark.parametrize("together", [1, 3, 1000])
def test_documents_of_two_merged_indexes_share_their_terms(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, together: int
) -> None:
    first = built(tmp_path / "first", [{"a": 1, "b": 2}, {"c": 1}])
    second = built(tmp_path / "second", [{"b": 3}, {"a": 1, "d": 4}, {"a": 7.0}])
    monkeypatch.setattr(postings, "_BATCH_SIZE", together)
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
@pytest.mark.thorough
def test_merged_indexes_equal_one_built_from_the_kept_documents(
    tmp_path_factory: pytest.TempPathFactory,
    texts: list[list[dict[str, float]]],
    data: st.DataObject,
) -> None:
    """This holds for any documents that are left out, and any order of the others."""
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


@pytest.mark.parametrize(("frequency", "kind"), [(255, np.uint8), (256, np.float32)])
def test_merged_frequencies_take_one_byte_if_all_of_them_fit(
    tmp_path: Path, frequency: int, kind: type
) -> None:
    small = built(tmp_path / "small", [{"a": 7}])
    other = built(tmp_path / "other", [{"a": frequency}])
    places = [np.array([0]), np.array([1])]
    merge_postings([small, other], places, 2, tmp_path / "new" / "merged")
    merged = Postings(tmp_path / "new" / "merged")
    assert merged.frequencies.dtype == kind
    assert merged.frequencies.tolist() == [7, frequency]


def test_a_term_is_removed_with_the_last_document_that_has_it(tmp_path: Path) -> None:
    index = built(tmp_path / "index", [{"a": 1, "b": 1}, {"a": 1, "c": 1}])
    merge_postings([index], [np.array([-1, 0])], 1, tmp_path / "merged")
    merged = Postings(tmp_path / "merged")
    assert merged.document_counts(["a", "b", "c"]).tolist() == [1, 0, 1]
    assert (len(merged.terms), merged.starts.tolist()) == (2, [0, 1, 2])


def test_a_term_in_no_document_has_no_postings(tmp_path: Path) -> None:
    index = built(tmp_path / "index", [{"a": 1}, {"a": 2}])
    [(numbers, frequencies)] = index.postings(["nowhere"])
    assert (numbers.tolist(), frequencies.tolist()) == ([], [])


@pytest.mark.parametrize("starts", [[0, 2, 1, 3], [1, 1, 2, 3], [0, 1, 2, 2]])
def test_starts_of_lists_that_do_not_divide_the_postings_are_refused(
    tmp_path: Path, starts: list[int]
) -> None:
    builder = PostingsBuilder()
    builder.add({"a": 1, "b": 1, "c": 1})
    builder.write(tmp_path / "index")
    np.save(tmp_path / "index" / "starts.npy", np.array(starts))
    with pytest.raises(DamagedLibrary, match="does not match"):
        Postings(tmp_path / "index").document_counts(["a"])


def test_an_index_in_memory_gives_the_same_results_as_one_on_disk(tmp_path: Path) -> None:
    texts = [{"a": 1.0, "b": 2.0}, {"b": 3.0}, {"a": 0.5}]
    disk = built(tmp_path / "index", texts)
    pairs = [
        (number, term, value) for number, text in enumerate(texts) for term, value in text.items()
    ]
    held = Postings.from_arrays(
        "here",
        np.array([number for number, _, _ in pairs], dtype=np.int32),
        postings.term_hashes([term for _, term, _ in pairs]),
        np.array([value for _, _, value in pairs], dtype=np.float32),
        np.array([3, 3, 0.5], dtype=np.float32),
    )
    hashes, wanted = postings.term_hashes(["b", "nowhere", "a"]), np.array([0, 2])
    for index in (disk, held):
        found = index.gather(index.ranges(hashes), wanted)
        assert found.tolist() == [[2, 0], [0, 0], [1, 0.5]]
        assert (len(index), index.size) == (3, 4)
