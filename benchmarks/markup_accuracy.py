"""Measures formula detection against ARQMath's lists for 3,395 real answers: precision and recall.

The lists are compared as they are, and once more without cases that they cannot represent: bare
environments (the lists only have formulas between dollar signs), titles whose formulas are not
listed, and formulas that are listed more often than the text contains them.

    python -m benchmarks.markup_accuracy [--data FOLDER] [--show 10]
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.shared import DATA
from mathsetu.markup import split

FIELDS = ("title", "question", "answer")


@dataclass
class SpanCounts:
    """Counts over all posts; ``differences`` has the differences outside these special cases."""

    agreed: int = 0
    only_found: int = 0
    only_listed: int = 0
    environments: int = 0
    unlisted_titles: int = 0
    absent: int = 0
    differences: list[tuple[str, str, dict[str, int], dict[str, int]]] = field(default_factory=list)

    @property
    def precision(self) -> float:
        return self.agreed / (self.agreed + self.only_found)

    @property
    def recall(self) -> float:
        return self.agreed / (self.agreed + self.only_listed)

    @property
    def raw_precision(self) -> float:
        extra = self.only_found + self.environments + self.unlisted_titles
        return self.agreed / (self.agreed + extra)

    @property
    def raw_recall(self) -> float:
        return self.agreed / (self.agreed + self.only_listed + self.absent)


def measure(posts: Path) -> SpanCounts:
    tally = SpanCounts()
    with gzip.open(posts, "rt", encoding="utf-8") as file:
        for line in file:
            post = json.loads(line)
            for name in FIELDS:
                _compare(post, name, tally)
    return tally


def _compare(post: dict[str, Any], name: str, tally: SpanCounts) -> None:
    text = post[name]
    spans = [span for span in split(text) if span.kind == "formula"]
    environments = sum(span.raw.startswith("\\begin") for span in spans)
    found = Counter(_bare(s.content) for s in spans if not s.raw.startswith("\\begin"))
    listed = Counter(_bare(f["latex"]) for f in post["formulas"] if f["where"] == name)
    agreed = found & listed
    only_found, only_listed = found - listed, listed - found
    tally.environments += environments
    tally.agreed += agreed.total()
    if name == "title" and not listed:
        tally.unlisted_titles += only_found.total()
        only_found.clear()
    absent = _absent(text, only_listed, agreed)
    tally.absent += absent.total()
    only_listed -= absent
    tally.only_found += only_found.total()
    tally.only_listed += only_listed.total()
    if only_found or only_listed:
        tally.differences.append((post["answer_id"], name, dict(only_found), dict(only_listed)))


def _absent(text: str, missing: Counter[str], agreed: Counter[str]) -> Counter[str]:
    """Listed formulas in excess of their occurrences between dollar signs in the text."""
    flat = _bare(text, ends=False)
    return Counter(
        {
            latex: count - min(count, max(0, flat.count(f"${latex}") - agreed[latex]))
            for latex, count in missing.items()
            if latex
        }
    ) + Counter({"": missing[""]})


def _bare(latex: str, ends: bool = True) -> str:
    """Remove white space, and at the ends also dollar signs and a cut-off control space."""
    bare = "".join(latex.split())
    return bare.strip("$").rstrip("\\") if ends else bare


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--show", type=int, default=0, help="print this many differences")
    arguments = parser.parse_args()
    tally = measure(arguments.data / "arqmath" / "posts.jsonl.gz")
    for difference in tally.differences[: arguments.show]:
        print(*difference)
    print(
        f"agreed {tally.agreed:,}, only found {tally.only_found}, only listed {tally.only_listed}"
    )
    print(f"precision {tally.precision:.2%}, recall {tally.recall:.2%}")
    print(
        f"set apart: {tally.environments} bare environments, {tally.unlisted_titles} formulas in "
        f"titles without a list, {tally.absent} listed but not in the text"
    )
    print(f"with them: precision {tally.raw_precision:.2%}, recall {tally.raw_recall:.2%}")


if __name__ == "__main__":
    main()
