"""Measurements that are too slow or too particular for the tests."""

from __future__ import annotations

import sys
from types import TracebackType

_OURS = ("benchmarks", "mathsetu", "tests")


def tell_missing_package(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """Say in one line which package a benchmark needs and which environments have it.

    Args:
        kind: The kind of what went wrong; anything but a missing package is shown as always.
        error: What went wrong.
        trace: Where.
    """
    package = (getattr(error, "name", None) or "").partition(".")[0]
    if not isinstance(error, ModuleNotFoundError) or not package or package in _OURS:
        sys.__excepthook__(kind, error, trace)
        return
    print(
        f"the package {package!r} is missing: benchmarks run in the development environment, which "
        "'make benchmarks' sets up in .venv; for those that use torch, 'make .venv-neural/all' "
        "sets up .venv-neural",
        file=sys.stderr,
    )


# While `python -m benchmarks.NAME` looks for NAME, the program is called so; a test that imports a
# benchmark keeps its own way of showing errors.
if sys.argv[:1] == ["-m"]:
    sys.excepthook = tell_missing_package
