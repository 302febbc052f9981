"""A run of the whole example notebook of the integrations."""

from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "ecosystem.ipynb"
PACKAGES = (
    *("nbclient", "nbformat", "ipykernel", "pandas", "matplotlib", "pyarrow"),
    *("pyterrier", "ir_measures", "ranx", "langchain_core", "llama_index.core"),
)


@pytest.mark.thorough
def test_the_notebook_runs_and_shows_tables_and_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    for package in PACKAGES:
        pytest.importorskip(package)
    import nbclient
    import nbformat

    # ranx would compile for minutes; without compilation its code runs quickly here.
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    notebook = nbformat.read(EXAMPLE, as_version=4)
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    shown = [
        output["data"]
        for cell in notebook.cells
        if cell.cell_type == "code"
        for output in cell.outputs
        if output.output_type == "execute_result"
    ]
    assert len(shown) == sum(cell.cell_type == "code" for cell in notebook.cells)
    assert sum("<table" in data.get("text/html", "") for data in shown) >= 4
    figures = [data["image/svg+xml"] for data in shown if "image/svg+xml" in data]
    assert len(figures) == 3
    assert "nDCG@10, means with 95% intervals" in figures[0]
    experiment = next(data["text/html"] for data in shown if "shortest of five" in str(data))
    assert "nDCG@10" in experiment
