"""No output of a verb can control the terminal, whatever text it quotes."""

import ast
import json
import os
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import mathsetu.cli
from mathsetu.printable import one_line, visible, visible_json
from tests.command import Mathsetu, Result

# Codes that clear the screen, set the title or the direction; C1 and DEL; a lone surrogate.
EVIL = "\x1b[2J\x1b]0;pwned\x07\x9b31m\x7f\u202egpj.exe\u2066\u2028\r\x08"
HALF = "\ud800"
UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
TOML_EVIL = EVIL.encode("unicode_escape").decode().replace("\\x", "\\u00")


def assert_harmless(result: Result) -> None:
    assert not UNSAFE.search(result.out), repr(result.out)
    assert not UNSAFE.search(result.err), repr(result.err)
    assert "Traceback" not in result.err
    assert result.code in (0, 1, 2)


@pytest.mark.thorough
@given(st.text())
def test_visible_text_has_no_unsafe_characters(text: str) -> None:
    assert not UNSAFE.search(visible(text))
    assert not re.search(r"[\n\t]", one_line(text))
    visible(text).encode("utf-8")


@given(st.recursive(st.text(), lambda part: st.lists(part) | st.dictionaries(st.text(), part)))
@pytest.mark.thorough
def test_visible_json_has_the_same_value(value: object) -> None:
    text = visible_json(json.dumps(value, ensure_ascii=False, indent=2))
    assert not UNSAFE.search(text)
    assert json.loads(text) == value


def test_text_in_any_script_stays_unchanged() -> None:
    for text in ("می\u200cخواهم", "क्\u200dष", "e\u0301 中文 ∫ 𝔸 😀", "\u200fعربی\u200e", "a\tb\nc"):
        assert visible(text) == text


def test_only_one_module_prints() -> None:
    """A verb that prints directly would not escape its text."""
    folder = Path(mathsetu.cli.__file__).parent
    for file in folder.glob("*.py"):
        if file.name == "output.py":
            continue
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                assert called not in ("print", "click.echo", "click.secho"), file.name


@pytest.fixture
def post() -> dict[str, object]:
    keys = ("id", "title", "body", "language", "kind", "thread_id", "url", "collection")
    hostile: dict[str, object] = {key: f"{key} {EVIL}" for key in keys}
    return hostile | {"body": f"a prime number $x^2 {EVIL}$ {EVIL} \\text{{{EVIL}}}",
                      "tags": [f"tag{EVIL}"]}  # fmt: skip


@pytest.mark.thorough
def test_a_hostile_library_is_shown_harmlessly(mathsetu: Mathsetu, post: dict[str, object]) -> None:
    source, library = f"posts{EVIL}.jsonl", f"lib{EVIL}"
    Path(source).write_text(json.dumps(post) + "\n")
    assert_harmless(mathsetu("index", library, source, "--processes", "1"))
    for arguments in (
        ("info", library),
        ("info", library, "--check"),
        ("info", library, "--json"),
        ("search", library, f"prime $x^2$ {EVIL}", "--explain"),
        ("search", library, "prime $x^2$", "--json"),
        ("search", library, "prime", "--in", EVIL),
        ("search", library, "prime", "--tag", EVIL),
        ("inspect", "--file", source, "--id", f"id {EVIL}"),
        ("inspect", "--file", source, "--id", EVIL),
        ("inspect", "--file", source, "--id", f"id {EVIL}", "--json"),
        ("validate", source),
        ("convert", source, f"out{EVIL}.jsonl"),
        ("convert", source, EVIL),
        ("convert", source, "x.jsonl", "--to", EVIL),
        ("add", library, source),
        ("remove", library, f"id {EVIL}"),
        ("info", f"absent{EVIL}"),
        ("search", f"absent{EVIL}", "x"),
    ):
        assert_harmless(mathsetu(*arguments))


def test_errors_about_hostile_rows_are_one_harmless_line(mathsetu: Mathsetu) -> None:
    Path("a.jsonl").write_text(
        json.dumps({"id": "1", "body": "x", f"key{EVIL}{HALF}\nmathsetu: forged": 1}) + "\n"
        + json.dumps({"id": f"2{EVIL}", "body": "y"}) + "\n"
        + json.dumps({"id": f"2{EVIL}", "body": "y"}) + "\n"
    )  # fmt: skip
    for arguments in (
        ("index", "lib", "a.jsonl"),
        ("index", "lib", "a.jsonl", "--skip-bad", "--processes", "1"),
        ("validate", "a.jsonl"),
        ("validate", "a.jsonl", "--json"),
        ("convert", "a.jsonl", "b.jsonl"),
        ("convert", "a.jsonl", "b.jsonl", "--skip-bad", "--json"),
    ):
        result = mathsetu(*arguments)
        assert_harmless(result)
        assert not re.search("^mathsetu: forged", result.err + result.out, re.MULTILINE)


@pytest.mark.thorough
def test_hostile_runs_and_judgments_are_shown_harmlessly(mathsetu: Mathsetu) -> None:
    evil = "".join(char for char in EVIL if not char.isspace()) + "[red]"
    Path("qrels.txt").write_text(f"A.1{evil} 0 7 3\nA.1{evil} 0 9 0\n", encoding="utf-8")
    for name in ("a", "b"):
        rows = f"A.1{evil} Q0 7 1 2.5 run{name}{evil}\nA.2{evil} Q0 9 2 3.5 run{name}{evil}\n"
        Path(f"{name}{evil}.run").write_text(rows, encoding="utf-8")
    Path("topics.csv").write_text(f"topic,kind\nA.1{evil},k{evil}\n", encoding="utf-8")
    Path("bad.run").write_text(f"A.1 Q0 7 1 2.5 r\nA.1 Q0 8 {evil} {evil} r\n", encoding="utf-8")
    one, two = f"a{evil}.run", f"b{evil}.run"
    for arguments in (
        ("evaluate", "qrels.txt", one),
        ("evaluate", "qrels.txt", one, "--json"),
        ("evaluate", "qrels.txt", one, "--per-topic"),
        ("evaluate", "qrels.txt", one, "--by", "kind", "--topics", "topics.csv"),
        ("evaluate", "qrels.txt", one, "--by", evil, "--topics", "topics.csv"),
        ("evaluate", "qrels.txt", one, "-m", evil),
        ("evaluate", "qrels.txt", "bad.run"),
        ("compare", "qrels.txt", one, two),
        ("compare", "qrels.txt", one, two, "--by", "kind", "--topics", "topics.csv"),
        ("fuse", "rrf", one, two, f"out{evil}.run"),
        ("fuse", "rrf", one, "bad.run", f"more{evil}.run"),
        ("fuse", evil, one, two, f"more{evil}.run"),
        ("validate", one),
        ("validate", "bad.run"),
        ("validate", "bad.run", "--from", evil),
    ):
        assert_harmless(mathsetu(*arguments))
    assert Path(f"out{evil}.run").exists()


@pytest.mark.thorough
def test_hostile_arguments_and_recipes_are_shown_harmlessly(mathsetu: Mathsetu) -> None:
    Path(f"r{EVIL}.toml").write_text(f'name = "n{TOML_EVIL}"\ndescription = "{TOML_EVIL}"\n')
    Path("t.toml").write_text(f'name = "x"\n"{TOML_EVIL}" = 1\n')
    Path("raw.toml").write_text(f"# {EVIL}\n", encoding="utf-8")
    for arguments in (
        ("recipes", f"r{EVIL}.toml"),
        ("recipes", "t.toml"),
        ("recipes", "raw.toml"),
        ("recipes", EVIL),
        ("index", "lib", "sampler", "--recipe", EVIL),
        ("index", "lib", "sampler", "--set", f"{EVIL}=1"),
        ("index", "lib", "sampler", "--set", f"parts.{EVIL}.x={EVIL}"),
        ("formula", f"x^{{{EVIL}}} \\{EVIL} \\begin{{{EVIL}}} {HALF}"),
        ("formula", f"x {EVIL}", "--against", f"y {EVIL}", "--features"),
        ("formula", f"?a{EVIL} \\text{{{EVIL}}}", "--against", f"\\text{{{EVIL}}}", "--json"),
        ("formula", f"\\text{{{EVIL}}}", "--mathml"),
        ("formula", "x", "--write", f"{EVIL}.png"),
        ("translate", "--lang", "en", "--into", "hi", f"prime {EVIL} $x {EVIL}$"),
        ("translate", "--lang", EVIL, "--into", EVIL, "x"),
        ("translate", "--lang", "en", "--translator", EVIL, "x"),
        ("analyze", f"prime {EVIL} {HALF}"),
        ("analyze", f"prime {EVIL} {HALF}", "--json"),
        ("analyze", "prime", "--lang", EVIL),
        ("glossary", "search", EVIL),
        ("glossary", "match", f"prime {EVIL}", "--into", EVIL),
        ("inspect", f"{EVIL} $x$ {HALF} [red]"),
        ("inspect", f"{EVIL} $x$ {HALF}", "--json"),
        ("inspect", "--file", f"absent{EVIL}"),
        ("sampler", "show", EVIL),
        (EVIL,),
        ("search", f"--{EVIL}"),
        ("search", "lib", "x", "--k", EVIL),
    ):
        assert_harmless(mathsetu(*arguments))


@pytest.mark.thorough
def test_a_terminal_gets_converted_posts_without_escapes(tmp_path: Path) -> None:
    """Output to a file stays unchanged; output to a terminal is escaped."""
    import pty
    import subprocess
    import sys

    path = tmp_path / "posts.jsonl"
    path.write_text(json.dumps({"id": "1", "body": f"x {EVIL}"}) + "\n")
    command = [sys.executable, "-m", "mathsetu", "convert", str(path), "-", "--to", "jsonl-posts"]
    piped = subprocess.run(command, capture_output=True, check=True)
    assert "\x9b".encode() in piped.stdout
    ours, theirs = pty.openpty()
    subprocess.run(command, stdout=theirs, check=True)
    os.close(theirs)
    shown = os.read(ours, 100_000).decode("utf-8").replace("\r\n", "\n")
    os.close(ours)
    assert '"id": "1"' in shown
    assert not UNSAFE.search(shown)
