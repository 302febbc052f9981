"""The readers on public MathML: their trees are those of Tangent."""

import gzip
import json
from pathlib import Path

import pytest

from mathsetu.errors import NotationError
from mathsetu.formulas.labels import normalise
from mathsetu.formulas.mathml import read_content, read_presentation
from mathsetu.formulas.notation import read_tree
from mathsetu.formulas.tree import Tree

pytestmark = pytest.mark.shared


def rows(path: Path) -> list[dict[str, str]]:
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


@pytest.fixture(scope="module")
def mathml(shared_data: Path) -> dict[str, str]:
    """MathML by LaTeX without blanks."""
    found = rows(shared_data / "latex" / "formulas.jsonl.gz")
    return {"".join(row["latex"].split()): row["mathml"] for row in found if row["mathml"]}


@pytest.mark.thorough
def test_all_presentation_and_all_parsed_content_is_read(mathml: dict[str, str]) -> None:
    without_content = 0
    for text in mathml.values():
        assert isinstance(read_presentation(text), Tree)
        try:
            read_content(text)
        except NotationError:
            assert "MathML-Content" not in text
            without_content += 1
    assert without_content < 0.04 * len(mathml)


@pytest.mark.thorough
def test_trees_equal_those_of_tangent_for_80_percent_of_the_queries(
    shared_data: Path, mathml: dict[str, str]
) -> None:
    equal = {"slt": 0, "opt": 0}
    compared = 0
    for query in rows(shared_data / "arqmath" / "formula-pool-2020" / "queries.jsonl"):
        text = mathml.get("".join(query["latex"].split()))
        if text is None or "MathML-Content" not in text:
            continue
        compared += 1
        for kind, read in (("slt", read_presentation), ("opt", read_content)):
            equal[kind] += read(text) == normalise(read_tree(query[kind]))
    assert compared > 40
    # The rest: Tangent drops shared operands and question marks, knows no text in operator
    # trees, and writes the d of a differential as an operator.
    assert equal["slt"] >= 0.8 * compared
    assert equal["opt"] >= 0.8 * compared
