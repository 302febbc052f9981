"""Commands of the documentation are run, on small files with the names that pages use.

Commands that cannot be run are listed with the reason. Pages whose output is compared are in
`test_docs`.
"""

import csv
import random
import re
import shutil
import tarfile
from pathlib import Path

import pytest

from mathsetu.collections import jsonl
from mathsetu.library.write import build_library
from mathsetu.records import Post
from tests.command import Mathsetu
from tests.dump import THREADS, make_dump
from tests.light import LIGHT
from tests.test_docs import DOCS, RUN, commands, words_of

pytestmark = pytest.mark.thorough

#: Parts of commands that cannot be run here, with the reason.
NOT_RUN = {
    "mathsetu serve": "runs until it is stopped (tests/service/test_serve.py runs it)",
    "qdrant://": "needs a Qdrant server (tests/cluster/test_real_server.py)",
    "qdrants://": "needs a Qdrant server (tests/cluster/test_real_server.py)",
    "http://localhost:6333": "needs a Qdrant server (tests/retrieval/test_qdrant.py)",
    "/shared/plan": "needs a folder that machines share (tests/cluster/test_publishing.py)",
    "--device cuda": "needs an accelerator (tests/encoders/test_accelerator.py)",
    "train encoder": "needs torch, a teacher and parallel text (tests/training/encoder)",
    "train cross-encoder": "needs torch and a model (tests/training/test_train_cli.py)",
    "train bi-encoder": "needs torch and a model (tests/training/test_train_cli.py)",
    "train graph": "needs torch and training data (tests/training/test_graph_training.py)",
    "train weight": "needs a trained reranker (tests/training/test_reranker_weight.py)",
    "rerank.model=": "needs a trained reranker (tests/training/test_reranker_weight.py)",
    "rerank.depth=": "needs a library with a trained reranker",
    "parts.meaning.model=": "needs a trained encoder (tests/training/encoder)",
    "parts.graph.model=": "needs a trained graph model (tests/training/test_graph_training.py)",
    ".parquet": "needs the extra parquet (tests/collections/test_parquet.py)",
    "vaswani": "needs a download and an extra (tests/integrations/test_ir_datasets.py)",
    "DATA": "needs the evaluation data (tests/papers/test_papers.py)",
    "crossmath-nllb-bi": "needs models that are not in the package",
    "msm-ens-": "needs models that are not in the package",
    "Train_set.csv --recipe miracle-2": "needs a model that is not in the package",
}
PAGES = sorted(page for page in DOCS.rglob("*.md") if page.name not in RUN and any(commands(page)))
# A body that is long enough for every recipe.
LONG = "यदि $x$ एक वास्तविक संख्या है तो उसका वर्ग कभी ऋणात्मक नहीं होता है"
# Libraries that pages use without building them.
BUILT = (
    "hindi.library",
    "math.library",
    "my-library",
    "my.library",
    "vectors.library",
    "words.library",
)


def reason_not_to_run(command: str) -> str:
    """Return why a command is not run here, or "" if it is run."""
    return next((reason for part, reason in NOT_RUN.items() if part in command), "")


@pytest.fixture(scope="module")
def material(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all files that commands read."""
    folder = tmp_path_factory.mktemp("docs") / "files"
    make_dump(folder)
    for name, other in {
        "topics-task1.xml": "topics.xml",
        "qrels-task1.txt": "qrels.txt qrels-2020.txt qrels-task1.tsv",
        "qrels-task2.txt": "qrels-task2.tsv",
    }.items():
        for copy in other.split():
            shutil.copy(folder / name, folder / copy)
    _write_posts(folder)
    _write_runs(folder)
    _write_documents(folder)
    built = folder / BUILT[0]
    build_library(built, jsonl.read_posts(folder / "posts.jsonl"), LIGHT, processes=1)
    for name in BUILT[1:]:
        shutil.copytree(built, folder / name)
    return folder


def _write_posts(folder: Path) -> None:
    """The posts of the dump as JSON Lines, and some that pages name."""
    answers = [
        Post(f"{10 * number + place}", f"On {about}: ${latex}$ holds.", title=f"What is {about}?")
        for number, (_, about, latex, _) in enumerate(THREADS, start=1)
        for place in (1, 2)
    ]
    named = [Post("4711", "Is $x^2-2$ irreducible?"), Post("post-17", "A prime $p$."),
             Post("post-18", "A set $M$.")]  # fmt: skip
    jsonl.write_posts(folder / "posts.jsonl", [*answers, named[0]])
    jsonl.write_posts(folder / "course.jsonl", named[1:])
    jsonl.write_posts(folder / "more.jsonl", [Post("more", "Another prime, $q$.")])


def _write_runs(folder: Path) -> None:
    chance = random.Random(0)
    for name in "a b c bm25 dense formulas fused vectors words".split():
        lines = [
            f"A.{topic} Q0 {10 * number + 1} 1 {chance.random():.4f} {name}\n"
            for topic in range(1, len(THREADS) + 1)
            for number in range(1, len(THREADS) + 1)
        ]
        (folder / f"{name}.run").write_text("".join(lines), encoding="utf-8")
    shutil.copy(folder / "bm25.run", folder / "run.trec")
    for name in "ab":  # runs of task 2: topic, formula, post, rank, score, run
        rows = [f"B.1\t{1000 + 10 * n}\t{10 * (n + 1)}\t{n + 1}\t{9 - n}\t{name}" for n in range(3)]
        (folder / f"{name}.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")


def _write_documents(folder: Path) -> None:
    (folder / "notes").mkdir()
    (folder / "notes" / "series.md").write_text("# Series\n\n$1+q+q^2$ converges.\n")
    (folder / "paper.tex").write_text("\\section{Primes}\nThe prime $p$.\n")
    with tarfile.open(folder / "2101.00001.tar.gz", "w:gz") as archive:
        archive.add(folder / "paper.tex", "main.tex")
    rows: dict[str, list[tuple[str, ...]]] = {
        "answers.csv": [("Subject", "Content", "Author"), ("Primes", "$p$ is prime.", "A")],
        "sheet.csv": [("Frage", "Antwort"), ("Was?", "Das.")],
        "queries.csv": [("query_id", "query", "context"), ("Q1", "x^2", "a square")],
        "Test_Data.csv": [("query_id", "query", "context"), ("Q1", "x^2", "a square")],
        "Train_set.csv": [("id", "body"), *((str(10 * n + 1), LONG) for n in range(1, 9))],
    }
    for name, table in rows.items():
        with (folder / name).open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(table)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_of_a_page_can_be_run(
    page: Path, material: Path, mathsetu: Mathsetu, tmp_path: Path
) -> None:
    """Run the commands of a page in order, as a reader does."""
    wanted = [command for command in commands(page) if not reason_not_to_run(command)]
    if not wanted:
        pytest.skip("no command of this page can be run here")
    shutil.copytree(material, tmp_path, dirs_exist_ok=True)
    if page.name == "graphs.md":  # the output of an external parser, and a library with graphs
        for posts, target in (("posts.jsonl", "parsed.penman"), ("topics.xml", "topics.penman")):
            assert not mathsetu("graph", "build", posts, target, "--sentences", "terms").code
        assert not mathsetu("index", "math.library", "posts.jsonl", "--recipe", "mathamr-plus").code
    for command in wanted:
        result = mathsetu(*words_of(command))
        # 1 is a negative result: nothing was found, or a file does not validate.
        assert result.code in (0, 1), f"{page.name}: {command}: {result.err}"
        if redirected := re.search(r"> ([\w.-]+)", command):
            (tmp_path / redirected[1]).write_text(result.out, encoding="utf-8")


def test_every_reason_applies_to_a_command() -> None:
    every = [command for page in PAGES for command in commands(page)]
    for part in NOT_RUN:
        assert any(part in command for command in every), f"no command has {part!r}"


def test_the_tests_that_reasons_name_exist() -> None:
    named = re.findall(r"tests/[\w/.]+\w", " ".join(NOT_RUN.values()))
    assert len(named) > 10
    assert [path for path in named if not (Path(__file__).parents[1] / path).exists()] == []
