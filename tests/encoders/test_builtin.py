"""The built-in encoder: its vectors, and errors for damaged models."""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from shutil import copytree
from threading import Barrier

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mathsetu import encoders
from mathsetu.encoders import load_encoder
from mathsetu.encoders.builtin import CAREFUL, WIDE, BuiltinEncoder, reading_of
from mathsetu.errors import InputError
from tests.encoders.tiny_builtin import TEXTS, make_builtin

SHIPPED = Path(str(encoders.__file__)).parent / "model"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("onnx")
    return make_builtin(tmp_path_factory.mktemp("builtin"))


@pytest.fixture(scope="module")
def encoder(folder: Path) -> BuiltinEncoder:
    return BuiltinEncoder(folder)


def test_every_text_gets_a_vector_of_length_one(encoder: BuiltinEncoder) -> None:
    vectors = encoder.encode(TEXTS)
    assert vectors.shape == (len(TEXTS), encoder.dimensions)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("blank", ["", "   ", "\n\t\n", "$$", "{ }"])
def test_a_blank_text_gets_a_zero_vector(encoder: BuiltinEncoder, blank: str) -> None:
    vectors = encoder.encode([TEXTS[0], blank, TEXTS[1]])
    assert not vectors[1].any()
    assert vectors[0].any()
    assert vectors[2].any()


def test_no_texts_give_no_vectors(encoder: BuiltinEncoder) -> None:
    assert encoder.encode([]).shape == (0, encoder.dimensions)


@given(st.lists(st.sampled_from([*TEXTS, "", "sum", "x^2 + y^2", " ".join(TEXTS)]), max_size=12))
def test_the_other_texts_and_their_order_do_not_change_a_vector(
    encoder: BuiltinEncoder, texts: list[str]
) -> None:
    together = encoder.encode(texts)
    backwards = encoder.encode(texts[::-1])[::-1]
    assert (together == backwards).all()
    for text, vector in zip(texts, together, strict=True):
        assert (encoder.encode([text])[0] == vector).all()


@given(st.text(st.characters(), max_size=80))
@example("half a character: \ud800")
def test_a_text_of_any_characters_gets_a_vector(encoder: BuiltinEncoder, text: str) -> None:
    [vector] = encoder.encode([text])
    assert np.isfinite(vector).all()
    assert np.linalg.norm(vector) == pytest.approx(float(vector.any()), abs=1e-5)


@pytest.mark.thorough
def test_the_vectors_of_more_texts_than_a_batch_are_in_order(encoder: BuiltinEncoder) -> None:
    texts = [f"{text} {number}" for number in range(300) for text in TEXTS]
    vectors = encoder.encode(texts)
    for place in range(0, len(texts), 97):
        # Equal up to rounding: some processors multiply matrices of other sizes in another order.
        [alone] = encoder.encode([texts[place]])
        cosines = vectors @ alone
        assert cosines[place] == pytest.approx(float(cosines.max()), abs=1e-5)


def test_the_names_of_special_tokens_in_a_text_are_ordinary_words(encoder: BuiltinEncoder) -> None:
    [tokens] = encoder.tokens(["[PAD] [UNK]"])
    assert 0 not in tokens
    assert encoder.encode(["[PAD]"]).any()


def test_only_the_beginning_of_a_long_text_is_read(folder: Path) -> None:
    short = BuiltinEncoder(folder, max_tokens=8)
    long = " ".join(TEXTS)
    [tokens] = short.tokens([long])
    assert len(tokens) > 8
    assert (short.encode([long])[0] == short.encode_tokens([tokens[:8]])[0]).all()
    assert (short.encode([long]) != BuiltinEncoder(folder).encode([long])).any()


def test_no_more_tokens_are_read_than_the_model_accepts(folder: Path) -> None:
    greedy = BuiltinEncoder(folder, max_tokens=10**6)
    assert greedy.encode([" ".join(TEXTS * 20)]).any()
    with pytest.raises(InputError, match="129 tokens at once, but the model reads 128 at most"):
        greedy.encode_tokens([[5] * 129])


def test_the_number_of_threads_does_not_change_vectors(
    folder: Path, encoder: BuiltinEncoder
) -> None:
    assert (BuiltinEncoder(folder, threads=2).encode(TEXTS) == encoder.encode(TEXTS)).all()


def test_texts_with_common_words_are_more_similar(encoder: BuiltinEncoder) -> None:
    one, near, far = encoder.encode(
        ["The sum of even numbers", "sum of two even numbers", "convergent subsequence"]
    )
    assert one @ near > one @ far


@pytest.fixture(scope="module")
def careful(tmp_path_factory: pytest.TempPathFactory) -> BuiltinEncoder:
    """The same model with a reader of queries."""
    pytest.importorskip("onnx")
    return BuiltinEncoder(make_builtin(tmp_path_factory.mktemp("careful"), reader=True))


def test_a_reader_of_queries_does_not_change_the_vectors_of_posts(
    encoder: BuiltinEncoder, careful: BuiltinEncoder
) -> None:
    assert (careful.encode(TEXTS) == encoder.encode(TEXTS)).all()


def test_a_query_is_encoded_by_the_reader_of_queries(careful: BuiltinEncoder) -> None:
    rows = careful.tokens(TEXTS)
    asked, said = careful.encode_tokens(rows, careful=True), careful.encode_tokens(rows)
    assert np.linalg.norm(asked, axis=1) == pytest.approx(1, abs=1e-5)
    assert (asked != said).any(axis=1).all()


def test_a_model_without_a_reader_encodes_queries_like_posts(encoder: BuiltinEncoder) -> None:
    rows = encoder.tokens(TEXTS)
    assert (encoder.encode_tokens(rows, careful=True) == encoder.encode_tokens(rows)).all()


@given(st.permutations(TEXTS), st.integers(1, len(TEXTS)))
def test_the_other_queries_and_their_order_do_not_change_the_vector_of_a_query(
    careful: BuiltinEncoder, texts: list[str], count: int
) -> None:
    rows = careful.tokens(texts[:count])
    together = careful.encode_tokens(rows, careful=True)
    for row, vector in zip(rows, together, strict=True):
        assert (careful.encode_tokens([row], careful=True)[0] == vector).all()


def test_a_blank_query_gets_a_zero_vector(careful: BuiltinEncoder) -> None:
    assert not careful.encode_tokens([[]], careful=True).any()


@pytest.mark.parametrize("name", ["posts.onnx", "tokens.npy", "tokenizer.json"])
def test_a_changed_file_is_detected_by_its_checksum(
    folder: Path, tmp_path: Path, name: str
) -> None:
    damaged = copytree(folder, tmp_path / "model")
    contents = bytearray((damaged / name).read_bytes())
    contents[len(contents) // 2] ^= 1
    (damaged / name).write_bytes(contents)
    with pytest.raises(InputError, match=rf"{name}: is damaged \(its checksum differs\)"):
        BuiltinEncoder(damaged)


def test_a_changed_network_for_queries_is_detected_when_it_is_used(tmp_path: Path) -> None:
    pytest.importorskip("onnx")
    damaged = make_builtin(tmp_path / "model", reader=True)
    sound = (damaged / "queries.onnx").read_bytes()
    (damaged / "queries.onnx").write_bytes(b"something else")
    encoder = BuiltinEncoder(damaged)
    assert encoder.encode(TEXTS).any()
    for _ in range(2):
        with pytest.raises(InputError, match=r"queries\.onnx: is damaged \(its checksum differs\)"):
            encoder.encode_tokens([[5]], careful=True)
    (damaged / "queries.onnx").write_bytes(sound)
    assert encoder.encode_tokens([[5]], careful=True).any()


def test_threads_that_encode_queries_at_the_same_time_get_the_same_vectors(tmp_path: Path) -> None:
    pytest.importorskip("onnx")
    encoder = BuiltinEncoder(make_builtin(tmp_path / "model", reader=True))
    rows, together = encoder.tokens(TEXTS), Barrier(8)

    def ask(_: int) -> bytes:
        together.wait()
        return encoder.encode_tokens(rows, careful=True).tobytes()

    with ThreadPoolExecutor(8) as threads:
        assert len(set(threads.map(ask, range(8)))) == 1


@pytest.mark.parametrize("name", ["posts.onnx", "tokens.npy", "tokenizer.json", "model.json"])
def test_the_error_names_a_missing_file(folder: Path, tmp_path: Path, name: str) -> None:
    partial = copytree(folder, tmp_path / "model")
    (partial / name).unlink()
    with pytest.raises(InputError, match=rf"{name}: cannot be read \(no such file"):
        BuiltinEncoder(partial)


def test_the_error_for_a_missing_folder_has_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere/model\.json: cannot be read") as caught:
        BuiltinEncoder(tmp_path / "nowhere")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "facts",
    [
        *("", "{", "[]", "7", "{}", '{"posts": 3}', '{"posts": {"group": "x"}}'),
        '{"posts": {"group": 4, "positions": 8, "dimensions": null}}',
        '{"posts": {"group": 4, "positions": 8, "dimensions": 64}}',
        '{"posts": {"group": 0, "positions": 8, "dimensions": 64}, "sha256": {}}',
        '{"posts": {"group": 4, "positions": Infinity, "dimensions": 64}, "sha256": {}}',
        '{"posts": {"group": 4, "positions": 8, "dimensions": 64}, "queries": 3, "sha256": {}}',
    ],
)
def test_a_damaged_description_of_a_model_is_refused(
    folder: Path, tmp_path: Path, facts: str
) -> None:
    damaged = copytree(folder, tmp_path / "model")
    (damaged / "model.json").write_text(facts, encoding="utf-8")
    with pytest.raises(InputError, match=r"model\.json: is damaged"):
        BuiltinEncoder(damaged)


def test_the_model_of_a_folder_is_loaded_once(folder: Path) -> None:
    loaded = load_encoder(str(folder))
    assert isinstance(loaded, BuiltinEncoder)
    assert load_encoder(str(folder)) is loaded
    assert (loaded.encode(TEXTS) == BuiltinEncoder(folder).encode(TEXTS)).all()


@pytest.mark.thorough
def test_neither_torch_nor_transformers_is_loaded(folder: Path) -> None:
    code = (
        "import sys; from mathsetu.encoders import load_encoder; "
        f"load_encoder({str(folder)!r}).encode(['a sum']); "
        "print([m for m in ('torch', 'transformers', 'onnx') if m in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"


@pytest.fixture(scope="module")
def shipped() -> BuiltinEncoder:
    encoder = load_encoder("mathsetu")
    assert isinstance(encoder, BuiltinEncoder)
    return encoder


@pytest.mark.usefixtures("shipped")
def test_the_shipped_model_is_small_and_reads_at_least_128_tokens() -> None:
    assert sum(file.stat().st_size for file in SHIPPED.iterdir()) <= 83_000_000
    facts = json.loads((SHIPPED / "model.json").read_text(encoding="utf-8"))
    assert all(
        facts[name]["group"] * facts[name]["positions"] >= 128
        for name in ("posts", "queries", "wide")
    )


SAME = {
    "en": ["The sum of two even numbers is even.", "Every bounded sequence has a limit point.",
           "How do I find the derivative of a quotient?", "the area of a right triangle"],
    "hi": ["दो सम संख्याओं का योग सम होता है।", "प्रत्येक परिबद्ध अनुक्रम का एक सीमा बिंदु होता है।",
           "मैं भागफल का अवकलज कैसे निकालूँ?", "समकोण त्रिभुज का क्षेत्रफल"],
    "es": ["La suma de dos números pares es par.", "Toda sucesión acotada tiene un punto límite.",
           "¿Cómo hallo la derivada de un cociente?", "el área de un triángulo rectángulo"],
    "cs": ["Součet dvou sudých čísel je sudý.", "Každá omezená posloupnost má hromadný bod.",
           "Jak najdu derivaci podílu?", "obsah pravoúhlého trojúhelníku"],
    "hr": ["Zbroj dva parna broja je paran.", "Svaki ograničeni niz ima gomilište.",
           "Kako naći derivaciju kvocijenta?", "površina pravokutnog trokuta"],
    "fa": ["مجموع دو عدد زوج، زوج است.", "هر دنباله کراندار یک نقطه حدی دارد.",
           "چگونه مشتق خارج قسمت را پیدا کنم؟", "مساحت مثلث قائم‌الزاویه"],
    "ne": ["दुई जोर संख्याको योग जोर हुन्छ।", "प्रत्येक परिबद्ध अनुक्रमको एउटा सीमा बिन्दु हुन्छ।",
           "भागफलको अवकलज कसरी निकाल्ने?", "समकोण त्रिभुजको क्षेत्रफल"],
}  # fmt: skip


@pytest.mark.thorough
@pytest.mark.parametrize("careful", [False, True])
@pytest.mark.parametrize("language", [name for name in SAME if name != "en"])
def test_the_shipped_model_finds_translations(
    shipped: BuiltinEncoder, language: str, careful: bool
) -> None:
    asked = shipped.encode_tokens(shipped.tokens(SAME[language]), careful)
    cosines = asked @ shipped.encode(SAME["en"]).T
    assert cosines.argmax(axis=1).tolist() == [0, 1, 2, 3]
    assert cosines.argmax(axis=0).tolist() == [0, 1, 2, 3]


MORE = {
    "de": ["Die Summe zweier gerader Zahlen ist gerade.",
           "Wie finde ich die Ableitung eines Quotienten?", "die Fläche eines Dreiecks"],
    "fr": ["La somme de deux nombres pairs est paire.",
           "Comment trouver la dérivée d'un quotient ?", "l'aire d'un triangle"],
    "ru": ["Сумма двух чётных чисел чётна.",
           "Как найти производную частного?", "площадь треугольника"],
    "zh": ["两个偶数的和是偶数。", "如何求商的导数?", "三角形的面积"],
    "ta": ["இரண்டு இரட்டை எண்களின் கூட்டுத்தொகை இரட்டை எண்.",
           "வகுத்தலின் வகைக்கெழுவை எப்படிக் கண்டுபிடிப்பது?", "முக்கோணத்தின் பரப்பளவு"],
    "ar": ["مجموع عددين زوجيين هو عدد زوجي.", "كيف أجد مشتقة خارج القسمة؟", "مساحة المثلث"],
}  # fmt: skip


@pytest.mark.thorough
@pytest.mark.parametrize("language", MORE)
def test_the_wide_network_finds_translations(shipped: BuiltinEncoder, language: str) -> None:
    assert reading_of(language) == WIDE
    asked = shipped.encode_tokens(shipped.tokens(MORE[language], WIDE), WIDE)
    english = [SAME["en"][0], SAME["en"][2], "the area of a triangle"]
    assert (asked @ shipped.encode(english).T).argmax(axis=1).tolist() == [0, 1, 2]


@pytest.mark.thorough
def test_a_changed_file_of_the_wide_network_is_detected_when_it_is_used(tmp_path: Path) -> None:
    damaged = tmp_path / "model"
    copytree(SHIPPED, damaged)
    (damaged / "wide.json").write_text("{}", encoding="utf-8")
    encoder = BuiltinEncoder(damaged)
    assert encoder.encode(["a sum"]).any()
    with pytest.raises(InputError, match=r"wide\.json: is damaged \(its checksum differs\)"):
        encoder.tokens(["eine Summe"], WIDE)


def test_a_model_without_a_wide_network_uses_the_reader_of_queries_instead(
    careful: BuiltinEncoder,
) -> None:
    rows = careful.tokens(TEXTS, WIDE)
    assert rows == careful.tokens(TEXTS)
    assert (careful.encode_tokens(rows, WIDE) == careful.encode_tokens(rows, CAREFUL)).all()


@pytest.mark.thorough
def test_the_onnx_runtime_has_no_telemetry_and_writes_no_files(
    folder: Path, tmp_path: Path
) -> None:
    code = (
        "import os, sys; from pathlib import Path;"
        "from mathsetu.encoders.builtin import BuiltinEncoder;"
        "BuiltinEncoder(Path(sys.argv[1])).encode(['a sum']);"
        "assert os.environ['ORT_DISABLE_TELEMETRY'] == '1'"
    )
    places = dict.fromkeys(("HOME", "USERPROFILE", "XDG_CACHE_HOME", "LOCALAPPDATA"), str(tmp_path))
    left = {name: value for name, value in os.environ.items() if not name.startswith("ORT_")}
    subprocess.run([sys.executable, "-c", code, str(folder)], check=True, env=left | places)
    assert not list(tmp_path.rglob("*"))
