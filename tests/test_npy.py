"""Headers of NumPy's files are read as data, so that threads do not disturb each other."""

from __future__ import annotations

import ast
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathsetu.library import Library, build_library
from mathsetu.npy import read_array
from mathsetu.records import Post


def written(values: object) -> bytes:
    file = BytesIO()
    np.save(file, np.asarray(values), allow_pickle=False)
    return file.getvalue()


@given(
    st.sampled_from("<i8 <u4 <f4 <f2 |u1 |b1 |S5 <U3".split()),
    st.lists(st.integers(0, 4), max_size=3).map(tuple),
)
def test_arrays_written_by_numpy_are_read(kind: str, shape: tuple[int, ...]) -> None:
    values = np.ones(shape, dtype=kind)
    read = read_array(written(values))
    assert read.dtype == values.dtype
    assert read.shape == values.shape
    assert read.tolist() == values.tolist()


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\x93NUMPY",
        written([1, 2])[:100],
        written([1, 2])[:-1],
        written([1, 2]) + b"\0",
        written([1, 2]).replace(b"'<i8'", b"'|O8'", 1),
        written([1, 2]).replace(b"False", b"True ", 1),
        written([1, 2]).replace(b"(2,)", b"(-2)", 1),
        written([1, 2]).replace(b"(2,)", b"(2**9)", 1),
        written([1, 2]).replace(b"\x01\x00", b"\x02\x00", 1),
        written(np.zeros(2, dtype=[("a", "<i4")])),
        written(np.asfortranarray(np.ones((2, 2)))),
    ],
)
def test_other_files_are_refused(raw: bytes) -> None:
    with pytest.raises(ValueError, match=r"array|size"):
        read_array(raw)


def test_a_library_is_opened_and_searched_without_parsing_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # CPython 3.11 sometimes fails if two threads parse at the same time.
    posts = [Post("1", "The sum of angles is $180$."), Post("2", "Primes are infinitely many.")]
    build_library(tmp_path / "l", posts, "default", processes=1)

    def refuse(*_args: object, **_options: object) -> None:
        raise SystemError("AST constructor recursion depth mismatch")

    for name in ("parse", "literal_eval"):
        monkeypatch.setattr(ast, name, refuse)
    with pytest.raises(SystemError):
        np.load(BytesIO(written([1])))
    with Library(tmp_path / "l") as library:
        assert library.answer("infinitely many primes", k=1).hits[0].id == "2"
