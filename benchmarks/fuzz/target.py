"""Base class of targets: a target makes inputs, runs the program on each, and checks the result."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks.fuzz.mutate import Mutator, as_bytes
from mathsetu.errors import MathSetuError


class WrongAnswer(Exception):
    """The program gave an answer that cannot be right.

    ``rule`` is the rule that was broken; findings with the same rule are one fault.
    """

    def __init__(self, rule: str, detail: str = "") -> None:
        super().__init__(f"{rule}: {detail[:2_000]}" if detail else rule)
        self.rule = rule


def expect(holds: bool, rule: str, detail: object = "") -> None:
    """Raise `WrongAnswer` unless a condition holds."""
    if not holds:
        raise WrongAnswer(rule, str(detail))


def expect_equal(found: object, expected: object, rule: str) -> None:
    """Raise `WrongAnswer` unless two values are equal."""
    if found != expected:
        raise WrongAnswer(rule, f"{found!r:.900} instead of {expected!r:.900}")


def expect_refusal(error: MathSetuError) -> None:
    """Check that a refusal has a message; the interfaces reduce what it quotes to one line."""
    expect(bool(str(error).strip()), "a refusal says what is wrong", type(error).__name__)


class Target:
    """One interface of the program.

    Attributes:
        name: The name of the target on the command line.
        tokens: The tokens of its grammar.
        floor: A case that takes fewer processor seconds than this is never a hang: bounded work may
            take this long even for a small input.
    """

    name = ""
    tokens: Sequence[str] = ()
    floor = 0.1

    def open(self, place: Path) -> None:
        """Prepare what all cases need; ``place`` is a folder that all workers of a run share."""

    def close(self) -> None:
        """Release what `open` acquired."""

    def seeds(self) -> list[bytes]:
        """Return the initial inputs; each is also run unchanged."""
        raise NotImplementedError

    def make(self, mutator: Mutator) -> bytes:
        """Make a new input."""
        return as_bytes(mutator.text())

    def kind(self, data: bytes) -> str:
        """The kind of an input: only the times of inputs of one kind are compared."""
        return ""

    def size(self, data: bytes) -> int:
        """The amount of data in an input."""
        return len(data)

    def check(self, data: bytes) -> None:
        """Run the program on an input.

        Raises:
            WrongAnswer: If the answer cannot be right. Any other exception is a finding too; only
                allowed refusals are caught here.
        """
        raise NotImplementedError
