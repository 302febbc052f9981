"""Worker processes that end when the process that started them does, however it ends."""

from __future__ import annotations

import os
from collections.abc import Callable
from threading import Thread
from time import sleep


def end_with_parent(stop: Callable[[], None] | None = None, patience: float = 0.0) -> None:
    """End this process soon after its parent; in a process that has none, do nothing.

    A parent that is killed cannot end its workers itself, and they would go on forever.

    Args:
        stop: Called when the parent is gone, to ask for an orderly end.
        patience: Seconds that an orderly end may take before the process is ended as it is.
    """
    # Slow to import, and a search needs none of it.
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
