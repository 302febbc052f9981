"""NLLB-200, mBART-50 and CTranslate2 on small models of the same architectures."""

from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("sentencepiece")
pytest.importorskip("google.protobuf")

from mathsetu.errors import InputError
from mathsetu.languages.translate import Translator, open_translator
from tests.languages.translate import tiny

POST = "Let $p$ be a prime number. Show that $p+1$ is even.\n\nWhy? Find the limit of $x$ and $y$."
HINDI = (
    "मान लीजिए $p$ एक अभाज्य संख्या है। दिखाइए कि $p+1$ सम है।\n\nक्यों? $x$ और $y$ की सीमा ज्ञात कीजिए।"
)
SPANISH = (
    "Sea $p$ un número primo. Demuestra que $p+1$ es par.\n\n"
    "¿Por qué? Halla el límite de $x$ y $y$."
)


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("models")
    # With models this small, more threads are slower.
    threads = tiny.torch.get_num_threads()
    tiny.torch.set_num_threads(1)
    tiny.make_nllb(folder / "nllb")
    tiny.make_mbart(folder / "mbart")
    tiny.torch.set_num_threads(threads)
    return {name: folder / name for name in ("nllb", "mbart")}


@pytest.fixture(scope="module")
def converted(models: dict[str, Path]) -> dict[str, Path]:
    converters = pytest.importorskip("ctranslate2.converters")
    folders = {}
    for name, folder in models.items():
        if not (folder / "tokenizer.json").exists():
            tokenizer = tiny.transformers.AutoTokenizer.from_pretrained(folder)
            tokenizer.save_pretrained(folder / "with-json")
            (folder / "with-json" / "tokenizer.json").rename(folder / "tokenizer.json")
        folders[name] = folder.parent / f"{name}-ct2"
        converter = converters.TransformersConverter(str(folder), copy_files=["tokenizer.json"])
        converter.convert(str(folders[name]))
    return folders


def nllb(models: dict[str, Path]) -> Translator:
    return open_translator("nllb", str(models["nllb"]), device="cpu", remember=False)


@pytest.mark.parametrize("family", ["nllb", "mbart"])
def test_the_language_codes_reach_the_model(models: dict[str, Path], family: str) -> None:
    translator = open_translator(family, str(models[family]), device="cpu", remember=False)
    [hindi] = translator.translate([POST], "en", "hi")
    [spanish] = translator.translate([POST], "en", "es")
    assert (hindi.text, hindi.lost) == (HINDI, ())
    assert (spanish.text, spanish.lost) == (SPANISH, ())
    assert (hindi.backend, hindi.model) == (family, str(models[family]))
    assert translator.translate([HINDI], "hi", "en")[0].text == POST
    assert translator.translate([SPANISH], "es", "en")[0].text == POST


@pytest.mark.parametrize("family", ["nllb", "mbart"])
def test_a_converted_model_gives_the_same_translations(
    converted: dict[str, Path], family: str
) -> None:
    translator = open_translator(
        "ctranslate2", str(converted[family]), device="cpu", remember=False
    )
    assert translator.translate([POST], "en", "hi")[0].text == HINDI
    assert translator.translate([SPANISH], "es", "en")[0].text == POST


def test_sentences_of_many_lengths_keep_their_order(models: dict[str, Path]) -> None:
    texts = [row[0].replace("QZ1", "$a$").replace("QZ2", "$b$") for row in tiny.SENTENCES] * 20
    wanted = [row[2].replace("QZ1", "$a$").replace("QZ2", "$b$") for row in tiny.SENTENCES] * 20
    done = nllb(models).translate(texts, "en", "es")
    assert [translation.text for translation in done] == wanted


def test_batches_of_long_sentences_are_smaller(models: dict[str, Path]) -> None:
    backend = nllb(models).backend
    batches = backend._batches(["Why? " * 100] * 10 + ["Why?"] * 100)  # type: ignore[attr-defined]
    assert sorted(number for batch in batches for number in batch) == list(range(110))
    assert len(batches[0]) < 10
    assert max(map(len, batches)) == 32


def test_a_sentence_longer_than_the_limit_of_the_model_keeps_its_formula(
    models: dict[str, Path],
) -> None:
    [done] = nllb(models).translate(["prime " * 99 + "of $x$"], "en", "es")
    assert "$x$" in done.text


def test_language_codes_of_the_model_are_accepted(models: dict[str, Path]) -> None:
    [done] = nllb(models).translate(["Why?"], "eng_Latn", "spa_Latn")
    assert done.text == "¿Por qué?"
    nllb(models).translate(["Why?"], "en", "fra_Latn")  # in the model, not in our table


def test_the_error_names_a_language_that_the_model_lacks(models: dict[str, Path]) -> None:
    with pytest.raises(InputError, match="no language 'tlh'; give a code"):
        nllb(models).translate(["Why?"], "en", "tlh")


def test_a_model_of_the_other_family_is_refused_with_the_right_backend(
    models: dict[str, Path],
) -> None:
    wrong = open_translator("nllb", str(models["mbart"]), remember=False)
    with pytest.raises(InputError, match="this is an mBART-50 model; use backend 'mbart'"):
        wrong.translate(["Why?"], "en", "es")


def test_pickled_weights_are_refused(models: dict[str, Path], tmp_path: Path) -> None:
    for file in models["nllb"].iterdir():
        if file.is_file() and file.suffix != ".safetensors":
            (tmp_path / file.name).write_bytes(file.read_bytes())
    tiny.torch.save({}, tmp_path / "pytorch_model.bin")
    with pytest.raises(InputError, match="pickled weights are not read"):
        open_translator("nllb", str(tmp_path), remember=False).translate(["Why?"], "en", "es")


def test_the_error_for_a_missing_model_has_one_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(InputError, match="'hf download nobody/nothing' gets it") as caught:
        open_translator("nllb", "nobody/nothing", remember=False).translate(["Why?"], "en", "es")
    assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match="no such folder"):
        open_translator("mbart", str(tmp_path / "none")).translate(["Why?"], "en", "es")


def test_a_model_of_the_hub_is_downloaded_and_read_from_its_folder(
    models: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    fetched = []

    def download(name: str, **choices: object) -> str:
        fetched.append((name, choices["revision"]))
        return str(models["nllb"])

    monkeypatch.setattr("huggingface_hub.snapshot_download", download)
    asked = open_translator("nllb", "nllb-tiny@refs/pr/4", remember=False)
    assert asked.translate(["Why?"], "en", "es")[0].text == "¿Por qué?"
    assert fetched == [("facebook/nllb-tiny", "refs/pr/4")]


def test_the_error_for_a_model_without_safetensors_weights_asks_for_a_revision(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.snapshot_download", lambda *a, **b: str(tmp_path))
    with pytest.raises(InputError, match=r"a revision with safetensors weights \(a/b@REVISION\)"):
        open_translator("nllb", "a/b", remember=False).translate(["Why?"], "en", "es")


def test_the_error_for_a_folder_without_a_converted_model_says_to_convert_it(
    models: dict[str, Path],
) -> None:
    pytest.importorskip("ctranslate2")
    folder = str(models["nllb"])
    with pytest.raises(InputError, match=r"no model\.bin; convert the model"):
        open_translator("ctranslate2", folder, remember=False).translate(["Why?"], "en", "es")


def test_a_broken_converted_model_is_refused(converted: dict[str, Path], tmp_path: Path) -> None:
    (tmp_path / "model.bin").write_bytes(b"broken")
    (tmp_path / "tokenizer.json").write_bytes((converted["nllb"] / "tokenizer.json").read_bytes())
    with pytest.raises(InputError, match="CTranslate2 cannot load it"):
        open_translator("ctranslate2", str(tmp_path)).translate(["Why?"], "en", "es")
