"""Counters of a server, in the format of Prometheus.

A server may have several processes, and a request for the metrics reaches only one of them. So
each process regularly writes its counts into a shared folder, and the one that answers adds them
up. The counts of ended processes stay in the sum.
"""

from __future__ import annotations

import json
import os
import sys
from bisect import bisect_left
from collections import Counter
from pathlib import Path
from threading import Lock

# Upper bounds of the buckets of a histogram, in seconds.
_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Metrics:
    """The counters of one process.

    >>> metrics = Metrics()
    >>> metrics.observe("GET", "/v1/search", 200, 0.02)
    >>> 'mathsetu_requests_total{method="GET",path="/v1/search",status="200"} 1' in metrics.text({})
    True
    """

    def __init__(self, shared: str = "") -> None:
        self._file = Path(shared) / f"metrics-{os.getpid()}.json" if shared else None
        self._lock = Lock()
        self._requests: Counter[tuple[str, str, str]] = Counter()
        self._buckets: Counter[tuple[str, int]] = Counter()
        self._seconds: Counter[str] = Counter()
        self._events: Counter[str] = Counter()
        # The last known counts of the other processes, in case a file cannot be read.
        self._counts_of_files: dict[Path, dict[str, float]] = {}

    def observe(self, method: str, path: str, status: int, seconds: float) -> None:
        """Count a request; ``path`` is that of a route, so that clients cannot add new ones."""
        with self._lock:
            self._requests[method, path, str(status)] += 1
            self._buckets[path, bisect_left(_BUCKETS, seconds)] += 1
            self._seconds[path] += seconds  # type: ignore[assignment]

    def count(self, event: str) -> None:
        """Count an event: ``refused``, ``unfinished``, ``reloaded``, ..."""
        with self._lock:
            self._events[event] += 1

    def publish(self) -> None:
        """Write the counts for the other processes."""
        if self._file is not None:
            part = self._file.with_suffix(".part")
            part.write_text(json.dumps(self._counts()), encoding="utf-8")
            part.replace(self._file)

    def text(self, gauges: dict[str, float]) -> str:
        """All counts of all processes, and the ``gauges`` of this one."""
        # Include counters that are still 0: alerting rules need a number.
        totals = Counter(dict.fromkeys(_WITHOUT_LABELS, 0.0))
        for counts in (self._counts(), *self._others()):
            totals.update(counts)
        lines: list[str] = []
        for family, (kind, what) in _FAMILIES.items():
            lines += [f"# HELP {family} {what}", f"# TYPE {family} {kind}"]
            lines += [f"{series} {n:.12g}" for series, n in totals.items() if family in series]
        for name, value in {**gauges, "memory_peak_bytes": _peak_memory()}.items():
            lines += [f"# TYPE mathsetu_{name} gauge", f"mathsetu_{name} {value:.12g}"]
        return "\n".join(lines) + "\n"

    def _others(self) -> list[dict[str, float]]:
        if self._file is None:
            return []
        for file in sorted(self._file.parent.glob("metrics-*.json")):
            if file != self._file and (counts := _read_counts(file)) is not None:
                self._counts_of_files[file] = counts
        return list(self._counts_of_files.values())

    def _counts(self) -> dict[str, float]:
        """All series by their full names."""
        with self._lock:
            counts: dict[str, float] = {
                f'mathsetu_requests_total{{method="{method}",path="{path}",status="{status}"}}': n
                for (method, path, status), n in self._requests.items()
            }
            counts |= {f"mathsetu_{event}_total": n for event, n in self._events.items()}
            for path, seconds in self._seconds.items():
                name, total = "mathsetu_request_seconds", 0
                for place, end in enumerate((*_BUCKETS, "+Inf")):
                    total += self._buckets[path, place]
                    counts[f'{name}_bucket{{path="{path}",le="{end}"}}'] = total
                counts[f'{name}_sum{{path="{path}"}}'] = seconds
                counts[f'{name}_count{{path="{path}"}}'] = total
            return counts


_FAMILIES = {
    "mathsetu_requests_total": ("counter", "Requests by method, route and status."),
    "mathsetu_request_seconds": ("histogram", "Time from request to answer, by route."),
    "mathsetu_refused_total": ("counter", "Requests refused because the server was busy."),
    "mathsetu_unfinished_total": ("counter", "Answers that reached the time limit."),
    "mathsetu_reloaded_total": ("counter", "How often a rebuilt library was opened."),
    "mathsetu_reload_failures_total": (
        "counter",
        "Checks that found a library that cannot be opened.",
    ),
}
_WITHOUT_LABELS = [family for family in _FAMILIES if "request" not in family]


def _read_counts(file: Path) -> dict[str, float] | None:
    """The counts of another process; None if its file is missing or damaged."""
    try:
        counts = json.loads(file.read_bytes())
        if isinstance(counts, dict) and all(map(str.isprintable, counts)):
            return {series: float(number) for series, number in counts.items()}
    except (OSError, ValueError, TypeError, OverflowError, RecursionError):
        pass
    return None


def _peak_memory() -> float:
    """The peak memory of this process in bytes; 0 if the system does not report it."""
    try:
        import resource
    except ImportError:
        return 0.0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(peak if sys.platform == "darwin" else peak * 1024)  # Linux counts in kibibytes
