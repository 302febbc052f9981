"""Datasets of ir_datasets as collections, tested with a small one."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from mathsetu.collections.formats import find
from mathsetu.collections.rows import REFUSE, BadRows
from mathsetu.errors import InputError
from tests.command import Mathsetu
from tests.light import LIGHT_TOML

ir_datasets = pytest.importorskip("ir_datasets")


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("irds")
    (folder / "docs.tsv").write_text(
        "d1\tThere are infinitely many primes.\nd2\tThe area of a circle is $\\pi r^2$.\n"
    )
    (folder / "queries.tsv").write_text("1\thow many primes are there\n2\tcircle $\\pi s^2$\n")
    (folder / "qrels.txt").write_text("1 0 d1 1\n2 0 d2 1\n2 0 d1 0\n")
    made = ir_datasets.create_dataset(
        docs_tsv=str(folder / "docs.tsv"),
        queries_tsv=str(folder / "queries.tsv"),
        qrels_trec=str(folder / "qrels.txt"),
    )
    ir_datasets.registry.register("mathsetu-test", made)
    ir_datasets.registry.register(
        "mathsetu-test/docs", ir_datasets.create_dataset(docs_tsv=str(folder / "docs.tsv"))
    )
    yield "mathsetu-test"
    del ir_datasets.registry._registered["mathsetu-test"]
    del ir_datasets.registry._registered["mathsetu-test/docs"]


def test_documents_topics_and_judgments_are_read(dataset: str) -> None:
    first, second = find("ir_datasets").read(dataset, REFUSE)
    assert (first.id, first.body) == ("d1", "There are infinitely many primes.")
    assert [formula.latex for formula in second.formulas] == ["\\pi r^2"]
    assert [query.id for query in find("ir_datasets-queries").read(dataset, REFUSE)] == ["1", "2"]
    assert len(list(find("ir_datasets-qrels").read(dataset, REFUSE))) == 3


def test_a_library_is_built_run_and_evaluated_from_a_dataset(
    mathsetu: Mathsetu, dataset: str
) -> None:
    Path("light.toml").write_text(LIGHT_TOML, encoding="utf-8")
    options = ("--from", "ir_datasets", "--recipe", "light.toml", "--processes", "1")
    done = mathsetu("index", "lib", dataset, *options)
    assert done.code == 0, done.err
    assert "lib: 2 posts indexed" in done.out
    assert mathsetu("convert", dataset, "t.jsonl", "--from", "ir_datasets-queries").code == 0
    given = ("--from", "ir_datasets-qrels", "--to", "trec-qrels")
    assert mathsetu("convert", dataset, "qrels.txt", *given).code == 0
    assert mathsetu("run", "lib", "t.jsonl", "out.run").code == 0
    found = mathsetu.json("evaluate", "qrels.txt", "out.run", "-m", "MRR")
    assert isinstance(found, dict)
    assert found["runs"][0]["measures"]["MRR"]["mean"] == 1.0


def test_a_missing_dataset_or_part_of_one_gets_an_error_in_one_line(dataset: str) -> None:
    with pytest.raises(InputError, match="ir_datasets has no dataset of this name"):
        list(find("ir_datasets").read("no/such", REFUSE))
    with pytest.raises(InputError, match=r"mathsetu-test/docs: this dataset .* has no queries"):
        list(find("ir_datasets-queries").read(f"{dataset}/docs", BadRows()))
    with pytest.raises(InputError, match="has no qrels"):
        list(find("ir_datasets-qrels").read(f"{dataset}/docs", BadRows()))
