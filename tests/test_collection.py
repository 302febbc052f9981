"""The generated collection for benchmarks: real sentences, recombined by a seed."""

import json
import lzma
from collections import Counter
from pathlib import Path

import pytest

from benchmarks.collection import Material, write
from mathsetu.collections.jsonl import read_posts

PAIRS = [
    {"q": "What is $x^2$? It has $2$ roots.", "a": "Let $x = 3$. Then $x^2 = 9$.", "lang": "en"},
    {"q": "Find the area.", "a": "It costs $8 each. The other is $9 each.", "lang": "en"},
    {"q": "कितने हैं?", "a": "दस हैं। $x$ भी है।", "lang": "hi"},
]
FORMULAS = ["\\frac{a}{b}\tbook\t", "and so we have that\tbook\t", "f(x) = 10\tbook\tTitle"]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A small copy of the real data's folders."""
    training = tmp_path / "training"
    training.mkdir()
    for name, lines in (("qa.jsonl", map(json.dumps, PAIRS)), ("formulas.tsv", FORMULAS)):
        with lzma.open(training / f"{name}.xz", "wt", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in lines)
    return tmp_path


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others(
    data: Path, tmp_path: Path
) -> None:
    paths = [tmp_path / name for name in ("first", "second", "third")]
    for path, seed in zip(paths, (7, 7, 8), strict=True):
        write(path, Material(data).posts(50, seed))
    first, second, third = (path.read_bytes() for path in paths)
    assert first == second != third


def test_a_post_is_the_same_in_collections_of_all_sizes(data: Path) -> None:
    material = Material(data)
    small, large = list(material.posts(20, 7)), list(material.posts(60, 7))
    for one, other in zip(small, large, strict=False):
        assert {**one, "tags": None} == {**other, "tags": None}
    assert sum("rare" in post.get("tags", []) for post in large) == 10


def test_posts_are_read_back_and_have_only_proper_sentences_of_one_language(
    data: Path, tmp_path: Path
) -> None:
    write(tmp_path / "posts.jsonl", Material(data).posts(200, 7))
    posts = list(read_posts(tmp_path / "posts.jsonl"))
    assert len(posts) == len({post.id for post in posts}) == 200
    assert {post.language for post in posts} == {"en", "hi"}
    assert any(post.formulas for post in posts)
    for post in posts:
        text = f"{post.title} {post.question} {post.body}"
        assert ("है" in text or "हैं" in text) == (post.language == "hi")
        # Amounts of money are not formulas, and neither is prose between formulas.
        assert "each" not in text
        assert "so we have" not in text


@pytest.mark.shared
@pytest.mark.exhaustive
@pytest.mark.thorough
def test_the_real_collection_has_real_frequencies_and_mostly_unique_formulas(
    shared_data: Path,
) -> None:
    if not (shared_data / "training" / "qa.jsonl.xz").is_file():
        pytest.skip("the training data is not beside the repository")
    material = Material(shared_data)
    assert len(material.shapes) > 100_000
    posts = list(material.posts(4000, 7))
    text = " ".join(f"{post['title']} {post.get('question', '')} {post['body']}" for post in posts)
    formulas = Counter(text.split("$")[1::2])
    assert 5 < sum(formulas.values()) / len(posts) < 15
    # The most frequent formulas are letters, as in real collections, and most occur once.
    assert {len(latex) for latex, _ in formulas.most_common(5)} == {1}
    assert sum(count == 1 for count in formulas.values()) > 0.5 * len(formulas)
    own = Counter(post["language"] for post in posts)
    real = Counter(language for language, _, _ in material.shapes)
    for language in ("en", "hi", "es"):
        assert own[language] / 4000 == pytest.approx(
            real[language] / len(material.shapes), abs=0.03
        )
