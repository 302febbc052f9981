"""Measures how typed queries are read: formulas found, languages found, and time.

    python -m benchmarks.typed_queries [--file FILE] [--terms FILE] [--wrong]

A formula counts as found where the span expected was read as one formula. The queries and terms
were written before the reader (tests/intake, tests/languages).
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from mathsetu.intake.typed import read_typed

ROOT = Path(__file__).resolve().parent.parent
QUERIES = ROOT / "tests" / "intake" / "typed_queries.tsv"
TERMS = ROOT / "tests" / "languages" / "terms.tsv"
_MARKED = re.compile("⟦(.*?)⟧")


class Expected(NamedTuple):
    """A query and the reading expected: where its formulas lie, and its language."""

    kind: str
    language: str
    text: str
    formulas: tuple[tuple[int, int], ...]


def read_queries(path: Path) -> Iterator[Expected]:
    """The queries of a file whose formulas stand between ⟦ and ⟧."""
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        kind, language, marked = line.split("\t")
        text, places, position = "", [], 0
        for match in _MARKED.finditer(marked):
            text += marked[position : match.start()]
            places.append((len(text), len(text) + len(match[1])))
            text += match[1]
            position = match.end()
        yield Expected(kind, language.strip("-"), text + marked[position:], tuple(places))


def found_in(text: str) -> tuple[tuple[int, int], ...]:
    """Where the formulas of a typed query lie."""
    places, position = [], 0
    for span in read_typed(text):
        if span.kind == "formula":
            places.append((position, position + len(span.raw)))
        position += len(span.raw)
    return tuple(places)


def measure_formulas(queries: list[Expected], wrong: bool) -> tuple[float, float]:
    """Print and give precision and recall of the formulas found."""
    right: Counter[str] = Counter()
    found: Counter[str] = Counter()
    expected: Counter[str] = Counter()
    whole: Counter[str] = Counter()
    count: Counter[str] = Counter(query.kind for query in queries)
    for query in queries:
        places = found_in(query.text)
        right[query.kind] += len(set(places) & set(query.formulas))
        found[query.kind] += len(places)
        expected[query.kind] += len(query.formulas)
        whole[query.kind] += places == query.formulas
        if wrong and places != query.formulas:
            read = [query.text[start:end] for start, end in places]
            print(f"    {query.kind}: {query.text!r} read as {read}")
    print("kind          queries  read as expected  precision  recall")
    for kind in [*count, "all"]:
        kinds = list(count) if kind == "all" else [kind]
        r, f, e, w, n = (
            sum(c[k] for k in kinds) for c in (right, found, expected, whole, count)
        )
        precision = f"{r / f:9.3f}" if f else "        -"
        recall = f"{r / e:7.3f}" if e else "      -"
        print(f"{kind:12} {n:8} {w / n:17.3f}  {precision} {recall}")
    total = sum(right.values())
    return total / max(sum(found.values()), 1), total / max(sum(expected.values()), 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--file", type=Path, default=QUERIES, help="queries with marked formulas")
    parser.add_argument("--terms", type=Path, default=TERMS, help="terms and their languages")
    parser.add_argument("--wrong", action="store_true", help="print what was read otherwise")
    arguments = parser.parse_args()
    queries = list(read_queries(arguments.file))
    measure_formulas(queries, arguments.wrong)


if __name__ == "__main__":
    main()
