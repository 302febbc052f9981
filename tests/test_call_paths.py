"""The paths of a query and of a post through the engine are those in CONTRIBUTING.md."""

from pathlib import Path

import pytest

from benchmarks.call_paths import CallPath, both, drawing

pytestmark = pytest.mark.thorough

CONTRIBUTING = Path(__file__).parents[1] / "CONTRIBUTING.md"
#: The types that a query passes through.
CARRIERS = {"Query", "Question", "Scored", "Hit", "Answer"}
#: Types of settings, of facts about posts, and of parts of reasons.
OTHERS = set(
    """
    Recipe Ranking Selection Preparation Part LexicalSettings Bm25Plus Statistics
    FormulaSettings MeaningSettings Manifest Segment Filter Scope Post PostFacts Formula Span
    Detected Match TermMatch Reason Evidence
    MatchedWord Piece Prior QueryReading ReadPiece Calibration Presentation
    """.split()
)


@pytest.fixture(scope="module")
def paths() -> dict[str, CallPath]:
    return both()


def test_both_paths_are_listed_in_contributing(paths: dict[str, CallPath]) -> None:
    text = CONTRIBUTING.read_text(encoding="utf-8")
    for title, path in paths.items():
        assert drawing(title, path) in text, "draw it again with: python -m benchmarks.call_paths"


def test_a_query_passes_few_files_and_few_types(paths: dict[str, CallPath]) -> None:
    query, _ = paths.values()
    assert len(query.drawn) <= 50
    assert set(query.values) - OTHERS == CARRIERS


def test_a_search_in_the_terminal_uses_neither_the_service_nor_mathml(
    paths: dict[str, CallPath],
) -> None:
    query, _ = paths.values()
    assert not [file for file in query.files if file.startswith(("service/", "formulas/mathml/"))]
