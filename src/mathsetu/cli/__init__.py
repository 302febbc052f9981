"""The command line: one thin module per verb, loaded only when it is called."""

from __future__ import annotations

import sys
import warnings
from difflib import get_close_matches
from importlib import import_module
from io import StringIO
from typing import TextIO

import click

from mathsetu import __version__
from mathsetu.cli.output import say
from mathsetu.errors import MathSetuError, reason, shortage

#: Groups of verbs, and what each verb does. To add a verb, add it here and write a module of the
#: same name with a function `command`.
GROUPS = {
    "Search": {
        "search": "Search a library: words in any language, formulas, or both.",
        "sampler": "List, search or export the built-in multilingual sampler.",
        "glossary": "Search mathematical terms in 37 languages.",
        "translate": "Translate a text; formulas are preserved.",
    },
    "Keep a library": {
        "index": "Build a library from collections.",
        "add": "Add posts to a library without rebuilding it.",
        "remove": "Remove posts from a library.",
        "info": "Show the content of a library.",
        "optimize": "Merge the segments of a library.",
        "upgrade": "Convert a library of an older version to the current format.",
        "recipes": "List and show the built-in search systems.",
        "convert": "Convert a collection, topics, judgments or a run between formats.",
    },
    "Serve it": {
        "serve": "Serve a library as a page and an API.",
        "mcp": "Offer a library to language models as tools (MCP).",
        "plan": "Divide collections into shards, for many machines to build.",
        "publish": "Publish a library on a Qdrant cluster.",
    },
    "Experiment": {
        "run": "Search for all topics of a file and write a run file.",
        "evaluate": "Measure a run against judgments.",
        "compare": "Compare runs on judgments: means, significance, wins and losses.",
        "fuse": "Fuse several runs into one.",
        "validate": "Check a submission or run file as its organiser would.",
        "reproduce": "Run a paper's system and compare our figures with the paper's.",
        "train": "Train a reranker, an encoder or a graph model.",
        "graph": "Build, export, import and compare meaning graphs, upload their vectors.",
    },
    "Look inside": {
        "analyze": "Show the language of a text and the terms that its words become.",
        "formula": "Show a formula as trees, MathML and features, and match it against another.",
        "inspect": "Show a text or a post as spans and formulas.",
    },
}
#: Verb to its description.
VERBS = {verb: what for verbs in GROUPS.values() for verb, what in verbs.items()}
# The largest group whose commands are listed in an error message.
_MAX_NAMED = 10


class VerbGroup(click.Group):
    """A group of commands that suggests similar names for an unknown command."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that a command line names."""
        name = args[0]
        if not name.startswith("-") and self.get_command(ctx, name) is None:
            ctx.fail(f"No such command {name!r}. {self._instead(ctx, name)}")
        return super().resolve_command(ctx, args)

    def _instead(self, ctx: click.Context, name: str) -> str:
        names = self.list_commands(ctx)
        near = get_close_matches(name, names, n=3)
        if near:
            return f"Did you mean {' or '.join(near)}?"
        if len(names) > _MAX_NAMED:
            return f"{ctx.command_path} --help lists them."
        return f"Commands of {ctx.command_path}: {', '.join(names)}."


class _Verbs(VerbGroup):
    """A group that imports a command only when it is needed, so that each starts fast."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted([*VERBS, *super().list_commands(ctx)])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in VERBS:
            command: click.Command = import_module(f"mathsetu.cli.{cmd_name}").command
            _keep_examples(command)
            return command
        return super().get_command(ctx, cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the verbs by group, without importing any of them."""
        own = {"Shell": {"completion": "Print the shell's completion script."}}
        width = max(map(len, VERBS))
        for group, verbs in (GROUPS | own).items():
            with formatter.section(group):
                formatter.write_dl([(f"{verb:{width}}", what) for verb, what in verbs.items()])


def _keep_examples(command: click.Command) -> None:
    r"""Preserve the line breaks of the examples in a help text.

    Click requires the character ``\b`` before such a block; our docstrings are raw because they
    contain LaTeX, so they have a backslash and a letter instead.
    """
    command.help = command.help and command.help.replace("\\b\n", "\b\n")
    if isinstance(command, click.Group):
        for inner in command.commands.values():
            _keep_examples(inner)


@click.group(cls=_Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="mathsetu")
def _group() -> None:
    """Search for mathematics across languages."""


@_group.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def _completion(shell: str) -> None:
    """Print the completion script of a shell; the first line says how to install it."""
    from click.shell_completion import get_completion_class

    completion = get_completion_class(shell)
    assert completion is not None
    say(f"# Save this where {shell} reads it at startup, for example in its rc file.")
    say(completion(_group, {}, "mathsetu", "_MATHSETU_COMPLETE").source(), lines=True)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line.

    Exit codes: 0 success; 1 a negative result (an invalid file, for example); 2 wrong input or
    usage, a file that the system refuses, or a lack of memory or disk space; 130 stopped with
    Ctrl-C. None of these prints a traceback.
    """
    if arguments is None:  # called as a program: format warnings for people
        warnings.showwarning = _show_warning
    mistake = ""
    status: object = 0
    try:
        status = _group.main(arguments, prog_name="mathsetu", standalone_mode=False)
    except click.exceptions.Abort as stop:
        _fail(f"stopped; {stop}" if str(stop) else "stopped", 130)
    except click.ClickException as error:
        # Click quotes arguments without escaping them.
        shown = StringIO()
        error.show(shown)
        say(shown.getvalue().rstrip("\n"), err=True, lines=True)
        if isinstance(error, click.NoSuchOption) and not error.option_name.startswith("--"):
            say("Put -- before an argument that begins with -: mathsetu … -- '-b+c'", err=True)
        sys.exit(error.exit_code)
    except MathSetuError as error:
        mistake = str(error)  # reported below, after the error has released its open files
    except BrokenPipeError:
        # The reader of our output (head, less) has closed the pipe.
        sys.stderr.close()
        sys.exit(0)
    except Exception as error:
        problem = shortage(error) or _refusal(error)
        if not problem:  # a bug of ours
            raise
        _fail(problem, 2)
    if mistake:
        _fail(mistake, 2)
    sys.exit(status if isinstance(status, int) else 0)


def _refusal(error: Exception) -> str:
    """Name the file that the system refused (permissions, name too long), if that is the cause."""
    if not isinstance(error, OSError) or error.filename is None:
        return ""
    return f"{error.filename}: cannot be read or written ({reason(error)})"


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Replace `warnings.showwarning`, which prints messages without escaping them."""
    say(f"mathsetu: warning: {message}", err=True)


def _fail(message: str, code: int) -> None:
    say(f"mathsetu: {message}", err=True)
    sys.exit(code)
