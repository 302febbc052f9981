"""Errors of benchmarks without their data, models or packages."""

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from benchmarks import miracle
from benchmarks.shared import errors_without_traceback
from mathsetu.models import require
from mathsetu.records import Hit, Run


@pytest.mark.parametrize("name", ["fusion", "formula_ranking", "miracle_hindi"])
def test_a_benchmark_without_its_data_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    monkeypatch.setattr("sys.argv", [name, "--data", str(tmp_path)])
    with pytest.raises(SystemExit, match="is missing: benchmarks need evaluation data"):
        import_module(f"benchmarks.{name}").main()


def test_a_benchmark_without_its_model_names_the_missing_folder(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sys.argv", ["miracle", "--only", "1", "--model-1", "./nowhere"])
    with pytest.raises(SystemExit, match="nowhere: no such folder"):
        import_module("benchmarks.miracle").main()


def test_a_benchmark_without_an_optional_package_says_what_needs_it() -> None:
    with (
        pytest.raises(SystemExit, match="an IVF index needs an optional"),
        errors_without_traceback(),
    ):
        require("no_such_package", "an IVF index", "neural")


def help_of(name: str, missing: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a benchmark with ``--help`` while a package is missing."""
    (folder / f"{missing}.py").write_text(
        f"raise ModuleNotFoundError('No module named {missing}', name={missing!r})"
    )
    paths = os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH"))))
    return subprocess.run(
        [sys.executable, "-m", f"benchmarks.{name}", "--help"],
        cwd=Path(__file__).parent.parent,
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["cluster", "graph_retrieval", "maxsim"])
def test_a_benchmark_that_starts_a_server_needs_no_pytest(tmp_path: Path, name: str) -> None:
    asked = help_of(name, "pytest", tmp_path)
    assert asked.returncode == 0
    assert asked.stdout.startswith("usage:")


@pytest.mark.thorough
def test_a_benchmark_without_a_package_names_the_environment_that_has_it(
    tmp_path: Path,
) -> None:
    asked = help_of("reading_time", "pyarrow", tmp_path)
    assert asked.returncode == 1
    [line] = asked.stderr.splitlines()
    assert line.startswith("the package 'pyarrow' is missing: ")
    assert "'make benchmarks'" in line


def test_variants_of_a_recipe_are_tested_for_significance_against_the_recipe() -> None:
    grades = {f"A.{number}": {"a": 3} for number in range(1, 5)}
    best = Run("best", {topic: (Hit("a", 1.0),) for topic in grades})
    worse = Run("worse", {topic: (Hit("b", 2.0), Hit("a", 1.0)) for topic in grades})
    mixed = Run("mixed", {**worse.rankings, "A.1": (Hit("a", 1.0),)})
    assert miracle.significance(best, best, grades) == 1.0
    assert miracle.significance(best, worse, grades) < miracle.significance(best, mixed, grades) < 1
