"""The readers on public files: all ARQMath and CrossMath topics, judgments and runs."""

from pathlib import Path

import pytest

from mathsetu.collections import arqmath, crossmath, trec
from mathsetu.collections.formats import detect
from mathsetu.markup import split
from mathsetu.records import Query

pytestmark = pytest.mark.shared


def count_formulas(topics: list[Query]) -> int:
    texts = [text for topic in topics for text in (topic.title, topic.text)]
    return sum(span.kind == "formula" for text in texts for span in split(text))


# Each file has one span more than formulas: an empty span (A.28) or a nested one (A.255).
@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "topics", "formulas", "asked"),
    [
        ("topics-task1-2020.xml", 98, 1007, 0),
        ("topics-task1-2021.xml", 100, 843, 0),
        ("topics-task2-2020.xml", 85, 921, 85),
        ("topics-task2-2021.xml", 100, 843, 100),
    ],
)
def test_arqmath_topics_are_read_completely(
    shared_data: Path, name: str, topics: int, formulas: int, asked: int
) -> None:
    path = shared_data / "arqmath" / name
    assert detect(path).name == "arqmath-topics"
    found = list(arqmath.read_topics(path))
    counted = count_formulas(found)
    print(f"{name}: {len(found)} topics, {counted} formulas, {asked} asked for")  # noqa: T201
    assert len(found) == len({topic.id for topic in found}) == topics
    assert counted == formulas
    assert sum(len(topic.formulas) for topic in found) == asked
    assert all(topic.title and topic.text and topic.tags for topic in found)


@pytest.mark.parametrize(
    ("code", "language", "formulas"),
    [
        ("eng_Latn", "en", 1845), ("hin_Deva", "hi", 1678), ("spa_Latn", "es", 1840),
        ("ces_Latn", "cs", 1854), ("hrv_Latn", "hr", 1414), ("pes_Arab", "fa", 1877),
        ("npi_Deva", "ne", 1732),
    ],
)  # fmt: skip
@pytest.mark.thorough
def test_crossmath_topics_are_read_completely(
    shared_data: Path, code: str, language: str, formulas: int
) -> None:
    path = shared_data / "crossmath" / "topics" / f"{code}.tsv"
    assert detect(path).name == "crossmath-topics"
    topics = list(crossmath.read_topics(path))
    counted = count_formulas(topics)
    print(f"{path.name}: {len(topics)} topics, {counted} formulas")  # noqa: T201
    assert len({topic.id for topic in topics}) == len(topics) == 198
    assert {topic.language for topic in topics} == {language}
    assert counted == formulas


@pytest.mark.thorough
def test_public_runs_and_judgments_are_read_completely(shared_data: Path) -> None:
    for path in sorted((shared_data / "arqmath").glob("qrels-*.txt")):
        assert detect(path).name == "trec-qrels"
        assert len(list(trec.read_qrels(path))) == len(path.read_text().splitlines())
    runs = sorted((shared_data / "fusion-runs").glob("*.gz"))
    assert len(runs) == 6
    for path in runs:
        assert detect(path).name == "trec-run"
        assert trec.read_run(path).rankings
