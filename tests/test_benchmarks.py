"""Benchmarks without what they need: one line for a person."""

from importlib import import_module
from pathlib import Path

import pytest

from benchmarks import miracle
from benchmarks.shared import told_in_one_line
from mathsetu.models import require
from mathsetu.records import Hit, Run


@pytest.mark.parametrize("name", ["fusion", "formula_ranking", "miracle_hindi"])
def test_without_data_a_benchmark_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    monkeypatch.setattr("sys.argv", [name, "--data", str(tmp_path)])
    with pytest.raises(SystemExit, match="is missing: benchmarks need evaluation data"):
        import_module(f"benchmarks.{name}").main()


def test_without_a_model_a_benchmark_says_which(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["miracle", "--only", "1", "--model-1", "./nowhere"])
    with pytest.raises(SystemExit, match="nowhere: no such folder"):
        import_module("benchmarks.miracle").main()


def test_without_a_package_a_benchmark_says_which_extra_has_it() -> None:
    with pytest.raises(SystemExit, match="an IVF index needs an optional"), told_in_one_line():
        require("no_such_package", "an IVF index", "neural")


def test_variants_of_a_recipe_are_tested_against_the_recipe_as_it_is() -> None:
    grades = {f"A.{number}": {"a": 3} for number in range(1, 5)}
    best = Run("best", {topic: (Hit("a", 1.0),) for topic in grades})
    worse = Run("worse", {topic: (Hit("b", 2.0), Hit("a", 1.0)) for topic in grades})
    mixed = Run("mixed", {**worse.rankings, "A.1": (Hit("a", 1.0),)})
    assert miracle.significance(best, best, grades) == 1.0
    assert miracle.significance(best, worse, grades) < miracle.significance(best, mixed, grades) < 1
