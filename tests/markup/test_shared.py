"""Markup on 3,395 real answers whose formulas are listed."""

from pathlib import Path

import pytest

from benchmarks.markup_accuracy import measure


@pytest.mark.shared
@pytest.mark.thorough
def test_markup_finds_the_formulas_of_real_posts(shared_data: Path) -> None:
    tally = measure(shared_data / "arqmath" / "posts.jsonl.gz")
    assert tally.precision >= 0.995
    assert tally.recall >= 0.995
