"""ARQMath task 2 on real posts, with the ids of the lab."""

from itertools import islice
from pathlib import Path

import pytest

from benchmarks.shared import arqmath_posts
from mathsetu.collections.arqmath import read_topics
from mathsetu.library import Library, build_library
from mathsetu.records import Query

pytestmark = pytest.mark.thorough


@pytest.mark.exhaustive
def test_formulas_of_real_posts_are_found_by_their_ids(shared_data: Path, tmp_path: Path) -> None:
    some = list(islice(arqmath_posts(shared_data), 200))
    build_library(tmp_path / "library", some, "formula", processes=1)
    listed = {
        formula.id: (formula.post_id, formula.visual_id)
        for post in some
        for formula in post.formulas
    }
    topics = read_topics(shared_data / "arqmath" / "topics-task2-2020.xml", language="en")
    with Library(tmp_path / "library") as library:
        for topic in islice(topics, 5):
            found = library.formula_instances(topic, 100)
            assert len(found) == 100
            assert all(
                listed[one.formula.id] == (one.formula.post_id, one.formula.visual_id)
                for one in found
            )
            looks = [one.formula.visual_id for one in found if one.formula.visual_id]
            assert len(looks) == len(set(looks))
        # Nearly all formulas of the texts are listed with an id, and a formula finds itself.
        known = [formula for post in some for formula in post.formulas if len(formula.latex) > 8]
        first = [
            library.formula_instances(Query("B.1", "", formulas=(formula,)), 1)
            for formula in known[::50]
        ]
        same = [
            bool(one) and "".join(one[0].formula.latex.split()) == "".join(formula.latex.split())
            for one, formula in zip(first, known[::50], strict=True)
        ]
        assert sum(same) / len(same) > 0.9
