"""The JSON Lines format of this project."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathsetu.collections import jsonl, source_text
from mathsetu.collections.rows import BadRows
from mathsetu.collections.seen_ids import SeenIds
from mathsetu.collections.tally import Tally
from mathsetu.errors import InputError, RowError
from mathsetu.records import Formula, Judgment, Post, Query

texts = st.text(max_size=20)
ids = st.text(min_size=1, max_size=8)
tags = st.lists(texts, max_size=3).map(tuple)
formulas = st.builds(
    Formula, id=ids, latex=texts, visual_id=texts, post_id=texts, where=texts,
    start=st.integers(-1, 9), slt=texts, opt=texts, mathml=texts,
)  # fmt: skip
some_formulas = st.lists(formulas, max_size=2).map(tuple)
posts = st.builds(
    Post, id=ids, body=texts, title=texts, tags=tags, language=texts, kind=texts, thread_id=texts,
    parent_id=texts, question=texts, url=texts,
    score=st.none() | st.integers(-(10**18) + 1, 10**18 - 1), formulas=some_formulas,
)  # fmt: skip
queries = st.builds(
    Query, id=ids, text=texts, title=texts, tags=tags, language=texts, kind=texts,
    formulas=some_formulas,
)  # fmt: skip
judgments = st.builds(Judgment, query_id=ids, id=ids, grade=st.integers(-2, 3))


@given(
    st.lists(posts, max_size=3), st.lists(queries, max_size=3),
    st.lists(formulas, max_size=3), st.lists(judgments, max_size=3),
)  # fmt: skip
def test_every_record_is_read_back_unchanged(
    some_posts: list[Post],
    some_queries: list[Query],
    loose_formulas: list[Formula],
    some_judgments: list[Judgment],
) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "records.jsonl"
        jsonl.write_posts(path, some_posts)
        assert list(jsonl.read_posts(path)) == some_posts
        jsonl.write_queries(path, some_queries)
        assert list(jsonl.read_queries(path)) == some_queries
        jsonl.write_formulas(path, loose_formulas)
        assert list(jsonl.read_formulas(path)) == loose_formulas
        jsonl.write_judgments(path, some_judgments)
        assert list(jsonl.read_judgments(path)) == some_judgments


def test_a_file_without_header_is_read_and_formulas_are_found(tmp_path: Path) -> None:
    path = tmp_path / "posts.jsonl"
    path.write_text('{"id": "a", "title": "On $x$", "body": "Let $y>0$."}\n\n')
    (post,) = jsonl.read_posts(path)
    assert [(f.latex, f.where, f.start) for f in post.formulas] == [
        ("x", "title", 3),
        ("y>0", "body", 4),
    ]


PAGE = (
    '<p>In <span class="math-container">$a^2&lt;c^2$</span>, a matrix '
    "<math alttext='\\begin{pmatrix}a&amp;b\\end{pmatrix}'></math>. Why?</p>"
)


def test_texts_are_read_in_the_form_that_the_user_gives(tmp_path: Path) -> None:
    path = tmp_path / "posts.jsonl"
    path.write_text(f'{{"id": "1", "title": "Is $a<b$?", "body": {json.dumps(PAGE)}}}\n'
                    '{"id": "2", "title": "Is $a&lt;b$?", "body": "So $a&lt;b$."}\n')  # fmt: skip
    first, second = jsonl.read_posts(path, BadRows(form="html"))
    assert first.body == "In $a^2<c^2$, a matrix $\\begin{pmatrix}a&b\\end{pmatrix}$. Why?"
    assert [(f.latex, f.where) for f in first.formulas] == [
        ("a<b", "title"), ("a^2<c^2", "body"), ("\\begin{pmatrix}a&b\\end{pmatrix}", "body"),
    ]  # fmt: skip
    assert (first.title, second.title, second.body) == ("Is $a<b$?",) * 2 + ("So $a<b$.",)
    kept, _ = jsonl.read_posts(path)
    assert kept.body == PAGE


def test_formulas_may_be_listed_only_for_marked_text(tmp_path: Path) -> None:
    path = tmp_path / "posts.jsonl"
    path.write_text('{"id": "1", "body": "$x$", "formulas": [{"id": "f", "latex": "x"}]}\n')
    with pytest.raises(RowError, match='"formulas" must be left out where texts are in the form'):
        list(jsonl.read_posts(path, BadRows(form="html")))
    path.write_text('{"id": "1", "body": "<p>$x$</p>", "formulas": []}\n')
    (post,) = jsonl.read_posts(path, BadRows(form="html"))
    assert [formula.latex for formula in post.formulas] == ["x"]


def test_html_tags_are_noted_if_no_form_is_given(tmp_path: Path) -> None:
    path = tmp_path / "posts.jsonl"
    bodies = ["<p>a</p>", "<b>b</b>", *["How is </p> written?"], *["$a<b$, $c>d$"] * 26]

    def notes(bodies: list[str], form: str = "") -> list[str]:
        jsonl.write_posts(path, [Post(str(n), body) for n, body in enumerate(bodies)])
        bad = BadRows(notes=[], form=form)
        list(jsonl.read_posts(path, bad))
        return bad.notes or []

    (note,) = notes(bodies)
    assert note == (
        f"{path}: HTML tags in 3 of 29 bodies are kept as text (--form html reads them as HTML)"
    )
    assert notes(bodies[2:]) == notes(bodies[:2], "text") == notes(bodies[:2], "html") == []


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", "not JSON"),
        ('{"id": "a", "body": "b", "body": "c"}', '"body" was given 2 times; give it once'),
        (
            '{"id": "a", "body": "b", "formulas": [{"id": "f", "latex": "x", "id": "g"}]}',
            '"id" was given 2 times; give it once',
        ),
        ('{"id": "x', "not JSON: Unterminated string starting at character 8"),
        ("[1]", r"an object .* is expected, not a list"),
        ('{"id": "1"}', r'"body" is missing \(each line needs "id" and "body"\)'),
        ('{"id": "", "body": "b"}', '"id" is empty'),
        ('{"id": 1, "body": "b"}', '"id" must be a text, not a number'),
        ('{"id": "1", "body": null}', '"body" must be a text, not null'),
        (
            '{"id": "1", "body": "b", "colour": "red"}',
            r'"colour" is not a known key \(known: accepted_id',
        ),
        ('{"id": "1", "body": "b", "tags": "red"}', '"tags" must be a list, not a text'),
        ('{"id": "1", "body": "b", "score": true}', '"score" must be an integer'),
        ('{"id": "1", "body": "b", "score": NaN}', "NaN is not a number"),
        (
            '{"id": "1", "body": "b", "formulas": [{"id": "f"}]}',
            'in "formulas": "latex" is missing',
        ),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_a_bad_line_is_reported_or_skipped(tmp_path: Path, line: str, problem: str) -> None:
    path = tmp_path / "posts.jsonl"
    good = '{"id": "1", "body": "good"}'
    path.write_text(f"{good}\n{line}\n{good}\n")
    with pytest.raises(RowError, match=problem) as caught:
        list(jsonl.read_posts(path))
    assert caught.value.line == 2
    bad = BadRows(skip=True)
    assert len(list(jsonl.read_posts(path, bad))) == 2
    assert bad.count == 1


def test_a_header_of_other_records_or_another_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "posts.jsonl"
    path.write_text('{"mathsetu": "queries", "version": 1}\n')
    with pytest.raises(InputError, match="holds queries, not posts"):
        list(jsonl.read_posts(path))
    path.write_text('{"mathsetu": "posts", "version": 2}\n')
    with pytest.raises(InputError, match=r"version 2 .* reads version 1"):
        list(jsonl.read_posts(path))


def test_only_the_first_messages_of_skipped_rows_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "posts.jsonl"
    path.write_text("{}\n" * 50)
    bad = BadRows(skip=True, keep=3)
    assert list(jsonl.read_posts(path, bad)) == []
    assert (bad.count, len(bad.messages)) == (50, 3)


def test_integers_texts_and_lists_of_formulas_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    judged = {"query_id": "q", "id": "7"}
    for grade in (10**18 - 1, 1 - 10**18):
        assert jsonl.from_json({**judged, "grade": grade}, Judgment).grade == grade
    for grade in (10**18, -(10**18)):
        with pytest.raises(ValueError, match=r'^"grade" has more than 18 digits$'):
            jsonl.from_json({**judged, "grade": grade}, Judgment)
    monkeypatch.setattr(jsonl, "LONGEST_TEXT", 3)
    jsonl.check_texts({"a": ["xyz"]}, "row")
    with pytest.raises(ValueError, match=r'^"a" is longer than 3 characters$'):
        jsonl.check_texts({"a": ["x", "wxyz"]}, "row")
    monkeypatch.setattr(jsonl, "MAX_FORMULAS", 1)
    formula = {"id": "f", "latex": "x"}
    assert len(jsonl.from_json({"id": "7", "body": "b", "formulas": [formula]}, Post).formulas) == 1
    with pytest.raises(ValueError, match="2 formulas where at most 1 are allowed"):
        jsonl.from_json({"id": "7", "body": "b", "formulas": [formula] * 2}, Post)


@pytest.mark.parametrize(
    ("value", "named"),
    [({}, "an object"), ([], "a list"), (True, "true or false"), (None, "null"), (7, "a number")],
)
def test_the_error_names_the_type_of_a_value_that_should_be_a_text(
    value: object, named: str
) -> None:
    with pytest.raises(ValueError, match=rf'^"body" must be a text, not {named}$'):
        jsonl.from_json({"id": "7", "body": value}, Post)


def test_our_records_are_distinguished_from_those_of_other_programs() -> None:
    assert jsonl.is_own('\n{"id": "7", "body": "b"}\nnot json', Post)
    assert jsonl.is_own('{"mathsetu": "posts", "version": 9}', Post)
    assert jsonl.is_own('{"id": "7", "body', Post)
    assert not jsonl.is_own('["id"]', Post)
    assert not jsonl.is_own('{"id": 7, "body": "b"}', Post)
    assert not jsonl.is_own('{"id": "7", "body": "b", "by": "mathsetu"}', Post)


def test_bad_lines_are_skipped_one_by_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_text, "LONGEST_TEXT", 5)
    path = tmp_path / "posts.jsonl"
    rows = [{"id": "1", "body": "x" * 6}, {"id": "2", "body": "x" * 5}, {"id": "2", "body": "y"},
            {"id": "3", "body": "z"}]  # fmt: skip
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    bad = BadRows(skip=True, form="html", ids=SeenIds(), tally=Tally())
    assert [post.id for post in jsonl.read_posts(path, bad)] == ["2", "3"]
    assert [error.line for error in bad.errors] == [1, 3]
    assert bad.tally is not None
    assert bad.tally.has_forms
    assert not Tally().has_forms
