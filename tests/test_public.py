"""The public interface of the package."""

import subprocess
import sys
from pathlib import Path

import pytest

import mathsetu
from tests.light import LIGHT


def test_the_public_names_are_exactly_these() -> None:
    assert sorted(mathsetu.__all__) == [
        "Answer",
        "Evidence",
        "Filter",
        "Formula",
        "Hit",
        "InputError",
        "Judgment",
        "Judgments",
        "Library",
        "MathSetuError",
        "OwnEncoder",
        "OwnReranker",
        "OwnTranslator",
        "Post",
        "Query",
        "Reason",
        "Recipe",
        "Run",
        "__version__",
        "add_posts",
        "build_library",
        "compare",
        "evaluate",
        "judgments_from_frame",
        "load_recipe",
        "open",
        "optimize_library",
        "parse_latex",
        "parse_measures",
        "plot_differences",
        "plot_means",
        "plot_recall_precision",
        "register",
        "remove_posts",
        "run_from_frame",
        "to_frame",
        "to_text",
        "write_figure",
    ]


def test_every_public_name_exists_and_others_do_not() -> None:
    for name in mathsetu.__all__:
        assert getattr(mathsetu, name) is not None
    assert dir(mathsetu) == sorted(mathsetu.__all__)
    with pytest.raises(AttributeError, match="no attribute 'search'"):
        _ = mathsetu.search  # type: ignore[attr-defined]


def test_a_library_is_built_opened_and_searched_with_public_names_alone(tmp_path: Path) -> None:
    posts = [mathsetu.Post("1", "There are infinitely many primes.", language="en")]
    mathsetu.build_library(tmp_path / "library", posts, LIGHT, processes=1)
    mathsetu.add_posts(tmp_path / "library", [mathsetu.Post("2", "A circle")], processes=1)
    with mathsetu.open(str(tmp_path / "library")) as library:
        where = mathsetu.Filter(language="en")
        assert [hit.id for hit in library.search("primes", where=where)] == ["1"]


def loaded_by(code: str) -> set[str]:
    command = [sys.executable, "-c", f"import sys; {code}; print(*sorted(sys.modules))"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_the_package_imports_no_large_library() -> None:
    heavy = {"torch", "numpy", "rich", "transformers", "markdown_it", "sqlite3"}
    assert not heavy & loaded_by("import mathsetu")


@pytest.mark.thorough
def test_importing_the_package_takes_less_than_a_tenth_of_a_second() -> None:
    resource = pytest.importorskip("resource")

    def seconds(code: str) -> float:
        """Processor time of the best of five new processes."""
        best = float("inf")
        for _ in range(5):
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            subprocess.run([sys.executable, "-c", code], check=True)
            best = min(best, resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before)
        return best

    assert seconds("import mathsetu") - seconds("pass") < 0.1
