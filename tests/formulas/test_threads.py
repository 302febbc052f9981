"""Formulas that several threads read at the same time."""

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from mathsetu.formulas.mathml import write_mathml
from mathsetu.formulas.notation import write_tree
from mathsetu.formulas.parse import parse_latex, parse_once

# Long enough that reading one takes longer than the switch interval of threads.
FORMULAS = [
    " + ".join(rf"\sqrt{{a_{{{n}}} + \frac{{b^{k}}}{{c_{k}}}}}" for k in range(60))
    for n in range(100)
]


@pytest.fixture
def hurried() -> Iterator[None]:
    """Switch threads as often as the interpreter can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.thorough
@pytest.mark.usefixtures("hurried")
def test_four_threads_read_the_same_trees_as_one() -> None:
    expected = []
    for latex in FORMULAS:
        parsed = parse_latex(latex)
        expected.append((write_tree(parsed.slt), write_tree(parsed.opt)))
    shown = [write_mathml(parse_latex(latex).layout) for latex in FORMULAS]
    parse_once.cache_clear()
    shared = [parse_once(latex) for latex in FORMULAS]
    together = Barrier(4)

    def read(place: int) -> list[tuple[tuple[str, str], str]]:
        found = []
        for parsed in shared:
            together.wait()  # so that all of them begin with the same formula
            mathml = write_mathml(parsed.layout) if place == 3 else ""
            slt, opt = write_tree(parsed.slt), write_tree(parsed.opt)
            found.append(((slt, opt), mathml or write_mathml(parsed.layout)))
        return found

    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(read, range(4)):
            assert [trees for trees, _ in found] == expected
            assert [mathml for _, mathml in found] == shown


@pytest.mark.thorough
@pytest.mark.usefixtures("hurried")
def test_threads_may_make_the_trees_of_a_shared_formula_at_the_same_time() -> None:
    expected = []
    for latex in FORMULAS:
        parsed = parse_latex(latex)
        expected.append((write_tree(parsed.slt), write_tree(parsed.opt)))
    shared = [parse_latex(latex) for latex in FORMULAS]  # no tree was made so far
    together = Barrier(4)

    def read(place: int) -> list[tuple[str, str]]:
        found = []
        for parsed in shared:
            together.wait()
            # Two threads begin with one tree, two with the other.
            first = parsed.slt if place % 2 else parsed.opt
            slt, opt = write_tree(parsed.slt), write_tree(parsed.opt)
            assert first in (parsed.slt, parsed.opt)
            found.append((slt, opt))
        return found

    with ThreadPoolExecutor(4) as pool:
        wrong = [
            place
            for found in pool.map(read, range(4))
            for place, trees in enumerate(found)
            if trees != expected[place]
        ]
    assert wrong == []
