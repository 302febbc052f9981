"""Shared code of verbs: former names of options, and the order of arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from mathsetu.cli.output import say
from mathsetu.places import is_address

#: Sources of the verbs that read posts which are not file names.
SAMPLER, STANDARD_INPUT = "sampler", "-"


class Verb(click.Command):
    """A command that still accepts the former names of its options, with a hint.

    Args:
        former: Former name of an option to its present name.
    """

    def __init__(
        self, *arguments: Any, former: Mapping[str, str] | None = None, **named: Any
    ) -> None:
        super().__init__(*arguments, **named)
        self._former = former or {}

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments, replacing former names of options."""
        end = args.index("--") if "--" in args else len(args)
        return super().parse_args(ctx, [*map(self._present, args[:end]), *args[end:]])

    def _present(self, argument: str) -> str:
        name, equals, value = argument.partition("=")
        present = self._former.get(name)
        if present is None:
            return argument
        hint(f"{name} is now called {present}; the next version will not accept the old name")
        return f"{present}{equals}{value}"


def hint(text: str) -> None:
    """Print a hint about the present spelling to standard error."""
    say(f"hint: {text}", err=True)


def target_first(
    first: str, others: tuple[str, ...], is_ours: Callable[[Path], bool], usage: str
) -> tuple[str, tuple[str, ...]]:
    """Find which argument is the target of a verb, and which are the sources.

    The target comes first. In earlier versions it came last, which is still accepted if it is
    unambiguous: the first argument cannot be the target, and the last one can.

    Args:
        first: The first argument.
        others: The arguments after it, at least one.
        is_ours: Whether a folder that is not empty was made by the verb.
        usage: The present order of arguments, for the hint.
    """
    *middle, last = others
    if _can_be_made(first, is_ours) or not _can_be_made(last, is_ours):
        return first, others
    hint(f"read as {usage}; use this order, because the next version accepts no other")
    return last, (first, *middle)


def _can_be_made(name: str, is_ours: Callable[[Path], bool]) -> bool:
    """Whether a place is free for a target: nothing else exists there."""
    if name in (SAMPLER, STANDARD_INPUT):
        return False
    place = Path(name)
    if is_address(name) or not place.exists():
        return True
    return place.is_dir() and (is_ours(place) or not any(place.iterdir()))
