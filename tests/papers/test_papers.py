"""The page of the papers: every row has figures or a reason why not."""

import gzip
import json
from pathlib import Path

import pytest

from mathsetu.collections import sampler
from mathsetu.collections.trec import write_run
from mathsetu.evaluation import Judgments
from mathsetu.papers import Context, page
from mathsetu.papers.context import read_models
from mathsetu.papers.msm import every_system, missing
from mathsetu.records import Hit, Judgment, Run
from tests.command import Mathsetu

DOCS = Path(__file__).parents[2] / "docs" / "reproduce.md"
PROSE = Path(__file__).parents[2] / "src" / "mathsetu" / "papers"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """English posts and queries of the sampler, stored as those of ARQMath are."""
    folder = tmp_path_factory.mktemp("data")
    (folder / "arqmath").mkdir()
    (folder / "crossmath" / "runs").mkdir(parents=True)
    posts = [post for post in sampler.posts() if post.language == "en"]
    with gzip.open(folder / "arqmath" / "posts.jsonl.gz", "wt", encoding="utf-8") as file:
        for post in posts:
            row = {"answer_id": post.id, "question_id": "q", "title": post.title, "tags": [],
                   "question": "", "answer": post.body}  # fmt: skip
            file.write(json.dumps(row) + "\n")
    known = {post.id for post in posts}
    answered = {one.query_id for one in sampler.judgments() if one.id in known and one.grade >= 2}
    english = [q for q in sampler.queries() if q.language == "en" and q.id in answered][:6]
    names = {query.id: f"A.{n if n < 4 else 200 + n}" for n, query in enumerate(english, 1)}
    topics = "".join(
        f'<Topic number="{names[query.id]}"><Title>{query.title}</Title>'
        f"<Question>{query.text.replace('<', '&lt;').replace('&', '&amp;')}</Question></Topic>"
        for query in english
    )
    judgments = [
        Judgment(names[one.query_id], one.id, one.grade)
        for one in sampler.judgments()
        if one.query_id in names and one.id in known
    ]
    for year in ("2020", "2021"):
        own = [j for j in judgments if (int(j.query_id[2:]) > 200) == (year == "2021")]
        lines = "".join(f"{j.query_id} 0 {j.id} {j.grade}\n" for j in own)
        for name in ("official", "all"):
            (folder / "arqmath" / f"qrels-task1-{year}.{name}.txt").write_text(lines)
        (folder / "arqmath" / f"topics-task1-{year}.xml").write_text(
            f"<Topics>{topics}</Topics>" if year == "2020" else "<Topics></Topics>"
        )
        ranked = {
            topic: tuple(Hit(post, float(grade)) for post, grade in grades.items())
            for topic, grades in Judgments.of(own).grades.items()
        }
        path = folder / "crossmath" / "runs" / f"nllbbi.spa_Latn.{year}.tsv.gz"
        write_run(path, Run("best", ranked))
    return folder


@pytest.mark.thorough
def test_the_runs_of_the_authors_are_evaluated_and_missing_ones_named(data: Path) -> None:
    made = page(Context(data, data / "kept"), ["crossmath"])
    rows = [line for line in made.splitlines() if line.startswith("| ") and "evaluate" in line]
    assert len(rows) == 18
    [spanish] = [row for row in rows if "nllbbi.spa_Latn" in row]
    # A run in the order of the grades is perfect.
    assert "| .256 .278 | 1.000 " in spanish
    assert sum("the run is not in the data" in row for row in rows) == 17
    assert "all-mpnet-base-v2 is not available" in made


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kept")


@pytest.mark.thorough
def test_every_row_of_the_msm_paper_has_figures_or_a_reason(data: Path, kept: Path) -> None:
    made = page(Context(data, kept), ["msm"])
    rows = [line for line in made.splitlines() if "`reproduce m" in line]
    # 10 submitted, 4 refined, 22 ensembles.
    assert len(rows) == 36
    places = [row.split(" | ")[0].removeprefix("| ") for row in rows]
    expected = [f"2, msm {n}" for n in range(1, 6)] + [f"2, mirmu {n}" for n in range(1, 6)]
    expected += [f"3, fine {n}" for n in range(1, 5)] + [f"3, ens {n}" for n in range(1, 23)]
    assert sorted(places) == sorted(expected)
    for row in rows:
        assert ("not run: no " in row) != ("fewer posts" in row)
    ran = [row.split("`")[1].split()[1] for row in rows if "fewer posts" in row]
    assert places[:3] == ["2, msm 1", "2, msm 2", "2, msm 3"]
    assert ran == ["msm-tfidf", "msm-bm25", "msm-sum", "msm-bm25-best"]
    assert "Not run: no msm-5" in made


@pytest.mark.thorough
def test_the_page_has_a_section_for_each_paper_and_says_what_it_needs(
    mathsetu: Mathsetu, data: Path, kept: Path, tmp_path: Path
) -> None:
    target = tmp_path / "page.md"
    made = mathsetu("reproduce", "--all", data, "--keep", kept, "--write", target)
    assert made.code == 0, made.err
    text = target.read_text(encoding="utf-8")
    assert text.startswith("# Reproduce a paper")
    for title in ("## CrossMath", "## MIRMU and MSM", "## MIRaCLE", "## MathAMR+", "## What DATA"):
        assert f"\n{title}" in text
    assert [folder.name for folder in kept.iterdir()] == ["msm-every-system"]


def test_an_empty_folder_gives_a_page_with_reasons_instead_of_figures(tmp_path: Path) -> None:
    made = page(Context(tmp_path, tmp_path / "kept"))
    assert "The authors' runs are not in the data." in made
    assert "Not run: the topics or judgments (arqmath) are not in the data." in made


def test_replacement_models_have_their_own_settings(tmp_path: Path) -> None:
    path = tmp_path / "models.toml"
    (tmp_path / "small").mkdir()
    path.write_text(
        '["sentence-transformers/all-MiniLM-L12-v2"]\nmodel = "small"\n'
        '["./models/mirmu-roberta-large"]\nmodel = "org/name"\nkind = "onnx"\ndepth = 20\n'
    )
    context = Context(tmp_path, tmp_path, read_models(path))
    recipe = every_system(context)
    assert set(recipe.systems) == {
        "msm-2",
        "msm-3",
        "msm-4",
        "mirmu-1",
        "fine-2",
        "fine-3",
        "fine-4",
    }
    assert recipe.parts["minilm"]["model"] == str(tmp_path / "small")
    rerank = recipe.systems["mirmu-1"].rerank
    assert rerank is not None
    assert (rerank.model, rerank.kind, rerank.depth) == ("org/name", "onnx", 20)
    assert recipe.systems["mirmu-1"] == recipe.systems["fine-3"]
    assert missing(context, "mirmu-3") == ["mirmu-mathberta"]
    assert context.stand_ins(["./models/mirmu-roberta-large"]) == [
        "name for mirmu-roberta-large (kind onnx, depth 20)"
    ]


def test_mistakes_are_reported_in_one_line(mathsetu: Mathsetu, data: Path, tmp_path: Path) -> None:
    assert "give NAME" in mathsetu.refuses("reproduce")
    assert "--all cannot be used with" in mathsetu.refuses("reproduce", "mirmu", "--all", data)
    assert "no such folder" in mathsetu.refuses("reproduce", "--all", tmp_path / "nowhere")
    (tmp_path / "empty" / "arqmath").mkdir(parents=True)
    for only in ((), ("--only", "msm"), ("--only", "msm", "--only", "miracle")):
        said = mathsetu.refuses("reproduce", "--all", tmp_path / "empty", *only)
        assert "has no topics, judgments or runs, such as arqmath/" in said
    assert mathsetu("reproduce", "--all", tmp_path / "empty", "--only", "miracle").code == 0
    assert "unknown paper 'magic'" in mathsetu.refuses(
        "reproduce", "--all", data, "--only", "magic"
    )
    (tmp_path / "models.toml").write_text('["a"]\nkind = "onnx"\n')
    models = ("--models", tmp_path / "models.toml")
    assert "must be a table with a model" in mathsetu.refuses("reproduce", "--all", data, *models)


@pytest.mark.thorough
def test_one_recipe_can_be_reproduced_with_the_posts_of_the_data(
    mathsetu: Mathsetu, data: Path
) -> None:
    names = ("posts.jsonl.gz", "topics-task1-2020.xml", "qrels-task1-2020.official.txt")
    shown = mathsetu("reproduce", "msm-bm25", *(data / "arqmath" / name for name in names))
    assert shown.code == 0
    assert "table 2, msm 3" in shown.out


def test_the_page_in_the_docs_has_the_current_head_and_tail() -> None:
    text = DOCS.read_text(encoding="utf-8")
    assert text.startswith((PROSE / "head.md").read_text(encoding="utf-8").strip())
    assert text.strip().endswith((PROSE / "tail.md").read_text(encoding="utf-8").strip())


@pytest.mark.shared
@pytest.mark.thorough
@pytest.mark.exhaustive
def test_the_authors_runs_of_crossmath_give_the_figures_of_four_tables(shared_data: Path) -> None:
    made = page(Context(shared_data, shared_data), ["crossmath"])
    assert "56 of 56 figures of tables 1, 2, 4 and 5" in made
    assert "0 of 16 (1 within .001) of table 3" in made
