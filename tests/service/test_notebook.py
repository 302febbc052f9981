"""Records and answers in notebooks, and a run of the whole example notebook."""

import re
from pathlib import Path

import pytest

from mathsetu.library import Library
from mathsetu.records import Formula, Hit, Post, Reason
from mathsetu.service.engine import Engine
from mathsetu.service.notebook import DISPLAYS

pytestmark = pytest.mark.thorough

EXAMPLE = Path(__file__).parents[2] / "examples" / "notebook.ipynb"
ATTACK = '<img src=x onerror="alert(1)">'


def shown(value: object) -> str:
    return DISPLAYS[type(value)](value)


def test_a_formula_is_shown_as_mathml() -> None:
    assert shown(Formula(id="1", latex=r"\frac{1}{2}")).startswith("<math")


def test_every_answer_can_be_shown(engine: Engine) -> None:
    found = engine.search("$u^2+v^2=w^2$ triangle", k=2)
    assert 'class="matched"' in shown(found)
    assert "u → " in shown(found)
    assert shown(found.hits[0].formulas[0]).count("<math") == 2
    assert "<math" in shown(found.hits[0])
    assert 'dir="rtl"' in shown(engine.post("pythagorean-theorem.fa"))
    assert "infinitely-many-primes" in shown(engine.similar("infinitely-many-primes.en", 3))
    assert "pythagorean" in shown(engine.formulas("?a^2+?b^2=?c^2", 2))
    assert "words" in shown(engine.explain("primes", "infinitely-many-primes.en"))
    assert shown(engine.search("zzyzx")) == "<p>nothing found</p>"


def test_results_of_a_library_can_be_shown(sampler_folder: Path) -> None:
    with Library(sampler_folder) as opened:
        assert 'class="matched"' in shown(opened.answer("$u^2+v^2=w^2$ triangle", k=2))
        assert 'class="matched"' in shown(opened.formulas("?a^2+?b^2=?c^2", 2)[0])
        assert "words" in shown(opened.explain("primes", "infinitely-many-primes.en"))


def test_html_in_records_is_escaped() -> None:
    post = Post(
        id=ATTACK,
        title=ATTACK,
        body=f"{ATTACK} $\\text{{{ATTACK}}}$ `{ATTACK}`",
        language='"><b>',
        url=f"javascript:alert('{ATTACK}')",
    )
    hit = Hit(ATTACK, 1.0, reasons=(Reason(ATTACK, 1.0, f"{ATTACK} ${ATTACK}$"),))
    for value in (post, hit, Formula(id="1", latex=ATTACK)):
        html = shown(value)
        assert "<img" not in html
        assert "javascript:" not in html
        assert '<b>"' not in html
        assert not re.search(r"<[^>]*onerror", html)


def test_the_example_notebook_runs_and_shows_matches() -> None:
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    notebook = nbformat.read(EXAMPLE, as_version=4)
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    outputs = [
        output["data"].get("text/html", "")
        for cell in notebook.cells
        if cell.cell_type == "code"
        for output in cell.outputs
        if output.output_type == "execute_result"
    ]
    assert len(outputs) == 6
    assert all("<math" in html or "<b>" in html for html in outputs)
    assert "gaussian-integral.en" in outputs[0]
    assert 'class="matched"' in outputs[0]
    assert "u → " in outputs[2]
