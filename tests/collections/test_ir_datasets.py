"""Datasets of ir_datasets, with a stub in place of the package."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from mathsetu.collections import ir_datasets, source_text
from mathsetu.collections.rows import BadRows
from mathsetu.collections.seen_ids import SeenIds
from mathsetu.collections.tally import Tally
from mathsetu.errors import InputError
from mathsetu.records import Judgment


class Text(NamedTuple):
    doc_id: str
    text: str
    title: Any = ""
    url: str = ""

    @property
    def query_id(self) -> str:
        return self.doc_id

    def default_text(self) -> str:
        return f"{self.title} {self.text}" if isinstance(self.title, str) else self.text


class Grade(NamedTuple):
    query_id: str
    doc_id: str
    relevance: int


class Dataset:
    def __init__(self, texts: list[Text], grades: list[Grade], lacks: str = "") -> None:
        self._texts, self._grades = texts, grades
        self.lacks = lacks

    def docs_iter(self) -> Iterator[Text]:
        return iter(self._texts)

    queries_iter = docs_iter

    def qrels_iter(self) -> Iterator[Grade]:
        return iter(self._grades)

    def docs_lang(self) -> str | None:
        return "de"

    def queries_lang(self) -> str | None:
        return None

    def has_docs(self) -> bool:
        return self.lacks != "docs"

    def has_queries(self) -> bool:
        return self.lacks != "queries"

    def has_qrels(self) -> bool:
        return self.lacks != "qrels"


HALF = "half of one: \ud800"


@pytest.fixture
def dataset(monkeypatch: pytest.MonkeyPatch) -> Dataset:
    made = Dataset(
        [
            Text("1", "A sum $a+b$.", "Sums", "http://a.b/1"),
            Text("2", HALF),
            Text("1", "The same id."),
            Text("3", "No title."),
            Text("4", "A title of another kind.", ("a", "b")),
        ],
        [Grade("q", "1", 2), Grade("q", "2", 10**18), Grade("q", "3", -(10**18) + 1)],
    )
    package = SimpleNamespace(load={"small": made}.__getitem__)
    monkeypatch.setattr(ir_datasets, "require", lambda *names: package)
    return made


@pytest.mark.usefixtures("dataset")
def test_documents_become_posts_with_their_titles() -> None:
    bad = BadRows(skip=True, tally=Tally(), ids=SeenIds())
    first, second, third = ir_datasets.read_posts("small", bad)
    assert (first.id, first.title, first.body) == ("1", "Sums", "A sum $a+b$.")
    assert (first.url, first.language) == ("http://a.b/1", "de")
    assert (second.id, second.title, second.body) == ("3", "", "No title.")
    assert (third.id, third.title, third.body) == ("4", "", "A title of another kind.")
    assert bad.messages == [
        "small line 2: the body contains an invalid character (lone surrogate)",
        "small line 3: id '1' occurs twice (first in small line 1)",
    ]
    assert bad.tally is not None
    assert bad.tally.files == {"ir_datasets": 1}


@pytest.mark.usefixtures("dataset")
def test_topics_become_queries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_text, "LONGEST_TEXT", 14)
    bad = BadRows(skip=True)
    queries = list(ir_datasets.read_queries("small", bad))
    assert [(query.id, query.language) for query in queries] == [("1", ""), ("3", "")]
    assert [error.line for error in bad.errors] == [1, 2, 5]


@pytest.mark.usefixtures("dataset")
def test_grades_with_too_many_digits_are_bad_rows() -> None:
    bad = BadRows(skip=True)
    judgments = list(ir_datasets.read_judgments("small", bad))
    assert judgments == [Judgment("q", "1", 2), Judgment("q", "3", -(10**18) + 1)]
    assert bad.messages == ["small line 2: has more than 18 digits"]


def test_the_error_names_a_missing_dataset_or_part(dataset: Dataset) -> None:
    with pytest.raises(InputError, match=r"^other: ir_datasets has no dataset of this name"):
        list(ir_datasets.read_posts("other"))
    for part, read in (
        ("docs", ir_datasets.read_posts),
        ("queries", ir_datasets.read_queries),
        ("qrels", ir_datasets.read_judgments),
    ):
        dataset.lacks = part
        with pytest.raises(InputError, match=f"has no {part}$"):
            list(read("small"))


def test_a_failure_of_ir_datasets_is_reported_in_one_short_line(
    dataset: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreachable() -> Iterator[Text]:
        raise OSError("no\nnet" + "!" * 300)

    monkeypatch.setattr(dataset, "docs_iter", unreachable)
    with pytest.raises(InputError) as raised:
        list(ir_datasets.read_posts("small"))
    assert str(raised.value) == f"small: ir_datasets cannot read it (no net{'!' * 194})"
