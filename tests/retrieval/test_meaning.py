"""Search by meaning: posts in passages, compared with a question by the built-in encoder.

The model here is a tiny one: texts are similar if they share tokens. The real one is tested in
`tests/encoders`.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mathsetu.encoders.builtin import BuiltinEncoder
from mathsetu.errors import InputError, MissingExtra
from mathsetu.intake import read_post
from mathsetu.intake.question import Question
from mathsetu.library import Library, add_posts, build_library
from mathsetu.library.build import index_posts
from mathsetu.library.store import Stored
from mathsetu.recipes import load_recipe
from mathsetu.records import Post, Query
from mathsetu.retrieval import meaning
from mathsetu.retrieval.base import WrittenSegment
from mathsetu.retrieval.meaning import (
    MeaningBuilder,
    MeaningRetriever,
    MeaningSettings,
    quantize_int8,
)
from mathsetu.retrieval.passages import passages
from tests.encoders.tiny_builtin import TEXTS, make_builtin

EVEN, BOUNDED, COMPACT, ODD, HINDI, SPANISH = TEXTS


def choose(model: str, **more: Any) -> MeaningSettings:
    """The default settings, with the whole cosine as the score of a post."""
    return MeaningSettings(model, **{"min_cosine": 0.0, **more})


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    pytest.importorskip("onnx")
    return str(make_builtin(tmp_path_factory.mktemp("meaning")))


@pytest.fixture(scope="module")
def encoder(model: str) -> BuiltinEncoder:
    return BuiltinEncoder(Path(model))


def built(folder: Path, posts: Sequence[Post], choices: MeaningSettings) -> Path:
    builder = MeaningBuilder(choices)
    index_posts([builder], map(Stored.of, posts))
    builder.write(folder)
    return folder


def opened(folder: Path, posts: Sequence[Post], choices: MeaningSettings) -> MeaningRetriever:
    return MeaningRetriever([built(folder, posts, choices)], choices)


def of_bodies(*bodies: str) -> list[Post]:
    return [Post(id=str(number), body=body) for number, body in enumerate(bodies)]


def asked(text: str, title: str = "") -> Question:
    # Marked as English, so that the glossary is not used.
    return Question(Query(id="q", text=text, title=title, language="en"))


def scores(retriever: MeaningRetriever, question: Question, count: int) -> list[float]:
    return retriever.ask([question])[0].scores(np.arange(count)).tolist()


def test_the_nearest_post_ranks_first(tmp_path: Path, model: str) -> None:
    retriever = opened(tmp_path / "index", of_bodies(*TEXTS), choose(model))
    for number, text in enumerate(TEXTS):
        found = retriever.ask([asked(text)])[0].best(3)
        assert found.numbers[0] == number
        assert found.scores[0] == pytest.approx(1, abs=0.01)
        assert sorted(found.scores, reverse=True) == found.scores.tolist()
        assert len(found.numbers) <= 3


def test_blank_posts_are_not_found_and_blank_questions_find_nothing(
    tmp_path: Path, model: str
) -> None:
    retriever = opened(tmp_path / "index", of_bodies("", EVEN, " $$ "), choose(model))
    replies = retriever.ask([asked(EVEN), asked("$ $")])
    found, nothing = (reply.best(5) for reply in replies)
    assert found.numbers.tolist() == [1]
    assert not len(nothing.numbers)
    assert scores(retriever, asked(EVEN), 3)[::2] == [0, 0]


@pytest.mark.parametrize(
    "post",
    [
        Post(id="body", body=BOUNDED),
        Post(id="title", title=BOUNDED, body=""),
        Post(id="question", question=BOUNDED, body=""),
        Post(id="title of a question", title=BOUNDED, question=" ", body=""),
    ],
    ids=lambda post: post.id,
)
def test_a_post_may_lack_any_of_its_fields(tmp_path: Path, model: str, post: Post) -> None:
    retriever = opened(tmp_path / "index", [*of_bodies(EVEN, ""), post], choose(model))
    found = retriever.ask([asked(BOUNDED)])[0].best(1)
    assert found.numbers.tolist() == [2]
    assert found.scores[0] == pytest.approx(1, abs=0.01)


def test_the_best_passage_counts_most_and_question_and_body_count_too(
    tmp_path: Path, model: str, encoder: BuiltinEncoder
) -> None:
    post = Post(id="1", title="Sums", question=EVEN, body=ODD)
    retriever = opened(tmp_path / "index", [post], choose(model))
    query, question, answer = encoder.encode(["even sum of numbers", f"Sums\n\n{EVEN}", ODD])
    near, nearer = sorted([float(query @ question), float(query @ answer)])
    assert nearer == float(query @ question)
    expected = (0.5 + 0.3) * nearer + 0.2 * near
    [score] = scores(retriever, asked("even sum of numbers"), 1)
    assert score == pytest.approx(expected, abs=0.01)


def test_a_title_is_a_separate_passage(tmp_path: Path, model: str) -> None:
    post = Post(id="1", title=BOUNDED, body=ODD)
    with_title, without = (
        opened(tmp_path / str(titles), [post], choose(model, titles=titles))
        for titles in (True, False)
    )
    drowned, found = (scores(one, asked(BOUNDED), 1)[0] for one in (without, with_title))
    assert drowned < 0.9
    assert found == pytest.approx((1 + drowned) / 2, abs=0.01)


def test_a_title_is_found_with_and_without_its_formulas(tmp_path: Path, model: str) -> None:
    title = BOUNDED.replace("bounded", "bounded $x_1 + x_2 + x_3 + x_4$")
    posts = [Post(id="1", title=title, body=ODD)]
    with_title, without = (
        opened(tmp_path / str(titles), posts, choose(model, titles=titles))
        for titles in (True, False)
    )
    for text in (title, BOUNDED):
        drowned, found = (scores(one, asked(text), 1)[0] for one in (without, with_title))
        assert found == pytest.approx((1 + drowned) / 2, abs=0.01)


def test_the_title_of_a_post_without_other_text_is_read_once(tmp_path: Path, model: str) -> None:
    folder = built(tmp_path / "index", [Post(id="1", title=EVEN, body="")], choose(model))
    assert len(np.load(folder / "vectors.npy")) == 1


def test_the_title_of_a_question_is_read_only_together_with_the_question(
    tmp_path: Path, model: str, encoder: BuiltinEncoder
) -> None:
    post = Post(id="1", title="Sums", question=EVEN, body=ODD, language="en")
    folder = built(tmp_path / "index", [post], choose(model))
    expected, _ = quantize_int8(encoder.encode([f"Sums\n\n{EVEN}", ODD]))
    assert (np.load(folder / "vectors.npy") == expected).all()


def test_the_reason_quotes_a_title_that_matches(tmp_path: Path, model: str) -> None:
    post = Post(id="1", title=BOUNDED, body=" ".join([ODD] * 4))
    retriever = opened(tmp_path / "index", [post], choose(model, tokens=32))
    reason = retriever.ask([asked(BOUNDED)])[0].reason(0, post)
    assert BOUNDED in reason.detail


def test_posts_in_other_languages_are_read_with_the_careful_network(tmp_path: Path) -> None:
    pytest.importorskip("onnx")
    model = str(make_builtin(tmp_path / "model", reader=True))
    encoder = BuiltinEncoder(Path(model))
    posts = [
        Post(id="en", body=EVEN, language="en"),
        Post(id="es", body=SPANISH, language="es"),
        Post(id="formula", body="$x^2$"),
    ]
    read = {}
    for careful in (True, False):
        folder = built(tmp_path / str(careful), posts, choose(model, careful=careful))
        read[careful] = np.load(folder / "vectors.npy")
    rows = encoder.tokens([f"\n\n{post.body}" for post in posts])
    fast, slow = (quantize_int8(encoder.encode_tokens(rows, how))[0] for how in (False, True))
    assert (fast != slow).any(axis=1).all()
    assert (read[False] == fast).all()
    assert (read[True] == np.stack([fast[0], slow[1], fast[2]])).all()


def test_a_long_post_scores_higher_by_its_passages_than_as_a_whole(
    tmp_path: Path, model: str, encoder: BuiltinEncoder
) -> None:
    choices = choose(model, tokens=32, body_passages=8)
    long = " ".join([*[EVEN] * 6, BOUNDED, *[ODD] * 3])
    [tokens] = encoder.tokens([long])
    assert 64 < len(tokens) <= 256
    retriever = opened(tmp_path / "index", of_bodies(long, long + ODD), choices)
    whole = float(encoder.encode([BOUNDED])[0] @ encoder.encode([long])[0])
    assert scores(retriever, asked(BOUNDED), 2)[0] > whole + 0.1


def test_only_the_beginning_of_a_very_long_post_is_read(tmp_path: Path, model: str) -> None:
    choices = choose(model, tokens=16, body_passages=2)
    start = " ".join([EVEN] * 20)
    retriever = opened(tmp_path / "index", of_bodies(start, f"{start} {BOUNDED}"), choices)
    first, second = scores(retriever, asked(BOUNDED), 2)
    assert first == second


@pytest.mark.parametrize(("asked_passages", "said"), [(0, 2), (2, 0)])
def test_a_kind_of_passage_can_be_left_out(
    tmp_path: Path, model: str, asked_passages: int, said: int
) -> None:
    post = Post(id="1", question=EVEN, body=BOUNDED)
    choices = choose(model, question_passages=asked_passages, body_passages=said)
    retriever = opened(tmp_path / "index", [post], choices)
    [score] = scores(retriever, asked(EVEN if asked_passages else BOUNDED), 1)
    assert score == pytest.approx(1, abs=0.01)


@pytest.mark.thorough
def test_segments_are_searched_as_one_collection_with_the_same_scores(
    tmp_path: Path, model: str
) -> None:
    posts = [
        Post(id=str(number), question=first, body=second)
        for number, (first, second) in enumerate(zip(TEXTS * 2, TEXTS[::-1] + TEXTS, strict=True))
    ]
    choices = choose(model)
    whole = opened(tmp_path / "whole", posts, choices)
    # Every post is the last of its own segment, where the file ends after it.
    alone = [built(tmp_path / str(number), [post], choices) for number, post in enumerate(posts)]
    split = MeaningRetriever(alone, choices)
    for text in [*TEXTS, "zero", "max", "दो", "x"]:
        assert scores(whole, asked(text), 12) == pytest.approx(scores(split, asked(text), 12))
        one, other = (r.ask([asked(text)])[0].best(12).numbers for r in (whole, split))
        assert one.tolist() == other.tolist()


def test_a_negative_cosine_is_not_treated_as_zero(tmp_path: Path, model: str) -> None:
    words = sorted({word for text in TEXTS for word in text.split()})
    retriever = opened(tmp_path / "index", of_bodies(*words), choose(model, min_cosine=-1.0))
    cosines = np.array([scores(retriever, asked(word), len(words)) for word in words]) - 1
    # The last post is at the end of the file, where a zero is easily mistaken for a cosine.
    assert (cosines[:, -1] < -0.01).any()
    assert cosines == pytest.approx(cosines.T, abs=0.02)


def test_posts_whose_cosine_is_not_above_min_cosine_are_not_found(
    tmp_path: Path, model: str
) -> None:
    folder = built(tmp_path / "index", of_bodies(*TEXTS), choose(model))
    cosines = np.array(scores(MeaningRetriever([folder], choose(model)), asked(EVEN), 6))
    least = float(np.sort(cosines)[-3])
    strict = MeaningRetriever([folder], choose(model, min_cosine=least))
    found = strict.ask([asked(EVEN)])[0].best(6)
    assert found.numbers.tolist() == np.argsort(-cosines)[:2].tolist()
    assert found.scores == pytest.approx(cosines[found.numbers] - least, abs=1e-6)
    assert strict.ask([asked(EVEN)])[0].reason(0, Post("", "")).score == pytest.approx(cosines[0])
    assert min(scores(strict, asked(EVEN), 6)) == 0


def test_only_allowed_posts_are_found(tmp_path: Path, model: str) -> None:
    choices = choose(model)
    folders = [
        built(tmp_path / "a", of_bodies(*TEXTS), choices),
        built(tmp_path / "b", of_bodies(*TEXTS), choices),
    ]
    retriever = MeaningRetriever(folders, choices)
    allowed = np.zeros(12, dtype=np.bool_)
    allowed[[1, 6]] = True
    found = retriever.ask([asked(EVEN)])[0].best(12, allowed)
    assert found.numbers[0] == 6
    assert set(found.numbers.tolist()) <= {1, 6}
    nothing = retriever.ask([asked(EVEN)])[0].best(12, np.zeros(12, dtype=np.bool_))
    assert not len(nothing.numbers)


def test_the_reason_is_the_score_and_the_nearest_sentence(tmp_path: Path, model: str) -> None:
    choices = choose(model)
    folders = [
        built(tmp_path / "a", of_bodies(EVEN), choices),
        built(tmp_path / "b", [Post(id="1", title="Sets", question=ODD, body=COMPACT)], choices),
        built(tmp_path / "c", of_bodies(""), choices),
    ]
    retriever = MeaningRetriever(folders, choices)
    question = asked("It attains its maximum.")
    reason = retriever.ask([question])[0].reason(1, Post("", ""))
    assert reason.part == "meaning"
    assert reason.score == pytest.approx(scores(retriever, question, 3)[1])
    assert reason.detail == f"cosine {reason.score:.2f}: It attains its maximum."
    assert retriever.ask([question])[0].reason(2, Post("", "")).detail == ""


def test_the_reason_is_found_deep_in_a_long_post(tmp_path: Path, model: str) -> None:
    choices = choose(model, tokens=32, body_passages=12)
    long = " ".join([*[EVEN] * 12, BOUNDED, *[EVEN] * 3])
    posts = [Post(id="1", title="Sums", question=ODD, body=long)]
    reason = (
        opened(tmp_path / "index", posts, choices).ask([asked(BOUNDED)])[0].reason(0, Post("", ""))
    )
    assert reason.detail.endswith(BOUNDED)


def test_a_post_that_is_found_again_is_not_read_again(
    tmp_path: Path, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    choices = choose(model)
    folder = built(tmp_path / "a", of_bodies(EVEN, COMPACT), choices)
    retriever = MeaningRetriever([folder], choices)
    first = retriever.ask([asked(EVEN)])[0].reason(1, Post("", ""))
    read: list[str] = []
    places = retriever.encoder.tokens_and_places
    monkeypatch.setattr(
        retriever.encoder,
        "tokens_and_places",
        lambda text, how: [read.append(text), places(text, how)][1],
    )
    assert retriever.ask([asked(EVEN)])[0].reason(1, Post("", "")) == first
    assert retriever.ask([asked(ODD)])[0].reason(1, Post("", "")) != first
    assert not read
    retriever.ask([asked(ODD)])[0].reason(0, Post("", ""))
    assert len(read) == 1


def test_a_segment_without_posts_can_be_searched(tmp_path: Path, model: str) -> None:
    choices = choose(model)
    empty = built(tmp_path / "empty", [], choices)
    full = built(tmp_path / "full", of_bodies(EVEN), choices)
    retriever = MeaningRetriever([empty, full, empty], choices)
    found = retriever.ask([asked(EVEN)])[0].best(5)
    assert found.numbers.tolist() == [0]
    assert retriever.ask([asked(EVEN)])[0].reason(0, Post("", "")).score == found.scores[0]
    nothing = MeaningRetriever([empty], choices).ask([asked(EVEN)])[0].best(5)
    assert not len(nothing.numbers)


def test_the_same_posts_give_the_same_bytes(tmp_path: Path, model: str) -> None:
    one, other = (built(tmp_path / name, of_bodies(*TEXTS), choose(model)) for name in "ab")
    assert {file.name for file in one.iterdir()} == {file.name for file in other.iterdir()}
    for file in one.iterdir():
        assert file.read_bytes() == (other / file.name).read_bytes(), file.name


def test_vectors_in_int8_are_close_to_the_original_vectors(encoder: BuiltinEncoder) -> None:
    vectors = np.concatenate([encoder.encode(TEXTS), np.zeros((1, 64), dtype=np.float32)])
    numbers, scales = quantize_int8(vectors)
    restored = numbers * scales[:, None]
    assert np.abs(restored - vectors).max() <= np.abs(vectors).max() / 254 + 1e-6
    assert not restored[-1].any()


def test_vectors_of_another_model_are_refused_with_the_remedy(tmp_path: Path, model: str) -> None:
    folder = built(tmp_path / "index", of_bodies(EVEN), choose(model))
    smaller = choose(str(make_builtin(tmp_path / "smaller", dimensions=32)))
    with pytest.raises(InputError, match="gives vectors of 32 dimensions, the library holds 64"):
        MeaningRetriever([folder], smaller).ask([asked(EVEN)])[0].best(5)


@pytest.mark.parametrize("name", ["vectors.npy", "scales.npy", "ends.npy", "texts.npy"])
def test_damaged_files_are_found_when_opened(tmp_path: Path, model: str, name: str) -> None:
    folder = built(tmp_path / "index", of_bodies(EVEN), choose(model))
    (folder / name).write_bytes(b"no array")
    with pytest.raises(InputError, match=rf"{name}: is damaged"):
        MeaningRetriever([folder], choose(model))


@pytest.mark.parametrize("name", ["vectors.npy", "scales.npy", "ends.npy"])
def test_files_that_do_not_belong_together_are_found_when_opened(
    tmp_path: Path, model: str, name: str
) -> None:
    folder = built(tmp_path / "index", of_bodies(EVEN, ODD), choose(model))
    np.save(folder / name, np.load(folder / name)[:-1])
    with pytest.raises(InputError, match=r"index: is damaged .* build the library again"):
        MeaningRetriever([folder], choose(model))


def test_a_model_of_another_kind_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("sentence_transformers")
    from tests.encoders.tiny import make_model

    other = make_model(tmp_path)
    with pytest.raises(InputError, match="use a part of kind dense"):
        MeaningBuilder(choose(str(other))).prepare(read_post(Post(id="1", body=EVEN)))


@pytest.mark.parametrize(
    "choice",
    [{"tokens": 4}, {"question_passages": -1}, {"question_passages": 0, "body_passages": 0}],
)
def test_settings_that_leave_nothing_to_read_are_refused(choice: dict[str, int]) -> None:
    with pytest.raises(InputError, match="tokens must be at least 8"):
        MeaningSettings(**choice)  # type: ignore[arg-type]


@pytest.mark.parametrize("least", [1.0, -1.5, float("nan")])
def test_min_cosine_and_query_title_outside_their_ranges_are_refused(least: float) -> None:
    with pytest.raises(InputError, match="min_cosine must be a cosine from -1 to below 1"):
        MeaningSettings(min_cosine=least)
    with pytest.raises(InputError, match="query_title is -1; it cannot be less than 0"):
        MeaningSettings(query_title=-1.0)


def test_passages_longer_than_the_model_reads_are_refused(tmp_path: Path, model: str) -> None:
    with pytest.raises(InputError, match="but the model reads 128 at most"):
        opened(tmp_path / "index", of_bodies(" ".join(TEXTS * 9)), choose(model, tokens=500))
    # This happens before a long build, not at its end.
    [post] = of_bodies(" ".join(TEXTS * 9))
    with pytest.raises(InputError, match="but the model reads 128 at most"):
        MeaningBuilder(choose(model, tokens=500)).prepare(read_post(post))


def test_each_distinct_passage_is_encoded_once(
    tmp_path: Path, model: str, encoder: BuiltinEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[list[int]] = []
    encode = BuiltinEncoder.encode_tokens

    def noted(self: BuiltinEncoder, rows: Any, careful: int, *, steady: bool) -> Any:
        read.extend(row.tolist() for row in rows)
        return encode(self, rows, careful, steady=steady)

    monkeypatch.setattr(BuiltinEncoder, "encode_tokens", noted)
    # Answers to one question, a copy of one, and a body that equals this question.
    answer = Post(id="copy", title="Sums", question=EVEN, body=ODD, language="en")
    posts = [replace(answer, id=f"{number}", body=text) for number, text in enumerate(TEXTS)]
    posts += [answer, Post(id="question", body=f"Sums\n\n{EVEN}", language="en")]
    folder = built(
        tmp_path / "index", posts, choose(model, tokens=8, question_passages=9, body_passages=9)
    )
    monkeypatch.undo()
    assert len(read) == len({tuple(row) for row in read})
    vectors, scales = np.load(folder / "vectors.npy"), np.load(folder / "scales.npy")
    texts = [text for post in posts[:-1] for text in (f"Sums\n\n{EVEN}", post.body)]
    rows = [
        passage
        for tokens in encoder.tokens([*texts, f"\n\n{posts[-1].body}"])
        for passage in passages(tokens, 8, 9)
    ]
    assert len(read) < len(rows) / 2
    expected, expected_scales = quantize_int8(encoder.encode_tokens(rows))
    assert (vectors == expected).all()
    assert (scales == expected_scales).all()


@pytest.mark.thorough
def test_the_batch_size_does_not_change_the_bytes_of_an_index(
    tmp_path: Path, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    posts = [
        Post(id=f"{first} {second}", title=first[:20], question=first, body=second)
        for first in TEXTS
        for second in TEXTS
    ]
    whole = built(tmp_path / "whole", posts, choose(model, tokens=16))
    monkeypatch.setattr(meaning, "_BATCH_SIZE", 3)
    builder = MeaningBuilder(choose(model, tokens=16))
    index_posts([builder], map(Stored.of, posts), processes=2)
    builder.write(tmp_path / "parts")
    for file in whole.iterdir():
        assert file.read_bytes() == (tmp_path / "parts" / file.name).read_bytes(), file.name


def test_two_models_read_their_own_passages(tmp_path: Path, model: str) -> None:
    other = str(make_builtin(tmp_path / "other", dimensions=32))
    builders = [MeaningBuilder(choose(name)) for name in (model, other, model)]
    index_posts(builders, map(Stored.of, of_bodies(*TEXTS)))
    for number, builder in enumerate(builders):
        builder.write(tmp_path / str(number))
    sizes = [np.load(tmp_path / str(number) / "vectors.npy").shape for number in range(3)]
    assert sizes == [(6, 64), (6, 32), (6, 64)]
    one, same = ((tmp_path / name / "vectors.npy").read_bytes() for name in "02")
    assert one == same


def test_torch_encodes_the_same_posts_to_nearly_the_same_vectors(
    tmp_path: Path, model: str
) -> None:
    pytest.importorskip("torch")
    here = built(tmp_path / "here", of_bodies(*TEXTS, *TEXTS), choose(model))
    recipe = load_recipe("meaning", [f"parts.meaning.model={model}"])
    posts = of_bodies(*TEXTS, *TEXTS)
    build_library(tmp_path / "l", posts[:9], recipe, processes=2, device="cpu:0")
    add_posts(tmp_path / "l", posts[9:], processes=2, device="cpu:0")
    there = [tmp_path / "l" / "segments" / name / "meaning" for name in ("000001", "000002")]
    vectors = np.concatenate([np.load(folder / "vectors.npy") for folder in there])
    assert np.abs(vectors.astype(int) - np.load(here / "vectors.npy")).max() <= 2
    with Library(tmp_path / "l") as library:
        assert library.search(BOUNDED, k=1)[0].id == "1"


@pytest.mark.parametrize("change", [build_library, add_posts])
def test_an_unknown_device_is_refused_before_any_post_is_read(
    tmp_path: Path, change: Callable[..., object]
) -> None:
    def posts() -> Iterator[Post]:
        raise AssertionError("posts were read")
        yield

    with pytest.raises(
        (InputError, MissingExtra), match=r"cannot be used|device 'abacus' is not known"
    ):
        change(tmp_path / "library", posts(), device="abacus")
    assert not any(tmp_path.iterdir())


@pytest.mark.thorough
@pytest.mark.parametrize("processes", [1, 2])
def test_a_library_can_be_built_extended_and_searched(
    tmp_path: Path, model: str, processes: int
) -> None:
    recipe = load_recipe("meaning", [f"parts.meaning.model={model}"])
    build_library(tmp_path / "library", of_bodies(*TEXTS[:4]), recipe, processes=processes)
    more = [Post(id="hi", body=HINDI, language="hi"), Post(id="es", body=SPANISH, language="es")]
    add_posts(tmp_path / "library", more, processes=processes)
    library = Library(tmp_path / "library")
    assert [library.search(text)[0].id for text in TEXTS] == ["0", "1", "2", "3", "hi", "es"]
    [hit] = library.search(BOUNDED, k=1)
    assert any(reason.part == "meaning" and BOUNDED in reason.detail for reason in hit.reasons)


def test_means_of_posts_have_length_one_and_are_the_same_the_second_time(
    tmp_path: Path, model: str
) -> None:
    retriever = opened(tmp_path / "index", of_bodies(*TEXTS), choose(model))
    numbers = np.array([3, 0, 3])
    first, again = retriever.means(numbers), retriever.means(numbers)
    assert np.array_equal(first, again)
    assert np.array_equal(first[0], first[2])
    assert np.allclose(np.linalg.norm(first, axis=1), 1, atol=1e-5)
    assert retriever.means(np.zeros(0, dtype=np.int64)).shape == (0, first.shape[1])
    parts = [
        built(tmp_path / "a", of_bodies(*TEXTS[:2]), choose(model)),
        built(tmp_path / "b", of_bodies(*TEXTS[2:]), choose(model)),
    ]
    [reply] = MeaningRetriever(parts, choose(model)).ask([asked(EVEN)])
    assert np.array_equal(reply.means(numbers), first)


def test_a_merged_segment_equals_one_built_from_the_kept_posts(
    tmp_path: Path, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    choices = choose(model)
    posts = [*of_bodies(*TEXTS[:3]), Post(id="q", title="Sums", question=ODD, body=EVEN)]
    parts = [built(tmp_path / "a", posts[:2], choices), built(tmp_path / "b", posts[2:], choices)]
    sources = [
        WrittenSegment(parts[0], np.array([1]), [""]),
        WrittenSegment(parts[1], np.array([0, 1]), ["", ""]),
    ]
    monkeypatch.setattr(meaning, "_MERGE_BATCH_SIZE", 2)
    MeaningBuilder(choices).merge(sources, tmp_path / "new" / "merged")
    for file in built(tmp_path / "other" / "kept", posts[1:], choices).iterdir():
        assert (tmp_path / "new" / "merged" / file.name).read_bytes() == file.read_bytes()
    MeaningBuilder(choices).merge(sources[1:], tmp_path / "alone")
    for file in parts[1].iterdir():
        assert (tmp_path / "alone" / file.name).read_bytes() == file.read_bytes()


@pytest.mark.parametrize("is_asked", [False, True])
def test_a_reason_quotes_a_sentence_from_the_passage_that_has_it(
    tmp_path: Path, model: str, encoder: BuiltinEncoder, is_asked: bool
) -> None:
    """One text has two passages, its first sentence and the two others; the other text has one."""
    long = f"{ODD} {EVEN} It is."
    sizes = [len(row) for row in encoder.tokens([ODD, f"{ODD} {EVEN}", long])]
    assert sizes[1] < sizes[2] <= 2 * sizes[0]
    most = {"question_passages": 1 + is_asked, "body_passages": 2 - is_asked}
    question, body = (long, BOUNDED) if is_asked else (BOUNDED, long)
    posts = [*of_bodies(COMPACT), Post(id="1", question=question, body=body)]
    retriever = opened(tmp_path / "index", posts, choose(model, tokens=sizes[1], **most))
    reason = retriever.ask([asked(EVEN)])[0].reason(1, posts[1])
    assert reason.detail.endswith(EVEN)
