"""A small cross-encoder with a WordPiece tokenizer, made in a second."""

from pathlib import Path

TEXTS = [
    "the sum of two even numbers is even",
    "a continuous function on a compact set is bounded",
    "every bounded sequence has a convergent subsequence",
    "the integral of an odd function over a symmetric interval is zero",
]


def make_cross_encoder(folder: Path, labels: int = 1) -> Path:
    """Write the model into a folder; the same one every time."""
    # Imported here, since doctests are looked for in this file where there is no torch.
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
    fast = transformers.BertTokenizerFast(tokenizer_object=tokenizer, model_max_length=48)
    fast.save_pretrained(folder)
    torch.manual_seed(1)
    config = transformers.BertConfig(
        vocab_size=len(fast),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=48,
        num_labels=labels,
    )
    transformers.BertForSequenceClassification(config).save_pretrained(folder)
    return folder
