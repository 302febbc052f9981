"""Small sentence-transformers models with a WordPiece tokenizer, made in a second."""

from pathlib import Path
from typing import Any

TEXTS = [
    "the sum of two even numbers is even",
    "a continuous function on a compact set is bounded",
    "every bounded sequence has a convergent subsequence",
    "the integral of an odd function over a symmetric interval is zero",
]


def make_model(folder: Path) -> Path:
    """Write a bi-encoder into a folder; the same one every time."""
    # Imported here because this file is also searched for doctests without torch.
    import transformers
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer

    parts = folder / "parts"
    transformers.BertModel(_config(parts, 24)).save_pretrained(parts)
    body = Transformer(str(parts))
    pooling = Pooling(body.get_embedding_dimension())
    model = SentenceTransformer(modules=[body, pooling], device="cpu")
    model.save(str(folder / "model"))
    return folder / "model"


def make_cross_encoder(folder: Path, labels: int = 1) -> Path:
    """Write a cross-encoder into a folder; the same one every time."""
    import transformers

    config = _config(folder, 48, num_labels=labels)
    transformers.BertForSequenceClassification(config).save_pretrained(folder)
    return folder


def _config(folder: Path, longest: int, **choices: Any) -> Any:
    """Write a tokenizer into a folder, and return the configuration of a model for it."""
    import torch
    import transformers
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokenizer.train_from_iterator(
        TEXTS, trainers.WordPieceTrainer(vocab_size=120, special_tokens=special)
    )
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    folder.mkdir(parents=True, exist_ok=True)
    fast = transformers.BertTokenizerFast(tokenizer_object=tokenizer, model_max_length=longest)
    fast.save_pretrained(folder)
    torch.manual_seed(1)
    return transformers.BertConfig(
        vocab_size=len(fast),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=48,
        **choices,
    )
