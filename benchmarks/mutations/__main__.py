"""Mutation testing: changes the code, and counts how many of the faults the tests detect.

    python -m benchmarks.mutations --faults
    python -m benchmarks.mutations [FOLDER ...] [--number 40] [--seed 0] [--limit 30]

``--faults`` repeats the hand-written faults that once passed all tests (``faults.py``). Otherwise a
random sample of mutants is drawn from each folder; each is tested with the quick tests of the
folder that reach the changed line. The table has the numbers of mutants drawn, killed (a test
failed or timed out), survived, and reached by no test; survivors are listed for review. Mutants
that do not change behaviour are listed in ``equivalent.tsv`` with the reason, and counted
separately.
"""

from __future__ import annotations

import argparse
import ast
import csv
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path

from benchmarks.mutations.faults import FAULTS
from benchmarks.mutations.operators import Mutation, mutated, mutations
from benchmarks.mutations.runner import KILLED, PACKAGE, ROOT, SURVIVED, preload, run_tests

#: The folders (or files) of the package, and the tests of each.
FOLDERS: dict[str, tuple[str, ...]] = {
    "formulas/matching": ("tests/formulas/test_matching.py", "tests/formulas/test_similarity.py"),
    "retrieval": ("tests/retrieval",),
    "ranking": ("tests/ranking", "tests/library/test_stages.py"),
    "library": ("tests/library",),
    "evaluation": ("tests/evaluation",),
    "languages/mask.py": ("tests/languages/test_mask.py",),
    "collections": ("tests/collections",),
}
EQUIVALENT = Path(__file__).with_name("equivalent.tsv")
_UNREACHED, _CHANGES_NOTHING = "not reached", "changes nothing"
# A line that more tests reach is tested with a sample of this size.
_MAX_TESTS = 150


@dataclass(frozen=True)
class Mutant:
    """One change of one file."""

    path: Path
    mutation: Mutation

    @property
    def line(self) -> str:
        """The source text of the changed line."""
        return self.path.read_text(encoding="utf-8").splitlines()[self.mutation.line - 1].strip()

    @property
    def key(self) -> tuple[str, str, str]:
        """Identifies the change even if line numbers change."""
        return self.path.relative_to(PACKAGE).as_posix(), self.line, self.mutation.description


class Reached:
    """The tests that reach each line, from a run with coverage."""

    def __init__(self, tests: Sequence[str], sources: Sequence[Path], data: Path) -> None:
        command = [sys.executable, "-m", "pytest", "-q", "-m", "not thorough",
                   "-p", "no:schemathesis", "-p", "no:xdist", "-p", "no:cacheprovider",
                   "--cov=mathsetu", "--cov-context=test", "--cov-report=",
                   *tests, *map(str, sources)]  # fmt: skip
        environment = {**os.environ, "COVERAGE_FILE": str(data)}
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"tests fail without any change:\n{done.stdout[-3000:]}")
        self._database = sqlite3.connect(data)

    def tests(self, path: Path, line: int) -> list[str]:
        """The tests that reach a line; for a line executed at import, those that reach its file.

        For a file that is only executed at import, such as a table, those of its folder.
        """
        found = self._contexts(path, line)
        places: list[tuple[Path, int | None]] = [(path, line), (path, None), (path.parent, None)]
        every = (set(filter(None, self._contexts(*place))) for place in places if found)
        names = next(filter(None, every), set())
        return self._some({name.rsplit("|", 1)[0] for name in names}, path)

    @staticmethod
    def _some(names: set[str], path: Path) -> list[str]:
        """Sort tests; of very many, keep those of the module's test file and a regular sample."""
        own = {name for name in names if f"/test_{path.stem}.py" in name}
        step = ceil(len(names) / _MAX_TESTS) or 1
        return sorted(own) + sorted(names - own)[::step]

    def _contexts(self, path: Path, line: int | None) -> set[str]:
        """The tests of a line; branch coverage stores arcs between lines."""
        query = (
            "SELECT DISTINCT context.context FROM arc JOIN file ON file.id = arc.file_id "
            "JOIN context ON context.id = arc.context_id WHERE file.path GLOB ?"
        )
        values: tuple[object, ...] = (f"{path}/*" if path.is_dir() else str(path),)
        if line is not None:
            query += " AND (arc.fromno = ? OR arc.tono = ?)"
            values += (line, line)
        return {row[0] for row in self._database.execute(query, values)}


def sources(folder: str) -> list[Path]:
    """The modules of a folder that can be tested here; modules with torch need an extra."""
    place = PACKAGE / folder
    found = [place] if place.is_file() else sorted(place.rglob("*.py"))
    return [path for path in found if "import torch" not in path.read_text(encoding="utf-8")]


def known_equivalents() -> set[tuple[str, str, str]]:
    """The changes that were reviewed and have no observable effect."""
    with EQUIVALENT.open(encoding="utf-8", newline="") as file:
        rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return {(row[0], row[1], row[2]) for row in rows if row and not row[0].startswith("#")}


def drawn(folder: str, number: int, seed: int) -> list[Mutant]:
    """Draw the mutants to try, in order of files and lines."""
    every = [
        Mutant(path, mutation)
        for path in sources(folder)
        for mutation in mutations(path.read_text(encoding="utf-8"))
    ]
    chosen = random.Random(f"{seed} {folder}").sample(range(len(every)), min(number, len(every)))
    return [every[place] for place in sorted(chosen)]


def line_of(mutant: Mutant, reached: Reached) -> list[str]:
    """The tests of the changed statement; a long statement is covered by its first line."""
    tests = reached.tests(mutant.path, mutant.mutation.line)
    if tests:
        return tests
    tree = ast.parse(mutant.path.read_text(encoding="utf-8"))
    around = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.stmt)
        and node.lineno <= mutant.mutation.line <= (node.end_lineno or 0)
        and not isinstance(node, ast.FunctionDef | ast.ClassDef | ast.If | ast.For | ast.With)
    ]
    # A condition over several lines is covered where it begins, not at the line of `if`.
    conditions = [
        node.test.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.If | ast.While) and node.lineno == mutant.mutation.line
    ]
    lines = sorted({*(node.lineno for node in around), *conditions}, reverse=True)
    return next((found for line in lines if (found := reached.tests(mutant.path, line))), [])


def try_folder(folder: str, number: int, seed: int, limit: float) -> dict[str, list[Mutant]]:
    """Try the mutants of a folder; return them by outcome."""
    results: dict[str, list[Mutant]] = {
        name: [] for name in (KILLED, SURVIVED, _UNREACHED, _CHANGES_NOTHING)
    }
    nothing = known_equivalents()
    with tempfile.TemporaryDirectory() as place:
        reached = Reached(FOLDERS[folder], sources(folder), Path(place) / "coverage")
        for mutant in drawn(folder, number, seed):
            if mutant.key in nothing:
                results[_CHANGES_NOTHING].append(mutant)
                continue
            tests = line_of(mutant, reached)
            if not tests:
                results[_UNREACHED].append(mutant)
                continue
            tree = mutated(mutant.path.read_text(encoding="utf-8"), mutant.mutation)
            code = compile(tree, mutant.path, "exec")
            ended = run_tests(mutant.path, code, tests, limit)
            results[SURVIVED if ended == SURVIVED else KILLED].append(mutant)
            print(
                ".FT"[(ended != SURVIVED) + (ended not in (SURVIVED, KILLED))], end="", flush=True
            )
    print()
    return results


def report(folder: str, results: dict[str, list[Mutant]]) -> str:
    """Format one line of the table."""
    counts = {name: len(found) for name, found in results.items()}
    telling = counts[KILLED] + counts[SURVIVED] + counts[_UNREACHED]
    share = f"{counts[KILLED] / telling:.0%}" if telling else "-"
    cells = (sum(counts.values()), *counts.values(), share)
    return f"{folder:<20}" + "".join(f"{cell!s:>17}" for cell in cells)


def try_faults(limit: float) -> int:
    """Try the hand-written faults; return how many passed."""
    passed = 0
    for fault in FAULTS:
        path = PACKAGE / fault.path
        source = path.read_text(encoding="utf-8")
        if source.count(fault.before) != 1:
            raise SystemExit(f"{fault.path}: {fault.name!r} cannot be made any more; adapt it")
        if run_tests(path, compile(source, path, "exec"), fault.tests, limit) != SURVIVED:
            raise SystemExit(f"{', '.join(fault.tests)}: fail without any change")
        code = compile(source.replace(fault.before, fault.after), path, "exec")
        ended = run_tests(path, code, fault.tests, limit)
        passed += ended == SURVIVED
        print(f"{ended:<10} {fault.name}", flush=True)
    return passed


def main(arguments: Iterable[str] | None = None) -> int:
    """Run the tests of mutants; return 1 if a hand-written fault passes."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("folders", nargs="*", metavar="FOLDER", help=f"one of {', '.join(FOLDERS)}")
    parser.add_argument("--faults", action="store_true", help="try the faults that once passed")
    parser.add_argument("--number", type=int, default=40, help="changes for each folder")
    parser.add_argument("--seed", type=int, default=0, help="draws the changes")
    parser.add_argument(
        "--limit", type=float, default=30, help="seconds of processor time for each change"
    )
    options = parser.parse_args(None if arguments is None else list(arguments))
    unknown = set(options.folders) - set(FOLDERS)
    if unknown:
        parser.error(f"unknown folder {', '.join(sorted(unknown))}")
    preload()
    os.chdir(ROOT)
    if options.faults:
        return int(try_faults(options.limit) > 0)
    heads = ("drawn", KILLED, SURVIVED, _UNREACHED, _CHANGES_NOTHING, "share killed")
    lines = [f"{'folder':<20}" + "".join(f"{head:>17}" for head in heads)]
    left: list[str] = []
    for folder in options.folders or FOLDERS:
        results = try_folder(folder, options.number, options.seed, options.limit)
        lines.append(report(folder, results))
        print(lines[0], lines[-1], sep="\n", flush=True)
        for name in (SURVIVED, _UNREACHED):
            for mutant in results[name]:
                path, line, description = mutant.key
                left.append(f"{name}: {path}:{mutant.mutation.line}: {description}: {line}")
                print(left[-1], flush=True)
    print("\n" + "\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
