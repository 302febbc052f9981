"""ARQMath topics, formula tables and runs; CrossMath topics."""

import json
from pathlib import Path

import pytest

from mathsetu.collections import arqmath, crossmath, source_text
from mathsetu.collections.formats import detect, open_posts
from mathsetu.collections.formula_sets import open_formulas
from mathsetu.collections.rows import BadRows
from mathsetu.errors import RowError
from mathsetu.limits import LONGEST_TEXT
from mathsetu.records import Formula, Hit, Query, Run

TOPICS = """<?xml version="1.0" ?>
<Topics>
   <Topic number="A.1">
      <Title>Roots of &lt;span class="math-container" id="q_1"&gt;$x^2$&lt;/span&gt;</Title>
      <Question>&lt;p&gt;Find &lt;b&gt;all&lt;/b&gt; of
them.&lt;/p&gt;</Question>
      <Tags>algebra,roots</Tags>
   </Topic>
   <Topic number="B.2">
      <Formula_Id>q_8</Formula_Id>
      <Latex>a &lt; b</Latex>
      <Title>Order</Title>
      <Question>&lt;p&gt;Why?&lt;/p&gt;</Question>
      <Tags>order</Tags>
   </Topic>
</Topics>
"""


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_topics_of_both_tasks_are_read(tmp_path: Path) -> None:
    first, second = arqmath.read_topics(write(tmp_path / "topics.xml", TOPICS))
    assert (first.id, first.title, first.text) == ("A.1", "Roots of $x^2$", "Find all of\nthem.")
    assert (first.tags, first.kind, first.formulas) == (("algebra", "roots"), "question", ())
    assert second.kind == "formula"
    assert second.formulas == (Formula(id="q_8", latex="a < b"),)


def test_the_formula_of_a_topic_has_its_position_in_the_question(tmp_path: Path) -> None:
    span = '&lt;span class="math-container" id="{}"&gt;${}$&lt;/span&gt;'
    body = f"Is {span.format('q_7', 'c')} so, or {span.format('q_8', 'a &amp;lt; b')}?"
    asked = TOPICS.replace("Why?", body)
    _, topic = arqmath.read_topics(write(tmp_path / "topics.xml", asked))
    assert topic.text == "Is $c$ so, or $a < b$?"
    assert topic.formulas == (Formula("q_8", "a < b", where="question", start=14),)
    assert topic.text[14:].startswith("$a < b$")


def test_the_file_name_may_give_the_language_of_the_topics(tmp_path: Path) -> None:
    """CrossMath names its files by language, whatever their format."""
    path = write(tmp_path / "hin_Deva.xml", TOPICS)
    assert {topic.language for topic in arqmath.read_topics(path)} == {"hi"}
    assert {topic.language for topic in arqmath.read_topics(path, language="en")} == {"en"}


def test_written_topics_are_read_back_unchanged(tmp_path: Path) -> None:
    topics = list(arqmath.read_topics(write(tmp_path / "topics.xml", TOPICS)))
    arqmath.write_topics(tmp_path / "again.xml", topics)
    assert list(arqmath.read_topics(tmp_path / "again.xml")) == topics


def test_a_topic_without_a_number_is_reported_or_skipped(tmp_path: Path) -> None:
    path = write(tmp_path / "topics.xml", TOPICS.replace(' number="A.1"', ""))
    with pytest.raises(RowError, match="line 3: a Topic needs a number"):
        list(arqmath.read_topics(path))
    assert [topic.id for topic in arqmath.read_topics(path, BadRows(skip=True))] == ["B.2"]


@pytest.mark.parametrize(
    "header",
    [
        "id\tpost_id\tthread_id\ttype\tvisual_id\tformula",
        "id\tpost_id\tthread_id\ttype\tcomment_id\told_visual_id\tvisual_id\tissue\tformula",
        "formula\tid\ttype\tvisual_id\tpost_id",
    ],
)
def test_formula_columns_are_found_by_name_in_every_version(tmp_path: Path, header: str) -> None:
    values = {"id": "5", "post_id": "70", "type": "answer", "visual_id": "3", "formula": "x^2"}
    row = "\t".join(values.get(name, "0") for name in header.split("\t"))
    (formula,) = arqmath.read_formulas(write(tmp_path / "1.tsv", f"{header}\n{row}\n"))
    assert formula == Formula(id="5", latex="x^2", visual_id="3", post_id="70", where="answer")


def test_the_folder_name_gives_the_representation_of_the_formulas(tmp_path: Path) -> None:
    table = "id\tpost_id\tformula\n5\t70\t[V!x,a[N!2]]\n"
    slt = next(arqmath.read_formulas(write(tmp_path / "slt_representation_v3" / "1.tsv", table)))
    opt = next(arqmath.read_formulas(write(tmp_path / "opt_representation_v3" / "1.tsv", table)))
    assert (slt.slt, slt.opt, slt.latex) == ("[V!x,a[N!2]]", "", "")
    assert (opt.slt, opt.opt, opt.latex) == ("", "[V!x,a[N!2]]", "")


def test_mathml_is_kept_as_mathml(tmp_path: Path) -> None:
    table = 'id\tpost_id\tformula\n5\t70\t"<math display=""block""><mi>x</mi></math>"\n'
    (formula,) = arqmath.read_formulas(write(tmp_path / "slt" / "1.tsv", table))
    assert formula.mathml == '<math display="block"><mi>x</mi></math>'


@pytest.mark.parametrize(
    ("row", "problem"),
    [("5\t70", "2 columns where the header has 3"), ("5\t70\t ", "no id or no formula")],
)
def test_a_bad_formula_row_is_reported_or_skipped(tmp_path: Path, row: str, problem: str) -> None:
    path = write(tmp_path / "1.tsv", f"id\tpost_id\tformula\n4\t70\tx\n{row}\n6\t70\ty\n")
    with pytest.raises(RowError, match=problem) as caught:
        list(arqmath.read_formulas(path))
    assert caught.value.line == 3
    assert len(list(arqmath.read_formulas(path, BadRows(skip=True)))) == 2


def test_runs_of_both_tasks_are_read_back_unchanged(tmp_path: Path) -> None:
    answers = Run("2", {"A.1": (Hit("7", 2.5), Hit("8", 1.0)), "A.2": (Hit("7", 0.1),)})
    arqmath.write_answer_run(tmp_path / "1.tsv", answers)
    assert (tmp_path / "1.tsv").read_text().splitlines()[0] == "A.1\t7\t1\t2.5\t2"
    assert arqmath.read_answer_run(tmp_path / "1.tsv") == answers
    assert arqmath.validate_answer_run(tmp_path / "1.tsv") == []
    formulas = Run("2", {"B.1": (Hit("55", 2.5, "7"), Hit("56", 1.0, "7"))})
    arqmath.write_formula_run(tmp_path / "2.tsv", formulas)
    assert (tmp_path / "2.tsv").read_text().splitlines()[0] == "B.1\t55\t7\t1\t2.5\t2"
    assert arqmath.read_formula_run(tmp_path / "2.tsv") == formulas
    assert arqmath.validate_formula_run(tmp_path / "2.tsv") == []


def test_the_validator_accepts_a_formula_in_any_post_that_lists_it(tmp_path: Path) -> None:
    posts = ("7", "8", "9")
    rows = (f"B.{post}\t55\t{post}\t1\t2.5\tours" for post in posts)
    run = write(tmp_path / "run.tsv", "\n".join(rows) + "\n")
    listed = [Formula("55", "x", post_id=post) for post in ("7", "8")]
    problems = arqmath.validate_formula_run(run, None, listed)
    assert [(problem.line, problem.message) for problem in problems] == [
        (3, "55 stands in post 7 or 8, not in 9")
    ]
    assert arqmath.validate_formula_run(run, None, [*listed, Formula("55", "x")]) == []


def test_the_run_validator_reports_line_numbers(tmp_path: Path) -> None:
    path = write(tmp_path / "run.tsv", "A.1\t7\t1\t2\t1\nA.1\t7\t2\t1\t1\nA.1 8 3 1 1\n")
    assert [problem.line for problem in arqmath.validate_answer_run(path)] == [2, 3]
    with pytest.raises(RowError, match="line 3: 1 column where 5 are expected"):
        arqmath.read_answer_run(path)


def test_crossmath_topics_get_their_language_and_lose_spreadsheet_quotes(
    tmp_path: Path,
) -> None:
    path = write(
        tmp_path / "hin_Deva.tsv",
        'A.1\tयोग $x$\t"कहें ""हाँ"" तो"\talgebra\nA.2\t"a" और "b"\tपाठ\ta,b\n',
    )
    first, second = crossmath.read_topics(path)
    assert (first.language, first.title, first.text) == ("hi", "योग $x$", 'कहें "हाँ" तो')
    assert (second.title, second.tags) == ('"a" और "b"', ("a", "b"))


def test_a_crossmath_row_with_too_few_columns_or_no_id_is_reported_or_skipped(
    tmp_path: Path,
) -> None:
    path = write(tmp_path / "ces_Latn.tsv", "A.1\ta\tb\tc\nA.2\ta\n\tx\ty\tz\n")
    with pytest.raises(RowError, match="line 2: 2 columns where 4 are expected"):
        list(crossmath.read_topics(path))
    bad = BadRows(skip=True)
    assert len(list(crossmath.read_topics(path, bad))) == 1
    assert [error.line for error in bad.errors] == [2, 3]


def test_written_crossmath_topics_are_read_back_unchanged(tmp_path: Path) -> None:
    topics = [Query("A.1", "¿Qué es $x$?", "Título", ("a", "b"), "es", "question")]
    crossmath.write_topics(tmp_path / "spa_Latn.tsv", topics)
    assert list(crossmath.read_topics(tmp_path / "spa_Latn.tsv")) == topics


ANSWER = {
    "answer_id": "8",
    "question_id": "7",
    "title": "Even?",
    "tags": ["numbers"],
    "question": "Is $2y$ even?",
    "answer": "Yes: it is $2y$.",
    "answer_comments": "Really? $z$",
    "formulas": [
        {"id": "50", "visual_id": "3", "latex": "2y", "where": "question"},
        {"id": "51", "visual_id": "3", "latex": "2y", "where": "answer"},
        {"id": None, "visual_id": None, "latex": "y", "where": "answer"},
        {"id": "52", "visual_id": "4", "latex": "z", "where": "acomment"},
    ],
}


def test_answers_with_their_questions_are_recognised_by_their_fields(tmp_path: Path) -> None:
    path = tmp_path / "posts.jsonl"
    path.write_text(json.dumps(ANSWER) + "\n", encoding="utf-8")
    assert detect(path).name == "arqmath-answers"
    [post] = open_posts(path)
    assert (post.id, post.parent_id, post.kind, post.tags) == ("8", "7", "answer", ("numbers",))
    assert (post.title, post.question, post.body) == ("Even?", "Is $2y$ even?", "Yes: it is $2y$.")
    found = [(one.id, one.visual_id, one.post_id, one.where) for one in open_formulas(path)]
    assert found == [
        ("50", "3", "7", "question"),
        ("51", "3", "8", "body"),
        ("8:body:2", "", "8", "body"),
    ]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"tags": None}, "tags"),
        ({"title": None}, "title"),
        ({"formulas": [{"id": "1", "where": "answer"}]}, "latex"),
        ({"answer": "\ud800"}, "lone surrogate"),
        ({"answer": "x" * (LONGEST_TEXT + 1)}, "longer than"),
        ({"answer": "$x$ " * 11}, "formulas"),
    ],
    ids=["tags", "title", "formulas", "surrogate", "long", "many"],
)
def test_an_invalid_answer_is_reported_or_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: dict[str, object], message: str
) -> None:
    monkeypatch.setattr(source_text, "MAX_FORMULAS", 10)
    path = tmp_path / "posts.jsonl"
    rows = [ANSWER, ANSWER | wrong]
    path.write_text("\n".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    with pytest.raises(RowError, match=rf"posts\.jsonl line 3: is not an answer \(.*{message}"):
        list(arqmath.read_answers(path))
    assert len(list(arqmath.read_answers(path, BadRows(skip=True)))) == 1


def test_the_validator_reports_empty_runs_bad_ranks_and_too_many_results(tmp_path: Path) -> None:
    path = write(tmp_path / "run.tsv", "\n")
    assert [str(problem) for problem in arqmath.validate_answer_run(path)] == [
        "the file holds no results"
    ]
    write(path, "A.1\t7\tx\t2.0\tr\n\nA.1\t8\t1\t1.0\tr\n")
    (problem,) = arqmath.validate_answer_run(path)
    assert (problem.line, "rank 'x' is not" in problem.message) == (1, True)
    write(path, "".join(f"A.1\t{n}\t{n}\t{5000 - n}\tr\n" for n in range(1, 1_002)))
    (problem,) = arqmath.validate_answer_run(path)
    assert str(problem) == "warning: A.1 has 1001 results; at most 1000 are evaluated"
    write(path, "".join(f"A.1\t{n}\t{n}\t{5000 - n}\tr\n" for n in range(1, 1_001)))
    assert arqmath.validate_answer_run(path) == []


def test_a_run_of_posts_is_not_a_valid_run_of_formulas(tmp_path: Path) -> None:
    path = write(tmp_path / "run.tsv", "B.1\t7\t7\t1\t2\tr\nB.1\t8\t8\t2\t1\tr\n")
    assert [str(problem) for problem in arqmath.validate_formula_run(path)] == [
        "every formula has the id of its post: this is a run of posts, not of formulas"
    ]
    write(path, "B.1\t7\t7\t1\t2\tr\nB.1\t9\t8\t2\t1\tr\n")
    assert arqmath.validate_formula_run(path) == []


def test_empty_lines_and_bad_rows_of_a_run_are_skipped(tmp_path: Path) -> None:
    path = write(tmp_path / "run.tsv", "A.1\t7\t1\t2.0\tr\n\nA.1\t8\tx\t1\tr\nA.1\t9\t3\t1\ts\n")
    bad = BadRows(skip=True)
    run = arqmath.read_answer_run(path, bad)
    assert run.name == "r"
    assert [hit.id for hit in run.rankings["A.1"]] == ["7", "9"]
    assert [error.line for error in bad.errors] == [3]
