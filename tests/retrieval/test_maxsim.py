"""MaxSim in process: exact scores, faster strategies, and the files on disk."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathsetu.errors import InputError
from mathsetu.retrieval.maxsim import MaxSim
from mathsetu.retrieval.multivectors import Layout, MultiVectors, write_multivectors


def unit(random, count, dimensions=16):
    vectors = random.standard_normal((count, dimensions), dtype=np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def some_posts(random, count, most=12):
    return [unit(random, random.integers(0, most)) for _ in range(count)]


def plain_maxsim(query, posts):
    """MaxSim, computed by its definition."""
    return np.array([(query @ post.T).max(axis=1).mean() if len(post) else 0.0 for post in posts])


@pytest.mark.parametrize(("storage", "error"), [("float16", 1e-3), ("int8", 1e-2)])
@pytest.mark.thorough
def test_exact_scores_are_those_of_the_definition(tmp_path, storage, error):
    random = np.random.default_rng(1)
    posts = some_posts(random, 700)
    write_multivectors(tmp_path / "vectors", posts, storage)
    stored = MultiVectors(tmp_path / "vectors")
    queries = [unit(random, random.integers(1, 40)) for _ in range(20)]
    scores = stored.scores(queries)
    for query, row in zip(queries, scores, strict=True):
        np.testing.assert_allclose(row, plain_maxsim(query, posts), atol=error)


@given(counts=st.lists(st.integers(0, 5), min_size=1, max_size=600), seed=st.integers(0, 9))
def test_every_vector_is_read_back_up_to_rounding(tmp_path_factory, counts, seed):
    random = np.random.default_rng(seed)
    posts = [unit(random, count) for count in counts]
    folder = tmp_path_factory.mktemp("vectors") / "stored"
    write_multivectors(folder, posts, "float16")
    stored = MultiVectors(folder)
    for number, post in enumerate(posts):
        np.testing.assert_allclose(
            stored.of_post(number),
            post.reshape(-1, stored.dimensions) if len(post) else np.zeros((0, stored.dimensions)),
            atol=1e-3,
        )


def test_one_thread_and_many_give_the_same_scores(tmp_path):
    random = np.random.default_rng(1)
    write_multivectors(tmp_path / "vectors", some_posts(random, 600), "float16")
    queries = [unit(random, 8) for _ in range(40)]
    one = MultiVectors(tmp_path / "vectors", threads=1).scores(queries)
    many = MultiVectors(tmp_path / "vectors", threads=3).scores(queries)
    assert np.array_equal(one, many)


def test_several_segments_give_the_same_results_as_one(tmp_path):
    random = np.random.default_rng(1)
    posts = some_posts(random, 500)
    write_multivectors(tmp_path / "all", posts, "float16")
    write_multivectors(tmp_path / "first", posts[:200], "float16")
    write_multivectors(tmp_path / "second", posts[200:], "float16")
    query = unit(random, 5)
    [whole] = MaxSim([tmp_path / "all"]).search([query], 50)
    [parts] = MaxSim([tmp_path / "first", tmp_path / "second"]).search([query], 50)
    assert np.array_equal(whole.numbers, parts.numbers)
    assert np.array_equal(whole.scores, parts.scores)


def test_the_score_of_a_post_does_not_depend_on_the_other_posts(tmp_path):
    random = np.random.default_rng(1)
    write_multivectors(tmp_path / "all", some_posts(random, 400), "float16")
    search = MaxSim([tmp_path / "all"])
    query = unit(random, 7)
    [found] = search.search([query], 30)
    for number, score in zip(found.numbers, found.scores, strict=True):
        assert search.scores_of(query, np.array([number]))[0] == score


def test_posts_that_are_not_allowed_are_not_found(tmp_path):
    random = np.random.default_rng(1)
    write_multivectors(tmp_path / "all", some_posts(random, 300), "float16")
    allowed = np.arange(300) % 3 == 0
    [found] = MaxSim([tmp_path / "all"]).search([unit(random, 5)], 300, allowed)
    assert len(found.numbers) > 50
    assert allowed[found.numbers].all()


def clustered(random, count):
    """Posts like those of real models: each vector is near one of a few directions."""
    centres = unit(random, 60)
    posts = []
    for _ in range(count):
        near = centres[random.integers(0, 60, random.integers(2, 12))]
        noisy = near + 0.15 * random.standard_normal(near.shape, dtype=np.float32)
        # The last vector is the mean of the others.
        noisy = np.concatenate([noisy, noisy.mean(axis=0, keepdims=True)])
        posts.append(noisy / np.linalg.norm(noisy, axis=1, keepdims=True))
    return posts


@pytest.mark.thorough
def test_a_fast_first_stage_finds_many_posts_of_the_exact_search(tmp_path):
    random = np.random.default_rng(1)
    write_multivectors(tmp_path / "all", clustered(random, 2000), "float16")
    queries = clustered(random, 20)
    exact = MaxSim([tmp_path / "all"]).search(queries, 10)
    quick = MaxSim([tmp_path / "all"], "document", depth=200).search(queries, 10)
    shares = [
        len(set(wanted.numbers.tolist()) & set(found.numbers.tolist())) / 10
        for wanted, found in zip(exact, quick, strict=True)
    ]
    assert np.mean(shares) >= 0.3


def test_a_search_finds_only_the_candidates_of_the_first_stage(tmp_path):
    random = np.random.default_rng(1)
    posts = clustered(random, 300)
    write_multivectors(tmp_path / "first", posts[:200], "float16")
    write_multivectors(tmp_path / "second", posts[200:], "float16")
    folders, queries = [tmp_path / "first", tmp_path / "second"], clustered(random, 5)
    handed_on = MaxSim(folders, "single").search(queries, 20)
    for k in (20, 100):
        found = MaxSim(folders, "document", depth=20).search(queries, k)
        for first, second in zip(handed_on, found, strict=True):
            assert sorted(first.numbers.tolist()) == sorted(second.numbers.tolist())


def test_single_compares_only_the_last_vectors(tmp_path):
    random = np.random.default_rng(1)
    posts = [unit(random, 4) for _ in range(50)]
    write_multivectors(tmp_path / "all", posts, "float16")
    query = unit(random, 3)
    [found] = MaxSim([tmp_path / "all"], "single").search([query], 5)
    cosines = np.array([post[-1] for post in posts]) @ query[-1]
    assert found.numbers.tolist() == np.argsort(-cosines)[:5].tolist()


def test_invalid_settings_and_files_are_refused(tmp_path):
    with pytest.raises(InputError, match="strategy is 'fast'"):
        MaxSim([], "fast")
    with pytest.raises(InputError, match="storage is 'float8'"):
        write_multivectors(tmp_path / "no", [], "float8")
    random = np.random.default_rng(1)
    write_multivectors(tmp_path / "all", some_posts(random, 10), "float16")
    with pytest.raises(InputError, match="8 dimensions, those of the library 16"):
        MaxSim([tmp_path / "all"]).search([unit(random, 2, 8)], 3)
    np.save(tmp_path / "all" / "counts.npy", np.array([1], dtype=np.int32))
    with pytest.raises(InputError, match="is damaged"):
        MaxSim([tmp_path / "all"])


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(InputError, match=r"vectors\.npy"):
        MultiVectors(Path(tmp_path))


def test_vectors_are_stored_in_blocks_of_256_posts():
    """Existing libraries have this order, so it must not change."""
    counts = np.array([1] * 255 + [2] + [3], dtype=np.int32)
    rows = Layout(counts).rows.tolist()
    assert rows == [*range(1, 256), 0, 256, 257, 258, 259]


def test_small_numbers_keep_their_precision_in_int8(tmp_path):
    post = np.array([[0.1, -0.05, 0.02], [-0.1, 0.0, 0.1]], dtype=np.float32)
    write_multivectors(tmp_path / "new" / "vectors", [post], "int8")
    stored = MultiVectors(tmp_path / "new" / "vectors")
    np.testing.assert_allclose(stored.of_post(0), post, atol=0.0004)
    np.testing.assert_allclose(stored.documents, post[1:], atol=0.0004)


def test_posts_without_vectors_get_a_score_of_zero(tmp_path):
    write_multivectors(tmp_path / "none", [np.zeros((0, 16), dtype=np.float32)] * 2, "float16")
    none = MultiVectors(tmp_path / "none")
    assert (len(none), none.total, none.dimensions) == (2, 0, 0)
    random = np.random.default_rng(1)
    write_multivectors(tmp_path / "some", [unit(random, 0), unit(random, 3)], "float16")
    some = MultiVectors(tmp_path / "some")
    assert some.scores_of(unit(random, 2), np.array([0])).tolist() == [0]
    assert some.scores_of(unit(random, 0), np.array([0, 1])).tolist() == [0, 0]


def test_a_query_may_have_more_vectors_than_one_batch(tmp_path):
    random = np.random.default_rng(1)
    posts = some_posts(random, 5)
    write_multivectors(tmp_path / "vectors", posts, "float16")
    queries = [unit(random, 130), unit(random, 0), unit(random, 3), unit(random, 126)]
    scores = MultiVectors(tmp_path / "vectors").scores(queries)
    assert scores[1].tolist() == [0] * 5
    for number in (0, 2, 3):
        np.testing.assert_allclose(scores[number], plain_maxsim(queries[number], posts), atol=1e-3)


@pytest.mark.parametrize("strategy", ["exact", "document", "single"])
def test_a_query_without_vectors_finds_nothing(tmp_path, strategy):
    random = np.random.default_rng(1)
    write_multivectors(tmp_path / "all", [unit(random, 2), unit(random, 3)], "float16")
    search = MaxSim([tmp_path / "all"], strategy, depth=1)
    [found] = search.search([unit(random, 0)], 2)
    assert found.numbers.tolist() == []
    assert search.scores_of(unit(random, 0), np.array([1, 0])).tolist() == [0, 0]
    with pytest.raises(InputError, match="8 dimensions, those of the library 16"):
        search.scores_of(unit(random, 2, 8), np.array([0]))


def test_a_depth_of_zero_is_refused():
    with pytest.raises(InputError, match="depth is 0; it must be at least 1"):
        MaxSim([], "document", depth=0)
