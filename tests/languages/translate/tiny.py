"""Small models of the real architectures, with real tokenizers, trained on a few sentences.

Each learns to translate the same English sentences to Hindi and to Spanish, so that only the
language codes determine the target, and to translate both back to English.
"""

import json
from pathlib import Path
from typing import Any

import pytest

sentencepiece = pytest.importorskip("sentencepiece")
torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytest.importorskip("google.protobuf")  # transformers reads SentencePiece files with it

SENTENCES = [
    ("Let QZ1 be a prime number.", "मान लीजिए QZ1 एक अभाज्य संख्या है।", "Sea QZ1 un número primo."),
    ("Show that QZ1 is even.", "दिखाइए कि QZ1 सम है।", "Demuestra que QZ1 es par."),
    ("Find the limit of QZ1 and QZ2.",
     "QZ1 और QZ2 की सीमा ज्ञात कीजिए।", "Halla el límite de QZ1 y QZ2."),
    ("Why?", "क्यों?", "¿Por qué?"),
]  # fmt: skip
NLLB_CODES = ["eng_Latn", "hin_Deva", "spa_Latn", "fra_Latn"]
LANGUAGES = ("en", "hi", "es")


def make_nllb(folder: Path) -> None:
    """Write an M2M100 model with an NLLB tokenizer, in the form of the hub (tokenizer.json)."""
    torch.manual_seed(1)
    pieces = _train_pieces(folder, "bpe")
    tokenizer = transformers.AutoTokenizer.from_pretrained(pieces)
    assert isinstance(tokenizer, transformers.NllbTokenizer)
    config = transformers.M2M100Config(**_small(len(tokenizer)), max_position_embeddings=128)
    model = _taught(
        transformers.M2M100ForConditionalGeneration(config),
        tokenizer,
        {"en": "eng_Latn", "hi": "hin_Deva", "es": "spa_Latn"},
    )
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def make_mbart(folder: Path) -> None:
    """Write an mBART model whose tokenizer is only a SentencePiece file, in the form of the hub."""
    torch.manual_seed(1)
    pieces = _train_pieces(folder, "unigram")
    tokenizer = transformers.AutoTokenizer.from_pretrained(pieces)
    assert isinstance(tokenizer, transformers.MBart50Tokenizer)
    config = transformers.MBartConfig(
        **_small(len(tokenizer)),
        max_position_embeddings=128,
        normalize_before=True,  # old configurations have these two; CTranslate2 needs them
        normalize_embedding=True,
    )
    model = _taught(
        transformers.MBartForConditionalGeneration(config),
        tokenizer,
        {"en": "en_XX", "hi": "hi_IN", "es": "es_XX"},
    )
    model.save_pretrained(folder)
    for file in pieces.iterdir():
        if file.name != "config.json":
            file.rename(folder / file.name)


def _train_pieces(folder: Path, kind: str) -> Path:
    place = folder / "pieces"
    place.mkdir(parents=True)
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([text for row in SENTENCES for text in row] * 20),
        model_prefix=str(place / "sentencepiece.bpe"),
        model_type=kind,
        vocab_size=150,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    (place / "sentencepiece.bpe.vocab").unlink()
    family, tokenizer = {"bpe": ("m2m_100", "Nllb"), "unigram": ("mbart", "MBart50")}[kind]
    (place / "config.json").write_text(json.dumps({"model_type": family}))
    settings: dict[str, Any] = {"tokenizer_class": f"{tokenizer}Tokenizer", "bos_token": "<s>"}
    if kind == "bpe":
        settings["additional_special_tokens"] = NLLB_CODES
    (place / "tokenizer_config.json").write_text(json.dumps(settings))
    return place


def _small(vocabulary: int) -> dict[str, Any]:
    return {
        "vocab_size": vocabulary,
        "d_model": 64,
        "encoder_layers": 1,
        "decoder_layers": 1,
        "encoder_attention_heads": 4,
        "decoder_attention_heads": 4,
        "encoder_ffn_dim": 128,
        "decoder_ffn_dim": 128,
        "dropout": 0.0,
        "attention_dropout": 0.0,
        "activation_dropout": 0.0,
        "scale_embedding": True,
        "decoder_start_token_id": 2,
    }


def _taught(model: Any, tokenizer: Any, codes: dict[str, str]) -> Any:
    """Train all directions from and to English until the loss is small."""
    pairs: dict[str, list[list[int]]] = {"input_ids": [], "labels": []}
    for source, target in (("en", "hi"), ("en", "es"), ("hi", "en"), ("es", "en")):
        for row in SENTENCES:
            for name, language in (("input_ids", source), ("labels", target)):
                tokenizer.src_lang = codes[language]
                pairs[name].append(tokenizer(row[LANGUAGES.index(language)])["input_ids"])
    inputs = tokenizer.pad({"input_ids": pairs["input_ids"]}, return_tensors="pt")
    wanted = tokenizer.pad({"input_ids": pairs["labels"]}, return_tensors="pt")
    # The decoder starts with </s>; the language code after it is given, not learned.
    starts = torch.full((len(pairs["labels"]), 1), 2)
    decoder = torch.cat([starts, wanted["input_ids"][:, :-1]], dim=1)
    labels = wanted["input_ids"].masked_fill(wanted["attention_mask"] == 0, -100)
    labels[:, 0] = -100
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3)
    model.train()
    for _ in range(300):
        loss = model(**inputs, decoder_input_ids=decoder, labels=labels).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if loss.item() < 0.02:
            break
    return model.eval()
