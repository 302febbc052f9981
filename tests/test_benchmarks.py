"""Benchmarks without what they need: one line for a person."""

from importlib import import_module
from pathlib import Path

import pytest


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
