"""Adding languages to a finished model: what is added, and what is unchanged."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch: Any = pytest.importorskip("torch")
pytest.importorskip("onnx")

from mathsetu.encoders.builtin import CAREFUL, WIDE, BuiltinEncoder  # noqa: E402
from mathsetu.errors import InputError  # noqa: E402
from mathsetu.training.encoder.more_tokens import extend  # noqa: E402
from mathsetu.training.encoder.restore import restore_network  # noqa: E402
from mathsetu.training.encoder.widen import read_pairs  # noqa: E402
from tests.encoders.tiny_builtin import TEXTS, make_builtin  # noqa: E402
from tests.training.encoder.command import call  # noqa: E402
from tests.training.encoder.raw import SENTENCES, write_lines  # noqa: E402

pytestmark = pytest.mark.thorough

GERMAN = [
    "Die Zahl {n} ist größer als ihre Quadratwurzel.",
    "Multipliziere beide Seiten der Gleichung mit {n}.",
    "Ein Vieleck mit {n} Seiten hat ebenso viele Ecken.",
    "Teile den Kreis in {n} gleiche Teile.",
    "Es gibt {n} Arten, eine Kugel zu wählen.",
    "Der Rest bei der Division durch {n} ist null.",
]
NUMBERS = range(3, 40)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_builtin(tmp_path_factory.mktemp("finished"), reader=True)


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("raw")
    for language, sentences in (("de", GERMAN), ("hi", SENTENCES["hi"])):
        write_lines(
            folder / f"parallel.en-{language}.tsv.xz",
            (
                f"{english.format(n=n)}\t{other.format(n=n)}\ttatoeba"
                for n in NUMBERS
                for english, other in zip(SENTENCES["en"], sentences, strict=True)
            ),
        )
    return folder


@pytest.fixture(scope="module")
def wider(model: Path, raw: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wider")
    options = ("--languages", "de", "--vocabulary", "460", "--steps", "300", "--batch", "32")
    assert call("widen", raw, folder, "--model", model, *options) == 0
    return folder


@pytest.mark.parametrize("name", ["posts", "queries"])
def test_a_restored_network_gives_nearly_the_same_vectors(model: Path, name: str) -> None:
    encoder = BuiltinEncoder(model)
    student, _ = restore_network(model, name)
    for row in encoder.tokens(TEXTS):
        filled = torch.tensor([row + [0] * (-len(row) % student.shape.group)])
        with torch.inference_mode():
            vector = student(filled).numpy()[0]
        assert float(vector @ encoder.encode_tokens([row], name == "queries")[0]) > 0.99


def test_new_tokens_do_not_change_the_tokens_of_old_texts(model: Path) -> None:
    old = (model / "tokenizer.json").read_bytes()
    german = [text.format(n=n) for text in GERMAN for n in NUMBERS]
    extended = extend(old, {"de": german}, 460)
    encoder = BuiltinEncoder(model)
    tokenizers = pytest.importorskip("tokenizers")
    new = tokenizers.Tokenizer.from_buffer(extended.contents)
    first_new = len(json.loads(old)["model"]["vocab"])
    assert first_new < new.get_vocab_size() <= 460
    assert [new.encode(text).ids for text in TEXTS[:4]] == encoder.tokens(TEXTS[:4])
    before, after = len(encoder.tokens([german[0]])[0]), len(new.encode(german[0]).ids)
    assert after < before
    for number, (first, second) in extended.pieces.items():
        assert new.id_to_token(number) == new.id_to_token(first) + new.id_to_token(second)


@pytest.mark.exhaustive
def test_vectors_in_the_old_languages_do_not_change(model: Path, wider: Path) -> None:
    for name in ("posts.onnx", "queries.onnx", "tokens.npy", "tokenizer.json"):
        assert (wider / name).read_bytes() == (model / name).read_bytes()
    before, after = (BuiltinEncoder(folder).encode(TEXTS) for folder in (model, wider))
    assert (after == before).all()


def test_a_new_language_comes_nearer_to_english(model: Path, wider: Path) -> None:
    def nearness(folder: Path) -> float:
        encoder = BuiltinEncoder(folder)
        english = encoder.encode([text.format(n=7) for text in SENTENCES["en"]])
        rows = encoder.tokens([text.format(n=7) for text in GERMAN], WIDE)
        return float((english * encoder.encode_tokens(rows, WIDE)).sum(1).mean())

    assert nearness(wider) > nearness(model) + 0.05


def test_a_text_of_a_new_language_has_fewer_tokens(wider: Path) -> None:
    encoder, text = BuiltinEncoder(wider), GERMAN[1].format(n=7)
    few, many = (encoder.tokens([text], reading)[0] for reading in (WIDE, CAREFUL))
    assert len(few) < len(many)
    ids, places = encoder.tokens_and_places(text, WIDE)
    assert ids == few
    assert len(places) == len(few)
    assert max(few) >= len(np.load(wider / "tokens.npy"))


@pytest.mark.parametrize("side", [0, 1])
def test_texts_of_the_evaluation_are_left_out(tmp_path: Path, side: int) -> None:
    long = [" ".join(texts[:3]).format(n=7) for texts in (SENTENCES["en"], GERMAN)]
    short = [texts[4].format(n=7) for texts in (SENTENCES["en"], GERMAN)]
    rows = ["\t".join([*pair, "tatoeba"]) for pair in (long, short)]
    write_lines(tmp_path / "parallel.en-de.tsv.xz", rows)
    assert read_pairs(tmp_path, ["de"], []).other == [long[1], short[1]]
    assert read_pairs(tmp_path, ["de"], [long[side]]).other == [short[1]]


def test_a_language_without_texts_is_refused(raw: Path) -> None:
    with pytest.raises(InputError, match=r"parallel\.en-fr\.tsv\.xz: cannot be read"):
        read_pairs(raw, ["fr"], [])
