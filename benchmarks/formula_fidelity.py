"""How close the LaTeX parser comes to LaTeXML: ``python benchmarks/formula_fidelity.py``.

Reads ``latex/formulas.jsonl.gz`` of the data folder: LaTeX that people wrote, with the MathML
that LaTeXML made of it. What is compared, over all formulas of a source together:

- constituents: each inner node of the operator tree (OPT) as its label and the multiset of
  leaf labels below it (a tree of one leaf counts as one constituent); F1 of the two multisets.
- exact: the share of formulas whose two OPTs are equal, operand order included.
- layout: each node of the symbol layout tree (SLT) as its label, and each edge as (label, edge,
  label); F1 of the two multisets.
- warned: the share of formulas on which our parser warns.

Left out and counted: formulas with a macro that LaTeXML did not know, and those of which its
MathML shows less than half (it cuts alignments into cells, of which the data has the first, and
loses parts of sums of hundreds of fractions) or which it made plain text of. Operator trees are
compared where LaTeXML parsed the whole formula: rows with no Content MathML or with fragments
are left out too.
"""

from __future__ import annotations

import argparse
import gzip
import html
import json
import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from mathsetu.errors import NotationError
from mathsetu.formulas import parse_latex
from mathsetu.formulas.mathml import read_content, read_presentation
from mathsetu.formulas.notation import write_tree
from mathsetu.formulas.tree import Tree

Bag = Counter[Hashable]

# LaTeXML made plain text of an environment.
AS_TEXT = re.compile(r'alttext="[^"]*(?:\\begin\{equation|@@eqnarray)')
# What does not tell how much a formula holds: comments, labels, the names of commands.
IGNORED = re.compile(r"(?<!\\)%.*|\\(?:begin|end|tag|label)\*?\s*(?:\{[^}]*\}|\w)|\\[A-Za-z]+")


@dataclass
class Tally:
    """The sums behind one row of the table."""

    formulas: int = 0
    warned: int = 0
    compared: int = 0
    exact: int = 0
    constituents: list[int] = field(default_factory=lambda: [0, 0, 0])
    layout: list[int] = field(default_factory=lambda: [0, 0, 0])

    def row(self, name: str) -> str:
        """A line of the table."""
        return (
            f"{name:10} {self.formulas:8} {self.compared:8} {f1(self.constituents):12.4f} "
            f"{self.exact / max(self.compared, 1):8.2%} {f1(self.layout):8.4f} "
            f"{self.warned / max(self.formulas, 1):8.2%}"
        )


@dataclass(frozen=True)
class Difference:
    """One formula that came out otherwise than LaTeXML's."""

    latex: str
    ours: Tree
    theirs: Tree
    score: float


def f1(sums: list[int]) -> float:
    """F1 from the numbers of common, our and their items."""
    common, ours, theirs = sums
    return 2 * common / (ours + theirs) if ours + theirs else 1.0


def constituents(opt: Tree) -> Bag:
    """The inner nodes of a tree, each with the leaves below it."""
    leaves: dict[int, tuple[str, ...]] = {}
    bag: Bag = Counter()
    for node in reversed(list(opt.walk())):
        if node.children:
            below = tuple(sorted(leaf for child in node.children for leaf in leaves[id(child)]))
            leaves[id(node)] = below
            bag[node.label, below] += 1
        else:
            leaves[id(node)] = (node.label,)
    return bag or Counter({(opt.label, ()): 1})


def layout_items(slt: Tree) -> Bag:
    """The nodes and edges of a tree."""
    bag: Bag = Counter()
    for node in slt.walk():
        bag[node.label] += 1
        for edge, child in zip(node.edges, node.children, strict=True):
            bag[node.label, edge, child.label] += 1
    return bag


def add(sums: list[int], ours: Bag, theirs: Bag) -> float:
    """Add two bags to the sums; the F1 of just these two."""
    counts = [(ours & theirs).total(), ours.total(), theirs.total()]
    for place, count in enumerate(counts):
        sums[place] += count
    return f1(counts)


def first_differences(ours: Tree, theirs: Tree) -> Iterator[tuple[str, str]]:
    """The topmost places where two trees part, as pairs of labels (with numbers of operands)."""
    stack = [(ours, theirs)]
    while stack:
        a, b = stack.pop()
        if a.label != b.label or list(a.edges) != list(b.edges):
            yield f"{a.label}/{len(a.children)}", f"{b.label}/{len(b.children)}"
        else:
            stack.extend(zip(a.children, b.children, strict=True))


def show(title: str, differences: list[Difference], number: int) -> None:
    """The most frequent kinds of difference, then the formulas that differ most."""
    examples: dict[tuple[str, str], list[str]] = defaultdict(list)
    for difference in differences:
        for pair in set(first_differences(difference.ours, difference.theirs)):
            examples[pair].append(difference.latex)
    print(f"\n{title}: {len(differences)} formulas differ; most frequent (ours -> LaTeXML's)")
    for (a, b), latex in sorted(examples.items(), key=lambda item: -len(item[1]))[:number]:
        print(f"{len(latex):5} {a} -> {b}   e.g. {min(latex, key=len)}")
    print(f"\n{title}: the {number} that differ most (short ones first among equals)")
    for d in sorted(differences, key=lambda d: (d.score, len(d.latex)))[:number]:
        print(f"{d.score:.3f} {d.latex}\n   ours   {write_tree(d.ours)}")
        print(f"   theirs {write_tree(d.theirs)}")


def is_partial(latex: str, mathml: str) -> bool:
    """Whether the MathML shows less than half of the letters and digits of the formula."""
    shown = html.unescape(re.sub("<[^>]*>", "", mathml.partition("<annotation-xml")[0]))
    given, kept = (len(re.findall(r"[^\W_]", text)) for text in (IGNORED.sub("", latex), shown))
    return kept < given / 2 or AS_TEXT.search(mathml) is not None


class Comparison:
    """Adds up formulas one by one, by source and over all."""

    def __init__(self, keep_partial: bool) -> None:
        self.keep_partial = keep_partial
        self.tallies: dict[str, Tally] = defaultdict(Tally)
        self.left_out: Counter[str] = Counter()
        self.operators: list[Difference] = []
        self.layouts: list[Difference] = []

    def add(self, latex: str, source: str, mathml: str | None) -> None:
        """Parse one formula and compare it with LaTeXML's MathML."""
        parsed = parse_latex(latex)
        names = [source, "all"] if source == "hard" else [source, "not hard", "all"]
        tallies = [self.tallies[name] for name in names]
        for tally in tallies:
            tally.formulas += 1
            tally.warned += bool(parsed.warnings)
        if mathml is None:
            self.left_out["LaTeXML gave no MathML"] += 1
        elif "<merror" in mathml:
            self.left_out["a macro that LaTeXML does not know"] += 1
        elif not self.keep_partial and is_partial(latex, mathml):
            self.left_out["LaTeXML's MathML holds only a part"] += 1
        else:
            self._add_layout(latex, parsed.slt, read_presentation(mathml), tallies)
            self._add_operators(latex, parsed.opt, mathml, tallies)

    def _add_layout(self, latex: str, ours: Tree, theirs: Tree, tallies: list[Tally]) -> None:
        bags = layout_items(ours), layout_items(theirs)
        for tally in tallies:
            score = add(tally.layout, *bags)
        if score < 1:
            self.layouts.append(Difference(latex, ours, theirs, score))

    def _add_operators(self, latex: str, ours: Tree, mathml: str, tallies: list[Tally]) -> None:
        try:
            theirs = read_content(mathml)
        except NotationError:
            self.left_out["operators only: no Content MathML"] += 1
            return
        if any(node.label.startswith("E!") for node in theirs.walk()):
            self.left_out["operators only: fragments"] += 1
            return
        bags = constituents(ours), constituents(theirs)
        for tally in tallies:
            score = add(tally.constituents, *bags)
            tally.compared += 1
            tally.exact += ours == theirs
        if ours != theirs:
            self.operators.append(Difference(latex, ours, theirs, score))

    def print_table(self) -> None:
        """One line for each source, then what was left out."""
        print(f"{'source':10} formulas compared constituents    exact   layout   warned")
        for name in sorted(self.tallies, key=lambda name: (name == "all", name)):
            print(self.tallies[name].row(name))
        for reason, count in self.left_out.most_common():
            print(f"left out: {count:4} {reason}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="data folder")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="print N differences")
    parser.add_argument("--source", help="only this source (topic, mse-test, hard)")
    parser.add_argument(
        "--keep-partial", action="store_true", help="count formulas that LaTeXML shows in part"
    )
    arguments = parser.parse_args()

    comparison = Comparison(arguments.keep_partial)
    with gzip.open(arguments.data / "latex" / "formulas.jsonl.gz", "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            if arguments.source in (None, row["source"]):
                comparison.add(row["latex"], row["source"], row["mathml"])
    comparison.print_table()
    if arguments.show:
        show("operator trees", comparison.operators, arguments.show)
        show("layout trees", comparison.layouts, arguments.show)


if __name__ == "__main__":
    main()
