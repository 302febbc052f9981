"""Scores equal those of the libraries that the published systems used."""

import random
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from mathsetu.errors import DamagedLibrary, InputError
from mathsetu.retrieval import weighting
from mathsetu.retrieval.base import best
from mathsetu.retrieval.postings import Postings, PostingsBuilder
from mathsetu.retrieval.weighting import (
    Bm25Plus,
    Smart,
    Statistics,
    WeightedIndex,
    WithoutExtremes,
    adjusted_document_frequencies,
    make_scheme,
    write_impacts,
)

WORDS = [f"word{number}" for number in range(40)]


def corpus(seed: int, size: int = 60) -> list[list[str]]:
    generator = random.Random(seed)
    return [generator.choices(WORDS, k=generator.randint(3, 40)) for _ in range(size)]


def index(folder: Path, documents: list[list[str]]) -> Postings:
    builder = PostingsBuilder()
    for document in documents:
        builder.add(Counter(document))
    builder.write(folder)
    return Postings(folder)


def every(weighted: WeightedIndex, query: dict[str, float]) -> NDArray[np.float32]:
    """The scores of all documents."""
    return weighted.weigh(query).scores(np.arange(weighted.collection.documents))


QUERY = ["word1", "word7", "word7", "word30", "nowhere"]


#: Four documents whose scores were computed by hand with the formulas of the papers.
BY_HAND = [
    ["sum", "sum", "sum", "prime"],
    ["prime"],
    ["ring", "ideal", "ring", "prime", "field"],
    ["sum", "ring"],
]


@pytest.mark.parametrize(
    ("scheme", "expected"),
    [
        (Bm25Plus(1.8, 0.75, 1.0), [3.33328, 2.17991, 1.81369, 2.51887]),
        (Bm25Plus(1.8, 0.75, 1.0, matched_only=True), [3.33328, 1.26362, 0.8974, 2.00804]),
        (Bm25Plus(3.0, 0.75, 0.0), [2.05913, 0.81732, 0.37151, 1.12774]),
        (Bm25Plus(1.8, 0.0, 1.0), [3.54145, 1.93794, 1.93794, 2.34341]),
        (Bm25Plus(), [3.28099, 2.15687, 1.82006, 2.50511]),
    ],
)
def test_bm25_plus_gives_the_scores_computed_by_hand(
    tmp_path: Path, scheme: Bm25Plus, expected: list[float]
) -> None:
    weighted = WeightedIndex([index(tmp_path / "i", BY_HAND)], scheme)
    ours = every(weighted, {"sum": 1.0, "prime": 1.0})
    np.testing.assert_allclose(ours, expected, atol=2e-5)


@pytest.mark.parametrize(
    ("notation", "expected"),
    [
        ("ltn", [12.21993, 0.54312, 0.54312, 4.51721]),
        ("ntn", [16.27056, 0.54312, 0.54312, 5.24248]),
        ("ltc", [1.0, 0.21082, 0.0363, 0.69121]),
        ("lnc", [1.0, 0.3608, 0.13637, 0.65948]),
        ("nnc", [1.0, 0.31623, 0.11952, 0.67082]),
        ("nnn", [10.0, 1.0, 1.0, 3.0]),
    ],
)
def test_tf_idf_gives_the_scores_computed_by_hand(
    tmp_path: Path, notation: str, expected: list[float]
) -> None:
    weighted = WeightedIndex([index(tmp_path / "i", BY_HAND)], Smart(notation))
    ours = every(weighted, {"sum": 3.0, "prime": 1.0})
    np.testing.assert_allclose(ours, expected, atol=2e-5)


@pytest.mark.parametrize(("scheme", "rarity"), [(Bm25Plus(), 1.609438), (Smart("ltn"), 2.321928)])
def test_a_term_in_one_of_four_documents_has_this_rarity(
    scheme: Bm25Plus | Smart, rarity: float
) -> None:
    assert scheme.rarity(1, Statistics(4, 3.0)) == pytest.approx(rarity)


@pytest.mark.parametrize(("matched_only", "expected"), [(False, [1, 5 / 3]), (True, [3, 11 / 3])])
def test_the_impact_of_a_posting_includes_delta_only_if_matched_only_is_set(
    matched_only: bool, expected: list[float]
) -> None:
    scheme = Bm25Plus(1.5, 0.75, 2.0, matched_only)
    frequencies, lengths = np.array([1, 3], dtype=np.float32), np.array([7, 7], dtype=np.float32)
    assert scheme.impact(frequencies, lengths, Statistics(9, 7.0)).tolist() == pytest.approx(
        expected
    )


@pytest.mark.parametrize("seed", range(3))
def test_bm25_plus_equals_rank_bm25(tmp_path: Path, seed: int) -> None:
    rank_bm25 = pytest.importorskip("rank_bm25")
    documents = corpus(seed)
    theirs = rank_bm25.BM25Plus(documents, k1=1.8, b=0.75, delta=1).get_scores(QUERY)
    weighted = WeightedIndex([index(tmp_path / "i", documents)], Bm25Plus(1.8, 0.75, 1))
    ours = every(weighted, Counter(QUERY))
    np.testing.assert_allclose(ours, theirs, rtol=1e-4)


@pytest.mark.parametrize("notation", ["lnc", "ltn", "ltc", "ntn", "nnc"])
def test_tf_idf_equals_gensim(tmp_path: Path, notation: str) -> None:
    corpora = pytest.importorskip("gensim.corpora")
    from gensim.models import TfidfModel
    from gensim.similarities import SparseMatrixSimilarity

    documents = corpus(5)
    dictionary = corpora.Dictionary(documents)
    bags = [dictionary.doc2bow(document) for document in documents]
    model = TfidfModel(bags, smartirs=notation)
    similarity = SparseMatrixSimilarity(
        model[bags],
        num_features=len(dictionary),
        normalize_queries=False,
        normalize_documents=False,
    )
    theirs = similarity[model[dictionary.doc2bow(QUERY)]]
    known = Counter(word for word in QUERY if word in dictionary.token2id)
    weighted = WeightedIndex([index(tmp_path / "i", documents)], Smart(notation))
    ours = every(weighted, known)
    np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("notation", ["lnc", "ltn", "ltc"])
def test_without_extremes_scores_as_if_extreme_terms_did_not_exist(
    tmp_path: Path, notation: str
) -> None:
    documents = [[*words, "everywhere"] for words in corpus(5)] + [["rare", "rare"]]
    documents[3].append("rare")
    containing = Counter(word for document in documents for word in set(document))
    kept = {word for word, count in containing.items() if 8 <= count <= 0.7 * len(documents)}
    assert {"rare", "everywhere"}.isdisjoint(kept)
    assert kept
    filtered = [[word for word in document if word in kept] for document in documents]
    query: dict[str, float] = {**Counter(QUERY), "rare": 1.0, "everywhere": 2.0}
    there = {word: count for word, count in query.items() if word in kept}
    plain = WeightedIndex([index(tmp_path / "filtered", filtered)], Smart(notation))
    scheme = WithoutExtremes(Smart(notation), 8, 0.7)
    parts = [index(tmp_path / "a", documents[:45]), index(tmp_path / "b", documents[45:])]
    for part in parts:
        write_impacts(part.folder, scheme)
    ours = WeightedIndex(parts, scheme)
    np.testing.assert_allclose(every(ours, query), every(plain, there), rtol=1e-5, atol=1e-6)
    top = ours.weigh(query).best(5)
    np.testing.assert_allclose(top.scores, np.sort(every(plain, there))[::-1][:5], rtol=1e-5)


def test_extremes_are_those_that_gensim_filters(tmp_path: Path) -> None:
    corpora = pytest.importorskip("gensim.corpora")
    documents = [[*words, "everywhere"] for words in corpus(6)]
    dictionary = corpora.Dictionary(documents)
    dictionary.filter_extremes(no_below=30, no_above=0.7)
    weighted = WeightedIndex(
        [index(tmp_path / "i", documents)], WithoutExtremes(Smart("ltn"), 30, 0.7)
    )
    for word in (*WORDS, "everywhere"):
        assert (every(weighted, {word: 1.0}).max() > 0) == (word in dictionary.token2id)


def test_no_term_is_extreme_by_default(tmp_path: Path) -> None:
    """A term that no document has counts in the length of the query, as without limits."""
    segment = index(tmp_path / "i", BY_HAND)
    query = {"sum": 1.0, "prime": 1.0, "nowhere": 1.0}
    ours = every(WeightedIndex([segment], WithoutExtremes(Smart("ltc"))), query)
    assert ours.tolist() == every(WeightedIndex([segment], Smart("ltc")), query).tolist()


def test_an_extreme_term_has_a_rarity_of_zero() -> None:
    scheme = WithoutExtremes(Smart("ltn"), 2, 0.5)
    found = scheme.rarity(np.array([1, 2, 4, 5]), Statistics(8, 3.0))
    assert found.tolist() == pytest.approx([0, 2.169925, 1.169925, 0])


def test_a_repeated_query_term_counts_by_its_logarithm_in_ltn_and_linearly_in_ntn() -> None:
    collection = Statistics(7, 3.0)
    assert Smart("ltn").ask(1.5, 1, collection) == pytest.approx(3 * 1.584963)
    assert Smart("ntn").ask(1.5, 1, collection) == pytest.approx(3 * 1.5)


@pytest.mark.parametrize("notation", ["ltn", "ntn"])
def test_a_query_term_with_a_frequency_below_one_counts_less_but_never_negatively(
    notation: str,
) -> None:
    asked = [Smart(notation).ask(share, 3, Statistics(10, 5.0)) for share in (0, 0.125, 0.5, 1, 2)]
    assert asked == sorted(asked)
    assert asked[0] == 0
    assert asked[2] == pytest.approx(asked[3] / 2)


@pytest.mark.parametrize("scheme", [Bm25Plus(), Bm25Plus(matched_only=True), Smart("ltc")])
def test_several_segments_give_the_same_scores_as_one_index(
    tmp_path: Path, scheme: Bm25Plus | Smart
) -> None:
    documents = corpus(7)
    whole = WeightedIndex([index(tmp_path / "whole", documents)], scheme)
    parts = [index(tmp_path / "a", documents[:45]), index(tmp_path / "b", documents[45:])]
    query = {"word1": 1.0, "word7": 2.0, "word8": 1.0}
    np.testing.assert_allclose(
        every(WeightedIndex(parts, scheme), query), every(whole, query), rtol=1e-5
    )


@pytest.mark.parametrize(
    "scheme", [Bm25Plus(), Bm25Plus(3.0, 0.75, 0), Bm25Plus(matched_only=True), Smart("ltc")]
)
@pytest.mark.parametrize("segments", [1, 3])
def test_the_best_documents_are_those_with_the_highest_scores(
    tmp_path: Path, scheme: Bm25Plus | Smart, segments: int
) -> None:
    documents = corpus(11, 2_000)
    parts = []
    for number in range(segments):
        folder = tmp_path / str(number)
        parts.append(index(folder, documents[number::segments]))
        write_impacts(folder, scheme)
    weighted = WeightedIndex(parts, scheme)
    query = {"word1": 1.0, "word7": 2.0, "word8": 0.3, "nowhere": 1.0}
    scores = every(weighted, query)
    allowed = np.arange(2_000) % 3 > 0
    for may in (None, allowed):
        found = weighted.weigh(query).best(50, may)
        true = best(scores, 50, may)
        assert found.scores.tolist() == scores[found.numbers].tolist()
        assert found.numbers.tolist() == true.numbers.tolist()


def test_impacts_have_255_steps_and_none_becomes_zero(tmp_path: Path) -> None:
    builder = PostingsBuilder()
    builder.add({"a": 510.0, "b": 2.0, "c": 0.5, "d": 5.0})
    builder.write(tmp_path / "i")
    write_impacts(tmp_path / "i", Smart("nnn"))
    [(impacts, step)] = WeightedIndex([Postings(tmp_path / "i")], Smart("nnn")).impacts
    assert sorted(impacts.whole.tolist()) == [1, 1, 2, 255]
    assert step == 2


@pytest.mark.parametrize("scheme", [Bm25Plus(), Smart("ltc")])
def test_the_batch_size_does_not_change_the_impacts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scheme: Bm25Plus | Smart
) -> None:
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    index(whole, BY_HAND)
    write_impacts(whole, scheme)
    monkeypatch.setattr(weighting, "_BATCH_SIZE", 4)
    index(parts, BY_HAND)
    write_impacts(parts, scheme)
    for name in ("impacts.npy", "step.npy"):
        assert np.load(parts / name).tolist() == np.load(whole / name).tolist()


def test_a_document_of_only_rare_terms_does_not_make_other_impacts_less_precise(
    tmp_path: Path,
) -> None:
    scheme = WithoutExtremes(Smart("nnc"), 2)
    index(tmp_path / "i", [["sum", "sum", "ring"], ["sum", "ring"], ["rare"]])
    write_impacts(tmp_path / "i", scheme)
    [(impacts, step)] = WeightedIndex([Postings(tmp_path / "i")], scheme).impacts
    found = np.sort(impacts.whole * step)
    assert found == pytest.approx([5**-0.5, 0.5**0.5, 0.5**0.5, 2 * 5**-0.5, 1], abs=0.01)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("step", np.ones(2, dtype=np.float32)),
        ("impacts", np.ones(10, dtype=np.uint8)),
        ("step", np.zeros(0, dtype=np.float32)),
    ],
)
def test_impacts_that_do_not_belong_to_an_index_are_refused(
    tmp_path: Path, name: str, values: NDArray[np.float32] | NDArray[np.uint8]
) -> None:
    segment = index(tmp_path / "i", BY_HAND)
    assert segment.size == 9
    write_impacts(segment.folder, Bm25Plus())
    np.save(segment.folder / f"{name}.npy", values)
    with pytest.raises(DamagedLibrary, match="do not belong together"):
        WeightedIndex([segment], Bm25Plus()).weigh({"sum": 1.0}).best(1)


def test_impacts_in_steps_of_different_sizes_are_compared_by_their_values(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(weighting, "_EXTRA_CANDIDATES", 0)
    parts = []
    for number, frequency in enumerate((4, 100)):
        parts.append(index(tmp_path / str(number), [["sum"] * frequency]))
        write_impacts(parts[-1].folder, Smart("nnn"))
    found = WeightedIndex(parts, Smart("nnn")).weigh({"sum": 1.0}).best(1)
    assert (found.numbers.tolist(), found.scores.tolist()) == ([1], [100.0])


def test_an_empty_query_or_a_request_for_no_documents_finds_nothing(tmp_path: Path) -> None:
    segment = index(tmp_path / "i", BY_HAND)
    write_impacts(segment.folder, Bm25Plus())
    weighted = WeightedIndex([segment], Bm25Plus())
    assert weighted.weigh({"sum": 1.0}).best(0).numbers.tolist() == []
    assert weighted.weigh({}).best(3).numbers.tolist() == []


def test_documents_can_be_scored_without_a_previous_search(tmp_path: Path) -> None:
    documents = corpus(3)
    weighted = WeightedIndex([index(tmp_path / "i", documents)], Bm25Plus())
    query = {next(iter(documents[0])): 1.0}
    [score] = weighted.weigh(query).scores(np.array([0]))
    assert score > 0
    assert score == pytest.approx(sum(weighted.weigh(query).parts(0)), rel=1e-5)


def test_the_parts_of_a_score_add_up(tmp_path: Path) -> None:
    weighted = WeightedIndex([index(tmp_path / "i", corpus(3))], Bm25Plus(matched_only=True))
    query = {"word1": 1.0, "word7": 2.0, "nowhere": 1.0}
    scores = every(weighted, query)
    best = int(scores.argmax())
    assert sum(weighted.weigh(query).parts(best)) == pytest.approx(float(scores[best]), rel=1e-5)


def test_the_parts_of_a_score_are_the_same_after_a_search(tmp_path: Path) -> None:
    segment = index(tmp_path / "i", [["ring"], *BY_HAND, ["field"]])
    scheme = Bm25Plus(matched_only=True)
    write_impacts(segment.folder, scheme)
    weighted = WeightedIndex([segment], scheme)
    query = {"sum": 1.0, "prime": 2.0}
    searched = weighted.weigh(query)
    assert sorted(searched.best(6).numbers.tolist()) == [1, 2, 3, 4]
    for document in range(6):
        assert searched.parts(document) == weighted.weigh(query).parts(document)


def test_a_translation_is_no_rarer_than_the_rarest_word_that_it_translates() -> None:
    wanted = {"prime": 1.0, "number": 1.0, "primo": 1.0, "lemma": 1.0, "nowhere": 1.0}
    translated = {
        "primo": [("prime", "number")],
        "lemma": [("absent",)],
        "nowhere": [("prime",)],
        "not-wanted": [("prime",)],
    }
    counts = adjusted_document_frequencies(np.array([20, 90, 3, 4, 0]), wanted, translated)
    assert counts.tolist() == [20, 90, 20, 4, 0]
    assert adjusted_document_frequencies(
        np.array([2, 9, 30, 4, 0]), wanted, translated
    ).tolist() == [2, 9, 30, 4, 0]


@pytest.mark.parametrize("notation", ["xyz", "lxx", "ltx", "xtn", "lt", "ltnn"])
def test_an_unknown_notation_is_refused(notation: str) -> None:
    with pytest.raises(InputError, match=rf"unknown scheme '{notation}' \(known: bm25\+, and"):
        Smart(notation)


def test_a_scheme_is_made_from_its_settings() -> None:
    assert make_scheme({"name": "ltc"}) == Smart("ltc")
    assert make_scheme({}) == make_scheme({"name": "bm25+"}) == Bm25Plus()
    assert make_scheme({"k1": 0, "b": 1.0, "matched_only": True}) == Bm25Plus(0, 1.0, 1.0, True)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"name": 3}, "the name of a scheme must be text"),
        ({"name": "ltc", "k1": 1.0}, "the TF-IDF scheme 'ltc' takes no k1"),
        ({"name": "bm26", "k1": 1.0}, "unknown scheme 'bm26'"),
        ({"b": 7.5}, "b must be a number from 0 to 1, not 7.5"),
        ({"k2": 1.0}, "takes no 'k2'"),
        ({"matched_only": 1}, "matched_only must be true or false"),
        ({"k1": "1"}, "k1 must be a number of at least 0"),
        ({"k1": -0.5}, "k1 must be a number of at least 0"),
        ({"b": float("inf")}, "b must be a number of at least 0"),
        ({"delta": float("nan")}, "delta must be a number of at least 0"),
    ],
)
def test_settings_that_a_scheme_does_not_take_are_refused(
    settings: dict[str, object], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        make_scheme(settings)


def test_an_empty_query_and_an_empty_index_score_nothing(tmp_path: Path) -> None:
    empty = WeightedIndex([index(tmp_path / "i", [])], Bm25Plus())
    assert every(empty, {"word1": 1.0}).tolist() == []
    assert every(WeightedIndex([index(tmp_path / "j", corpus(1))], Bm25Plus()), {}).max() == 0


def test_the_same_input_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        index(tmp_path / name, corpus(9))
    for file in sorted((tmp_path / "a").iterdir()):
        assert file.read_bytes() == (tmp_path / "b" / file.name).read_bytes()


def test_a_damaged_index_is_reported_with_the_remedy(tmp_path: Path) -> None:
    index(tmp_path / "i", corpus(2))
    (tmp_path / "i" / "terms.npy").write_bytes(b"nonsense")
    with pytest.raises(InputError, match="build the library again"):
        Postings(tmp_path / "i")
