"""Ends worker processes when their parent process ends, for whatever reason."""

from __future__ import annotations

import os
from collections.abc import Callable
from threading import Thread
from time import sleep


def end_with_parent(stop: Callable[[], None] | None = None, patience: float = 0.0) -> None:
    """End this process soon after its parent; do nothing in a process without a parent.

    A killed parent cannot end its workers, which would otherwise run forever.

    Args:
        stop: Called when the parent has ended, to start an orderly shutdown.
        patience: Seconds that the shutdown may take before the process exits at once.
    """
    # Imported here: the import is slow, and a search does not need it.
    from multiprocessing import parent_process

    parent = parent_process()
    if parent is None:
        return

    def watch() -> None:
        parent.join()
        try:
            if stop is not None:
                stop()
                sleep(patience)
        finally:
            os._exit(1)

    Thread(target=watch, name="mathsetu-parent", daemon=True).start()
