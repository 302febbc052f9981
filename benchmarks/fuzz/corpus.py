"""Stores inputs: those that reach new lines, those that failed, and regression cases."""

from __future__ import annotations

import hashlib
from pathlib import Path

from benchmarks.fuzz.judge import Finding

_REPOSITORY = Path(__file__).parent.parent.parent
#: Small inputs that failed once; a test replays them.
CASES = _REPOSITORY / "tests" / "fuzz" / "cases"
#: The default folder for the findings of a run.
DEFAULT = _REPOSITORY / ".fuzz"
#: Longer inputs are not kept: they are slow, and hardly ever reach more lines than shorter ones.
LONGEST_SEED = 4_000
_MAX_SEEDS = 2_000


class Corpus:
    """A folder with ``seeds`` and ``findings``, each with a folder per target."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def seeds(self, target: str) -> list[bytes]:
        """Return the inputs that earlier runs kept for a target."""
        return _inputs(self.folder / "seeds" / target)[:_MAX_SEEDS]

    def keep(self, target: str, data: bytes) -> None:
        """Keep an input for later runs."""
        folder = self.folder / "seeds" / target
        folder.mkdir(parents=True, exist_ok=True)
        (folder / hashlib.sha256(data).hexdigest()[:16]).write_bytes(data)

    def store(self, finding: Finding) -> Path:
        """Store a finding: its input, and a report with the command that reproduces it."""
        folder = self.folder / "findings" / finding.target
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{finding.name}.input"
        path.write_bytes(finding.data)
        report = f"{finding.outcome}: {finding.signature}\n{replay_command(path)}\n\n"
        path.with_suffix(".txt").write_text(
            report + finding.report + "\n", encoding="utf-8", errors="backslashreplace"
        )
        return path


def regressions(target: str) -> list[bytes]:
    """Return the inputs of a target that failed once and must not fail again."""
    return _inputs(CASES / target)


def replay_command(path: Path) -> str:
    """The command that runs a stored input again; the folder of the input names its target."""
    return f"python -m benchmarks.fuzz --replay {path}"


def _inputs(folder: Path) -> list[bytes]:
    paths = sorted(folder.iterdir()) if folder.is_dir() else []
    return [path.read_bytes() for path in paths if path.suffix != ".txt"]
