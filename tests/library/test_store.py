"""The posts of one segment in SQLite."""

import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from mathsetu.errors import DamagedLibrary, InputError
from mathsetu.intake.posts import read_post
from mathsetu.library import store as stores
from mathsetu.library.store import Heading, Row, Store, Stored, set_languages, to_row, write_store
from mathsetu.limits import LONGEST_NAME
from mathsetu.records import Formula, Post

POSTS = [
    Post("a", "one $x$", title="A", language="en", tags=("t", "u", "t"), collection="own"),
    Post("b", "two", language="hi", tags=("u",), thread_id="thread", kind="question"),
    Post("c", "three", parent_id="b", thread_id="thread", kind="answer", title="C"),
    Post("notes.md#d", "four", language="en", thread_id="notes.md", kind="section",
         url="notes.md#d", formulas=(Formula("f", "x"),)),
    Post("e", "five", parent_id="gone"),
]  # fmt: skip


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("store") / "posts.sqlite"
    # The texts are too short to detect their language, so the stated one is used.
    rows = [replace(to_row(read_post(post), "other"), language=post.language) for post in POSTS]
    assert write_store(made, rows) == 5
    return made


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    opened = Store(path)
    yield opened
    opened.close()


def test_posts_are_found_by_number_and_by_id(store: Store) -> None:
    assert store.count == 5
    assert store.number_of("c") == 2
    assert store.number_of("z") is None
    assert store.number_of("\ud800") is None
    assert store.ids([4, 0]) == {4: "e", 0: "a"}
    assert store.by_number([1])[1].post.body == "two"
    assert store.lazy_posts([3])[3].post.formulas == POSTS[3].formulas
    assert [store.collection_of(number) for number in (0, 1)] == ["own", "other"]
    with pytest.raises(DamagedLibrary, match="lacks posts that it should hold"):
        store.ids([0, 5])


def test_posts_are_read_in_batches(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stores, "_BATCH", 2)
    numbers = [4, 2, 0, 1, 3]
    assert [row.id for row in store.rows(numbers)] == ["e", "c", "a", "b", "notes.md#d"]
    assert list(store.ids(numbers)) == [2, 4, 0, 1, 3]
    assert len(store.headings(numbers)) == 5
    assert list(store.titles()) == [(0, "A"), (2, "C")]
    names = ["x", "thread", "y", "notes.md"]
    assert sorted(store.threads(names)) == [
        ("notes.md", 3, "en"),
        ("thread", 1, "hi"),
        ("thread", 2, ""),
    ]


def test_rows_keep_tags_threads_files_and_kinds(store: Store) -> None:
    first, second, _, fourth, _ = store.rows(range(5))
    assert (first.tags, first.thread_id, first.file) == (("t", "u", "t"), "", "")
    assert (second.thread_id, second.kind, second.parent_id) == ("thread", "question", "")
    assert (fourth.file, fourth.threads) == ("notes.md", ("notes.md",))
    archived = Row("x", "", "", "", "", "", thread_id="thread", file="a.zip/b.md")
    assert archived.threads == ("thread", "a.zip/b.md", "a.zip")


def test_headings_say_whether_a_post_is_an_answer(store: Store) -> None:
    assert store.headings([1, 2, 3]) == {
        1: Heading("hi", "thread", "", "question"),
        2: Heading("", "thread", "b", "answer"),
        3: Heading("en", "notes.md", "", "section"),
    }
    with pytest.raises(DamagedLibrary, match="lacks posts"):
        store.headings([9])
    assert Heading("", "", "b").is_answer
    assert Heading("", "", "", "answer").is_answer
    assert not Heading("", "", "", "question").is_answer


def test_threads_are_listed_by_prefix(store: Store) -> None:
    assert store.threads_below("t") == ["thread"]
    assert sorted(store.threads_below("")) == ["notes.md", "thread"]
    assert store.threads_below("u") == []


def test_answers_are_read_with_questions_from_this_or_another_store(store: Store) -> None:
    asked = read_post(Post("gone", "asked elsewhere", language="cs"))
    every = list(store.all(lambda post_id: asked if post_id == "gone" else None))
    assert [stored.asked_language for stored in every] == ["", "", "hi", "", "cs"]
    assert every[2].facts().post.question == "two"
    assert every[4].facts().post.question == "asked elsewhere"
    assert [bool(stored.asked_record) for stored in store.all()] == [
        False,
        False,
        True,
        False,
        False,
    ]
    ((number, answer),) = store.answers_to("b")
    assert (number, answer.id, answer.collection) == (2, "c", "other")
    assert Stored.of(POSTS[1]).facts().post.body == "two"


def test_counts_leave_out_removed_posts(store: Store) -> None:
    assert store.languages() == {"en": 2, "hi": 1, "": 2}
    assert store.languages({0, 2}) == {"en": 1, "hi": 1, "": 1}
    assert store.tags() == {"t": 1, "u": 2}
    assert store.tags({1}) == {"t": 1, "u": 1}
    assert store.facet("tag", [0, 3]) == {"t": 1, "u": 1}
    assert store.facet("tag", [1, 0]) == {"t": 1, "u": 2}
    assert store.facet("language", [4, 3, 0]) == {"en": 2, "": 1}
    assert store.facet("collection", [4]) == {"other": 1}
    assert store.facet("tag", []) == {}


def test_posts_that_meet_all_conditions_are_allowed(store: Store) -> None:
    def allowed(*conditions: tuple[str, tuple[str, ...], bool]) -> list[int]:
        return [number for number, fits in enumerate(store.allowed(conditions)) if fits]

    assert allowed() == [0, 1, 2, 3, 4]
    assert allowed(("language", ("en", "hi"), True)) == [0, 1, 3]
    assert allowed(("language", ("en",), True), ("tag", ("u",), True)) == [0]
    assert allowed(("tag", ("u",), False)) == [2, 3, 4]
    assert allowed(("collection", ("own",), False), ("language", ("en",), True)) == [3]


def test_languages_of_answers_can_be_set_later(path: Path, tmp_path: Path) -> None:
    copy = tmp_path / "posts.sqlite"
    copy.write_bytes(path.read_bytes())
    opened = Store(copy)
    assert opened.answers_without_language() == {2: "b", 4: "gone"}
    opened.close()
    set_languages(copy, {})
    assert copy.read_bytes() == path.read_bytes()
    set_languages(copy, {2: "hi", 4: "cs"})
    opened = Store(copy)
    assert [opened.by_number([number])[number].language for number in (0, 2, 4)] == [
        "en",
        "hi",
        "cs",
    ]
    opened.close()


def test_too_long_names_repeated_ids_and_invalid_characters_are_refused(tmp_path: Path) -> None:
    def write(*rows: Row) -> None:
        (tmp_path / "posts.sqlite").unlink(missing_ok=True)
        write_store(tmp_path / "posts.sqlite", rows)

    row = Row("a", "", "", "", "{}", "[]")
    write(
        row, Row("b" * LONGEST_NAME, "", "c" * LONGEST_NAME, "", "{}", "[]", ("t" * LONGEST_NAME,))
    )
    with pytest.raises(InputError, match=r"^two posts have the id 'a'; ids must differ$"):
        write(row, row)
    with pytest.raises(InputError, match=r"^post 'x+': the id has 1,001 characters; at most 1,000"):
        write(Row("x" * (LONGEST_NAME + 1), "", "", "", "{}", "[]"))
    with pytest.raises(InputError, match=r"^post 'a': the collection has 1,001 characters"):
        write(Row("a", "", "c" * (LONGEST_NAME + 1), "", "{}", "[]"))
    with pytest.raises(InputError, match=r"^post 'a': a tag has 1,001 characters"):
        write(Row("a", "", "", "", "{}", "[]", ("t", "t" * (LONGEST_NAME + 1))))
    with pytest.raises(InputError, match=r"post 'a' contains an invalid character"):
        write(Row("a", "", "", "", '"\ud800"', "[]"))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ("DROP TABLE tags", "does not have the expected tables"),
        ("UPDATE posts SET number = number + 1 + 100; UPDATE posts SET number = number - 100",
         "not numbered from 0"),
        ("UPDATE posts SET record = 'x' WHERE number = 1", r"has a damaged post \(number 1\)"),
        ("DELETE FROM posts WHERE number = 1", "lacks posts"),
    ],
)  # fmt: skip
def test_a_changed_file_is_reported_as_damaged(
    path: Path, tmp_path: Path, change: str, problem: str
) -> None:
    copy = tmp_path / "posts.sqlite"
    copy.write_bytes(path.read_bytes())
    connection = sqlite3.connect(copy)
    connection.executescript(change)
    connection.close()
    with pytest.raises(DamagedLibrary, match=problem):
        Store(copy).by_number([0, 1])


def test_an_empty_store_has_no_posts(tmp_path: Path) -> None:
    assert write_store(tmp_path / "posts.sqlite", []) == 0
    store = Store(tmp_path / "posts.sqlite")
    assert (store.count, list(store.all()), list(store.titles())) == (0, [], [])
    store.close()
    with pytest.raises(DamagedLibrary, match="is missing"):
        Store(tmp_path / "other.sqlite")
