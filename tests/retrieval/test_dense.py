"""Dense search: cosines of an encoder's vectors, flat or through inverted lists.

The encoder here gives each word its own direction, so texts are similar if they share words. Real
models are tested in `tests/encoders`.
"""

from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from mathsetu.errors import InputError
from mathsetu.intake import MarkedText
from mathsetu.intake.question import Question
from mathsetu.library.build import index_posts
from mathsetu.library.store import Stored
from mathsetu.plain_files import files_below
from mathsetu.records import Post, Query
from mathsetu.retrieval import dense
from mathsetu.retrieval.base import WrittenSegment
from mathsetu.retrieval.dense import DenseBuilder, DenseRetriever, DenseSettings, encoder_text
from mathsetu.retrieval.ivf import Division

BODIES = [
    "The sum of two even numbers is even. Proof: factor out two.",
    "Every bounded sequence has a convergent subsequence.",
    "",
    "A continuous function on a compact set is bounded. It attains its maximum.",
    "योग सम है",
]


class WordEncoder:
    """Sums one random direction for each word."""

    dimensions = 64

    def __init__(self) -> None:
        self.encoded: list[str] = []

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.encoded += texts
        rows = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in text.lower().split():
                seed = int.from_bytes(blake2b(word.encode(), digest_size=4).digest())
                row += np.random.default_rng(seed).standard_normal(self.dimensions)
            row /= np.linalg.norm(row) or 1
        return rows


@pytest.fixture
def encoder(monkeypatch: pytest.MonkeyPatch) -> WordEncoder:
    encoder = WordEncoder()
    monkeypatch.setattr(dense, "load_encoder", lambda model, max_tokens: encoder)
    return encoder


def built(folder: Path, bodies: Sequence[str], choices: DenseSettings) -> Path:
    builder = DenseBuilder(choices)
    posts = [Post(id=str(number), body=body) for number, body in enumerate(bodies)]
    index_posts([builder], map(Stored.of, posts))
    builder.write(folder)
    return folder


def many(count: int) -> list[str]:
    """Posts about one of forty subjects each; the subjects share some of their words."""
    draw = np.random.default_rng(7)
    bodies = []
    for number in range(count):
        subject = [f"s{number % 40}w{word}" for word in draw.integers(0, 12, 8)]
        bodies.append(" ".join([*subject, *(f"w{word}" for word in draw.integers(0, 300, 6))]))
    return bodies


def asked(text: str, title: str = "") -> Question:
    return Question(Query(id="q", text=text, title=title))


@pytest.mark.usefixtures("encoder")
def test_the_nearest_post_ranks_first_and_blank_texts_are_never_found(tmp_path: Path) -> None:
    choices = DenseSettings("m", text="words")
    retriever = DenseRetriever([built(tmp_path / "index", BODIES, choices)], choices)
    replies = retriever.ask([asked("convergent sequence"), asked("$x$")])
    found, nothing = (reply.best(5) for reply in replies)
    assert found.numbers[0] == 1
    assert 2 not in found.numbers
    assert sorted(found.scores, reverse=True) == found.scores.tolist()
    assert not len(nothing.numbers)


@pytest.mark.thorough
@pytest.mark.usefixtures("encoder")
def test_scores_of_given_posts_are_bit_identical_to_those_of_the_search(tmp_path: Path) -> None:
    choices = DenseSettings("m")
    retriever = DenseRetriever([built(tmp_path / "index", many(300), choices)], choices)
    question = asked("s3w1 s3w2 w17")
    found = retriever.ask([question])[0].best(50)
    assert (retriever.ask([question])[0].scores(found.numbers) == found.scores).all()
    few = found.numbers[[5, 2]]
    assert retriever.ask([question])[0].scores(few).tolist() == found.scores[[5, 2]].tolist()


@pytest.mark.parametrize("index", ["flat", "ivf", "adaptive"])
@pytest.mark.usefixtures("encoder")
@pytest.mark.thorough
def test_segments_are_searched_as_one_collection(tmp_path: Path, index: str) -> None:
    if index != "flat":
        pytest.importorskip("faiss")
    bodies, choices = many(400), DenseSettings("m", index=index, nlist=8, nprobe=8)
    whole = DenseRetriever([built(tmp_path / "whole", bodies, choices)], choices)
    parts = [
        built(tmp_path / "a", bodies[:90], choices),
        built(tmp_path / "b", bodies[90:], choices),
    ]
    split = DenseRetriever(parts, choices)
    # So many posts are requested that every list is visited and the result is exact.
    question = asked("s3w1 s3w2 w17")
    assert (
        split.ask([question])[0].best(100).numbers.tolist()
        == whole.ask([question])[0].best(100).numbers.tolist()
    )


@pytest.mark.thorough
@pytest.mark.parametrize("index", ["flat", "ivf", "adaptive"])
@pytest.mark.usefixtures("encoder")
def test_only_allowed_posts_are_found_and_few_allowed_posts_exactly(
    tmp_path: Path, index: str
) -> None:
    if index != "flat":
        pytest.importorskip("faiss")
    bodies, choices = many(600), DenseSettings("m", index=index, nlist=20, nprobe=2)
    retriever = DenseRetriever([built(tmp_path / "index", bodies, choices)], choices)
    question = asked("s3w1 s3w2 w17")
    half = np.arange(600) % 2 == 0
    found = retriever.ask([question])[0].best(30, half)
    assert len(found.numbers)
    assert half[found.numbers].all()
    few = np.zeros(600, dtype=np.bool_)
    few[[3, 44, 83]] = True
    scores = retriever.ask([question])[0].scores(np.array([3, 44, 83]))
    found = retriever.ask([question])[0].best(30, few)
    assert set(found.numbers.tolist()) == set(np.array([3, 44, 83])[scores > 0].tolist())


@pytest.mark.usefixtures("encoder")
def test_adaptive_lists_find_nearly_all_posts_of_the_exact_search(tmp_path: Path) -> None:
    pytest.importorskip("faiss")
    bodies = many(3000)
    flat, adaptive = DenseSettings("m"), DenseSettings("m", index="adaptive")
    exact = DenseRetriever([built(tmp_path / "flat", bodies, flat)], flat)
    quick = DenseRetriever([built(tmp_path / "ivf", bodies, adaptive)], adaptive)
    questions = [asked(f"s{n}w1 s{n}w2 s{n}w3") for n in range(40)]
    shared = [
        len(np.intersect1d(one.numbers, other.numbers)) / len(one.numbers)
        for one, other in zip(
            (reply.best(10) for reply in exact.ask(questions)),
            (reply.best(10) for reply in quick.ask(questions)),
            strict=True,
        )
    ]
    assert np.mean(shared) >= 0.95


def test_small_collections_have_fewer_lists_and_larger_requests_visit_more() -> None:
    fixed, adaptive = Division(100, 10), Division(0, 0)
    assert fixed.lists(0) == fixed.lists(9) == 1
    assert fixed.lists(5000) == 100
    assert fixed.probes(4, 40, wanted=500) == 4
    lists = adaptive.lists(40_000)
    assert adaptive.probes(lists, 40_000, 10) < adaptive.probes(lists, 40_000, 5000) <= lists
    sizes = [adaptive.lists(count) for count in range(0, 100_000, 500)]
    assert sizes == sorted(sizes)


@pytest.mark.parametrize("index", ["flat", "ivf", "adaptive"])
@pytest.mark.usefixtures("encoder")
@pytest.mark.thorough
def test_the_same_posts_give_the_same_bytes(tmp_path: Path, index: str) -> None:
    if index != "flat":
        pytest.importorskip("faiss")
    first, second = (
        built(tmp_path / name, many(700), DenseSettings("m", index=index)) for name in "ab"
    )
    files = [file.relative_to(first) for file in files_below(first)]
    assert len(files) == (3 if index == "flat" else 6)
    for file in files:
        assert (first / file).read_bytes() == (second / file).read_bytes(), file


@pytest.mark.parametrize("bodies", [[], [""], ["one post"]])
@pytest.mark.usefixtures("encoder")
def test_a_collection_of_at_most_one_post_can_be_divided(tmp_path: Path, bodies: list[str]) -> None:
    pytest.importorskip("faiss")
    choices = DenseSettings("m", index="ivf")
    retriever = DenseRetriever([built(tmp_path / "index", bodies, choices)], choices)
    found = retriever.ask([asked("post")])[0].best(5)
    assert len(found.numbers) == (bodies == ["one post"])


def test_a_query_is_encoded_once(tmp_path: Path, encoder: WordEncoder) -> None:
    choices = DenseSettings("m")
    retriever = DenseRetriever([built(tmp_path / "index", BODIES, choices)], choices)
    question = asked("bounded sequence")
    for reply in retriever.ask([question, question]):
        reply.best(3)
        reply.scores(np.array([0]))
    assert encoder.encoded.count("bounded sequence") == 1


def test_the_model_gets_prefixes_words_and_latin_letters(
    tmp_path: Path, encoder: WordEncoder
) -> None:
    choices = DenseSettings(
        "m", text="words", transliterate="itrans", query_prefix="query: ", post_prefix="post: "
    )
    retriever = DenseRetriever([built(tmp_path / "index", BODIES, choices)], choices)
    retriever.ask([asked("Is $x$ Even?", title="Sums")])
    assert "post: yog sam hai" in encoder.encoded
    assert "" in encoder.encoded
    assert encoder.encoded[-1] == "query: sums is even"


@pytest.mark.usefixtures("encoder")
def test_the_reason_is_the_cosine_and_the_nearest_sentence(tmp_path: Path) -> None:
    choices = DenseSettings("m")
    retriever = DenseRetriever([built(tmp_path / "index", BODIES, choices)], choices)
    question = asked("attains its maximum.")
    [reply] = retriever.ask([question])
    reason = reply.reason(3, Post("", ""))
    assert reason.score == pytest.approx(float(reply.scores(np.array([3]))[0]))
    assert reason.detail == f"cosine {reason.score:.2f}: It attains its maximum."
    assert reply.reason(2, Post("", "")).detail == ""


@pytest.mark.usefixtures("encoder")
def test_vectors_of_another_model_are_refused_with_the_remedy(tmp_path: Path) -> None:
    choices = DenseSettings("m")
    folder = built(tmp_path / "index", BODIES, choices)
    np.save(folder / "vectors.npy", np.ones((5, 3), dtype=np.float32))
    with pytest.raises(InputError, match="gives vectors of 64 dimensions, the library holds 3"):
        DenseRetriever([folder], choices).ask([asked("even")])


@pytest.mark.usefixtures("encoder")
def test_damaged_files_are_refused(tmp_path: Path) -> None:
    pytest.importorskip("faiss")
    choices = DenseSettings("m", index="ivf")
    folder = built(tmp_path / "index", BODIES, choices)
    posts = folder / "lists" / "posts.npy"
    listed = np.load(posts)
    np.save(posts, listed + len(BODIES))
    with pytest.raises(InputError, match=r"posts\.npy: holds a number that is out of range"):
        DenseRetriever([folder], choices).ask([asked("even")])[0].best(3)
    posts.write_bytes(b"not an array")
    with pytest.raises(InputError, match=r"posts\.npy: is damaged"):
        DenseRetriever([folder], choices)
    np.save(posts, listed)
    ends = folder / "lists" / "ends.npy"
    divided = np.load(ends)
    np.save(ends, divided[::-1])
    with pytest.raises(InputError, match=r"ends\.npy: does not match"):
        DenseRetriever([folder], choices).ask([asked("even")])[0].best(3)
    np.save(ends, divided)
    (folder / "vectors.npy").write_bytes(b"")
    with pytest.raises(InputError, match=r"vectors\.npy: is damaged"):
        DenseRetriever([folder], choices)


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"index": "hnsw"}, "index is 'hnsw'"),
        ({"text": "letters"}, "text is 'letters'"),
        ({"transliterate": "iast"}, "transliterate is 'iast'"),
        ({"fields": ("tags",)}, "'tags' is not title, body or question"),
        ({"nprobe": 0}, "must be at least 1"),
    ],
)
def test_invalid_settings_are_refused_by_name(choice: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        DenseSettings("m", **choice)  # type: ignore[arg-type]


def test_the_model_reads_stems_without_stop_words_if_the_settings_say_so(
    tmp_path: Path, encoder: WordEncoder
) -> None:
    choices = DenseSettings("m", text="words", stop_words="drop", stem=True, transliterate="itrans")
    place = built(tmp_path / "index", ["The sums of $x^2$ are bounded.", "यह योग सम है"], choices)
    assert encoder.encoded == ["sum bound", "yog sam"]
    reply = DenseRetriever([place], choices).ask([asked("Is the sum bounded?")])[0]
    assert reply.best(2).numbers.tolist()[0] == 0
    assert encoder.encoded[-1] == "sum bound"


def test_the_settings_stop_words_and_stem_need_text_words() -> None:
    with pytest.raises(InputError, match="need text = 'words'"):
        DenseSettings("m", stem=True)
    with pytest.raises(InputError, match="stop_words is 'no' "):
        DenseSettings("m", text="words", stop_words="no")


@pytest.mark.usefixtures("encoder")
def test_a_merged_segment_equals_one_built_from_the_kept_posts(tmp_path: Path) -> None:
    choices = DenseSettings("m")
    parts = [built(tmp_path / "a", BODIES[:2], choices), built(tmp_path / "b", BODIES[2:], choices)]
    sources = [
        WrittenSegment(parts[0], np.array([1]), [""]),
        WrittenSegment(parts[1], np.array([0, 1, 2]), ["", "", ""]),
    ]
    DenseBuilder(choices).merge(sources, tmp_path / "new" / "merged")
    for file in built(tmp_path / "other" / "kept", BODIES[1:], choices).iterdir():
        assert (tmp_path / "new" / "merged" / file.name).read_bytes() == file.read_bytes()
    DenseBuilder(choices).merge(sources[1:], tmp_path / "alone")
    for file in parts[1].iterdir():
        assert (tmp_path / "alone" / file.name).read_bytes() == file.read_bytes()


@pytest.mark.usefixtures("encoder")
def test_a_post_is_found_once(tmp_path: Path) -> None:
    folder = built(tmp_path / "index", BODIES, DenseSettings("m"))
    [reply] = DenseRetriever([folder], DenseSettings("m")).ask([asked("sum of even numbers")])
    numbers = reply.best(5).numbers.tolist()
    assert numbers[0] == 0
    assert len(set(numbers)) == len(numbers)


@pytest.mark.parametrize(
    ("allowed", "expected"),
    [
        (None, [2, 3, 8]),
        # More posts are allowed than a list has: the lists are searched.
        ([1, 2, 3, 4], [2, 3]),
        # No more are allowed than a list has: all of them are compared.
        ([1, 2, 4], [1, 2]),
        ([1, 2, 4, 8], [1, 2, 8]),
        ([7, 10], [7]),
    ],
)
@pytest.mark.usefixtures("encoder")
def test_posts_of_lists_that_are_not_visited_are_found_if_few_posts_are_allowed(
    tmp_path: Path, allowed: list[int] | None, expected: list[int]
) -> None:
    bodies = ["ring", "sum", "sum of odd", "sum of even and odd", "field", "group"]
    folders = [built(tmp_path / name, bodies, DenseSettings("m")) for name in "ab"]
    for folder in folders:
        # The matching post is in the farther of two lists.
        centre = np.load(folder / "vectors.npy")[1]
        (folder / "lists").mkdir()
        np.save(folder / "lists" / "centres.npy", np.stack([centre, -centre]))
        np.save(folder / "lists" / "posts.npy", np.array([0, 2, 3, 1, 4, 5], dtype=np.int32))
        np.save(folder / "lists" / "ends.npy", np.array([0, 3, 6]))
    retriever = DenseRetriever(folders, DenseSettings("m", index="ivf", nprobe=1))
    may = None if allowed is None else np.isin(np.arange(12), allowed)
    found = retriever.ask([asked("sum")])[0].best(3, may)
    assert sorted(found.numbers[found.scores > 0.4].tolist()) == expected


@pytest.mark.usefixtures("encoder")
def test_the_chunk_size_does_not_change_the_bytes_of_an_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = built(tmp_path / "whole", BODIES, DenseSettings("m"))
    for size in (2, 5):
        monkeypatch.setattr(dense, "_CHUNK", size)
        parts = built(tmp_path / str(size), BODIES, DenseSettings("m"))
        for file in whole.iterdir():
            assert (parts / file.name).read_bytes() == file.read_bytes()


@pytest.mark.parametrize(
    ("choices", "expected"),
    [
        ({}, "are the sums bounded"),
        ({"stem": True}, "are the sum bound"),
        ({"stop_words": "drop"}, "sums bounded"),
        ({"stem": True, "stop_words": "drop"}, "sum bound"),
    ],
)
def test_stems_and_stop_words_are_independent_settings(
    choices: dict[str, object], expected: str
) -> None:
    settings = DenseSettings("m", text="words", **choices)  # type: ignore[arg-type]
    assert encoder_text(MarkedText("Are the sums bounded?"), settings, "en") == expected


@pytest.mark.usefixtures("encoder")
@pytest.mark.parametrize(("before", "is_quoted"), [(23, True), (24, False)])
def test_a_reason_compares_only_the_first_twenty_four_sentences(
    tmp_path: Path, before: int, is_quoted: bool
) -> None:
    choices = DenseSettings("m")
    folder = built(tmp_path / "index", ["A set is open. " * before + "Rings exist."], choices)
    [reply] = DenseRetriever([folder], choices).ask([asked("rings exist.")])
    assert reply.reason(0, Post("", "")).detail.endswith("Rings exist.") == is_quoted


def test_settings_have_these_defaults() -> None:
    choices = DenseSettings("m")
    assert (choices.index, choices.text, choices.max_tokens) == ("flat", "marked", 0)
    assert choices.division == Division(100, 10)
    assert DenseSettings("m", index="adaptive").division == Division(0, 0)
    assert DenseSettings("m", nlist=1, nprobe=1).division == Division(1, 1)


@pytest.mark.usefixtures("encoder")
def test_an_index_without_posts_can_be_searched(tmp_path: Path) -> None:
    folder = built(tmp_path / "index", [], DenseSettings("m"))
    retriever = DenseRetriever([folder], DenseSettings("m"))
    assert retriever.ask([asked("even")])[0].best(3).numbers.tolist() == []
