"""Pictures of the documentation equal the output of the commands next to them."""

import re
import shlex
from pathlib import Path
from xml.etree import ElementTree

import pytest

from mathsetu.collections import sampler
from mathsetu.library import build_library
from tests.command import Mathsetu
from tests.test_docs import DOCS

pytestmark = pytest.mark.thorough


def words_beside(page: str, verb: str) -> list[str]:
    """The arguments of the command that the text of a page gives for a picture."""
    text = (DOCS / page).read_text(encoding="utf-8")
    [command] = re.findall(rf"`mathsetu ({verb} [^`]*--write [^`]*\.svg[^`]*)`", text)
    return shlex.split(" ".join(command.split()))


def texts_in(picture: Path) -> list[str]:
    root = ElementTree.parse(picture).getroot()
    return [node.text or "" for node in root.iter("{http://www.w3.org/2000/svg}text")]


def test_the_picture_of_an_evaluation_shows_the_means_of_the_sampler(
    mathsetu: Mathsetu, tmp_path: Path
) -> None:
    sampler.export(tmp_path)
    for name, recipe in (("bm25", "msm-bm25"), ("default", "default")):
        build_library(tmp_path / name, sampler.posts(), recipe, collection="sampler", processes=1)
        assert mathsetu("run", name, "queries.jsonl", f"{name}.run").code == 0
    words = words_beside("evaluate.md", "compare")
    picture = DOCS / "images" / words[words.index("--write") + 1]
    del words[words.index("--plot") :], words[words.index("--write") :]  # needs no matplotlib
    told = mathsetu.json(*words)
    assert isinstance(told, dict)
    means = [
        f"{run['means']['nDCG@10']:.3f}"
        for group in told["groups"].values()
        for run in group["runs"]
    ]
    groups = [f"{name} ({group['topics']})" for name, group in told["groups"].items()]
    shown = texts_in(picture)
    assert [text for text in shown if re.fullmatch(r"\d\.\d{3}", text)] == means
    assert [text for text in shown if text.endswith(")")] == groups


def test_the_heat_map_shows_the_question_and_the_post_of_its_command(
    mathsetu: Mathsetu, tmp_path: Path
) -> None:
    words = words_beside("mathamr.md", "graph compare")
    build_library(tmp_path / words[2], sampler.posts(), "mathamr-plus", processes=1)
    assert mathsetu(*words).code == 0
    drawn = tmp_path / words[words.index("--write") + 1]
    kept = DOCS / "images" / drawn.name
    assert texts_in(kept) == texts_in(drawn)
    # Another processor may round the last digit differently.
    cosines = [
        [float(one) for one in re.findall(r": (\d\.\d\d)</title>", path.read_text("utf-8"))]
        for path in (kept, drawn)
    ]
    assert cosines[0] == pytest.approx(cosines[1], abs=0.02)
    assert len(cosines[0]) > 20
