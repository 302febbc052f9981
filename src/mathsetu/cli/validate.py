"""``mathsetu validate``: checks files as the organiser of a lab would."""

from __future__ import annotations

from pathlib import Path

import click

from mathsetu.cli.output import json_option, print_json, say
from mathsetu.cli.verb import Verb
from mathsetu.collections import arqmath
from mathsetu.collections.formats import FORMATS, detect, detect_as, find, is_rows
from mathsetu.collections.formula_sets import open_formulas
from mathsetu.collections.rows import BadRows, Problem
from mathsetu.errors import InputError

# Problems that are printed for people.
_SHOWN = 20


@click.command("validate", cls=Verb, former={"--format": "--from", "--queries": "--topics"})
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True))
@click.option("--from", "format_name", metavar="FORMAT", help="Format of FILE.")
@click.option("--topics", type=click.Path(path_type=Path),
              help="Check that a run's topics are among these (any format).")  # fmt: skip
@click.option("--posts", type=click.Path(path_type=Path),
              help="Check that a run's posts are among these (any format).")  # fmt: skip
@click.option("--formulas", type=click.Path(exists=True, path_type=Path),
              help="Check a task 2 run's formulas against these (tables or posts).")  # fmt: skip
@json_option
def command(
    file: Path,
    format_name: str | None,
    topics: Path | None,
    posts: Path | None,
    formulas: Path | None,
    as_json: bool,
) -> None:
    r"""Check a submission or run file, or read any other file to its end.

    The exit code is 1 if the file would be rejected, 0 if there are only warnings, and 2 if its
    format is not recognised (such as that of an empty file).

    \b
    Examples:
      mathsetu validate submission.csv --topics queries.csv --posts posts.jsonl
      mathsetu validate run.trec --topics topics-task1.xml
      mathsetu validate run.tsv --topics topics-task2.xml --formulas latex_representation_v3
    """
    if format_name:
        form = find(format_name)
    else:
        form = detect_as(file, "runs") if topics or posts or formulas else detect(file)
    if formulas and form.name != "arqmath-formula-run":
        raise click.UsageError("--formulas is for runs of ARQMath task 2")
    if form.name == "arqmath-formula-run":
        listed = formulas or posts
        known = open_formulas(listed) if listed else None
        problems = arqmath.validate_formula_run(file, _ids(topics), known)
    elif form.validate:
        problems = form.validate(file, _ids(topics), _ids(posts))
    elif topics or posts:
        raise click.UsageError(f"--topics and --posts are for runs; {file} has {form.holds}")
    else:
        problems = []
        bad = BadRows(skip=True, keep=100)
        rows = sum(1 for _ in form.read(file, bad))
        if not rows and not bad.count:
            remedy = "; if it is a run, name its format: --from trec-run" if is_rows(file) else ""
            raise InputError(f"{file}: is empty (no {form.holds} in it{remedy})")
        problems = [Problem(error.line, error.problem) for error in bad.errors]
    rejected = any(problem.fatal for problem in problems)
    if as_json:
        print_json({"format": form.name, "valid": not rejected, "problems": problems})
    else:
        # Fatal problems come first, so that warnings cannot hide them.
        shown = sorted(problems, key=lambda problem: not problem.fatal)[:_SHOWN]
        for problem in shown:
            say(f"{file} {problem}")
        if left := len(problems) - len(shown):
            say(f"{file}: {left:,} more problems; --json lists all")
        verdict = "would be rejected" if rejected else "is valid"
        say(f"{file}: {verdict} as {form.name} ({FORMATS[form.name].description})")
    if rejected:
        raise click.exceptions.Exit(1)


def _ids(path: Path | None) -> dict[str, None] | None:
    """The ids of the records in a file, in order."""
    if path is None:
        return None
    return {record.id: None for record in detect(path).read(path, BadRows())}
