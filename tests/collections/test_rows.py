"""Bad rows, notes and counts while posts are read."""

import pytest

from mathsetu.collections.rows import BadRows, Problem, first_few, in_order, unanswered
from mathsetu.collections.tally import Reasons, Tally
from mathsetu.errors import RowError
from mathsetu.limits import LONGEST_NAME
from mathsetu.records import Formula, Post


def test_only_the_first_bad_rows_are_kept_and_all_are_counted() -> None:
    bad = BadRows(skip=True, keep=2)
    for line in range(1, 5):
        bad.report(RowError("a", line, "bad"))
    assert (bad.count, bad.messages) == (4, ["a line 1: bad", "a line 2: bad"])


def test_the_length_of_ids_and_tags_is_limited() -> None:
    bad = BadRows(skip=True)
    assert bad.accepts("a" * LONGEST_NAME, "p", 1, ["b" * LONGEST_NAME])
    assert not bad.accepts("a" * (LONGEST_NAME + 1), "p", 2)
    assert not bad.accepts("a", "p", 3, ["b", "b" * (LONGEST_NAME + 1)])
    assert bad.messages == [
        f"p line 2: the id has {LONGEST_NAME + 1:,} characters; "
        f"at most {LONGEST_NAME:,} are allowed",
        f"p line 3: a tag has {LONGEST_NAME + 1:,} characters; "
        f"at most {LONGEST_NAME:,} are allowed",
    ]


def test_counts_and_notes_are_optional() -> None:
    bad = BadRows()
    bad.add_read("a", "b")
    bad.add_ignored("a", "b")
    bad.add_left_out("a", 1)
    bad.add_faulty_formula("{", "{ is not closed")
    bad.note("a")
    assert (bad.tally, bad.notes) == (None, None)


def test_posts_that_a_recipe_leaves_out_are_counted_separately() -> None:
    tally = Tally()
    bad = BadRows(tally=tally)
    posts = [
        Post("1", "x", formulas=(Formula("f1", "a"), Formula("f2", "b"))),
        Post("2", "y", language="de", formulas=(Formula("f3", "c"),)),
    ]
    assert list(tally.count(posts)) == posts
    bad.add_left_out("1", 2)
    assert (tally.posts, tally.formulas) == (2, 1)
    assert tally.languages == {"": 1, "de": 1}
    assert tally.ignored.to_json() == [
        {"reason": "a post that the recipe leaves out", "count": 1, "first": ["1"]}
    ]


def test_posts_are_counted_for_their_file_and_the_document_that_includes_it() -> None:
    tally = Tally()
    tally.add_source(
        Post("parts/a.tex#one", "x", kind="section", thread_id="book.tex", url="parts/a.tex#one")
    )
    tally.add_source(
        Post("parts/a.tex#two", "x", kind="section", thread_id="book.tex", url="parts/a.tex#two")
    )
    tally.add_source(Post("7", "x"))
    assert tally.source_files == {"parts/a.tex"}
    assert tally.posts_of_files == {"parts/a.tex": 2, "book.tex": 2}


@pytest.mark.parametrize("count", [0, 1, 2])
def test_topics_without_results_make_at_most_one_warning(count: int) -> None:
    asked = ["a", "b", "c"]
    found = list(unanswered(asked, asked[count:], "topic", "topics", " in r"))
    assert (
        found
        == [
            [],
            [Problem(0, "topic a has no results in r", fatal=False)],
            [Problem(0, "2 of 3 topics have no results in r: a, b", fatal=False)],
        ][count]
    )


def test_a_long_list_is_shortened_and_problems_are_sorted_by_line() -> None:
    five = ["a", "b", "c", "d", "e"]
    assert first_few(five) == "a, b, c, d, e"
    assert first_few([*five, "f"]) == "a, b, c, d, e …"
    bad = BadRows(skip=True)
    bad.report(RowError("p", 3, "bad"))
    assert [problem.line for problem in in_order([Problem(0, "x"), Problem(5, "y")], bad)] == [
        3,
        5,
        0,
    ]


def test_a_tally_keeps_only_the_first_places_and_files(monkeypatch: pytest.MonkeyPatch) -> None:
    tally = Tally()
    for number in range(7):
        tally.add_ignored(f"p{number}", "why", 2)
    for number in range(1_002):
        tally.add_read(f"f{number}", "pdf", "text")
    tally.add_read("f", "word")
    assert (tally.files, len(tally.words)) == ({"pdf": 1_002, "word": 1}, 1_000)
    told = tally.to_json()
    assert (told["files"], told["kinds"]) == (1_003, {"pdf": 1_002, "word": 1})
    first = ["p0", "p1", "p2", "p3", "p4"]
    assert told["ignored"] == [{"reason": "why", "count": 14, "first": first}]
    assert told["read"][0] == {"file": "f0", "got": "text"}


def test_a_count_of_zero_adds_no_reason() -> None:
    bad = BadRows(tally=Tally())
    bad.add_ignored("a", "b", 0)
    assert bad.tally is not None
    assert bad.tally.ignored.to_json() == []


def test_the_number_and_length_of_reasons_are_limited() -> None:
    reasons = Reasons()
    for number in range(1_100):
        reasons.add("x" * 5_000, f"unknown command \\a{number}" + "b" * 5_000)
    told = reasons.to_json()
    assert len(told) == 1_001
    assert (told[0]["reason"], told[0]["count"]) == ("other reasons", 100)
    assert max(len(one["reason"]) for one in told) == len(told[1]["first"][0]) == 1_000


def test_faulty_formulas_and_posts_with_a_lone_dollar_are_counted_by_reason() -> None:
    bad = BadRows(tally=Tally())
    assert bad.tally is not None
    bad.add_faulty_formula("{a", "{ is not closed")
    bad.add_faulty_formula("{b", "{ is not closed")
    posts = [Post("1", r"It is \$\frac12."), Post("2", r"It costs \$5 or $\frac12$.")]
    assert list(bad.tally.count(posts)) == posts
    assert bad.tally.to_json()["faulty_formulas"] == [
        {"reason": "{ is not closed", "count": 2, "first": ["{a", "{b"]},
        {"reason": "a dollar sign that is not closed", "count": 1, "first": ["1"]},
    ]


def test_ten_messages_are_kept_and_all_errors_counted() -> None:
    bad = BadRows(skip=True)
    for line in range(1, 100):
        bad.report(RowError("a", line, "bad"))
    assert (len(bad.messages), bad.count) == (10, 99)
