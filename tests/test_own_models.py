"""Encoders, rerankers and translators as objects, in recipes that name them."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mathsetu
from mathsetu import InputError, Post, own_models
from mathsetu.languages.translate import open_translator
from mathsetu.recipes import load_recipe
from mathsetu.recipes.schema import parse_recipe
from mathsetu.records import Query
from tests.light import LIGHT

POSTS = [
    Post("primes", "There are infinitely many prime numbers.", language="en"),
    Post("circle", "The area of a circle is $\\pi r^2$.", language="en"),
    Post("matrix", "A matrix is invertible when its determinant is not zero.", language="en"),
]
DENSE = """
name = "own"
description = "A dense part with an object"
[parts.vectors]
kind = "dense"
model = "object:hashing"
[ranking]
weights = { vectors = 1.0 }
"""


class Hashing:
    """An encoder without a model: it hashes words into buckets."""

    dimensions = 64

    def encode(self, texts: Sequence[str]) -> list[list[float]]:
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> list[float]:
        vector = [0.0] * self.dimensions
        for word in text.lower().split():
            bucket = hashlib.blake2b(word.strip(".,?").encode(), digest_size=2).digest()
            vector[int.from_bytes(bucket, "big") % self.dimensions] += 1.0
        return vector


class Longest:
    def score(self, question: str, texts: Sequence[str]) -> list[int]:
        return [len(text) for text in texts]


class Backwards:
    """A translator that reverses every word except the masks of formulas."""

    def translate(self, sentences: Sequence[str], source: str, target: str) -> list[str]:
        return [
            " ".join(word if "QZ" in word else word[::-1] for word in sentence.split())
            for sentence in sentences
        ]


@pytest.fixture(autouse=True)
def nothing_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_models, "_registered", {})


@pytest.mark.thorough
@pytest.mark.parametrize("processes", [1, 2])
def test_a_library_is_built_and_searched_with_a_registered_encoder(
    tmp_path: Path, processes: int
) -> None:
    assert mathsetu.register("hashing", encoder=Hashing()) == "object:hashing"
    recipe = parse_recipe(DENSE, "tests")
    mathsetu.build_library(tmp_path / "library", POSTS, recipe, processes=processes)
    with mathsetu.open(tmp_path / "library") as library:
        hits = library.search("the area of a circle", 1)
        assert [hit.id for hit in hits] == ["circle"]
        assert "cosine" in hits[0].reasons[0].detail
        assert 0 < hits[0].reasons[0].score <= 1.0001


def test_the_error_names_an_object_that_is_not_registered(tmp_path: Path) -> None:
    recipe = parse_recipe(DENSE, "tests")
    problem = r"object:hashing: no encoder has this name; call mathsetu.register\('hashing', enc"
    with pytest.raises(InputError, match=problem):
        mathsetu.build_library(tmp_path / "library", POSTS, recipe, processes=1)
    mathsetu.register("hashing", encoder=Hashing())
    mathsetu.build_library(tmp_path / "library", POSTS, recipe, processes=1)
    own_models._registered.clear()
    with mathsetu.open(tmp_path / "library") as library, pytest.raises(InputError, match=problem):
        library.search("circle")


def test_an_encoder_with_other_dimensions_than_the_library_is_refused(tmp_path: Path) -> None:
    mathsetu.register("hashing", encoder=Hashing())
    mathsetu.build_library(tmp_path / "l", POSTS, parse_recipe(DENSE, "tests"), processes=1)
    other = Hashing()
    other.dimensions = 32
    mathsetu.register("hashing", encoder=other)
    with mathsetu.open(tmp_path / "l") as library, pytest.raises(InputError, match="32 dimensions"):
        library.search("circle")


def test_a_registered_reranker_orders_the_hits(tmp_path: Path) -> None:
    mathsetu.build_library(tmp_path / "l", POSTS, LIGHT, processes=1)
    mathsetu.register("longest", reranker=Longest())
    settings = ["rerank.model=object:longest", "rerank.tiers=[]"]
    with mathsetu.Library(tmp_path / "l", settings) as library:
        hits = library.search("prime circle matrix", 3)
    assert [hit.id for hit in hits] == ["matrix", "primes", "circle"]


def test_a_registered_translator_translates_queries_and_keeps_formulas(tmp_path: Path) -> None:
    mathsetu.register("backwards", translator=Backwards())
    [done] = open_translator("object:backwards").translate(["emirp $x^2$ rebmun"], "es", "en")
    assert done.text == "prime $x^2$ number"
    mathsetu.build_library(tmp_path / "l", POSTS, LIGHT, processes=1)
    settings = ["query.translate=en", "query.backend=object:backwards"]
    with mathsetu.Library(tmp_path / "l", settings) as library:
        assert library.search("emirp srebmun", 1, language="es")[0].id == "primes"


def test_models_of_sentence_transformers_can_be_registered_directly() -> None:
    package = pytest.importorskip("sentence_transformers")
    torch = pytest.importorskip("torch")

    class Lengths(torch.nn.Module):  # type: ignore[misc, name-defined]
        """The smallest module that sentence-transformers accepts as a model."""

        def tokenize(self, texts: list[str], **_: Any) -> dict[str, Any]:
            return {"lengths": torch.tensor([[float(len(text)), 1.0] for text in texts])}

        preprocess = tokenize

        def forward(self, features: dict[str, Any], **_: Any) -> dict[str, Any]:
            return features | {"sentence_embedding": features["lengths"]}

    model = package.SentenceTransformer(modules=[Lengths()], device="cpu")
    mathsetu.register("lengths", encoder=model)
    vectors = own_models.registered("encoder", "object:lengths").encode(["ab", "", "abcd"])
    assert vectors.shape == (3, 2)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 0, 1])


class Predicting:
    def predict(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray[Any, Any]:
        return np.array([len(text) for _, text in pairs])


def test_a_cross_encoder_that_predicts_pairs_is_accepted_as_a_reranker() -> None:
    mathsetu.register("predicting", reranker=Predicting())
    found = own_models.registered("reranker", "object:predicting")
    assert found.score("q", ["a", "bb"]) == [1.0, 2.0]


@pytest.mark.parametrize(
    ("name", "given", "problem"),
    [
        ("", {"encoder": Hashing()}, "the name is ''"),
        ("a b", {"encoder": Hashing()}, "the name is 'a b'"),
        (5, {"encoder": Hashing()}, "the name is 5"),
        ("x", {}, "give one object, as encoder, reranker or translator"),
        ("x", {"encoder": Hashing(), "reranker": Longest()}, "give one object"),
        ("x", {"encoder": Hashing}, "is the class Hashing; give an object"),
        ("x", {"encoder": Longest()}, r"a Longest has no method encode\(texts\)"),
        ("x", {"reranker": Hashing()}, r"no method score\(question, texts\)"),
        ("x", {"translator": "glossary"}, r"a str has no method translate\(sentences"),
    ],
)
def test_an_unusable_name_or_object_is_refused_at_registration(
    name: Any, given: dict[str, Any], problem: str
) -> None:
    with pytest.raises(InputError, match=problem):
        mathsetu.register(name, **given)


class Wrong:
    def __init__(self, answer: Any) -> None:
        self._answer = answer

    def encode(self, texts: Sequence[str]) -> Any:
        return self._answer

    score = translate = lambda self, *_: self._answer


@pytest.mark.parametrize(
    ("kind", "answer", "problem"),
    [
        ("encoder", [1.0, 2.0], r"shape \(2,\) for 1 texts"),
        ("encoder", [[1.0], [2.0]], r"shape \(2, 1\) for 1 texts"),
        ("encoder", [["x"]], "no array of numbers"),
        ("encoder", [[float("nan")]], "not finite"),
        ("encoder", None, "no array of numbers|shape"),
        ("reranker", [1.0, 2.0], "2 scores for 1 texts"),
        ("reranker", ["high"], "no list of scores"),
        ("reranker", None, "no list of scores"),
        ("translator", "a", "no list of sentences"),
        ("translator", [1], "no list of sentences"),
    ],
)
def test_the_error_for_wrong_results_of_an_object_names_the_object(
    kind: str, answer: Any, problem: str
) -> None:
    mathsetu.register("wrong", **{kind: Wrong(answer)})
    found = own_models.registered(kind, "object:wrong")
    work = {
        "encoder": lambda: found.encode(["x"]),
        "reranker": lambda: found.score("q", ["x"]),
        "translator": lambda: found.translate(["x"], "en", "es"),
    }
    with pytest.raises(InputError, match=f"object:wrong: .*({problem})"):
        work[kind]()


@pytest.mark.thorough
def test_miracle_2_finds_candidates_by_formulas_for_a_query_without_words(
    tmp_path: Path,
) -> None:
    mathsetu.register("hashing", encoder=Hashing())
    long = (
        "The area of a circle of radius $r$ with centre $m$ is given by $\\pi r^2$ as we all know"
    )
    settings = ["parts.text.model=object:hashing", "parts.text.index=flat"]
    recipe = load_recipe("miracle-2", settings)
    mathsetu.build_library(tmp_path / "one", [Post("circle", long, language="en")], recipe)
    with mathsetu.Library(tmp_path / "one") as library:
        run = library.run([Query("q", "$\\pi r^2$", language="en")])
    assert [hit.id for hit in run.rankings["q"]] == ["circle"]
