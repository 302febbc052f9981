"""Which columns of a table hold which field of a post."""

import pytest

from mathsetu.collections.header import Header, choose, listed
from mathsetu.errors import InputError, RowError


def header(*rows: dict[str, object], given: dict[str, str] | None = None) -> Header:
    made = Header(given=given)
    for row in rows:
        made.add(row)
    return made


def test_the_first_of_two_spellings_in_one_row_is_used() -> None:
    both = header({"Title": "a", "title": "b", "body": "c"})
    assert choose(both, {}, "a.jsonl")["title"] == ("Title",)
    apart = header({"Title": "a", "body": "c"}, {"title": "b", "body": "c"})
    assert choose(apart, {}, "a.jsonl")["title"] == ("Title", "title")
    null = header({"Title": "a", "title": None, "body": "c"})
    assert choose(null, {}, "a.jsonl")["title"] == ("Title", "title")


def test_at_most_five_spellings_of_a_name_are_used() -> None:
    names = ["title", "Title", "TITLE", "tItle", "tiTle", "titLe"]
    rows = [{name: "a", "body": "b"} for name in names]
    assert choose(header(*rows), {}, "a.jsonl")["title"] == tuple(names[:5])


def test_a_thousand_column_names_are_kept_plus_those_that_may_be_fields() -> None:
    made = header({f"n{number}": 1 for number in range(1_001)})
    made.add({"body": "b", "other": "c"})
    assert made.names == [*(f"n{number}" for number in range(1_000)), "body"]
    asked = header({f"n{number}": 1 for number in range(1_002)}, given={"body": "N 1001"})
    assert asked.names[-1] == "n1001"
    assert asked.found("N 1001") == "n1001"


def test_at_most_twenty_names_are_listed() -> None:
    names = [str(number) for number in range(21)]
    assert listed(names[:20]) == ", ".join(names[:20])
    assert listed(names) == f"{', '.join(names[:20])} …"
    assert str(header()) == "nothing"


def test_a_problem_column_without_a_solution_column_is_the_body() -> None:
    assert choose(header({"problem": "a"}), {}, "a.csv") == {"body": ("problem",)}


def test_the_error_names_the_unknown_field_or_missing_column() -> None:
    with pytest.raises(InputError, match="--field colour: not a field of a post"):
        choose(header({"a": 1}), {"colour": "a"}, "a.csv")
    with pytest.raises(RowError, match=r"a.csv line 3: no column 'b' for body; there are: a$"):
        choose(header({"a": 1}), {"body": "b"}, "a.csv", 3)
    with pytest.raises(RowError, match=r"a.csv line 1: no column for the body .*there are: a$"):
        choose(header({"a": 1}), {}, "a.csv")
