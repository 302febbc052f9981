"""Verbs share one order of arguments and names of options; the old ones give a hint."""

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from mathsetu.cli import GROUPS, VERBS, _group
from mathsetu.cli.output import LanguageName
from mathsetu.collections import jsonl, trec
from mathsetu.records import Hit, Post, Run
from tests.command import Mathsetu
from tests.light import LIGHT_TOML

ORDER = "hint: read as mathsetu index LIBRARY SOURCES"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    (tmp_path / "light.toml").write_text(LIGHT_TOML, encoding="utf-8")
    path = tmp_path / "posts.jsonl"
    jsonl.write_posts(path, [Post(id="1", body="primes"), Post(id="2", body="circles")])
    return path


def commands() -> Iterator[tuple[str, click.Command]]:
    context = click.Context(_group)
    pending: list[tuple[str, click.Command]] = []
    for verb in VERBS:
        command = _group.get_command(context, verb)
        assert command is not None
        pending.append((verb, command))
    while pending:
        name, command = pending.pop()
        if isinstance(command, click.Group):
            pending += [(f"{name} {inner}", one) for inner, one in command.commands.items()]
        else:
            yield name, command


def test_the_library_is_the_first_argument_of_every_verb() -> None:
    for name, command in commands():
        arguments = [one.name for one in command.params if isinstance(one, click.Argument)]
        if "library" in arguments:
            assert arguments[0] == "library", name


def test_options_with_the_same_help_have_the_same_name_in_every_verb() -> None:
    names: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    for _, command in commands():
        for option in command.params:
            if isinstance(option, click.Option) and option.help:
                names[option.help].add(tuple(option.opts))
    assert {said: found for said, found in names.items() if len(found) > 1} == {}


def test_an_option_states_its_default_once() -> None:
    for name, command in commands():
        for option in command.params:
            if isinstance(option, click.Option) and option.show_default:
                assert "default" not in (option.help or ""), f"{name} {option.opts[0]}"


def test_every_option_for_a_language_has_the_same_type() -> None:
    for name, command in commands():
        for option in command.params:
            if {"--lang", "--into"} & set(option.opts):
                assert isinstance(option.type, LanguageName), f"{name} {option.opts}"


def test_options_for_formats_grades_and_measures_have_the_same_name_everywhere() -> None:
    words = {"FORMAT": {"--from", "--to"}, "GRADE": {"--relevant-from"}, "MEASURE": {"--measure"}}
    for name, command in commands():
        for option in command.params:
            if isinstance(option, click.Option) and option.metavar in words:
                assert option.opts[-1] in words[option.metavar], name


def test_the_help_lists_every_verb_once_in_its_group(mathsetu: Mathsetu) -> None:
    shown = mathsetu("--help").out
    for group, verbs in GROUPS.items():
        assert f"\n{group}:\n" in shown
        for verb in verbs:
            assert shown.count(f"\n  {verb} ") == 1


@pytest.mark.thorough
@pytest.mark.parametrize("given", [("posts.jsonl", "lib"), ("posts.jsonl", "more.jsonl", "lib")])
def test_the_old_order_of_arguments_is_accepted_with_a_hint(
    mathsetu: Mathsetu, source: Path, given: tuple[str, ...]
) -> None:
    jsonl.write_posts(source.with_name("more.jsonl"), [Post(id="3", body="matrices")])
    options = ("--recipe", "light.toml", "--processes", "1")
    for _ in range(2):  # a new library, then one that is replaced
        done = mathsetu("index", *given, *options)
        assert done.code == 0
        assert ORDER in done.err
        assert f"lib: {len(given)} posts indexed" in done.out
    assert "hint" not in mathsetu("index", "lib", *given[:-1], *options).err


@pytest.mark.thorough
def test_the_sampler_is_a_source_in_either_order(mathsetu: Mathsetu, source: Path) -> None:
    options = ("--recipe", "light.toml", "--processes", "1")
    assert "hint" not in mathsetu("index", "lib", "sampler", *options).err
    assert ORDER in mathsetu("index", "sampler", "lib", *options).err
    # If a file follows, the name can only mean a library.
    assert mathsetu("index", "sampler", "posts.jsonl", *options).code == 0
    assert Path("sampler", "manifest.json").is_file()


def test_a_folder_that_is_not_a_library_is_not_used_as_one(
    mathsetu: Mathsetu, source: Path
) -> None:
    folder = source.with_name("notes")
    folder.mkdir()
    (folder / "a.md").write_text("primes", encoding="utf-8")
    for given in (("notes", "posts.jsonl"), ("posts.jsonl", "notes")):
        assert mathsetu("index", *given, "--recipe", "light.toml").code == 2
    assert [path.name for path in folder.iterdir()] == ["a.md"]


def test_remove_names_unknown_ids(mathsetu: Mathsetu, source: Path) -> None:
    mathsetu("index", "lib", source, "--recipe", "light.toml", "--processes", "1")
    done = mathsetu("remove", "lib", "9", "1", "8", "9")
    assert done.code == 1
    assert done.out == "lib: 1 post removed\n"
    assert done.err == "there is no post with the id '9'\nthere is no post with the id '8'\n"
    assert mathsetu("remove", "lib", "1", "--json").out == '{\n  "removed": 0,\n  "unknown": [\n    "1"\n  ]\n}\n'  # noqa: E501 # fmt: skip


@pytest.mark.thorough
def test_messages_about_one_post_use_the_singular(mathsetu: Mathsetu, source: Path) -> None:
    options = ("--recipe", "light.toml", "--processes", "1")
    jsonl.write_posts(source, [Post(id="1", body="primes")])
    assert "lib: 1 post indexed" in mathsetu("index", "lib", source, *options).out
    jsonl.write_posts(source, [Post(id="2", body="circles")])
    assert "lib: 1 post added" in mathsetu("add", "lib", source).out
    assert mathsetu("optimize", "lib").out == "lib: 1 segment\n"
    assert "1 span, 0 formulas" in mathsetu("inspect", "primes").out


@pytest.mark.parametrize(
    ("former", "present"),
    [
        (("translate", "prime", "--from", "en", "--to=hi", "--backend", "glossary"), "--into"),
        (("translate", "--backends"), "--translators"),
        (("glossary", "match", "prime", "--to", "hi"), "--into"),
        (("validate", "run.txt", "--format", "trec-run"), "--from"),
        (("formula", "x", "--svg", "tree.svg"), "--write"),
        (("fuse", "combsum", "run.txt", "run.txt", "out.txt", "--depth", "1"), "--k"),
    ],
)
def test_old_names_of_options_are_accepted_with_a_hint(
    mathsetu: Mathsetu, tmp_path: Path, former: tuple[str, ...], present: str
) -> None:
    trec.write_run(tmp_path / "run.txt", Run("r", {"1": (Hit("a", 1.0), Hit("b", 0.5))}))
    done = mathsetu(*former)
    assert done.code == 0, done.err
    assert f"is now called {present}" in done.err
    assert done.err.count("hint: ") == sum(one.startswith("--") for one in former)


def test_the_constant_of_rrf_and_the_number_of_hits_are_separate_options(
    mathsetu: Mathsetu, tmp_path: Path
) -> None:
    trec.write_run(tmp_path / "run.txt", Run("r", {"1": (Hit("a", 1.0), Hit("b", 0.5))}))
    given = ("fuse", "rrf", "run.txt", "run.txt", "-")
    assert mathsetu(*given, "--rrf-k", "1", "--k", "1").out == "1 Q0 a 1 1.0 rrf\n"
    assert "hint" in mathsetu(*given, "--k", "1").err


def test_a_fusion_without_a_target_does_not_overwrite_the_last_run(
    mathsetu: Mathsetu, tmp_path: Path
) -> None:
    files = ("one.txt", "two.txt", "three.txt")
    for name in files:
        trec.write_run(tmp_path / name, Run(name, {"1": (Hit("a", 1.0),)}))
    for given in (files[:2], files):
        before = (tmp_path / given[-1]).read_bytes()
        said = mathsetu.refuses("fuse", "rrf", *given)
        assert f"{given[-1]}: exists; the result is written to the last file" in said
        assert "use --overwrite to replace it" in said
        assert (tmp_path / given[-1]).read_bytes() == before
    (tmp_path / "qrels.txt").write_text("1 0 a 1\n")
    assert "qrels.txt: exists" in mathsetu.refuses("fuse", "rrf", *files, "qrels.txt")
    assert mathsetu("fuse", "rrf", *files, "--overwrite").code == 0
    assert (tmp_path / "three.txt").read_bytes() != before
    # The output of a fusion can be the input of another.
    for name in ("rrf", "mine"):
        said = mathsetu.refuses("fuse", "rrf", *files, "--name", name)
        assert "three.txt: exists; the result" in said
        assert mathsetu("fuse", "rrf", *files, "--name", name, "--overwrite").code == 0
