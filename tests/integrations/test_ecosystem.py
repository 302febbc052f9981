"""Integrations with the real packages: PyTerrier, ir-measures, ranx, LangChain, LlamaIndex."""

import os
from pathlib import Path
from typing import Any

import pytest

import mathsetu
from mathsetu import Filter, Judgments
from mathsetu.collections import sampler, trec
from mathsetu.library import Library

MEASURES = ("P@5", "MAP", "nDCG@10")
ENGLISH = Filter(language="en")


@pytest.fixture(scope="module")
def run(sampler_library: Library) -> mathsetu.Run:
    return sampler_library.run(sampler.queries(), 20, name="ours")


@pytest.fixture(scope="module")
def judgments() -> Judgments:
    return Judgments.of(sampler.judgments())


@pytest.fixture(scope="module")
def figures(run: mathsetu.Run, judgments: Judgments) -> dict[str, float]:
    results = mathsetu.evaluate(run, judgments, mathsetu.parse_measures(MEASURES), relevant_from=1)
    return {str(measure): results.mean(measure) for measure in results.measures}


# ir-measures and ranx


@pytest.mark.thorough
def test_ir_measures_reads_our_frames_and_files(
    run: mathsetu.Run, judgments: Judgments, figures: dict[str, float], tmp_path: Path
) -> None:
    measures = pytest.importorskip("ir_measures")
    pytest.importorskip("pandas")
    wanted = [measures.parse_measure(name) for name in ("P@5", "AP", "nDCG@10")]
    trec.write_run(tmp_path / "run", run)
    trec.write_qrels(tmp_path / "qrels", sampler.judgments())
    of_frames = (mathsetu.to_frame(judgments), mathsetu.to_frame(run))
    of_files = (
        list(measures.read_trec_qrels(str(tmp_path / "qrels"))),
        list(measures.read_trec_run(str(tmp_path / "run"))),
    )
    for qrels, hits in (of_frames, of_files):
        found = measures.calc_aggregate(wanted, qrels, hits)
        for ours, theirs in zip(MEASURES, wanted, strict=True):
            assert found[theirs] == pytest.approx(figures[ours], abs=1e-6), ours


@pytest.mark.thorough
def test_ranx_reads_our_frames_and_files(
    run: mathsetu.Run, judgments: Judgments, figures: dict[str, float], tmp_path: Path
) -> None:
    ranx = pytest.importorskip("ranx")
    columns = {"q_id_col": "query_id", "doc_id_col": "doc_id"}
    qrels = ranx.Qrels.from_df(mathsetu.to_frame(judgments), **columns, score_col="relevance")
    trec.write_run(tmp_path / "run.trec", run)
    for theirs in (
        ranx.Run.from_df(mathsetu.to_frame(run), **columns),
        ranx.Run.from_file(str(tmp_path / "run.trec"), kind="trec"),
    ):
        found = ranx.evaluate(
            qrels, theirs, ["precision@5", "map", "ndcg@10"], make_comparable=True
        )
        assert list(found.values()) == pytest.approx([figures[name] for name in MEASURES])
    back = mathsetu.run_from_frame(theirs.to_dataframe(), "ours")
    assert {topic: {hit.id for hit in hits} for topic, hits in back.rankings.items()} == {
        topic: {hit.id for hit in hits} for topic, hits in run.rankings.items() if hits
    }


# PyTerrier


def topics_frame(**more: object) -> Any:
    pandas = pytest.importorskip("pandas")
    queries = [query for query in sampler.queries() if not query.formulas]
    rows = [{"qid": query.id, "query": f"{query.title} {query.text}".strip()} for query in queries]
    return pandas.DataFrame(rows).assign(**more)


@pytest.fixture(scope="session")
def pt() -> Any:
    return pytest.importorskip("pyterrier")


def test_a_pyterrier_experiment_compares_pipelines(
    pt: Any,
    sampler_library: Library,
    judgments: Judgments,
    run: mathsetu.Run,
    figures: dict[str, float],
) -> None:
    from mathsetu.integrations.pyterrier import MathSetuRetriever

    retriever = MathSetuRetriever(sampler_library, 20, text=True)

    def longest_first(row: Any) -> float:
        return float(len(row["text"]))

    pipeline = retriever % 5 >> pt.apply.doc_score(longest_first)
    qrels = mathsetu.to_frame(judgments).rename(
        columns={"query_id": "qid", "doc_id": "docno", "relevance": "label"}
    )
    table = pt.Experiment(
        [retriever, pipeline],
        topics_frame(),
        qrels,
        [pt.measures.P @ 5, pt.measures.AP, pt.measures.nDCG @ 10],
        names=["mathsetu", "longest"],
        plan="tree",
    )
    ours, longest = table.to_dict("records")
    assert ours["P@5"] == pytest.approx(figures["P@5"])
    assert ours["AP"] == pytest.approx(figures["MAP"])
    assert longest["P@5"] == ours["P@5"]  # the same five, in another order
    assert longest["nDCG@10"] < ours["nDCG@10"]
    assert not pt.java.started()


def test_a_pyterrier_frame_keeps_its_columns_and_ranks_given_documents(
    sampler_library: Library,
) -> None:
    pytest.importorskip("pyterrier")
    from mathsetu.integrations.pyterrier import MathSetuRetriever

    retriever = MathSetuRetriever(str(sampler_library.place), 3, where=ENGLISH)
    found = retriever.transform(topics_frame(course="algebra"))
    assert {"qid", "query", "course", "docno", "score", "rank"} <= set(found.columns)
    assert set(found["course"]) == {"algebra"}
    assert all(docno.endswith(".en") for docno in found["docno"])
    assert found.groupby("qid")["rank"].min().eq(0).all()
    one = found[found["qid"] == found["qid"][0]]
    again = retriever.transform(one.assign(score=0.0, rank=0).iloc[::-1])
    assert list(again["docno"]) == list(one["docno"])
    assert retriever.transform(topics_frame().iloc[:0]).empty
    assert "MathSetuRetriever(" in repr(retriever)


def test_a_pyterrier_frame_without_queries_is_refused(sampler_library: Library) -> None:
    pt = pytest.importorskip("pyterrier")
    from mathsetu.integrations.pyterrier import MathSetuRetriever

    with pytest.raises(pt.validate.InputValidationError, match="query"):
        MathSetuRetriever(sampler_library)(topics_frame().drop(columns=["query"]))


# LangChain and LlamaIndex


def test_langchain_retrieves_documents_alone_and_in_a_chain(sampler_library: Library) -> None:
    pytest.importorskip("langchain_core")
    from langchain_core.runnables import RunnableLambda

    from mathsetu.integrations.langchain import MathSetuRetriever

    retriever = MathSetuRetriever(library=os.fspath(sampler_library.place), k=2, where=ENGLISH)
    first, second = retriever.invoke("infinitely many primes")
    best = sampler_library.search("infinitely many primes", 1, where=ENGLISH)[0]
    assert first.id == best.id
    assert best.post is not None
    assert best.post.body in first.page_content
    assert first.metadata["language"] == "en"
    assert first.metadata["score"] >= second.metadata["score"]
    assert "" not in first.metadata.values()
    chain = retriever | RunnableLambda(lambda documents: [one.metadata["id"] for one in documents])
    assert chain.invoke("infinitely many primes") == [first.id, second.id]
    assert len(MathSetuRetriever(library=sampler_library, k=1).batch(["primes", "circle"])) == 2


def test_llama_index_retrieves_nodes_with_scores(sampler_library: Library) -> None:
    pytest.importorskip("llama_index.core")
    from mathsetu.integrations.llama_index import MathSetuRetriever

    retriever = MathSetuRetriever(sampler_library, 2, where=ENGLISH)
    nodes = retriever.retrieve("infinitely many primes")
    hits = sampler_library.search("infinitely many primes", 2, where=ENGLISH)
    assert [node.node_id for node in nodes] == [hit.id for hit in hits]
    assert [node.score for node in nodes] == [hit.score for hit in hits]
    assert hits[0].title in nodes[0].get_content()
    assert nodes[0].metadata["title"] == hits[0].title


@pytest.mark.parametrize("name", ["pyterrier", "langchain", "llama_index"])
def test_without_a_package_the_error_names_its_extra(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import importlib
    import sys

    packages = {
        "langchain": "langchain_core.retrievers",
        "llama_index": "llama_index.core.retrievers",
    }
    monkeypatch.setitem(sys.modules, packages.get(name, name), None)
    monkeypatch.delitem(sys.modules, f"mathsetu.integrations.{name}", raising=False)
    with pytest.raises(mathsetu.MathSetuError, match=rf"\[{name.replace('_', '-')}\]"):
        importlib.import_module(f"mathsetu.integrations.{name}")
