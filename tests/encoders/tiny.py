"""A small sentence-transformers model with a WordPiece tokenizer, made in a second."""

from pathlib import Path

TEXTS = [
    "the sum of two even numbers is even",
    "a continuous function on a compact set is bounded",
    "every bounded sequence has a convergent subsequence",
    "the integral of an odd function over a symmetric interval is zero",
]


def make_model(folder: Path) -> Path:
    """Write the model into a folder; the same one every time."""
    # Imported here, since doctests are looked for in this file where there is no torch.
    import torch
    import transformers
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokenizer.train_from_iterator(
        TEXTS, trainers.WordPieceTrainer(vocab_size=120, special_tokens=special)
    )
    parts = folder / "parts"
    parts.mkdir(parents=True)
    fast = transformers.BertTokenizerFast(tokenizer_object=tokenizer, model_max_length=24)
    fast.save_pretrained(parts)
    torch.manual_seed(1)
    config = transformers.BertConfig(
        vocab_size=len(fast),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=48,
    )
    transformers.BertModel(config).save_pretrained(parts)
    body = Transformer(str(parts))
    pooling = Pooling(body.get_embedding_dimension())
    model = SentenceTransformer(modules=[body, pooling], device="cpu")
    model.save(str(folder / "model"))
    return folder / "model"
