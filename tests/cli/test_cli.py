"""The command line as a user meets it: output, exit codes, one clear line for each mistake."""

import json
import subprocess
import sys
from contextlib import redirect_stdout
from importlib import import_module
from io import StringIO
from pathlib import Path

import pytest
from click.testing import CliRunner

from mathsetu.cli import VERBS, main


def run(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from mathsetu.cli import main; main()", *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.fixture
def sampler(tmp_path: Path) -> Path:
    folder = tmp_path / "sampler"
    assert run("sampler", "export", str(folder)).returncode == 0
    return folder


def test_help_lists_every_verb_and_each_has_help() -> None:
    listing = run("--help").stdout
    for verb in VERBS:
        assert verb in listing
        help_text = CliRunner().invoke(import_module(f"mathsetu.cli.{verb}").command, ["--help"])
        assert f"Usage: {verb}" in help_text.output


def test_examples_in_help_texts_keep_their_lines() -> None:
    for words in [*([verb] for verb in VERBS), ["graph", "train"], ["graph", "compare"]]:
        with pytest.raises(SystemExit), redirect_stdout(StringIO()) as shown:
            main([*words, "--help"])
        lines = shown.getvalue().splitlines()
        assert not any("\\b" in line.split() for line in lines), words
        if "Examples:" in shown.getvalue():
            place = next(number for number, line in enumerate(lines) if "Examples:" in line)
            assert lines[place].strip() == "Examples:", words
            assert lines[place + 1].startswith("    mathsetu "), words


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_printed(shell: str) -> None:
    assert "_MATHSETU_COMPLETE" in run("completion", shell).stdout


def test_inspect_shows_spans() -> None:
    shown = run("inspect", "It costs $5, and $x^2$ is even").stdout
    assert "x^2" in shown
    assert "3 spans, 1 formulas" in shown


def test_inspect_speaks_json() -> None:
    spans = json.loads(run("inspect", "--json", "-", stdin="Let $x$").stdout)["spans"]
    assert [span["kind"] for span in spans] == ["text", "formula"]


def test_inspect_finds_a_post_of_a_collection(sampler: Path) -> None:
    posts = str(sampler / "posts.jsonl")
    shown = json.loads(run("inspect", "--file", posts, "--id", "basel-problem.hr", "--json").stdout)
    assert any(span["kind"] == "formula" for span in shown["spans"])


def test_text_from_outside_cannot_drive_the_terminal() -> None:
    assert "\x1b" not in run("inspect", "a \x1b[31mred [bold]b[/bold] $x$").stdout


def test_the_sampler_tells_what_it_holds() -> None:
    assert json.loads(run("sampler", "--json").stdout)["topics"] == 48
    assert "$" in run("sampler", "show", "gaussian-integral.hi").stdout
    assert run("sampler", "show", "nothing.en").returncode == 2


def test_convert_there_and_back_changes_nothing(sampler: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "a.jsonl.gz", tmp_path / "b.jsonl"
    assert run("convert", str(sampler / "posts.jsonl"), str(first)).returncode == 0
    assert run("convert", str(first), str(second)).returncode == 0
    assert run("convert", str(second), str(tmp_path / "c.jsonl")).returncode == 0
    assert second.read_bytes() == (tmp_path / "c.jsonl").read_bytes()


def test_convert_lists_formats() -> None:
    names = {row["format"] for row in json.loads(run("convert", "--formats", "--json").stdout)}
    assert {"jsonl-posts", "clmir-submission", "stackexchange", "trec-run", "folder"} <= names


def test_bad_rows_stop_the_conversion_or_are_skipped_and_counted(tmp_path: Path) -> None:
    source, target = tmp_path / "posts.jsonl", tmp_path / "out.jsonl"
    source.write_text('{"id": "1", "body": "a"}\n{"id": "2"}\n{"id": "3", "body": "c"}\n')
    refused = run("convert", str(source), str(target))
    assert refused.returncode == 2
    assert "posts.jsonl line 2" in refused.stderr
    assert not target.exists()
    skipped = run("convert", str(source), str(target), "--skip-bad", "--json")
    assert json.loads(skipped.stdout)["skipped"] == 1
    assert target.exists()


def test_a_wrong_submission_is_rejected_with_exit_code_1(tmp_path: Path) -> None:
    good, wrong = tmp_path / "good.csv", tmp_path / "wrong.csv"
    header = "QueryID,SearchID,Run Number,Similarity Score\n"
    good.write_text(header + "q_1,77,1,0.9\nq_1,78,1,0.8\n")
    wrong.write_text(header + "q_1,77,9,high\n")
    assert run("validate", str(good)).returncode == 0
    verdict = run("validate", str(wrong))
    assert verdict.returncode == 1
    assert "line 2" in verdict.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["convert", "missing.jsonl", "x.jsonl"], "missing.jsonl: cannot be read"),
        (["convert", "--from", "docx", "a", "b"], "unknown format 'docx'"),
        (["inspect"], "give either a TEXT or --file"),
        (["inspect", "--file", "missing.md"], "missing.md: cannot be read"),
        (["validate", "missing.csv"], "missing.csv: cannot be read"),
        (["nothing"], "No such command 'nothing'"),
    ],
)
def test_a_users_mistake_is_one_clear_line_and_exit_code_2(
    arguments: list[str], message: str
) -> None:
    result = run(*arguments)
    assert result.returncode == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_holding_different_things_is_refused(sampler: Path, tmp_path: Path) -> None:
    result = run("convert", str(sampler / "posts.jsonl"), str(tmp_path / "x"), "--to", "trec-qrels")
    assert result.returncode == 2
    assert "jsonl-posts holds posts, trec-qrels holds judgments" in result.stderr
