"""What is fuzzed: a target makes inputs, gives each to the program, and judges what comes back."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks.fuzz.mutate import Mutator, as_bytes
from mathsetu.errors import MathSetuError


class WrongAnswer(Exception):
    """The program answered, and the answer cannot be right.

    ``rule`` names what must hold; findings that break the same rule are counted as one.
    """

    def __init__(self, rule: str, detail: str = "") -> None:
        super().__init__(f"{rule}: {detail[:2_000]}" if detail else rule)
        self.rule = rule


def expect(holds: bool, rule: str, detail: object = "") -> None:
    """Raise `WrongAnswer` unless something holds."""
    if not holds:
        raise WrongAnswer(rule, str(detail))


def expect_equal(found: object, expected: object, rule: str) -> None:
    """Raise `WrongAnswer` unless two values are the same."""
    if found != expected:
        raise WrongAnswer(rule, f"{found!r:.900} instead of {expected!r:.900}")


def expect_refusal(error: MathSetuError) -> None:
    """A refusal must say what is wrong; the interfaces make one line of what it quotes."""
    expect(bool(str(error).strip()), "a refusal says what is wrong", type(error).__name__)


class Target:
    """One interface of the program.

    Attributes:
        name: How the target is called on the command line.
        tokens: The words of its grammar.
        floor: Seconds of processor time that are never called a hang: work that is bounded may
            take them, however small the input.
    """

    name = ""
    tokens: Sequence[str] = ()
    floor = 0.1

    def open(self, place: Path) -> None:
        """Prepare what all cases need; ``place`` is a folder that the workers of a run share."""

    def close(self) -> None:
        """Give back what `open` took."""

    def seeds(self) -> list[bytes]:
        """Inputs to begin with; each is tried as it is, too."""
        raise NotImplementedError

    def make(self, mutator: Mutator) -> bytes:
        """A new input."""
        return as_bytes(mutator.text())

    def kind(self, data: bytes) -> str:
        """What an input asks for: only inputs of one kind are compared in time."""
        return ""

    def size(self, data: bytes) -> int:
        """How much there is to read in an input."""
        return len(data)

    def check(self, data: bytes) -> None:
        """Give an input to the program.

        Raises:
            WrongAnswer: When the answer cannot be right. Every other exception is a finding too:
                refusals that are allowed are caught here.
        """
        raise NotImplementedError
