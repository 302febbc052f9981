"""Recipes written as TOML are read back unchanged."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from mathsetu.recipes.tables import parse_toml
from mathsetu.recipes.writing import recipe_toml

NAMES = st.sampled_from(["parts", "systems", "ranking", "k"]) | st.text(max_size=5)
PLAIN = st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8)
VALUES = st.recursive(
    PLAIN,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,  # parse_toml refuses deep tables
)


@given(st.dictionaries(NAMES, VALUES, max_size=4))
def test_a_written_table_is_read_back_unchanged(table: dict[str, Any]) -> None:
    assert parse_toml(recipe_toml(table), "tests") == table


def test_parts_and_systems_and_tables_of_tables_have_a_header() -> None:
    table = {
        "ranking": {"calibration": {"half": {"a": 1}}, "weights": {"a": 1.0}},
        "parts": {"a": {"kind": "formula"}},
        "name": "mine",
        "rerank": {},
    }
    assert recipe_toml(table) == (
        'name = "mine"\n\n[ranking]\nweights = { a = 1.0 }\n\n[ranking.calibration]\n'
        'half = { a = 1 }\n\n[parts.a]\nkind = "formula"\n\n[rerank]\n'
    )
