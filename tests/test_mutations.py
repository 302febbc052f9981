"""The mutation tool makes all kinds of changes, and its listed faults still fit the code."""

import ast

import pytest

from benchmarks.mutations.__main__ import FOLDERS, drawn, known_equivalents, sources
from benchmarks.mutations.faults import FAULTS, Fault
from benchmarks.mutations.operators import mutated, mutations
from benchmarks.mutations.runner import PACKAGE, ROOT

SOURCE = '''
def clipped(values, least=0):
    """Not less than 1."""
    if not values or len(values) > 5:
        raise ValueError("3 is too many")
    return [max(value - least, -1) for value in values if value is not None]
'''


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_every_fault_fits_the_code_and_its_tests_exist(fault: Fault) -> None:
    assert (PACKAGE / fault.path).read_text(encoding="utf-8").count(fault.before) == 1
    ast.parse((PACKAGE / fault.path).read_text(encoding="utf-8").replace(fault.before, fault.after))
    assert all((ROOT / test).exists() for test in fault.tests)


def test_every_kind_of_change_is_made_and_messages_are_not_changed() -> None:
    found = mutations(SOURCE)
    assert {one.description for one in found} == {
        "0 to 1", "condition negated", "or to and", "no not", "> to >=", "5 to 6",
        "return nothing", "max to min", "- to +", "no -", "1 to 2", "is not to is",
    }  # fmt: skip
    unchanged = ast.unparse(ast.parse(SOURCE))
    changed = {ast.unparse(mutated(SOURCE, one)) for one in found}
    assert unchanged not in changed
    assert len(changed) == len(found)


@pytest.mark.thorough
def test_the_same_seed_draws_the_same_changes() -> None:
    assert drawn("ranking", 10, seed=0) == drawn("ranking", 10, seed=0)
    assert drawn("ranking", 10, seed=0) != drawn("ranking", 10, seed=1)
    assert all(sources(folder) for folder in FOLDERS)


def test_known_equivalent_changes_name_existing_lines() -> None:
    for path, line, _ in known_equivalents():
        lines = (PACKAGE / path).read_text(encoding="utf-8").splitlines()
        assert line in {one.strip() for one in lines}, f"equivalent.tsv: {path}: {line}"
