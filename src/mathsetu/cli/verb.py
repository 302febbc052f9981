"""Shared code of verbs: former names of options, and the order of arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from mathsetu.cli.output import say
from mathsetu.places import is_address

#: What the verbs that read posts take for sources although no file has that name.
SAMPLER, STANDARD_INPUT = "sampler", "-"


class Verb(click.Command):
    """A command that still takes the former names of its options, and says the present ones.

    Args:
        former: Former name of an option to its present one.
    """

    def __init__(
        self, *arguments: Any, former: Mapping[str, str] | None = None, **named: Any
    ) -> None:
        super().__init__(*arguments, **named)
        self._former = former or {}

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments, former names as present ones."""
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
    """Say on standard error what to write instead from now on."""
    say(f"hint: {text}", err=True)


def target_first(
    first: str, others: tuple[str, ...], is_ours: Callable[[Path], bool], usage: str
) -> tuple[str, tuple[str, ...]]:
    """Which argument is what a verb makes, and which are the sources.

    What is made comes first. It came last in earlier versions, which is still understood where no
    doubt is possible: the first argument cannot be the target, and the last can.

    Args:
        first: The first argument.
        others: Those after it, at least one.
        is_ours: Whether a folder that is not empty is one that the verb made before.
        usage: The order of today, for the hint.
    """
    *middle, last = others
    if _can_be_made(first, is_ours) or not _can_be_made(last, is_ours):
        return first, others
    hint(f"read as {usage}; use this order, because the next version accepts no other")
    return last, (first, *middle)


def _can_be_made(name: str, is_ours: Callable[[Path], bool]) -> bool:
    """Whether something may be made in this place: nothing else is there."""
    if name in (SAMPLER, STANDARD_INPUT):
        return False
    place = Path(name)
    if is_address(name) or not place.exists():
        return True
    return place.is_dir() and (is_ours(place) or not any(place.iterdir()))
