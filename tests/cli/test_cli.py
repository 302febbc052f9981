"""The command line: output, exit codes, one clear line for each mistake."""

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
from mathsetu.cli.serve import _key
from tests.command import Mathsetu
from tests.light import LIGHT_TOML


def started(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """The command line in its own process, as a shell starts it."""
    return subprocess.run(
        [sys.executable, "-m", "mathsetu", *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.fixture
def sampler(mathsetu: Mathsetu, tmp_path: Path) -> Path:
    folder = tmp_path / "sampler"
    assert mathsetu("sampler", "export", folder).code == 0
    return folder


@pytest.mark.thorough
def test_a_shell_gets_output_and_exit_codes() -> None:
    spans = json.loads(started("inspect", "--json", "-", stdin="Let $x$").stdout)["spans"]
    assert [span["kind"] for span in spans] == ["text", "formula"]
    refused = started("inspect", "--file", "missing.md")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.startswith("mathsetu: missing.md: cannot be read")


def test_help_lists_every_verb_and_each_has_help(mathsetu: Mathsetu) -> None:
    listing = mathsetu("--help").out
    for verb in VERBS:
        assert verb in listing
        help_text = CliRunner().invoke(import_module(f"mathsetu.cli.{verb}").command, ["--help"])
        assert f"Usage: {verb}" in help_text.output


def test_examples_in_help_texts_keep_their_line_breaks() -> None:
    for words in [*([verb] for verb in VERBS), ["train", "graph"], ["graph", "compare"]]:
        with pytest.raises(SystemExit), redirect_stdout(StringIO()) as shown:
            main([*words, "--help"])
        lines = shown.getvalue().splitlines()
        assert not any("\\b" in line.split() for line in lines), words
        if "Examples:" in shown.getvalue():
            place = next(number for number, line in enumerate(lines) if "Examples:" in line)
            assert lines[place].strip() == "Examples:", words
            assert lines[place + 1].startswith("    mathsetu "), words


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_printed(mathsetu: Mathsetu, shell: str) -> None:
    assert "_MATHSETU_COMPLETE" in mathsetu("completion", shell).out


def test_inspect_shows_spans(mathsetu: Mathsetu) -> None:
    shown = mathsetu("inspect", "It costs $5, and $x^2$ is even").out
    assert "x^2" in shown
    assert "3 spans, 1 formula\n" in shown


def test_inspect_shows_prices_without_backslashes(mathsetu: Mathsetu) -> None:
    shown = mathsetu("inspect", r"A pencil costs \$5 if $x=\$5$").out
    assert "A pencil costs $5 if" in shown
    assert r"x=\$5" in shown


def test_inspect_shows_a_file_as_the_index_reads_it(mathsetu: Mathsetu) -> None:
    front = "---\ntitle: Sums\ntags: [series]\nlang: en\n---\n"
    Path("note.md").write_text(f"{front}See [[Zeta|the function]].\n\n# More\n\n$x$")
    shown = mathsetu("inspect", "--file", "note.md").out
    assert "note.md#more" in shown
    assert "See the function." in shown
    assert not {"---", "[[", "tags:"} & set(shown.split())
    told = json.loads(mathsetu("inspect", "--file", "note.md", "--json").out)
    first, second = told["posts"]
    assert (first["id"], first["language"], first["tags"]) == ("note.md", "en", ["series"])
    assert (second["id"], second["text"], told["more"]) == (
        "note.md#more",
        "Sums › More\n$x$",
        False,
    )
    definition = r"\documentclass{article}\newcommand{\R}{\mathbb{R}}"
    Path("main.tex").write_text(definition + r"\begin{document}Let $x\in\R$.\end{document}")
    shown = mathsetu("inspect", "--file", "main.tex").out
    assert r"x\in\mathbb{R}" in shown
    assert "documentclass" not in shown
    assert "documentclass" in mathsetu("inspect", "--file", "main.tex", "--form", "text").out
    Path("sheet.csv").write_text("text\n" + "A prime.\n" * 12)
    assert (
        "the first 10 posts; --id ID shows any other"
        in mathsetu("inspect", "--file", "sheet.csv").out
    )
    Path("README.note").write_text("Costs $x$ here")
    assert "1 formula" in mathsetu("inspect", "--file", "README.note").out


def test_inspect_refuses_id_and_form_together(mathsetu: Mathsetu) -> None:
    Path("note.md").write_text("Some $x$", encoding="utf-8")
    asked = ("inspect", "--file", "note.md", "--id", "note.md", "--form", "text")
    assert "give either --id or --form" in mathsetu.refuses(*asked)


def test_inspect_says_that_a_text_is_also_the_name_of_a_file(mathsetu: Mathsetu) -> None:
    Path("note.md").write_text("Some $x$", encoding="utf-8")
    shown = mathsetu("inspect", "note.md")
    assert shown.err == "note.md is also a file; --file note.md reads it\n"
    assert mathsetu("inspect", "note.txt").err == ""


def test_inspect_refuses_unsupported_types_of_files(mathsetu: Mathsetu) -> None:
    Path("test.odt").write_bytes(b"PK\x03\x04\x98\xff")
    for command in (("--file", "test.odt"), ("--problems", "--file", "test.odt")):
        assert "is not a supported type of file" in mathsetu.refuses("inspect", *command)


FAULTY = r"""# Means

So $\frac{a+b}2\ge\sqrt{ab}.

# Roots

Here $\sqrt{x$ and $x$; $\foo+{y$.
"""


def test_formulas_that_are_read_in_part_are_reported_and_listed(mathsetu: Mathsetu) -> None:
    Path("notes").mkdir()
    Path("notes/a.md").write_text(FAULTY)
    built = mathsetu("index", "lib", "notes", "--recipe", "msm-bm25", "--processes", "1")
    assert "  read in part: 1 × a dollar sign that is not closed (notes/a.md#means)" in built.out
    assert r"  read in part: 1 × { is not closed (\sqrt{x)" not in built.out  # no formula index
    Path("light.toml").write_text(LIGHT_TOML)
    report = mathsetu.json("index", "lib2", "notes", "--recipe", "light.toml", "--processes", "1")
    assert {(one["reason"], *one["first"]) for one in report["faulty_formulas"]} == {
        ("a dollar sign that is not closed", "notes/a.md#means"),
        ("{ is not closed", r"\sqrt{x"),
        (r"unknown command \foo", r"\foo+{y"),
    }
    for place in ("notes", "lib"):
        listed = mathsetu("inspect", "--problems", "--file", place)
        assert listed.code == 1
        assert listed.out.splitlines() == [
            "notes/a.md#means  a dollar sign that is not closed",
            r"notes/a.md#roots  { is not closed at character 7: \sqrt{x",
            r"notes/a.md#roots  unknown command \foo at character 0: \foo+{y",
            r"notes/a.md#roots  { is not closed at character 7: \foo+{y",
            "4 problems in 2 of 2 posts",
        ]
    Path("notes/old.odt").write_bytes(b"PK\x03\x04\x98")
    Path("notes/t.csv").write_text("Frage,Antwort\nA,B\n")
    Path("notes/bad.md").write_bytes(b"\xe4")
    listed = mathsetu("inspect", "--problems", "--file", "notes")
    assert "  skipped: 1 × unsupported file type (notes/old.odt)" in listed.out
    assert "notes/t.csv" in listed.out + listed.err
    assert "notes/bad.md" in listed.err
    for name in ("old.odt", "t.csv", "bad.md"):
        Path("notes", name).unlink()
    Path("good.md").write_text("So $x$.")
    good = mathsetu("inspect", "--problems", "--file", "good.md")
    assert (good.code, good.out) == (0, "0 problems in 0 of 1 post\n")
    told = json.loads(mathsetu("inspect", "--problems", "--file", "notes", "--json").out)
    assert (told["posts"], told["errors"], told["ignored"]) == (2, [], [])
    assert told["problems"][1] == {
        "id": "notes/a.md#roots", "message": "{ is not closed", "latex": r"\sqrt{x", "position": 7
    }  # fmt: skip
    assert "needs --file" in mathsetu.refuses("inspect", "--problems", "$x$")


def test_inspect_says_why_there_is_nothing_to_show(mathsetu: Mathsetu) -> None:
    Path("empty.md").write_text("")
    Path("blank.md").write_text("<!-- later -->\n")
    assert mathsetu("inspect", "--file", "empty.md").out == "empty.md: an empty file\n"
    assert mathsetu("inspect", "--file", "blank.md").out == "blank.md: no text in it\n"
    told = json.loads(mathsetu("inspect", "--file", "empty.md", "--json").out)
    assert told == {"posts": [], "more": False}
    assert "(an empty file: empty.md)" in mathsetu.refuses("index", "lib", "empty.md")


def test_inspect_shows_a_post_of_a_library(mathsetu: Mathsetu) -> None:
    Path("sheet.csv").write_text("question,answer\nWhat is the square?,$n^2$\n")
    mathsetu("index", "lib", "sheet.csv", "--recipe", "msm-bm25", "--processes", "1")
    told = json.loads(mathsetu("inspect", "--file", "lib", "--id", "sheet.csv#2", "--json").out)
    assert (told["id"], told["language"]) == ("sheet.csv#2", "en")
    assert told["text"].split("\n") == ["What is the square?", "$n^2$"]
    assert "no post with the id 'void'" in mathsetu.refuses(
        "inspect", "--file", "lib", "--id", "void"
    )
    for form in ((), ("--form", "text")):
        assert "--id ID shows one" in mathsetu.refuses("inspect", "--file", "lib", *form)


def test_inspect_shows_formulas_of_html_as_they_are_indexed(mathsetu: Mathsetu) -> None:
    page = "<p>See <math><msup><mi>x</mi><mn>2</mn></msup></math></p>"
    shown = json.loads(mathsetu("inspect", page, "--form", "html", "--json").out)
    assert shown["text"] == "See $x^{2}$"
    assert [span["content"] for span in shown["spans"] if span["kind"] == "formula"] == ["x^{2}"]


def test_inspect_finds_a_post_of_a_collection(mathsetu: Mathsetu, sampler: Path) -> None:
    posts = str(sampler / "posts.jsonl")
    shown = json.loads(
        mathsetu("inspect", "--file", posts, "--id", "basel-problem.hr", "--json").out
    )
    assert any(span["kind"] == "formula" for span in shown["spans"])


def test_untrusted_text_cannot_control_the_terminal(mathsetu: Mathsetu) -> None:
    assert "\x1b" not in mathsetu("inspect", "a \x1b[31mred [bold]b[/bold] $x$").out


@pytest.mark.thorough
def test_sampler_shows_its_content(mathsetu: Mathsetu) -> None:
    assert json.loads(mathsetu("sampler", "--json").out)["topics"] == 48
    assert "$" in mathsetu("sampler", "show", "gaussian-integral.hi").out
    assert mathsetu("sampler", "show", "nothing.en").code == 2


@pytest.mark.thorough
def test_repeated_conversion_changes_nothing(
    mathsetu: Mathsetu, sampler: Path, tmp_path: Path
) -> None:
    first, second = tmp_path / "a.jsonl.gz", tmp_path / "b.jsonl"
    assert mathsetu("convert", str(sampler / "posts.jsonl"), str(first)).code == 0
    assert mathsetu("convert", str(first), str(second)).code == 0
    assert mathsetu("convert", str(second), str(tmp_path / "c.jsonl")).code == 0
    assert second.read_bytes() == (tmp_path / "c.jsonl").read_bytes()


def test_convert_lists_formats(mathsetu: Mathsetu) -> None:
    names = {row["format"] for row in json.loads(mathsetu("convert", "--formats", "--json").out)}
    assert {"jsonl-posts", "clmir-submission", "stackexchange", "trec-run", "folder"} <= names


def test_bad_rows_stop_the_conversion_or_are_skipped_and_counted(
    mathsetu: Mathsetu, tmp_path: Path
) -> None:
    source, target = tmp_path / "posts.jsonl", tmp_path / "out.jsonl"
    source.write_text('{"id": "1", "body": "a"}\n{"id": "2"}\n{"id": "3", "body": "c"}\n')
    refused = mathsetu("convert", str(source), str(target))
    assert refused.code == 2
    assert "posts.jsonl line 2" in refused.err
    assert not target.exists()
    skipped = mathsetu("convert", str(source), str(target), "--skip-bad", "--json")
    assert json.loads(skipped.out)["skipped"] == 1
    assert target.exists()


def test_a_wrong_submission_is_rejected_with_exit_code_1(
    mathsetu: Mathsetu, tmp_path: Path
) -> None:
    good, wrong = tmp_path / "good.csv", tmp_path / "wrong.csv"
    header = "QueryID,SearchID,Run Number,Similarity Score\n"
    good.write_text(header + "q_1,77,1,0.9\nq_1,78,1,0.8\n")
    wrong.write_text(header + "q_1,77,9,high\n")
    assert mathsetu("validate", str(good)).code == 0
    verdict = mathsetu("validate", str(wrong))
    assert verdict.code == 1
    assert "line 2" in verdict.out


@pytest.mark.parametrize("row", ["{} Q0 {} 1 0.9 ours", "{}\t{}\t1\t0.9\tours"])
def test_validate_checks_runs_against_topics_and_posts(
    mathsetu: Mathsetu, tmp_path: Path, row: str
) -> None:
    run, topics, posts = tmp_path / "run.tsv", tmp_path / "topics.jsonl", tmp_path / "posts.jsonl"
    topics.write_text('{"id": "A.1", "text": "primes"}\n')
    posts.write_text('{"id": "7", "body": "A prime."}\n')
    run.write_text(row.format("A.1", 7) + "\n")
    options = ("--topics", topics, "--posts", posts)
    assert mathsetu("validate", run, *options).code == 0
    run.write_text("".join(row.format(*ids) + "\n" for ids in (("A.1", 8), ("A.2", 7))))
    assert mathsetu("validate", run).code == 0
    told = mathsetu("validate", run, *options)
    assert told.code == 1
    assert "line 1: 8 is not a post of the collection" in told.out
    assert "line 2: A.2 is not a topic" in told.out
    told = mathsetu("validate", posts, *options)
    assert (told.code, "not runs" in told.err) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["convert", "missing.jsonl", "x.jsonl"], "missing.jsonl: cannot be read"),
        (["convert", "--from", "docx", "a", "b"], "unknown format 'docx'"),
        (["inspect"], "give either a TEXT or --file"),
        (["inspect", "--file", "missing.md"], "missing.md: cannot be read"),
        (["validate", "missing.csv"], "missing.csv: cannot be read"),
        (["nothing"], "No such command 'nothing'. mathsetu --help lists them."),
        (["serch"], "No such command 'serch'. Did you mean search or serve?"),
        (
            ["glossary", "eigenvalue"],
            "No such command 'eigenvalue'. "
            "Commands of mathsetu glossary: export, import, match, search.",
        ),
        (["sampler", "shw"], "No such command 'shw'. Did you mean show?"),
        (["formula", " "], "LATEX: the formula is empty"),
        (["formula", "x", "--against", ""], "--against: the formula is empty"),
    ],
)
def test_a_mistake_of_the_user_gets_one_clear_line_and_exit_code_2(
    mathsetu: Mathsetu, arguments: list[str], message: str
) -> None:
    result = mathsetu(*arguments)
    assert result.code == 2
    assert message in result.err
    assert "Traceback" not in result.err


@pytest.mark.parametrize(
    "arguments",
    [
        ["index", "{}", "sampler"],
        ["index", "new.library", "{}"],
        ["add", "{}", "sampler"],
        ["search", "{}", "prime"],
        ["info", "{}"],
        ["convert", "{}", "posts.jsonl"],
        ["convert", "sampler/posts.jsonl", "{}.jsonl"],
    ],
)
def test_every_verb_reports_an_invalid_path_in_one_line(
    mathsetu: Mathsetu,
    sampler: Path,
    arguments: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    # The name is too long: permissions would not stop root.
    refused = mathsetu.refuses(*(argument.format("x" * 300) for argument in arguments))
    assert refused.startswith(f"mathsetu: {'x' * 300}")
    assert refused.endswith("(file name too long)")


def test_converting_posts_to_a_format_of_judgments_is_refused(
    mathsetu: Mathsetu, sampler: Path, tmp_path: Path
) -> None:
    result = mathsetu(
        "convert", str(sampler / "posts.jsonl"), str(tmp_path / "x"), "--to", "trec-qrels"
    )
    assert result.code == 2
    assert "jsonl-posts holds posts, trec-qrels holds judgments" in result.err


@pytest.mark.parametrize(
    ("source", "target", "written"),
    [
        ("answers.tsv", "c.run", "trec-run"),
        ("answers.tsv", "c.txt", "trec-run"),
        ("answers.tsv", "c.trec.gz", "trec-run"),
        ("answers.tsv", "c", "trec-run"),
        ("answers.tsv", "c.tsv", "arqmath-answer-run"),
        ("formulas.tsv", "c.tsv", "arqmath-formula-run"),
        ("some.run", "c.tsv", "trec-run"),
        ("some.run", "c.csv", "clmir-submission"),
    ],
)
def test_a_run_is_written_in_trec_format_unless_the_file_name_says_otherwise(
    mathsetu: Mathsetu, tmp_path: Path, source: str, target: str, written: str
) -> None:
    (tmp_path / "answers.tsv").write_text("A.1\t7\t1\t2.5\tmine\n")
    (tmp_path / "formulas.tsv").write_text("B.1\t55\t7\t1\t2.5\tmine\n")
    (tmp_path / "some.run").write_text("A.1 Q0 7 1 2.5 mine\n")
    told = mathsetu("convert", source, target, "--json")
    assert json.loads(told.out)["to"] == written
    again = json.loads(mathsetu("convert", target, "again.run", "--json").out)
    assert again["from"] == written
    is_named = written != "clmir-submission"  # this format numbers its runs
    assert (tmp_path / "again.run").read_text().rstrip().endswith("mine") == is_named


@pytest.mark.parametrize("target", ["c.jsonl", "c.xml", "-"])
def test_convert_needs_a_format_for_a_run_if_the_name_of_the_target_gives_none(
    mathsetu: Mathsetu, tmp_path: Path, target: str
) -> None:
    (tmp_path / "some.run").write_text("A.1 Q0 7 1 2.5 mine\n")
    assert "say --to one of" in mathsetu.refuses("convert", "some.run", target)


def test_validate_shows_the_first_problems_with_errors_before_warnings(
    mathsetu: Mathsetu, tmp_path: Path
) -> None:
    rising = [f"A.1 Q0 p{rank} {rank} {rank} x\n" for rank in range(1, 60)]
    run = tmp_path / "rising.run"
    run.write_text("".join([*rising, "A.1 Q0 p1 60 1 x\n"]), encoding="utf-8")
    told = mathsetu("validate", run)
    first, *_, more, verdict = told.out.splitlines()
    assert "line 60" in first
    assert "warning" not in first
    assert len(told.out.splitlines()) == 22
    assert "more problems; --json lists all" in more
    assert "would be rejected" in verdict


def test_a_formula_may_be_typed_as_in_a_query(mathsetu: Mathsetu) -> None:
    done = mathsetu("formula", "sqrt(2)", "--against", "x^10").out
    assert "sqrt(2) is read as \\sqrt{2}\n" in done
    assert "x^10 is read as x^{10}\n" in done
    typed, latex = (mathsetu.json("formula", one) for one in ("sqrt(2)", "\\sqrt{2}"))
    assert typed == latex
    assert "is read as" not in mathsetu("formula", "a^2 + b^2").out


def test_a_key_is_read_from_a_file_or_from_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MATHSETU_KEY", raising=False)
    assert _key(None, "MATHSETU_KEY") == ""
    monkeypatch.setenv("MATHSETU_KEY", "of the environment")
    assert _key(None, "MATHSETU_KEY") == "of the environment"
    (tmp_path / "key").write_text(" of-a-file\n")
    assert _key(tmp_path / "key", "MATHSETU_KEY") == "of-a-file"
