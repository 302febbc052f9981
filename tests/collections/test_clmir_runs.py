"""Up to three runs are added to one submission, one after another."""

from pathlib import Path

import pytest

from mathsetu.collections import clmir
from mathsetu.errors import InputError
from mathsetu.records import Hit, Run


def run(post: str) -> Run:
    return Run("mine", {"q_1": (Hit(post, 0.5),)})


def found(path: Path) -> dict[str, str]:
    return {one.name: one.rankings["q_1"][0].id for one in clmir.read_submission(path)}


def test_three_runs_can_be_added_and_each_can_be_replaced(tmp_path: Path) -> None:
    path = tmp_path / "team.csv"
    for number, post in ((1, "a"), (2, "b"), (3, "c"), (2, "d")):
        clmir.add_run(path, run(post), number)
    assert found(path) == {"1": "a", "2": "d", "3": "c"}
    assert not any(problem.fatal for problem in clmir.validate_submission(path, ["q_1"]))


def test_a_gap_between_runs_is_refused_and_the_file_stays_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "team.csv"
    with pytest.raises(InputError, match="run 2 needs run 1 beside it"):
        clmir.add_run(path, run("b"), 2)
    assert not path.exists()
    clmir.add_run(path, run("a"), 1)
    before = path.read_bytes()
    with pytest.raises(InputError, match="run 3 needs run 2 beside it"):
        clmir.add_run(path, run("c"), 3)
    with pytest.raises(InputError, match="holds runs 1, 2, 3"):
        clmir.add_run(path, run("c"), 4)
    assert path.read_bytes() == before


def test_a_file_that_is_not_a_submission_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "notes.csv"
    path.write_text("something else\n")
    with pytest.raises(InputError, match="header"):
        clmir.add_run(path, run("a"), 1)
    assert path.read_text() == "something else\n"
