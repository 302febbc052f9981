"""``mathsetu reproduce``, from files to figures."""

import json
from pathlib import Path

import pytest

from mathsetu.cli import main


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    with pytest.raises(SystemExit):
        main(["sampler", "export", str(tmp_path)])
    return [str(tmp_path / name) for name in ("posts.jsonl", "queries.jsonl", "judgments.txt")]


def ran(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        main(["reproduce", *arguments])
    output = capsys.readouterr()
    return int(str(ended.value.code)), output.out, output.err


def test_figures_come_as_json_and_the_library_is_used_again(
    files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "library"
    asked = ("msm-sum", *files, "--library", str(folder), "--json")
    code, out, _ = ran(capsys, *asked)
    done = json.loads(out)
    assert code == 0
    assert done["recipe"] == "msm-sum"
    assert {figure["language"] for figure in done["figures"]} >= {"en", "hi", "cs"}
    manifest = (folder / "manifest.json").stat()
    assert ran(capsys, *asked)[1] == out
    assert (folder / "manifest.json").stat().st_mtime_ns == manifest.st_mtime_ns


def test_a_table_says_what_differs(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = ran(capsys, "msm-sum", *files, "--set", "parts.bm25.scheme.k1=2.5")
    assert code == 0
    assert "parts.bm25.scheme.k1 is 2.5, not 1.5" in out
    assert "the paper has no figures for them" in out


def test_wrong_input_is_one_line(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    posts, topics, qrels = files
    for arguments, message in (
        (("magic", posts, topics, qrels), "unknown recipe 'magic'"),
        (("mirmu", posts, topics, qrels), "models/mirmu-roberta-large: no such folder"),
        (("msm-sum", posts, posts, qrels), "holds posts"),
        (("msm-sum", topics, topics, qrels), "holds queries"),
        (("msm-sum", posts, topics, topics), "holds queries"),
        (("msm-sum", posts, topics, qrels, "--set", "ranking.k=x"), "must be a whole number"),
    ):
        code, _, err = ran(capsys, *arguments)
        assert code == 2
        assert message in err
        assert len(err.strip().splitlines()) == 1
