"""After a failed or killed build, the library is either the old one or the new one."""

import json
import os
import random
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import Path

import pytest

from benchmarks.library_faults import experiments
from mathsetu.errors import InputError
from mathsetu.library import Library, add_posts, build_library, remove_posts
from mathsetu.library.lock import writing_alone
from mathsetu.recipes import load_recipe
from mathsetu.records import Post
from mathsetu.retrieval import formula_index
from tests.processes import processes_with

REPOSITORY = Path(__file__).parents[2]
HOLDS_THE_LOCK = """
import fcntl, sys
file = open(sys.argv[1], "w")
fcntl.lockf(file, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""


class Stopped(Exception):
    """Stands for Ctrl-C."""


def stop(*_: object) -> None:
    raise Stopped


def stopping_at(part: str) -> object:
    def progress(what: str, number: int) -> None:
        if what == part:
            raise Stopped

    return progress


def never() -> Iterator[Post]:
    raise AssertionError("the posts are read again")
    yield


def content(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
@pytest.mark.thorough
def test_a_killed_build_or_addition_leaves_the_old_library_or_the_new_one() -> None:
    """The benchmark itself runs the full version, with twenty kills each."""
    arguments = ["--kills", "3", "--posts", "40"]
    result = subprocess.run(
        [sys.executable, "-m", "benchmarks.library_crash", *arguments],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert sum(int(kills) for kills in re.findall(r"(\d+) kills", result.stdout)) == 6
    assert "two searching processes: good" in result.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
@pytest.mark.exhaustive
@pytest.mark.thorough
def test_a_fault_at_any_file_operation_leaves_the_old_library_or_the_new_one() -> None:
    """The benchmark itself runs the full version, with a thousand cases."""
    arguments = ["--kills", "60", "--errors", "60", "--losses", "60", "--recipe", "msm-bm25"]
    result = subprocess.run(
        [sys.executable, "-m", "benchmarks.library_faults", *arguments],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert "180 cases, 0 broken" in result.stdout


@pytest.mark.exhaustive
@pytest.mark.thorough
def test_a_simulated_loss_of_power_breaks_libraries_that_are_not_synced(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The simulation must be able to find this fault."""
    monkeypatch.setattr("mathsetu.library.build.sync_tree", lambda folder: None)
    [over_old] = islice(experiments(tmp_path, load_recipe("msm-bm25")), 1, 2)
    chance = random.Random(1)
    for moment in range(over_old.operations // 2, over_old.operations):
        over_old.lose_power(moment, chance)
    assert over_old.seen["loss: BROKEN"]


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
@pytest.mark.thorough
def test_a_killed_build_leaves_no_process_behind(tmp_path: Path) -> None:
    posts = tmp_path / "posts.jsonl"
    lines = (json.dumps({"id": str(n), "body": f"Let $x^{n}=y$."}) for n in range(20_000))
    posts.write_text("\n".join(lines), encoding="utf-8")
    build = subprocess.Popen(
        [sys.executable, "-m", "mathsetu", "index", str(tmp_path / "library"), str(posts),
         "--recipe", "formula", "--processes", "3"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "MATHSETU_TEST": str(tmp_path)},
    )  # fmt: skip
    mark = f"MATHSETU_TEST={tmp_path}"
    end = time.monotonic() + 30
    while len(processes_with(mark)) < 4 and time.monotonic() < end:
        assert build.poll() is None
        time.sleep(0.02)
    build.kill()
    build.wait(10)
    end = time.monotonic() + 5
    while processes_with(mark) and time.monotonic() < end:
        time.sleep(0.02)
    assert processes_with(mark) == set()


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("part", "begun_again"),
    [
        ("reading", ["reading", "indexing", "formulas", "passages"]),
        ("indexing", ["indexing", "formulas", "passages"]),
        ("formulas", ["indexing", "formulas", "passages"]),
        ("passages", ["indexing", "formulas", "passages"]),
    ],
)
def test_an_interrupted_build_resumes_where_it_stopped(
    tmp_path: Path, posts: list[Post], part: str, begun_again: list[str]
) -> None:
    target, fresh = tmp_path / "target", tmp_path / "fresh"
    with pytest.raises(Stopped):
        build_library(
            target,
            posts,
            fingerprint="same",
            processes=1,
            progress=stopping_at(part),  # type: ignore[arg-type]
        )
    with pytest.raises(InputError, match=r"first build is not complete|no such library"):
        Library(target)
    done: dict[str, int] = {}
    source = posts if part == "reading" else never()
    build_library(target, source, fingerprint="same", processes=1, progress=done.__setitem__)
    assert list(done) == begun_again
    build_library(fresh, posts, processes=1)
    assert content(target) == content(fresh)


def test_a_build_that_is_stopped_while_sorting_formulas_can_be_resumed(
    tmp_path: Path, posts: list[Post], monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "target"
    build = partial(build_library, target, posts, load_recipe("formula"), fingerprint="same")
    with monkeypatch.context() as patched:
        patched.setattr(formula_index, "merge_postings", stop)
        with pytest.raises(Stopped):
            build(processes=1)
    assert list(target.rglob("*.unordered"))
    build(processes=1)
    assert Library(target).search("$x^2$")
    assert not list(target.rglob("*.unordered"))


@pytest.mark.thorough
@pytest.mark.parametrize(
    "change",
    [
        {"fingerprint": "other"},
        {"fingerprint": ""},
        {"collection": "other"},
        {"recipe": load_recipe("default", ["parts.words.formula_tokens=0"])},
    ],
)
def test_an_interrupted_build_with_other_input_or_settings_is_discarded(
    tmp_path: Path, posts: list[Post], change: dict[str, object]
) -> None:
    target = tmp_path / "library"
    options: dict[str, object] = {"fingerprint": "same", "processes": 1}
    with pytest.raises(Stopped):
        build_library(target, posts, **options, progress=stopping_at("formulas"))  # type: ignore[arg-type]
    build_library(target, posts[:2], **{**options, **change})  # type: ignore[arg-type]
    assert len(Library(target)) == 2


def test_a_second_writer_is_refused_and_changes_nothing(library: Path, posts: list[Post]) -> None:
    before = content(library)
    with writing_alone(library):
        for work in (
            lambda: build_library(library, posts, processes=1),
            lambda: add_posts(library, posts, processes=1),
            lambda: remove_posts(library, ["circle"]),
        ):
            with pytest.raises(InputError, match="is locked by another writer; wait"):
                work()
        assert Library(library).search("circle")
    assert content(library) == before


@pytest.mark.thorough
def test_a_writer_in_another_process_holds_the_lock_until_it_ends(
    library: Path, posts: list[Post]
) -> None:
    pytest.importorskip("fcntl")
    command = [sys.executable, "-c", HOLDS_THE_LOCK, str(library / ".lock")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        with pytest.raises(InputError, match="is locked by another writer"):
            build_library(library, posts, processes=1)
        other.kill()
    build_library(library, posts[:1], processes=1)
    assert len(Library(library)) == 1
