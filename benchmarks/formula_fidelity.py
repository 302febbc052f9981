"""Measures how well the LaTeX parser agrees with LaTeXML: `python benchmarks/formula_fidelity.py`.

Reads ``latex/formulas.jsonl.gz`` of the data folder: LaTeX written by people, with the MathML that
LaTeXML made of it. The figures are over all formulas of a source together; the columns "mean"
average over formulas, so that long formulas have no more weight than short ones.

- constituents: each inner node of the operator tree (OPT) as its label and the multiset of
  leaf labels below it (a tree of one leaf counts as one constituent); F1 of the two multisets.
- exact: the share of formulas whose two OPTs are equal, operand order included.
- layout: each node of the symbol layout tree (SLT) as its label, and each edge as (label, edge,
  label); F1 of the two multisets.
- warned: the share of formulas on which our parser warns.

What is compared depends only on the source and on LaTeXML's MathML, never on our trees. The
``alttext`` of the MathML is the LaTeX that it represents. Of an alignment, this is the first cell
(LaTeXML makes one MathML per cell, and the data has the first); of a text with formulas inside, it
is the first formula. Our parser then reads the same part. Formulas without a reference tree are
left out and counted, by kind: LaTeXML gave no MathML, did not know a macro, converted an
environment to plain text, or lost more than half of the symbols. Operator trees are compared only
if LaTeXML parsed the whole formula: rows without Content MathML or with fragments are left out too.

The last line of the table is a stricter comparison: every formula with error-free MathML as a
whole, even if the MathML represents only a part of it or nothing. ``--show`` lists the formulas
that are compared in part or left out, with their line numbers.
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
from statistics import fmean

from benchmarks.shared import DATA
from mathsetu.errors import NotationError
from mathsetu.formulas import parse_latex
from mathsetu.formulas.mathml import read_content, read_presentation
from mathsetu.formulas.notation import write_tree
from mathsetu.formulas.tree import Tree

Bag = Counter[Hashable]

ALTTEXT = re.compile(r'alttext="([^"]*)"')
# LaTeXML converted an environment to plain text.
AS_TEXT = re.compile(r"\\begin\{equation|@@eqnarray")
# Constructs that LaTeXML may split; it then omits them around the parts.
ENCLOSING = re.compile(r"\\begin\s*\{[^}]*\}|\\(?:text|mbox|hbox)\b")
# Text that is not counted as symbols: comments, labels, the names of commands.
IGNORED = re.compile(r"(?<!\\)%.*|\\(?:begin|end|tag|label)\*?\s*(?:\{[^}]*\}|\w)|\\[A-Za-z]+")


@dataclass
class Agreement:
    """Agreement of our bags of items with the reference: sums over all formulas, and each F1."""

    common: int = 0
    ours: int = 0
    theirs: int = 0
    scores: list[float] = field(default_factory=list)

    def add(self, ours: Bag, theirs: Bag) -> float:
        """Add two bags; return their F1."""
        counts = (ours & theirs).total(), ours.total(), theirs.total()
        self.common += counts[0]
        self.ours += counts[1]
        self.theirs += counts[2]
        self.scores.append(f1(*counts))
        return self.scores[-1]

    def row(self) -> str:
        """Format the F1 over all items, and the mean F1 of the formulas."""
        mean = fmean(self.scores) if self.scores else 1.0
        return f"{f1(self.common, self.ours, self.theirs):.4f} {mean:.4f}"


@dataclass
class Counts:
    """The sums behind one row of the table."""

    formulas: int = 0
    warned: int = 0
    exact: int = 0
    constituents: Agreement = field(default_factory=Agreement)
    layout: Agreement = field(default_factory=Agreement)

    def row(self, name: str) -> str:
        """Format a line of the table."""
        compared = len(self.constituents.scores)
        return (
            f"{name:10} {self.formulas:8} {compared:8}       {self.constituents.row()} "
            f"{self.exact / max(compared, 1):8.2%} {self.layout.row()} "
            f"{self.warned / max(self.formulas, 1):8.2%}"
        )


@dataclass(frozen=True)
class Difference:
    """A formula whose tree differs from LaTeXML's."""

    latex: str
    ours: Tree
    theirs: Tree
    score: float


def f1(common: int, ours: int, theirs: int) -> float:
    """F1 from the numbers of common, our and their items."""
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


def first_differences(ours: Tree, theirs: Tree) -> Iterator[tuple[str, str]]:
    """Yield the topmost differences of two trees, as pairs of labels with numbers of operands."""
    stack = [(ours, theirs)]
    while stack:
        a, b = stack.pop()
        if a.label != b.label or list(a.edges) != list(b.edges):
            yield f"{a.label}/{len(a.children)}", f"{b.label}/{len(b.children)}"
        else:
            stack.extend(zip(a.children, b.children, strict=True))


def show(title: str, differences: list[Difference], number: int) -> None:
    """Print the most frequent kinds of difference, then the formulas that differ most."""
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


def symbols(text: str) -> int:
    """Count letters and digits."""
    return len(re.findall(r"[^\W_]", text))


def part_held(latex: str, mathml: str) -> str:
    """Return the LaTeX that the MathML represents: the formula, or a part of it.

    It is a part if it lacks an environment or a text of the formula, and some of its symbols.
    """
    stated = ALTTEXT.search(mathml)
    if stated is None:
        return latex
    # LaTeXML breaks long lines with a comment sign.
    part = html.unescape(stated.group(1)).replace("%\n", "")
    lacks = Counter(ENCLOSING.findall(latex)) - Counter(ENCLOSING.findall(part))
    held, given = (symbols(IGNORED.sub("", text)) for text in (part, latex))
    return part if lacks and held < given else latex


def flaw(latex: str, mathml: str) -> str | None:
    """Why the MathML does not represent this LaTeX; None if it does."""
    stated = ALTTEXT.search(mathml)
    if stated is not None and AS_TEXT.search(stated.group(1)):
        return "LaTeXML made plain text of an environment"
    shown = html.unescape(re.sub("<[^>]*>", "", mathml.partition("<annotation-xml")[0]))
    if symbols(shown) < symbols(IGNORED.sub("", latex)) / 2:
        return "LaTeXML lost more than half of the symbols"
    return None


class Comparison:
    """Totals by source and overall; with ``in_parts``, only the part in the reference counts."""

    def __init__(self, in_parts: bool) -> None:
        self.in_parts = in_parts
        self.tallies: dict[str, Counts] = defaultdict(Counts)
        self.left_out: Counter[str] = Counter()
        self.parts = 0
        self.set_aside: list[str] = []  # formulas compared in part or left out, and why
        self.operators: list[Difference] = []
        self.layouts: list[Difference] = []

    def add(self, line: int, latex: str, source: str, mathml: str | None) -> None:
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
        else:
            held = part_held(latex, mathml) if self.in_parts else latex
            reason = flaw(held, mathml) if self.in_parts else None
            if reason is not None:
                self.left_out[reason] += 1
                self.set_aside.append(f"line {line}: {reason}")
                return
            if held != latex:
                self.set_aside.append(f"line {line}: only {held}")
                self.parts += 1
                parsed = parse_latex(held)
            self._add_layout(held, parsed.slt, read_presentation(mathml), tallies)
            self._add_operators(held, parsed.opt, mathml, tallies)

    def _add_layout(self, latex: str, ours: Tree, theirs: Tree, tallies: list[Counts]) -> None:
        bags = layout_items(ours), layout_items(theirs)
        for tally in tallies:
            score = tally.layout.add(*bags)
        if score < 1:
            self.layouts.append(Difference(latex, ours, theirs, score))

    def _add_operators(self, latex: str, ours: Tree, mathml: str, tallies: list[Counts]) -> None:
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
            score = tally.constituents.add(*bags)
            tally.exact += ours == theirs
        if ours != theirs:
            self.operators.append(Difference(latex, ours, theirs, score))

    def print_table(self) -> None:
        """Print one line per source, then what was compared in part and what was left out."""
        print(
            f"{'source':10} formulas compared constituents   mean    exact layout   mean   warned"
        )
        for name in sorted(self.tallies, key=lambda name: (name == "all", name)):
            print(self.tallies[name].row(name))
        print(f"in part: {self.parts:5} LaTeXML's MathML holds a cell, or a formula in a text")
        for reason, count in self.left_out.most_common():
            print(f"left out: {count:4} {reason}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", type=Path, default=DATA, help="data folder")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="print N differences")
    parser.add_argument("--source", help="only this source (topic, mse-test, hard)")
    arguments = parser.parse_args()

    comparison = Comparison(in_parts=True)
    whole = Comparison(in_parts=False)
    with gzip.open(arguments.data / "latex" / "formulas.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line, row in enumerate(map(json.loads, lines), start=1):
            if arguments.source in (None, row["source"]):
                comparison.add(line, row["latex"], row["source"], row["mathml"])
                whole.add(line, row["latex"], row["source"], row["mathml"])
    comparison.print_table()
    print(whole.tallies["all"].row("all, whole"))
    if arguments.show:
        print("\nin part or without a tree to compare with:", *comparison.set_aside, sep="\n")
        show("operator trees", comparison.operators, arguments.show)
        show("layout trees", comparison.layouts, arguments.show)


if __name__ == "__main__":
    main()
