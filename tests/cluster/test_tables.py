"""The tables of frequencies, and arrays encoded as text."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathsetu.cluster.payloads import pack, pack_frequencies, unpack, unpack_frequencies
from mathsetu.cluster.points import sparse
from mathsetu.cluster.tables import EMPTY, Counts, Table, read_tables, write_table
from mathsetu.errors import DamagedLibrary
from tests.cluster.helpers import ADDRESS

terms = st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 9), max_size=30)


def table(numbers, sign=1):
    return Table.counted(np.array(numbers, dtype=np.uint64), sign)


@given(st.lists(terms, max_size=4), terms, terms)
def test_counts_are_sums_over_tables(came, went, asked):
    tables = [table(numbers) for numbers in came]
    tables.append(table(went, sign=-1))
    expected = Counter(term for numbers in came for term in numbers)
    expected.subtract(went)
    counts = Counts(dict(enumerate(tables)))
    hashes = np.array(asked, dtype=np.uint64)
    assert counts.of(hashes).tolist() == [expected[term] for term in asked]
    together = counts.together()
    found = dict(zip(together.terms.tolist(), together.counts.tolist(), strict=True))
    assert found == {term: count for term, count in expected.items() if count}


@given(terms)
def test_packed_arrays_are_unpacked_unchanged(numbers):
    array = np.array(numbers, dtype=np.uint64)
    assert unpack(pack(array), "uint64").tolist() == numbers


@given(st.lists(st.floats(0.5, 400, width=32), max_size=20))
def test_packed_frequencies_are_unpacked_unchanged(values):
    array = np.array(values, dtype=np.float32)
    assert unpack_frequencies(pack_frequencies(array), len(values)).tolist() == array.tolist()


@given(st.text() | st.none() | st.integers() | st.binary())
def test_any_payload_is_read_or_refused(content):
    for kind in ("uint8", "uint64", "float32"):
        try:
            unpack(content, kind)
        except DamagedLibrary:
            continue


@given(terms.filter(bool))
def test_sparse_vectors_name_each_dimension_once(numbers):
    array = np.unique(np.array(numbers, dtype=np.uint64))
    dimensions, values = sparse(array, np.ones(len(array)))
    assert len(set(dimensions)) == len(dimensions) == len(values)
    assert all(0 <= dimension < 2**32 for dimension in dimensions)
    assert sum(values) == len(array)


@pytest.mark.thorough
def test_large_tables_are_written_in_chunks(node, monkeypatch):
    from mathsetu.cluster.client import connected

    monkeypatch.setattr("mathsetu.cluster.tables._CHUNK", 3)
    node.create_collection("meta", vectors_config={})
    whole = table([1, 1, 2, 3, 5, 8, 13, 2**64 - 1])
    with connected(ADDRESS) as cluster:
        name = write_table(cluster, "meta", 7, whole)
        nothing = write_table(cluster, "meta", 8, EMPTY)
        counts = read_tables(cluster, "meta", [name, nothing], {})
        assert name.chunks == 3
        assert counts.together().terms.tolist() == whole.terms.tolist()
        node.delete("meta", [point.id for point in node.scroll("meta", limit=1)[0]])
        with pytest.raises(DamagedLibrary):
            read_tables(cluster, "meta", [name], {})
        assert read_tables(cluster, "meta", [name], counts.tables).tables[7] is counts.tables[7]
