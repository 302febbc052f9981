"""The verbs index, add, remove, search, run, info and recipes."""

import errno
import gzip
import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import chdir
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import pytest

from mathsetu.cli.intake import read_sources
from mathsetu.collections import jsonl, sampler
from mathsetu.collections.rows import BadRows
from mathsetu.library import Library
from mathsetu.records import Post, Query
from tests.command import Mathsetu
from tests.light import LIGHT_TOML

BODIES = [
    "There are infinitely many primes.",
    "The area of a circle is $\\pi r^2$.",
    "A matrix $A$ is invertible when $\\det A \\ne 0$.",
]
# Processes that a shell started in the background ignore Ctrl-C, and so do their children.
LISTENS = """
from signal import SIGINT, default_int_handler, signal
from mathsetu.cli import main
signal(SIGINT, default_int_handler)
main()
"""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "posts.jsonl"
    posts = [Post(id=str(n), body=body, language="en") for n, body in enumerate(BODIES)]
    jsonl.write_posts(path, posts)
    return path


@pytest.fixture
def library(tmp_path: Path, source: Path, mathsetu: Mathsetu) -> Path:
    folder = tmp_path / "library"
    assert mathsetu("index", folder, source, "--processes", "1").code == 0
    return folder


# What the verbs do


def test_info_shows_the_content_of_a_library(mathsetu: Mathsetu, library: Path) -> None:
    facts = mathsetu.json("info", library)
    assert isinstance(facts, dict)
    assert facts["posts"] == 3
    assert facts["recipe"] == "default"
    assert facts["languages"] == {"en": 3}
    shown = mathsetu("info", library, "--check").out
    assert "all checksums match" in shown
    assert re.search(r"size +[\d,.]+ [kM]B", shown)
    assert facts["bytes"] > 1_000
    assert all(name.isidentifier() for name in facts)
    assert list(facts["models"]) == ["meaning"]
    assert re.search(f"models +meaning {facts['models']['meaning']}", shown)
    assert re.search(f"written by +{facts['written_by']}", shown)


def test_search_shows_hits_with_their_reasons(mathsetu: Mathsetu, library: Path) -> None:
    shown = mathsetu("search", library, "area of a circle $\\pi s^2$", "--explain", "--k", "1").out
    assert shown.startswith("1. ")
    assert re.search(r"words 0\.\d\d: (circle|area)", shown)
    assert "s → r" in shown


def test_search_prints_json(mathsetu: Mathsetu, library: Path) -> None:
    [first, *_] = mathsetu.json("search", library, "circle")["hits"]  # type: ignore[index, call-overload]
    assert (first["rank"], first["id"]) == (1, "1")
    added = sum(reason["score"] for reason in first["reasons"])
    assert added == pytest.approx(first["score"])


@pytest.mark.thorough
def test_search_without_hits_has_exit_code_1(mathsetu: Mathsetu, library: Path) -> None:
    result = mathsetu("search", library, "zzzzqqqq", "--in", "en")
    assert (result.code, result.out) == (1, "nothing found\n")


def test_search_applies_filters(mathsetu: Mathsetu, library: Path) -> None:
    assert mathsetu("search", library, "circle", "--collection", "posts.jsonl").code == 0
    for wrong in (["--in", "cs"], ["--tag", "none"], ["--collection", "other"]):
        assert mathsetu("search", library, "circle", *wrong).code == 1


@pytest.mark.thorough
def test_posts_are_added_and_removed(mathsetu: Mathsetu, library: Path, tmp_path: Path) -> None:
    more = tmp_path / "more.jsonl"
    jsonl.write_posts(more, [Post(id="new", body="A hypotenuse", language="en")])
    report = mathsetu.json("add", library, more)
    assert isinstance(report, dict)
    assert (report["added"], report["skipped"], report["languages"]) == (1, 0, {"en": 4})
    assert "A hypotenuse" in mathsetu("search", library, "hypotenuse").out
    assert mathsetu.json("remove", library, "new") == {"removed": 1, "unknown": []}
    assert "A hypotenuse" not in mathsetu("search", library, "hypotenuse").out
    assert mathsetu("remove", library, "new").code == 1


@pytest.mark.parametrize("form", ["trec-run", "clmir-submission"])
def test_a_run_file_has_every_topic_and_passes_its_validator(
    mathsetu: Mathsetu, library: Path, tmp_path: Path, form: str
) -> None:
    topics, target = tmp_path / "queries.jsonl", tmp_path / "run.txt"
    jsonl.write_queries(topics, [Query("q1", "primes"), Query("q2", "circle $\\pi r^2$")])
    told = mathsetu.json("run", library, topics, target, "--to", form, "--k", "2")
    assert isinstance(told, dict)
    assert told["topics"] == 2
    written = target.read_text(encoding="utf-8")
    assert "q1" in written
    assert "q2" in written
    assert mathsetu("validate", target, "--from", form).code == 0


@pytest.mark.thorough
def test_a_run_does_not_overwrite_its_input_or_files_that_are_not_runs(
    mathsetu: Mathsetu, library: Path, tmp_path: Path
) -> None:
    topics, qrels, target = tmp_path / "q.jsonl", tmp_path / "qrels.txt", tmp_path / "q.run"
    jsonl.write_queries(topics, [Query("q1", "primes")])
    qrels.write_text("q1 0 7 1\n")
    before = topics.read_bytes()
    for given in ((), ("--overwrite",)):
        said = mathsetu.refuses("run", library, topics, topics, *given)
        assert "q.jsonl: is read by this command" in said
    assert topics.read_bytes() == before
    said = mathsetu.refuses("run", library, topics, qrels)
    assert "qrels.txt: exists, contains judgments, and is not a run (use --overwrite to" in said
    assert qrels.read_text() == "q1 0 7 1\n"
    for _ in range(2):  # a run can be made again
        assert mathsetu("run", library, topics, target).code == 0
    assert mathsetu("run", library, topics, qrels, "--overwrite").code == 0


def test_a_pool_of_other_topics_is_refused(
    mathsetu: Mathsetu, library: Path, tmp_path: Path
) -> None:
    topics, qrels = tmp_path / "q.jsonl", tmp_path / "qrels.txt"
    jsonl.write_queries(topics, [Query("q1", "primes")])
    qrels.write_text("A.1 0 7 1\n")
    said = mathsetu.refuses("run", library, topics, tmp_path / "q.run", "--pool", qrels)
    assert "qrels.txt: judges none of the topics in" in said
    assert not (tmp_path / "q.run").exists()


def test_recipes_are_listed_and_shown(mathsetu: Mathsetu) -> None:
    listed = mathsetu.json("recipes")
    assert {"default", "msm-bm25", "formula"} <= {row["name"] for row in listed}  # type: ignore[attr-defined]
    assert 'kind = "lexical"' in mathsetu("recipes", "default").out


def test_a_recipe_of_the_user_is_checked(mathsetu: Mathsetu) -> None:
    text = mathsetu("recipes", "default").out
    Path("mine.toml").write_text(text, encoding="utf-8")
    assert mathsetu("recipes", "mine.toml").out == text
    Path("mine.toml").write_text(text.replace("formula_tokens", "tokens"), encoding="utf-8")
    assert "parts.words: unknown setting 'tokens'" in mathsetu.refuses("recipes", "mine.toml")


def test_a_recipe_that_is_based_on_another_is_shown_combined_with_it(mathsetu: Mathsetu) -> None:
    text = 'based_on = "msm-bm25"\nname = "mine"\n[parts.words]\nanalysis = "snowball"\n'
    Path("mine.toml").write_text(text, encoding="utf-8")
    shown = mathsetu("recipes", "mine.toml").out
    assert shown.startswith("# Combined with msm-bm25, which this recipe is based on.\n")
    for line in ('name = "mine"', 'analysis = "snowball"', "translate = false"):
        assert f"\n{line}\n" in shown
    # The output is complete: saved in a file, it is the same recipe.
    Path("alone.toml").write_text(shown, encoding="utf-8")
    assert mathsetu.json("recipes", "alone.toml") == mathsetu.json("recipes", "mine.toml")


@pytest.mark.thorough
def test_the_sampler_can_be_indexed_by_name(mathsetu: Mathsetu, tmp_path: Path) -> None:
    recipe = ["--recipe", "msm-bm25", "--set", "parts.words.fields={title=1}"]
    told = mathsetu.json("index", tmp_path / "s", "sampler", *recipe, "--processes", "1")
    assert isinstance(told, dict)
    assert told["posts"] == len(list(sampler.posts()))


# Mistakes: each gets one line and exit code 2


def test_an_unknown_device_is_refused_with_a_remedy(
    mathsetu: Mathsetu, library: Path, tmp_path: Path
) -> None:
    for verb in (("index", tmp_path / "l", "sampler"), ("add", library, "sampler")):
        line = mathsetu.refuses(*verb, "--device", "abacus")
        assert "'cpu'" in line or "[neural]'" in line
    assert not (tmp_path / "l").exists()


def test_a_missing_source_is_refused(mathsetu: Mathsetu, tmp_path: Path) -> None:
    line = mathsetu.refuses("index", tmp_path / "l", "missing.jsonl")
    assert line == "mathsetu: missing.jsonl: cannot be read (no such file or directory)"


def test_a_source_that_is_not_utf8_is_refused(mathsetu: Mathsetu, tmp_path: Path) -> None:
    Path("latin.jsonl").write_bytes('{"id": "1", "body": "é"}'.encode("latin-1"))
    line = mathsetu.refuses("index", tmp_path / "l", "latin.jsonl")
    assert line.startswith("mathsetu: latin.jsonl line 1: byte 0xe9 at position")


def test_broken_json_is_reported_with_its_line_and_can_be_skipped(
    mathsetu: Mathsetu, tmp_path: Path
) -> None:
    rows = [json.dumps({"id": str(n), "body": "text"}) for n in range(30)]
    rows[16] = rows[16][:-2]
    Path("broken.jsonl").write_text("\n".join(rows), encoding="utf-8")
    line = mathsetu.refuses("index", tmp_path / "l", "broken.jsonl")
    assert line.startswith("mathsetu: broken.jsonl line 17: not JSON: ")
    assert line.endswith("(--skip-bad leaves out what is wrong)")
    skipped = mathsetu.json(
        "index", tmp_path / "l", "broken.jsonl", "--skip-bad", "--processes", "1"
    )
    assert isinstance(skipped, dict)
    assert (skipped["posts"], skipped["skipped"]) == (29, 1)


def test_a_table_is_inspected_and_indexed_with_the_same_columns(
    mathsetu: Mathsetu, tmp_path: Path
) -> None:
    Path("t.csv").write_text("Nr,Aufgabe,Weg\n1,Was ist $x$?,Das ist $x^2$.\n", encoding="utf-8")
    missing = "mathsetu: t.csv line 2: no column for the body (use --field body=COLUMN); there are:"
    for verb in (("inspect", "--file", "t.csv"), ("index", tmp_path / "l", "t.csv")):
        line = mathsetu.refuses(*verb)
        assert line == f"{missing} Nr, Aufgabe, Weg"
    [post] = mathsetu.json("inspect", "--file", "t.csv", "--field", "body=Weg")["posts"]
    assert post["text"] == "Das ist $x^2$."
    shown = mathsetu("inspect", "--file", "t.csv", "--field", "body=Weg", "--id", post["id"])
    assert "x^2" in shown.out
    assert (
        mathsetu.json("inspect", "--problems", "--file", "t.csv", "--field", "body=Weg")["posts"]
        == 1
    )
    assert mathsetu("inspect", "text", "--field", "body=Weg").code == 2
    done = mathsetu.json("index", tmp_path / "l", "t.csv", "--field", "body=Weg")
    assert done["posts"] == 1


@pytest.mark.thorough
def test_latex_equations_are_shown_like_other_displayed_formulas(
    mathsetu: Mathsetu, tmp_path: Path
) -> None:
    (tmp_path / "stirling.tex").write_text(
        "\\begin{document}Stirling says \\begin{equation}\\label{s} n! \\sim n^n \\end{equation} "
        "and \\[a=b\\] and \\begin{align*} a&=b\\\\ c&=d \\end{align*}\\end{document}"
    )
    library = tmp_path / "lib"
    assert mathsetu("index", library, tmp_path / "stirling.tex", "--recipe", "formula").code == 0
    said = mathsetu("search", library, "n!").out
    assert "Stirling says $$n! \\sim n^n$$ and $$a=b$$ and $$\\begin{aligned} a&=b" in said


def test_an_empty_collection_is_refused(mathsetu: Mathsetu, tmp_path: Path) -> None:
    jsonl.write_posts(Path("empty.jsonl"), [])
    assert "there are no posts in the sources" in mathsetu.refuses(
        "index", tmp_path / "l", "empty.jsonl"
    )


def test_two_posts_with_the_same_id_are_refused(mathsetu: Mathsetu, tmp_path: Path) -> None:
    jsonl.write_posts(Path("twice.jsonl"), [Post(id="7", body="a"), Post(id="7", body="b")])
    line = mathsetu.refuses("index", tmp_path / "l", "twice.jsonl", "--processes", "1")
    assert "twice.jsonl line 3: id '7' occurs twice (first in twice.jsonl line 2)" in line


def test_a_source_without_posts_is_refused(mathsetu: Mathsetu, tmp_path: Path) -> None:
    jsonl.write_queries(Path("queries.jsonl"), [Query("q", "text")])
    line = mathsetu.refuses("index", tmp_path / "l", "queries.jsonl")
    assert line == (
        "mathsetu: queries.jsonl: holds queries, and an index needs posts (if it is a table of "
        "posts, say which column is the body: --field body=COLUMN)"
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--recipe", "magic"], "unknown recipe 'magic' (known: crossmath"),
        (["--recipe", "mine.toml"], "mine.toml: cannot be read"),
        (["--set", "parts.words.kind=magic"], "default: parts.words: unknown kind 'magic'"),
        (["--set", "ranking.depth=3"], "ranking: unknown setting 'depth'"),
        (["--set", "ranking.weights.words=7"], "ranking.weights must add up to 1, not 7"),
        (["--set", "ranking.k"], "write a setting as NAME=VALUE"),
        (["--from", "docx"], "unknown format 'docx'"),
        (["--processes", "0"], "0 is not in the range"),
    ],
)
def test_a_wrong_recipe_or_option_is_refused(
    mathsetu: Mathsetu, source: Path, tmp_path: Path, options: list[str], message: str
) -> None:
    assert message in mathsetu.refuses("index", tmp_path / "l", source, *options)


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ("the of and", "has no formula and only stop words"),
        ("$$", "has neither words nor a formula"),
        ("?!", "has neither words nor a formula"),
    ],
)
def test_a_query_without_formulas_and_useful_words_is_refused(
    mathsetu: Mathsetu, library: Path, query: str, problem: str
) -> None:
    assert f"the query {problem}" in mathsetu.refuses("search", library, query)


@pytest.mark.parametrize("query", ["", " \n"])
def test_an_empty_query_is_refused(mathsetu: Mathsetu, library: Path, query: str) -> None:
    assert mathsetu.refuses("search", library, query) == "mathsetu: the query is empty"


def test_a_query_needs_no_quotes_but_must_follow_the_library(
    mathsetu: Mathsetu, library: Path
) -> None:
    quoted = mathsetu.json("search", library, "infinitely many primes")
    assert mathsetu.json("search", library, "infinitely", "many", "primes") == quoted
    line = mathsetu.refuses("search", "infinitely many primes", library)
    assert line == (
        f"mathsetu: infinitely many primes is not a library; write the library first: {library}"
    )


def test_add_with_the_library_last_is_refused(
    mathsetu: Mathsetu, library: Path, tmp_path: Path
) -> None:
    (tmp_path / "notes").mkdir()
    line = mathsetu.refuses("add", tmp_path / "notes", library)
    assert line.endswith(f"notes is not a library; write the library first: {library}")


def test_search_needs_a_library_and_a_query(mathsetu: Mathsetu) -> None:
    said = mathsetu("search", "why is sqrt(2) irrational").err
    assert "Give a library and a query: mathsetu search LIBRARY QUERY" in said


@pytest.mark.thorough
def test_a_correction_is_suggested_for_a_misspelt_word(mathsetu: Mathsetu, library: Path) -> None:
    done = mathsetu("search", library, "eigenvlaue")
    assert done.out.startswith("nothing ")
    assert "did you mean: eigenvalue" in done.err


@pytest.mark.thorough
def test_a_correction_is_suggested_even_if_other_words_have_hits(
    mathsetu: Mathsetu, library: Path
) -> None:
    done = mathsetu("search", library, "aera of a circle $\\pi r^2$")
    assert done.out.startswith("1. ")
    assert "did you mean: area of a circle $\\pi r^2$" in done.err
    assert "did you mean" not in mathsetu("search", library, "area of a circle $\\pi r^2$").err


def test_a_filter_by_a_language_the_library_lacks_names_its_languages(
    mathsetu: Mathsetu, library: Path
) -> None:
    done = mathsetu("search", library, "primes", "--in", "cs")
    assert done.code == 1
    assert "the library has posts in: en" in done.err


@pytest.mark.thorough
def test_a_query_of_a_megabyte_is_refused(
    mathsetu: Mathsetu, library: Path, tmp_path: Path
) -> None:
    long = "prime " * 180_000
    assert "the query has 1,080,000 characters" in mathsetu.refuses("search", library, long)
    jsonl.write_queries(tmp_path / "queries.jsonl", [Query("B.9", long)])
    line = mathsetu.refuses("run", library, tmp_path / "queries.jsonl", tmp_path / "run.trec")
    assert "query B.9 has 1,080,000 characters; at most 100,000 can be searched for" in line
    assert not (tmp_path / "run.trec").exists()


@pytest.mark.thorough
def test_a_library_of_another_format_is_refused_but_can_be_replaced(
    mathsetu: Mathsetu, library: Path, source: Path
) -> None:
    manifest = library / "manifest.json"
    written = manifest.read_text(encoding="utf-8")
    manifest.write_text(re.sub(r'"format": \d+', '"format": 99', written), encoding="utf-8")
    for verb in (["search", library, "prime"], ["info", library], ["add", library, source]):
        assert "was written in format 99" in mathsetu.refuses(*verb)
    assert mathsetu("index", library, source, "--processes", "1").code == 0
    assert mathsetu("search", library, "primes").code == 0


def test_a_damaged_library_is_reported(mathsetu: Mathsetu, library: Path) -> None:
    lengths = next(library.glob("segments/*/words/lengths.npy"))
    lengths.write_bytes(lengths.read_bytes()[:-4])
    for verb in (["search", library, "prime"], ["info", library]):
        assert "lengths.npy: has" in mathsetu.refuses(*verb)


def test_a_folder_or_file_that_is_not_a_library_is_refused(
    mathsetu: Mathsetu, source: Path, tmp_path: Path
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").touch()
    line = mathsetu.refuses("index", tmp_path / "mine", source)
    assert line.endswith("mine: is not a library and not empty; choose another folder")
    assert "is a file" in mathsetu.refuses("index", source, source)
    assert "is a file" in mathsetu.refuses("search", source, "prime")
    for verb in (["search", "none", "prime"], ["add", "none", source], ["remove", "none", "1"]):
        assert "none: there is no such library (build one: mathsetu index)" in mathsetu.refuses(
            *verb
        )
    assert not Path("none").exists()


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="everything is allowed to root")
def test_a_read_only_library_can_be_searched_but_not_written(
    mathsetu: Mathsetu, library: Path, source: Path
) -> None:
    library.chmod(0o500)
    try:
        for verb in (["index", library, source], ["add", library, source]):
            assert "cannot be written (permission denied)" in mathsetu.refuses(*verb)
        assert mathsetu("search", library, "primes").code == 0
    finally:
        library.chmod(0o700)


@pytest.mark.thorough
def test_replacing_a_damaged_library_is_reported(
    mathsetu: Mathsetu, library: Path, source: Path
) -> None:
    (library / "manifest.json").write_text("{")
    again = mathsetu("index", library, source, "--recipe", "formula")
    assert again.err.strip() == (
        "the library that was there before could not be read, and was replaced"
    )
    assert mathsetu("info", library).code == 0


def test_a_library_is_not_replaced_without_permission_to_read_its_manifest(
    mathsetu: Mathsetu, library: Path, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refusing(path: Path) -> object:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    monkeypatch.setattr("mathsetu.library.manifest.open_plain", refusing)
    line = mathsetu.refuses("index", library, source)
    assert line == f"mathsetu: {library / 'manifest.json'}: cannot be read (permission denied)"


def test_a_target_that_cannot_be_created_is_refused(mathsetu: Mathsetu, source: Path) -> None:
    line = mathsetu.refuses("index", source / "below", source)
    assert line.endswith("below: cannot be written (not a directory)")


def test_a_full_disk_is_reported_and_the_old_library_is_kept(
    mathsetu: Mathsetu, library: Path, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    line = mathsetu.refuses("index", library, source, "--processes", "1")
    assert line.endswith("library: cannot be written (no space left on device)")
    assert mathsetu("search", library, "primes").code == 0


@pytest.mark.skipif(os.name != "posix", reason="signals of a process group")
@pytest.mark.thorough
def test_ctrl_c_stops_a_build_with_one_line_and_leaves_no_process(tmp_path: Path) -> None:
    bodies = (" ".join(f"$x_{n}^2+{n}y^{m}$" for m in range(30)) for n in range(400))
    posts = [Post(id=str(n), body=body, language="en") for n, body in enumerate(bodies)]
    jsonl.write_posts(tmp_path / "posts.jsonl", posts)
    command = [sys.executable, "-c", LISTENS, "index", "l", "posts.jsonl", "--processes", "2"]
    with subprocess.Popen(
        command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as build:
        while not (tmp_path / "l" / "segments" / "000001.building" / "read.txt").exists():
            assert build.poll() is None
            time.sleep(0.02)
        os.killpg(build.pid, signal.SIGINT)
        _, told = build.communicate(timeout=30)
    assert build.returncode == 130
    assert told.strip() == "mathsetu: stopped; the same command resumes the build"
    with pytest.raises(ProcessLookupError):
        os.killpg(build.pid, 0)


@pytest.mark.thorough
def test_search_says_when_nothing_is_close(mathsetu: Mathsetu, library: Path) -> None:
    shown = mathsetu("search", library, "area of a circle").out
    assert "nothing close" not in shown
    # Search by meaning always has hits: the nearest posts are shown with a note.
    far = mathsetu("search", library, "infinitely qwertyuiop zxcvbnm asdfgh")
    assert far.out.startswith("nothing close; the nearest are:")
    answer = json.loads(mathsetu("search", library, "infinitely qwertyuiop asdfgh", "--json").out)
    assert answer["close"] is False
    assert answer["hits"]


@pytest.mark.thorough
def test_posts_in_the_language_of_the_user_rank_first(mathsetu: Mathsetu, tmp_path: Path) -> None:
    posts = [post for post in sampler.posts() if post.thread_id == "infinitely-many-primes"]
    jsonl.write_posts(tmp_path / "primes.jsonl", posts)
    mathsetu("index", tmp_path / "primes", tmp_path / "primes.jsonl", "--processes", "1")
    search = ("search", tmp_path / "primes", "infinitely many primes", "--k", "1")
    assert "[en]" in mathsetu(*search).out
    assert "[en]" not in mathsetu(*search, "--own-language", "off").out
    grouped = mathsetu(*search, "--group").out
    assert "also in: " in grouped
    assert "hr (infinitely-many-primes.hr)" in grouped
    assert "also in: " not in mathsetu(*search).out
    assert "is not one of" in mathsetu(*search, "--own-language", "much").err


@pytest.mark.thorough
def test_an_edited_note_replaces_the_old_one(mathsetu: Mathsetu) -> None:
    note = Path("notes") / "sums.md"
    note.parent.mkdir()
    note.write_text("# Sums\n\nAdd $a$.\n")
    assert mathsetu("index", "lib", "notes", "--recipe", "msm-bm25", "--processes", "1").code == 0
    note.write_text("# Sums\n\nAdd $a$ and $b$.\n")
    for source in ("notes/sums.md", "notes"):
        done = mathsetu("add", "lib", source)
        assert "1 post added, 1 of them replaced older ones" in done.out
        assert "languages of the library: en 1" in done.out
        assert mathsetu("search", "lib", "sums", "--collection", "notes").code == 0
    assert [hit["id"] for hit in mathsetu.json("search", "lib", "sums")["hits"]] == [
        "notes/sums.md#sums"
    ]


@pytest.mark.thorough
def test_an_edited_file_stays_in_its_collection(mathsetu: Mathsetu) -> None:
    def write(*names: str) -> None:
        Path("notes/deep/sums.md").write_text(
            "Before all.\n\n" + "".join(f"# {name}\n\nAdd.\n\n" for name in names)
        )
        Path("notes/sheet.csv").write_text("Question,Answer\n" + "What?,Add\n" * len(names))
        Path("notes/rows.jsonl").write_text('{"id": "7", "body": "Add"}\n')
        with ZipFile("notes/old.zip", "w") as archive:
            archive.writestr("old.md", "".join(f"# {name}\n\nAdd.\n\n" for name in names))

    def collections() -> dict[str, str]:
        with Library("lib") as library:
            hits = library.answer("add", 50).hits
            return {hit.id: hit.post.collection for hit in hits if hit.post}

    Path("notes/deep").mkdir(parents=True)
    write("Sums")
    index = ("index", "lib", "notes", "--recipe", "msm-bm25", "--processes", "1")
    assert mathsetu(*index).code == 0
    assert set(collections().values()) == {"notes"}
    write("Sums", "More sums")
    files = ("notes/deep/sums.md", "notes/sheet.csv", "notes/rows.jsonl", "notes/old.zip")
    for source in files:
        assert mathsetu("add", "lib", source).code == 0
    found = collections()
    assert {"notes/deep/sums.md#more-sums", "notes/sheet.csv#3", "7"} <= set(found)
    assert set(found.values()) == {"notes"}
    # A file without posts in the library, new or removed, gets another collection.
    Path("notes/deep/new.md").write_text("# New\n\nAdd.")
    mathsetu("remove", "lib", "notes/sheet.csv")
    assert mathsetu("add", "lib", "notes/deep/new.md", "notes/sheet.csv").code == 0
    found = collections()
    assert found["notes/deep/new.md#new"] == "deep"
    assert found["notes/sheet.csv#2"] == "sheet.csv"
    # A collection that a post states takes precedence.
    Path("notes/rows.jsonl").write_text('{"id": "7", "body": "Add", "collection": "own"}\n')
    mathsetu("add", "lib", "notes/rows.jsonl")
    assert collections()["7"] == "own"


@pytest.mark.thorough
def test_a_removed_table_returns_with_its_folder_and_a_new_collection_is_reported(
    mathsetu: Mathsetu,
) -> None:
    Path("notes").mkdir()
    Path("notes/sums.md").write_text("# Sums\n\nAdd.")
    Path("notes/sheet.csv").write_text("Question,Answer\nWhat?,Add\nWhy?,Since\n")
    mathsetu("index", "lib", "notes", "--recipe", "msm-bm25", "--processes", "1")

    Path("notes/sheet.csv").write_text("Question,Answer\nWhy?,Since\n")
    mathsetu("remove", "lib", "notes/sheet.csv")
    assert mathsetu.json("add", "lib", "notes")["new_collections"] == []
    with Library("lib") as library:
        assert library.post("notes/sheet.csv#2").collection == "notes"
        assert not library.present(["notes/sheet.csv#3"])
    mathsetu("remove", "lib", "notes/sheet.csv")
    assert "\n  new collection: sheet.csv\n" in mathsetu("add", "lib", "notes/sheet.csv").out
    assert mathsetu.json("add", "lib", "notes/sheet.csv")["new_collections"] == []


@pytest.mark.thorough
def test_older_posts_of_a_file_that_is_added_again_are_reported(mathsetu: Mathsetu) -> None:
    Path("notes").mkdir()
    Path("notes/all.tex").write_text(r"\section{One} Sums. \input{part}")
    Path("notes/part.tex").write_text(r"\section{Two} Products.")
    Path("notes/my sheet.csv").write_text("num,énoncé,solution\ne1,Why?,Since\ne2,What?,Add\n")
    fields = ("--field", "id=num", "--field", "question=énoncé", "--field", "body=solution")
    mathsetu("index", "lib", "notes", *fields, "--recipe", "msm-bm25", "--processes", "1")
    for source in ("notes", "notes/part.tex"):
        assert mathsetu.json("add", "lib", source, *fields)["older_posts"] == {}

    # Without the options for the columns, the rows have other ids.
    said = mathsetu("add", "lib", "notes").out
    assert "under other ids: 2 older posts of notes/my sheet.csv\n" in said
    assert "(mathsetu remove lib 'notes/my sheet.csv'), then add it again" in said
    # If the file were added alone, it would be in another collection.
    assert "(mathsetu add lib notes; " in said
    assert mathsetu.json("add", "lib", "notes")["older_posts"] == {"notes/my sheet.csv": 2}

    mathsetu("remove", "lib", "notes/my sheet.csv")
    assert mathsetu.json("add", "lib", "notes", *fields)["older_posts"] == {}
    with Library("lib") as library:
        assert library.post("e1").question == "Why?"

    Path("notes/part.tex").write_text(r"\section{Three} Quotients.")
    older = mathsetu.json("add", "lib", "notes", *fields)["older_posts"]
    assert older == {"notes/all.tex": 1, "notes/part.tex": 1}


@pytest.mark.thorough
def test_posts_of_files_that_are_no_longer_in_a_folder_are_reported(mathsetu: Mathsetu) -> None:
    Path("notes/my sub").mkdir(parents=True)
    Path("notes0").mkdir()
    names = ("notes/kept.md", "notes/my sub/old.md", "notes/cut.md", "notes0/other.md")
    for name in names:
        Path(name).write_text("# One\n\nA sum.\n\n# Two\n\nA product.")
    Path("notes/packed.md.gz").write_bytes(gzip.compress(b"# Packed\n\nA sum."))
    for name in ("kept", "old"):
        with ZipFile(f"notes/{name}.zip", "w") as archive:
            archive.writestr("a.md", "# A\n\nA sum.")
            archive.writestr("b.md", "# B\n\nA sum.")
    mathsetu("index", "lib", "notes", "notes0", "--recipe", "msm-bm25", "--processes", "1")
    assert mathsetu.json("add", "lib", "notes")["gone_files"] == {}

    Path("notes/my sub/old.md").unlink()
    Path("notes/old.zip").unlink()
    Path("notes0/other.md").unlink()
    # These exist but cannot be read.
    Path("notes/cut.md").write_text("")
    Path("notes/packed.md.gz").write_bytes(b"")
    assert mathsetu.json("add", "lib", "notes/kept.md")["gone_files"] == {}
    gone = mathsetu.json("add", "lib", "./notes/")["gone_files"]
    assert gone == {"notes/my sub/old.md": 2, "notes/old.zip": 2}
    said = mathsetu("add", "lib", "notes").out
    assert "library: 2 posts of notes/my sub/old.md, which no longer exists\n" in said
    assert "name the files: mathsetu remove lib 'notes/my sub/old.md' …\n" in said
    # Ids do not begin with an absolute path.
    assert mathsetu.json("add", "lib", str(Path("notes").resolve()))["gone_files"] == {}

    mathsetu("remove", "lib", *gone)
    done = mathsetu("add", "lib", "notes")
    assert "no longer exists" not in done.out


def test_add_with_prune_removes_posts_that_are_no_longer_in_the_folder(mathsetu: Mathsetu) -> None:
    Path("notes").mkdir()
    Path("notes/kept.md").write_text("Before.\n\n# One\n\nA sum.\n\n# Two\n\nA product.")
    Path("notes/gone.md").write_text("# Gone\n\nA sum.")
    Path("notes/empty.md").write_text("# Empty\n\nA sum.")
    Path("notes/sheet.csv").write_text("Question,Answer,id\nWhat?,A sum,r1\nWhy?,A root,r2\n")
    with ZipFile("notes/old.zip", "w") as archive:
        archive.writestr("a.md", "# A\n\nA sum.")
    Path("more.jsonl").write_text('{"id": "1", "body": "A prime."}')
    build = ("--recipe", "msm-bm25", "--processes", "1")
    assert mathsetu("index", "lib", "notes", "more.jsonl", *build).code == 0
    same = mathsetu.json("add", "lib", "notes", "--prune")
    assert (same["pruned"], same["gone_files"], same["unread_files"]) == (0, {}, {})

    Path("notes/kept.md").write_text("Before.\n\n# One\n\nA sum.\n\n# Three\n\nA product.")
    Path("notes/gone.md").unlink()
    Path("notes/old.zip").unlink()
    Path("notes/empty.md").write_text("")  # exists, but nothing could be read
    Path("notes/sheet.csv").write_text("Question,Answer,id\nWhat?,A sum,r1\n")
    added = mathsetu.json("add", "lib", "notes")
    assert (added["pruned"], added["gone_files"]) == (0, {"notes/gone.md": 1, "notes/old.zip": 1})
    assert added["unread_files"] == {"notes/empty.md": 1}
    assert added["older_posts"] == {"notes/kept.md": 1, "notes/sheet.csv": 1}
    pruned = mathsetu("add", "lib", "notes", "--prune")
    assert "4 posts added, 4 of them replaced older ones, 4 old posts removed\n" in pruned.out
    unread = "still in the library: 1 post of notes/empty.md, from which nothing was read"
    assert [line.strip() for line in pruned.out.splitlines() if "still in" in line] == [unread]
    with Library("lib") as library:
        kept = {"notes/kept.md", "notes/kept.md#one", "notes/kept.md#three"}
        ids = kept | {"notes/empty.md#empty", "r1", "1"}
        assert len(library) == len(ids)
        assert set(library.posts_named(ids)) == ids


def test_prune_names_folders_whose_deleted_files_it_cannot_detect(mathsetu: Mathsetu) -> None:
    Path("notes/gone.md").parent.mkdir()
    Path("notes/gone.md").write_text("# Gone\n\nA sum.")
    Path("notes/kept.md").write_text("# Kept\n\nA sum.")
    with chdir("notes"):
        mathsetu("index", "../lib", ".", "--recipe", "msm-bm25", "--processes", "1")
        Path("gone.md").unlink()
        told = mathsetu("add", "../lib", ".", "--prune").out
        assert "deleted files of . are not removed" in told
        assert "mathsetu remove ../lib FILE" in told
    assert mathsetu.json("add", "lib", "notes", "--prune")["unpruned_folders"] == []


@pytest.mark.parametrize("source", [".", "../notes", "sub/..", "../notes/a.md", "a.md"])
def test_a_collection_has_the_name_of_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    (tmp_path / "notes/sub").mkdir(parents=True)
    (tmp_path / "notes/a.md").write_text("# A\n\nA sum.")
    monkeypatch.chdir(tmp_path / "notes")
    [post] = read_sources((source,), None, "", BadRows())
    assert (post.id, post.collection) == ("a.md#a", "notes")


def test_a_post_that_only_links_to_a_file_is_not_part_of_it(mathsetu: Mathsetu) -> None:
    Path("notes").mkdir()
    Path("notes/a.md").write_text("# One\n\nA sum.\n\n# Two\n\nA product.")
    mathsetu("index", "lib", "notes", "--recipe", "msm-bm25", "--processes", "1")
    Path("own.jsonl").write_text('{"id": "x1", "body": "A root.", "url": "notes/a.md#one"}')
    added = mathsetu.json("add", "lib", "own.jsonl", "--prune")
    assert (added["added"], added["pruned"], added["older_posts"]) == (1, 0, {})
    assert mathsetu.json("add", "lib", "notes", "--prune")["pruned"] == 0
    with Library("lib") as library:
        assert set(library.posts_named(["x1", "notes/a.md#one", "notes/a.md#two"])) == {
            "x1",
            "notes/a.md#one",
            "notes/a.md#two",
        }


def test_prune_is_refused_with_skip_bad_and_on_a_cluster(mathsetu: Mathsetu) -> None:
    Path("notes").mkdir()
    Path("notes/a.md").write_text("# A\n\nA sum.")
    mathsetu("index", "lib", "notes", "--recipe", "msm-bm25", "--processes", "1")
    refused = mathsetu("add", "lib", "notes", "--prune", "--skip-bad")
    assert refused.code == 2
    assert "--prune and --skip-bad cannot be combined" in refused.err
    refused = mathsetu("add", "qdrant://localhost/lib", "notes", "--prune")
    assert refused.code == 2
    assert "--prune needs a library in a folder" in refused.err


def test_an_export_replaces_all_posts_of_its_collection(mathsetu: Mathsetu) -> None:
    posts = {
        name: json.dumps({"id": name, "body": f"Prime {name}.", "collection": collection})
        for name, collection in (("1", "qa"), ("2", "qa"), ("3", "qa"), ("4", "other"))
    }
    Path("all.jsonl").write_text("\n".join(posts.values()))
    build = ("--recipe", "msm-bm25", "--processes", "1")
    assert mathsetu("index", "lib", "all.jsonl", *build).code == 0
    Path("export.jsonl").write_text("\n".join([posts["1"], posts["3"]]))

    said = mathsetu("add", "lib", "export.jsonl", "--prune").out
    assert "2 posts did not name a file, as in JSON Lines; posts that are no longer there" in said
    assert mathsetu.json("add", "lib", "export.jsonl", "--prune")["unpruned_posts"] == 2
    done = mathsetu.json("add", "lib", "export.jsonl", "--prune-collection", "qa")
    assert (done["added"], done["pruned"], done["unpruned_posts"]) == (2, 1, 0)
    with Library("lib") as library:
        assert library.present(["1", "2", "3", "4"]) == {"1", "3", "4"}

    refused = mathsetu("add", "lib", "export.jsonl", "--prune-collection", "qb")
    assert refused.err == "mathsetu: --prune-collection qb: the library has no such collection\n"
    refused = mathsetu("add", "lib", "export.jsonl", "--prune-collection", "other")
    assert "no post of SOURCES is in this collection, so nothing was removed" in refused.err
    refused = mathsetu("add", "lib", "export.jsonl", "--prune-collection", "qa", "--skip-bad")
    assert "--prune-collection and --skip-bad cannot be combined" in refused.err
    refused = mathsetu("add", "lib", "export.jsonl", "--prune-collection", "")
    assert "--prune-collection needs the name of a collection" in refused.err
    with Library("lib") as library:
        assert library.ids_in_collection("") == []
        assert len(library) == 3


def test_a_document_is_removed_with_all_its_sections(mathsetu: Mathsetu) -> None:
    Path("notes").mkdir()
    for name in ("sums", "primes"):
        Path(f"notes/{name}.md").write_text(
            f"# The {name}\n\nOne of {name}.\n\n# More {name}\n\nTwo."
        )
    assert mathsetu("index", "lib", "notes", "--recipe", "msm-bm25", "--processes", "1").code == 0
    done = mathsetu("remove", "lib", "notes/sums.md", "void")
    assert (done.code, done.out) == (1, "lib: 2 posts removed\n")
    assert done.err == "there is no post with the id 'void'\n"
    for mistyped in ("primes.md#more", "note/primes.md#more-prims"):
        done = mathsetu("remove", "lib", mistyped)
        assert done.code == 1
        assert "(did you mean: notes/primes.md#more-primes" in done.err
    done = mathsetu("remove", "lib", "notes/primes.md#the-primes", "notes/primes.md#the-prims")
    assert "did you mean: notes/primes.md#more-primes)" in done.err
    assert "notes/primes.md" in mathsetu("search", "lib", "primes").out
    assert mathsetu("search", "lib", "sums").code == 1


@pytest.mark.thorough
def test_an_archive_is_removed_with_all_its_files(mathsetu: Mathsetu) -> None:
    Path("notes/old.zip.d").mkdir(parents=True)
    Path("notes/old.zip.d/kept.md").write_text("# Kept\n\nA sum.")
    inner = BytesIO()
    with ZipFile(inner, "w") as archive:
        archive.writestr("deep.md", "Before.\n\n# Deep\n\nA sum.")
    with ZipFile("notes/old.zip", "w") as archive:
        archive.writestr("a/sums.md", "# Sums\n\nA sum.\n\n# More\n\nTwo.")
        archive.writestr("sheet.csv", "Question,Answer,id\nWhat?,A sum,r7\n")
        archive.writestr("inner.zip", inner.getvalue())
    assert mathsetu("index", "lib", "notes", "--recipe", "msm-bm25", "--processes", "1").code == 0
    # An archive inside an archive can be removed, but a folder cannot.
    assert mathsetu.json("remove", "lib", "notes/old.zip/inner.zip")["removed"] == 2
    for folder in ("notes/old.zip/a", "notes", "notes/old.zip.d"):
        assert "did you mean: " in mathsetu("remove", "lib", folder).err
    with ZipFile("notes/old.zip", "a") as archive:
        archive.writestr("new.md", "# New\n\nA sum.")
    assert mathsetu("add", "lib", "notes/old.zip").code == 0
    with Library("lib") as library:
        assert library.post("notes/old.zip/new.md#new").collection == "notes"
    mathsetu("optimize", "lib")
    assert mathsetu.json("remove", "lib", "notes/old.zip") == {"removed": 6, "unknown": []}
    assert mathsetu.json("info", "lib")["posts"] == 1


def test_a_file_is_removed_completely_and_a_question_without_its_answers(
    mathsetu: Mathsetu,
) -> None:
    Path("notes").mkdir()
    Path("notes/sums.md").write_text("An introduction.\n\n# Sums\n\nOne.\n\n# More\n\nTwo.")
    posts = [
        '{"id": "7", "body": "Why?", "thread_id": "7"}',
        '{"id": "8", "body": "So.", "thread_id": "7"}',
    ]
    Path("posts.jsonl").write_text("\n".join(posts))
    mathsetu("index", "lib", "notes", "posts.jsonl", "--recipe", "msm-bm25", "--processes", "1")
    assert mathsetu.json("remove", "lib", "notes/sums.md") == {"removed": 3, "unknown": []}
    assert mathsetu.json("remove", "lib", "7") == {"removed": 1, "unknown": []}
    # The second time, nothing is removed.
    assert json.loads(mathsetu("remove", "lib", "7", "--json").out)["removed"] == 0


@pytest.mark.thorough
@pytest.mark.parametrize(
    "columns", ["Question,Answer", "Question,Answer,id", "Question,Answer,url"]
)
def test_a_table_is_removed_with_all_its_rows(mathsetu: Mathsetu, columns: str) -> None:
    def write(*rows: str) -> None:
        further = columns.removeprefix("Question,Answer")
        ends = [f",https://example.org/{row}" * bool(further) for row in rows]
        lines = [f"What is {row}?,The {row}{end}" for row, end in zip(rows, ends, strict=True)]
        Path("notes/sheet.csv").write_text("\n".join([columns, *lines]))

    Path("notes").mkdir()
    Path("notes/kept.md").write_text("# Kept\n\nA prime.")
    Path("notes/sheet.csv.md").write_text("# About the sheet\n\nA prime.")
    write("prime", "sum", "root")
    assert mathsetu("index", "lib", "notes", "--recipe", "msm-bm25", "--processes", "1").code == 0
    # A row that the file no longer has stays in the library until the file is removed.
    write("prime", "sum")
    assert mathsetu.json("add", "lib", "notes/sheet.csv")["added"] == 2
    mathsetu("optimize", "lib")
    assert mathsetu.json("remove", "lib", "notes/sheet.csv") == {"removed": 3, "unknown": []}
    assert mathsetu.json("info", "lib")["posts"] == 2
    assert mathsetu.json("add", "lib", "notes/sheet.csv")["replaced"] == 0


def test_a_search_shows_the_id_that_a_row_states(mathsetu: Mathsetu) -> None:
    Path("sheet.csv").write_text("id,text\nr7,A prime.\nr8,A sum.\n")
    mathsetu("index", "lib", "sheet.csv", "--recipe", "msm-bm25", "--processes", "1")
    assert mathsetu("search", "lib", "prime").out.rstrip().endswith("  r7  sheet.csv#2")
    assert mathsetu.json("search", "lib", "prime")["hits"][0]["url"] == "sheet.csv#2"


@pytest.mark.thorough
def test_a_search_shows_matches_in_the_question_and_the_values_of_wildcards(
    mathsetu: Mathsetu,
) -> None:
    post = (
        r'{"id": "1", "title": "Algebra", "body": "Factor it.", "question": "Solve $x^2-5x+6=0$"}'
    )
    Path("posts.jsonl").write_text(post + "\n")
    mathsetu("index", "lib", "posts.jsonl", "--recipe", "formula", "--processes", "1")
    shown = mathsetu("search", "lib", "$?a-5x+6=0$")
    assert "Solve $x^2-5x+6=0$" in shown.out
    assert "?a = x^2" not in shown.out
    assert "(?a = x^2)" in mathsetu("search", "lib", "$?a-5x+6=0$", "--explain").out


def test_a_build_without_posts_leaves_no_folder(tmp_path: Path, mathsetu: Mathsetu) -> None:
    (tmp_path / "void.md").write_text("")
    refused = mathsetu.refuses("index", tmp_path / "library", tmp_path / "void.md")
    assert "there are no posts in the sources (an empty file: " in refused
    assert "void.md)" in refused
    assert not (tmp_path / "library").exists()
    refused = mathsetu.refuses("index", tmp_path / "library", tmp_path / "missing.md")
    assert refused.endswith("missing.md: cannot be read (no such file or directory)")
    assert not (tmp_path / "library").exists()


def test_mistakes_get_an_error_with_a_remedy(mathsetu: Mathsetu, tmp_path: Path) -> None:
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text(f"id,title,body\n1,{name},Some text of {name}.\n")
    light = tmp_path / "light.toml"
    light.write_text(LIGHT_TOML)
    twice = mathsetu.refuses("index", "l", "a.csv", "b.csv", "--recipe", light)
    assert "id '1' occurs twice" in twice
    assert "--field id=COLUMN" in twice
    assert mathsetu(
        "index", "l", "a.csv", "b.csv", "--recipe", light, "--field", "id=title"
    ).code == 0  # fmt: skip
    (tmp_path / "void.md").write_text("")
    assert "an empty file: void.md" in mathsetu.refuses("add", "l", "void.md")
    assert "mathsetu index my.library ." in mathsetu.refuses("search", ".", "x")
    assert "Put -- before" in mathsetu("search", "l", "-b+c").err
    assert mathsetu("search", "l", "--", "-b+c").code in (0, 1)


def test_a_misspelt_verb_gets_suggestions(mathsetu: Mathsetu) -> None:
    assert "Did you mean search or serve?" in mathsetu.refuses("serch", "x")


@pytest.mark.thorough
def test_if_filters_remove_all_hits_the_message_shows_the_hits_without_them(
    mathsetu: Mathsetu, library: Path
) -> None:
    for wrong, told in (
        (("--tag", "nosuch"), "without filters: "),
        (("--collection", "nosuch"), "collections among them: posts.jsonl"),
        (("--not-in", "english"), "without filters: 1 post found\nlanguages among them: en\n"),
        (("--min-score", "99"), "without --min-score: 1 post found\nthe best score among them: 0."),
        (("--min-score", "99", "--in", "cs"), "without filters and --min-score: 1 post found\n"),
    ):
        done = mathsetu("search", library, "area of a circle", *wrong, "-k", "1")
        assert done.code == 1
        assert told in done.err


def test_a_language_filter_that_removes_all_hits_is_reported(mathsetu: Mathsetu) -> None:
    posts = [
        Post(id="circle", body="The area is $\\pi r^2$.", language="en"),
        Post(id="words", body="Die Ableitung einer Summe.", language="de"),
    ]
    jsonl.write_posts(Path("both.jsonl"), posts)
    given = ("both.jsonl", "--recipe", "formula", "--processes", "1")
    assert mathsetu("index", "both.library", *given).code == 0
    done = mathsetu("search", "both.library", "$\\pi r^2$", "--in", "german")
    assert (done.code, done.out) == (1, "nothing found\n")
    assert "without filters: 1 post found\nlanguages among them: en\n" in done.err


def test_a_query_of_words_in_a_library_of_formulas_gets_a_note(
    mathsetu: Mathsetu, source: Path
) -> None:
    given = (source, "--recipe", "formula", "--processes", "1")
    assert mathsetu("index", "formulas.library", *given).code == 0
    assert "searches formulas only" in mathsetu("search", "formulas.library", "circle").err


def test_rebuilding_a_library_reports_the_replaced_posts(
    mathsetu: Mathsetu, library: Path, source: Path
) -> None:
    again = mathsetu("index", library, source, "--processes", "1")
    assert f"before ({len(BODIES)} posts) was replaced; to add posts" in again.err


def test_a_table_of_topics_can_be_run_if_its_format_is_given(
    mathsetu: Mathsetu, library: Path
) -> None:
    topics = Path("topics.tsv")
    topics.write_text("t1\tarea of a circle\tIs it $\\pi r^2$?\tgeometry\n", encoding="utf-8")
    refused = mathsetu.refuses("run", library, topics, "t.run")
    assert "--from: " in refused
    assert "crossmath-topics" in refused
    assert mathsetu("run", library, topics, "t.run", "--from", "crossmath-topics").code == 0
    assert Path("t.run").read_text(encoding="utf-8").startswith("t1 Q0 ")
