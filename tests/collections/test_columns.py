"""Tables with any column names."""

import gzip
import io
import json
import zipfile
from pathlib import Path

import pytest

from mathsetu.collections.columns import applicable_fields, read_posts, row_post, why_not_posts
from mathsetu.collections.formats import FORMATS, detect, open_posts
from mathsetu.collections.meter import metered
from mathsetu.collections.rows import BadRows
from mathsetu.collections.seen_ids import SeenIds
from mathsetu.collections.tally import Tally
from mathsetu.errors import InputError, RowError
from mathsetu.records import Post
from tests.command import Mathsetu


def read(path: Path, **fields: str) -> tuple[list[Post], Tally]:
    tally = Tally()
    return list(open_posts(path, BadRows(tally=tally, fields=fields))), tally


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "Subject,Content,Nr\nSums,Is $1+1=2$?,7\n"),
        ("a.csv", "\ufeffSubject;Content;Nr\r\nSums;Is $1+1=2$?;7\r\n"),
        ("a.tsv", "Nr\tSubject\tContent\n7\tSums\tIs $1+1=2$?\n"),
        ("a.json", '[{"Subject": "Sums", "Content": "Is $1+1=2$?", "Nr": 7}]'),
        ("a.json", '{"n": 1, "data": [{"Subject": "Sums", "Content": "Is $1+1=2$?"}]}'),
        ("a.jsonl", '{"Subject": "Sums", "Content": "<p>Is $1+1=2$?</p>", "Nr": 7}\n'),
    ],
)
def test_columns_are_guessed_and_reported(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8", newline="")
    (post,), tally = read(path)
    assert (post.title, post.body, post.language) == ("Sums", "Is $1+1=2$?", "")
    assert [formula.latex for formula in post.formulas] == ["1+1=2"]
    (said,) = tally.columns
    assert "body = Content" in said
    assert "guessed; --field FIELD=COLUMN" in said


@pytest.mark.parametrize(
    ("fields", "used"),
    [
        ({}, "body = Content, title = Subject (guessed; --field FIELD=COLUMN overrides it)"),
        (
            {"body": "Content"},
            "body = Content; guessed: title = Subject (--field FIELD=COLUMN overrides it)",
        ),
        ({"body": "Content", "title": "Subject"}, "body = Content, title = Subject"),
    ],
)
def test_only_columns_that_the_user_does_not_name_are_guessed(
    tmp_path: Path, fields: dict[str, str], used: str
) -> None:
    path = tmp_path / "a.csv"
    path.write_text("Subject,Content\nSums,Is $1+1=2$?\n", encoding="utf-8")
    _, tally = read(path, **fields)
    assert tally.columns == [f"{path}: {used}"]


EULER = (
    '<math xmlns="http://www.w3.org/1998/Math/MathML"><msup><mi>e</mi><mrow><mi>i</mi><mi>π</mi>'
    "</mrow></msup><mo>+</mo><mn>1</mn><mo>=</mo><mn>0</mn></math>"
)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (f"<p>See {EULER}</p>", "See $e^{i\\pi}+1=0$"),
        (f"See {EULER}", "See $e^{i\\pi}+1=0$"),
        ('See <math alttext="a&lt;b"><mi>a</mi></math>', "See $a<b$"),
    ],
)
def test_mathml_in_a_row_is_read_as_a_formula(tmp_path: Path, body: str, text: str) -> None:
    path = tmp_path / "posts.json"
    path.write_text(json.dumps([{"content": body}]), encoding="utf-8")
    (post,), _ = read(path)
    assert post.body.replace(" ", "") == text.replace(" ", "")
    assert len(post.formulas) == 1


def test_a_table_is_read_in_the_form_that_the_user_gives(tmp_path: Path) -> None:
    path = tmp_path / "posts.csv"
    path.write_text("Subject,Content\nIs $a<b$?,Is $a&lt;b$ *so*?\n", encoding="utf-8")

    def bodies(form: str) -> list[tuple[str, str]]:
        return [(post.title, post.body) for post in open_posts(path, BadRows(form=form))]

    assert bodies("") == bodies("text") == [("Is $a<b$?", "Is $a&lt;b$ *so*?")]
    assert bodies("html") == [("Is $a<b$?", "Is $a<b$ *so*?")]
    assert bodies("markdown") == [("Is $a<b$?", "Is $a&lt;b$ so?")]


def test_columns_that_the_user_names_are_used(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("id,title,body,Erklärung\n7,t,b,Die $x$\n", encoding="utf-8")
    assert detect(path).name == "clmir-posts"
    (post,), tally = read(path, body="Erklärung", title="body")
    assert (post.id, post.title, post.body) == ("7", "b", "Die $x$")
    assert "not read: title" in tally.columns[0]
    with pytest.raises(RowError, match=r"no column 'x' for body; there are: id, title, body"):
        read(path, body="x")


def test_rows_with_an_unknown_key_are_a_table_unless_the_first_line_is_in_our_format(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"id": "1", "body": "x", "foo": 1}\n')
    (post,), tally = read(path)
    assert (post.id, post.body) == ("1", "x")
    assert tally.columns[0].endswith("; not read: foo")
    for before in ('{"mathsetu": "posts", "version": 1}', '{"id": "0", "body": "x"}'):
        path.write_text(f'{before}\n{{"id": "1", "body": "x", "foo": 1}}\n')
        with pytest.raises(RowError, match='line 2: "foo" is not a known key'):
            read(path)


LATER: list[dict[str, object]] = [
    {"id": 1, "body": "First $x^2$"},
    {"id": 2, "body": "Second", "title": "A title", "tags": ["t"], "parentId": 1, "remarks": "r"},
    {"id": 3, "body": "Third"},
]


def as_lines(rows: list[dict[str, object]]) -> str:
    return "".join(f"{json.dumps(row)}\n" for row in rows)


def test_columns_that_appear_only_in_later_rows_are_read_and_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.jsonl").write_text(as_lines(LATER))
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(as_lines(LATER).encode()))
    (tmp_path / "a.json").write_text(json.dumps(LATER))
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("a.jsonl", as_lines(LATER))
    piped = io.TextIOWrapper(io.BytesIO(as_lines(LATER).encode()))
    monkeypatch.setattr("sys.stdin", piped)
    for name in ("a.jsonl", "a.jsonl.gz", "a.json", "a.zip", "-"):
        tally = Tally()
        bad = BadRows(tally=tally)
        is_piped = name == "-"
        posts = FORMATS["table"].read("-", bad) if is_piped else open_posts(tmp_path / name, bad)
        assert [(post.id, post.title, post.tags, post.parent_id) for post in posts] == [
            ("1", "", (), ""), ("2", "A title", ("t",), "1"), ("3", "", (), ""),
        ]  # fmt: skip
        (said,) = tally.columns
        assert "parent_id = parentId" in said
        assert said.endswith("; not read: remarks")
    posts, _ = read(tmp_path / "a.jsonl", question="Remarks")
    assert [post.question for post in posts] == ["", "r", ""]


def test_rows_with_different_column_names_for_a_field_are_all_read(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    rows: list[dict[str, object]] = [
        {"id": 1, "text": "a"},
        {"id": 2, "body": "b", "title": "t", "name": "Bob"},
        {"id": 3, "body": "c", "name": "Eve"},
        {"id": 4, "Text": "d", "body": None},
    ]
    path.write_text(as_lines(rows))
    posts, tally = read(path)
    # One row has both a title and a name, so these are different fields.
    assert [(post.body, post.title) for post in posts] == [
        ("a", ""), ("b", "t"), ("c", ""), ("d", ""),
    ]  # fmt: skip
    (said,) = tally.columns
    assert "body = body or text or Text, title = title, id = id (guessed" in said
    assert said.endswith("; not read: name")
    # A column that the user names is the only one used for the field.
    with pytest.raises(RowError, match="line 3: the row has no text in 'text'"):
        read(path, body="text")


@pytest.mark.thorough
def test_a_column_is_found_among_many_others(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    others: list[dict[str, object]] = [{"text": "a", f"k{n}": n} for n in range(1_500)]
    path.write_text(as_lines([*others, {"text": "b", "title": "t", "Frage": "q"}]))
    posts, tally = read(path, question="Frage")
    assert (posts[-1].title, posts[-1].question) == ("t", "q")
    assert tally.columns[0].endswith("k18, k19 …")


def test_progress_counts_a_table_once(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(as_lines([{"content": "a" * 100_000}] * 30))
    with metered([path]) as meter:
        posts = open_posts(path, BadRows())
        next(posts)
        assert meter.done < meter.total / 2
        assert len(list(posts)) == 29


def test_problems_with_solutions_become_questions_with_answers(tmp_path: Path) -> None:
    path = tmp_path / "math.jsonl"
    path.write_text('{"problem": "Find $x$.", "solution": "$x=1$", "level": "5"}\n')
    (post,), _ = read(path)
    assert (post.id, post.question, post.body) == ("math.jsonl#1", "Find $x$.", "$x=1$")
    path.write_text('{"problem": "Find $x$.", "level": "5"}\n')
    (post,), _ = read(path)
    assert post.body == "Find $x$."


def test_a_topic_column_becomes_a_tag(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("Question,Answer,Topic,Difficulty\nIs $1+1=2$?,Yes.,Linear algebra,easy\n")
    (post,), _ = read(path)
    assert (post.title, post.tags) == ("", ("Linear algebra",))


def test_languages_are_read_from_the_table(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    rows = [{"text": "a", "lang": "hi-IN"}, {"text": "b", "lang": "Spanish"}, {"text": "c"}]
    path.write_text("\n".join(map(json.dumps, rows)))
    posts, _ = read(path)
    assert [post.language for post in posts] == ["hi", "es", ""]


@pytest.mark.thorough
def test_a_large_parquet_table_is_read_and_a_truncated_one_is_refused(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "a.parquet"
    rows = {"Content": [f"Let $x_{n}$." for n in range(2500)], "Nr": list(range(2500))}
    parquet.write_table(arrow.table(rows), path)
    posts, _ = read(path, id="Nr")
    assert len(posts) == 2500
    assert (posts[-1].id, posts[-1].body) == ("2499", "Let $x_2499$.")
    path.write_bytes(path.read_bytes()[:500])
    with pytest.raises(InputError, match="cannot be read as Parquet"):
        read(path)


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("a.csv", "A,B\n1,2\n", "no column for the body"),
        ("a.json", "[1]", "an object"),
        ("a.json", '{"a": [', "not JSON"),
        ("a.json", "[" * 100_000, "nested too deeply"),
        ("a.jsonl", '{"Content": "a"}\n{"Content": {}}\n', "line 2: the body is neither a text"),
        ("a.jsonl", '{"Content": "\\ud800"}\n', "lone surrogate"),
        ("a.csv", "Content,Content\na,b\n", "two columns are called"),
    ],
)
def test_the_error_says_why_a_table_cannot_be_read(
    tmp_path: Path, name: str, text: str, problem: str
) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(InputError, match=problem):
        read(path)


def test_a_table_in_a_folder_is_read_or_reported_as_ignored(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("Subject;Content\nSums;Is $1$?\n")
    (tmp_path / "measured.csv").write_text("time,volt\n1,2\n")
    posts, tally = read(tmp_path)
    assert [post.id for post in posts] == ["a.csv#2"]
    assert list(tally.ignored.counts) == [
        "a table with no column for the body (use --field body=COLUMN); there are: time, volt"
    ]


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("a.jsonl", '{"id": "1"\n', "line 1: not JSON: .* at character 11"),
        ("a.jsonl", '{"id": "1"\n{"id": "2", "Content": "x"}\n', "line 1: not JSON"),
        ("a.json", '[{"Content": "x"},\n', "line 2: not JSON"),
        ("a.json", '[{"Content":\n"x}', "line 2: not JSON: Unterminated .* starting at column 1"),
        ("a.jsonl", '{"Content": "x', "not JSON: Unterminated .* starting at character 13"),
        ("a.csv", "Subject,Content\na,b,c\n", "line 2: 3 columns where the header has 2"),
        ("a.csv", "Content,Content\na,b\n", "two columns are called"),
        ("a.csv", "Subject,Inhalt\xe4,Content\na,b,c\n", "line 1: a byte is not UTF-8"),
    ],
)
def test_a_broken_table_raises_the_same_error_in_a_folder_and_alone(
    tmp_path: Path, name: str, text: str, problem: str
) -> None:
    (tmp_path / "note.md").write_text("Text.")
    (tmp_path / name).write_text(text, encoding="latin-1")
    for path in (tmp_path, tmp_path / name):
        with pytest.raises(RowError, match=problem):
            read(path)
    bad = BadRows(skip=True)
    assert "note.md" in [post.id for post in open_posts(tmp_path, bad)]
    assert bad.count == 1


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "time,volt,,\n1,2,,\n"),
        ("a.csv", "time,volt\n1\n"),
        ("a.json", "[[1, 2], [3, 4]]"),
        ("a.json", '{"version": 1}'),
        ("a.jsonl", '{"volt": 1}\n{"volt"\n'),
    ],
)
def test_a_table_without_text_in_a_folder_of_notes_is_ignored(
    tmp_path: Path, name: str, text: str
) -> None:
    (tmp_path / "note.md").write_text("Text.")
    (tmp_path / name).write_text(text)
    posts, tally = read(tmp_path)
    assert [post.id for post in posts] == ["note.md"]
    assert [reason.split(" (")[0] for reason in tally.ignored.counts] == [
        "a table with no column for the body"
    ]


def test_a_parquet_file_in_an_archive_is_reported_as_ignored(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("note.md", "Text.")
        archive.writestr("a.parquet", "PAR1")
    posts, tally = read(tmp_path / "a.zip")
    assert len(posts) == 1
    assert list(tally.ignored.counts) == ["a Parquet file in an archive (unpack it first)"]


def test_named_columns_apply_to_the_tables_of_a_folder_that_have_them(tmp_path: Path) -> None:
    (tmp_path / "list.json").write_text('[{"Frage": "f1", "Antwort": "b1"}]')
    (tmp_path / "mine.jsonl").write_text('{"id": "7", "title": "t2", "body": "b2"}\n')
    (tmp_path / "note.md").write_text("b3")
    (tmp_path / "other.csv").write_text("Subject,Content\nt4,b4\n")
    (tmp_path / "part.csv").write_text("Antwort,Subject\nb5,t5\n")
    (tmp_path / "queries.jsonl").write_text('{"id": "1", "text": "x"}\n')
    posts, tally = read(tmp_path, body="Antwort", title="Frage")
    assert [(post.title, post.body) for post in posts] == [
        ("f1", "b1"), ("t2", "b2"), ("note", "b3"), ("t4", "b4"), ("t5", "b5"),
    ]  # fmt: skip
    assert posts[1].id == "7"
    assert dict(tally.files) == {"table": 3, "jsonl": 1, "markdown": 1}
    assert list(tally.ignored.counts) == ["holds queries, not posts"]
    # Also for a single file: a shell may replace a folder by the list of its files.
    (post,), _ = read(tmp_path / "mine.jsonl", body="Antwort")
    assert post.body == "b2"
    (post,), _ = read(tmp_path / "mine.jsonl", body="title")
    assert post.body == "t2"


def test_a_named_column_that_no_table_has_is_reported(mathsetu: Mathsetu) -> None:
    Path("notes").mkdir()
    Path("notes/a.csv").write_text("Frage,Content\nWas?,Es\n", encoding="utf-8")
    fields = ("--field", "title=Frage", "--field", "body=Antwrot")
    report = mathsetu.json("convert", "notes", "a.jsonl", *fields)
    assert isinstance(report, dict)
    assert report["notes"] == ["--field body=Antwrot: no table that was read has such a column"]


def test_rows_of_tables_with_the_same_name_have_different_ids(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder, body in (("a", "one"), ("b", "two")):
        (tmp_path / "dup" / folder).mkdir(parents=True)
        (tmp_path / "dup" / folder / "sheet.csv").write_text(f"Content,Nr\n{body},1\n")
    with zipfile.ZipFile(tmp_path / "dup.zip", "w") as archive:
        archive.writestr("a/sheet.csv", "Content,Nr\none,1\n")
    monkeypatch.chdir(tmp_path)

    def ids(path: str | Path) -> list[str]:
        return [post.id for post in open_posts(path, BadRows(ids=SeenIds()))]

    assert ids("dup") == ["dup/a/sheet.csv#2", "dup/b/sheet.csv#2"]
    assert ids(tmp_path / "dup") == ["a/sheet.csv#2", "b/sheet.csv#2"]
    # Adding one table by itself replaces only its own rows.
    assert ids("dup/a/sheet.csv") == ["dup/a/sheet.csv#2"]
    assert ids("dup.zip") == ["dup.zip/a/sheet.csv#2"]


def test_convert_takes_field_options_and_reports_the_columns(mathsetu: Mathsetu) -> None:
    Path("a.csv").write_text("Frage,Antwort\nWas?,Es ist $x$.\nUnd?\n", encoding="utf-8")
    arguments = ("a.csv", "a.jsonl", "--field", "body=Antwort", "--field", "title=Frage")
    report = mathsetu.json("convert", *arguments, "--skip-bad")
    assert isinstance(report, dict)
    assert (report["posts"], report["formulas"], report["skipped"]) == (1, 1, 1)
    assert report["errors"] == ["a.csv line 3: 1 column where the header has 2"]
    assert report["kinds"] == {"table": 1}
    assert report["columns"][0].startswith("a.csv: body = Antwort, title = Frage")
    said = mathsetu.refuses("convert", "a.csv", "b.jsonl", "--field", "colour=Antwort")
    assert "--field colour=Antwort: use FIELD=COLUMN with a field of body" in said


@pytest.mark.parametrize(
    ("written", "score"),
    [(7, 7), (-7, -7), ("7", 7), (True, None), (1.5, None), ("many", None), ("", None),
     (10**18 - 1, 10**18 - 1), (10**18, None), (-(10**18), None)],
)  # fmt: skip
def test_a_score_is_a_whole_number_of_at_most_18_digits(written: object, score: int | None) -> None:
    row = {"body": "text", "score": written}
    assert row_post(row, {"body": ("body",), "score": ("score",)}, "a#1").score == score


@pytest.mark.parametrize(
    ("value", "text"), [(["a", "b"], "a\nb"), (7, "7"), (1.5, "1.5"), (True, "True")]
)
def test_a_text_may_be_a_number_or_a_list_of_paragraphs(value: object, text: str) -> None:
    assert row_post({"body": value}, {"body": ("body",)}, "a#1").body == text


@pytest.mark.parametrize("value", [["a", 1], {"a": "b"}, [["a"]]])
def test_a_value_that_is_neither_text_nor_number_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match=r"^the body is neither a text nor a number$"):
        row_post({"body": value}, {"body": ("body",)}, "a#1")


def test_the_fields_of_a_row_are_stripped_and_normalised() -> None:
    row = {
        "id": " 7 ", "body": "b", "title": "two\nlines", "kind": " note" + "x" * 100,
        "thread": " 5 ", "parent": " 6 ", "url": " http://a.b ", "question": "why",
        "tags": ["a", "", "b"], "language": "German",
    }  # fmt: skip
    columns = {name: (name,) for name in row} | {"thread_id": ("thread",), "parent_id": ("parent",)}
    post = row_post(row, columns, "a#1")
    assert (post.id, post.title, post.kind) == ("7", "two lines", "note" + "x" * 96)
    assert (post.thread_id, post.parent_id, post.url) == ("5", "6", "http://a.b")
    assert (post.question, post.tags, post.language) == ("why", ("a", "b"), "de")


def test_a_row_with_any_text_is_a_post() -> None:
    columns = {"body": ("body", "text"), "title": ("title",), "question": ("question",)}
    for field in ("body", "title", "question"):
        assert row_post({field: "x"}, columns, "a#1").id == "a#1"
    assert row_post({"body": None, "text": "x"}, columns, "a#1").body == "x"
    with pytest.raises(ValueError, match=r"^the row has no text in 'body' or 'text'$"):
        row_post({"body": "", "title": " "}, columns, "a#1")


@pytest.mark.parametrize(
    ("document", "ids"),
    [
        ([{"id": 1, "body": "x"}, {"id": 2, "body": "y"}], ["1", "2"]),
        ({"n": [1], "items": [{"id": 1, "body": "x"}]}, ["1"]),
        ({"own": [{"id": 1, "body": "x"}, {"id": 2, "body": "y"}], "n": 2}, ["1", "2"]),
        ({"p": {"body": "x"}, "q": {"body": "y"}}, ["p", "q"]),
        ({"body": "x", "tags": ["a", "b"]}, ["a.json#1"]),
        ({"body": "x"}, ["a.json#1"]),
    ],
)
def test_rows_of_a_json_document_are_found(
    tmp_path: Path, document: object, ids: list[str]
) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(document, indent=1), encoding="utf-8")
    assert [post.id for post in FORMATS["table"].read(path, BadRows())] == ids


def test_bad_rows_of_json_and_csv_are_reported_and_the_other_rows_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('[{"body": "x"}, 7, {"body": "y"}]', encoding="utf-8")
    bad = BadRows(skip=True)
    assert len(list(FORMATS["table"].read(path, bad))) == 2
    assert bad.messages == [f"{path} line 2: an object {{…}} is expected"]
    path = tmp_path / "a.jsonl"
    path.write_text('{"body": "x"}\n\n7\n{"body": \n{"body": "y"}\n', encoding="utf-8")
    bad = BadRows(skip=True)
    assert [post.id for post in FORMATS["table"].read(path, bad)] == ["a.jsonl#1", "a.jsonl#5"]
    assert [error.line for error in bad.errors] == [3, 4]
    path = tmp_path / "a.csv"
    path.write_text("id,body\n1,x\n2\n3,y,z\n4,w\n", encoding="utf-8")
    bad = BadRows(skip=True)
    assert [post.id for post in FORMATS["table"].read(path, bad)] == ["1", "4"]
    assert [error.problem for error in bad.errors] == [
        "1 column where the header has 2",
        "3 columns where the header has 2",
    ]


def test_named_columns_apply_only_where_a_table_has_them(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"Frage": "x"}\nnot json\n', encoding="utf-8")
    given = {"body": "frage", "title": "titel"}
    assert applicable_fields(path, given) == {"body": "frage"}
    assert applicable_fields(path, {}) == {}
    assert applicable_fields(tmp_path / "gone.jsonl", given) == {}
    other = tmp_path / "a.md"
    other.write_text("Frage", encoding="utf-8")
    assert applicable_fields(other, given) == {}


def test_the_lack_of_a_text_column_is_reported_unless_the_table_is_broken(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"colour": "red"}\n', encoding="utf-8")
    assert why_not_posts(path, {}).startswith("no column for the body")
    path.write_text('{"body": "red"}\n', encoding="utf-8")
    assert why_not_posts(path, {}) == ""
    path.write_text("[1, 2]\n{\n", encoding="utf-8")
    assert why_not_posts(path, {}) == ""
    assert why_not_posts(tmp_path / "gone.csv", {}) == ""


def test_rows_of_a_file_get_a_url_with_their_line_and_rows_of_standard_input_do_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "body,url\nx,\ny,http://a.b\n"
    path = tmp_path / "a.csv"
    path.write_text(text)
    found = list(read_posts(path, BadRows()))
    assert [(post.id, post.url) for post in found] == [
        ("a.csv#2", "a.csv#2"),
        ("a.csv#3", "http://a.b"),
    ]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b'{"text": "x"}\n')))
    assert [(post.id, post.url) for post in read_posts("-", BadRows())] == [("stdin#1", "")]


def test_a_list_with_values_that_are_not_objects_is_not_a_list_of_rows(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"Content": "Is $1+1=2$?", "marks": [{"a": 1}, 2]}')
    (post,), _ = read(path, body="Content")
    assert post.body == "Is $1+1=2$?"
    path.write_text('{"n": 1, "rows_of_ours": [{"Content": "One."}, {"Content": "Two."}]}')
    assert [post.body for post in read(path, body="Content")[0]] == ["One.", "Two."]


def test_a_file_is_closed_and_counted_once_after_reading(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("Content,Nr\nA sum.,1\n")
    with metered([path]) as meter:
        assert len(read(path)[0]) == 1
        assert meter.done == meter.total == path.stat().st_size
        assert not meter._open
