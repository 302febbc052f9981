"""Benchmarks: measurements that are too slow or too specialised for the tests."""

from __future__ import annotations

import sys
from types import TracebackType

_OURS = ("benchmarks", "mathsetu", "tests")


def tell_missing_package(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """Print in one line which package a benchmark needs, and which environments have it.

    Args:
        kind: The type of the exception; anything but a missing package is handled as usual.
        error: The exception.
        trace: Its traceback.
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


# While `python -m benchmarks.NAME` looks for NAME, argv[0] is "-m". A test that imports a benchmark
# keeps its own exception hook.
if sys.argv[:1] == ["-m"]:
    sys.excepthook = tell_missing_package
