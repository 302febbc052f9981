"""The index files of formula search: how they are written, merged, weighted and checked."""

import shutil
from math import log
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathsetu.errors import DamagedLibrary, InputError
from mathsetu.formulas import parse_latex
from mathsetu.formulas.features import features
from mathsetu.intake import read_post
from mathsetu.intake.question import Question
from mathsetu.records import Post, Query
from mathsetu.retrieval import formula_index
from mathsetu.retrieval.base import Scored, WrittenSegment
from mathsetu.retrieval.formula import FormulaRetriever
from mathsetu.retrieval.formula_index import (
    FormulaBuilder,
    FormulaSegment,
    FormulaSettings,
    feature_counts,
    join_masses,
    masses_of,
    posts_of_formulas,
    rarity_of,
)
from mathsetu.retrieval.postings import Postings
from tests.retrieval.test_formula import build

FIRST = ["$a^2$ and $b$", "words", "$a+b$, $a^2$ and $a+b$"]
SECOND = ["$c=1$", "$a+b$, $c=1$ and $d$", r"$\frac{a}{b}$"]


def content(folder: Path) -> dict[str, object]:
    """The posts and formulas of a segment, without the numbers of the formulas."""
    segment = FormulaSegment(folder)
    texts = [segment.latex[number] for number in range(len(segment))]
    posts = np.arange(segment.posts)
    return {
        "posts": [
            [texts[one] for one in segment.occurrences(np.array([post])).tolist()] for post in posts
        ],
        "counts": segment.counts(posts).tolist(),
        "formulas": {
            latex: (segment.posts_with(number).tolist(), round(float(segment.masses[number]), 4))
            for number, latex in enumerate(texts)
        },
    }


def test_a_merged_segment_equals_one_built_from_the_kept_posts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For small batches; one formula is in both segments, two are in no kept post."""
    choices, first, second = FormulaSettings(), [1, 2], [0, 1]
    sources = [
        WrittenSegment(build(tmp_path / name, bodies, choices), np.array(own), ["", ""])
        for name, bodies, own in (("a", FIRST, first), ("b", SECOND, second))
    ]
    monkeypatch.setattr(formula_index, "_BATCH_SIZE", 2)
    monkeypatch.setattr(formula_index, "_PARTS", 4)
    FormulaBuilder(choices).merge(sources, tmp_path / "merged")
    bodies = [FIRST[post] for post in first] + [SECOND[post] for post in second]
    expected = build(tmp_path / "expected", bodies, choices)
    assert content(tmp_path / "merged") == content(expected)
    masses = FormulaSegment(tmp_path / "merged").masses
    # Formulas are in the order of their old masses; here that is also the order of the new ones.
    assert (np.diff(masses) >= 0).all()
    question = Question(Query(id="q", text="$a+b$ and $a^2$"))
    one, other = (
        FormulaRetriever([folder], choices).ask([question])[0].scores(np.arange(len(bodies)))
        for folder in (tmp_path / "merged", expected)
    )
    assert one == pytest.approx(other)


def test_a_segment_has_each_formula_once_in_ascending_order_of_mass(tmp_path: Path) -> None:
    found = content(build(tmp_path / "index", FIRST, FormulaSettings()))
    assert found["posts"] == [["a^2", "b"], [], ["a+b", "a^2", "a+b"]]
    assert found["counts"] == [2, 0, 3]
    posts = {latex: held for latex, (held, _) in found["formulas"].items()}  # type: ignore[attr-defined]
    assert posts == {"b": [0], "a^2": [0, 2], "a+b": [2]}
    assert list(posts) == ["b", "a^2", "a+b"]


def test_a_build_removes_the_files_that_a_killed_build_left(tmp_path: Path) -> None:
    (tmp_path / "index.unordered").mkdir()
    (tmp_path / "index.unordered" / "terms.npy").write_bytes(b"half")
    build(tmp_path / "index", FIRST, FormulaSettings())
    assert [place.name for place in tmp_path.iterdir()] == ["index"]


def test_a_feature_weighs_more_if_fewer_formulas_have_it() -> None:
    found = rarity_of(np.array([0, 1, 5, 9]), 9)
    expected = [log(1 + (9 - held + 0.5) / (held + 0.5)) for held in (0, 1, 5, 9)]
    assert found.tolist() == pytest.approx(expected)


def test_masses_are_sums_of_feature_weights_computed_over_all_segments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(formula_index, "_BATCH_SIZE", 3)
    folders = [
        build(tmp_path / name, bodies, FormulaSettings())
        for name, bodies in zip("ab", (FIRST, SECOND), strict=True)
    ]
    texts = [
        [segment.latex[number] for number in range(len(segment))]
        for segment in map(FormulaSegment, folders)
    ]
    counts = {latex: feature_counts(parse_latex(latex)) for own in texts for latex in own}
    # A formula that is in both segments counts twice.
    containing = {
        feature: sum(feature in counts[latex] for own in texts for latex in own)
        for one in counts.values()
        for feature in one
    }
    total = sum(map(len, texts))
    weight = {
        feature: log(1 + (total - held + 0.5) / (held + 0.5))
        for feature, held in containing.items()
    }
    expected = [
        [sum(weight[feature] * count for feature, count in counts[latex].items()) for latex in own]
        for own in texts
    ]
    found = list(masses_of([Postings(folder) for folder in folders]))
    for one, other in zip(found, expected, strict=True):
        assert one.tolist() == pytest.approx(other, rel=1e-5)
    before = [FormulaSegment(folder).masses.tolist() for folder in folders]
    assert before[0] != pytest.approx(expected[0], rel=1e-3)
    join_masses(folders)
    for folder, one in zip(folders, found, strict=True):
        assert FormulaSegment(folder).masses.tolist() == one.tolist()
        assert not (folder / "masses.new.npy").exists()


def test_features_of_the_layout_tree_count_twice_those_of_the_operator_tree() -> None:
    parsed = parse_latex("a+a^2")
    plain = features(parsed.slt, parsed.opt)
    # Features of the operator tree begin with one of these letters.
    expected = {term: plain.count(term) * (1 if term[0] in "rRlL" else 2) for term in plain}
    assert feature_counts(parsed) == expected
    assert {term[0] for term in plain} > {"r", "p"}
    # In a formula of the collection, a question mark is a sign and not a wildcard.
    assert any("?u" in feature for feature in feature_counts(parse_latex("?u^2")))


@given(st.lists(st.lists(st.integers(0, 39), max_size=5), max_size=8))
def test_the_posts_of_each_formula_are_those_that_contain_it(posts: list[list[int]]) -> None:
    occurrences = np.array([one for post in posts for one in post], dtype=np.int32)
    starts = np.cumsum([0, *map(len, posts)])
    found, ends = posts_of_formulas(occurrences, starts, 40)
    expected = [[place for place, post in enumerate(posts) if one in post] for one in range(40)]
    assert np.diff(ends).tolist() == [len(held) for held in expected]
    assert found.tolist() == [place for held in expected for place in held]


def test_a_segment_in_memory_gives_the_same_results_as_one_on_disk(tmp_path: Path) -> None:
    disk = FormulaSegment(build(tmp_path / "index", FIRST, FormulaSettings()))
    occurrences, starts = (
        np.load(tmp_path / "index" / f"{name}.npy") for name in ("occurrences", "post_starts")
    )
    held = FormulaSegment.from_arrays(disk.postings, disk.latex, disk.masses, occurrences, starts)
    everything = np.arange(3)
    found = [Scored(np.array([1, 2]), np.array([0.5, 0.75], dtype=np.float32))]
    for one in (disk, held):
        assert (len(one), one.posts) == (3, 3)
        assert one.masses.tolist() == disk.masses.tolist()
        assert one.posts_with(1).tolist() == [0, 2]
        assert one.occurrences(np.array([2, 0])).tolist() == [2, 1, 2, 1, 0]
        assert one.counts(everything).tolist() == [2, 0, 3]
        assert one.formulas_of(2).tolist() == [1, 2]
        best = one.best_posts(found, [1.0], 5, None, 0)
        assert (best.numbers.tolist(), best.scores.tolist()) == ([2, 0], [0.75, 0.5])


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("formulas") / "index", ["$a$"], FormulaSettings())


@pytest.fixture
def folder(written: Path, tmp_path: Path) -> Path:
    """A segment of one post with one formula, which a test may damage."""
    return Path(shutil.copytree(written, tmp_path / "index"))


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("masses", np.ones(2, dtype=np.float32)),
        ("formula_starts", np.arange(3)),
        ("formula_starts", np.zeros(0, dtype=np.int64)),
        ("post_starts", np.zeros(0, dtype=np.int64)),
    ],
)
def test_files_that_do_not_belong_together_are_refused(
    folder: Path, name: str, values: object
) -> None:
    np.save(folder / f"{name}.npy", values)
    with pytest.raises(DamagedLibrary, match="do not belong together"):
        FormulaSegment(folder)


@pytest.mark.parametrize(("name", "value"), [("occurrences", 1), ("posts", 1), ("posts", -1)])
def test_numbers_of_missing_posts_and_formulas_are_refused(
    folder: Path, name: str, value: int
) -> None:
    np.save(folder / f"{name}.npy", np.array([value], dtype=np.int32))
    segment = FormulaSegment(folder)
    with pytest.raises(DamagedLibrary, match="out of range"):
        [segment.posts_with(0), segment.formulas_of(0)]


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"fields": ("tags",)}, "fields has 'tags'"),
        ({"matched": -1}, "matched must be at least 0"),
        ({"query_formulas": 0}, "query_formulas at least 1"),
        ({"size_power": -0.1}, "size_power must be from 0 to 1"),
        ({"size_power": 1.1}, "size_power must be from 0 to 1"),
        ({"size_power": float("nan")}, "size_power must be from 0 to 1"),
    ],
)
def test_invalid_settings_are_refused(choices: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        FormulaSettings(**choices)  # type: ignore[arg-type]


def test_settings_at_their_limits_are_allowed() -> None:
    assert FormulaSettings(matched=0, query_formulas=1, size_power=1).size_power == 1
    usual = FormulaSettings(size_power=0)
    assert (usual.matched, usual.query_formulas) == (20, 6)


def test_only_formulas_of_the_chosen_fields_are_read() -> None:
    facts = read_post(Post(id="1", title="$a$", question="$b$", body="$c$"))
    builder = FormulaBuilder(FormulaSettings(fields=("title", "body")))
    assert builder.prepare(facts) == ["a", "c"]
