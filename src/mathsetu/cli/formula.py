"""``mathsetu formula``: a formula as trees, features, MathML, a picture, and a match."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from mathsetu.cli.output import json_option, print_json, print_tree, say
from mathsetu.cli.targets import begins, check_target
from mathsetu.cli.verb import Verb
from mathsetu.collections.files import writing
from mathsetu.errors import InputError
from mathsetu.formulas.drawing import draw_layout_tree, draw_operator_tree, is_drawing
from mathsetu.formulas.features import features
from mathsetu.formulas.matching import Match, match
from mathsetu.formulas.mathml import write_mathml
from mathsetu.formulas.notation import write_tree
from mathsetu.formulas.overlap import node_overlap, token_overlap
from mathsetu.formulas.pairs import MatchedPair
from mathsetu.formulas.parse import Parsed, parse_latex
from mathsetu.formulas.part_latex import part_text
from mathsetu.intake.typed import formula_as_latex
from mathsetu.printable import one_line


@click.command("formula", cls=Verb, former={"--svg": "--write"})
@click.argument("latex")
@click.option("--against", metavar="LATEX", help="Match LATEX against this formula.")
@click.option("--write", "target", type=click.Path(path_type=Path), metavar="FILE",
              help="Also draw the tree: FILE.svg.")  # fmt: skip
@click.option("--layout", is_flag=True, help="Draw the layout tree instead.")
@click.option("--mathml", is_flag=True, help="Print Presentation MathML and nothing else.")
@click.option("--features", "show_features", is_flag=True, help="List the index features.")
@json_option
def command(
    latex: str,
    against: str | None,
    target: Path | None,
    layout: bool,
    mathml: bool,
    show_features: bool,
    as_json: bool,
) -> None:
    r"""Show how LATEX is read, and how it matches another formula.

    Formulas may also be typed as in a query: sqrt(2). In a query, ?x stands for any sub-expression.

    \b
    Examples:
      mathsetu formula 'x^2+y^2=z^2' --against 'a^2 + b^2 = c^2'
      mathsetu formula '\int_0^\infty ?f dx' --against '\int_0^\infty \frac{\sin x}{x} dx'
      mathsetu formula 'sqrt(2)'
      mathsetu formula '\frac{a}{b}' --write tree.svg
    """
    for name, given in (("LATEX", latex), ("--against", against)):
        if given is not None and not given.strip():
            raise InputError(f"{name}: the formula is empty; give one such as 'x^2+1'")
    parsed = parse_latex(formula_as_latex(latex))
    other = parse_latex(formula_as_latex(against)) if against is not None else None
    found = match(parsed.opt, other.opt) if other else None
    if target is not None:
        _draw(target, parsed, found, layout)
    if mathml:
        pair = MatchedPair(parsed, other, found) if other and found else None
        highlight = pair.query_symbols if pair else frozenset()
        say(write_mathml(parsed.layout, highlight=highlight), lines=True)
        return
    if as_json:
        print_json(_described(parsed, other, found, show_features))
        return
    for given, read in ((latex, parsed), (against, other)):
        if read and read.latex != given:
            say(f"{given} is read as {read.latex}")
    print_tree("layout tree (SLT)", parsed.slt)
    print_tree("operator tree (OPT)", parsed.opt, found.query_nodes if found else ())
    for warning in parsed.warnings:
        say(f"warning at character {warning.position}: {warning.message}")
    if show_features:
        listed = "\n".join(f"  {one_line(t)}" for t in features(parsed.slt, parsed.opt))
        say(f"\nfeatures\n{listed}", lines=True)
    if other and found:
        print_tree("the other operator tree", other.opt, found.candidate_nodes)
        _print_match(parsed, other, found)


def _print_match(parsed: Parsed, other: Parsed, found: Match) -> None:
    say("")
    pieces = "" if found.in_one_piece else ", in pieces"
    say(f"score      {found.score:.3f} (of the query, {found.coverage:.0%} was found{pieces})")
    letters = MatchedPair(parsed, other, found).substitution
    renamed = [f"{ours} → {theirs}" for ours, theirs in letters.items()]
    if renamed:
        say(f"letters    {', '.join(renamed)}")
    for name, part in found.bindings.items():
        say(f"wildcard   {name} = {part_text(part, other.latex)}")
    say(f"tokens     {token_overlap(parsed.slt, other.slt):.3f} overlap")
    say(f"nodes      {node_overlap(parsed.opt, other.opt):.3f} overlap")


def _draw(path: Path, parsed: Parsed, found: Match | None, layout: bool) -> None:
    if path.suffix.lower() != ".svg":
        raise InputError(f"{path}: a picture is written as .svg")
    check_target(path, own=begins(is_drawing), about=", and is not the picture of a formula")
    matched = found.query_nodes if found else ()
    if layout:
        picture = draw_layout_tree(parsed.slt)
    else:
        picture = draw_operator_tree(parsed.opt, matched=matched)
    with writing(path) as file:
        file.write(picture)


def _described(
    parsed: Parsed, other: Parsed | None, found: Match | None, show_features: bool
) -> dict[str, Any]:
    described: dict[str, Any] = {
        "latex": parsed.latex,
        "slt": write_tree(parsed.slt),
        "opt": write_tree(parsed.opt),
        "mathml": write_mathml(parsed.layout),
        "warnings": [
            {"position": warning.position, "message": warning.message}
            for warning in parsed.warnings
        ],
    }
    if show_features:
        described["features"] = features(parsed.slt, parsed.opt)
    if other and found:
        pair = MatchedPair(parsed, other, found)
        described["match"] = {
            "against": other.latex,
            "score": found.score,
            "coverage": found.coverage,
            "in_one_piece": found.in_one_piece,
            "substitution": pair.substitution,
            "wildcards": {
                name: part_text(part, other.latex) for name, part in found.bindings.items()
            },
            "token_overlap": token_overlap(parsed.slt, other.slt),
            "node_overlap": node_overlap(parsed.opt, other.opt),
            "query_symbols": sorted(pair.query_symbols),
            "symbols": sorted(pair.candidate_symbols),
        }
    return described
