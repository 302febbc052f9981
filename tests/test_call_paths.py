"""The paths of a query and of a post through the engine are those that CONTRIBUTING.md draws."""

from pathlib import Path

import pytest

from benchmarks.call_paths import CallPath, both, drawing

pytestmark = pytest.mark.thorough

CONTRIBUTING = Path(__file__).parents[1] / "CONTRIBUTING.md"
#: What a query becomes on its path.
CARRIERS = {"Query", "Question", "Scored", "Hit", "Answer"}
#: Settings, what is known of posts, and what reasons are made of.
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


def test_both_ways_are_as_drawn(paths: dict[str, CallPath]) -> None:
    text = CONTRIBUTING.read_text(encoding="utf-8")
    for title, path in paths.items():
        assert drawing(title, path) in text, "draw it again with: python -m benchmarks.call_paths"


def test_a_query_passes_few_files_and_becomes_few_values(paths: dict[str, CallPath]) -> None:
    query, _ = paths.values()
    assert len(query.drawn) <= 48
    assert set(query.values) - OTHERS == CARRIERS


def test_a_search_in_the_terminal_passes_no_server_and_typesets_nothing(
    paths: dict[str, CallPath],
) -> None:
    query, _ = paths.values()
    assert not [file for file in query.files if file.startswith(("service/", "formulas/mathml/"))]
