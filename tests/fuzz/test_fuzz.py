"""The fuzzer itself: cases are reproducible, and failures are found and counted."""

import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from benchmarks.fuzz.__main__ import table
from benchmarks.fuzz.corpus import CASES, Corpus
from benchmarks.fuzz.coverage import Coverage
from benchmarks.fuzz.judge import Finding, Judge, TargetCounts
from benchmarks.fuzz.minimise import minimise
from benchmarks.fuzz.mutate import LONGEST, Mutator, as_bytes, as_text
from benchmarks.fuzz.supervisor import Result
from benchmarks.fuzz.target import Target, WrongAnswer
from benchmarks.fuzz.targets import TARGETS
from benchmarks.fuzz.worker import Options, Session
from mathsetu.collections.formats import FORMATS
from mathsetu.formulas import parse_latex

ROOT = Path(__file__).parent.parent.parent
# The folder for the files of a run: in memory if possible.
SHARED = Path("/dev/shm") if Path("/dev/shm").is_dir() else Path(tempfile.gettempdir())
# These targets start an application or build a library.
SLOW = ("http", "mcp", "library")
QUICK = [name for name in TARGETS if name not in SLOW]
FAILED_ONCE = [
    pytest.param(
        path,
        id=f"{path.parent.name}/{path.name}",
        marks=[pytest.mark.thorough] if path.parent.name in SLOW else [],
    )
    for path in sorted(CASES.glob("*/*"))
]


class Odd(Target):
    """Fails in every way that counts, depending on its input."""

    name = "odd"
    floor = 0.002

    def seeds(self) -> list[bytes]:
        return [b"good"]

    def check(self, data: bytes) -> None:
        if b"!" in data:
            raise KeyError("!")
        if b"?" in data:
            raise WrongAnswer("no question", as_text(data))
        if b"z" in data:
            end = time.process_time() + 0.05
            while time.process_time() < end:
                pass


def session(name: str, place: Path, seed: int = 1) -> Session:
    return Session(TARGETS[name](), Options(seed, place / "corpus", place))


def test_every_format_is_fuzzed() -> None:
    files = [name for name in FORMATS if not name.startswith("ir_datasets")]
    assert {f"read-{name}" for name in files} <= set(TARGETS)


@pytest.mark.thorough
@pytest.mark.parametrize("name", QUICK)
def test_cases_are_reproducible_and_a_few_of_each_target_pass(name: str, tmp_path: Path) -> None:
    first, second = session(name, tmp_path), session(name, tmp_path)
    numbers = range(len(first.seeds), len(first.seeds) + 5)
    made = [first.case(number) for number in numbers]
    assert made == [second.case(number) for number in numbers]
    assert len(set(made)) > 2
    assert [first.judge.fault(data) for data in [first.seeds[0], *made]] == [None] * 6


@pytest.mark.thorough
def test_another_seed_makes_other_cases(tmp_path: Path) -> None:
    one, other = session("latex", tmp_path, 1), session("latex", tmp_path, 2)
    assert [one.case(9_000 + n) for n in range(9)] != [other.case(9_000 + n) for n in range(9)]


@pytest.mark.thorough
@pytest.mark.parametrize("path", FAILED_ONCE)
def test_inputs_that_failed_once_do_not_fail_again(path: Path, tmp_path: Path) -> None:
    target = TARGETS[path.parent.name]()
    target.open(tmp_path)
    try:
        assert Judge(target).fault(path.read_bytes()) is None
    finally:
        target.close()


@pytest.mark.parametrize("data", [b"a\xff\xfe", as_bytes("\ud800x"), "संख्या".encode(), b""])
def test_bytes_are_converted_to_text_and_back_unless_they_are_not_utf_8(data: bytes) -> None:
    text = as_text(data)
    assert as_bytes(text) == data or "\udcff" in text


def test_mutated_inputs_are_limited_in_length_and_include_repetitions() -> None:
    made = [Mutator(random.Random(n), [b"abc \\frac{1}{2}"], ["{"]).text() for n in range(2_000)]
    assert max(map(len, made)) > 1_000
    assert all(len(text) <= LONGEST for text in made)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("data", "outcome", "signature"),
    [
        (b"a!", "exception", "KeyError in test_fuzz.py"),
        (b"a?", "wrong answer", "no question"),
        (b"az", "hang", "hang"),
    ],
)
def test_each_kind_of_failure_is_named(data: bytes, outcome: str, signature: str) -> None:
    finding = Judge(Odd()).judge(data)
    assert finding is not None
    assert finding.outcome == outcome
    assert finding.signature.startswith(signature)


def test_a_good_case_or_a_slow_case_of_a_slow_kind_is_not_a_finding() -> None:
    judge = Judge(Odd())
    assert judge.judge(b"good") is None
    for _ in range(20):  # the time of other cases of this kind and size
        judge.note_time(b"zz", 0.02)
    assert judge.judge(b"az") is None


def test_a_finding_is_minimised() -> None:
    judge = Judge(Odd())
    finding = judge.judge(b"one line\nanother! line\nand more\n" * 9)
    assert finding is not None
    assert judge.smaller(finding, seconds=5).data == b"!"


def test_minimising_works_on_bytes_that_are_not_text() -> None:
    assert minimise(b"ab\xff\xfecd", lambda data: b"\xff" in data, 5) == b"\xff"


def test_coverage_recognises_inputs_that_reach_new_lines() -> None:
    coverage = Coverage()
    assert coverage.is_new(lambda: parse_latex("x"))
    assert not coverage.is_new(lambda: parse_latex("x"))
    assert coverage.is_new(lambda: parse_latex("\\begin{matrix}a&b\\end{matrix}"))


def test_findings_and_seeds_are_stored(tmp_path: Path) -> None:
    corpus = Corpus(tmp_path)
    corpus.keep("latex", b"x^2")
    assert corpus.seeds("latex") == [b"x^2"]
    path = corpus.store(Finding("latex", "exception", "KeyError", b"\xff", "trace\ud800"))
    assert path.read_bytes() == b"\xff"
    assert f"--replay {path}" in path.with_suffix(".txt").read_text(encoding="utf-8")


def test_the_table_adds_up_all_counts() -> None:
    tally = TargetCounts("latex", 1_000, {"hang": 2, "exception": 1}, 4.0, (0.05, 120), 3)
    tally.add(TargetCounts("latex", 500, {"hang": 1}, 1.0, (0.01, 9), 0))
    lines = table(Result({"latex": tally}), wall=10.0).splitlines()
    assert lines[1].split() == [
        "latex",
        "1,500",
        "1",
        "3",
        "0",
        "0",
        "300",
        "50",
        "ms",
        "(120",
        "B)",
    ]
    assert lines[-1].split()[:6] == ["all", "1,500", "1", "3", "0", "0"]


def fuzz(*arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "benchmarks.fuzz", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> "subprocess.CompletedProcess[str]":
    """A hundred cases of every target, the same ones each time."""
    corpus = tmp_path_factory.mktemp("corpus")
    cases = str(100 * len(TARGETS))
    return fuzz("--cases", cases, "--seconds", "200", "--seed", "1", "--corpus", str(corpus))


@pytest.mark.exhaustive
@pytest.mark.thorough
def test_a_hundred_cases_of_every_target_find_nothing(
    run: "subprocess.CompletedProcess[str]",
) -> None:
    assert run.returncode == 0, run.stdout + run.stderr
    counts = {line.split()[0]: line.split()[1] for line in run.stdout.splitlines() if line}
    assert all(int(counts[name].replace(",", "")) >= 100 for name in TARGETS)


@pytest.mark.thorough
def test_a_stored_input_is_replayed(tmp_path: Path) -> None:
    path = Corpus(tmp_path).store(Finding("notation", "exception", "x", b"[V!x,a[N!2]]", ""))
    done = fuzz("--replay", str(path))
    assert done.returncode == 0, done.stderr
    assert "nothing went wrong" in done.stdout
    unknown = fuzz("--targets", "nothing")
    assert unknown.returncode == 2
    assert "unknown target 'nothing'" in unknown.stderr


@pytest.mark.thorough
@pytest.mark.parametrize("ended_with", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_prints_its_table_and_leaves_no_files(
    ended_with: signal.Signals, tmp_path: Path
) -> None:
    arguments = ["--targets", "notation", "--corpus", str(tmp_path / "corpus")]
    command = [sys.executable, "-m", "benchmarks.fuzz", *arguments]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("seed")
        time.sleep(3)
        files = f"mathsetu-fuzz-{process.pid}-*"
        assert list(SHARED.glob(files))
        process.send_signal(ended_with)
        rest = process.stdout.read()
        assert process.wait(30) == 0
    assert "interrupted\ntarget" in rest
    assert "notation" in rest
    assert not list(SHARED.glob(files))
