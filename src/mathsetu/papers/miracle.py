"""MIRaCLE (CLMIR 2025): the figures of its two runs."""

from __future__ import annotations

from mathsetu.papers.context import Context
from mathsetu.papers.tables import Row, markdown
from mathsetu.recipes import load_recipe
from mathsetu.recipes.published import published_figures

_INTRODUCTION = """## MIRaCLE

The two runs at CLMIR 2025 (FIRE 2025). The posts, queries and judgments of the lab are not in the
data, so the paper's figures cannot be reproduced; [miracle](miracle.md) has figures of the recipes
on other collections. English to Hindi on our own collection: `python -m benchmarks.miracle_hindi`.
"""


def section(context: Context) -> str:
    """The section of the page."""
    rows = [
        Row(
            f"section 5, run {name[-1]}",
            load_recipe(name).description.partition(": ")[2],
            f"reproduce {name}",
            "not run: CLMIR's collection and judgments are not public",
            {"CLMIR": [one.value for one in published_figures(name)]},
        )
        for name in ("miracle-1", "miracle-2")
    ]
    return f"{_INTRODUCTION}\n{markdown(rows, ['CLMIR'], 'P@10 MAP nDCG')}"
